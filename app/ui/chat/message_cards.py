"""What stands under an answer that did not end well: the note with Continue, and the error card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPen

from app.ui.chat.message_boxes import Box, Control, PaintState, paint_frame
from app.ui.chat.message_controls import button_height, button_width, paint_control
from app.ui.chat.message_lines import wrapped_height
from app.ui.shared import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.chat.message_rows import MessageRow
    from app.ui.shared.problems import Problem
    from app.ui.shared.theme import Theme

_LEFT = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value)
_WRAP = int((Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap).value)
RING_PX = 40


class StateNote(Box):
    """ "The reply stopped early. 418 tokens kept, $0.0019." with Continue and Start over."""

    above = below = "state"

    def __init__(self, theme: Theme, row: MessageRow) -> None:
        super().__init__(theme)
        self._early = row.state == "interrupted"
        self._words = "The reply stopped early." if self._early else "Stopped."
        self._detail = row.state_text
        first = "primary" if self._early else "plain"  # who stopped it meant to
        self._controls = [
            Control("continue", QRectF(), "Continue", ("action", "continue"), look=first, label="Continue"),
            Control("start-over", QRectF(), "Start over", ("action", "start-over"), look="plain", label="Start over"),
        ]
        self._text_px = 0

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        lead = theme.icon_px(16) + theme.px(8)
        self._text_px = wrapped_height(theme, "body", f"{self._words}  {self._detail}", width - lead, 500)
        high = button_height(theme)
        x, y = 0.0, self._text_px + theme.px(8)
        for control in self._controls:
            wide = button_width(theme, control.look, control.label, control.icon)
            control.rect = QRectF(x, y, wide, high)
            x += wide + theme.px(8)
        self.height = round(y + high)
        return self.height

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        side = theme.icon_px(16)
        role = "warn" if self._early else "text2"
        line = theme.line_px("body")
        icon = "warning" if self._early else "stop"
        icons.paint(painter, theme, icon, QRectF(0, round((line - side) / 2), side, side), role)
        x = side + theme.px(8)
        font = theme.font("body", 500)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        painter.drawText(QRectF(x, 0, self.width - x, line), _LEFT, self._words)
        after = x + QFontMetricsF(font).horizontalAdvance(self._words) + theme.px(8)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text2"))
        if self._text_px > line:
            painter.drawText(QRectF(x, line, self.width - x, self._text_px - line), _WRAP, self._detail)
        else:
            painter.drawText(QRectF(after, 0, self.width - after, line), _LEFT, self._detail)
        for control in self._controls:
            paint_control(painter, theme, control, state)


class ErrorCard(Box):
    """A failed call at the place where the answer would be: what happened, what it means, what to do."""

    above = below = "state"

    def __init__(self, theme: Theme, problem: Problem, *, details_open: bool) -> None:
        super().__init__(theme)
        self._problem = problem
        self._details_open = details_open and bool(problem.details)
        self._role = {"bad": "bad", "warn": "warn"}.get(problem.severity, "line2")
        self._controls: list[Control] = []
        self._y: dict[str, float] = {}
        self._x = 0.0

    @property
    def counts_down(self) -> bool:
        """Whether the card changes by itself once a second."""
        until = self._problem.countdown_until
        return until is not None and until > datetime.now(UTC)

    def _seconds_left(self) -> int:
        until = self._problem.countdown_until
        return max(0, round((until - datetime.now(UTC)).total_seconds())) if until else 0

    def layout(self, width: int) -> int:
        theme, problem = self.theme, self._problem
        self.width = width
        lead = RING_PX * min(theme.scale, 1.6) if self.counts_down else float(theme.icon_px(18))
        self._x = theme.px(14) + lead + theme.px(10)
        room = width - self._x - theme.px(14)
        y = float(theme.px(12))
        self._y = {"title": y}
        y += wrapped_height(theme, "reading", problem.what, room, 600)
        if problem.meaning:
            y += theme.px(3)
            self._y["meaning"] = y
            y += wrapped_height(theme, "body", problem.meaning, room)
        if problem.facts:
            y += theme.px(8)
            self._y["facts"] = y
            y += theme.line_px("body")
        y = self._place_buttons(y + theme.px(10), room)
        if self._details_open:
            y += theme.px(10)
            self._y["details"] = y
            for label, value in problem.details:
                y += self._detail_height(label, value, room)
        self.height = round(y + theme.px(12))
        return self.height

    def _place_buttons(self, y: float, room: float) -> float:
        theme, problem = self.theme, self._problem
        high = button_height(theme, large=True)
        x = self._x
        self._controls = []
        for spec in problem.actions:
            look = "primary" if spec is problem.primary else "plain"
            wide = button_width(theme, look, spec.text, "", large=True)
            if x > self._x and x + wide > self._x + room:
                x, y = self._x, y + high + theme.px(6)
            rect = QRectF(x, y, wide, high)
            self._controls.append(
                Control(f"do-{spec.id}", rect, spec.text, ("action", spec.id), look=look, label=spec.text)
            )
            x += wide + theme.px(8)
        if problem.details:
            words = [("details", "Details", "chevron-down" if self._details_open else "chevron-right", "disclosure")]
            if self._details_open:
                words.insert(0, ("copy-details", "Copy for support", "copy", "button"))
            right = self._x + room
            small = button_height(theme)
            total = sum(button_width(theme, "quiet", label, icon) for _, label, icon, _ in words)
            if x + total > right and x > self._x:
                y += high + theme.px(6)
            for name, label, icon, role in reversed(words):
                wide = button_width(theme, "quiet", label, icon)
                right -= wide
                rect = QRectF(right, y + (high - small) / 2, wide, small)
                self._controls.append(Control(name, rect, label, (name,), role, "quiet", label, icon, checked=False))
        return y + (high if self._controls else -theme.px(10))

    def _detail_height(self, label: str, value: str, room: float) -> float:
        column = self.theme.type_px(110)
        return float(wrapped_height(self.theme, "small", value, room - column)) + self.theme.px(4)

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme, problem = self.theme, self._problem
        frame = QRectF(0, 0, self.width, self.height)
        paint_frame(painter, frame, 8, theme.color("surface"), theme.color(self._role), True, True)
        room = self.width - self._x - theme.px(14)
        if self.counts_down:
            self._paint_ring(painter)
        else:
            side = theme.icon_px(18)
            top = theme.px(12) + (theme.line_px("reading") - side) / 2
            role = self._role if self._role != "line2" else "text2"
            icons.paint(painter, theme, problem.icon, QRectF(theme.px(14), round(top), side, side), role)
        self._paint_text(painter, "reading", "text", self._y["title"], room, problem.what, 600)
        if "meaning" in self._y:
            self._paint_text(painter, "body", "text2", self._y["meaning"], room, problem.meaning)
        if "facts" in self._y:
            self._paint_facts(painter)
        for control in self._controls:
            paint_control(painter, theme, control, state)
        if "details" in self._y:
            self._paint_details(painter, room)

    def _paint_text(
        self, painter: QPainter, style: str, role: str, y: float, room: float, text: str, weight: int | None = None
    ) -> None:
        painter.setFont(self.theme.font(style, weight))
        painter.setPen(self.theme.color(role))
        painter.drawText(QRectF(self._x, y, room, 1e5), _WRAP, text)

    def _paint_facts(self, painter: QPainter) -> None:
        theme = self.theme
        x, y, line = self._x, self._y["facts"], theme.line_px("body")
        for label, value in self._problem.facts:
            for text, weight, role, gap in ((label, None, "text2", 8), (value, 600, "text", 16)):
                font = theme.font("body", weight, tabular=True)
                painter.setFont(font)
                painter.setPen(theme.color(role))
                painter.drawText(QRectF(x, y, self.width - x, line), _LEFT, text)
                x += QFontMetricsF(font).horizontalAdvance(text) + theme.px(gap)

    def _paint_details(self, painter: QPainter, room: float) -> None:
        theme = self.theme
        column = theme.type_px(110)
        y = self._y["details"]
        painter.setFont(theme.font("small"))
        for label, value in self._problem.details:
            high = self._detail_height(label, value, room)
            painter.setPen(theme.color("text2"))
            painter.drawText(QRectF(self._x, y, column, high), _WRAP, label)
            painter.setPen(theme.color("text"))
            painter.drawText(QRectF(self._x + column, y, room - column, high), _WRAP, value)
            y += high

    def _paint_ring(self, painter: QPainter) -> None:
        theme = self.theme
        side = RING_PX * min(theme.scale, 1.6)
        rect = QRectF(theme.px(14), theme.px(12), side, side).adjusted(3, 3, -3, -3)
        left = self._seconds_left()
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("line"), 3))
        painter.drawEllipse(rect)
        pen = QPen(theme.color("warn"), 3)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(rect, 90 * 16, round(360 * 16 * min(1.0, left / 60)))
        painter.setFont(theme.font("small", 600, tabular=True))
        painter.setPen(theme.color("text"))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter.value), f"{left // 60}:{left % 60:02}")

    def tooltip_at(self, point: QPointF) -> str:
        return ""

"""What is shown below an answer that was cut or failed: the note with Continue, and the error card."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPen

from app.translation import tr
from app.ui.conversation.boxes import Box, Control, PaintState, paint_frame
from app.ui.conversation.controls import button_height, button_width, paint_control
from app.ui.conversation.wrapped_text import WrappedText
from app.ui.kit import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.core.problems import Problem
    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.theme import Theme

_LEFT = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value)
RING_PX = 40
GIVES_UP = ("dismiss", "stop")  # Rialto goes on by itself; nobody is to be led into pressing these


class StateNote(Box):
    """ "The reply stopped early. 418 tokens kept, $0.0019." with Continue and Start over."""

    above = below = "state"

    def __init__(self, theme: Theme, row: MessageRow) -> None:
        super().__init__(theme)
        self._early = row.state == "interrupted"
        self._words = tr("The reply stopped early.") if self._early else tr("Stopped.")
        self._detail = row.state_text
        first = "primary" if self._early else "plain"  # who stopped it meant to
        self._controls = [
            Control("continue", QRectF(), tr("Continue"), ("action", "continue"), look=first, label=tr("Continue")),
            Control(
                "start-over", QRectF(), tr("Start over"), ("action", "start-over"), look="plain", label=tr("Start over")
            ),
        ]
        self._lead = 0.0
        self._beside = True  # the detail stands on the line of the words
        self._wrapped: WrappedText | None = None

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        line = theme.line_px("body")
        self._lead = theme.icon_px(16) + theme.px(8)
        wide = QFontMetricsF(theme.font("body", 500)).horizontalAdvance(self._words) + theme.px(8)
        beside = WrappedText(theme, "body", self._detail, 1e6)
        self._beside = self._lead + wide + beside.last_line_width <= width
        self._wrapped = beside if self._beside else WrappedText(theme, "body", self._detail, width - self._lead)
        high = button_height(theme)
        x, y = 0.0, line + (0 if self._beside else self._wrapped.height) + theme.px(8)
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
        x = self._lead
        font = theme.font("body", 500)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        painter.drawText(QRectF(x, 0, self.width - x, line), _LEFT, self._words)
        painter.setPen(theme.color("text2"))
        if self._wrapped is not None and self._beside:
            after = QFontMetricsF(font).horizontalAdvance(self._words) + theme.px(8)
            self._wrapped.paint(painter, QPointF(x + after, 0))
        elif self._wrapped is not None:
            self._wrapped.paint(painter, QPointF(x, line))
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
        self._texts: list[tuple[str, QPointF, WrappedText]] = []  # color role, place, text
        self._facts_y: float | None = None
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
        self._texts = []
        self._facts_y = None
        y = self._add("text", WrappedText(theme, "reading", problem.what, room, 600), self._x, float(theme.px(12)))
        if problem.meaning:
            y = self._add("text2", WrappedText(theme, "body", problem.meaning, room), self._x, y + theme.px(3))
        if problem.facts:
            self._facts_y = y + theme.px(8)
            y = self._facts_y + theme.line_px("body")
        y = self._place_buttons(y + theme.px(10), room)
        if self._details_open:
            column = theme.type_px(110)
            y += theme.px(10)
            for label, value in problem.details:
                self._add("text2", WrappedText(theme, "small", label, column), self._x, y)
                y = self._add(
                    "text", WrappedText(theme, "small", value, room - column), self._x + column, y
                ) + theme.px(4)
        self.height = round(y + theme.px(12))
        return self.height

    def _add(self, role: str, text: WrappedText, x: float, y: float) -> float:
        """Put a text at its place; return where it ends."""
        self._texts.append((role, QPointF(x, y), text))
        return y + text.height

    def _place_buttons(self, y: float, room: float) -> float:
        theme, problem = self.theme, self._problem
        high = button_height(theme, large=True)
        x = self._x
        self._controls = []
        for spec in problem.actions:
            look = "primary" if spec is problem.primary and spec.id not in GIVES_UP else "plain"
            wide = button_width(theme, look, spec.text, "", large=True)
            if x > self._x and x + wide > self._x + room:
                x, y = self._x, y + high + theme.px(6)
            rect = QRectF(x, y, wide, high)
            self._controls.append(
                Control(f"do-{spec.id}", rect, spec.text, ("action", spec.id), look=look, label=spec.text)
            )
            x += wide + theme.px(8)
        if problem.details:
            words = [
                ("details", tr("Details"), "chevron-down" if self._details_open else "chevron-right", "disclosure")
            ]
            if self._details_open:
                words.insert(0, ("copy-details", tr("Copy for support"), "copy", "button"))
            right = self._x + room
            small = button_height(theme)
            total = sum(button_width(theme, "quiet", label, icon) for _, label, icon, _ in words)
            if x + total > right and x > self._x:
                y += high + theme.px(6)
            for name, label, icon, role in reversed(words):
                wide = button_width(theme, "quiet", label, icon)
                right -= wide
                rect = QRectF(right, y + (high - small) / 2, wide, small)
                look = "link" if role == "disclosure" else "quiet"
                unfolded = role == "disclosure" and self._details_open
                self._controls.append(Control(name, rect, label, (name,), role, look, label, icon, checked=unfolded))
        return y + (high if self._controls else -theme.px(10))

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme, problem = self.theme, self._problem
        frame = QRectF(0, 0, self.width, self.height)
        paint_frame(painter, frame, 8, theme.color("surface"), theme.color(self._role), True, True)
        if self.counts_down:
            self._paint_ring(painter)
        else:
            side = theme.icon_px(18)
            top = theme.px(12) + (theme.line_px("reading") - side) / 2
            role = self._role if self._role != "line2" else "text2"
            icons.paint(painter, theme, problem.icon, QRectF(theme.px(14), round(top), side, side), role)
        for role, at, text in self._texts:
            painter.setPen(theme.color(role))
            text.paint(painter, at)
        if self._facts_y is not None:
            self._paint_facts(painter, self._facts_y)
        for control in self._controls:
            paint_control(painter, theme, control, state)

    def _paint_facts(self, painter: QPainter, y: float) -> None:
        theme = self.theme
        x, line = self._x, theme.line_px("body")
        for label, value in self._problem.facts:
            for text, weight, role, gap in ((label, None, "text2", 8), (value, 600, "text", 16)):
                font = theme.font("body", weight, tabular=True)
                painter.setFont(font)
                painter.setPen(theme.color(role))
                painter.drawText(QRectF(x, y, self.width - x, line), _LEFT, text)
                x += QFontMetricsF(font).horizontalAdvance(text) + theme.px(gap)

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

"""The quiet line of a call that the service could not take yet: what is waited for, how long, and Stop."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPen

from app.translation import tr
from app.ui.conversation.boxes import Box, Control, PaintState, paint_frame
from app.ui.conversation.controls import button_height, button_width, paint_control
from app.ui.conversation.wrapped_text import WrappedText

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.core.problems import Problem
    from app.ui.kit.theme import Theme

RING_PX = 16
LONGEST_S = 99  # as wide as the line is laid out; no try waits longer


def is_quiet_wait(problem: Problem) -> bool:
    """Whether a problem is news of a try that comes by itself, and nothing has to be decided."""
    return problem.severity == "quiet" and problem.countdown_until is not None and not problem.details


class QuietWait(Box):
    """ "The service is busy. Trying again, attempt 2, in 4 s." with a ring before it and Stop at its end."""

    above = below = "state"

    def __init__(self, theme: Theme, problem: Problem) -> None:
        super().__init__(theme)
        self._problem = problem
        self._controls: list[Control] = []
        self._room = 0.0

    @property
    def counts_down(self) -> bool:
        until = self._problem.countdown_until
        return until is not None and until > datetime.now(UTC)

    def words(self, seconds: int) -> str:
        """The line as it reads while so many seconds are left; 0: the try is under way."""
        what, meaning = self._problem.what, self._problem.meaning.rstrip(".")
        if seconds > 0:
            return tr("{what}. {meaning}, in {seconds} s.", what=what, meaning=meaning, seconds=seconds)
        return f"{what}. {meaning}."

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        spec = self._problem.primary
        wide = button_width(theme, "quiet", spec.text, "") if spec is not None else 0.0
        self._room = width - self._x - wide - theme.px(12)
        lines = WrappedText(theme, "body", self.words(LONGEST_S), self._room).height
        self.height = max(theme.height_px(36), round(lines + 2 * theme.px(8)))
        self._controls = []
        if spec is not None:
            high = button_height(theme)
            rect = QRectF(width - wide - theme.px(6), (self.height - high) / 2, wide, high)
            self._controls = [
                Control(f"do-{spec.id}", rect, spec.text, ("action", spec.id), look="quiet", label=spec.text)
            ]
        return self.height

    @property
    def _x(self) -> float:
        return self.theme.px(12) + self.theme.icon_px(RING_PX) + self.theme.px(8)

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        frame = QRectF(0, 0, self.width, self.height)
        paint_frame(painter, frame, 8, theme.color("surface"), theme.color("line"), True, True)
        until = self._problem.countdown_until
        seconds = max(0, round((until - datetime.now(UTC)).total_seconds())) if until is not None else 0
        side = theme.icon_px(RING_PX)
        ring = QRectF(theme.px(12), (self.height - side) / 2, side, side).adjusted(1.5, 1.5, -1.5, -1.5)
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("line2"), 2.4))
        painter.drawEllipse(ring)
        painter.setPen(QPen(theme.color("warn"), 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(ring, 90 * 16, -round(360 * 16 * min(1.0, seconds / 16)))
        painter.setPen(theme.color("text"))
        text = WrappedText(theme, "body", self.words(seconds), self._room)
        text.paint(painter, QPointF(self._x, (self.height - text.height) / 2))
        for control in self._controls:
            paint_control(painter, theme, control, state)

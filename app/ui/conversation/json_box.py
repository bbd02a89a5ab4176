"""JSON inside a message: a tree whose branches are read when they are opened, or the text as it came.

For answers in a schema and for the arguments of function calls. Every line can be pressed: a branch folds, a value is
copied. The lines of one box are one stop of the Tab key; the arrow keys walk inside (`keys`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from app.translation import tr
from app.ui.conversation.boxes import Box, Control, PaintState, paint_focus_ring, paint_frame
from app.ui.conversation.controls import button_height, button_width, paint_control, place_right
from app.ui.conversation.json_lines import Branch, JsonViewState, Line, lines_of
from app.ui.conversation.wrapped_text import WrappedText
from app.ui.kit import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.kit.theme import Theme

LINE = 24  # px of a line at 100 %
STEP = 16  # px that a branch stands further right than what holds it
_LEFT = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value)
_ROLES = {"string": "syntax_string", "number": "syntax_number", "word": "syntax_keyword", "branch": "text3"}


class JsonBox(Box):
    """A framed value with a header. `note` stands beside the title in the color of `tone`.

    `buttons` are (action, words, look) below the tree. Control ids of lines are `line:` and the path.
    """

    above = below = "code"

    def __init__(
        self,
        theme: Theme,
        branch: Branch,
        memory: JsonViewState,
        *,
        name: str,
        title: str,
        icon: str = "code",
        note: str = "",
        tone: str = "text3",
        buttons: tuple[tuple[str, str, str], ...] = (),
    ) -> None:
        super().__init__(theme)
        self.branch = branch
        self._memory = memory
        self._name = name
        self._title = title
        self._icon = icon
        self.note = note
        self._tone = tone
        self._buttons = buttons
        self._head: list[Control] = []
        self._feet: list[Control] = []
        self._lines: list[Line] = []
        self._rows: list[Control] = []
        self._raw: WrappedText | None = None
        self._body_y = 0

    @property
    def _is_raw(self) -> bool:
        return self._memory.raw or not self.branch.is_json

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        high = theme.height_px(32, 17)
        self._place_head(high)
        self._body_y = high + theme.px(6)
        self._raw = None
        y = self._body_y
        if self._is_raw:
            self._lines, self._rows = [], []
            self._raw = WrappedText(theme, "code", self.branch.shown_text, width - 2 * theme.px(14))
            y += self._raw.height
        else:
            self._lines = lines_of(self.branch, self._memory)
            line_px = self._line_px
            self._rows = [self._control_of(line, y + number * line_px) for number, line in enumerate(self._lines)]
            y += len(self._lines) * line_px
        y += theme.px(8)
        self._feet = []
        x = float(theme.px(14))
        for action, words, look in self._buttons:
            wide = button_width(theme, look, words, "")
            rect = QRectF(x, y, wide, button_height(theme))
            self._feet.append(Control(action, rect, words, ("action", action), look=look, label=words))
            x += wide + theme.px(8)
        if self._buttons:
            y += button_height(theme) + theme.px(10)
        self.height = int(y)
        return self.height

    @property
    def _line_px(self) -> int:
        return self.theme.height_px(LINE, 19)

    def _place_head(self, high: int) -> None:
        named = []
        if self.branch.is_json:
            named.append(("raw", tr("Raw"), "code", "toggle", tr("Show original text")))
        named.append(("copy-json", tr("Copy"), "copy", "button", tr("Copy {title}", title=self._title)))
        self._head = [
            Control(
                name,
                QRectF(),
                spoken,
                ("json", name, self._name),
                role=role,
                look="quiet",
                label=label,
                icon=icon,
                checked=name == "raw" and self._memory.raw,
            )
            for name, label, icon, role, spoken in named
        ]
        place_right(self.theme, self._head, self.width - self.theme.px(4), high / 2)

    def _control_of(self, line: Line, y: float) -> Control:
        rect = QRectF(self.theme.px(6), y, self.width - 2 * self.theme.px(6), self._line_px)
        if line.kind == "more":
            return Control(f"line:{line.path}…", rect, line.value, ("json", "more", self._name, line.path))
        spoken = f"{line.key}: {line.value}" if line.key else line.value
        return Control(
            f"line:{line.path}",
            rect,
            spoken,
            ("json", "fold" if line.folds else "value", self._name, line.path),
            role="disclosure" if line.folds else "button",
            checked=line.is_open,
            tooltip=line.path,
        )

    def controls(self) -> list[Control]:
        return [*self._head, *self._rows, *self._feet]

    def value_text(self, path: str | None) -> str:
        """What copying a line gives: a text bare, anything else as JSON; None for the whole, as it came."""
        return self.branch.text if path is None else self.branch.copied(path)

    # -- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        line = theme.color("line")
        high = theme.height_px(32, 17)
        frame = QRectF(0, 0, self.width, self.height)
        paint_frame(painter, frame, 8, theme.color("sunken"), line, True, True)
        painter.fillRect(QRectF(1, high - 1, self.width - 2, 1), line)
        self._paint_head(painter, state, high)
        if self._raw is not None:
            painter.setPen(theme.color("text"))
            self._raw.paint(painter, QPointF(theme.px(14), self._body_y))
        for shown, control in zip(self._lines, self._rows, strict=True):
            if control.rect.bottom() >= state.clip.top() and control.rect.top() <= state.clip.bottom():
                self._paint_line(painter, state, shown, control)
        for control in self._feet:
            paint_control(painter, theme, control, state)

    def _paint_head(self, painter: QPainter, state: PaintState, high: int) -> None:
        theme = self.theme
        side = theme.icon_px(14)
        x = float(theme.px(12))
        icons.paint(painter, theme, self._icon, QRectF(x, round((high - side) / 2), side, side), "text2")
        x += side + theme.px(7)
        right = self._head[0].rect.left() - theme.px(8)
        for text, font, role in (
            (self._title, theme.font("small", 500), "text2"),
            (self.note, theme.font("small"), self._tone),
        ):
            metrics = QFontMetricsF(font)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, right - x))
            painter.setFont(font)
            painter.setPen(theme.color(role))
            painter.drawText(QRectF(x, 0, max(0.0, right - x), high), _LEFT, shown)
            x += metrics.horizontalAdvance(shown) + theme.px(10)
        for control in self._head:
            paint_control(painter, theme, control, state)

    def _paint_line(self, painter: QPainter, state: PaintState, line: Line, control: Control) -> None:
        theme, rect = self.theme, control.rect
        if state.hovered == control.id:
            painter.fillRect(rect, theme.color("hover"))
        side = theme.icon_px(14)
        x = rect.left() + theme.px(6) + line.depth * theme.px(STEP)
        middle = rect.center().y()
        if line.folds:
            name = "chevron-down" if line.is_open else "chevron-right"
            icons.paint(painter, theme, name, QRectF(round(x), round(middle - side / 2), side, side), "text2")
        x += side + theme.px(4)
        font = theme.font("code")
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        right = rect.right() - theme.px(8) - (side if state.done == control.id else 0)
        for text, role in self._runs(line):
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, right - x))
            painter.setPen(theme.color(role))
            painter.drawText(QRectF(x, rect.top(), max(0.0, right - x), rect.height()), _LEFT, shown)
            x += metrics.horizontalAdvance(shown)
        if state.done == control.id:
            icons.paint(painter, theme, "check", QRectF(right, round(middle - side / 2), side, side), "ok")
        if state.focused == control.id:
            paint_focus_ring(painter, theme, rect.adjusted(3, 3, -3, -3), 4)

    def _runs(self, line: Line) -> list[tuple[str, str]]:
        if line.kind == "more":
            return [(line.value, "accent")]
        key = [(line.key, "syntax_name"), (": ", "text3")] if line.key else []
        return [*key, (line.value, _ROLES[line.kind])]

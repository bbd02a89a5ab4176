"""One field of a form: a label, the field, and under it the sentence about what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.fields import bind_label
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import set_property

_NO_PROBLEM = "\N{NO-BREAK SPACE}"  # as high as a line


class FieldBox(QWidget):
    """`show_problem` marks the field red and says why below it; "" takes both away.

    `keeps_room`: there is always a line for the sentence, and the room of a longer one stays until `forget_problem`, so
    that a button below does not move from under the pointer.
    """

    def __init__(self, theme: Theme, label: str, field: QLineEdit, *, keeps_room: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self.field = field
        self.label = Label(theme, label, "small", "text2", weight=500)
        bind_label(self.label, field)
        self._problem = QWidget()
        row = QHBoxLayout(self._problem)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(6))
        row.addWidget(IconLabel(theme, "error", "bad", px=14), 0, Qt.AlignmentFlag.AlignTop)
        self.problem = ""
        self._sentence = Label(theme, _NO_PROBLEM, "small", "bad", wrap=True)
        row.addWidget(self._sentence, 1)
        policy = self._problem.sizePolicy()
        policy.setRetainSizeWhenHidden(keeps_room)
        self._problem.setSizePolicy(policy)
        self._problem.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.label, field, self._problem):
            self._column.addWidget(widget)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def forget_problem(self) -> None:
        """Take the sentence and its room away."""
        self.show_problem("")
        self._sentence.set_text(_NO_PROBLEM)
        self._problem.updateGeometry()  # hidden, it does not tell that by itself

    def show_problem(self, sentence: str) -> None:
        if sentence == self.problem:
            return
        self.problem = sentence
        if sentence:
            self._sentence.set_text(sentence)
        self._problem.setVisible(bool(sentence))
        set_property(self.field, "state", "error" if sentence else "")
        self.field.setAccessibleDescription(sentence)
        announce(self.field, sentence, urgent=True)

    def _apply_theme(self) -> None:
        self._column.setSpacing(self._theme.px(5))


def held_to(widget: QWidget, width: int) -> QHBoxLayout:
    """Return a row that keeps `widget` at most `width` wide.

    In a column, a widget with a maximum width is measured at the column's width and then gets too little height.
    """
    row = QHBoxLayout()
    widget.setMaximumWidth(width)
    row.addWidget(widget, 1)
    row.addStretch(0)
    return row

"""One field of a form: a label, the field, and under it the sentence about what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.tab_order import put_in_order
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import IconButton
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


def fields_before_eyes(*fields: SecretField) -> None:
    """Have Tab go from one secret to the next: who types one does not see that the keyboard is on an eye."""
    put_in_order((*fields, *(field.eye for field in fields)))


class SecretField(QLineEdit):
    """A field whose text is dots until the eye is pressed. Nothing typed here reaches a clipboard or an undo list."""

    def __init__(self, theme: Theme, placeholder: str) -> None:
        super().__init__()
        self._theme = theme
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setPlaceholderText(placeholder)
        self.setInputMethodHints(
            Qt.InputMethodHint.ImhSensitiveData
            | Qt.InputMethodHint.ImhNoPredictiveText
            | Qt.InputMethodHint.ImhNoAutoUppercase
        )
        self.eye = IconButton(theme, "eye", tr("Show"), size="small", icon_size=16, parent=self)
        self.eye.setCursor(Qt.CursorShape.ArrowCursor)
        self.eye.clicked.connect(self._turn)
        theme.changed.connect(self._place)
        self._place()

    def wipe(self) -> None:
        """Empty the field and hide again what comes next."""
        self.clear()
        if self.echoMode() == QLineEdit.EchoMode.Normal:
            self._turn()

    def _turn(self) -> None:
        hidden = self.echoMode() == QLineEdit.EchoMode.Password
        self.setEchoMode(QLineEdit.EchoMode.Normal if hidden else QLineEdit.EchoMode.Password)
        self.eye.set_icon("eye-off" if hidden else "eye")
        self.eye.rename(tr("Hide") if hidden else tr("Show"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        size = self.eye.sizeHint()
        gap = 3
        left = gap if self.isRightToLeft() else self.width() - size.width() - gap
        self.eye.setGeometry(left, (self.height() - size.height()) // 2, size.width(), size.height())
        room = size.width() + gap
        self.setTextMargins(room if self.isRightToLeft() else 0, 0, 0 if self.isRightToLeft() else room, 0)

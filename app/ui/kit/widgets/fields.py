"""Fields for numbers, words and choices. A field that the model ignores stays in its place, dashed."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QWidget,
)

from app.formats import current
from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.plain_tooltip import tip_of_placeholder, tip_while_cut
from app.ui.kit.tab_order import put_in_order
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.frames import dashed_frame
from app.ui.kit.widgets.surfaces import set_property


class NumberField(QDoubleSpinBox):
    """A number, right-aligned, digits of one width; arrow keys step it, the wheel only while it has the focus.

    `value_edited` tells numbers that the person entered, not what a program set. Raises `ValueError` without a name.
    """

    value_edited = Signal(float)

    def __init__(
        self,
        theme: Theme,
        name: str,
        *,
        low: float,
        high: float,
        step: float = 1.0,
        decimals: int = 0,
        value: float = 0.0,
        small: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a number field needs a name")
        self._theme = theme
        self._by_program = False
        self.setAccessibleName(name)
        self.setProperty("plain", True)
        self.setProperty("dashes", "own")
        self.setProperty("sizing", "small" if small else "")
        self.setLocale(QLocale(current().locale))  # as prices and receipts are written
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setDecimals(decimals)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setValue(value)
        self.valueChanged.connect(self._publish)
        self._edit = self.lineEdit()
        self._edit.setAccessibleName(name)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def rename(self, name: str) -> None:
        """Take another name for screen readers."""
        self.setAccessibleName(name)
        self._edit.setAccessibleName(name)

    def set_value(self, value: float) -> None:
        """Show a number without telling anybody."""
        self._by_program = True
        self.setValue(value)
        self._by_program = False

    def _publish(self, value: float) -> None:
        if not self._by_program:
            self.value_edited.emit(value)

    def _apply_theme(self) -> None:
        font = self._theme.font("small" if self.property("sizing") else "body", tabular=True)
        self.setFont(font)
        self._edit.setFont(font)  # Qt hands it on only where it is another one than the program's own
        margin = self._theme.px(6)
        self._edit.setTextMargins(margin, 0, margin, 0)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        widest = max(self.textFromValue(self.minimum()), self.textFromValue(self.maximum()), key=len)
        width = self.fontMetrics().horizontalAdvance(widest + self.suffix()) + 2 * self._theme.px(6) + 8
        return QSize(max(width, self._theme.type_px(54)), self._theme.height_px(28, 17))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # scrolling the pane must not change a parameter

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_unused(self, self._theme)
        super().paintEvent(event)


class TextField(QLineEdit):
    """One line of text with a name. `set_problem` marks it and keeps the reason for screen readers."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        *,
        text: str = "",
        placeholder: str = "",
        mono: bool = False,
        small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        if not name.strip():
            raise ValueError("a text field needs a name")
        self._theme = theme
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder)
        self.setProperty("dashes", "own")
        self.setProperty("sizing", "small" if small else "")
        self._mono = mono
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        # the mono font comes from the theme, not from the sheet: only there are its ligatures off, so `//` stays `//`
        small = self._mono or self.property("sizing") == "small"
        self.setFont(self._theme.font("small" if small else "body", mono=self._mono))

    def showEvent(self, event: QShowEvent) -> None:
        # A pane that moves over the canvas gets a new parent, and Qt's style sheets then bring the field's first font
        # back, which was that of another text size.
        self._apply_theme()
        super().showEvent(event)

    def set_problem(self, sentence: str) -> None:
        """Mark the field with a red border, or unmark it with an empty sentence; the words stand below it."""
        self.setAccessibleDescription(sentence)
        set_property(self, "state", "error" if sentence else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_unused(self, self._theme)
        super().paintEvent(event)
        tip_of_placeholder(self)


class ChoiceField(QComboBox):
    """One of a short list; longer ones get a picker. The wheel turns it only while it has the focus."""

    def __init__(self, theme: Theme, name: str, *, small: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if not name.strip():
            raise ValueError("a choice field needs a name")
        self._theme = theme
        self.setAccessibleName(name)
        # Qt names a combo box by its value alone on Linux
        show_as(self, "ComboBox", name=lambda: f"{self.accessibleName()}: {self.currentText()}")
        self.setProperty("dashes", "own")
        self.setProperty("sizing", "small" if small else "")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.view().setAccessibleName(name)  # the list that drops down

    def sizeHint(self) -> QSize:
        """Be styled before anybody measures; alone among Qt's fields, a combo box does not see to that itself."""
        self.ensurePolished()
        return super().sizeHint()

    def minimumSizeHint(self) -> QSize:
        self.ensurePolished()
        return super().minimumSizeHint()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_unused(self, self._theme)
        super().paintEvent(event)
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self).width()
        text = self.currentText()
        tip_while_cut(self, text, self.fontMetrics().horizontalAdvance(text) > room)


def paint_unused(widget: QWidget, theme: Theme) -> None:
    """Draw the dashed frame of a field that is not used, below what the field paints itself."""
    if not widget.isEnabled():
        dashed_frame(QPainter(widget), theme, QRectF(widget.rect()), theme.px(6))


def bind_label(label: QLabel, field: QWidget) -> None:
    """Make a label name its field for the keyboard and for screen readers."""
    label.setBuddy(field)
    if not field.accessibleName():
        field.setAccessibleName(label.text())


class CheckBox(QCheckBox):
    """Takes a click anywhere on it: Qt's own takes none above and below its text, which is under 24 px."""

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)


def fields_before_eyes(*fields: SecretField) -> None:
    """Have Tab go from one secret to the next: who types one does not see that the keyboard is on an eye."""
    put_in_order((*fields, *(field.eye for field in fields)))


class SecretField(QLineEdit):
    """A field whose text is dots until the eye is pressed. Nothing typed here reaches a clipboard or an undo list."""

    def __init__(self, theme: Theme, placeholder: str) -> None:
        super().__init__()
        self._theme = theme
        self.setEchoMode(QLineEdit.EchoMode.Password)
        self.setProperty("secret", True)  # no dialog keeps what is typed here
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

"""Number fields, and a slider with its number. A field that the model ignores stays in its place, dashed."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QSlider, QWidget

from app.ui.shared.theme import Theme


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
        self.setProperty("sizing", "small" if small else "")
        self.setLocale(
            QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
        )  # as the wire and receipts have it
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setDecimals(decimals)
        self.setRange(low, high)
        self.setSingleStep(step)
        self.setValue(value)
        self.valueChanged.connect(self._tell)
        self._dress()
        theme.changed.connect(self._dress)

    def set_value(self, value: float) -> None:
        """Show a number without telling anybody."""
        self._by_program = True
        self.setValue(value)
        self._by_program = False

    def _tell(self, value: float) -> None:
        if not self._by_program:
            self.value_edited.emit(value)

    def _dress(self) -> None:
        self.setFont(self._theme.font("small" if self.property("sizing") else "body", tabular=True))
        margin = self._theme.px(6)
        edit = self.findChild(QLineEdit)
        if edit is not None:
            edit.setTextMargins(margin, 0, margin, 0)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        widest = max(self.textFromValue(self.minimum()), self.textFromValue(self.maximum()), key=len)
        width = self.fontMetrics().horizontalAdvance(widest) + 2 * self._theme.px(6) + 8
        return QSize(max(width, self._theme.type_px(54)), self._theme.height_px(28, 17))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # scrolling the pane must not change a parameter


class _ResettingSlider(QSlider):
    """A slider that a double click sends back to its default; the wheel scrolls the pane unless it has the focus."""

    reset_wanted = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_wanted.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SliderField(QWidget):
    """A slider and its number, bound both ways. `value_edited` tells what the person chose.

    `default` is where a double click leads. Disabled it is dashed: the model ignores it. The slider's steps are
    `step` wide; the number may be finer only by `decimals`.
    """

    value_edited = Signal(float)

    def __init__(
        self,
        theme: Theme,
        name: str,
        *,
        low: float,
        high: float,
        step: float,
        decimals: int,
        default: float,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._low, self._step, self._default = low, step, default
        self.slider = _ResettingSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(name)
        self.slider.setRange(0, round((high - low) / step))
        self.slider.setPageStep(max(1, self.slider.maximum() // 10))
        self.slider.setMinimumWidth(40)
        self.number = NumberField(theme, name, low=low, high=high, step=step, decimals=decimals, value=default)
        self.number.setFixedWidth(self.number.sizeHint().width())
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.slider, 1)
        self._layout.addWidget(self.number)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.slider)
        self.slider.valueChanged.connect(self._slid)
        self.slider.reset_wanted.connect(self._reset)
        self.number.value_edited.connect(self._typed)
        self.set_value(default)
        self._dress()
        theme.changed.connect(self._dress)

    @property
    def value(self) -> float:
        """The number as shown."""
        return self.number.value()

    def set_value(self, value: float) -> None:
        """Show a number without telling anybody."""
        self.number.set_value(value)
        with QSignalBlocker(self.slider):
            self.slider.setValue(round((value - self._low) / self._step))

    def set_default(self, default: float) -> None:
        """Take the default of another model."""
        self._default = default

    def _slid(self, place: int) -> None:
        self.number.set_value(self._low + place * self._step)
        self.value_edited.emit(self.number.value())

    def _typed(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round((value - self._low) / self._step))
        self.value_edited.emit(value)

    def _reset(self) -> None:
        if self.value != self._default:
            self.set_value(self._default)
            self.value_edited.emit(self._default)

    def _dress(self) -> None:
        self._layout.setSpacing(self._theme.px(12))
        self.number.setFixedWidth(self.number.sizeHint().width())


def bind_label(label: QLabel, field: QWidget) -> None:
    """Make a label name its field for the keyboard and for screen readers."""
    label.setBuddy(field)
    if not field.accessibleName():
        field.setAccessibleName(label.text())

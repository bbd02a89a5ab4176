"""A slider with its number, as every sampling parameter has it."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QWidget

from app.translation import tr
from app.ui.kit.accessible_role import Value, show_as
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import NumberField as NumberField  # callers take both from here


class _ResettingSlider(QSlider):
    """A slider that a double click sends back to its default; the wheel scrolls the pane unless it has the focus."""

    reset_requested = Signal()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.reset_requested.emit()

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
        value = Value(lambda: self.value, low, high, step=step, write=self._put)
        show_as(self.slider, "Slider", value)
        self.slider.setRange(0, round((high - low) / step))
        self.slider.setPageStep(max(1, self.slider.maximum() // 10))
        self.slider.setMinimumWidth(40)
        self.number = NumberField(theme, name, low=low, high=high, step=step, decimals=decimals, value=default)
        self.number.rename(tr("{name}, number", name=name))
        self.number.setFixedWidth(self.number.sizeHint().width())
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.addWidget(self.slider, 1)
        self._layout.addWidget(self.number)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.slider)
        self.slider.valueChanged.connect(self._slid)
        self.slider.reset_requested.connect(self._reset)
        self.number.value_edited.connect(self._typed)
        self.set_value(default)
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

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

    def _put(self, value: float) -> None:
        self.set_value(value)
        self.value_edited.emit(self.value)

    def _typed(self, value: float) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round((value - self._low) / self._step))
        self.value_edited.emit(value)

    def _reset(self) -> None:
        if self.value != self._default:
            self.set_value(self._default)
            self.value_edited.emit(self._default)

    def _apply_theme(self) -> None:
        self._layout.setSpacing(self._theme.px(12))
        self.number.setFixedWidth(self.number.sizeHint().width())

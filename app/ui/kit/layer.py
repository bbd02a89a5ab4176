"""What lies over a window, such as the palette or a dialog. While something does, nothing behind it receives a key."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget


class Layers(QObject):
    """The layers over one window, the newest on top. `changed` follows each that opens or closes."""

    changed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._open: list[Layer] = []

    @property
    def top(self) -> Layer | None:
        """The layer that has the keyboard; None while the window has it."""
        return self._open[-1] if self._open else None

    def set_open(self, layer: Layer, on: bool) -> None:
        others = [each for each in self._open if each is not layer]
        self._open = [*others, layer] if on else others
        self.changed.emit()


def layers_of(window: QWidget) -> Layers:
    """Return the layers over a window."""
    found = window.findChild(Layers, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return found if isinstance(found, Layers) else Layers(window)


class Layer(QWidget):
    """Covers `window` while it is visible, and lets no key through to what is behind it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._layers = layers_of(window)

    def first_focus(self) -> QWidget:
        """What gets the keyboard where nothing in the layer has it."""
        return self

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._layers.set_open(self, True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._layers.set_open(self, False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()

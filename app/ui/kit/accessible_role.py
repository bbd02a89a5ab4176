"""What painted widgets are for screen readers: a role, and a value that is the number on screen."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAccessible, QAccessibleInterface, QAccessibleValueInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject

_ATTRIBUTE = "accessible_role"


class Value(QAccessibleValueInterface):
    """`read` returns the number as it is shown; `write` takes one from a screen reader, None where none can be set."""

    def __init__(
        self,
        read: Callable[[], float],
        low: float,
        high: float,
        *,
        step: float = 0.0,
        write: Callable[[float], object] | None = None,
    ) -> None:
        super().__init__()
        self._read, self._low, self._high, self._step, self._write = read, low, high, step, write

    def currentValue(self) -> float:
        return self._read()

    def minimumValue(self) -> float:
        return self._low

    def maximumValue(self) -> float:
        return self._high

    def minimumStepSize(self) -> float:
        return self._step

    def setCurrentValue(self, value: Any) -> None:
        if self._write is not None:
            self._write(min(self._high, max(self._low, float(value))))


class _Interface(QAccessibleWidget):
    def __init__(
        self, widget: QWidget, role: QAccessible.Role, value: Value | None, name: Callable[[], str] | None
    ) -> None:
        super().__init__(widget, role)
        self._value = value
        self._name = name

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name and self._name is not None:
            return self._name()
        return super().text(kind)

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        if kind == QAccessible.InterfaceType.ValueInterface and self._value is not None:
            return self._value
        return super().interface_cast(kind)


def show_as(
    widget: QWidget, role: QAccessible.Role, value: Value | None = None, name: Callable[[], str] | None = None
) -> None:
    """Have screen readers see `widget` in this role, with this value; `name` replaces its accessible name."""
    _install()
    setattr(widget, _ATTRIBUTE, (role, value, name))


@cache
def _install() -> None:
    QAccessible.installFactory(_interface_of)


def _interface_of(_class_name: str, found: QObject | None) -> QAccessibleInterface | None:
    shown = getattr(found, _ATTRIBUTE, None)
    if shown is None or not isinstance(found, QWidget):
        return None
    made = _Interface(found, *shown)
    found.accessible_interface = made  # type: ignore[attr-defined]  # Qt does not keep it
    return made

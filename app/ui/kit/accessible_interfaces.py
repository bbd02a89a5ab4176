"""Tells Qt what `accessible_role` says of painted widgets.

A module of its own, because Qt's accessibility classes are loaded after the window can be used.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, cast

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent, QAccessibleInterface, QAccessibleValueInterface
from PySide6.QtWidgets import QAbstractItemView, QAccessibleWidget, QApplication, QStackedWidget, QWidget
from shiboken6 import VoidPtr

from app.ui.kit.accessible_role import ATTRIBUTE, ShownAs, Value, tell_of_shown

# What an `interface_cast` returns where there is nothing: PySide 6.11.3 crashes on None.
NO_INTERFACE = VoidPtr(0)


class _Value(QAccessibleValueInterface):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self._value = value

    def currentValue(self) -> float:
        return self._value.read()

    def minimumValue(self) -> float:
        return self._value.low

    def maximumValue(self) -> float:
        return self._value.high

    def minimumStepSize(self) -> float:
        return self._value.step

    def setCurrentValue(self, value: Any) -> None:
        if self._value.write is not None:
            self._value.write(min(self._value.high, max(self._value.low, float(value))))


class _Interface(QAccessibleWidget):
    def __init__(self, widget: QWidget, shown: ShownAs) -> None:
        super().__init__(widget, QAccessible.Role[shown.role])
        self._name = shown.name
        self._value = _Value(shown.value) if shown.value is not None else None

    def state(self) -> QAccessible.State:
        found = super().state()
        if self.role() == QAccessible.Role.NoRole:
            found.invisible = True
        return found

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name and self._name is not None:
            return self._name()
        return super().text(kind)

    def relations(
        self, match: QAccessible.RelationFlag = QAccessible.RelationFlag.AllRelations
    ) -> list[tuple[QAccessibleInterface, QAccessible.RelationFlag]]:
        """A name of our own says the label already: Orca would say it first, and then the name."""
        return super().relations(match) if self._name is None else []

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        if kind == QAccessible.InterfaceType.ValueInterface and self._value is not None:
            return self._value
        found = super().interface_cast(kind)
        return NO_INTERFACE if found is None else found


class _Stack(QAccessibleWidget):
    """The page on show and nothing around it: readers say "layered pane" of Qt's own, at each step across it."""

    def __init__(self, stack: QStackedWidget) -> None:
        super().__init__(stack, QAccessible.Role.Client)
        self._stack = stack

    def _page(self) -> QAccessibleInterface | None:
        page = self._stack.currentWidget()
        return QAccessible.queryAccessibleInterface(page) if page is not None else None

    def childCount(self) -> int:
        return 1 if self._stack.currentWidget() is not None else 0

    def child(self, index: int) -> QAccessibleInterface:
        return cast("QAccessibleInterface", self._page() if index == 0 else None)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return 0 if child is not None and child.object() is self._stack.currentWidget() else -1


@cache
def install_interfaces() -> None:
    """From now on Qt asks here for the interfaces of widgets."""
    QAccessible.installFactory(_interface_of)
    tell_of_shown(look_again)
    for widget in QApplication.allWidgets() if QAccessible.isActive() else ():
        if isinstance(widget, QStackedWidget):
            look_again(widget)
    qt_app = QApplication.instance()
    if isinstance(qt_app, QApplication):
        qt_app.focusChanged.connect(_follow)


def _follow(_old: QWidget | None, new: QWidget | None) -> None:
    """A list that gets the focus: Qt tells readers of the list itself, and they are to hear of its row last."""
    if isinstance(new, QAbstractItemView) and QAccessible.isActive():
        QTimer.singleShot(0, new, partial(_tell_row, new))


def _tell_row(view: QAbstractItemView) -> None:
    whole = QAccessible.queryAccessibleInterface(view)
    has_keys = view.hasFocus() and QApplication.activePopupWidget() is None  # a menu may have opened meanwhile
    row = whole.focusChild() if whole is not None and has_keys else None
    if row is not None:
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Focus))


def look_again(widget: QWidget) -> None:
    """Have Qt ask for the interface anew: a reader may have asked before the role was known, or this module loaded."""
    if QAccessible.isActive():
        known = QAccessible.queryAccessibleInterface(widget)
        if known is not None and not isinstance(known, (_Interface, _Stack)):
            QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(known))


def _interface_of(_class_name: str, found: QObject | None) -> QAccessibleInterface | None:
    if not isinstance(found, QWidget):
        return None
    shown = getattr(found, ATTRIBUTE, None)
    made: QAccessibleWidget
    if shown is not None:
        made = _Interface(found, shown)
    elif isinstance(found, QStackedWidget):
        made = _Stack(found)
    else:
        return None
    found.accessible_interface = made  # type: ignore[attr-defined]  # Qt does not keep it
    return made

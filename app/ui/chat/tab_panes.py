"""The three panes of the tab, and the guest panes that can replace them for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.ui.kit.tab import Zones


class GuestPanes(Protocol):
    """Three panes of another feature, such as the characters."""

    def list_pane(self) -> QWidget: ...

    def canvas(self) -> QWidget: ...

    def inspector(self) -> QWidget: ...

    def set_zones(self, zones: Zones) -> None: ...

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None: ...

    def activated(self) -> None: ...


class TabPanes(QObject):
    """The part of a `TabPage` that is about panes: whose they are, and where the window puts them."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.zones = Zones()
        self.toggle_list: Callable[[], None] = _nothing
        self.toggle_inspector: Callable[[], None] = _nothing
        self._stacks = tuple(QStackedWidget() for _ in range(3))
        self._guest: GuestPanes | None = None
        self._known: list[GuestPanes] = []

    def set_own_panes(self, *panes: QWidget) -> None:
        """List, canvas and inspector of the tab itself."""
        for stack, pane in zip(self._stacks, panes, strict=True):
            stack.addWidget(pane)

    def list_pane(self) -> QWidget:
        return self._stacks[0]

    def canvas(self) -> QWidget:
        return self._stacks[1]

    def inspector(self) -> QWidget:
        return self._stacks[2]

    @property
    def guest(self) -> GuestPanes | None:
        """Who stands in place of the tab's own panes, None usually."""
        return self._guest

    def show_guest(self, guest: GuestPanes) -> None:
        """Put another feature's panes in place of ours, until `leave_guest`."""
        if guest not in self._known:
            self._known.append(guest)
            guest.connect_zones(lambda: self.toggle_list(), lambda: self.toggle_inspector())
        self._guest = guest
        panes = (guest.list_pane(), guest.canvas(), guest.inspector())
        for stack, pane in zip(self._stacks, panes, strict=True):
            if stack.indexOf(pane) < 0:
                stack.addWidget(pane)
            stack.setCurrentWidget(pane)
        guest.set_zones(self.zones)
        guest.activated()
        self.changed.emit()

    def leave_guest(self) -> bool:
        """Back to our own panes; False when they are shown already."""
        if self._guest is None:
            return False
        self._guest = None
        for stack in self._stacks:
            stack.setCurrentIndex(0)
        self.changed.emit()
        return True

    def set_zones(self, zones: Zones) -> None:
        """The window says which panes are beside the canvas and which slide over it."""
        self.zones = zones
        if self._guest is not None:
            self._guest.set_zones(zones)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        """What shows and hides the two side panes."""
        self.toggle_list = toggle_list
        self.toggle_inspector = toggle_inspector


def _nothing() -> None:
    """Stands in until the window connects its panes."""

"""The window: rail, zones, status bar and what lies over them. Tabs are given to it; it knows none by name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMainWindow, QWidget

from app.storage.settings import SettingsStore
from app.ui.shared.caller import Caller
from app.ui.shared.tab import TabInfo, TabPage
from app.ui.shared.theme import Theme
from app.ui.shell.actions import ActionRegistry


class MainWindow(QMainWindow):
    """One window. `closed` follows the last question about running work; the program ends then."""

    closed = Signal()
    tab_shown = Signal(str)

    def __init__(self, theme: Theme, caller: Caller, settings_store: SettingsStore) -> None:
        super().__init__()
        self.theme = theme
        self.caller = caller
        self._settings_store = settings_store
        self.actions_by_name = ActionRegistry(self)

    def add_tab(self, info: TabInfo, make: Callable[[], TabPage]) -> None:
        """Put a tab on the rail; `make` is called when it is first shown."""

    def show_tab(self, name: str) -> None:
        """Bring a tab to the front, building it if need be."""

    def show_page(self, page: QWidget) -> None:
        """Show one page instead of all zones: the welcome page."""

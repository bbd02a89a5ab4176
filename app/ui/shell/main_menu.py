"""The menus: every action with its key. A menu bar on macOS, one menu behind the mark elsewhere.

Menus are filled when they open, so they always tell the truth and cost the start nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.key_text import as_shown
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.menu import Menu
from app.ui.shell.actions import WINDOW, ActionRegistry, Entry

# Menu → its title. "tab" takes the title of the tab that is shown.
MENUS = {"file": tr("File"), "edit": tr("Edit"), "tab": "", "view": tr("View"), "go": tr("Go"), "help": tr("Help")}


class MainMenu:
    """Builds menus from the registry. `tab` returns the name and title of the tab that is shown, or ("", "")."""

    def __init__(
        self, theme: Theme, registry: ActionRegistry, window: QWidget, tab: Callable[[], tuple[str, str]]
    ) -> None:
        self._theme = theme
        self._registry = registry
        self._window = window
        self._tab = tab

    def fill_bar(self, bar: QMenuBar) -> None:
        """Give a native menu bar its menus; each fills itself when it opens.

        The bar takes the actions themselves: copies with the same keys would make every key ambiguous there.
        """
        for key, title in MENUS.items():
            menu = bar.addMenu(title or tr("Tab"))
            menu.aboutToShow.connect(lambda key=key, menu=menu: self._fill_native(menu, key))
            self._fill_native(menu, key)

    def _fill_native(self, menu: QMenu, key: str) -> None:
        menu.clear()
        if key == "tab":
            menu.setTitle(self._tab()[1] or tr("Tab"))
        self._registry.refresh()
        menu.addActions([entry.q_action for entry in self._entries(key)])

    def popup(self, where: QPoint) -> QMenu:
        """Show all menus as one, at a place on the screen."""
        menu = Menu(self._theme, self._window)
        menu.setAccessibleName(tr("All actions"))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for key, title in MENUS.items():
            shown = title or self._tab()[1]
            if not shown or not self._entries(key):
                continue
            part = Menu(self._theme, menu)
            part.setTitle(shown)
            menu.addMenu(part)
            self._fill(part, key)
        menu.popup(where)
        return menu

    def _entries(self, key: str) -> list[Entry]:
        name, _ = self._tab()
        return [
            entry
            for entry in self._registry.entries()
            if entry.action.menu == key and (entry.scope == WINDOW or entry.scope == name)
        ]

    def _fill(self, menu: QMenu, key: str) -> None:
        scope = ""
        for entry in self._entries(key):
            if scope and entry.scope != scope:
                menu.addSeparator()
            scope = entry.scope
            menu.addAction(self._item(entry, menu))

    def _item(self, entry: Entry, menu: QMenu) -> QAction:
        """A menu's own entry: greying it must not take the key away from the action itself."""
        item = QAction(entry.action.text, menu)
        item.setShortcut(as_shown(entry.shortcut))
        item.setShortcutVisibleInContextMenu(True)
        item.setMenuRole(entry.q_action.menuRole())
        if entry.action.icon and entry.action.checked is None:
            item.setIcon(icons.icon(self._theme, entry.action.icon))
        item.setEnabled(self._registry.can_run(entry))
        if entry.action.checked is not None:
            item.setCheckable(True)
            item.setChecked(entry.action.checked())
        item.triggered.connect(lambda _checked=False, name=entry.id: self._registry.run(name))
        return item

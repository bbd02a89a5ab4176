"""What the window itself can do, whatever tab is shown. Keys are those of the design's keyboard map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, Protocol

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from app.core.tabs import TabInfo
from app.translation import tr
from app.ui.kit.tab import TabAction


class WindowCommands(Protocol):
    """The methods behind the actions; `MainWindow` has them."""

    def show_tab(self, name: str) -> None: ...
    def show_neighbor_tab(self, step: int) -> None: ...
    def open_palette(self) -> None: ...
    def open_shortcuts(self) -> None: ...
    def open_help(self) -> None: ...
    def open_about(self) -> None: ...
    def test_itself(self) -> None: ...
    def open_menu(self) -> None: ...
    def open_account_menu(self) -> None: ...
    def cycle_zone(self, step: int) -> None: ...
    def focus_main_input(self) -> None: ...
    def focus_filter(self) -> None: ...
    def toggle_list(self) -> None: ...
    def toggle_inspector(self) -> None: ...
    def widen_pane(self, pane: Literal["list", "inspector"], steps: int) -> None: ...
    def list_is_beside(self) -> bool: ...
    def inspector_is_beside(self) -> bool: ...
    def change_text_size(self, step: int) -> None: ...
    def switch_theme(self) -> None: ...
    def set_theme(self, mode: str) -> None: ...
    def theme_mode(self) -> str: ...
    def toggle_full_screen(self) -> None: ...
    def refresh(self) -> None: ...
    def undo(self) -> None: ...
    def can_undo(self) -> bool: ...
    def close(self) -> bool: ...
    def has_list(self) -> bool: ...
    def has_inspector(self) -> bool: ...
    def list_is_open(self) -> bool: ...
    def inspector_is_open(self) -> bool: ...
    def is_full_screen(self) -> bool: ...


def tab_actions(window: WindowCommands, infos: Sequence[TabInfo]) -> tuple[TabAction, ...]:
    """Ctrl+1 … 7 by rail order; Settings has Ctrl+, instead."""

    def go_to(name: str) -> Callable[[], None]:
        return lambda: window.show_tab(name)

    numbered = (info for info in infos if not info.at_bottom)
    actions = [
        TabAction(f"go.{info.name}", info.title, go_to(info.name), f"Ctrl+{number}", info.icon, "go", tr("Tab"))
        for number, info in enumerate(numbered, start=1)
    ]
    actions += [
        TabAction(f"go.{info.name}", info.title, go_to(info.name), "Ctrl+,", info.icon, "go", tr("Tab"))
        for info in infos
        if info.at_bottom
    ]
    return tuple(actions)


def _pane_widths(window: WindowCommands) -> tuple[TabAction, ...]:
    """What dragging the edge of a pane does, without dragging."""
    panes: tuple[tuple[Literal["list", "inspector"], str, str, Callable[[], bool]], ...] = (
        ("list", tr("List"), "B", window.list_is_beside),
        ("inspector", tr("Inspector"), "I", window.inspector_is_beside),
    )
    ways = (("wider", tr("Wider"), "Ctrl+Alt", "plus", 1), ("narrower", tr("Narrower"), "Ctrl+Alt+Shift", "minus", -1))
    return tuple(
        TabAction(
            f"window.{pane}_{way}",
            tr("{way} {pane}", way=words, pane=title.lower()),
            partial(window.widen_pane, pane, steps),
            f"{modifiers}+{key}",
            icon,
            "view",
            enabled=is_beside,
        )
        for pane, title, key, is_beside in panes
        for way, words, modifiers, icon, steps in ways
    )


def window_actions(window: WindowCommands) -> tuple[TabAction, ...]:
    """Everything else, in the order of the menus."""
    return (
        TabAction("window.account", tr("Switch account…"), window.open_account_menu, "Ctrl+Shift+A", "user", "file"),
        TabAction("window.refresh", tr("Refresh balances and models"), window.refresh, "F5", "refresh", "file"),
        TabAction(
            "window.quit", tr("Quit Rialto"), lambda: _close(window), "Ctrl+Q", "logout", "file", over_layers=True
        ),
        TabAction(
            "window.undo",
            tr("Undo"),
            window.undo,
            "Ctrl+Z",
            "undo",
            "edit",
            enabled=window.can_undo,
            in_palette=False,  # there it says what would be undone
        ),
        TabAction("window.filter", tr("Filter list"), window.focus_filter, "Ctrl+F", "search", "edit"),
        TabAction("window.input", tr("Go to main input"), window.focus_main_input, "Ctrl+L", "pencil", "edit"),
        TabAction(
            "window.palette",
            tr("Commands…"),
            window.open_palette,
            "Ctrl+K",
            "command",
            "go",
            in_palette=False,
            over_layers=True,
        ),
        TabAction(
            "window.next_tab", tr("Next tab"), lambda: window.show_neighbor_tab(1), "Ctrl+PgDown", "chevron-right", "go"
        ),
        TabAction(
            "window.previous_tab",
            tr("Previous tab"),
            lambda: window.show_neighbor_tab(-1),
            "Ctrl+PgUp",
            "chevron-left",
            "go",
        ),
        TabAction("window.next_zone", tr("Next pane"), lambda: window.cycle_zone(1), "F6", "panel-right", "go"),
        TabAction(
            "window.previous_zone",
            tr("Previous pane"),
            lambda: window.cycle_zone(-1),
            "Shift+F6",
            "panel-left",
            "go",
        ),
        TabAction(
            "window.list",
            tr("List"),
            window.toggle_list,
            "Ctrl+B",
            "panel-left",
            "view",
            tr("Show or hide"),
            enabled=window.has_list,
            checked=window.list_is_open,
        ),
        TabAction(
            "window.inspector",
            tr("Inspector"),
            window.toggle_inspector,
            "Ctrl+I",
            "panel-right",
            "view",
            tr("Show or hide"),
            enabled=window.has_inspector,
            checked=window.inspector_is_open,
        ),
        *_pane_widths(window),
        TabAction(
            "window.text_larger",
            tr("Larger text"),
            lambda: window.change_text_size(1),
            "Ctrl+=",
            "plus",
            "view",
            also=("Ctrl++",),
            over_layers=True,
        ),
        TabAction(
            "window.text_smaller",
            tr("Smaller text"),
            lambda: window.change_text_size(-1),
            "Ctrl+-",
            "minus",
            "view",
            over_layers=True,
        ),
        TabAction(
            "window.text_reset",
            tr("Reset text size"),
            lambda: window.change_text_size(0),
            "Ctrl+0",
            "undo",
            "view",
            over_layers=True,
        ),
        TabAction(
            "window.theme",
            tr("Switch theme: light, dark, system"),
            window.switch_theme,
            "Ctrl+Shift+H",
            "appearance",
            "view",
            in_palette=False,  # there each theme has its own row
            over_layers=True,
        ),
        *(_theme_action(window, mode, text) for mode, text in THEMES),
        TabAction(
            "window.full_screen",
            tr("Full screen"),
            window.toggle_full_screen,
            "F11",
            "expand",
            "view",
            checked=window.is_full_screen,
            over_layers=True,
        ),
        TabAction("window.help", tr("Help for this page"), window.open_help, "F1", "info", "help", over_layers=True),
        TabAction(
            "window.shortcuts",
            tr("All shortcuts"),
            window.open_shortcuts,
            "Ctrl+/",
            "keyboard",
            "help",
            over_layers=True,
        ),
        TabAction("window.self_test", tr("Test Rialto…"), window.test_itself, "", "wrench", "help"),
        TabAction("window.about", tr("About Rialto, updates and licenses"), window.open_about, "", "info", "help"),
        TabAction(
            "window.context_menu",
            tr("Context menu"),
            _open_context_menu,
            "Shift+F10",
            "more",
            "edit",
            in_palette=False,
            over_layers=True,
        ),
        TabAction("window.menu", tr("Main menu"), window.open_menu, "F10", "list", "help", in_palette=False),
    )


THEMES = (("light", tr("Theme: Light")), ("dark", tr("Theme: Dark")), ("system", tr("Theme: System")))


def _theme_action(window: WindowCommands, mode: str, text: str) -> TabAction:
    return TabAction(
        f"window.theme_{mode}",
        text,
        lambda: window.set_theme(mode),
        icon="appearance",
        menu="view",
        checked=lambda: window.theme_mode() == mode,
        words=tr("appearance mode night day color"),
    )


def _open_context_menu() -> None:
    """Do what the Menu key does, which many keyboards lack. Qt knows Shift+F10 on Windows alone."""
    widget = QApplication.focusWidget()
    handle = widget.window().windowHandle() if widget is not None else None
    if handle is not None:
        # The window hands it to what has the keyboard, with the place of its caret.
        asked = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
        QApplication.sendEvent(handle, asked)


def _close(window: WindowCommands) -> None:
    window.close()

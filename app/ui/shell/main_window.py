"""The window: rail, zones, status bar and overlays. Tabs are given to it; it knows none by name."""

from __future__ import annotations

import base64
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from PySide6.QtCore import QByteArray, QEvent, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QMoveEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHBoxLayout,
    QLineEdit,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.current_account import CurrentAccount
from app.core.tabs import TabInfo
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.storage.settings import SettingsStore
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.focus import can_take_focus, forget_hover, reveal
from app.ui.kit.layer import layers_of
from app.ui.kit.tab import TabPage
from app.ui.kit.theme import Theme
from app.ui.shell.actions import ActionRegistry
from app.ui.shell.focus_cycle import FocusCycle, place_after
from app.ui.shell.navigation import Rail
from app.ui.shell.settings_saver import SettingsSaver
from app.ui.shell.status_bar import StatusBar
from app.ui.shell.tab_frames import Maker, TabFrames
from app.ui.shell.window_actions import THEMES, tab_actions, window_actions
from app.ui.shell.zones import PaneChoice, ZoneFrame

if TYPE_CHECKING:
    from app.core.secret_storage import Secrets
    from app.ui.shell.overlays import Overlays

MINIMUM = QSize(880, 560)
_FIRST_SIZE = QSize(1440, 900)
_FRAME = QSize(8, 48)  # what the system's title bar and edges take of a screen
_TEXT_STEP = 10  # per cent


class ClosingQuestion(NamedTuple):
    """What closing would lose. `ask` returns False when the person stays."""

    is_open: Callable[[], bool]
    ask: Callable[[], Awaitable[bool]]


class MainWindow(QMainWindow):
    """One window. `closed` follows the last question about running work; the program ends then, not before.

    `QApplication.setQuitOnLastWindowClosed(False)` belongs to the start: closing must not stop the loop under tasks.
    """

    closed = Signal()
    tab_expected = Signal(str)
    tab_opens = Signal(str)  # before anything of the tab is built or shown
    tab_shown = Signal(str)
    refresh_requested = Signal()
    status_page_requested = Signal(str)  # "limits", "spending", "balance", "work": what no page here is about
    account_chosen = Signal(str)  # account id, from the account menu

    def __init__(
        self, theme: Theme, current_account: CurrentAccount, settings_store: SettingsStore, tasks: TaskScope
    ) -> None:
        """`tasks` carries the window's questions; it is closed with the program."""
        super().__init__()
        self.theme = theme
        self.current_account = current_account
        self.settings_store = settings_store
        self.tasks = tasks
        self.saver = SettingsSaver(settings_store, self)
        self.undo_stack = UndoStack(tasks, self)
        self.undo_stack.pushed.connect(lambda command: self.overlays.offer_undo(command))
        self._current = ""
        self.expected_tab: str | None = None  # the last that was expected
        self._left: dict[str, QWidget] = {}  # by tab: what had the focus when it was left
        self._page: QWidget | None = None
        self._overlays: Overlays | None = None
        self.secrets: Secrets | None = None
        self._may_close = False
        self.closing_questions: list[ClosingQuestion] = []  # about what is in memory alone
        self._own_work = ""
        self.silencers: list[Callable[[], bool]] = []  # what sounds from whichever tab; each says whether it did
        self._focus_cycle = FocusCycle(self)
        self._focus_cycle.released.connect(self.replace_focus)
        self._focus_cycle.strayed.connect(self._bring_back_focus)
        self._layers = layers_of(self)
        self.registry = ActionRegistry(
            self,
            overrides=settings_store.value.shortcuts,
            save=lambda shortcuts: self.settings_store.remember(shortcuts=shortcuts),
            go_to_scope=self.show_tab,
        )
        self._layers.changed.connect(lambda: self.registry.set_covered(self._layers.top is not None))
        self.setWindowTitle("Rialto")
        self.setMinimumSize(MINIMUM)
        self._build()
        self.registry.add(window_actions(self))
        self._restore_place()

    def _build(self) -> None:
        self.rail = Rail(self.theme)
        self.rail.tab_chosen.connect(self._show_chosen)
        self.rail.tab_approached.connect(self.expect_tab)
        self.rail.menu_requested.connect(self.open_menu)
        self._pages = QStackedWidget()
        self.tab_frames = TabFrames(
            self.theme, self.settings_store, self._pages, lambda: self.width() / self.theme.scale
        )
        self.tab_frames.built.connect(self._take_in)
        self.status = StatusBar(self.theme, self.current_account)
        self.status.account_menu_requested.connect(self.open_account_menu)
        self.status.palette_requested.connect(self.open_palette)
        self.status.shortcuts_requested.connect(self.open_shortcuts)
        self.status.page_requested.connect(self._open_status_page)
        self.current_account.numbers_changed.connect(self._show_headroom)
        centre = QWidget()
        row = QHBoxLayout(centre)
        self._column = QVBoxLayout()
        for layout in (row, self._column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(self._column, 1)
        self._column.addWidget(self._pages, 1)
        self._column.addWidget(self.status)
        self.setCentralWidget(centre)
        for part in (self.rail, self.status):
            part.setProperty("focusPart", True)

    # Tabs and pages

    def add_tab(self, info: TabInfo, make: Maker) -> None:
        """Put a tab on the rail; `make` is called when it is first shown, or built ahead."""
        self.tab_frames.add(info, make)
        actions = tab_actions(self, self.tab_frames.infos)
        self.registry.add(actions)
        key = next(action.shortcut for action in actions if action.id == f"go.{info.name}")
        self.rail.add(info, key)

    def tab_names(self) -> tuple[str, ...]:
        """Every tab of the rail, top to bottom."""
        return tuple(info.name for info in self.tab_frames.infos)

    def has_tab(self, name: str) -> bool:
        return self.tab_frames.has(name)

    def title_of(self, name: str) -> str:
        """The title of a tab on the rail. Raises KeyError."""
        return self.tab_frames.info(name).title

    @property
    def current_tab(self) -> str:
        """The name of the tab that is shown, "" while a page without a tab is."""
        return self._current

    def current_title(self) -> str:
        """The title of the tab that is shown, "" while a page without a tab is."""
        return self.title_of(self._current) if self._current in self.tab_frames.by_name else ""

    def tab(self, name: str) -> TabPage:
        """The tab itself, built when this is the first time. Raises KeyError for a name that was never added."""
        return self._frame(name).tab

    def built_tabs(self) -> tuple[TabPage, ...]:
        return tuple(frame.tab for frame in self.tab_frames.by_name.values())

    def expect_tab(self, name: str = "") -> None:
        """Tell that the person may look at a tab in a moment; "": at any."""
        self.expected_tab = name
        self.tab_expected.emit(name)

    def _show_chosen(self, name: str) -> None:
        """Arrow keys go on in the rail; a click leaves the focus to the tab."""
        focused = self.focusWidget()
        self.show_tab(name, enter=focused is None or not self.rail.isAncestorOf(focused))

    def show_tab(self, name: str, *, enter: bool = True) -> None:
        """Bring a tab to the front, building it if need be, and put the keyboard into it."""
        self.tab_opens.emit(name)
        frame = self._frame(name)
        self._let_go(frame)
        self._current = name
        self._pages.setCurrentWidget(frame)
        self._drop_page()
        self.rail.set_current(name)
        self.registry.set_scope(name)
        self.status.set_hints_visible(False)
        self._tab_changed(name)
        frame.tab.activated()
        if enter:
            self._enter(name)
        self.settings_store.remember(last_tab=name)
        self.tab_shown.emit(name)

    def _let_go(self, coming: QWidget) -> None:
        """Take the focus from what is hidden when `coming` is shown: Qt would give it to the menu button, and a screen
        reader would read that.
        """
        focused = self.focusWidget()
        if focused is not None and self._pages.isAncestorOf(focused) and not coming.isAncestorOf(focused):
            if self._current:
                self._left[self._current] = focused
            focused.clearFocus()

    def _enter(self, name: str) -> None:
        """Put the keyboard where it was when this tab was left, the first time into its main field."""
        frame, last, focused = self._frame(name), self._left.get(name), self.focusWidget()
        main = frame.tab.main_input()
        if focused is not None and frame.isAncestorOf(focused):
            return
        if last is not None and can_take_focus(last, inside=frame):
            last.setFocus(Qt.FocusReason.OtherFocusReason)
        elif can_take_focus(main) or not self.isVisible():  # a window that opens: Qt would begin with the menu button
            self.focus_main_input()
        else:
            self.replace_focus(main or frame)

    def show_page(self, page: QWidget) -> None:
        """Show one page instead of all zones: the welcome page. It goes when a tab is shown."""
        self._let_go(page)
        self._drop_page()
        self._page = page
        self._pages.addWidget(page)
        self._pages.setCurrentWidget(page)
        self._current = ""
        self.rail.set_current(None)
        self.registry.set_scope("")
        self.status.set_hints_visible(True)
        page.setFocus(Qt.FocusReason.OtherFocusReason)

    def _drop_page(self) -> None:
        if self._page is not None:
            self._pages.removeWidget(self._page)
            discard(self._page)
            self._page = None

    def _frame(self, name: str) -> ZoneFrame:
        return self.tab_frames.frame(name)

    def _take_in(self, name: str) -> None:
        """A tab was built: from now on its actions, its work and its panes are known."""
        frame = self.tab_frames.by_name[name]
        frame.choice_changed.connect(self._remember_panes)
        for zone in frame.parts():
            zone.setProperty("focusPart", True)
        self.registry.add(frame.tab.actions(), scope=name, scope_title=self.title_of(name))
        frame.tab.changed.connect(lambda *_: self._tab_changed(name))

    def _tab_changed(self, name: str) -> None:
        tab = self.tab_frames.by_name[name].tab
        self.rail.set_badge(name, tab.badge())
        self._show_work()
        if name == self._current:
            self._show_headroom()
            self.setWindowTitle(f"{tab.title} – Rialto" if tab.title else "Rialto")

    def show_own_work(self, line: str) -> None:
        """Show what the program itself does, "" for nothing, beside the work of tabs. Closing asks nobody for it."""
        self._own_work = line
        self._show_work()

    def _show_work(self) -> None:
        self.status.set_work([*self.running_work(), *([self._own_work] if self._own_work else [])])

    def _show_headroom(self) -> None:
        frame = self.tab_frames.by_name.get(self._current)
        self.status.set_headroom(frame.tab.status_headroom() if frame is not None else None)

    def show_neighbor_tab(self, step: int) -> None:
        """The next or previous tab by rail order, going round."""
        names = self.rail.names()
        if not names:
            return
        at = names.index(self._current) if self._current in names else (-1 if step > 0 else 0)
        self.show_tab(names[(at + step) % len(names)])

    # Zones

    def _shown_frame(self) -> ZoneFrame | None:
        return self.tab_frames.by_name.get(self._current)

    def has_list(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.list_zone is not None

    def has_inspector(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.inspector_zone is not None

    def list_is_open(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.zones.list_open

    def inspector_is_open(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.zones.inspector_open

    def toggle_list(self) -> None:
        frame = self._shown_frame()
        if frame is not None:
            frame.toggle_list()

    def toggle_inspector(self) -> None:
        frame = self._shown_frame()
        if frame is not None:
            frame.toggle_inspector()

    def widen_pane(self, pane: Literal["list", "inspector"], steps: int) -> None:
        frame = self._shown_frame()
        if frame is not None:
            frame.widen(pane, steps)

    def list_is_beside(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.list_zone is not None and frame.zones.list_beside

    def inspector_is_beside(self) -> bool:
        frame = self._shown_frame()
        return frame is not None and frame.inspector_zone is not None and frame.zones.inspector_beside

    def open_inspector(self) -> None:
        """Make sure the inspector of the shown tab can be seen."""
        frame = self._shown_frame()
        if frame is not None:
            frame.open_inspector()

    def cycle_zone(self, step: int) -> None:
        frame = self._shown_frame()
        middle: Sequence[QWidget] = frame.parts() if frame is not None else [self._pages]
        over = self._overlays.parts() if self._overlays is not None else ()
        if step > 0 and self._overlays is not None and self._overlays.toasts.enter_news():
            return  # it will not wait until one has gone round
        self._focus_cycle.step([self.rail, *middle, self.status, *over], step)

    def focus_main_input(self) -> None:
        frame = self._shown_frame()
        target = frame.tab.main_input() if frame is not None else None
        if target is not None:
            reveal(target)
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Tab, and what Qt does when the widget with the focus is hidden or disabled."""
        focused = self.focusWidget()
        if focused is not None and not can_take_focus(focused) and self.replace_focus(focused):
            return True
        return super().focusNextPrevChild(following)

    def leave_panes(self) -> bool:
        """Tab goes on from the last stop of a tab: to the menu, and from there to the status bar."""
        self.rail.logo.setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def replace_focus(self, lost: QWidget) -> bool:
        """Put the keyboard where one goes on when `lost` cannot have it; False when the shown tab has no place."""
        frame = self._shown_frame()
        target = place_after(lost, frame) if frame is not None and frame.isVisible() else None
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)
        return target is not None

    def _bring_back_focus(self, old: QWidget | None, new: QWidget) -> None:
        """Take the keyboard from a widget that cannot be seen, or that is behind a layer."""
        top = self._layers.top
        if top is not None:
            inside = old if old is not None and can_take_focus(old, inside=top) else top.first_focus()
            inside.setFocus(Qt.FocusReason.OtherFocusReason)
        elif old is not None and can_take_focus(old) and self.isAncestorOf(old):
            old.setFocus(Qt.FocusReason.OtherFocusReason)
        elif not self.replace_focus(new):
            new.clearFocus()

    def focus_filter(self) -> None:
        frame = self._shown_frame()
        target = frame.tab.filter_field() if frame is not None else None
        if frame is None or target is None:
            return
        frame.open_list()
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _remember_panes(self, name: str, choice: PaneChoice) -> None:
        self.settings_store.remember(panes={**self.settings_store.value.panes, name: choice.write()})

    # Undo

    def can_undo(self) -> bool:
        return self.undo_stack.can_undo(self._current)

    def undo(self) -> None:
        """Undo what was done last in the shown tab. A text field with the focus keeps Ctrl+Z for itself."""
        self.undo_stack.undo_last(self._current)

    # What lies over the window

    def watch_secrets(self, secrets: Secrets) -> None:
        """Say in a banner when the account in use needs a key that is locked, and unlock it in a dialog."""
        from app.ui.settings.secrets.unlock import ask_to_unlock

        self.secrets = secrets
        secrets.ask_with(partial(ask_to_unlock, self.theme, self, secrets))
        if self._overlays is not None:
            self._overlays.watch_secrets(secrets)

    @property
    def overlays(self) -> Overlays:
        """Palette, menus, toasts, banner: built when the first of them is wanted."""
        if self._overlays is None:
            from app.ui.shell.overlays import Overlays

            self._overlays = Overlays(self, self._column)
        return self._overlays

    def open_palette(self) -> None:
        self.expect_tab()
        self.overlays.open_palette()

    def open_shortcuts(self) -> None:
        self.expect_tab()
        self.overlays.open_shortcuts()

    def open_help(self) -> None:
        self.overlays.open_help(self._current)

    def open_keyboard_settings(self) -> None:
        """Where keys can be changed."""
        self.open_settings("keyboard")

    def open_settings(self, section: str) -> None:
        """Open one section of Settings, such as "accounts". Raises KeyError for one that there is not."""
        from app.ui.settings.page import SettingsPage

        self.show_tab("settings")
        tab = self.tab("settings")
        if isinstance(tab, SettingsPage):
            tab.show_section(section)

    def open_about(self) -> None:
        if self.has_tab("settings"):
            self.open_settings("about")

    def test_itself(self) -> None:
        from app.ui.shell.self_test_dialog import show_self_test

        self.tasks.start_unless_running("self-test", show_self_test, self.theme, self)

    def open_menu(self) -> None:
        self.expect_tab()
        self.overlays.main_menu.popup(self.rail.logo.mapToGlobal(QPoint(0, self.rail.logo.height())))

    def open_account_menu(self) -> None:
        self.overlays.open_account_menu()

    def _open_status_page(self, page: str) -> None:
        if page == "accounts" and self.has_tab("settings"):
            self.open_settings("accounts")
        else:
            self.status_page_requested.emit(page)

    # Look

    def change_text_size(self, step: int) -> None:
        """One step larger or smaller; 0 goes back to 100 %."""
        now = self.theme.text_percent
        self.theme.set_text_percent(100 if step == 0 else now + step * _TEXT_STEP)
        self.settings_store.remember(text_percent=self.theme.text_percent)

    def switch_theme(self) -> None:
        """Go to the next theme and say which: two of the three may look the same."""
        self.next_theme()
        words = dict(THEMES)[self.theme.mode]
        self.overlays.toasts.show_toast(words, icon_name="appearance", key="theme")

    def next_theme(self) -> None:
        modes = ("light", "dark", "system")
        self.set_theme(modes[(modes.index(self.theme.mode) + 1) % len(modes)])

    def set_theme(self, mode: str) -> None:
        """Use "light", "dark" or "system" from now on."""
        self.theme.set_mode(mode)  # type: ignore[arg-type]  # one of the three
        self.settings_store.remember(theme=mode)

    def theme_mode(self) -> str:
        return self.theme.mode

    def is_full_screen(self) -> bool:
        return self.isFullScreen()

    def toggle_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    def refresh(self) -> None:
        self.refresh_requested.emit()

    # Events

    def after_first_paint(self) -> None:
        """Do what the first paint need not wait for: the focus ring, and the menu bar on macOS."""
        qt_app = QApplication.instance()
        if isinstance(qt_app, QApplication):
            self._focus_cycle.watch(qt_app)
        self.overlays.start(native_menus=sys.platform == "darwin")

    def raise_window(self) -> None:
        """Come to the front: Rialto was started a second time."""
        if self.isMinimized():
            self.showNormal()
        self.raise_()
        self.activateWindow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves; Enter presses the button that has the keyboard. Dialogs are windows of their own: there it must
        never pay, sign or delete.
        """
        focused, held = self.focusWidget(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() == Qt.Key.Key_Escape and self._escape():
            return
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not held and not event.isAutoRepeat()
        in_field = focused is not None and isinstance(focused.parentWidget(), QLineEdit)  # which takes Enter for itself
        if is_enter and isinstance(focused, QAbstractButton) and focused.isEnabled() and not in_field:
            focused.click()
        else:
            super().keyPressEvent(event)

    def _escape(self) -> bool:
        """Be silent, then stop, then close, then go back to the main field, which keeps the keyboard: left nowhere, it
        would miss what is typed, and Qt hands Esc on late while a screen reader listens, after the key of another tab.
        """
        if any(silence() for silence in self.silencers):
            return True
        frame = self._shown_frame()
        if frame is None:
            return False
        if frame.tab.handle_escape() or frame.close_overlay():
            return True
        main = frame.tab.main_input()
        if not can_take_focus(main) or self.focusWidget() is main:
            return False
        self.focus_main_input()
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._overlays is not None:
            self._overlays.fit()
        self._remember_place()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._remember_place()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self._remember_place()
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            forget_hover(self)  # a dialog was over it

    def _remember_place(self) -> None:
        if self.isVisible():
            geometry = base64.b64encode(bytes(self.saveGeometry().data())).decode()
            self.settings_store.remember(window_geometry=geometry)

    def _restore_place(self) -> None:
        kept = self.settings_store.value.window_geometry
        try:
            geometry = base64.b64decode(kept, validate=True)
        except ValueError:
            geometry = b""
        if not geometry or not self.restoreGeometry(QByteArray(geometry)):
            screen = self.screen()
            room = screen.availableGeometry().size() if screen is not None else _FIRST_SIZE
            self.resize(_FIRST_SIZE.boundedTo(room - _FRAME).expandedTo(MINIMUM))

    # Closing

    def running_work(self) -> tuple[str, ...]:
        """What closing now would cut short, one line each."""
        return tuple(line for tab in self.built_tabs() for line in tab.running_work())

    def closeEvent(self, event: QCloseEvent) -> None:
        work = self.running_work()
        if (work or any(each.is_open() for each in self.closing_questions)) and not self._may_close:
            event.ignore()
            self.tasks.start_unless_running("ask to close", self._ask_to_close, work)
            return
        self._remember_place()
        self.saver.save_now()
        event.accept()
        QTimer.singleShot(0, self.closed.emit)

    async def confirm_closing(self, title: str, text: str, *, action: str, cancel: str, danger: bool = False) -> bool:
        """Ask before quitting; False when the person stays."""
        from app.ui.kit.widgets.dialogs import confirm

        return await confirm(self.theme, self, title, text, action=action, cancel=cancel, danger=danger)

    async def _ask_to_close(self, work: Sequence[str]) -> None:
        for question in self.closing_questions:
            if question.is_open() and not await question.ask():
                return
        text = tr("{work}. Everything received so far is saved, and you can continue next time.", work="; ".join(work))
        if not work or await self.confirm_closing(
            tr("Quit while work is running?"), text, action=tr("Quit"), cancel=tr("Keep working")
        ):
            self._may_close = True
            self.close()

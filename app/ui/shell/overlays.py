"""Overlays of the window: palette, sheets, menus, toasts, banner, dialogs.

Built with the first of them, after the first paint; each part with its own first use.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QTimer
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.problems import ActionSpec
from app.core.time_format import countdown
from app.storage.atomic_files import write_atomically
from app.storage.errors import StorageError, UnsavedResult
from app.storage.settings import Settings
from app.translation import tr
from app.ui.kit.accessible_interfaces import install_interfaces
from app.ui.kit.caret_blink import CaretBlink
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.key_text import key_text
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool
from app.ui.kit.resources import resources_folder
from app.ui.kit.widgets.announce import SpokenCountdown
from app.ui.kit.widgets.banner import BannerHost, BannerSpec
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.toast import ToastHost
from app.ui.settings.sections import SECTIONS
from app.ui.shell.actions import WINDOW, key_parts
from app.ui.shell.command_palette import CommandPalette
from app.ui.shell.help_sheet import HelpSheet
from app.ui.shell.main_menu import MainMenu
from app.ui.shell.palette_rows import Candidate
from app.ui.shell.shortcut_sheet import ShortcutSheet

if TYPE_CHECKING:
    from app.core.secret_storage import Secrets
    from app.core.undo import UndoCommand
    from app.ui.shell.main_window import MainWindow
    from app.ui.shell.modal_layer import ModalLayer

_RECENT_KEPT = 12
_NO_NETWORK = ("dns", "network", "timeout")  # with these, nothing at all can be reached
_ITEMS_ASKED = 200  # of each tab, for one typed text


@dataclass(frozen=True, slots=True)
class AccountChoice:
    """One line of the account menu."""

    id: str
    name: str
    kind: str  # "sandbox", "api_key", "wallet"
    in_use: bool


class Overlays(QObject):
    """Owned by the window; `start` is called once after the first paint."""

    def __init__(self, window: MainWindow, column: QVBoxLayout) -> None:
        super().__init__(window)
        self._window = window
        self._theme = window.theme
        self.toasts = ToastHost(window.theme, window)
        self.banner = BannerHost(window.theme)
        column.insertWidget(0, self.banner)
        self.main_menu = MainMenu(window.theme, window.registry, window, self._shown_tab)
        self._ring: FocusRing | None = None
        self._palette: CommandPalette | None = None
        self._shortcuts: ShortcutSheet | None = None
        self._help: HelpSheet | None = None
        self.accounts: Callable[[], Sequence[AccountChoice]] = tuple
        self._unsaved: list[UnsavedResult] = []  # what was paid for and is in memory alone
        self._held_until = 0.0
        self._held_spoken = SpokenCountdown(self.banner)
        self._held_timer = QTimer(self)
        self._held_timer.setInterval(1000)
        self._held_timer.timeout.connect(self._count_down)
        window.settings_store.subscribe(self._take_settings)
        self._take_settings(window.settings_store.value)
        window.saver.failed.connect(self._saving_failed)
        window.tab_shown.connect(self.toasts.rearrange)
        window.undo_stack.removed.connect(lambda command: self.toasts.close(f"undo {id(command)}"))
        window.current_account.budget_changed.connect(self._show_budget)
        window.current_account.account_changed.connect(self._show_locked)
        window.current_account.lock_changed.connect(self._show_locked)
        window.current_account.reach_changed.connect(self._show_reach)
        self.banner.action.connect(self._banner_pressed)
        if window.secrets is not None:
            self.watch_secrets(window.secrets)
        self._show_budget()
        self._show_reach()

    def _take_settings(self, settings: Settings) -> None:
        self.toasts.stay_s = int(settings.notice_seconds) if settings.notice_seconds else None

    def start(self, *, native_menus: bool) -> None:
        """Do what the first paint need not wait for."""
        install_interfaces()
        if self._ring is None:
            self._ring = FocusRing(self._theme, self._window)
            CaretBlink(self, self._theme)
        if native_menus:
            self.main_menu.fill_bar(self._window.menuBar())

    def parts(self) -> tuple[QWidget, ...]:
        """What F6 leads to besides the panes, where there is something to press: the newest toast first, the banner."""
        return (*reversed(self.toasts.toasts), self.banner)

    def fit(self) -> None:
        """Follow the window's size."""
        for layer in self._layers():
            layer.fit()

    def close_layer(self) -> bool:
        """Close the sheet that is open; True when there was one."""
        return any(layer.close_layer() for layer in self._layers())

    def _layers(self) -> tuple[ModalLayer, ...]:
        return tuple(layer for layer in (self._palette, self._shortcuts, self._help) if layer is not None)

    def _shown_tab(self) -> tuple[str, str]:
        name = self._window.current_tab
        return (name, self._window.title_of(name)) if name else ("", "")

    # Palette

    @property
    def palette(self) -> CommandPalette:
        if self._palette is None:
            self._palette = CommandPalette(self._theme, self._window, self.candidates)
            self._palette.ran.connect(self._remember_run)
        return self._palette

    def open_palette(self, text: str = "") -> None:
        """Open, or close when it is open already: the same key brings it and takes it away."""
        if self._palette is not None and self._palette.close_layer():
            return
        self.close_layer()
        self.palette.open(recent=self._window.settings_store.value.palette_recent, text=text)

    def candidates(self, text: str) -> list[Candidate]:
        """Everything the palette could run now: actions, what the tabs hold, settings."""
        window = self._window
        found: list[Candidate] = []
        here = window.current_tab
        named_here = {entry.action.text for entry in window.registry.entries() if entry.scope == here}
        for entry in sorted(window.registry.entries(), key=lambda entry: entry.scope != here):
            action = entry.action
            if entry.scope != here and action.text in named_here:
                continue  # "Open trash" means the one of this tab
            if action.in_palette and action.id != f"go.{here}" and window.registry.can_run(entry):
                kind = "tab" if action.id.startswith("go.") else "action"
                hint = action.hint or ("" if entry.scope in (WINDOW, here) else entry.scope_title)
                keys = key_parts(entry.shortcut)
                run = _running(window.registry.run, entry.id)
                found.append(Candidate(entry.id, kind, action.text, hint, action.icon, keys, run, action.words))
        found += [self._undo_candidate(command) for command in window.undo_stack.newest(here)[:1]]
        for tab in window.built_tabs():
            found += [Candidate.of(item) for item in tab.palette_items(text, _ITEMS_ASKED)]
        if window.has_tab("settings"):
            found += settings_candidates(window.open_settings)
        return found

    def _undo_candidate(self, command: UndoCommand) -> Candidate:
        """The last thing done in a tab, as something to run: "Undo: “Desk lamp” moved to trash"."""
        window = self._window
        is_here = command.tab == window.current_tab
        keys = key_parts(window.registry.entry("window.undo").shortcut) if is_here else ()

        def run() -> None:
            window.show_tab(command.tab)
            window.undo_stack.undo(command)

        hint = "" if is_here else window.title_of(command.tab)
        return Candidate("window.undo", "action", tr("Undo: {text}", text=command.text), hint, "undo", keys, run)

    def _remember_run(self, key: str) -> None:
        before = self._window.settings_store.value.palette_recent
        after = (key, *(other for other in before if other != key))[:_RECENT_KEPT]
        self._window.settings_store.remember(palette_recent=after)

    # Sheets

    def open_shortcuts(self) -> None:
        if self._shortcuts is None:
            change = self._window.open_keyboard_settings if self._window.has_tab("settings") else None
            self._shortcuts = ShortcutSheet(
                self._theme, self._window, self._window.registry.rows, change, self._window.current_title
            )
        if not self._shortcuts.close_layer():
            self.close_layer()
            self._shortcuts.open()

    def open_help(self, place: str) -> None:
        if self._help is None:
            self._help = HelpSheet(self._theme, self._window, resources_folder() / "handbook")
        if not self._help.close_layer():
            self.close_layer()
            self._help.open(place)

    def show_handbook(self, page: str, heading: str) -> None:
        """Open the handbook at a heading of a page."""
        if self._help is None or not self._help.isVisible():
            self.open_help(page)
        if self._help is not None:
            self._help.show_heading(page, heading)

    # Menus

    def open_account_menu(self) -> Menu:
        """All accounts above the chip; choosing one calls as it from then on."""
        window = self._window
        menu = Menu(self._theme, window)
        menu.setAccessibleName(tr("Accounts"))
        icons = {"sandbox": ("cube", "sandbox"), "api_key": ("key", "text2"), "wallet": ("wallet", "text2")}
        for choice in self.accounts():
            icon_name, role = ("check", "accent") if choice.in_use else icons[choice.kind]
            action = menu.add(choice.name, icon_name, role=role)
            action.setCheckable(True)
            action.setChecked(choice.in_use)
            action.triggered.connect(_running(window.account_chosen.emit, choice.id))
        if window.has_tab("settings"):
            menu.addSeparator()
            menu.add(tr("Manage accounts…"), "settings").triggered.connect(_running(window.show_tab, "settings"))
        chip = window.status.chip
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(chip.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))
        return menu

    # News

    def offer_undo(self, command: UndoCommand) -> None:
        """Say what was done, with Undo. The notice goes when there is nothing left to undo."""
        if not command.has_toast:
            return
        window = self._window
        toast = self.toasts.show_toast(
            command.text,
            command.note,
            actions=(ActionSpec("undo", tr("Undo")),),
            icon_name="trash",
            hint=key_text(window.registry.entry("window.undo").shortcut),
            key=f"undo {id(command)}",
        )
        toast.action.connect(lambda _id: window.undo_stack.undo(command))

    def _saving_failed(self, sentence: str) -> None:
        if not self._unsaved:  # whose notice says more
            self.toasts.show_toast(tr("Settings could not be saved"), sentence, tone="bad", key="disk")

    def report_not_saved(self, error: StorageError) -> None:
        """Say what the disk refused: one notice, however much is refused at once. What was paid for is offered."""
        self._unsaved.extend(error.unsaved)
        sentence = error.sentence
        if self._unsaved:
            self._offer_elsewhere(sentence)
            return
        text = tr(
            "{sentence}. It stays on screen until you quit Rialto. Copy it or save it elsewhere.",
            sentence=sentence.rstrip("."),
        )
        self.toasts.show_toast(tr("This was not saved"), text, tone="bad", icon_name="drive", key="disk")

    def _offer_elsewhere(self, sentence: str) -> None:
        """One notice for all that is in memory alone, until each was saved where there is room for it."""
        if not self._unsaved:
            return
        first, more = self._unsaved[0], len(self._unsaved) - 1
        text = tr(
            "{sentence}. It is lost when Rialto quits. Save it to a disk with free space.",
            sentence=sentence.rstrip("."),
        )
        if more:
            text = f"{text} {tr('{more} more could not be saved.', more=more)}"
        again = (ActionSpec("again", tr("Try again")),) if any(each.again is not None for each in self._unsaved) else ()
        elsewhere = (ActionSpec("elsewhere", tr("Save elsewhere…")),) if first.data else ()
        toast = self.toasts.show_toast(
            tr("“{name}” was not saved", name=first.name),
            text,
            tone="bad",
            icon_name="drive",
            actions=(*again, *elsewhere),
            key="disk",
        )

        def act(action: str) -> None:
            if action == "again":
                self._window.tasks.start_unless_running("save again", self._save_again)
            else:
                self._ask_elsewhere(first, sentence)

        toast.action.connect(act)

    async def _save_again(self) -> None:
        """Keep where it belongs what the disk refused; what it refuses once more is offered again."""
        self.toasts.close("disk")
        refused = ""
        for unsaved in tuple(self._unsaved):
            if unsaved.again is None:
                continue
            try:
                await unsaved.again()
            except StorageError as error:
                refused = error.sentence
            else:
                self._unsaved = [each for each in self._unsaved if each is not unsaved]
        if self._unsaved:
            self._offer_elsewhere(refused or tr("The disk is full"))
        else:
            self.toasts.show_toast(tr("Saved"), tone="ok")

    def _ask_elsewhere(self, unsaved: UnsavedResult, sentence: str) -> None:
        dialog = ask_to_save(
            self._window, tr("Save elsewhere"), unsaved.name, lambda path: self.save_elsewhere(unsaved, path)
        )
        dialog.rejected.connect(lambda: self._offer_elsewhere(sentence))

    def save_elsewhere(self, unsaved: UnsavedResult, path: Path) -> None:
        """Write what could not be kept to a place of the person's choice, off the UI thread."""

        def tell(trouble: str) -> None:
            if not trouble:
                self._unsaved = [each for each in self._unsaved if each is not unsaved]
                self.toasts.show_toast(tr("Saved as {name}", name=path.name), tone="ok")
            if self._unsaved:
                self._offer_elsewhere(trouble or tr("The disk is full"))
            else:  # something else may have been refused while the dialog was open
                self.toasts.close("disk")

        run_in_pool(self, partial(_trouble_writing, path, unsaved.data), tell)

    def watch_secrets(self, secrets: Secrets) -> None:
        """Follow the place for secrets; called once."""
        secrets.state_changed.connect(self._show_locked)
        self._show_locked()

    def _show_locked(self, _state: object = None) -> None:
        """Say that the account in use cannot reach its key. The Sandbox and the first page need none."""
        current_account, secrets = self._window.current_account, self._window.secrets
        spec: BannerSpec | None = None
        if (
            secrets is not None and current_account.account is not None and not secrets.state.asking
        ):  # the dialog says the same
            needs = tr("Rialto needs them to sign in to {name}.", name=current_account.account.name)
            if current_account.is_locked:
                spec = BannerSpec(
                    "info", tr("Your keys are locked."), needs, "lock", (ActionSpec("unlock", tr("Unlock…")),)
                )
            elif secrets.state.ask == "choose" and current_account.account.kind == "api_key":
                choose = (ActionSpec("choose", tr("Choose where…")),)
                needs = tr("Rialto needs a place to keep the key for {name}.", name=current_account.account.name)
                spec = BannerSpec("warn", secrets.state.sentence, needs, "lock", choose)
        if spec is None:
            self.banner.clear("secrets")
        else:
            self.banner.show_banner("secrets", spec)

    def _show_reach(self) -> None:
        """Say while the service of the account in use cannot be reached; the next answer takes it back."""
        current_account = self._window.current_account
        if not current_account.reach or current_account.is_sandbox:
            self.banner.clear("reach")
            return
        offline = current_account.reach in _NO_NETWORK
        actions = [ActionSpec("try", tr("Try again"))]
        if self._sandbox_id():
            actions.append(ActionSpec("sandbox", tr("Work in the Sandbox")))
        self.banner.show_banner(
            "reach",
            BannerSpec(
                "warn",
                tr("You are offline.") if offline else tr("{host} is not responding.", host=current_account.host),
                tr("History and drafts still work."),
                "offline",
                tuple(actions),
            ),
        )

    def _sandbox_id(self) -> str:
        return next((choice.id for choice in self.accounts() if choice.kind == "sandbox"), "")

    def _banner_pressed(self, key: str, action: str) -> None:
        if key == "reach":
            if action == "sandbox":
                self._window.account_chosen.emit(self._sandbox_id())
            else:
                self._window.refresh()
            return
        if key != "secrets":
            return
        if action == "unlock" and self._window.secrets is not None:
            self._window.secrets.unlock()
        else:
            self._window.open_settings("accounts")

    def _show_budget(self) -> None:
        """Say while all calls are held, so that the service does not block the account (R-LIM)."""
        budget = self._window.current_account.budget
        if budget is None or not budget.holding:
            self._held_until = 0.0
            self._held_timer.stop()
            self.banner.clear("budget")
            return
        self._held_until = time.monotonic() + budget.resumes_in_s
        self._held_spoken.begin(budget.resumes_in_s)
        self._held_timer.start()
        self._count_down()

    def _count_down(self) -> None:
        left_s = self._held_until - time.monotonic()
        self._held_spoken.pass_to(max(0.0, left_s))
        if left_s <= 0:
            self._held_timer.stop()  # the budget says itself when it lets calls go again
        self.banner.show_banner(
            "budget",
            BannerSpec(
                "bad",
                tr("Paused for {left_s}.", left_s=countdown(left_s)),
                tr(
                    "Many requests failed in the last 30 s. Rialto is waiting so the service does not block your "
                    "account."
                ),
                "clock",
            ),
        )


def _trouble_writing(path: Path, data: bytes) -> str:
    """Write a file of the person's; return why that was not possible, or "". Runs in a thread of the pool."""
    try:
        write_atomically(path, data, 0o644)
    except StorageError as error:
        return error.sentence
    return ""


def settings_candidates(open_section: Callable[[str], None]) -> list[Candidate]:
    """Every section of Settings and what can be set in it, by name."""
    found: list[Candidate] = []
    for section in SECTIONS:
        run = _running(open_section, section.key)
        key, others = f"setting:{section.key}", " ".join(section.words)
        found.append(Candidate(key, "setting", section.title, tr("Settings"), section.icon, (), run, others))
        for title in section.settings:
            key = f"setting:{section.key}:{title}"
            found.append(
                Candidate(
                    key, "setting", title, tr("Settings, {section}", section=section.title), section.icon, (), run
                )
            )
    return found


def _running(call: Callable[[str], object], argument: str) -> Callable[[], object]:
    """A call without arguments; Qt's signals would put a `checked` where the argument belongs."""

    def run(*_ignored: object) -> object:
        return call(argument)

    return run

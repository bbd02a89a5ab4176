"""The composition root: makes every part, hands each what it needs, and ends them in order.

The window comes first. What the first paint does not need (the database, keyrings, the TLS store, the Sandbox) is made
after it, in worker threads where importing alone would be felt. The only file that imports qasync.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from app import __version__
from app.credentials.redaction import SecretRegistry
from app.storage.errors import StorageError, StorageUnavailable
from app.storage.log import setup_logging, stop_logging
from app.storage.paths import Paths, resources
from app.storage.settings import SettingsStore
from app.ui.chat.page import INFO as CHAT_TAB
from app.ui.chat.page import ChatPage
from app.ui.chat.presenter import ChatPresenter
from app.ui.shared.async_generators import close_left_generators
from app.ui.shared.call_log import CallLog
from app.ui.shared.caller import Caller
from app.ui.shared.collector import UiThreadCollector
from app.ui.shared.ledger import Ledger
from app.ui.shared.problems import hide_secrets_with
from app.ui.shared.tab import TabInfo, TabPage
from app.ui.shared.tasks import TaskScope
from app.ui.shared.theme import Mode, Theme
from app.ui.shell.crash_reports import CrashReport, CrashReporter
from app.ui.shell.main_window import MainWindow
from app.ui.shell.single_instance import SingleInstance

if TYPE_CHECKING:
    from app.credentials.accounts import Account, AccountBook
    from app.credentials.keyring_store import KeyringStore
    from app.credentials.passphrase_store import PassphraseStore
    from app.credentials.stores import SessionStore
    from app.sandbox.server import RunningSandbox
    from app.service.characters import Character
    from app.storage.catalogue import Catalogue
    from app.storage.database import Database
    from app.ui.characters.page import CharactersPage
    from app.ui.settings.accounts.presenter import AccountsPresenter
    from app.ui.settings.secrets.presenter import SecretsPresenter
    from app.ui.shared.account_switch import AccountSwitch
    from app.ui.shell.overlays import AccountChoice

USAGE = """usage: python -m app [--theme system|light|dark] [--tour FOLDER] [--version] [--help]

Opens Rialto. RIALTO_HOME names a folder to keep everything in.

  --theme NAME    the theme of this start only
  --tour FOLDER   show the main job without a person, and leave a screenshot of each step in FOLDER
"""
SETTINGS_TAB = TabInfo("settings", "Settings", "settings", at_bottom=True, list_width=232, inspector_width=328)
READY_FILE = "RIALTO_READY_FILE"  # the bench learns from it when the window is painted
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Options:
    """What the command line asked for."""

    theme: str = ""
    tour: Path | None = None
    act: str = ""  # one act of the tour, in a process of its own


def read_options(arguments: Sequence[str]) -> Options | str:
    """Return the options, or a text to print instead of starting. argparse alone would cost 6 ms of the start."""
    options = Options()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--help":
            return USAGE
        if word == "--version":
            return f"Rialto {__version__}"
        if word not in ("--theme", "--tour", "--act") or not rest:
            return f"{word} is not understood here.\n\n{USAGE}"
        value = rest.pop(0)
        if word == "--theme" and value not in get_args(Mode):
            return f"There is no theme {value}.\n\n{USAGE}"
        if word == "--tour":
            options.tour = Path(value).absolute()
        elif word == "--act":
            options.act = value
        else:
            options.theme = value
    return options


def run(arguments: Sequence[str]) -> int:
    """Run the program to its end and return the exit code."""
    options = read_options(arguments)
    if isinstance(options, str):
        print(options)
        return 0 if options == USAGE or options.startswith("Rialto ") else 2
    if options.tour is not None and not options.act:
        from app.ui.shell.tour import guide

        return guide(options.tour, options.theme)
    qt_app = QApplication([sys.argv[0]])
    qt_app.setApplicationName("Rialto")
    qt_app.setApplicationVersion(__version__)
    qt_app.setDesktopFileName("rialto")
    qt_app.setQuitOnLastWindowClosed(False)  # the loop must outlive the window by what there is to save
    paths = Paths.for_user()
    try:
        paths.make()
    except StorageUnavailable as error:
        print(f"{error.sentence}. Rialto keeps its data in {paths.data}.", file=sys.stderr)
        return 1
    instance = SingleInstance(paths.data)
    if not instance.try_lock():
        if instance.raise_other():
            print("Rialto is running already; its window has been brought to the front.")
            return 0
        print(f"Another Rialto uses {paths.data} and does not answer.", file=sys.stderr)
        return 1
    return _run_in_loop(qt_app, options, paths, instance)


def _run_in_loop(qt_app: QApplication, options: Options, paths: Paths, instance: SingleInstance) -> int:
    import qasync

    secrets = SecretRegistry()
    hide_secrets_with(secrets.redact)
    crashes = CrashReporter(paths.crashes, redact=secrets.redact, version=__version__)
    crashes.install()
    loop = qasync.QEventLoop(qt_app)
    collector = UiThreadCollector()
    leave_generators = close_left_generators(loop)
    crashes.install_loop(loop)
    asyncio.set_event_loop(loop)
    try:
        with loop:
            rialto = Rialto(qt_app, options, paths, instance, secrets, crashes)
            code: int = loop.run_until_complete(rialto.live())
            return code
    finally:
        leave_generators()
        collector.close()
        crashes.uninstall()
        instance.release()


class Rialto:
    """One running program. `live` returns when the window is closed and everything is saved."""

    def __init__(
        self,
        qt_app: QApplication,
        options: Options,
        paths: Paths,
        instance: SingleInstance,
        secrets: SecretRegistry,
        crashes: CrashReporter,
    ) -> None:
        self.options = options
        self.paths = paths
        self.secrets = secrets
        self.crashes = crashes
        self.instance = instance
        self.settings = SettingsStore(paths.settings)
        self.theme = Theme(resources())
        value = self.settings.value
        mode: Mode = options.theme or value.theme  # type: ignore[assignment]  # both were checked against THEMES
        self.theme.configure(
            mode=mode,
            text_percent=value.text_percent,
            system_font=value.system_font,
            reduced_motion=value.reduced_motion,
        )
        self.theme.apply(qt_app, hold_sheet=True)
        self.tasks = TaskScope(self._crashed)
        self.caller = Caller()
        self.bookkeeping = TaskScope(self._crashed)
        self.ledger = Ledger(self.caller, self.bookkeeping)
        self.calls = CallLog(self._address_of)
        self.ledger.recorded.connect(self.calls.note)
        self.chat = ChatPresenter(self.caller, self.settings, self.tasks)
        self.window = MainWindow(self.theme, self.caller, self.settings, self.tasks)
        self.sandbox_desk = SandboxDesk(paths)
        self.database: Database | None = None
        self.catalogue: Catalogue | None = None
        self._log_handler: logging.Handler | None = None
        self._closed = asyncio.Event()
        self._exit_code = 0

    async def live(self) -> int:
        """Open the window, start the rest, wait for the end."""
        self._furnish()
        first_paint = FirstPaint(self.window, self._painted)
        self.theme.release_sheet()
        self.window.show()
        await self._closed.wait()
        first_paint.deleteLater()
        await self._end()
        return self._exit_code

    # Before the first paint

    def _furnish(self) -> None:
        window = self.window
        window.add_tab(CHAT_TAB, lambda: self.chat_page)
        window.add_tab(SETTINGS_TAB, self._make_settings_tab)
        window.closed.connect(self._closed.set)
        window.refresh_requested.connect(lambda: self.tasks.replace("refresh", self._refresh))
        window.account_chosen.connect(lambda account_id: self.accounts.use(account_id))
        window.status_page_requested.connect(lambda _page: self.chat_page.open_request())
        window.tab_shown.connect(self.crashes.doing)
        self.instance.raise_requested.connect(window.raise_window)
        self.chat.models_changed.connect(lambda _list: self.caller.set_numbers(models=self.chat.shelf.models() or None))
        if self.settings.value.welcome_done:
            window.show_tab("chat")
        else:
            window.show_page(self._make_welcome())

    @cached_property
    def chat_page(self) -> ChatPage:
        page = ChatPage(self.theme, self.chat, self.tasks, enter_sends=self.settings.value.enter_sends)
        page.characters_wanted.connect(self._show_characters)
        page.help_wanted.connect(self._help)
        page.toast_wanted.connect(self._toast)
        self.settings.subscribe(lambda value: page.main.composer.set_enter_sends(value.enter_sends))
        return page

    def _make_welcome(self) -> QWidget:
        from app.ui.shell.welcome import WelcomePage

        page = WelcomePage(self.theme, self.accounts, self.places, self.paths.data)
        page.sandbox_chosen.connect(lambda: self._begin(self._sandbox_account().id))
        page.connected.connect(self._begin)
        return page

    def _begin(self, account_id: str = "") -> None:
        """The welcome is over; an account that was checked there is in use already."""
        self.settings.change(welcome_done=True)
        self.window.show_tab("chat")
        if account_id:
            self.accounts.use(account_id)

    # After it

    def _painted(self) -> None:
        _say("ready")
        self.tasks.start("start", self._start)
        if self.options.act and self.options.tour is not None:
            self.tasks.start("tour", self._tour, self.options.act, self.options.tour)

    async def _start(self) -> None:
        """Start what the window can be seen without: log, history, the account in use, what lies over the window."""
        self.window.after_first_paint()
        self.window.overlays.accounts = self._account_choices
        self.crashes.crashed.connect(lambda report: self.tasks.start("crash", self._show_crash, report))
        self.instance.listen()
        try:
            self._log_handler = setup_logging(self.paths, self.secrets.redact)
        except StorageUnavailable as error:
            self._toast(error.sentence, "", "")
        if not await self._open_history():
            return
        if self.settings.value.welcome_done and self.caller.account is None:  # a quick person has chosen by now
            await self.switch.use(self.book.active or self._sandbox_account())
        reports = self.crashes.left_behind()
        if reports:
            await self._show_crash(reports[0], earlier=True)

    async def _open_history(self) -> bool:
        """Open the database and hand it on; False after telling the person why that is not possible."""
        await asyncio.to_thread(importlib.import_module, "app.storage.database")
        from app.storage.catalogue import Catalogue
        from app.storage.database import Database
        from app.storage.history import History
        from app.storage.receipts import Receipts

        try:
            self.database = await Database.open(self.paths.database, backups=self.paths.backups)
            receipts = Receipts(self.database)
            await self.ledger.start(receipts)
            await self.calls.read(receipts, [account.id for account in self.book.list()])
            self.catalogue = Catalogue(self.database)
            await self.chat.start(History(self.database), self.catalogue)
        except StorageError as error:
            self.tasks.start("no history", self._cannot_go_on, error.sentence)
            return False
        self.tasks.start("backup", self._back_up, self.database)
        return True

    async def _back_up(self, database: Database) -> None:
        try:
            await database.back_up_daily()
        except StorageError as error:
            self._toast(error.sentence, "", "")

    async def _cannot_go_on(self, sentence: str) -> None:
        from app.ui.shared.dialogs import confirm

        await confirm(self.theme, self.window, "Rialto cannot open its history", sentence, action="Quit", cancel="Stay")
        self._exit_code = 1
        self.window.close()

    async def _end(self) -> None:
        """Save, close and stop, in the order in which one needs the other."""
        await self.chat.aclose()
        await self.tasks.aclose()
        await self.switch.aclose()
        await self.bookkeeping.idle()  # answers that were just cut off have receipts, too
        await self.bookkeeping.aclose()
        if self.sandbox_desk.running is not None:
            await self.sandbox_desk.stop()
        if self.database is not None:
            await self.database.close()
        if self._log_handler is not None:
            stop_logging(self._log_handler)

    # Accounts

    @cached_property
    def book(self) -> AccountBook:
        from app.credentials.accounts import AccountBook
        from app.storage.files import StoredFile

        file = StoredFile(self.paths.accounts)
        return AccountBook(file.load, file.save, file.set_aside)

    @cached_property
    def places(self) -> SecretsPresenter:
        from app.ui.settings.secrets.presenter import SecretsPresenter

        presenter = SecretsPresenter(self._make_stores, self.settings, self.tasks)
        self.window.watch_secrets(presenter)
        presenter.look()
        return presenter

    def _make_stores(self) -> tuple[KeyringStore, SessionStore, PassphraseStore]:
        from app.credentials.keyring_store import KeyringStore
        from app.credentials.passphrase_store import PassphraseStore
        from app.credentials.stores import SessionStore
        from app.storage.files import StoredFile

        return (
            KeyringStore(self.secrets),
            SessionStore(self.secrets),
            PassphraseStore(StoredFile(self.paths.vault), self.secrets),
        )

    @cached_property
    def accounts(self) -> AccountsPresenter:
        from app.ui.settings.accounts.presenter import AccountsPresenter

        self._sandbox_account()
        presenter = AccountsPresenter(
            self.book, self.places, self.tasks, calls=self.calls, sandbox=self.sandbox_desk.address
        )
        presenter.account_chosen.connect(self._use)
        presenter.key_replaced.connect(self._use)
        return presenter

    @cached_property
    def switch(self) -> AccountSwitch:
        from app.ui.shared.account_switch import AccountSwitch

        switch = AccountSwitch(self.caller, self.ledger, self._read_key, self.sandbox_desk.start_and_tell)
        switch.connected.connect(self._connected)
        switch.problem.connect(lambda sentence: self._toast(sentence, "", ""))
        return switch

    def _address_of(self, account_id: str) -> str:
        account = self.book.get(account_id)
        return account.base_url if account is not None and account.kind != "sandbox" else ""

    def _sandbox_account(self) -> Account:
        """The Sandbox is always in the list of accounts."""
        from app.credentials.accounts import SANDBOX_ADDRESS, new_account

        known = next((account for account in self.book.list() if account.kind == "sandbox"), None)
        return known or self.book.add(new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox"))

    def _use(self, account_id: str) -> None:
        account = self.book.get(account_id)
        if account is not None:
            self.tasks.replace("account", self.switch.use, account)

    async def _read_key(self, account: Account) -> str:
        from app.credentials.stores import SecretStoreError
        from app.service.errors import AuthenticationFailed

        if account.kind == "sandbox":
            return self.sandbox_desk.key
        try:
            return await self.places.read(account.id) or ""
        except SecretStoreError as error:
            raise AuthenticationFailed(error.sentence, surely_not_sent=True) from None

    def _account_choices(self) -> tuple[AccountChoice, ...]:
        from app.ui.shell.overlays import AccountChoice

        in_use = self.caller.account.id if self.caller.account is not None else ""
        return tuple(
            AccountChoice(account.id, account.name, account.kind, account.id == in_use) for account in self.book.list()
        )

    def _connected(self) -> None:
        if self.caller.is_sandbox:
            _say("sandbox")
        self.chat.refresh_models()

    async def _refresh(self) -> None:
        await self.switch.read_limits()
        self.chat.refresh_models()

    # What one part asks of another

    def _make_settings_tab(self) -> TabPage:
        from app.ui.settings.page import SettingsPage
        from app.ui.settings.presenter import SettingsPresenter

        presenter = SettingsPresenter(
            self.settings, self.paths, self.caller, self.sandbox_desk, self.tasks, calls=self.calls
        )
        page = SettingsPage(
            self.theme,
            presenter,
            self.accounts,
            self.places,
            self.window.registry,
            self.tasks,
            version=__version__,
            toasts=lambda: self.window.overlays.toasts,
            open_help=lambda place: self.window.overlays.open_help(place),
        )
        return page

    def _show_characters(self) -> None:
        self.window.show_tab("chat")
        self.chat_page.show_guest(self.characters_page)

    @cached_property
    def characters_page(self) -> CharactersPage:
        from app.ui.characters.page import CharactersPage
        from app.ui.characters.presenter import CharactersPresenter

        presenter = CharactersPresenter(self.caller, self.settings, self.tasks)
        presenter.catalogue = self.catalogue
        page = CharactersPage(self.theme, presenter, self.tasks)
        page.closed.connect(self.chat_page.show_chat)
        page.character_chosen.connect(self._speak_with)
        page.help_wanted.connect(self._help)
        return page

    def _speak_with(self, character: Character, in_new_chat: bool) -> None:
        from app.ui.chat.state import CharacterHead

        self.chat_page.use_character(CharacterHead.of(character), new_chat=in_new_chat)

    def _help(self, action: str) -> None:
        """Carry out what a button of an error card asks for."""
        if action in ("replace-key", "unlock", "choose-account"):
            self.window.open_settings("accounts")

    def _toast(self, sentence: str, action: str, words: str) -> None:
        from app.ui.shared.problems import ActionSpec

        actions = (ActionSpec(action, words),) if action else ()
        toast = self.window.overlays.toasts.show_toast(sentence, actions=actions)
        if action == "undo":
            toast.action.connect(lambda _id: self.chat.undo())

    async def _show_crash(self, report: CrashReport, earlier: bool = False) -> None:
        from app.ui.shell.crash_dialog import show_crash

        await show_crash(self.theme, self.window, report, earlier=earlier)
        self.crashes.mark_seen(report)

    def _crashed(self, error: Exception) -> None:
        _log.error("A task failed", exc_info=error)
        self.crashes.report(error)

    async def _tour(self, act: str, folder: Path) -> None:
        from app.ui.shell.tour import perform

        self._exit_code = await perform(act, self.window, self.chat_page, folder)
        self.window.close()


class SandboxDesk:
    """Starts and stops the one Sandbox of this program; the only way to it besides HTTP."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.data / "sandbox"
        self._turn = asyncio.Lock()
        self.running: RunningSandbox | None = None

    @property
    def key(self) -> str:
        return self.running.api_key if self.running is not None else ""

    def address(self) -> tuple[str, str] | None:
        """Its base address and key while it runs, else None."""
        return (self.running.base_url, self.running.api_key) if self.running is not None else None

    async def start(self) -> None:
        """Start it unless it runs. Raises `OSError` or `ImportError` with a reason."""
        async with self._turn:
            if self.running is None:
                self.running = await asyncio.to_thread(self._start)

    async def start_and_tell(self) -> str:
        """Start it unless it runs, and return its base address. Raises as `start` does."""
        await self.start()
        assert self.running is not None
        return self.running.base_url

    async def stop(self) -> None:
        """End it; calls under way are cut off."""
        async with self._turn:
            running, self.running = self.running, None
            if running is not None:
                await asyncio.to_thread(running.stop)

    def _start(self) -> RunningSandbox:
        from app.sandbox.server import start_sandbox

        self._folder.mkdir(parents=True, exist_ok=True)
        return start_sandbox(self._folder, resources())


class FirstPaint(QObject):
    """Calls back once, when the window has been painted and the event loop turns again."""

    def __init__(self, window: MainWindow, then: Callable[[], None]) -> None:
        super().__init__()
        self._then = then
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self._then)
        return False


def _say(moment: str) -> None:
    """Tell the bench, where one listens, that a moment of the start has come."""
    path = os.environ.get(READY_FILE)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{moment} {time.monotonic_ns()}\n")

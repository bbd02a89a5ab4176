"""One running program: its parts, what each is handed, and the order in which they begin and end."""

from __future__ import annotations

import gc
import importlib
import logging
import sys
from datetime import UTC, datetime
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QWidget

from app import __version__
from app.bootstrap.chat_tab import make_characters_page, make_chat_tab
from app.bootstrap.money_questions import ask_budget, ask_elsewhere, ask_wallets, show_status_page
from app.bootstrap.startup_marks import FirstPaint, mark
from app.bootstrap.tabs import RAIL
from app.core.current_account import CurrentAccount
from app.core.file_saving import SavedFile
from app.core.number_format import percent
from app.core.problems import ActionSpec, hide_secrets_with
from app.core.tabs import TABS
from app.core.tasks import TaskScope, run_within
from app.core.time_format import when
from app.storage.errors import DatabaseDamaged, StorageError, StorageUnavailable, refusal_of
from app.storage.log import setup_logging, stop_logging
from app.storage.paths import resources
from app.translation import tr
from app.ui.chat.page import INFO as CHAT_TAB
from app.ui.chat.presenter import ChatPresenter
from app.ui.kit.discard import discard
from app.ui.kit.theme import Mode, Theme
from app.ui.shell.main_window import ClosingQuestion, MainWindow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from app.audio.devices import AudioHost
    from app.bootstrap.account_services import AccountServices
    from app.bootstrap.startup_context import StartupContext
    from app.core.sealed_sessions import SealedSessions
    from app.core.secret_storage import Secrets
    from app.storage.atomic_files import StoredFile
    from app.storage.database import Database
    from app.storage.paid_call_intents import Intent
    from app.storage.service_cache import ServiceCache
    from app.ui.characters.page import CharactersPage
    from app.ui.chat.page import ChatPage
    from app.ui.chat.state import ChatHead
    from app.ui.kit.notifications import Notifications
    from app.ui.kit.sound.device_watch import DeviceWatch
    from app.ui.kit.widgets.toast import Toast
    from app.ui.settings.about.presenter import AboutPresenter
    from app.ui.settings.accounts.presenter import AccountsPresenter
    from app.ui.shell.crash_reports import CrashReport

_log = logging.getLogger(__name__)
ENDS_WITHIN_S = 20.0  # everything that is saved and closed at the end, together
LEAST_S = 1.0  # what each has of it, also behind others that took too long
OPENING_S = 3.0  # how long the end waits for tabs that are being opened
BACKUP_SHOWN_AFTER_S = 1.0
COLLECT_MS = 150  # changes of theme and text size that come closer than this are drawn once


class Rialto:
    """One running program. `live` returns when the window is closed and everything is saved."""

    def __init__(self, qt_app: QApplication, context: StartupContext, *, has_fusion: bool = False) -> None:
        """`has_fusion`: the application was made with the style that the theme stands on."""
        self._context = context
        self.options = context.options
        self.paths = context.paths
        self.secrets = context.secrets
        self.crashes = context.crashes
        self.instance = context.instance
        self.settings = context.settings
        self.theme = Theme(resources())
        self._look()
        self.theme.apply(qt_app, hold_sheet=True, has_fusion=has_fusion, collect_ms=COLLECT_MS)
        self.tasks = TaskScope(self._crashed, held=True, on_work=lambda names: self.crashes.doing(work=names))
        self.current_account = CurrentAccount()
        self.current_account.use(
            context.account_in_use(), None
        )  # its name and kind are in the first frame, its service follows
        self.current_account.names = self.account_name
        self.window = MainWindow(self.theme, self.current_account, self.settings, self.tasks)
        self.window.tab_opens.connect(lambda name: self.crashes.doing(tab=self.window.tab_frames.info(name).title))
        self.window.registry.begins.connect(lambda action_id: self.crashes.doing(action=action_id))
        self.chat = ChatPresenter(self.current_account, self.settings, self.tasks, self.window.undo_stack)
        self.current_account.leaving.replace_requested.connect(self._replace_model)
        self.current_account.leaving.announced.connect(self.toast)
        self.first_paint: FirstPaint | None = None
        self.database: Database | None = None
        self.service_cache: ServiceCache | None = None
        self.left_open: tuple[Intent, ...] = ()  # paid calls that the last run left, as they were settled at this start
        self.leaves_no_trace = False  # the person asked for everything to be removed
        self._waiting: dict[str, Callable[[Database], Awaitable[None]]] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._log_handler: logging.Handler | None = None
        self._is_closed = False
        self._is_backed_up = False
        self._exit_code = 0

    def _remember_folders(self) -> None:
        """Let the file dialogs open where the person was, also after a restart."""
        from app.ui.kit import file_dialogs

        file_dialogs.folders = dict(self.settings.value.dialog_folders)
        file_dialogs.folder_chosen = lambda: self.settings.remember(dialog_folders=dict(file_dialogs.folders))

    @staticmethod
    def _forget_folders() -> None:
        from app.ui.kit import file_dialogs

        file_dialogs.folders, file_dialogs.folder_chosen = {}, dict

    async def live(self) -> int:
        """Open the window unless `open` did, start the rest, wait for the end."""
        import asyncio

        closed = asyncio.Event()
        self.window.closed.connect(closed.set)
        if self._is_closed:
            closed.set()
        first_paint = self.open()
        self.tasks.begin()
        if first_paint.is_over:
            self._go_on()
        else:
            first_paint.over.connect(self._go_on)
        await closed.wait()
        discard(first_paint)
        await self._end(partial(asyncio.to_thread, self.settings.save))
        return self._exit_code

    # Before the first paint

    def open(self) -> FirstPaint:
        """Build the window and show it, once. Needs no asyncio: that is loaded while the window can be used already."""
        if self.first_paint is None:
            self._set_up()
            self.first_paint = FirstPaint(self.window)
            self.first_paint.over.connect(lambda: mark("ready"))
            self.theme.release_sheet()
            self.window.show()
        return self.first_paint

    def _set_up(self) -> None:
        window = self.window
        window.add_tab(CHAT_TAB, lambda: self.chat_page)
        for tab in RAIL:
            window.add_tab(tab.info, partial(tab.make, self))
        window.tab_frames.wanted.connect(self._begin_tab)
        window.closed.connect(self._record_closed)
        self._context.sandbox.answering.connect(lambda: mark("sandbox"))
        self.chat.head_changed.connect(self._record_head)
        window.refresh_requested.connect(lambda: self.tasks.replace("refresh", self.refresh))
        window.account_chosen.connect(lambda account_id: self.accounts.use(account_id))
        window.status_page_requested.connect(lambda page: show_status_page(self, page))
        window.tab_shown.connect(self.crashes.doing)
        self.instance.raise_requested.connect(window.raise_window)
        self.chat.models_changed.connect(
            lambda _list: self.current_account.set_numbers(models=self.chat.account_models.models() or None)
        )
        self._left_tab = self.settings.value.last_tab
        if self.settings.value.welcome_done:
            window.show_tab("chat")
        else:
            window.show_page(self._make_welcome())

    def _record_closed(self) -> None:
        self._is_closed = True
        self.instance.stop_listening()

    @cached_property
    def chat_page(self) -> ChatPage:
        return make_chat_tab(self)

    def _make_welcome(self) -> QWidget:
        from app.ui.shell.welcome import WelcomePage

        page = WelcomePage(self.theme, self.accounts, self.places, self.paths.data)
        page.sandbox_chosen.connect(lambda: self._begin(self.account_services.sandbox_account().id))
        page.connected.connect(self._begin)
        page.wallet_requested.connect(
            lambda way: self.tasks.start_unless_running("first wallet", self._begin_with_wallet, way)
        )
        return page

    async def _begin_with_wallet(self, way: str) -> None:
        from app.bootstrap.wallet_tab import add_wallet

        account_id = await add_wallet(self, way)
        if account_id:
            self._begin(account_id)

    def _begin(self, account_id: str = "") -> None:
        """The welcome is over; an account that was checked there is in use already."""
        self.settings.remember(welcome_done=True)  # a disk that refuses keeps nobody on the first page
        self.window.show_tab("chat")
        if account_id:
            self.accounts.use(account_id)

    # After it

    def _go_on(self) -> None:
        QApplication.setWindowIcon(QIcon(str(resources() / "rialto.svg")))  # 8 ms: not before the first paint
        if "chat_page" in self.__dict__:
            self.chat_page.complete()
        self._remember_folders()
        self.tasks.start_unless_running("start", self._start)
        if self.options.act and self.options.tour is not None:
            self.tasks.start_unless_running("tour", self._tour, self.options.act, self.options.tour)

    async def _start(self) -> None:
        """Start what the window can be seen without: log, history, the account in use, what lies over the window."""
        import asyncio

        await self._load("app.ui.shell.overlays", "PySide6.QtNetwork")
        hide_secrets_with(self.secrets.redact)  # before the first call that can fail
        self.window.after_first_paint()
        self._return_to_tab()
        self.window.overlays.accounts = self.account_services.choices
        self.crashes.crashed.connect(lambda report: self.tasks.start_unless_running("crash", self._show_crash, report))
        self.crashes.refused.connect(self.window.overlays.report_not_saved)
        await asyncio.sleep(0)  # what was typed meanwhile comes first
        self.instance.listen()
        try:
            self._log_handler = await asyncio.to_thread(setup_logging, self.paths, self.secrets.redact)
        except StorageUnavailable as error:
            self.toast(error.sentence)
        await self._load(
            "app.storage.database", "app.storage.chat_store", "app.storage.receipts", "app.storage.paid_call_intents"
        )
        await self._load("app.ui.chat.session.conversation", "app.ui.conversation.view", "app.service.service")
        self._report_damaged_files()
        await self._start_history()

    async def _start_history(self) -> None:
        """Open the history and connect the account in use; what stands in the way is asked about."""
        import asyncio

        welcome_done = self.settings.value.welcome_done
        warm_up = [self.account_services.warm_up(self.account_services.last())] if welcome_done else []
        opened, *_ = await asyncio.gather(self._open_history(), *warm_up)
        if not opened:
            return
        if (
            self.settings.value.welcome_done and not self.account_services.switch.was_used
        ):  # a quick person has chosen by now
            await self.account_services.switch.use(self.account_services.last())
        if sys.platform == "linux":
            self.tasks.start_unless_running("desktop", self._follow_desktop)
        if self.settings.value.look_for_updates:
            self.tasks.start_unless_running("updates", self._check_for_updates)
        reports = self.crashes.left_behind()
        if reports:
            await self._show_crash(reports[0], earlier=True)

    def _look(self) -> None:
        """Go by what the settings say about the look."""
        value = self.settings.value
        mode: Mode = self.options.theme or value.theme  # type: ignore[assignment]  # both were checked against THEMES
        self.theme.configure(
            mode=mode,
            text_percent=value.text_percent,
            system_font=value.system_font,
            reduced_motion=value.reduced_motion,
            high_contrast=value.high_contrast,
        )

    async def _follow_desktop(self) -> None:
        """Speak to older screen readers too, and move less where a Linux desktop asks for it."""
        import asyncio

        await self._load("jeepney.io.blocking", "app.ui.kit.system_motion", "app.ui.kit.older_screen_readers")
        from app.ui.kit import older_screen_readers, system_motion

        older_screen_readers.OlderScreenReaders(self.window)
        self.theme.set_system_motion(less=await asyncio.to_thread(system_motion.wants_less_motion))

    def _report_damaged_files(self) -> None:
        """Settings or accounts that could not be understood are told; the copy of them is offered, or the folder."""
        for name, note, file, restore in (
            ("settings", self.settings.note, self.settings.file, self._restore_settings),
            ("accounts", self.account_services.accounts.note, self._context.accounts_file, self._restore_accounts),
        ):
            if note:
                self._offer_copy(name, note, file, restore)

    def _offer_copy(self, name: str, note: str, file: StoredFile, restore: Callable[[], Awaitable[None]]) -> None:
        copied_at = file.copied_at()
        if copied_at is None:
            self.toast(note, tr("Open folder"), self._open_folder)
            return
        toast = self.window.overlays.toasts.show_toast(
            tr("Your {name} are damaged", name=name),
            tr(
                "{note} The last good backup was made {copied_at}.",
                note=note,
                copied_at=when(copied_at, datetime.now(UTC)),
            ),
            tone="bad",
            actions=(ActionSpec("restore", tr("Restore backup")),),
            key=f"damaged {name}",
        )
        toast.action.connect(lambda _id: self.tasks.start_unless_running(f"restore {name}", restore))

    async def _restore_settings(self) -> None:
        import asyncio

        from app.ui.settings.connection.presenter import network_settings

        was_welcomed = self.settings.value.welcome_done
        copy: bytes | None = await asyncio.to_thread(self.settings.file.good_copy)
        self.settings.restore(copy or b"{}")
        self._look()
        self.account_services.network.change(network_settings(self.settings.value))
        if self.settings.value.welcome_done and not was_welcomed:
            self.window.show_tab("chat")
            await self.account_services.switch.use(self.account_services.last())
        await asyncio.to_thread(self.settings.save)
        self.toast(
            tr(
                "Your settings were restored. Keyboard shortcuts and pane sizes take effect the next time "
                "Rialto starts."
            )
        )

    async def _restore_accounts(self) -> None:
        import asyncio

        file, accounts = self._context.accounts_file, self.account_services.accounts
        copy: bytes | None = await asyncio.to_thread(file.good_copy)
        file.end_offer()
        await asyncio.to_thread(accounts.restore, copy or b"{}")
        self.accounts.refresh()
        if self.settings.value.welcome_done:
            await self.account_services.switch.use(self.account_services.last())
        number = len([account for account in accounts.list() if account.kind != "sandbox"])
        self.toast(tr("Your accounts were restored: {number} and the Sandbox.", number=number))

    def _open_folder(self) -> None:
        from PySide6.QtCore import QUrl
        from PySide6.QtGui import QDesktopServices

        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.paths.config)))

    async def _load(self, *modules: str) -> None:
        """Import modules so that the window can be used meanwhile: in a thread, or one by one what stands on Qt.

        One after the other: two threads that import at once can meet in a package that is half there. And PySide's
        classes are made by the window's own thread alone: now and then the process ends when two threads make some.
        """
        import asyncio

        for module in modules:
            if module.startswith(("app.ui.", "app.core.", "PySide6.")):
                importlib.import_module(module)
                await asyncio.sleep(0)
            else:
                await asyncio.to_thread(importlib.import_module, module)

    async def _open_history(self) -> bool:
        """Open the database and hand it on; False after telling the person why that is not possible."""
        from app.storage.database import Database
        from app.storage.paid_call_intents import Intents
        from app.storage.private_chats import PrivateChatStore
        from app.storage.receipts import Receipts
        from app.storage.service_cache import ServiceCache

        try:
            self.database = await Database.open(self.paths.database, backups=self.paths.backups)
            self.left_open = await Intents(self.database).settle_after_start()
            receipts = Receipts(self.database)
            await receipts.settle_after_start()  # before the chats, whose answers get their costs from there
            await self.account_services.receipt_recorder.start(receipts)
            await self.account_services.calls.read(
                receipts, [account.id for account in self.account_services.accounts.list()]
            )
            self.service_cache = ServiceCache(self.database)
            await self.account_services.wallet_keys.start(self.database)
            sealed = partial(self._sealed_sessions, self.database)
            await self.chat.start(PrivateChatStore(self.database), self.service_cache, sealed)
            self.account_services.receipt_recorder.corrected.connect(self.chat.take_correction)
            gc.freeze()  # thousands of chats that stay: to look through them now and then holds the window
        except StorageError as error:
            if self.database is not None:
                await self.database.close()
                self.database = None
            self.tasks.start_unless_running("no history", self._cannot_go_on, error)
            return False
        self.tasks.start_unless_running("backup", self._back_up, self.database)
        for name in filter(self.window.tab_frames.is_wanted, tuple(self._waiting)):
            self._begin_tab(name)
        self.tasks.start_unless_running("make tabs ready", self._make_ready, self.database)
        return True

    async def _sealed_sessions(self, database: Database) -> SealedSessions:
        """What seals chats, made by the first that is: its cryptography is loaded in a thread."""
        await self._load("app.service.sealed.resource")
        from app.bootstrap.sealed_chats import make_sealed_sessions

        return make_sealed_sessions(self, database)

    async def _make_ready(self, database: Database) -> None:
        """Build the other tabs while nobody does anything; what has work to go on with goes on, looked at or not."""
        from app.bootstrap.prebuild_tabs import make_ready, with_work

        await make_ready(self.window, await with_work(database))
        mark("tabs")

    def when_open(self, name: str, begin: Callable[[Database], Awaitable[None]]) -> None:
        """Hand the database to a tab when both are there: the database open, and the tab wanted by somebody."""
        if self.database is not None and self.window.tab_frames.is_wanted(name):
            self.tasks.start_unless_running(f"open {name}", self._open_tab, name, begin, self.database)
        else:
            self._waiting[name] = begin

    def _begin_tab(self, name: str) -> None:
        if self.database is not None and name in self._waiting:
            self.tasks.start_unless_running(
                f"open {name}", self._open_tab, name, self._waiting.pop(name), self.database
            )

    async def _open_tab(self, name: str, begin: Callable[[Database], Awaitable[None]], database: Database) -> None:
        await begin(database)
        gc.freeze()  # as with the chats
        await self._load(*(library for tab in RAIL if tab.info.name == name for library in tab.libraries))

    def on_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """What a tab has to save or stop while the accounts and the database are still open; last made, first ended."""
        self._closers.append(close)

    async def _back_up(self, database: Database) -> None:
        """Copy the history once a day; where that takes a while, the status bar says how far it is."""
        begun = monotonic()

        def progress(share: float | None) -> None:
            if monotonic() - begun > BACKUP_SHOWN_AFTER_S and not self._is_backed_up:
                words = tr("Checking the backup") if share is None else tr("Backing up, {share}", share=percent(share))
                self.window.show_own_work(words)

        try:
            await database.back_up_daily(progress)
        except StorageError as error:
            self.toast(error.sentence)
        finally:
            self._is_backed_up = True
            self.window.show_own_work("")

    async def _cannot_go_on(self, error: StorageError) -> None:
        import asyncio

        from app.storage.backups import restore_backup
        from app.ui.shell.history_dialog import ask_without_history

        backup = error.backup if isinstance(error, DatabaseDamaged) else None
        answer = await ask_without_history(self.theme, self.window, error.sentence, backup)
        if answer == "quit":
            self._exit_code = 1
            self.window.close()
        elif answer == "stay":
            self.chat.set_history(False)
            self.toast(
                tr("Nothing is saved until Rialto can open its history."),
                tr("Try again"),
                lambda: self.tasks.start_unless_running("history", self._start_history),
            )
        else:
            if answer == "restore" and backup is not None:
                try:
                    aside = await asyncio.to_thread(restore_backup, self.paths.database, backup)
                except StorageError as refused:
                    self.tasks.start_unless_running("no history anew", self._cannot_go_on, refused)
                    return
                self.toast(tr("Rialto now uses the backup. The damaged history is kept as {name}.", name=aside.name))
            self.tasks.start_unless_running("history", self._start_history)

    async def _end(self, save_settings: Callable[[], Awaitable[None]]) -> None:
        """Save, close and stop, in the order in which one needs the other. Nothing is waited for without a limit."""
        self._forget_folders()
        # A tab that is still reading what it kept joins what was typed to that.
        await self.tasks.ended(*(f"open {name}" for name in TABS), within_s=OPENING_S)
        closers = [*reversed(self._closers), self.chat.aclose, self.tasks.aclose, self.account_services.aclose]
        closers += [save_settings, self._close_history]
        latest = monotonic() + ENDS_WITHIN_S
        for close in closers:
            error = await run_within(close(), max(LEAST_S, latest - monotonic()))
            if error is not None:  # one that fails, as on a full disk, keeps no other from closing
                self._crashed(error)
        if self._log_handler is not None:
            stop_logging(self._log_handler)

    async def _close_history(self) -> None:
        if self.database is not None:  # it may have come while the rest was closing
            await self.database.close()

    # Accounts

    @cached_property
    def account_services(self) -> AccountServices:
        from app.bootstrap.account_services import AccountServices

        account_services = AccountServices(
            self._context,
            self.current_account,
            tasks=self.tasks,
            bookkeeping=TaskScope(self._crashed),
            watch_places=self.window.watch_secrets,
            ask_budget=partial(ask_budget, self),
            ask_elsewhere=partial(ask_elsewhere, self),
            ask_wallets=partial(ask_wallets, self),
        )
        self.window.closing_questions.append(ClosingQuestion(*account_services.closing_question(self.window)))
        account_services.connected.connect(self._connected)
        account_services.problem.connect(lambda sentence: self.toast(sentence))
        account_services.network_changed.connect(lambda: self.tasks.replace("refresh", self.refresh))
        return account_services

    @property
    def accounts(self) -> AccountsPresenter:
        return self.account_services.presenter

    @property
    def places(self) -> Secrets:
        return self.account_services.places

    def _connected(self) -> None:
        self.chat.refresh_models()

    def _record_head(self, head: ChatHead) -> None:
        if head.can_send:
            self.chat.head_changed.disconnect(self._record_head)
            mark("can-send")

    async def refresh(self) -> None:
        """Ask the service anew what it has and what is left to spend."""
        await self.account_services.switch.read_limits()
        self.chat.refresh_models()

    # New versions

    @cached_property
    def about(self) -> AboutPresenter:
        """Made by the first look at its section, or by a start that is to look for a new version."""
        from app.ui.settings.about.presenter import AboutPresenter

        root = resources().parent
        return AboutPresenter(
            self.settings,
            lambda: self.account_services.network,
            self.tasks,
            root=root,
            kept=self.paths.data / "updates",
            version=__version__,
            asked=lambda host: self.account_services.calls.note_host(host, "updates"),
        )

    async def _check_for_updates(self) -> None:
        newer = await self.about.check_at_start()
        if newer:
            self.toast(
                tr("Rialto {newer} is available.", newer=newer),
                tr("Release notes"),
                lambda: self.window.open_settings("about"),
            )

    # Sound

    @cached_property
    def audio(self) -> AudioHost:
        """PortAudio, loaded by the first sound; one for all tabs."""
        from app.audio.devices import AudioHost

        return AudioHost()

    @cached_property
    def device_watch(self) -> DeviceWatch:
        """Hears of loudspeakers and microphones that come and go, once somebody has started it."""
        from app.ui.kit.sound.device_watch import DeviceWatch

        return DeviceWatch()

    @cached_property
    def notifications(self) -> Notifications:
        """The desktop's own, for what happens while another program is in front."""
        from app.ui.kit.notifications import Notifications

        notifications = Notifications(self.window.windowIcon(), self.paths.cache / "icon.png")
        notifications.pressed.connect(self.window.raise_window)
        self.on_end(notifications.aclose)
        return notifications

    # What one part asks of another

    def _replace_model(self, tab: str, old_id: str, new_id: str) -> None:
        """Use another model in every tab, which `tab` can undo."""
        account = self.current_account.account
        leaving, undo_stack = self.current_account.leaving, self.window.undo_stack
        account_id = account.id if account is not None else ""
        self.tasks.start_unless_running("replace model", leaving.move, undo_stack, tab, old_id, new_id, account_id)

    @cached_property
    def characters_page(self) -> CharactersPage:
        return make_characters_page(self)

    def help(self, action: str) -> None:
        """Carry out what a button of an error card asks for."""
        from app.bootstrap.error_actions import carry_out

        carry_out(self, action)

    def account_name(self, account_id: str) -> str:
        """What an account is called, also one that is gone."""
        account = self.account_services.accounts.get(account_id)
        return account.name if account is not None else tr("removed account")

    def toast(self, sentence: str, label: str = "", act: Callable[[], object] = lambda: None) -> Toast:
        """Say something over the window; with a `label`, beside a button that does `act`.

        What tells of a file that was saved leads to its folder.
        """
        if isinstance(sentence, SavedFile) and not label:
            from app.ui.kit import file_dialogs

            label, act = tr("Show in folder"), partial(file_dialogs.show_in_folder, sentence.path)
        actions = (ActionSpec("act", label),) if label else ()
        if self.settings.value.notify and not self.window.isActiveWindow():
            self.tasks.start_unless_running(f"notify {sentence}", self._notify, sentence)
        toast = self.window.overlays.toasts.show_toast(sentence, actions=actions)
        toast.action.connect(lambda _id: act())
        return toast

    def _return_to_tab(self) -> None:
        """Go to the tab that was left, once the window is there; who types in Chat already stays."""
        window, name = self.window, self._left_tab
        is_idle = window.current_tab == "chat" and not self.chat.opened.draft and not self.options.act
        if self.settings.value.welcome_done and name != "chat" and window.has_tab(name) and is_idle:
            window.show_tab(name)

    async def _notify(self, sentence: str) -> None:
        await self.notifications.show("Rialto", sentence)

    async def _show_crash(self, report: CrashReport, earlier: bool = False) -> None:
        from app.ui.shell.crash_dialog import show_crash

        await show_crash(self.theme, self.window, report, earlier=earlier)
        self.crashes.mark_seen(report)

    def _crashed(self, error: Exception) -> None:
        if refusal_of(error) is None:
            _log.error("A task failed", exc_info=error)
        self.crashes.report(error)

    async def _tour(self, act: str, folder: Path) -> None:
        from app.ui.shell.tour import perform

        self._exit_code = await perform(act, self.window, self.chat_page, folder)
        for report in self.crashes.left_behind():  # the images may look well all the same
            print(tr("Part of Rialto failed: {title}. The report is in {path}.", title=report.title, path=report.path))
            self._exit_code = 1
        self.window.close()

"""What tests of the window and of Settings share: a tab of nothing much, and the presenters on real layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.core.call_log import CallLog
from app.core.current_account import CurrentAccount, RateLimitRemaining
from app.core.secret_storage import Secrets
from app.core.tabs import TabInfo
from app.core.tasks import TaskScope
from app.credentials.accounts import Account, Accounts
from app.credentials.keyring_backends import NoBackend
from app.credentials.keyring_store import KeyringStore
from app.credentials.passphrase_store import PassphraseStore
from app.credentials.stores import SessionStore
from app.service.auth import ApiKeyAuth
from app.service.http.network import Network
from app.service.models import Model
from app.service.service import open_service
from app.storage.paths import Paths
from app.storage.settings import SettingsStore
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.header import PaneHeader
from app.ui.settings.about.presenter import AboutPresenter
from app.ui.settings.accounts.checking import CheckedKey, check_key
from app.ui.settings.accounts.presenter import AccountsPresenter
from app.ui.settings.connection.presenter import ConnectionPresenter, network_settings
from app.ui.settings.presenter import SettingsPresenter
from app.ui.shell.main_window import MainWindow

KEY = "sk-test-0123456789abcdef9f2c"
CHEAP = {"kdf": "argon2id", "iterations": 1, "lanes": 1, "memory_kib": 8}


class PlainTab(QObject):
    """A tab with one input, one filter and whatever work a test gives it."""

    changed = Signal()

    def __init__(self, theme: Theme, name: str = "chat", title: str = "Chat") -> None:
        super().__init__()
        self.name, self.title, self.icon = name, title, "chat"
        self.ran: list[str] = []
        self.work: list[str] = []
        self.items: list[PaletteItem] = []
        self.zones: list[Zones] = []
        self.stops = 0
        self.stoppable = False
        self.filter = QLineEdit()
        self.filter.setAccessibleName("Filter")
        self.input = QPlainTextEdit()
        self.input.setAccessibleName("Message")
        self.detail = QLineEdit()
        self.detail.setAccessibleName("Detail")
        self._zones = [
            _column(PaneHeader(theme, words), widget)
            for words, widget in (("List", self.filter), (title, self.input), ("Details", self.detail))
        ]
        self.toggles: tuple[Callable[[], None], Callable[[], None]] | None = None

    def list_pane(self) -> QWidget:
        return self._zones[0]

    def canvas(self) -> QWidget:
        return self._zones[1]

    def inspector(self) -> QWidget:
        return self._zones[2]

    def main_input(self) -> QWidget:
        return self.input

    def filter_field(self) -> QWidget:
        return self.filter

    def actions(self) -> Sequence[TabAction]:
        def run(what: str) -> Callable[[], None]:
            return lambda: self.ran.append(what)

        return (
            TabAction(f"{self.name}.new", f"New {self.title.lower()}", run("new"), "Ctrl+N", "plus"),
            TabAction(f"{self.name}.send", "Send", run("send"), "Ctrl+Return", "send", enabled=lambda: False),
        )

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return self.items[:limit]

    def status_headroom(self) -> RateLimitRemaining | None:
        return None

    def running_work(self) -> Sequence[str]:
        return self.work

    def badge(self) -> int:
        return len(self.work)

    def retry_refused(self) -> Callable[[], object] | None:
        return None

    def handle_escape(self) -> bool:
        if self.stoppable:
            self.stops += 1
        return self.stoppable

    def set_zones(self, zones: Zones) -> None:
        self.zones.append(zones)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.toggles = (toggle_list, toggle_inspector)

    def activated(self) -> None:
        self.ran.append("activated")


def _column(*widgets: QWidget) -> QWidget:
    pane = QWidget()
    layout = QVBoxLayout(pane)
    layout.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        layout.addWidget(widget)
    return pane


@dataclass
class ShellHarness:
    """One window with a Chat tab; what a test needs to reach is a field."""

    theme: Theme
    current_account: CurrentAccount
    store: SettingsStore
    tasks: TaskScope
    window: MainWindow
    tabs: dict[str, PlainTab] = field(default_factory=dict)

    @property
    def chat(self) -> PlainTab:
        return self.tabs["chat"]


def make_shell(folder: Path, tasks: TaskScope, theme: Theme, *, second_tab: bool = False) -> ShellHarness:
    store = SettingsStore(folder / "settings.json")
    current_account = CurrentAccount()
    window = MainWindow(theme, current_account, store, tasks)
    harness = ShellHarness(theme, current_account, store, tasks, window)
    names = [("chat", "Chat", False)] + ([("notes", "Notes", True)] if second_tab else [])
    for name, title, at_bottom in names:

        def make(name: str = name, title: str = title) -> PlainTab:
            harness.tabs[name] = PlainTab(theme, name, title)
            return harness.tabs[name]

        window.add_tab(TabInfo(name, title, "chat", at_bottom=at_bottom), make)
    return harness


class FakeKeychain:
    """The part of a system keyring that has a plug: it can be missing or locked, and a test sees what it holds."""

    def __init__(self, *, missing: bool = False) -> None:
        self.missing = missing
        self.items: dict[tuple[str, str], str] = {}

    def find(self) -> FakeKeychain:
        if self.missing:
            raise NoBackend("absent", "none", "No system keyring was found on this computer.")
        return self

    def get_password(self, service: str, username: str) -> str | None:
        return self.items.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.items[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self.items.pop((service, username), None)


class MemoryFile:
    """A small file that is not on a disk."""

    def __init__(self) -> None:
        self.data: bytes | None = None

    def load(self) -> bytes | None:
        return self.data

    def save(self, data: bytes) -> None:
        self.data = data


class FakeSandbox:
    """The Sandbox as Settings handles it, without its server."""

    def __init__(self) -> None:
        self.running = False
        self.refuses = ""

    def address(self) -> tuple[str, str] | None:
        return ("http://127.0.0.1:9/api/v1", "sandbox-key-1234567890") if self.running else None

    async def start(self) -> None:
        if self.refuses:
            raise OSError(self.refuses)
        self.running = True

    async def stop(self) -> None:
        self.running = False


@dataclass
class SettingsHarness:
    """Accounts, secrets and settings on their real layers; the service is a function at the socket."""

    paths: Paths
    store: SettingsStore
    current_account: CurrentAccount
    book: Accounts
    keychain: FakeKeychain
    vault: MemoryFile
    sandbox: FakeSandbox
    secrets: Secrets
    accounts: AccountsPresenter
    settings: SettingsPresenter
    calls: CallLog
    asked: list[httpx.Request]
    network: Network
    connection: ConnectionPresenter
    about: AboutPresenter


def make_settings(
    folder: Path,
    tasks: TaskScope,
    answer: Callable[[httpx.Request], httpx.Response] | None = None,
    *,
    missing: bool = False,
) -> SettingsHarness:
    paths = Paths.below(folder)
    paths.make()
    store = SettingsStore(paths.settings)
    keychain, vault, sandbox, current_account = (
        FakeKeychain(missing=missing),
        MemoryFile(),
        FakeSandbox(),
        CurrentAccount(),
    )
    asked: list[httpx.Request] = []

    def service(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return (answer or accepted)(request)

    transport = httpx.MockTransport(service)
    secrets = Secrets(
        lambda: (KeyringStore(find=keychain.find), SessionStore(), PassphraseStore(vault, derivation=CHEAP)),
        store,
        tasks,
    )
    written: list[bytes] = []
    book = Accounts(lambda: None, written.append)

    def address_of(account_id: str) -> str:
        account = book.get(account_id)
        return account.base_url if account is not None else ""

    async def check(account: Account, typed_key: str) -> CheckedKey:
        async def read_key() -> str:
            return typed_key or await secrets.read(account.id) or ""

        auth = ApiKeyAuth(read_key)
        opened = open_service(account.base_url, account.dialect, auth, lambda _exchange: None, transport=transport)
        try:
            return await check_key(opened, account.address)
        finally:
            await opened.aclose()

    async def list_models(account: Account) -> tuple[Model, ...]:
        opened = open_service(account.base_url, account.dialect, None, lambda _exchange: None, transport=transport)
        try:
            return await opened.models.list("all", authenticated=False)
        finally:
            await opened.aclose()

    calls = CallLog(address_of)
    accounts = AccountsPresenter(
        book,
        secrets,
        tasks,
        check=check,
        calls=calls,
        proxy_user=lambda: store.value.proxy_user,
        list_models=list_models,
    )
    network = Network(network_settings(store.value))
    connection = ConnectionPresenter(store, network, book, secrets, tasks, sandbox=sandbox.address)
    connection.changed.connect(accounts.refresh)
    settings = SettingsPresenter(store, paths, current_account, sandbox, tasks, calls=calls)
    parts = (paths, store, current_account, book, keychain, vault, sandbox, secrets, accounts, settings, calls)
    about = AboutPresenter(
        store, lambda: network, tasks, root=folder / "program", kept=paths.data / "updates", version="1.2.3"
    )
    return SettingsHarness(*parts, asked, network, connection, about)


def accepted(_request: httpx.Request) -> httpx.Response:
    body: dict[str, Any] = {"data": {"accessPermitted": True, "apiTier": {"id": "paid"}, "rateLimits": []}}
    return httpx.Response(200, json=body)


def refused(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(401, json={"error": "Authentication failed"})


def unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no route", request=request)

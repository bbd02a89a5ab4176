"""The connection: takes what is typed, keeps it, and walks the way to the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.secret_storage import ProxyLogin, Secrets
from app.core.tasks import TaskScope
from app.credentials.accounts import Account, Accounts
from app.credentials.stores import SecretStoreError
from app.service.auth import ApiKeyAuth
from app.service.dialect import DIALECTS
from app.service.errors import ServiceError
from app.service.http.network import Network, NetworkSettings, UnusableProxy
from app.storage.errors import StorageUnavailable
from app.storage.settings import Settings, SettingsStore
from app.translation import tr
from app.ui.settings.connection.state import CertificateRow, ConnectionState, HopRow, ProxyDraft, TestState
from app.ui.settings.connection.words import hop_row, summary

if TYPE_CHECKING:
    from app.service.http.network_check import Hop
    from app.service.key_limits import LimitsRegistry


def network_settings(settings: Settings) -> NetworkSettings:
    """What the service layer needs to know of the settings."""
    return NetworkSettings(
        proxy_mode=settings.proxy_mode,  # type: ignore[arg-type]  # the settings file's reader lets only these pass
        proxy_kind=settings.proxy_kind,  # type: ignore[arg-type]  # the same
        proxy_host=settings.proxy_host,
        proxy_port=settings.proxy_port,
        proxy_user=settings.proxy_user,
        bypass=settings.proxy_bypass,
        ca_files=tuple(map(Path, settings.ca_files)),
    )


class ConnectionPresenter(QObject):
    """`changed` follows every change that calls will go by from now on."""

    state_changed = Signal(object)  # ConnectionState
    changed = Signal()

    def __init__(
        self,
        settings_store: SettingsStore,
        network: Network,
        accounts: Accounts,
        secrets: Secrets,
        tasks: TaskScope,
        *,
        sandbox: Callable[[], tuple[str, str] | None] = lambda: None,
        registry: LimitsRegistry | None = None,
    ) -> None:
        """`sandbox` tells the address and key of the Sandbox while it runs; `registry` holds the limits of all keys."""
        super().__init__()
        self._store = settings_store
        self._network = network
        self._accounts = accounts
        self._secrets = secrets
        self._tasks = tasks
        self._sandbox = sandbox
        self._registry = registry
        self.state = ConnectionState(kept=_kept(settings_store.value), address=self._usual_address())

    # What the person does

    def refresh(self) -> None:
        """See how the system, the certificates and the password stand now."""
        self._change(address=self._usual_address())
        self._tasks.replace("look at connection", self._look)

    def use(self, draft: ProxyDraft) -> None:
        """Check a draft and call that way from now on."""
        self._tasks.start_unless_running("connection", self._use, draft)

    def forget_password(self) -> None:
        """Remove the proxy's password, and the user with it: a proxy that wants them says so."""
        self._tasks.start_unless_running("connection", self._use, replace(self.state.kept, has_login=False, user=""))

    def test(self, draft: ProxyDraft, address: str) -> None:
        """Walk the way to `address` as `draft` would have it, without keeping anything."""
        self._tasks.replace("test connection", self._test, draft, address.strip())

    def stop_test(self) -> None:
        self._tasks.replace("test connection", self._stopped)

    def add_certificate(self, path: str) -> None:
        """Believe a certificate file besides the system's, if it holds up."""
        self._tasks.start_unless_running("certificates", self._add_certificate, path)

    def remove_certificate(self, path: str) -> None:
        files = tuple(kept for kept in self._store.value.ca_files if kept != path)
        self._tasks.start_unless_running("certificates", self._keep_certificates, files)

    # How it is done

    async def _look(self) -> None:
        has_password = False
        if self._store.value.proxy_user:
            try:
                has_password = bool(await self._secrets.proxy_password())
            except ServiceError:
                has_password = False  # locked: the form says where it is kept, the test says that it is locked
        rows = await asyncio.to_thread(_certificate_rows, self._store.value.ca_files)
        self._change(has_password=has_password, certificates=rows, system=await self._system())

    async def _system(self) -> str:
        try:
            proxy = await Network().proxy(self.state.address or "https://api.example.com")
        except UnusableProxy as error:
            return tr("The system uses a proxy of type {kind}, which Rialto does not support.", kind=error.kind[:20])
        if proxy is None:
            return tr("No system proxy. Connecting directly.")
        return tr("System proxy: {address}.", address=proxy.address)

    async def _use(self, draft: ProxyDraft) -> None:
        problems = _problems(draft, has_password=self.state.has_password_for(draft))
        if problems:
            self._change(problems=problems)
            return
        self._change(busy=True, problems={})
        problem: dict[str, str] = {}
        try:
            problem = await self._take(draft)
        finally:
            self._change(busy=False, problems=problem)

    async def _take(self, draft: ProxyDraft) -> dict[str, str]:
        """Keep the password first: a user without one would be refused by the proxy, perhaps for good."""
        has_login = draft.has_login and bool(draft.user)
        had_user = bool(self._store.value.proxy_user)
        try:
            if draft.mode == "manual" and has_login and draft.password:
                await self._secrets.keep_proxy_password(_login(draft), draft.password)
            if draft.mode == "manual" and had_user and not (has_login and self.state.is_for_kept(draft)):
                await self._secrets.forget_proxy_password()
        except SecretStoreError as error:
            return {"password": error.sentence}
        values: dict[str, Any] = {"proxy_mode": draft.mode}
        if draft.mode == "manual":
            values |= {
                "proxy_kind": draft.kind,
                "proxy_host": _host(draft.host),
                "proxy_port": int(draft.port),
                "proxy_user": draft.user if has_login else "",
                "proxy_bypass": _entries(draft.bypass),
            }
        problem = await self._remember(**values)
        self._change(
            kept=_kept(self._store.value),
            has_password=has_login if draft.mode == "manual" else self.state.has_password,
            taken=self.state.taken + 1,
        )
        return {"": problem} if problem else {}

    async def _remember(self, **values: Any) -> str:
        """Take values and go by them; a sentence when they could not be written down."""
        self._store.remember(**values)
        self._network.change(network_settings(self._store.value))
        problem = ""
        try:
            await asyncio.to_thread(self._store.save)
        except StorageUnavailable as error:
            problem = tr("{sentence}. Your change lasts until you quit Rialto.", sentence=error.sentence)
        self.changed.emit()
        return problem

    # Certificates

    async def _add_certificate(self, path: str) -> None:
        from app.service.http.certificates import CertificateRefused, read_ca_file

        try:
            await asyncio.to_thread(read_ca_file, Path(path))
        except CertificateRefused as error:
            self._change(certificate_problem=error.sentence)
            return
        if path in self._store.value.ca_files:
            self._change(certificate_problem=tr("{name} is already in the list.", name=Path(path).name))
            return
        await self._keep_certificates((*self._store.value.ca_files, path))

    async def _keep_certificates(self, files: tuple[str, ...]) -> None:
        problem = await self._remember(ca_files=files)
        rows = await asyncio.to_thread(_certificate_rows, files)
        self._change(certificates=rows, certificate_problem=problem)

    # The test

    async def _test(self, draft: ProxyDraft, typed: str) -> None:
        self._change(address=self._usual_address())  # accounts may have come and gone since the section was opened
        address = typed or self.state.address
        problems = _problems(draft, has_password=self.state.has_password_for(draft))
        if problems or not address:
            asks = "" if address else tr("Enter a service address.")
            self._change(problems=problems, test=TestState(problem=asks))
            return
        self._change(problems={}, test=TestState("running", tr("Testing.")))

        async def key() -> str:
            return found

        found, why_not = await self._key_for(address)
        hops = await self._walk(draft, address, ApiKeyAuth(key) if found else None)
        reached, sentence = summary(hops)
        self._change(test=TestState("ok" if reached else "bad", sentence, _rows(hops, why_not)))

    async def _walk(self, draft: ProxyDraft, address: str, auth: Any) -> tuple[Hop, ...]:
        await asyncio.to_thread(import_module, "app.service.http.network_check")  # longer than a frame
        from app.service.http.network_check import NetworkCheck

        def show(hops: tuple[Hop, ...]) -> None:
            self._change(test=replace(self.state.test, hops=_rows(hops)))

        settings = self._drafted(draft)
        network = Network(settings, lambda: self._password(draft))
        check = NetworkCheck(address, network, auth, show, registry=self._registry)
        return await check.run()

    async def _password(self, draft: ProxyDraft) -> str:
        """The password that is typed, else the one that is kept for this proxy. Raises `ServiceError`."""
        return draft.password or await self._secrets.proxy_password(_login(draft))

    def _drafted(self, draft: ProxyDraft) -> NetworkSettings:
        settings = replace(network_settings(self._store.value), proxy_mode=draft.mode)
        if draft.mode != "manual":
            return settings
        return replace(
            settings,
            proxy_kind=draft.kind,
            proxy_host=_host(draft.host),
            proxy_port=int(draft.port),
            proxy_user=draft.user if draft.has_login else "",
            bypass=_entries(draft.bypass),
        )

    async def _stopped(self) -> None:
        """The walk has ended before this begins."""
        hops = tuple(row for row in self.state.test.hops if row.state not in ("waiting", "running"))
        self._change(test=TestState("stopped", tr("Stopped."), hops))

    async def _key_for(self, address: str) -> tuple[str, str]:
        """The key of the account at this address, or why there is none."""
        running = self._sandbox()
        if running is not None and _same(running[0], address):
            return running[1], ""
        accounts = [account for account in self._callable() if _same(account.base_url, address)]
        if not accounts:
            return "", tr("No account uses this address.")
        try:
            key = await self._secrets.read(accounts[0].id)
        except SecretStoreError as error:
            return "", error.sentence
        return key or "", "" if key else tr("This account has no key on this computer.")

    def _usual_address(self) -> str:
        """Where calls go: the account in use, else any account, else the first service that Rialto knows by name."""
        accounts = self._callable()
        if accounts:
            return accounts[0].base_url
        return next((dialect.base_url for dialect in DIALECTS.values() if dialect.base_url), "")

    def _callable(self) -> list[Account]:
        accounts = [account for account in self._accounts.list() if account.kind == "api_key"]
        return sorted(accounts, key=lambda account: account.id != self._accounts.active_id)

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state_changed.emit(self.state)


def _rows(hops: tuple[Hop, ...], no_key: str = "") -> tuple[HopRow, ...]:
    rows = tuple(map(hop_row, hops))
    if not no_key:
        return rows
    return tuple(
        replace(row, sentence=no_key) if row.name == "key" and row.state == "skipped" and not row.took else row
        for row in rows
    )


def _kept(settings: Settings) -> ProxyDraft:
    return ProxyDraft(
        mode=settings.proxy_mode,  # type: ignore[arg-type]  # the settings file's reader lets only these pass
        kind=settings.proxy_kind,  # type: ignore[arg-type]  # the same
        host=settings.proxy_host,
        port=str(settings.proxy_port) if settings.proxy_port else "",
        has_login=bool(settings.proxy_user),
        user=settings.proxy_user,
        bypass=", ".join(settings.proxy_bypass),
    )


def _problems(draft: ProxyDraft, *, has_password: bool) -> dict[str, str]:
    """What stands in the way of a draft, by field."""
    if draft.mode != "manual":
        return {}
    problems: dict[str, str] = {}
    host = _host(draft.host)
    if not host:
        problems["host"] = tr("Enter the proxy address.")
    elif "@" in host or "/" in host or any(char.isspace() for char in host):
        problems["host"] = tr("Enter only the host, such as proxy.example.net, without https://, user or path.")
    if not (draft.port.isascii() and draft.port.isdigit() and 0 < int(draft.port) < 65536):
        problems["port"] = tr("Enter a port from 1 to 65535.")
    if draft.has_login:
        if not draft.user:
            problems["user"] = tr("Enter the user name.")
        elif len(draft.user.encode()) > 255 or ":" in draft.user:
            problems["user"] = tr("A user name cannot contain a colon or be longer than 255 bytes.")
        if not draft.password and not has_password:
            problems["password"] = tr("Enter the password.")
        elif len(draft.password.encode()) > 255:
            problems["password"] = tr("A password cannot be longer than 255 bytes.")
    return problems


def _login(draft: ProxyDraft) -> ProxyLogin:
    return ProxyLogin(_host(draft.host), int(draft.port), draft.user)


def _host(typed: str) -> str:
    return typed.strip().strip("[]").lower()


def _entries(typed: str) -> tuple[str, ...]:
    """The list of exceptions, parted by commas, semicolons or white space; each once."""
    return tuple(dict.fromkeys(typed.replace(",", " ").replace(";", " ").split()))


def _same(one: str, other: str) -> bool:
    return one.rstrip("/").casefold() == other.rstrip("/").casefold()


def _certificate_rows(files: tuple[str, ...]) -> tuple[CertificateRow, ...]:
    """Read the files again: one may have moved or expired. Runs in a worker."""
    from app.service.http.certificates import CertificateRefused, day, read_ca_file

    rows: list[CertificateRow] = []
    for path in files:
        try:
            found = read_ca_file(Path(path))
        except CertificateRefused as error:
            rows.append(CertificateRow(path, Path(path).name, path, error.sentence))
            continue
        first, more = found[0], len(found) - 1
        rows.append(
            CertificateRow(
                path,
                tr("{subject} and {n} more", subject=first.subject, n=more) if more else first.subject,
                tr("Valid until {valid_until} · {path}", valid_until=day(first.valid_until), path=path),
            )
        )
    return tuple(rows)

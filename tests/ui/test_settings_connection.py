"""Settings › Connection: a proxy is typed, tested and used; the hop that fails is named; a secret stays a secret."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.bootstrap.account_services import AccountServices
from app.core.secret_storage import Secrets
from app.core.tasks import TaskScope
from app.credentials.keyring_store import KeyringStore
from app.credentials.passphrase_store import PassphraseStore
from app.credentials.redaction import Redactor
from app.credentials.stores import SessionStore
from app.service.calls import Call
from app.service.errors import ServerFailed
from app.service.retry import CallKind
from app.storage.atomic_files import StoredFile
from app.storage.settings import SettingsStore
from tests.kit.shell import KEY, make_settings
from tests.kit.waiting import until
from tests.kit.widgets import words
from tests.service.loopback import Received, http, serving
from tests.service.proxies import TestProxy, http_proxy, speaking, tls_in_front_of
from tests.service.throwaway_ca import Authority, pem
from tests.ui.test_settings_accounts import add
from tests.ui.test_shell_window import nameless, open_dialog, press, wait_for_dialog

BASE = "https://service.test/api/v1"
LOGIN = ("desk14", "open sesame")
PRIVATE_KEY = "0x" + "4c" * 32  # of nobody
LIMITS = http(body={"data": {"accessPermitted": True, "apiTier": {"id": "paid"}, "rateLimits": []}})


@pytest.fixture
async def page(settings, tasks):
    settings.show_section("connection")
    await tasks.idle()
    return settings.page("connection")


@asynccontextmanager
async def town(folder, *replies):
    """A service that only the proxy finds, the proxy, and the authority that vouches for the service."""
    authority = Authority("Office CA", folder)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(*(replies or (LIMITS,))))
        port = int(server.base_url.rsplit(":", 1)[1].split("/")[0])
        secure = await stack.enter_async_context(tls_in_front_of(port, authority.server("service.test")))
        proxy = await stack.enter_async_context(http_proxy(TestProxy({"service.test:443": secure}, login=LOGIN)))
        yield server, proxy, authority


def type_into(field, text: str) -> None:
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)


def type_proxy(page, port: int, password: str = LOGIN[1]) -> None:
    form = page.form
    form.mode._segments["manual"].click()
    type_into(form.host, "127.0.0.1")
    type_into(form.port, str(port))
    if not form.has_login.isChecked():
        QTest.keyClick(form.has_login, Qt.Key.Key_Space)
    type_into(form.user, LOGIN[0])
    type_into(form.password, password)


def states(page) -> dict[str, str]:
    return {row.name: row.state for row in page._presenter.state.test.hops}


async def test_a_proxy_is_typed_and_tested_and_the_failing_hop_is_named(
    page, harness, settings_harness, tasks, tmp_path
):
    await add(settings_harness, tasks, base_url=BASE)
    async with town(tmp_path) as (server, proxy, authority):
        type_proxy(page, proxy.port, "wrong word")
        page.test.button.click()
        await tasks.idle()
        assert states(page) == {
            "proxy_name": "ok",
            "proxy": "ok",
            "proxy_answer": "bad",
            "tls": "skipped",
            "http": "skipped",
            "key": "skipped",
        }
        row = page.test.rows["proxy_answer"]
        assert "Failed at “Proxy response”." in words(page.test)
        assert row.sentence.text() == f"The proxy 127.0.0.1:{proxy.port} did not accept the user name and password."
        assert row.accessibleName() == "Proxy response: failed"
        assert nameless(harness.window) == []
        await until(lambda: not row.visibleRegion().isEmpty())  # scrolled to

        type_into(page.form.password, LOGIN[1])
        page.test.button.click()
        await tasks.idle()
        assert states(page)["tls"] == "bad"
        assert "issued by Office CA. Its issuer is not trusted" in words(page.test.rows["tls"])

        settings_harness.connection.add_certificate(str(authority.file))
        await tasks.idle()
        page.test.button.click()
        await tasks.idle()
        assert set(states(page).values()) == {"ok"}
        assert "Reached the service in " in words(page.test)
        assert server.received[-1].headers["authorization"] == f"Bearer {KEY}"
        assert settings_harness.store.value.proxy_mode == "system"  # a test keeps nothing
        assert LOGIN[1] not in settings_harness.keychain.items.values()


async def test_a_proxy_password_is_for_one_proxy_and_one_copy_of_rialto(page, settings_harness, tasks, tmp_path):
    form = page.form
    type_proxy(page, 8080)
    form.use_button.click()
    await tasks.idle()
    assert await settings_harness.secrets.proxy_password() == LOGIN[1]
    assert form.password.placeholderText() == "Saved. Type to replace it."
    keychain = settings_harness.keychain
    stores = (KeyringStore(find=lambda: keychain), SessionStore(), PassphraseStore(StoredFile(tmp_path / "vault")))
    # Settings that somebody else wrote, for the same keychain, whether or not they know the name of the password.
    theirs = SettingsStore(tmp_path / "stick" / "settings.json")
    for known in ("", settings_harness.store.value.proxy_secret):
        theirs.remember(proxy_host="evil.example", proxy_port=8080, proxy_user=LOGIN[0], proxy_secret=known)
        opened = Secrets(lambda: stores, theirs, tasks)
        assert await opened.proxy_password() == ""
    # The form asks again when the password would go elsewhere, and keeps none for the proxy before.
    for field, text in ((form.host, "other.example"), (form.port, "8081"), (form.user, "else")):
        before = field.text()
        type_into(field, text)
        assert form.password.placeholderText() == ""
        type_into(field, before)
        assert form.password.placeholderText() == "Saved. Type to replace it."
    type_into(form.host, "other.example")
    form.use_button.click()
    await tasks.idle()
    assert "Enter the password." in words(page.form)
    type_into(form.password, "another")
    form.use_button.click()
    await tasks.idle()
    assert LOGIN[1] not in settings_harness.keychain.items.values()
    assert await settings_harness.secrets.proxy_password() == "another"


async def test_a_proxy_in_use_has_its_password_in_the_keychain_alone(page, settings_harness, tasks, tmp_path, caplog):
    caplog.set_level("DEBUG")
    async with town(tmp_path) as (_, proxy, _authority):
        type_proxy(page, proxy.port)
        type_into(page.form.bypass, "intra.example; 10.0.0.0/8")
        assert "Not in use yet." in words(page.form)
        QTest.keyClick(page.form.bypass, Qt.Key.Key_Return)
        await tasks.idle()
    kept = SettingsStore(settings_harness.paths.settings).value
    assert (kept.proxy_mode, kept.proxy_kind, kept.proxy_host) == ("manual", "http", "127.0.0.1")
    assert (kept.proxy_port, kept.proxy_user) == (proxy.port, LOGIN[0])
    assert kept.proxy_bypass == ("intra.example", "10.0.0.0/8")
    assert LOGIN[1] in settings_harness.keychain.items.values()
    assert "This proxy is in use." in words(page.form)
    assert page.form.password.text() == ""
    assert page.form.password.placeholderText() == "Saved. Type to replace it."
    assert not page.form.use_button.isVisibleTo(page)
    for path in (path for path in settings_harness.paths.settings.parent.rglob("*") if path.is_file()):
        assert LOGIN[1].encode() not in path.read_bytes()
    assert LOGIN[1] not in caplog.text + repr(settings_harness.connection.state) + repr(page.form.draft())
    assert settings_harness.network.settings.proxy_user == LOGIN[0]

    page.form.has_login.click()
    page.form.use_button.click()
    await tasks.idle()
    assert LOGIN[1] not in settings_harness.keychain.items.values()
    assert SettingsStore(settings_harness.paths.settings).value.proxy_user == ""


async def test_system_and_none_hold_at_once_and_manual_comes_back_whole(page, settings_harness, tasks, monkeypatch):
    changes = []
    settings_harness.connection.changed.connect(lambda: changes.append(settings_harness.network.settings.proxy_mode))
    page.form.mode._segments["none"].click()
    await tasks.idle()
    assert "All connections are direct." in words(page.form)
    page.form.mode._segments["manual"].click()  # nothing is typed yet: nothing changes
    await tasks.idle()
    assert settings_harness.network.settings.proxy_mode == "none"
    type_into(page.form.host, "proxy.example")
    type_into(page.form.port, "8080")
    page.form.kind._segments["socks5"].click()
    page.form.use_button.click()
    await tasks.idle()
    page.form.mode._segments["system"].click()
    await tasks.idle()
    page.form.mode._segments["manual"].click()
    await tasks.idle()
    assert changes == ["none", "manual", "system", "manual"]
    assert settings_harness.network.settings.proxy_kind == "socks5"
    type_into(page.form.host, "other.example")
    page.form.discard_button.click()
    assert page.form.host.text() == "proxy.example"

    monkeypatch.setenv("HTTPS_PROXY", "http://u:hidden-word@sys.example:3128")
    settings_harness.connection.refresh()
    await tasks.idle()
    assert settings_harness.connection.state.system == "System proxy: sys.example:3128."
    monkeypatch.setenv("HTTPS_PROXY", "socks4://sys.example:3128")
    settings_harness.connection.refresh()
    await tasks.idle()
    assert "socks4" in settings_harness.connection.state.system


@pytest.mark.parametrize(
    ("host", "port", "user", "password", "field"),
    [
        ("", "80", "", "", "host"),
        ("https://proxy.example", "80", "", "", "host"),
        ("u:p@proxy.example", "80", "", "", "host"),
        ("proxy.example", "", "", "", "port"),
        ("proxy.example", "0", "", "", "port"),
        ("proxy.example", "65536", "", "", "port"),
        ("proxy.example", "80", "", "x", "user"),
        ("proxy.example", "80", "a:b", "x", "user"),
        ("proxy.example", "80", "desk14", "", "password"),
        ("proxy.example", "80", "desk14", "ü" * 128, "password"),
    ],
)
async def test_what_cannot_be_right_is_said_at_its_field(
    page, settings_harness, tasks, host, port, user, password, field
):
    form = page.form
    form.mode._segments["manual"].click()
    form.host.setText(host)
    form.port.setText(port)
    if user or password:
        form.has_login.click()
        form.user.setText(user)
        form.password.setText(password)
    for submit in (form._take, page.test.button.click):
        form._edited()
        submit()
        await tasks.idle()
        assert set(settings_harness.connection.state.problems) == {field}
        assert form._boxes[field].problem
    assert settings_harness.network.generation == 0
    assert settings_harness.connection.state.test.hops == ()


async def test_a_password_that_cannot_be_kept_is_said_at_its_field(harness, tasks, tmp_path):
    settings_harness = make_settings(tmp_path / "bare", tasks, missing=True)
    draft = replace(
        settings_harness.connection.state.kept,
        mode="manual",
        host="p.example",
        port="80",
        has_login=True,
        user="u",
        password="x",
    )
    settings_harness.connection.use(draft)
    await tasks.idle()
    assert set(settings_harness.connection.state.problems) == {"password"}
    assert settings_harness.network.settings.proxy_mode == "system"
    settings_harness.connection.test(replace(draft, password=""), BASE)
    await tasks.idle()
    assert set(settings_harness.connection.state.problems) == {"password"}


async def test_without_an_account_the_address_that_is_typed_is_tried(page, settings_harness, tasks, tmp_path):
    assert page.test.address.placeholderText().startswith("https://")
    async with town(tmp_path) as (server, proxy, authority):
        settings_harness.connection.add_certificate(str(authority.file))
        await tasks.idle()
        type_proxy(page, proxy.port)
        type_into(page.test.address, BASE)
        QTest.keyClick(page.test.address, Qt.Key.Key_Return)
        await tasks.idle()
        assert states(page) == {
            **dict.fromkeys(("proxy_name", "proxy", "proxy_answer", "tls", "http"), "ok"),
            "key": "skipped",
        }
        assert "No account uses this address." in words(page.test.rows["key"])
        assert "authorization" not in server.received[0].headers


async def test_the_sandbox_is_tested_with_its_own_key_and_past_the_proxy(page, settings_harness, tasks):
    async with serving(LIMITS) as server:
        settings_harness.sandbox.address = lambda: (server.base_url, "sandbox-key-1")
        settings_harness.connection._sandbox = settings_harness.sandbox.address
        type_proxy(page, 9)
        type_into(page.test.address, server.base_url)
        page.test.button.click()
        await tasks.idle()
        assert states(page) == dict.fromkeys(("name", "connect", "http", "key"), "ok")
        assert server.received[0].headers["authorization"] == "Bearer sandbox-key-1"


async def test_a_test_can_be_stopped(page, tasks):
    async def silent(reader, writer) -> None:
        await reader.read()

    async with speaking(silent) as port:
        type_into(page.test.address, f"https://localhost:{port}/v1")
        page.test.button.click()
        await until(lambda: states(page).get("tls") == "running")
        assert page.test.button.text() == "Stop"
        page.test.button.click()
        await tasks.idle()
    assert page.test.button.text() == "Test connection"
    assert "Stopped." in words(page.test)
    assert states(page) == {"name": "ok", "connect": "ok"}


async def test_a_certificate_is_checked_when_it_is_chosen(page, harness, settings_harness, tasks, tmp_path):
    expired = tmp_path / "old.pem"
    expired.write_bytes(pem("Old Office", from_day=-9, to_day=-2))
    good = Authority("Office CA", tmp_path).file
    page.add_button.click()
    dialog = harness.window.findChild(QFileDialog)
    dialog.fileSelected.emit(str(expired))
    dialog.reject()
    await tasks.idle()
    assert "The certificate in old.pem expired on " in words(page)
    assert settings_harness.store.value.ca_files == ()
    for _ in range(2):
        settings_harness.connection.add_certificate(str(good))
        await tasks.idle()
    assert "is already in the list." in words(page)
    assert SettingsStore(settings_harness.paths.settings).value.ca_files == (str(good),)
    assert settings_harness.network.settings.ca_files == (good,)
    assert nameless(harness.window) == []
    good.unlink()
    settings_harness.connection.refresh()
    await tasks.idle()
    assert f"{good.name} cannot be read" in words(page)
    settings_harness.connection.remove_certificate(str(good))
    await tasks.idle()
    assert settings_harness.store.value.ca_files == ()


async def test_a_change_takes_the_account_in_use_another_way_without_a_restart(
    harness, settings_harness, tasks, tmp_path
):
    """The real composition: an answer under way ends on its connection, the next call goes through the proxy."""
    go_on = asyncio.Event()

    async def slowly(received: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nfirst")
        await writer.drain()
        await go_on.wait()
        writer.write(b" rest")

    await add(settings_harness, tasks, base_url=BASE)
    accounts = composed(settings_harness, tasks)
    changed = []
    accounts.network_changed.connect(lambda: changed.append(True))
    async with town(tmp_path, LIMITS, slowly, LIMITS) as (server, proxy, authority):
        connection = accounts.connection
        connection.add_certificate(str(authority.file))
        await tasks.idle()
        draft = replace(
            connection.state.kept,
            mode="manual",
            host="127.0.0.1",
            port=str(proxy.port),
            has_login=True,
            user=LOGIN[0],
            password=LOGIN[1],
        )
        connection.use(draft)
        await tasks.idle()
        await accounts.switch.use(settings_harness.book.active)
        client = settings_harness.current_account.service.client
        async with client.open(Call("GET", "/long", CallKind.READ, "x")) as answer:
            pieces = answer.pieces()
            assert await anext(pieces) == b"first"
            connection.use(replace(draft, bypass="else.example", password=""))
            await tasks.idle()
            assert settings_harness.current_account.service.client is client
            await client.get("/next")
            go_on.set()
            assert b"".join([piece async for piece in pieces]) == b" rest"
        assert len(proxy.asked) == 2
        assert len(changed) == 3
        asked = len(proxy.asked)
        assert (await accounts._check_key(settings_harness.book.active, "")).permitted
        assert len(proxy.asked) == asked  # over the open connection of the account in use
        assert (await accounts._check_key(settings_harness.book.active, KEY)).permitted  # a key that is typed: its own
        assert len(proxy.asked) == asked + 1
        await accounts.aclose()
    assert len(server.received) == 5


def composed(settings_harness, tasks) -> AccountServices:
    """The real composition around the accounts of a test."""
    ground = SimpleNamespace(
        paths=settings_harness.paths,
        secrets=Redactor(),
        settings=settings_harness.store,
        accounts=settings_harness.book,
        sandbox=_NoSandbox(),
    )
    accounts = AccountServices(
        ground,
        settings_harness.current_account,
        tasks=tasks,
        bookkeeping=TaskScope(lambda error: None),
        watch_places=lambda places: None,
        ask_budget=nobody,
        ask_elsewhere=nobody,
        ask_wallets=nobody,
    )
    accounts.__dict__["places"] = settings_harness.secrets  # the system's keychain is not for tests
    return accounts


async def test_r_err_12_refusals_of_a_key_count_together_whoever_asks(harness, settings_harness, tasks):
    """The account in use, a check of its key in Settings, and the same account in use anew."""
    async with serving(http(503, b"")) as server:
        await add(settings_harness, tasks, base_url=server.base_url)
        accounts = composed(settings_harness, tasks)
        await accounts.switch.use(settings_harness.book.active)
        budget = settings_harness.current_account.service.client.limits.budget
        before = budget.state.failures
        assert before == len(server.received) > 0
        with pytest.raises(ServerFailed):
            await accounts._check_key(settings_harness.book.active, KEY)
        assert budget.state.failures == len(server.received) > before
        async with accounts.switch.service_of(settings_harness.book.active) as service:
            assert service is settings_harness.current_account.service
        await accounts.switch.use(settings_harness.book.active)
        assert settings_harness.current_account.service.client.limits.budget is budget
        await accounts.aclose()


async def test_testing_a_wallet_signs_in_and_never_sends_its_private_key(harness, settings_harness, tasks):
    balance = http(body={"success": True, "data": {"balanceUsd": 5, "canConsume": True}})
    async with serving(balance) as server:
        accounts = composed(settings_harness, tasks)
        signer = await accounts.wallet_keys.add_from_key(
            "Pocket wallet", PRIVATE_KEY, "evm", accounts.wallet_keys.site_at(server.base_url)
        )
        accounts.presenter.test(signer.id)
        await tasks.idle()
        row = next(row for row in accounts.presenter.state.accounts if row.id == signer.id)
        (asked,) = server.received
        assert "authorization" not in asked.headers
        assert PRIVATE_KEY not in repr(asked) and PRIVATE_KEY[2:] not in repr(asked)
        assert (row.test.outcome, row.test.sentence) == ("ok", "Sign-in accepted")
        await accounts.aclose()


async def test_the_key_of_a_wallet_cannot_be_replaced_by_an_api_key(harness, settings_harness, tasks):
    accounts = composed(settings_harness, tasks)
    keys = accounts.wallet_keys
    wallet = await keys.add_from_key("Pocket wallet", PRIVATE_KEY, "evm", keys.site_at("https://service.test/v1"))
    accounts.presenter.replace_key(wallet.id, KEY)
    await tasks.idle()
    assert await settings_harness.secrets.read(wallet.id) == PRIVATE_KEY
    await accounts.aclose()


async def test_another_key_for_an_account_that_is_not_in_use_leaves_it_so(harness, settings_harness, tasks):
    async with serving(LIMITS) as server:
        accounts = composed(settings_harness, tasks)
        for _ in range(2):
            await add(settings_harness, tasks, base_url=server.base_url)
        other = next(
            account for account in settings_harness.book.list() if account.id != settings_harness.book.active_id
        )
        await accounts.switch.use(settings_harness.book.active)
        accounts.presenter.replace_key(other.id, KEY[::-1])
        await tasks.idle()
        assert settings_harness.current_account.account is settings_harness.book.active
        service = settings_harness.current_account.service
        accounts.presenter.replace_key(settings_harness.book.active_id, KEY[::-1])
        await tasks.idle()
        assert settings_harness.current_account.account is settings_harness.book.active
        assert settings_harness.current_account.service is not service
        await accounts.aclose()


async def nobody(*_: object) -> None:
    """Is asked, and says nothing."""


class _NoSandbox:
    key = ""

    def address(self) -> None:
        return None

    async def start_and_tell(self) -> str:
        raise OSError("there is none")

    async def stop(self) -> None:
        pass


async def test_where_a_password_is_kept_is_said_before_it_is_typed(page, settings_harness, tasks):
    page.form.mode._segments["manual"].click()
    page.form.has_login.click()
    assert "Kept in the system keyring, and sent only to the proxy." in words(page.form)
    for kind, ask, said in (
        ("session", "", "for this session only"),
        ("passphrase", "", "protected by your passphrase"),
        ("keyring", "unlock", "asks you to unlock"),
    ):
        page.form.show_place(replace(settings_harness.secrets.state, kind=kind, ask=ask))
        assert said in words(page.form)
    await tasks.idle()


async def test_the_table_of_secrets_lists_the_password_and_leads_to_it(
    page, settings, harness, settings_harness, tasks
):
    type_proxy(page, 9)
    page.form.use_button.click()
    await tasks.idle()
    settings.show_section("accounts")
    await tasks.idle()
    accounts = settings.page("accounts")
    shown = words(accounts.table)
    for part in ("Proxy password", "user “desk14”", "Connection", "System keyring"):
        assert part in shown
    assert LOGIN[1] not in shown
    assert nameless(harness.window) == []
    accounts.table.wanted.emit("connection", "replace-key")
    await until(lambda: settings.places.current == "connection")
    assert harness.window.focusWidget() is page.form.password
    accounts.table.wanted.emit("connection", "remove-key")
    await wait_for_dialog(harness.window)
    press(open_dialog(harness.window), "Remove password")
    await tasks.idle()
    assert LOGIN[1] not in settings_harness.keychain.items.values()
    assert "Proxy password" not in words(accounts.table)

"""Accounts: a key is checked for free, kept in one place, replaced and removed; nothing of it shows again in full."""

from __future__ import annotations

from contextlib import AsyncExitStack

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.core.undo import UndoStack
from app.credentials.accounts import SANDBOX_ADDRESS, Account, account_from, account_to, new_account
from app.service.dialect import guess_dialect
from app.service.errors import ConnectionFailed, ServiceError
from app.service.http.network import Network, NetworkSettings
from app.service.service import open_service
from app.ui.settings.accounts.checking import check_key
from app.ui.settings.accounts.checking import refused as checking_refused
from app.ui.settings.accounts.page import AccountsPage
from app.ui.settings.accounts.presenter import AccountDraft
from tests.kit.shell import KEY, SettingsHarness, accepted, make_settings, refused, unreachable
from tests.kit.widgets import words
from tests.service.proxies import TestProxy, http_proxy, socks_proxy, speaking

ADDRESS = "https://api.example.com/v1"


async def add(settings_harness: SettingsHarness, tasks, **changes: str) -> None:
    settings_harness.accounts.add(AccountDraft(**{"base_url": ADDRESS, "key": KEY, **changes}))
    await tasks.idle()


async def test_a_good_key_is_checked_without_a_paid_call_and_kept_in_the_keychain(settings_harness, tasks):
    chosen: list[str] = []
    settings_harness.accounts.account_chosen.connect(chosen.append)
    await add(settings_harness, tasks)
    account = settings_harness.book.active
    assert [(call.method, call.url.path) for call in settings_harness.asked] == [("GET", "/v1/api_keys/rate_limits")]
    assert settings_harness.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert (account.name, account.secret_hint, chosen) == ("api.example.com", "9f2c", [account.id])
    assert list(settings_harness.keychain.items.values()) == [KEY]
    assert settings_harness.accounts.state.form.done == 1


async def test_a_refused_key_is_said_at_its_field_and_nothing_is_kept(tasks, tmp_path):
    settings_harness = make_settings(tmp_path, tasks, refused)
    await add(settings_harness, tasks)
    assert settings_harness.accounts.state.form.problems == {"key": "The service did not accept this key."}
    assert (settings_harness.book.list(), settings_harness.keychain.items) == ((), {})


async def test_a_dead_address_is_said_at_its_field_and_may_be_saved_all_the_same(tasks, tmp_path, monkeypatch):
    monkeypatch.setattr("app.service.retry.BASE_WAIT_S", 0.0)
    settings_harness = make_settings(tmp_path, tasks, unreachable)
    await add(settings_harness, tasks)
    form = settings_harness.accounts.state.form
    assert (dict(form.problems), form.can_save_unchecked) == ({"base_url": "Nothing answered at this address."}, True)
    settings_harness.accounts.add(AccountDraft(ADDRESS, KEY), unchecked=True)
    await tasks.idle()
    assert settings_harness.book.active.base_url == ADDRESS


@pytest.mark.parametrize("path", ["/api/v1", "/v1"])
async def test_the_usual_paths_are_tried_for_an_address_without_one(tasks, tmp_path, path):
    def somewhere(request: httpx.Request) -> httpx.Response:
        return accepted(request) if request.url.path.startswith(f"{path}/") else httpx.Response(404, text="<html>")

    settings_harness = make_settings(tmp_path, tasks, somewhere)
    await add(settings_harness, tasks, base_url="api.example.com")
    assert settings_harness.book.active.base_url == f"https://api.example.com{path}"


async def test_no_other_path_is_tried_than_the_one_that_was_typed(tasks, tmp_path):
    settings_harness = make_settings(tmp_path, tasks, lambda request: httpx.Response(404, text="<html>"))
    await add(settings_harness, tasks)
    assert len(settings_harness.asked) == 1
    await add(settings_harness, tasks, base_url="https://api.example.com")
    problem = settings_harness.accounts.state.form.problems["base_url"]
    assert problem.startswith("A server answered, but it is not a compatible service.")
    assert settings_harness.book.list() == ()


@pytest.mark.parametrize("way", ["none", "http", "socks5"])
@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\x00" * 40, b"SSH-2.0-x\r\n"]
)
async def test_an_address_that_answers_without_tls_is_told_so_whatever_the_way_there(way, said):
    async def speak(reader, writer):
        await reader.read(10)
        writer.write(said)

    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(speaking(speak))
        target, network = f"127.0.0.1:{port}", Network()
        if way != "none":  # this computer itself is never called through a proxy
            target = "service.test"
            through = http_proxy if way == "http" else socks_proxy
            proxy = await stack.enter_async_context(through(TestProxy({"service.test:443": port})))
            network = Network(NetworkSettings("manual", way, "127.0.0.1", proxy.port))
        service = open_service(f"https://{target}", "service", None, lambda exchange: None, network=network)
        stack.push_async_callback(service.aclose)
        with pytest.raises(ServiceError) as caught:
            await check_key(service)
    form = checking_refused(caught.value, 0)
    assert form.problems["base_url"] == "A server answered at this address, but not over a secure connection."


@pytest.mark.parametrize("code", ["proxy_auth", "proxy", "certificate", "ca_file"])
def test_what_fails_on_the_way_is_said_as_it_is_and_where_to_look(code):
    form = checking_refused(ConnectionFailed("The proxy p:80 did not accept the user name and password.", code=code), 0)
    assert form.problems["base_url"].startswith(
        "The proxy p:80 did not accept the user name and password. Run the test in Settings,"
    )
    assert form.can_save_unchecked


@pytest.mark.parametrize("address", ["", "ftp://x", "http://api.example.com/v1", "https://", "https://a b/v1"])
async def test_a_bad_address_is_refused_before_anything_is_sent(settings_harness, tasks, address):
    await add(settings_harness, tasks, base_url=address)
    assert set(settings_harness.accounts.state.form.problems) == {"base_url"}
    assert settings_harness.asked == []


@pytest.mark.parametrize("key", ["", "with space", "schlüssel-zu-allem"])
async def test_a_key_that_cannot_be_one_is_refused_before_anything_is_sent(settings_harness, tasks, key):
    await add(settings_harness, tasks, key=key)
    assert set(settings_harness.accounts.state.form.problems) == {"key"}
    assert settings_harness.asked == []


async def test_a_known_but_barred_key_is_not_kept(tasks, tmp_path):
    def barred(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"data": {"accessPermitted": False}})

    settings_harness = make_settings(tmp_path, tasks, barred)
    await add(settings_harness, tasks)
    assert set(settings_harness.accounts.state.form.problems) == {"key"}
    assert settings_harness.keychain.items == {}


async def test_a_second_account_at_one_host_gets_a_name_of_its_own(settings_harness, tasks):
    await add(settings_harness, tasks)
    await add(settings_harness, tasks)
    assert [account.name for account in settings_harness.book.list()] == ["api.example.com", "api.example.com 2"]


async def test_the_address_suggests_the_names_unless_they_are_chosen(settings_harness, tasks):
    assert guess_dialect("https://api.venice.ai/api/v1") == "venice"
    assert guess_dialect("https://not-venice.ai.example.com/v1") == "service"
    await add(settings_harness, tasks, dialect="venice")
    assert settings_harness.book.active.dialect == "venice"


async def test_testing_says_what_the_service_said(settings_harness, tasks):
    await add(settings_harness, tasks)
    account = settings_harness.book.active
    settings_harness.accounts.test(account.id)
    await tasks.idle()
    row = settings_harness.accounts.state.accounts[0]
    assert (row.test.outcome, row.test.sentence) == ("ok", "Key accepted")
    assert row.test.detail.endswith(" ms")


async def test_testing_without_a_key_says_so(settings_harness, tasks):
    await add(settings_harness, tasks)
    settings_harness.keychain.items.clear()
    settings_harness.accounts.test(settings_harness.book.active_id)
    await tasks.idle()
    assert settings_harness.accounts.state.accounts[0].test.outcome == "bad"
    assert len(settings_harness.asked) == 1


async def test_replacing_a_key_overwrites_the_old_one(settings_harness, tasks):
    await add(settings_harness, tasks)
    replaced: list[str] = []
    settings_harness.accounts.key_replaced.connect(replaced.append)
    settings_harness.accounts.replace_key(settings_harness.book.active_id, "  sk-test-another-key-1234 ")
    await tasks.idle()
    assert list(settings_harness.keychain.items.values()) == ["sk-test-another-key-1234"]
    assert settings_harness.accounts.state.secrets[0].hint == "ends in 1234"
    assert replaced == [settings_harness.book.active_id]


async def test_a_removed_accounts_key_stays_in_its_place_while_undo_restores_both(settings_harness, tasks):
    await add(settings_harness, tasks)
    account = settings_harness.book.active
    settings_harness.accounts.remove(account.id)
    await tasks.idle()
    assert settings_harness.book.list() == ()
    assert settings_harness.accounts.state.removed == "api.example.com"
    assert settings_harness.accounts.state.removed_wallets == ()
    await settings_harness.accounts.undo_remove()
    assert settings_harness.book.list() == (account,)
    assert list(settings_harness.keychain.items.values()) == [KEY]


async def test_the_key_of_a_removed_account_is_deleted_with_the_next_removal_and_at_quit(settings_harness, tasks):
    await add(settings_harness, tasks, name="First")
    await add(settings_harness, tasks, name="Second", key=KEY + "0")
    first, second = settings_harness.book.list()
    settings_harness.accounts.remove(first.id)
    await tasks.idle()
    assert len(settings_harness.keychain.items) == 2
    settings_harness.accounts.remove(second.id)
    await tasks.idle()
    assert list(settings_harness.keychain.items.values()) == [KEY + "0"]
    await settings_harness.accounts.removal.end()
    assert (settings_harness.keychain.items, settings_harness.book.removed()) == ({}, ())


async def test_removing_the_account_in_use_moves_on_to_another(settings_harness, tasks):
    await add(settings_harness, tasks, name="First")
    await add(settings_harness, tasks, name="Second")
    first, second = settings_harness.book.list()
    chosen: list[str] = []
    settings_harness.accounts.account_chosen.connect(chosen.append)
    settings_harness.accounts.remove(second.id)
    await tasks.idle()
    assert chosen == [first.id]


async def test_a_name_that_is_taken_is_refused_in_words(settings_harness, tasks):
    await add(settings_harness, tasks, name="First")
    await add(settings_harness, tasks, name="Second")
    settings_harness.accounts.rename(settings_harness.book.active_id, "first")
    await tasks.idle()
    assert settings_harness.accounts.state.problem == "Another account is already called first."


async def test_accounts_work_without_a_network(tasks, tmp_path):
    settings_harness = make_settings(tmp_path, tasks, unreachable)
    settings_harness.accounts.add(AccountDraft(ADDRESS, KEY, "Home"), unchecked=True)
    await tasks.idle()
    account = settings_harness.book.active
    settings_harness.accounts.rename(account.id, "Office")
    settings_harness.accounts.replace_key(account.id, KEY[::-1])
    await tasks.idle()
    settings_harness.accounts.use(account.id)
    await tasks.idle()
    assert (settings_harness.book.active.name, settings_harness.asked) == ("Office", [])


async def test_the_key_is_in_no_state_and_no_repr(settings_harness, tasks):
    await add(settings_harness, tasks)
    assert KEY not in repr(settings_harness.accounts.state)
    assert KEY not in repr(AccountDraft(ADDRESS, KEY))


async def test_a_redirect_to_another_host_gets_no_key(tasks, tmp_path):
    def elsewhere(request: httpx.Request) -> httpx.Response:
        if request.url.host == "evil.example.org":
            return accepted(request)
        return httpx.Response(302, headers={"Location": "https://evil.example.org/v1/api_keys/rate_limits"})

    settings_harness = make_settings(tmp_path, tasks, elsewhere)
    await add(settings_harness, tasks)
    assert all(
        "Authorization" not in call.headers for call in settings_harness.asked if call.url.host == "evil.example.org"
    )
    assert settings_harness.book.list() == ()


async def test_what_a_check_may_raise_has_words_for_the_form():
    from app.ui.settings.accounts.checking import refused as put_into_words

    kinds = [ServiceError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        form = put_into_words(kind("said"), 0)
        assert form.problems or form.sentence


@pytest.mark.parametrize("limit_class", ["partner", "staff"])
async def test_r_lim_10_r_lim_14_the_limits_of_an_account_are_chosen_and_kept(settings_harness, tasks, limit_class):
    await add(settings_harness, tasks)
    account = settings_harness.book.active
    chosen: list[str] = []
    settings_harness.accounts.account_chosen.connect(chosen.append)
    settings_harness.accounts.set_limit_class(account.id, limit_class)
    await tasks.idle()
    assert settings_harness.accounts.state.accounts[-1].limit_class == limit_class
    assert chosen == [account.id], "it is called again, with these limits"
    assert account_from(account_to(settings_harness.book.active)) == settings_harness.book.active
    settings_harness.accounts.set_limit_class(account.id, "paid")
    await tasks.idle()
    assert "limit_class" not in account_to(settings_harness.book.active)


def test_the_partner_of_an_older_file_is_still_one() -> None:
    account = Account("a", "Work", "https://service.test/v1")
    assert account_from({**account_to(account), "partner": True}) == account._replace(limit_class="partner")


async def test_each_private_key_of_a_wallet_is_a_row_with_export_and_remove(harness, settings, settings_harness, tasks):
    address = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
    kept = settings_harness.book.add(new_account("Rialto wallet", SANDBOX_ADDRESS, kind="wallet", address=address))
    settings_harness.book.add(new_account("Watched", SANDBOX_ADDRESS, kind="wallet", address=address, watch_only=True))
    await settings_harness.secrets.write(kept.id, "0x" + "11" * 32)
    settings_harness.accounts.refresh()
    settings.show_section("accounts")
    await tasks.idle()
    page = settings.page("accounts")
    assert "No keys are stored here" not in words(page.table)
    (row,) = settings_harness.accounts.state.secrets
    assert (row.what, row.belongs_to, row.is_wallet) == ("Private key", "Rialto wallet", True)
    asked: list[str] = []
    page.export_requested.connect(asked.append)
    names = [button.accessibleName() for button in page.table.findChildren(QAbstractButton)]
    assert names == ["Export the private key of Rialto wallet", "Remove the private key of Rialto wallet"]
    page.table.findChildren(QAbstractButton)[0].click()
    assert asked == [kept.id]
    settings_harness.accounts.remove_key(kept.id)
    await tasks.idle()
    assert [row.name for row in settings_harness.accounts.state.removed_wallets] == ["Rialto wallet"]
    assert settings_harness.book.get(kept.id).watch_only  # its address is still there to be looked at
    assert settings_harness.accounts.state.secrets == ()


async def test_once_it_is_known_where_keys_are_kept_enter_checks_the_key_that_was_typed(harness, tasks, tmp_path):
    bare = make_settings(tmp_path, tasks, missing=True)
    page = AccountsPage(harness.theme, bare.accounts, bare.secrets, tasks, UndoStack(tasks), lambda: None)
    harness.window.show_page(page)
    bare.secrets.refresh()
    await tasks.idle()
    page.open_form()
    form, question = page.form, page.question
    form.key.setFocus()
    QTest.mouseClick(question.for_session, Qt.MouseButton.LeftButton)
    QTest.mouseClick(question.do, Qt.MouseButton.LeftButton)
    await tasks.idle()
    assert not question.isVisible()
    assert harness.window.focusWidget() is form.connect_button

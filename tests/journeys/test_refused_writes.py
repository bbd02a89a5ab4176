"""What the disk refuses of accounts and keys is said once, nothing typed or kept is lost, and later it works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.bootstrap.rialto import Rialto
from app.credentials.accounts import Account, new_account
from app.ui.settings.accounts.presenter import AccountDraft
from app.ui.shell.welcome import WelcomePage
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS
from tests.journeys.test_paid_for_and_refused import offer, on_its_way
from tests.journeys.test_refusing_disk import READ_ONLY, allow, notices, refuse
from tests.journeys.test_wallet import control, in_the_sandbox
from tests.kit.waiting import LIMIT_S, until
from tests.read_only import read_only, vanished

Start = Callable[..., Any]
ADDRESS = "http://127.0.0.1:9/v1"  # nobody answers there
PRIVATE_KEY = "0x" + "11" * 32
PASSPHRASE = "four quiet herons wade"


def told(rialto: Rialto) -> list[str]:
    """Every place that says now what was refused."""
    accounts, place = rialto.accounts.state, rialto.places.state
    return [text for text in (*notices(rialto), accounts.problem, accounts.form.sentence, place.problem) if text]


def named(rialto: Rialto, name: str) -> Account | None:
    return next((each for each in rialto.account_services.accounts.list() if each.name == name), None)


def keys(rialto: Rialto) -> dict[str, Any]:
    """Every key that is kept for this session, with the account that it belongs to."""
    return {name[0]: secret for name, secret in rialto.places._all()[1]._secrets.items()}


def work(rialto: Rialto) -> Account:
    account = named(rialto, "Work") or named(rialto, "Office")
    assert account is not None
    return account


async def add_wallet(rialto: Rialto) -> str:
    wallet_keys = rialto.account_services.wallet_keys
    sandbox = rialto.account_services.sandbox_account()
    return await wallet_keys.attempt(wallet_keys.add_from_key("Pocket", PRIVATE_KEY, "evm", sandbox))


async def _begun(act: Callable[[], object]) -> str:
    act()
    return ""


@dataclass(frozen=True)
class Change:
    """`do` returns what a dialog would say of it, "" where it has none."""

    do: Callable[[Rialto], Awaitable[str]]
    is_done: Callable[[Rialto], bool]


CHANGES = {
    "a new account": Change(
        lambda r: _begun(
            lambda: r.accounts.add(AccountDraft(ADDRESS, "sk-another-key-0123456789", name="New"), unchecked=True)
        ),
        lambda r: named(r, "New") is not None and len(keys(r)) == 2,
    ),
    "a new wallet": Change(add_wallet, lambda r: named(r, "Pocket") is not None and len(keys(r)) == 2),
    "its removal": Change(
        lambda r: _begun(lambda: r.accounts.remove(work(r).id)),
        lambda r: named(r, "Work") is None and len(keys(r)) == 1,  # it is deleted when Rialto quits
    ),
    "the removal of its key": Change(
        lambda r: _begun(lambda: r.accounts.remove_key(work(r).id)),
        lambda r: work(r).secret_hint == "" and not keys(r),
    ),
    "its name": Change(
        lambda r: _begun(lambda: r.accounts.rename(work(r).id, "Office")), lambda r: work(r).name == "Office"
    ),
    "its pace": Change(
        lambda r: _begun(lambda: r.accounts.set_limit_class(work(r).id, "partner")),
        lambda r: work(r).limit_class == "partner",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_an_account_and_its_key_stay_as_they_were_when_the_disk_refuses_a_change(start: Start, name: str) -> None:
    change = CHANGES[name]
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account = rialto.account_services.accounts.add(new_account("Work", ADDRESS, secret_hint="6789"))
        await rialto.places.write(account.id, "sk-the-key-of-work-6789")
        await settled(rialto)
        await until(lambda: rialto.window.saver.is_done)  # else the disk refuses the settings as well
        before, kept = rialto.account_services.accounts.list(), keys(rialto)
        with vanished(rialto.paths.config):
            said = await change.do(rialto)
            await settled(rialto)
            assert not change.is_done(rialto)
            assert len([text for text in (said, *told(rialto)) if text]) == 1, (said, told(rialto))
            assert not rialto.accounts.state.form.busy and not rialto.accounts.state.removed
        assert rialto.account_services.accounts.list() == before
        assert keys(rialto) == kept
        assert await change.do(rialto) == ""
        await until(lambda: change.is_done(rialto))


async def test_an_account_that_was_removed_can_be_brought_back_after_the_disk_refused_that(start: Start) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account = rialto.account_services.accounts.add(new_account("Work", ADDRESS, secret_hint="6789"))
        await rialto.places.write(account.id, "sk-the-key-of-work-6789")
        rialto.window.show_tab("settings")
        rialto.window.tab("settings").show_section("accounts")
        undo_stack = rialto.window.undo_stack
        await settled(rialto)
        rialto.accounts.remove(account.id)
        await until(lambda: undo_stack.can_undo("settings"))
        with vanished(rialto.paths.config):
            assert undo_stack.undo_last("settings")
            await settled(rialto)
            assert named(rialto, "Work") is None and len(notices(rialto)) == 1
        assert undo_stack.undo_last("settings")  # it is offered again
        await until(lambda: named(rialto, "Work") is not None and keys(rialto))


@pytest.mark.parametrize("folder", ["data", "config"])
async def test_a_passphrase_file_that_the_disk_refuses_is_said_beside_its_field_and_made_afterwards(
    start: Start, folder: str
) -> None:
    async with start() as rialto:
        page = rialto.window.findChild(WelcomePage)
        form, question = page.form, page.question
        await until(lambda: rialto.places.state.ask == "choose")
        form.address.setText(ADDRESS)
        form.key.setText("sk-another-key-0123456789")
        question.in_file.click()
        question.passphrase.setText(PASSPHRASE)
        question.again.setText(PASSPHRASE)
        with read_only(getattr(rialto.paths, folder)):
            QTest.keyClick(question.again, Qt.Key.Key_Return)
            await settled(rialto)
            assert len(told(rialto)) == 1, told(rialto)
            assert not rialto.places.state.busy
            assert form.key.text() == "sk-another-key-0123456789"
            if folder == "data":
                assert rialto.places.state.ask == "choose" and question.again.text() == PASSPHRASE
        if folder == "data":
            QTest.keyClick(question.again, Qt.Key.Key_Return)
        await until(lambda: rialto.places.state.kind == "passphrase" and rialto.places.state.is_ready)


async def test_what_a_passphrase_file_on_a_refusing_disk_holds_stays_as_it_is(start: Start) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.places.keep_in_file(PASSPHRASE, PASSPHRASE)
        await until(lambda: rialto.places.state.kind == "passphrase")
        account = rialto.account_services.accounts.add(new_account("Work", ADDRESS))
        await rialto.places.write(account.id, "sk-the-key-of-work-6789")
        answers: list[tuple[str, str]] = []
        rialto.places.passphrase_answered.connect(lambda field, why: answers.append((field, why)))
        with read_only(rialto.paths.data):
            rialto.places.change_passphrase(PASSPHRASE, "five loud herons wade", "five loud herons wade")
            await until(lambda: answers)
            assert "failed" in answers[0][1]
            for act in (
                lambda: rialto.accounts.replace_key(account.id, "sk-another-key-0123456789"),
                lambda: rialto.accounts.remove_key(account.id),
            ):
                act()
                await settled(rialto)
                assert len(told(rialto)) == 1, told(rialto)
                assert await rialto.places.read(account.id) == "sk-the-key-of-work-6789"
                assert rialto.account_services.accounts.get(account.id) is not None
            rialto.accounts.add(AccountDraft(ADDRESS, "sk-another-key-0123456789", name="Second"), unchecked=True)
            await settled(rialto)
            assert "failed" in rialto.accounts.state.form.sentence and named(rialto, "Second") is None
        rialto.places.change_passphrase(PASSPHRASE, "five loud herons wade", "five loud herons wade")
        await until(lambda: len(answers) == 2)
        assert answers[1] == ("", "")
        rialto.accounts.replace_key(account.id, "sk-another-key-0123456789")
        await settled(rialto)
        assert await rialto.places.read(account.id) == "sk-another-key-0123456789"


async def test_the_receipt_of_a_paid_call_that_the_disk_refused_is_kept_with_the_next(
    start: Start, tmp_path: Path
) -> None:
    async def paid() -> int:
        rows = await rialto.database.fetch("SELECT 1 FROM receipts WHERE tab = 'chat' AND cost_usd > 0")
        return len(rows)

    async with start() as rialto:
        await in_the_sandbox(rialto)
        await PAID_ACTIONS["chat"].prepare(rialto, tmp_path)
        await settled(rialto)
        await control(rialto, "/faults/slow", "PUT", seconds=3)
        PAID_ACTIONS["chat"].begin(rialto)
        while not await on_its_way(rialto, "chat"):
            pass
        await refuse(rialto, READ_ONLY)
        await until(lambda: offer(rialto) is not None)
        await control(rialto, "/faults", "DELETE")
        await settled(rialto)
        assert await paid() == 0
        await allow(rialto)
        async with asyncio.timeout(LIMIT_S):
            while await paid() != 1:
                await rialto.account_services.switch.read_limits()  # costs nothing
                await settled(rialto)


async def test_the_receipt_that_the_disk_refused_is_kept_when_rialto_is_closed(start: Start, tmp_path: Path) -> None:
    async def paid(rialto: Rialto) -> int:
        rows = await rialto.database.fetch("SELECT 1 FROM receipts WHERE tab = 'chat' AND cost_usd > 0")
        return len(rows)

    async with start() as rialto:
        await in_the_sandbox(rialto)
        await PAID_ACTIONS["chat"].prepare(rialto, tmp_path)
        await settled(rialto)
        await control(rialto, "/faults/slow", "PUT", seconds=3)
        PAID_ACTIONS["chat"].begin(rialto)
        while not await on_its_way(rialto, "chat"):
            pass
        await refuse(rialto, READ_ONLY)
        await until(lambda: offer(rialto) is not None)
        await control(rialto, "/faults", "DELETE")
        await settled(rialto)
        assert await paid(rialto) == 0
        await allow(rialto)
    async with start() as rialto:
        await until(lambda: rialto.database is not None)
        assert await paid(rialto) == 1

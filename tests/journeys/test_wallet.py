"""The whole program as a wallet's owner uses it: limits in every tab, lack of credits in every tab, and going on."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto
from app.credentials.accounts import Account
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.wallet.page import WalletPage
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, problem_of
from tests.kit.settings import change_settings
from tests.kit.waiting import until


async def in_the_sandbox(rialto: Rialto) -> None:
    change_settings(rialto.settings, welcome_done=True)
    rialto.account_services.places.keep_for_session()
    rialto.accounts.use(rialto.account_services.sandbox_account().id)
    await until(lambda: rialto.current_account.service is not None and rialto.chat.head().model_id)


async def control(rialto: Rialto, path: str, method: str = "GET", /, **body: object) -> Any:
    origin = (await rialto.account_services.sandbox.start_and_tell()).rpartition("/api")[0]
    headers = {"Authorization": f"Bearer {rialto.account_services.sandbox.key}"}
    async with httpx.AsyncClient(timeout=60, headers=headers) as http:
        answer = await http.request(method, f"{origin}/sandbox{path}", json=body or None)
        assert answer.status_code == 200, answer.text
        return answer.json()


def wallet_page(rialto: Rialto) -> WalletPage:
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    return page


async def full_wallet(rialto: Rialto) -> Account:
    """Everybody's wallet: its key is public, and it holds play dollars."""
    faucet = (await control(rialto, "/faucet"))["wallet"]
    wallet_page(rialto)
    sandbox = rialto.account_services.sandbox_account()
    account = await rialto.account_services.wallet_keys.add_from_key(
        "Pocket wallet", faucet["private_key"], "evm", sandbox
    )
    rialto.accounts.refresh()
    return account


def question() -> Dialog | None:
    """The dialog that is open over the window."""
    found = QApplication.activeModalWidget()
    return found if isinstance(found, Dialog) else None


@pytest.mark.qt_log_ignore("pa_context_connect")  # there may be no sound server; nothing is heard here
async def test_no_tab_sends_what_goes_past_the_limit_of_a_single_call(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        wallet_page(rialto).presenter.set_limit("hard call", "0.0000001")
        before = (await control(rialto, "/state"))["balance"]
        for tab, action in PAID_ACTIONS.items():
            rialto.window.show_tab(tab)
            await action.prepare(rialto, tmp_path)
            action.begin(rialto)
            await until(lambda tab=tab: problem_of(rialto, tab) is not None, f"a problem in {tab}")
            problem = problem_of(rialto, tab)
            assert problem is not None
            assert "limit per request" in problem.sentence, tab
            assert problem.sentence.count("Nothing was sent") == 1, (tab, problem.sentence)
            assert problem.primary is not None, tab
            assert (problem.primary.id, problem.primary.text) == ("limits:call", "Change the limit…"), tab
            assert question() is None, "a limit that stops asks nothing"
            assert not action.done(rialto)
        assert (await control(rialto, "/state"))["balance"] == before
        rialto.help("limits:call")
        assert rialto.window.current_tab == "wallet"
        assert wallet_page(rialto).list.limits.hard.key == "hard call"


@pytest.mark.qt_log_ignore("pa_context_connect")
@pytest.mark.parametrize("tabs", [("chat", "speech"), ("transcription", "images"), ("crypto_rpc", "video")])
async def test_every_tab_goes_on_after_the_top_up_with_what_was_refused_for_lack_of_credits(
    start: Callable[..., Any], tmp_path: Path, tabs: tuple[str, ...]
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account = await full_wallet(rialto)
        rialto.accounts.use(account.id)
        await until(lambda: rialto.current_account.account == account and rialto.current_account.service is not None)
        for tab in tabs:
            action = PAID_ACTIONS[tab]
            await control(rialto, f"/wallets/{account.address}", "PUT", usd="0")
            rialto.window.show_tab(tab)
            await action.prepare(rialto, tmp_path)
            action.begin(rialto)
            await until(lambda tab=tab: problem_of(rialto, tab) is not None, f"a problem in {tab}")
            problem = problem_of(rialto, tab)
            assert problem is not None
            assert problem.primary is not None
            assert problem.primary.id.partition(":")[0] == "top-up", (tab, str(problem))
            rialto.help(problem.primary.id)
            await until(lambda: wallet_page(rialto).top_up_dialog is not None)
            named = problem.primary.text.removeprefix("Top up").strip(" $…")
            amount = wallet_page(rialto).top_ups.view.amount
            assert amount == Decimal(named or 5), "the dialog begins with what the button says"
            await pay(rialto)
            assert rialto.window.current_tab == tab
            await until(lambda action=action: action.done(rialto), f"{tab} going on")
            left = Decimal((await control(rialto, f"/wallets/{account.address}"))["usd"])
            assert 0 < left < amount, tab


async def test_a_question_that_came_back_by_itself_is_not_asked_again_when_the_top_up_closes(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account = await full_wallet(rialto)
        rialto.accounts.use(account.id)
        await until(lambda: rialto.current_account.account == account and rialto.current_account.service is not None)
        await control(rialto, f"/wallets/{account.address}", "PUT", usd="0")
        rialto.window.show_tab("chat")
        await PAID_ACTIONS["chat"].prepare(rialto, tmp_path)
        PAID_ACTIONS["chat"].begin(rialto)
        await until(lambda: problem_of(rialto, "chat") is not None)
        page = rialto.chat_page
        opened = page.presenter.opened
        again = page.retry_refused()
        assert again is not None
        await control(rialto, f"/wallets/{account.address}", "PUT", usd="5")
        await rialto.refresh()
        await until(lambda: PAID_ACTIONS["chat"].done(rialto), "the answer came by itself")
        await until(lambda: not page.running_work())
        answers = len(opened.thread.siblings(opened.thread.head_id or ""))
        again()
        await settled(rialto)
        await until(lambda: not page.running_work())
        assert len(opened.thread.siblings(opened.thread.head_id or "")) == answers == 1


async def pay(rialto: Rialto) -> None:
    """Walk through the top-up with the keyboard alone: the smallest amount, the first way, and Ctrl+Return."""
    page = wallet_page(rialto)
    await until(lambda: page.top_up_dialog is not None)
    for step in ("payment", "review", "done"):
        assert page.top_up_dialog is not None
        await until(lambda: page.top_up_dialog is not None and page.top_up_dialog.go.isEnabled())
        QTest.keyClick(page.top_up_dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        await until(
            lambda step=step: page.top_ups.view.step == step or page.top_ups.view.problem,
            lambda: str(page.top_ups.view),
        )
        assert page.top_ups.view.step == step, page.top_ups.view.problem
    QTest.keyClick(page.top_up_dialog, Qt.Key.Key_Escape)
    await until(lambda: page.top_up_dialog is None)


async def test_a_program_that_has_ended_locks_no_wallet_a_quarter_of_an_hour_later(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        wallet_page(rialto)
        clock = rialto.account_services.wallet_keys._clock
        assert clock.isActive()
    assert not clock.isActive()

"""One open service for each account: whoever calls for it shares its connections and its failure budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from decimal import Decimal

import pytest

from app.sandbox.http import connections as sandbox_http
from app.sandbox.http.connections import Request, Response
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.errors import PaymentRequired
from app.ui.settings.accounts.checking import check_key
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness

HELLO = ChatRequest("rialto-handbook", (ChatMessage("user", "How do I stop an answer?"),), max_completion_tokens=20)


@dataclass
class Traffic:
    """What reaches the API of the Sandbox: the connections that are open, all there were, and refusals by route."""

    open: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    """Ask for it before the Sandbox: it watches every connection from its start to its end."""
    seen = Traffic()

    class Watched(sandbox_http._Connection):
        def __init__(
            self,
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            handle: Callable[[Request], Awaitable[Response]],
            turns: object,
        ) -> None:
            self._port = writer.get_extra_info("peername")[1]

            async def watched(request: Request) -> Response:
                answer = await handle(request)
                if request.path.startswith("/api/"):
                    seen.open.add(self._port)
                    seen.used.add(self._port)
                    if answer.status >= 400:
                        seen.refused.append(request.path)
                return answer

            super().__init__(reader, writer, watched, turns)

        async def run(self) -> None:
            try:
                await super().run()
            finally:
                seen.open.discard(self._port)

    monkeypatch.setattr(sandbox_http, "_Connection", Watched)
    return seen


async def pay(wallet: WalletHarness, account_id: str) -> None:
    """Top up through the window, from the amount to the receipt."""
    account = wallet.book.get(account_id)
    assert account is not None
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    await wallet.leave(dialog)


async def test_r_err_12_a_top_up_of_the_account_in_use_opens_no_connection_and_counts_in_its_budget(
    traffic: Traffic, wallet: WalletHarness
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    await wallet.tasks.idle()
    service = wallet.current_account.service
    assert service is not None
    with pytest.raises(PaymentRequired):
        await service.chat.complete(HELLO)
    used, refused = set(traffic.used), len(traffic.refused)
    await pay(wallet, account.id)
    assert await service.chat.complete(HELLO)
    await wallet.tasks.idle()
    assert traffic.used == used
    assert len(traffic.refused) == refused + 3  # the terms are asked for three times, and a 402 names them
    assert service.client.limits.budget.state.failures == len(traffic.refused)
    assert Decimal((await wallet.wallet_state(account))["usd"]) > 7


async def test_a_top_up_of_another_account_takes_one_connection_until_it_is_closed(
    traffic: Traffic, wallet: WalletHarness
) -> None:
    account = await wallet.faucet_wallet()
    await wallet.tasks.idle()
    before = set(traffic.used)
    dialog = await wallet.review(account)
    dialog.go.click()
    await until(lambda: wallet.top_up.step == "done")
    (own,) = traffic.used - before
    assert own in traffic.open
    await wallet.leave(dialog)
    assert traffic.used - before == {own}
    await until(lambda: own not in traffic.open)


async def test_a_check_of_the_key_in_use_goes_over_its_open_connection(traffic: Traffic, wallet: WalletHarness) -> None:
    await wallet.tasks.idle()
    used = set(traffic.used)
    async with wallet.switch.service_of(wallet.sandbox_account) as service:
        assert service is wallet.current_account.service
        assert (await check_key(service)).permitted
    assert traffic.used == used
    assert wallet.current_account.service is service
    assert (await service.account.rate_limits()).access_permitted  # it was only lent


async def test_all_who_ask_at_once_get_the_same_service(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    async with wallet.switch.service_of(account) as one, wallet.switch.service_of(account) as two:
        assert one is two
    ready = asyncio.Barrier(2)

    async def ask() -> object:
        async with wallet.switch.service_of(account) as service:
            await ready.wait()
            return service

    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(ask()) for _ in range(2)]
    first, second = (each.result() for each in asking)
    assert first is second is not one


async def test_a_payment_on_its_way_is_not_cut_off_by_a_change_of_account(wallet: WalletHarness) -> None:
    """A service that somebody still holds is closed by the last who lets go."""
    account = await wallet.faucet_wallet()
    await wallet.use(account)
    async with wallet.switch.service_of(account) as service:
        await wallet.use(wallet.sandbox_account)
        assert await service.x402.balance(account.address)
        async with wallet.switch.service_of(account) as again:
            assert again is service
    async with wallet.switch.service_of(account) as later:
        assert later is not service
    assert await wallet.current_account.service.models.list()  # type: ignore[union-attr]  # the Sandbox is in use

"""What may have been charged counts until it is known, whatever became of the answer. Real sockets, a real Sandbox."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.core.receipt_recorder import FREE_AFTER_S, SETTLE_S
from app.core.tabs import tab_of
from app.sandbox.server import RunningSandbox
from app.service import pricing
from app.service.chat_types import ChatMessage, ChatRequest, ServiceParameters
from app.service.crypto_rpc import RpcItem
from app.service.errors import ServiceError, SpendingLimit
from app.service.idempotency_keys import new_idempotency_key
from app.service.images import ImageRequest
from app.service.models import Model
from app.service.service import Service
from app.service.speech import SpeechRequest
from app.storage.receipt_book import ReceiptBook, ReceiptFilter
from app.storage.receipt_sums import LocalZone
from app.storage.receipts import Receipt, Receipts, Spent
from app.ui.kit.theme import Theme
from app.ui.wallet.receipts_table import COST
from tests.kit.meddler import WAYS, Meddler, Way, meddling
from tests.kit.wallet import WalletHarness, open_wallet

QUESTION = "How do I stop an answer, and what does it cost? {id: 7, (a|b)}"


@dataclass
class Books:
    """A wallet tab whose calls pass a `Meddler`, and what the Sandbox took for them."""

    wallet: WalletHarness
    meddler: Meddler
    models: Mapping[str, Model] = field(default_factory=dict)

    @property
    def service(self) -> Service:
        service = self.wallet.current_account.service
        assert service is not None
        return service

    async def balance(self) -> Decimal:
        told = await self.wallet.control("/balance", "PUT")
        return Decimal(told["usd"]) + Decimal(told["diem"])

    async def counted(self) -> Spent:
        """What limits, Today and sums count, once every receipt is on the disk."""
        await self.wallet.tasks.idle()
        return await Receipts(self.wallet.database).spent_since(charged=False)

    async def receipts(self) -> tuple[Receipt, ...]:
        await self.wallet.tasks.idle()
        return tuple(each for each in await Receipts(self.wallet.database).recent() if each.endpoint[:4] == "POST")

    async def chat(self, *, stops_after: int | None = None, **more: object) -> None:
        request = ChatRequest("rialto-handbook", (ChatMessage("user", QUESTION),), **more)  # type: ignore[arg-type] # its own
        async with self.service.chat.stream(request, price=self.models["rialto-handbook"].chat_cost) as stream:
            count = 0
            async for _ in stream:
                count += 1
                if stops_after is not None and count > stops_after:
                    return

    async def search(self, **more: object) -> None:
        await self.chat(parameters=ServiceParameters(enable_web_search="on"), **more)  # type: ignore[arg-type] # the same

    async def picture(self) -> None:
        model = self.models["rialto-canvas"]
        price = pricing.image_cost(model.model_spec.pricing)
        await self.service.images.generate(ImageRequest(model.id, "a pier at dusk", variants=1), price_usd=price)

    async def speech(self) -> None:
        model = self.models["tts"]
        price = partial(pricing.speech_cost, model.model_spec.pricing)
        request = SpeechRequest("The tide turns at noon.", model.id, model.model_spec.voices[0])
        await self.service.speech.synthesize(request, price=price)

    async def vectors(self) -> None:
        model = self.models["embedding"]
        price = partial(pricing.embedding_cost, model.model_spec.pricing)
        await self.service.embeddings.embed(("The tide turns at noon.",), model.id, price=price)

    async def read(self) -> None:
        await self.service.crypto_rpc.call("base-mainnet", "eth_blockNumber")

    async def keyed(self) -> None:
        rpc = self.service.crypto_rpc
        items = [RpcItem("eth_chainId"), RpcItem("eth_getBalance", ("nobody",)), RpcItem("eth_gasPrice")]
        await rpc.send(rpc.prepare("base-mainnet", items, idempotency_key=new_idempotency_key()))

    @property
    def calls(self) -> dict[str, Callable[[], Awaitable[None]]]:
        kinds = (self.chat, self.search, self.picture, self.speech, self.vectors, self.read, self.keyed)
        return {each.__name__: each for each in kinds}


@asynccontextmanager
async def open_books(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Books]:
    home.mkdir(exist_ok=True)
    async with meddling(sandbox) as meddler, open_wallet(home, meddler, theme) as wallet:  # type: ignore[arg-type] # it is asked for its address
        books = Books(wallet, meddler)
        await wallet.control("/settings", "PUT", no_limits=True, tokens_per_second=0)
        lists = [await books.service.models.list(each) for each in ("text", "image", "tts", "embedding")]
        books.models = {each.id: each for each in (*lists[0], *lists[1])} | {
            "tts": lists[2][0],
            "embedding": lists[3][0],
        }
        wallet.current_account.set_numbers(models=lists[0])
        await wallet.tasks.idle()
        yield books


@pytest.fixture
async def books(tmp_path: Path, sandbox: RunningSandbox, theme: Theme, qapp: QApplication) -> AsyncIterator[Books]:
    async with open_books(tmp_path / "home", sandbox, theme) as books:
        yield books


@pytest.mark.parametrize("kind", ["chat", "search", "picture", "speech", "vectors", "read", "keyed"])
async def test_counted_is_never_less_than_charged_whatever_became_of_the_answer(books: Books, kind: str) -> None:
    call = books.calls[kind]
    for way in WAYS:
        before, counted = await books.balance(), (await books.counted()).usd
        books.meddler.way = way
        with suppress(ServiceError):
            await call()
        books.meddler.way = "pass"
        charged = before - await books.balance()
        grown = (await books.counted()).usd - counted
        assert grown >= charged, (way, grown, charged)
        if way in ("pass", "slow"):
            assert grown == charged > 0
        if way == "never" and kind not in ("read", "keyed"):  # those are sent again by themselves
            assert charged == 0


@pytest.mark.parametrize("kind", ["chat", "search", "picture", "speech"])
async def test_what_is_stopped_counts_as_much_as_it_may_cost(books: Books, kind: str) -> None:
    """While it is sent, and while the Sandbox has answered and nothing has arrived."""
    for waits_for_answer in (False, True):
        before, counted = await books.balance(), (await books.counted()).usd
        books.meddler.way = "slow"
        books.meddler.served.clear()
        task = asyncio.create_task(books.calls[kind]())  # type: ignore[arg-type] # a coroutine
        await (books.meddler.served.wait() if waits_for_answer else asyncio.sleep(0.05))
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await books.meddler.served.wait()
        charged = before - await books.balance()
        counted_after = await books.counted()
        assert counted_after.usd - counted >= charged > 0
        assert counted_after.possible > 0
        newest = (await books.receipts())[0]
        assert (newest.outcome, newest.cost_source) == ("stopped", "possible")


async def test_an_answer_that_is_stopped_half_way_counts_all_it_may_have_cost(books: Books) -> None:
    """A search that was asked for is charged, whether or not its results had come."""
    for stops_after in (0, 1, 3):
        before, counted = await books.balance(), (await books.counted()).usd
        await books.search(stops_after=stops_after)
        await asyncio.sleep(0.2)  # the Sandbox notices
        charged = before - await books.balance()
        assert (await books.counted()).usd - counted >= charged >= Decimal("0.01")


async def test_a_hard_limit_holds_although_every_answer_is_lost(books: Books) -> None:
    """Twelve images of a cent each: three may have been charged, and the fourth does not leave."""
    wallet, refused = books.wallet, 0
    wallet.presenter.set_limit("hard day", "0.03")
    before = await books.balance()
    books.meddler.way, books.meddler.keeps_on = "hang_up", True
    for _ in range(12):
        try:
            await books.picture()
        except SpendingLimit:
            refused += 1
        except ServiceError:
            pass
        await wallet.tasks.idle()
    books.meddler.way, books.meddler.keeps_on = "pass", False
    assert refused == 9
    assert before - await books.balance() == Decimal("0.03")
    assert (wallet.current_account.spent_today, wallet.current_account.possible_today) == (Decimal("0.03"),) * 2
    totals = await ReceiptBook(wallet.database).totals(ReceiptFilter(), LocalZone(), play=True)
    assert (totals.play_usd, totals.possible_play_usd, totals.spent_usd) == (Decimal("0.03"), Decimal("0.03"), 0)
    assert sum(totals.by_day.values()) == Decimal("0.03"), "the chart counts it"


async def test_what_may_have_been_charged_is_shown_as_up_to(books: Books) -> None:
    books.meddler.way = "hang_up"
    with suppress(ServiceError):
        await books.picture()
    await books.wallet.tasks.idle()
    books.wallet.receipts.reload()
    await books.wallet.tasks.idle()
    model = books.wallet.receipts_table.rows
    model.index(0, COST).data()
    await books.wallet.tasks.idle()
    assert model.index(0, COST).data() == "≤$0.01"
    assert "up to $0.01 in play money" in books.wallet.sums_text()
    overview = books.wallet.overview
    assert overview.sum.text().startswith("up to $0.01 in play money")
    chart, table, day = overview.chart, overview.table, len(books.wallet.receipts.totals.days) - 1
    assert chart.accessibleDescription().endswith("up to $0.01")
    chart.mark(day)
    assert chart.accessibleDescription().endswith("up to $0.01; Images up to $0.01")
    assert [table.item(day, column).text() for column in (1, 2)] == ["≤$0.01"] * 2
    assert [table.item(day + 1, column).text() for column in (1, 2)] == ["≤$0.01"] * 2
    assert "≤$0.01" in {label.text() for label in overview.legend.findChildren(QLabel)}


async def test_the_credits_of_lost_calls_to_chains_count(books: Books) -> None:
    rpc = books.service.crypto_rpc
    for way in ("hang_up", "half"):
        books.meddler.way = way  # type: ignore[assignment] # one of them
        with suppress(ServiceError):
            await books.read()
    await books.wallet.tasks.idle()
    lost = [each for each in await books.receipts() if each.cost_source == "possible"]
    most = rpc.prepare("base-mainnet", (RpcItem("eth_blockNumber"),)).most_credits
    assert lost
    assert all(each.units["credits"] >= most for each in lost)
    account = books.wallet.sandbox_account.id
    since = datetime.now(UTC) - timedelta(hours=24)
    counted = await Receipts(books.wallet.database).credits_since(since, account_id=account, tab=tab_of("crypto"))
    assert counted >= len(lost) * most


@pytest.mark.parametrize(
    ("way", "took", "wait_s"), [("hang_up", "0.01", SETTLE_S), ("half", "0.01", SETTLE_S), ("never", "0", FREE_AFTER_S)]
)
async def test_the_balance_tells_what_a_lost_call_took(books: Books, way: Way, took: str, wait_s: float) -> None:
    """The service books late, so that nothing is believed at once."""
    recorder, account = books.wallet.receipt_recorder, books.wallet.sandbox_account
    recorder.record_balance(account, await books.balance(), datetime.now(UTC))
    books.meddler.way = way
    with suppress(ServiceError):
        await books.picture()
    now = datetime.now(UTC)
    (lost,) = await books.receipts()
    assert (lost.cost_usd, lost.cost_source) == (Decimal("0.01"), "possible")
    for waited_s, source in ((1.0, "possible"), (wait_s - 1, "possible"), (wait_s + 1, "estimated")):
        recorder.record_balance(account, await books.balance(), now + timedelta(seconds=waited_s))
        await books.wallet.tasks.idle()
        found = await Receipts(books.wallet.database).for_exchange(lost.id)
        assert found is not None and found.cost_source == source
    assert found.cost_usd == Decimal(took)
    assert await books.counted() == Spent(Decimal(took), Decimal(0))
    assert books.wallet.current_account.spent_today == Decimal(took)


async def test_compare_tells_what_lost_calls_took(books: Books) -> None:
    before = await books.balance()
    for way, call in (
        ("pass", books.picture),
        ("hang_up", books.search),
        ("half", books.picture),
        ("head", books.chat),
    ):
        books.meddler.way = way  # type: ignore[assignment] # one of them
        with suppress(ServiceError):
            await call()
    assert (await books.counted()).possible > 0
    books.wallet.receipts.compare()
    charged = before - await books.balance()
    assert await books.counted() == Spent(charged, Decimal(0))
    assert books.wallet.verdict_text() == "All 4 charges match"


async def test_a_call_under_way_is_on_the_disk_before_it_leaves_and_interrupted_after_a_crash(books: Books) -> None:
    """What is on the disk while the Sandbox works is what a killed program leaves."""
    books.meddler.way = "slow"
    books.meddler.served.clear()
    task = asyncio.create_task(books.picture())
    await books.meddler.served.wait()
    receipts = Receipts(books.wallet.database)
    (left,) = [each for each in await receipts.recent() if each.outcome == "open"]
    assert (left.cost_usd, left.estimate_usd, left.endpoint) == (None, Decimal("0.01"), "POST /image/generate")
    (settled,) = await receipts.settle_after_start()
    assert (settled.id, settled.outcome, settled.cost_source) == (left.id, "cut", "possible")
    assert settled.cost_usd == Decimal("0.01")
    assert await receipts.settle_after_start() == ()
    await task
    assert (await books.counted()) == Spent(Decimal("0.01"), Decimal(0)), "the same receipt, once its cost is known"


async def test_a_call_that_never_left_has_no_receipt(books: Books) -> None:
    service = books.service
    await books.wallet.switch.aclose()
    with pytest.raises(ServiceError):
        await service.images.generate(ImageRequest("rialto-canvas", "x"), price_usd=Decimal("0.01"))
    assert await books.receipts() == ()


@pytest.mark.parametrize("seed", range(3))
async def test_fifty_mixed_calls_add_up_to_what_the_sandbox_booked(books: Books, seed: int) -> None:
    """To the last digit where every cost is known; never less where some are not."""
    chance, before = random.Random(seed), await books.balance()
    kinds = [*books.calls] * 8
    chance.shuffle(kinds)
    for kind in kinds[:50]:
        await books.calls[kind]()
    counted = await books.counted()
    assert counted == Spent(before - await books.balance(), Decimal(0))
    for kind in kinds[:10]:
        books.meddler.way = chance.choice([way for way in WAYS if way != "pass"])
        with suppress(ServiceError):
            await books.calls[kind]()
        books.meddler.way = "pass"
    total = await books.counted()
    assert total.usd >= before - await books.balance() >= total.usd - total.possible


async def test_two_accounts_a_crash_a_replay_and_a_cut_add_up_for_each_account(books: Books) -> None:
    """The sums of each account, of the day and of the chart, against what the Sandbox took from each."""
    wallet, receipts = books.wallet, Receipts(books.wallet.database)
    pocket = await wallet.faucet_wallet()
    await wallet.control(f"/wallets/{pocket.address}", "PUT", usd="10")

    async def pocket_left() -> Decimal:
        return Decimal((await wallet.wallet_state(pocket))["usd"])

    key_before, pocket_before = await books.balance(), await pocket_left()
    chance, meddled = random.Random(7), books.meddler.base_url
    for number in range(25):
        books.meddler.base_url = books.meddler.sandbox.base_url if number % 2 else meddled  # a sign-in names the host
        await wallet.use(pocket if number % 2 else wallet.sandbox_account)
        wallet.current_account.set_numbers(models=(books.models["rialto-handbook"],))
        await books.calls[chance.choice([*books.calls])]()
    rpc = books.service.crypto_rpc
    operation = rpc.prepare("base-mainnet", [RpcItem("eth_chainId")], idempotency_key=new_idempotency_key())
    first, again = await rpc.send(operation), await rpc.send(operation)
    assert (first.replayed, again.replayed, again.cost_usd) == (False, True, 0)

    async def taken() -> dict[str, Decimal]:
        return {
            wallet.sandbox_account.id: key_before - await books.balance(),
            pocket.id: pocket_before - await pocket_left(),
        }

    async def counted(account_id: str) -> Spent:
        await wallet.tasks.idle()
        return await receipts.spent_since(charged=False, account_id=account_id)

    for account_id, amount in (await taken()).items():
        assert await counted(account_id) == Spent(amount, Decimal(0)) and amount > 0
    books.meddler.way = "half"  # a cut
    with suppress(ServiceError):
        await books.chat()
    books.meddler.way = "slow"  # and a crash, while the Sandbox has answered and nothing has arrived
    books.meddler.served.clear()
    crashed = asyncio.create_task(books.picture())
    await books.meddler.served.wait()
    await receipts.settle_after_start()
    sums = {
        account_id: await receipts.spent_since(charged=False, account_id=account_id) for account_id in await taken()
    }
    for account_id, amount in (await taken()).items():
        assert sums[account_id].usd >= amount >= sums[account_id].usd - sums[account_id].possible
    total = await ReceiptBook(wallet.database).totals(ReceiptFilter(), LocalZone(), play=True)
    assert total.play_usd == sum(total.by_day.values()) == sum(each.usd for each in sums.values())
    await crashed

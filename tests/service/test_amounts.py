"""Whatever a service says of money, counts, durations and credits: nothing impossible counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service import amounts, pricing
from app.service.calls import MOST_IF_FREE_USD, TIMES_EXPECTED, Call
from app.service.chat_types import ChatMessage, ChatRequest, Usage
from app.service.crypto_rpc import RpcItem
from app.service.service import Service
from app.service.transcription import TranscriptionRequest
from app.service.video import VideoRequest
from tests.service.loopback import Watched
from tests.service.test_uploads import WAV

ODD = ["-1", "-1000000000", "NaN", "-Infinity", "1e300", "1e18", "-1e-300", "1e-300", "five", "", "0x10", "1_000"]
VALUES: list[object] = [*ODD, -1, -5, 10**30, -(10**9), 1e300, -0.5, True, None, [], {}, "0", 0, "1"]
EXPECTED = Decimal("0.01")  # USD, of every call here
values = st.sampled_from(VALUES) | st.integers() | st.floats() | st.text(max_size=8) | st.decimals().map(str)


@given(values)
def test_every_reader_gives_what_can_be_meant_or_nothing(value: object) -> None:
    read: dict[str, tuple[Decimal | int | None, Decimal | int]] = {
        "charge": (amounts.charge(value), amounts.MAX_CHARGE_USD),
        "count": (amounts.count(value), amounts.MAX_COUNT),
        "seconds": (amounts.seconds(value), amounts.MAX_SECONDS),
    }
    for name, (found, most) in read.items():
        assert found is None or 0 <= found <= most, name
    for found in (amounts.number(value), amounts.balance(value)):
        assert found is None or (found.is_finite() and abs(found) <= amounts.MAX_NUMBER)
    price = pricing.usd({"input": {"usd": value}}, "input")
    assert price is None or 0 <= price <= amounts.MAX_CHARGE_USD


async def expected(call: Call, exchange_id: str) -> Decimal | None:
    return EXPECTED


class Gated(Watched):
    """Every call is expected to cost a cent."""

    def __init__(self, handler: Callable[[httpx.Request], httpx.Response]) -> None:
        super().__init__(handler=handler)
        self.client._gate = expected


def price_of(usage: Usage | None) -> Decimal | None:
    return Decimal(usage.prompt + usage.completion) / 1000 if usage is not None else None


HI = ChatRequest("m", (ChatMessage("user", "hi"),))
Body = Callable[[object], object]


def chat(usage: object, cost: object = None) -> object:
    told = {"cost": cost} if cost is not None else {}
    return {"model": "m", "choices": [{"message": {"content": "Noon."}}], "usage": usage, **told}


@dataclass(frozen=True)
class Teller:
    """A call, and the answer in which one number is `value`."""

    ask: Callable[[Service, Path], object]
    body: Body = lambda _: {}
    header: str = ""


def transcribe(at: Service, wav: Path) -> object:
    def price(seconds: Decimal) -> Decimal:
        return seconds / 1000

    return at.transcription.transcribe(TranscriptionRequest(wav, "m"), price=price, seconds=Decimal(10))


def embed(at: Service, _: Path) -> object:
    return at.embeddings.embed(("x",), "m", price=lambda tokens: Decimal(tokens) / 1000)


def read_chain(at: Service, _: Path) -> object:
    return at.crypto_rpc.send(at.crypto_rpc.prepare("base-mainnet", [RpcItem("eth_chainId")]))


def complete(at: Service, _: Path) -> object:
    return at.chat.complete(HI, price=price_of)


VECTOR = [{"index": 0, "embedding": [0.5, 1.0]}]
RESULT = {"jsonrpc": "2.0", "id": 1, "result": "0x1"}
TELLERS = {
    "transcript duration": Teller(transcribe, lambda value: {"text": "x", "duration": value}),
    "prompt tokens": Teller(complete, lambda value: chat({"prompt_tokens": value, "completion_tokens": 5})),
    "completion tokens": Teller(complete, lambda value: chat({"prompt_tokens": 5, "completion_tokens": value})),
    "chat cost": Teller(complete, lambda value: chat({"prompt_tokens": 5, "completion_tokens": 5}, {"usd": value})),
    "chat credits": Teller(
        complete, lambda value: chat({"prompt_tokens": 5, "completion_tokens": 5}, {"usd": 0, "diem": value})
    ),
    "embedded tokens": Teller(embed, lambda value: {"data": VECTOR, "usage": {"prompt_tokens": value}}),
    "chain cost": Teller(read_chain, lambda _: RESULT, "x-service-rpc-cost-usd"),
    "chain credits": Teller(read_chain, lambda _: RESULT, "x-service-rpc-credits"),
}


@pytest.mark.parametrize("name", TELLERS)
async def test_what_is_impossible_is_unknown_and_the_expected_price_counts(name: str, tmp_path: Path) -> None:
    teller, wav = TELLERS[name], tmp_path / "tide.wav"
    wav.write_bytes(WAV)
    for value in VALUES:
        if teller.header and not isinstance(value, str):
            continue
        headers = {teller.header: str(value)} if teller.header else {}
        content = teller.body(value)
        async with Gated(lambda _, content=content, headers=headers: answer(content, headers)) as watched:  # type: ignore[misc] # bound
            await teller.ask(watched.service, wav)  # type: ignore[misc] # all of them are coroutines
            exchange = watched.exchange
        assert exchange.cost_usd is not None, value
        assert 0 <= exchange.cost_usd <= TIMES_EXPECTED * EXPECTED, value
        assert all(0 <= number <= amounts.MAX_COUNT for number in exchange.units.values()), value
        assert exchange.units.get("credits", 0) <= 80, value
        if value in ODD[:6] or value in (-1, -5, 10**30, -(10**9), 1e300):
            assert exchange.claimed, (value, exchange)
            assert exchange.cost_usd > 0, value


def answer(content: object, headers: dict[str, str]) -> httpx.Response:
    import json

    return httpx.Response(200, content=json.dumps(content), headers={"content-type": "application/json", **headers})


@pytest.mark.parametrize("value", VALUES)
async def test_a_quote_that_cannot_be_meant_is_no_price(value: object) -> None:
    async with Watched(handler=lambda _: answer({"quote": value}, {})) as watched:
        quote = await watched.service.video.quote(VideoRequest("m", "x", "5s"))
    assert quote is None or 0 <= quote <= amounts.MAX_CHARGE_USD
    assert (quote is None) is (value not in ("0", 0, "1", "1_000"))


@pytest.mark.parametrize(("cost", "counts"), [("0.99", "0.99"), ("1.01", "0.01"), ("-0.01", "0.01"), ("0", "0")])
async def test_a_cost_is_believed_up_to_a_hundred_times_what_was_expected(cost: str, counts: str) -> None:
    content = chat({"prompt_tokens": 5, "completion_tokens": 5}, {"usd": cost})
    async with Gated(lambda _: answer(content, {})) as watched:
        await watched.service.chat.complete(HI)
    assert watched.exchange.cost_usd == Decimal(counts)
    assert watched.exchange.cost_source == ("stated" if cost == counts else "possible")
    assert bool(watched.exchange.claimed) is (cost != counts)
    assert MOST_IF_FREE_USD == 1


async def test_an_answer_whose_tokens_were_not_counted_is_not_free() -> None:
    async with Gated(lambda _: answer(chat({"prompt_tokens": 0, "completion_tokens": 0}), {})) as watched:
        await watched.service.chat.complete(HI, price=price_of)
    assert (watched.exchange.cost_usd, watched.exchange.cost_source) == (EXPECTED, "possible")

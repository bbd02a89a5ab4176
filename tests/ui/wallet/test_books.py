"""The books are whole: every call that the Sandbox bills has a price before and the same cost after, in every place.

The walk makes every call of the service layer, several at a time, and holds what Rialto says against the Sandbox's own
ledger, to the last digit. A resource with a new call turns it red until the call is in one of the two tables.
"""

from __future__ import annotations

import asyncio
import csv
import inspect
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.credentials.accounts import Account
from app.sandbox.media.sound import encode
from app.sealed.chain import Root
from app.service.api_keys import KeyTerms
from app.service.chat_types import ChatMessage, ChatRequest, ServiceParameters
from app.service.crypto_rpc import RpcItem
from app.service.errors import ContentRefused
from app.service.images import EditRequest, ImageRequest
from app.service.models import Model
from app.service.pricing import (
    UPSCALE_USD,
    clone_cost,
    edit_cost,
    embedding_cost,
    image_cost,
    speech_cost,
    transcription_cost,
)
from app.service.sealed.resource import Attestation, SealedSession
from app.service.service import Service
from app.service.speech import SpeechRequest
from app.service.transcription import TranscriptionRequest
from app.service.video import QueuedVideo, VideoRequest
from app.storage.receipts import Receipts
from tests.kit.wallet import WalletHarness
from tests.sandbox.test_voices import sample

pytestmark = pytest.mark.usefixtures("heard_once")
VIDEO = VideoRequest("rialto-reel-text-to-video", "a boat at sunset", "3s")
PICTURE = ImageRequest("rialto-canvas", "a boat", width=256, height=256, format="png")
BACKGROUND_USD = Decimal("0.02")
AT_ONCE = 4  # a wallet may have five on their way


@dataclass
class Walk:
    """What the calls need: the service in use, its price list, and a folder."""

    service: Service
    models: dict[str, Model]
    folder: Path
    account: Account
    control: Callable[..., Awaitable[Any]]  # of the Sandbox
    made: dict[str, Any] = field(default_factory=dict)

    def pricing(self, model_id: str) -> dict[str, object] | None:
        return self.models[model_id].model_spec.pricing

    def asking(self, text: str, **parameters: object) -> ChatRequest:
        extension = ServiceParameters(**parameters)  # type: ignore[arg-type]  # names of real fields
        return ChatRequest("rialto-handbook", (ChatMessage("user", text),), extension)

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


async def streamed(walk: Walk) -> None:
    async with walk.service.chat.stream(walk.asking("How do I record with a microphone?")) as stream:
        async for _ in stream:
            pass


async def sealed(walk: Walk) -> None:
    session = SealedSession(await attested(walk))
    question = ChatRequest(session.model, (ChatMessage("user", "How do I record with a microphone?"),))
    async with walk.service.sealed.stream(question, session) as stream:
        async for _ in stream:
            pass
    walk.made["sealed"] = stream


async def attested(walk: Walk) -> Attestation:
    root = await walk.control("/sealed/root")
    return await walk.service.sealed.attest("rialto-sealed", root=Root(root["sha256"], root["name"]))


async def spoken(walk: Walk, *, stream: bool) -> None:
    request = SpeechRequest("The tide turns at noon.", "tts-kokoro", "af_sky", "wav")
    speech, pricing = walk.service.speech, walk.pricing("tts-kokoro")
    if not stream:
        await speech.synthesize(request, price=lambda count: speech_cost(pricing, count))
        return
    async with speech.stream(request, price=lambda count: speech_cost(pricing, count)) as sound:
        async for _ in sound:
            pass


async def transcribed(walk: Walk, response_format: str) -> None:
    hiss = np.random.default_rng(1).normal(0, 3000, 8_000).astype(np.int16)
    path = walk.file(f"hiss-{response_format}.wav", encode(hiss, 16_000, "wav"))
    pricing = walk.pricing("stt-xai-v1")
    await walk.service.transcription.transcribe(
        TranscriptionRequest(path, "stt-xai-v1", response_format),
        price=lambda seconds: transcription_cost(pricing, seconds),
        seconds=Decimal("0.5"),
    )


async def edited(walk: Walk, images: int) -> None:
    price = edit_cost(walk.pricing("firered-image-edit"), inputs=images)
    request = EditRequest("firered-image-edit", "make it night", (walk.made["picture"],) * images)
    await walk.service.images.edit(request, price_usd=price)


async def embedded(walk: Walk) -> None:
    pricing = walk.pricing("text-embedding-bge-m3")
    await walk.service.embeddings.embed(
        ("tide", "bread"), "text-embedding-bge-m3", price=lambda tokens: embedding_cost(pricing, tokens)
    )


async def queued(walk: Walk) -> None:
    quoted = await walk.service.video.quote(VIDEO)
    walk.made["job"] = (await walk.service.video.queue(VIDEO, quoted_usd=quoted)).job


async def refused(walk: Walk) -> None:
    """A video that is stopped while it is made: what it cost comes back."""
    order = VideoRequest("rialto-reel-text-to-video", "a boat sandbox-violation", "3s")
    quoted = await walk.service.video.quote(order)
    job = (await walk.service.video.queue(order, quoted_usd=quoted)).job
    with pytest.raises(ContentRefused):
        while True:
            await walk.service.video.retrieve(job, walk.folder / "refused.mp4", background=False, paid_usd=quoted)
            await walk.control("/clock", "PUT", offset_s=10)


async def batch(walk: Walk) -> None:
    rpc = walk.service.crypto_rpc
    await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_chainId"), RpcItem("eth_getBalance", ["x"])]))


async def replayed(walk: Walk) -> None:
    rpc = walk.service.crypto_rpc
    operation = rpc.prepare("base-mainnet", [RpcItem("eth_blockNumber")], idempotency_key="one-thing")
    await rpc.send(operation)
    await rpc.send(operation)


async def cloned(walk: Walk) -> None:
    path = walk.file("me.wav", sample())
    await walk.service.voices.clone(path, "tts-chatterbox-hd", price_usd=clone_cost(walk.pricing("tts-chatterbox-hd")))


Act = Callable[[Walk], Awaitable[Any]]
# What the Sandbox bills, by the method that asks for it. Several ways of asking stand in one list.
PAID: dict[str, list[Act]] = {
    "chat.complete": [
        lambda walk: walk.service.chat.complete(walk.asking("How do I stop an answer?")),
        lambda walk: walk.service.chat.complete(walk.asking("What is a receipt?", enable_web_search="on")),
    ],
    "chat.stream": [streamed],
    "sealed.stream": [sealed],
    "speech.stream": [lambda walk: spoken(walk, stream=True)],
    "speech.synthesize": [lambda walk: spoken(walk, stream=False)],
    "voices.clone": [cloned],
    "transcription.transcribe": [lambda walk: transcribed(walk, "json"), lambda walk: transcribed(walk, "text")],
    "images.generate": [
        lambda walk: walk.service.images.generate(PICTURE, price_usd=image_cost(walk.pricing("rialto-canvas")))
    ]
    * 4,
    "images.edit": [lambda walk: edited(walk, 1), lambda walk: edited(walk, 2)],
    "images.upscale": [
        lambda walk: walk.service.images.upscale(walk.made["picture"], scale=2, price_usd=UPSCALE_USD[2]),
    ],
    "images.remove_background": [
        lambda walk: walk.service.images.remove_background(walk.made["picture"], price_usd=BACKGROUND_USD)
    ],
    "embeddings.embed": [embedded],
    "video.queue": [queued, refused],
    "crypto_rpc.call": [lambda walk: walk.service.crypto_rpc.call("ethereum-mainnet", "eth_chainId")],
    "crypto_rpc.send": [batch, replayed],
}


async def kept_key(walk: Walk) -> None:
    made = await walk.service.api_keys.make("INFERENCE", KeyTerms("for a test"))
    await walk.service.api_keys.revoke(made.id)


async def job_seen(walk: Walk) -> None:
    job: QueuedVideo = walk.made["job"]
    await walk.service.video.retrieve(job, walk.folder / "film.mp4")


# What is free, with a call of each that a key can make; None for what a wallet, a payment or another host answers.
FREE: dict[str, Act | None] = {
    "models.list": lambda walk: walk.service.models.list("all"),
    "models.one": lambda walk: walk.service.models.one("tts-kokoro"),
    "characters.search": lambda walk: walk.service.characters.search(),
    "characters.page": lambda walk: walk.service.characters.page(),
    "characters.one": None,
    "characters.reviews": None,
    "account.rate_limits": lambda walk: walk.service.account.rate_limits(),
    "account.limit_log": lambda walk: walk.service.account.limit_log(),
    "api_keys.list_all": lambda walk: walk.service.api_keys.list_all(),
    "api_keys.make": kept_key,
    "api_keys.change": None,
    "api_keys.revoke": None,
    "billing.balance": lambda walk: walk.service.billing.balance(),
    "billing.usage": lambda walk: walk.service.billing.usage(),
    "billing.export_usage": lambda walk: walk.service.billing.export_usage(walk.folder / "usage.csv"),
    "billing.analytics": lambda walk: walk.service.billing.analytics(date(2026, 3, 1), date(2026, 3, 1)),
    "crypto_rpc.networks": lambda walk: walk.service.crypto_rpc.networks(),
    "images.styles": lambda walk: walk.service.images.styles(),
    "video.quote": lambda walk: walk.service.video.quote(VIDEO),
    "video.retrieve": job_seen,
    "video.download": None,
    "video.revoke": None,
    "video.complete": None,
    "sealed.attest": attested,
    "sealed.receipt": None,
    "x402.top_up_requirements": lambda walk: walk.service.x402.top_up_requirements(),
    "x402.settle": None,
    "x402.newest_block": None,
    "x402.balance": None,
    "x402.transactions": None,
}


def calls_of_the_service() -> set[str]:
    """Every method of every resource that sends something."""
    found = set()
    for name, hint in inspect.get_annotations(Service.__init__).items():
        assert name in ("client", "return"), hint
    resources = {name: value for name, value in vars(Service).items() if isinstance(value, cached_property)}
    kinds: dict[str, type] = {name: _resource_of(value.func) for name, value in resources.items()}
    made = Service.__new__(Service)
    Service.__init__(made, _NoClient())  # type: ignore[arg-type]  # nothing is sent
    kinds |= {name: type(value) for name, value in vars(made).items() if name not in ("client", *resources)}
    for name, kind in kinds.items():
        for method, code in vars(kind).items():
            if not method.startswith("_") and (inspect.iscoroutinefunction(code) or method == "stream"):
                found.add(f"{name}.{method}")
    return found


class _NoClient:
    """Enough of a client to make resources of it."""

    def __getattr__(self, _name: str) -> Any:
        return _NoClient()


def _resource_of(make: Callable[[Any], object]) -> type:
    made = Service.__new__(Service)
    made.client = _NoClient()  # type: ignore[assignment]
    return type(make(made))


def test_every_call_of_the_service_layer_is_known_as_paid_or_as_free() -> None:
    """A new call goes into `PAID`, with a price, or into `FREE`."""
    assert calls_of_the_service() == PAID.keys() | FREE.keys()
    assert not PAID.keys() & FREE.keys()


async def in_turns(walk: Walk, acts: Iterable[Act]) -> None:
    left = list(acts)
    while left:
        some, left = left[:AT_ONCE], left[AT_ONCE:]
        async with asyncio.TaskGroup() as group:
            for act in some:
                group.create_task(act(walk))  # type: ignore[arg-type]  # a coroutine, each of them


async def begin(wallet: WalletHarness, account: Account, folder: Path) -> Walk:
    assert wallet.current_account.service is not None
    models = await wallet.current_account.service.models.list("all")
    wallet.current_account.set_numbers(models=tuple(model for model in models if model.type == "text"))

    walk = Walk(wallet.current_account.service, {model.id: model for model in models}, folder, account, wallet.control)
    (image,) = (await walk.service.images.generate(PICTURE, price_usd=Decimal("0.01"))).pictures
    walk.made["picture"] = image.data
    return walk


async def booked(wallet: WalletHarness) -> tuple[Decimal, dict[str, Decimal]]:
    """What the Sandbox's log says it took, in all and by path; and it is what its ledger took."""
    lines = (await wallet.control("/log"))["data"]
    by_path: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        by_path[line["path"].removeprefix("/api/v1")] += Decimal(line["cost_usd"])
    by_path = {path: cost for path, cost in by_path.items() if cost}
    return sum(by_path.values(), Decimal(0)), by_path


@pytest.mark.parametrize("kind", ["key", "key with daily credits", "wallet"])
async def test_all_that_the_sandbox_bills_is_the_same_sum_in_every_place(
    wallet: WalletHarness, tmp_path: Path, kind: str
) -> None:
    account, usd, diem = wallet.sandbox_account, Decimal(100), Decimal(0)
    if kind == "wallet":
        account, usd = await wallet.faucet_wallet(), Decimal(50)
        await wallet.control(f"/wallets/{account.address}", "PUT", usd="50")
        await wallet.use(account)
    elif kind == "key with daily credits":
        diem = Decimal("0.3333")
        await wallet.control("/balance", "PUT", diem=str(diem))
    walk = await begin(wallet, account, tmp_path)
    await in_turns(walk, [act for acts in PAID.values() for act in acts])
    await wallet.tasks.idle()
    billed, by_path = await booked(wallet)
    assert billed > Decimal("0.2")
    # receipts: a price before, the same cost after
    kept = [each for each in await Receipts(wallet.database).recent(1_000, account_id=account.id) if each.cost_usd]
    ours: dict[str, Decimal] = defaultdict(Decimal)
    for receipt in kept:
        ours[receipt.endpoint.removeprefix("POST ")] += receipt.cost_usd or Decimal(0)
    assert dict(ours) == by_path
    for receipt in kept:
        if receipt.endpoint == "POST /video/retrieve":  # money back
            assert receipt.cost_usd is not None and receipt.cost_usd < 0
            continue
        assert receipt.estimate_usd is not None, receipt
        assert receipt.cost_usd is not None and receipt.cost_usd <= receipt.estimate_usd, receipt
    assert {f"POST {path}" for path in by_path} == {receipt.endpoint for receipt in kept}
    # balance, Today, limits
    left = await service_balance(wallet, account)
    assert wallet.current_account.balance == left == usd - max(Decimal(0), billed - diem)
    assert wallet.current_account.spent_today == billed
    tabs = {receipt.tab for receipt in kept}
    assert await wallet.spending_limits.spent("day", account) == await wallet.spending_limits.spent(
        f"account {account.id}", account
    )
    assert await wallet.spending_limits.spent("day", account) == billed
    assert sum([await wallet.spending_limits.spent(f"tab {tab}", account) for tab in tabs], Decimal(0)) == billed
    # chart, its headline, export
    wallet.receipts.reload()
    await wallet.tasks.idle()
    totals = wallet.receipts.totals
    assert totals.play == sum((amount for *_, amount in totals.by_day), Decimal(0)) == billed
    wallet.receipts.export(tmp_path / "book.csv")
    await wallet.tasks.idle()
    with (tmp_path / "book.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert sum((Decimal(line["cost_usd"] or 0) for line in lines), Decimal(0)) == billed
    # the service's own book
    wallet.press_compare()
    await wallet.tasks.idle()
    assert wallet.verdict_text() == f"All {len(kept)} charges match", [
        line for line in wallet.compared_lines() if "Matches" not in line[-1]
    ]


async def service_balance(wallet: WalletHarness, account: Account) -> Decimal:
    if account.kind == "wallet":
        return Decimal((await wallet.wallet_state(account))["usd"])
    return Decimal((await wallet.control("/state"))["balance"]["usd"])


async def test_a_price_that_the_service_does_not_publish_is_read_from_the_balance_afterwards(
    wallet: WalletHarness, tmp_path: Path
) -> None:
    walk = await begin(wallet, wallet.sandbox_account, tmp_path)
    path = walk.file("me.wav", sample())
    await walk.service.voices.clone(path, "tts-chatterbox-hd")
    await wallet.tasks.idle()
    (receipt, *_) = (
        each for each in await Receipts(wallet.database).recent(20) if each.endpoint == "POST /audio/voices"
    )
    assert (receipt.cost_usd, receipt.cost_source) == (Decimal("0.05"), "estimated")
    billed, _ = await booked(wallet)
    assert (
        wallet.current_account.spent_today
        == await wallet.spending_limits.spent("day", wallet.sandbox_account)
        == billed
    )
    assert wallet.current_account.balance == 100 - billed


async def test_what_is_known_as_free_costs_nothing(wallet: WalletHarness, tmp_path: Path) -> None:
    walk = await begin(wallet, wallet.sandbox_account, tmp_path)
    await queued(walk)
    await wallet.tasks.idle()
    before = await service_balance(wallet, wallet.sandbox_account)
    for name, act in FREE.items():
        if act is not None:
            await act(walk)
            assert await service_balance(wallet, wallet.sandbox_account) == before, name
    await wallet.tasks.idle()
    assert wallet.current_account.balance == before

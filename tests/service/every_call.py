"""One way to make each call that the service layer offers, under the name of its method."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Protocol, TypeVar

from app.service.api_keys import ApiKey, KeyTerms
from app.service.chat_types import ChatMessage, ChatRequest
from app.service.crypto_rpc import RpcItem
from app.service.images import EditRequest, ImageRequest
from app.service.service import Service
from app.service.speech import SpeechRequest
from app.service.transcription import TranscriptionRequest
from app.service.video import QueuedVideo, VideoRequest
from tests.kit.sealed import ended_stream, session_of

T = TypeVar("T", covariant=True)
Ask = Callable[[Service, Path], Awaitable[object]]
HI = ChatRequest("m", (ChatMessage("user", "hi"),))
SAY = SpeechRequest("The tide turns at noon.", "m", "v")
VIDEO = QueuedVideo(model="m", queue_id="q", download_url="https://elsewhere.test/film")
WALLET = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
PAYMENT = "e30="
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


class Stream(Protocol[T]):
    async def __aenter__(self) -> AsyncIterator[T]: ...

    async def __aexit__(self, *problem: object) -> None: ...


async def drained(stream: Stream[object]) -> list[object]:
    async with stream as steps:
        return [step async for step in steps]


# The path is a WAV file that is there; what is saved lands beside it.
CALLS: dict[str, Ask] = {
    "chat.complete": lambda at, _: at.chat.complete(HI),
    "chat.stream": lambda at, _: drained(at.chat.stream(HI)),
    "speech.synthesize": lambda at, _: at.speech.synthesize(SAY),
    "speech.stream": lambda at, _: drained(at.speech.stream(SAY)),
    "voices.clone": lambda at, wav: at.voices.clone(wav, "m"),
    "transcription.transcribe": lambda at, wav: at.transcription.transcribe(TranscriptionRequest(wav, "m")),
    "images.generate": lambda at, _: at.images.generate(ImageRequest("m", "x")),
    "images.edit": lambda at, _: at.images.edit(EditRequest("m", "x", (PNG,))),
    "images.upscale": lambda at, _: at.images.upscale(PNG),
    "images.remove_background": lambda at, _: at.images.remove_background(PNG),
    "images.styles": lambda at, _: at.images.styles(),
    "embeddings.embed": lambda at, _: at.embeddings.embed(("x",), "m"),
    "video.quote": lambda at, _: at.video.quote(VideoRequest("m", "x", "5s")),
    "video.queue": lambda at, _: at.video.queue(VideoRequest("m", "x", "5s")),
    "video.retrieve": lambda at, wav: at.video.retrieve(VIDEO, wav.with_suffix(".mp4")),
    "video.download": lambda at, wav: at.video.download(VIDEO, wav.with_suffix(".mp4")),
    "video.revoke": lambda at, _: at.video.revoke(VIDEO),
    "video.complete": lambda at, _: at.video.complete(VIDEO),
    "crypto_rpc.call": lambda at, _: at.crypto_rpc.call("base-mainnet", "eth_call"),
    "crypto_rpc.send": lambda at, _: at.crypto_rpc.send(
        at.crypto_rpc.prepare("base-mainnet", [RpcItem("eth_call"), RpcItem("eth_chainId")])
    ),
    "crypto_rpc.networks": lambda at, _: at.crypto_rpc.networks(),
    "characters.one": lambda at, _: at.characters.one("x"),
    "characters.search": lambda at, _: at.characters.search(),
    "characters.page": lambda at, _: at.characters.page(),
    "characters.reviews": lambda at, _: at.characters.reviews("x"),
    "models.list": lambda at, _: at.models.list(),
    "models.one": lambda at, _: at.models.one("m"),
    "api_keys.list_all": lambda at, _: at.api_keys.list_all(),
    "api_keys.make": lambda at, _: at.api_keys.make("INFERENCE", KeyTerms("x")),
    "api_keys.change": lambda at, _: at.api_keys.change(ApiKey(id="x"), KeyTerms("y")),
    "api_keys.revoke": lambda at, _: at.api_keys.revoke("x"),
    "account.rate_limits": lambda at, _: at.account.rate_limits(),
    "account.limit_log": lambda at, _: at.account.limit_log(),
    "billing.balance": lambda at, _: at.billing.balance(),
    "billing.usage": lambda at, _: at.billing.usage(),
    "billing.export_usage": lambda at, wav: at.billing.export_usage(wav.with_suffix(".csv")),
    "billing.analytics": lambda at, _: at.billing.analytics(date(2026, 3, 1), date(2026, 3, 1)),
    "sealed.attest": lambda at, _: at.sealed.attest("m"),
    "sealed.stream": lambda at, _: drained(at.sealed.stream(HI, session_of(at))),
    "sealed.receipt": lambda at, _: at.sealed.receipt(ended_stream(at)),
    "x402.balance": lambda at, _: at.x402.balance(WALLET),
    "x402.transactions": lambda at, _: at.x402.transactions(WALLET),
    "x402.top_up_requirements": lambda at, _: at.x402.top_up_requirements(),
    "x402.settle": lambda at, _: at.x402.settle(PAYMENT),
    "x402.newest_block": lambda at, _: at.x402.newest_block(f"{at.client.base_url}/solana"),
}
WITHOUT_CREDENTIALS = (
    *("video.download", "video.revoke", "x402.top_up_requirements", "x402.settle"),
    "x402.newest_block",
    *("sealed.attest", "sealed.receipt"),
)

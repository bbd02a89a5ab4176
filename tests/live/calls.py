"""The cheapest call of every endpoint, and what it costs at most."""

from __future__ import annotations

import math
import wave
from array import array
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from app.service.api_keys import KeyTerms
from app.service.chat_types import ChatMessage, ChatRequest, Usage
from app.service.errors import ServiceError
from app.service.images import EditRequest, ImageRequest
from app.service.models import Model
from app.service.pricing import (
    UPSCALE_USD,
    chat_cost,
    edit_cost,
    embedding_cost,
    image_cost,
    speech_cost,
    transcription_cost,
)
from app.service.service import Service
from app.service.speech import SpeechRequest
from app.service.transcription import TranscriptionRequest
from app.service.video import VideoRequest, VideoState

TEXT = "Hi."
MOST_TOKENS = 200  # of an answer, reasoning included
QUOTED_VIDEOS = 5  # so many models are asked for a price
RATE_HZ = 16_000
LOOKS, LOOK_S = 240, 5.0  # at a video that is made


@dataclass
class LiveRun:
    """What the calls need. `today` is a fixed day, so that a recording is asked the same again."""

    service: Service
    folder: Path
    today: date
    models: tuple[Model, ...] = ()
    made: dict[str, Any] = field(default_factory=dict)  # what a call gives to later ones
    price: Decimal = Decimal(0)  # of the call that is made, for those whose response does not state it


Make = Callable[[LiveRun, str], Awaitable[object]]  # the run, and the id of the model
Cost = Callable[[Model], Decimal | None]


class LiveCall(NamedTuple):
    name: str  # of the methods
    make: Make
    usd: Decimal = Decimal(0)  # at most
    model: str = ""


async def read_models(run: LiveRun) -> None:
    """Read the models, and ask for the price of a video by a few of them. All of it is free."""
    run.models = await run.service.models.list("all")
    quotes: list[tuple[Decimal, str, VideoRequest]] = []
    for model in [each for each in run.models if each.type == "video" and not each.offline][:QUOTED_VIDEOS]:
        durations = model.model_spec.constraints.get("durations")
        duration = str(durations[0]) if isinstance(durations, list) and durations else "5s"
        wanted = VideoRequest(model.id, "A boat at noon.", duration)
        try:
            usd = await run.service.video.quote(wanted)
        except ServiceError:
            continue  # such as one that needs an image
        if usd is not None:
            quotes.append((usd, model.id, wanted))
    run.made["quote"] = min(quotes, key=lambda each: each[0], default=None)


def planned(run: LiveRun, most_usd: Decimal) -> tuple[list[LiveCall], list[str]]:
    """Return the calls in their order, whose prices stay below `most_usd` together, and why others are left out."""
    calls, left_out = list(FREE), []
    wanted = [(name, _cheapest(run.models, kind, cost), make) for name, kind, cost, make in WITH_A_MODEL]
    wanted += [(name, (usd, ""), make) for name, usd, make in WITHOUT_A_MODEL]
    quote = run.made["quote"]
    wanted.append(("video.queue, .retrieve, .complete", quote and (quote[0], quote[1]), _film))
    for name, found, make in wanted:
        if found is None:
            left_out.append(f"{name}: no model states a price")
        elif found[0] + sum(each.usd for each in calls) > most_usd:
            left_out.append(f"{name}: ${found[0]} would be too much")
        else:
            calls.append(LiveCall(name, make, *found))
    return calls, left_out


def _cheapest(models: Iterable[Model], kind: str, cost: Cost) -> tuple[Decimal, str] | None:
    priced = [(cost(model), model.id) for model in models if model.type == kind and not model.offline]
    return min(((usd, model_id) for usd, model_id in priced if usd is not None), default=None)


def _text(model: str) -> ChatRequest:
    return ChatRequest(model, (ChatMessage("user", TEXT),), max_completion_tokens=MOST_TOKENS)


def _text_cost(model: Model) -> Decimal | None:
    return chat_cost(model.model_spec.pricing, Usage(prompt=2_000, completion=MOST_TOKENS))  # the hidden prompt too


async def _stream(run: LiveRun, model: str) -> None:
    async with run.service.chat.stream(_text(model)) as stream:
        async for _ in stream:
            pass


def _speech_cost(model: Model) -> Decimal | None:
    return speech_cost(model.model_spec.pricing, len(TEXT)) if model.model_spec.voices else None


async def _speak(run: LiveRun, model: str) -> object:
    spec = next(each for each in run.models if each.id == model).model_spec
    return await run.service.speech.synthesize(SpeechRequest(TEXT, model, spec.default_voice or spec.voices[0]))


async def _transcribe(run: LiveRun, model: str) -> object:
    path = run.folder / "tone.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE_HZ, 0, "NONE", ""))
        tone = (round(8_000 * math.sin(2 * math.pi * 440 * n / RATE_HZ)) for n in range(RATE_HZ))
        file.writeframes(array("h", tone).tobytes())
    return await run.service.transcription.transcribe(TranscriptionRequest(path, model))


async def _draw(run: LiveRun, model: str) -> None:
    made = await run.service.images.generate(ImageRequest(model, "A boat at noon."), price_usd=run.price)
    run.made["image"] = made.pictures[0].data


async def _edit(run: LiveRun, model: str) -> object:
    return await run.service.images.edit(
        EditRequest(model, "Make it night.", (run.made["image"],)), price_usd=run.price
    )


async def _film(run: LiveRun, _model: str) -> None:
    usd, _, wanted = run.made["quote"]
    job = (await run.service.video.queue(wanted, quoted_usd=usd)).job
    for _ in range(LOOKS):
        found = await run.service.video.retrieve(job, run.folder / "boat.mp4", background=False)
        if not isinstance(found, VideoState) or found.state == "failed":
            break
        await run.service.client.rest(LOOK_S)
    await run.service.video.complete(job)


async def _key(run: LiveRun, _model: str) -> None:
    """Make, change and revoke a key: needs an admin key, and leaves nothing behind."""
    made = await run.service.api_keys.make("INFERENCE", KeyTerms("Live check", usd=Decimal(1)))
    try:
        await run.service.api_keys.change(made, replace(made.terms, description="Live check, changed"))
    finally:
        await run.service.api_keys.revoke(made.id)


async def _reviews(run: LiveRun, _model: str) -> None:
    page = await run.service.characters.page()
    if page.data:
        await run.service.characters.reviews(page.data[0].slug)


FREE = (
    LiveCall("models.one", lambda run, _: run.service.models.one(run.models[0].id)),
    LiveCall("characters.page, .reviews", _reviews),
    LiveCall("account.rate_limits", lambda run, _: run.service.account.rate_limits()),
    LiveCall("account.limit_log", lambda run, _: run.service.account.limit_log()),
    LiveCall("api_keys.list_all", lambda run, _: run.service.api_keys.list_all()),
    LiveCall("api_keys.make, .change, .revoke", _key),
    LiveCall("billing.balance", lambda run, _: run.service.billing.balance()),
    LiveCall("billing.usage", lambda run, _: run.service.billing.usage()),
    LiveCall("billing.analytics", lambda run, _: run.service.billing.analytics(run.today, run.today)),
    LiveCall("crypto_rpc.networks", lambda run, _: run.service.crypto_rpc.networks()),
    LiveCall("images.styles", lambda run, _: run.service.images.styles()),
    LiveCall("x402.top_up_requirements", lambda run, _: run.service.x402.top_up_requirements()),
)
# The name, the type of the model, the price of a call with one, and the call.
WITH_A_MODEL: tuple[tuple[str, str, Cost, Make], ...] = (
    ("chat.complete", "text", _text_cost, lambda run, model: run.service.chat.complete(_text(model))),
    ("chat.stream", "text", _text_cost, _stream),
    (
        "embeddings.embed",
        "embedding",
        lambda model: embedding_cost(model.model_spec.pricing, 10),
        lambda run, model: run.service.embeddings.embed((TEXT,), model),
    ),
    ("speech.synthesize", "tts", _speech_cost, _speak),
    (
        "transcription.transcribe",
        "asr",
        lambda model: transcription_cost(model.model_spec.pricing, Decimal(1)),
        _transcribe,
    ),
    ("images.generate", "image", lambda model: image_cost(model.model_spec.pricing), _draw),
    ("images.edit", "inpaint", lambda model: edit_cost(model.model_spec.pricing, inputs=1), _edit),
)
WITHOUT_A_MODEL: tuple[tuple[str, Decimal, Make], ...] = (
    (
        "images.upscale",
        UPSCALE_USD[2],
        lambda run, _: run.service.images.upscale(run.made["image"], scale=2, price_usd=run.price),
    ),
    (
        "images.remove_background",
        Decimal("0.02"),
        lambda run, _: run.service.images.remove_background(run.made["image"], price_usd=run.price),
    ),
    ("crypto_rpc.call", Decimal("0.00002"), lambda run, _: run.service.crypto_rpc.call("base-mainnet", "eth_chainId")),
)

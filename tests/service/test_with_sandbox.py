"""What the service is for, end to end: the client's own calls answered by a real Sandbox, in both dialects."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from app.sandbox.media.sound import encode
from app.service.chat_types import Finished, TextDelta
from app.service.crypto_rpc import RpcItem
from app.service.errors import (
    AuthenticationFailed,
    BadRequest,
    ContentRefused,
    NotFound,
    PaymentRequired,
    ServerFailed,
    TooLarge,
)
from app.service.images import ImageRequest
from app.service.retry import CallKind
from app.service.speech import SpeechRequest
from app.service.transcription import TranscriptionRequest
from app.service.video import QueuedVideo, SavedVideo, VideoRequest, VideoState
from tests.kit.service import ServiceHarness, asking, with_key, with_wallet
from tests.sandbox.test_voices import sample

VIDEO = VideoRequest("rialto-reel-text-to-video", "a boat at sunset", "3s")
PICTURE = ImageRequest("rialto-canvas", "a boat", width=256, height=256, format="png")
EMBEDDER = "text-embedding-bge-m3"
Act = Callable[[ServiceHarness], Awaitable[object]]
DIALECTS = ("service", "venice")


@pytest.fixture(params=DIALECTS)
async def at(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ServiceHarness]:
    async with with_key(tmp_path, request.param) as harness:
        yield harness


async def chat(at: ServiceHarness) -> object:
    return (await at.service.chat.complete(asking())).text


async def hiss(at: ServiceHarness) -> object:
    """Something that is heard and holds no word: recognized at once."""
    path = at.folder / "hiss.wav"
    noise = np.random.default_rng(1).normal(0, 3000, 8_000).astype(np.int16)
    path.write_bytes(encode(noise, 16_000, "wav"))
    return await at.service.transcription.transcribe(TranscriptionRequest(path, "stt-xai-v1"))


async def silence(at: ServiceHarness) -> object:
    path = at.folder / "hush.wav"
    path.write_bytes(encode(np.zeros(16_000, np.int16), 16_000, "wav"))
    return await at.service.transcription.transcribe(TranscriptionRequest(path, "stt-xai-v1"))


async def chain_id(at: ServiceHarness) -> object:
    return (await at.service.crypto_rpc.call("base-mainnet", "eth_chainId")).outcome.result


async def clone(at: ServiceHarness) -> object:
    path = at.folder / "me.wav"
    path.write_bytes(sample())
    return await at.service.voices.clone(path, "tts-chatterbox-hd")


async def queue(at: ServiceHarness) -> QueuedVideo:
    return (await at.service.video.queue(VIDEO)).job


ENDPOINTS: dict[str, tuple[str, Act]] = {
    "R-EP-01": ("GET /characters", lambda at: at.service.characters.search()),
    "R-EP-02": ("POST /chat/completions", chat),
    "R-EP-05, R-NS-06": ("POST /audio/speech", lambda at: at.spoken()),
    "R-EP-06": ("POST /crypto/rpc/base-mainnet", chain_id),
    "R-EP-07": ("GET /crypto/rpc/networks", lambda at: at.service.crypto_rpc.networks()),
    "R-EP-08": ("POST /x402/top-up", lambda at: at.service.x402.top_up_requirements()),
    "R-EP-10": ("GET /api_keys/rate_limits", lambda at: at.service.account.rate_limits()),
    "R-EP-12": ("GET /models", lambda at: at.service.models.list("tts")),
    "R-EP-14": ("POST /audio/voices", clone),
    "R-EP-15 images": ("POST /image/generate", lambda at: at.service.images.generate(PICTURE)),
    "R-EP-15 embeddings": ("POST /embeddings", lambda at: at.service.embeddings.embed(("tide",), EMBEDDER)),
    "R-EP-15 video": ("POST /video/queue", queue),
    "R-EP-16": ("GET /billing/balance", lambda at: at.service.billing.balance()),
}


@pytest.mark.parametrize("rule", ENDPOINTS)
async def test_the_endpoint_is_called_at_its_path_and_answers(at: ServiceHarness, rule: str) -> None:
    path, act = ENDPOINTS[rule]
    assert await act(at)
    request = at.exchange.request
    assert f"{request.method} {request.path}" == path
    assert request.url.partition("?")[0] == at.sandbox.running.base_url + request.path


async def test_r_gen_04_the_same_call_is_answered_whole_and_streamed(at: ServiceHarness) -> None:
    whole = await at.service.chat.complete(asking())
    steps = 0
    text = ""
    at.sandbox.control("/settings", {"tokens_per_second": 2000})
    async with at.service.chat.stream(asking()) as stream:
        async for events in stream:
            steps += 1
            text += "".join(event.text for event in events if isinstance(event, TextDelta))
            last = events[-1]
    assert text == whole.text and steps > 2
    assert stream.finish_reason == "stop" and last == Finished("stop")


async def test_r_gen_07_models_images_and_vectors_are_offered(at: ServiceHarness) -> None:
    models = {model.type for model in await at.service.models.list("all")}
    assert {"text", "image", "embedding"} <= models
    (image,) = (await at.service.images.generate(PICTURE)).pictures
    assert image.data.startswith(b"\x89PNG")
    one, other = (await at.service.embeddings.embed(("tide", "bread"), EMBEDDER)).vectors
    assert len(one) == 1024 and one != other


async def test_r_gen_08_r_ep_03_r_vid_02_r_ns_02_r_ns_04_r_ns_11_a_video_is_asked_for_saved_and_then_removed(
    at: ServiceHarness,
) -> None:
    video, path = at.service.video, at.folder / "film.mp4"
    job = await queue(at)
    state = await video.retrieve(job, path)
    assert isinstance(state, VideoState)
    assert (state.state, state.told, state.average_s, state.remaining_s) == ("processing", "PROCESSING", 8.0, 8.0)
    at.sandbox.turn_clock(8)
    saved = await video.retrieve(job, path)
    assert isinstance(saved, SavedVideo) and saved.kind == "mp4"
    assert path.stat().st_size == saved.size_bytes
    assert await video.complete(job) is True
    assert at.exchange.request.path == "/video/complete"
    assert await video.complete(job) is False
    with pytest.raises(NotFound):
        await video.retrieve(job, path)
    assert path.stat().st_size == saved.size_bytes


async def test_r_ns_04_a_private_video_is_told_as_completed_and_fetched_elsewhere(at: ServiceHarness) -> None:
    order = VideoRequest("rialto-reel-private", "a boat", "3s")
    job = (await at.service.video.queue(order)).job
    at.sandbox.turn_clock(8)
    state = await at.service.video.retrieve(job, at.folder / "film.mp4")
    assert isinstance(state, VideoState) and (state.state, state.remaining_s) == ("completed", 0)
    assert (await at.service.video.download(job, at.folder / "film.mp4")).kind == "mp4"


async def test_r_gen_09_r_voi_06_r_voi_03_a_cloned_voice_speaks_as_any_other(at: ServiceHarness) -> None:
    path = at.folder / "me.wav"
    path.write_bytes(sample())
    voice = await at.service.voices.clone(path, "tts-chatterbox-hd")
    said = await at.service.speech.synthesize(SpeechRequest("Hello again.", voice.model, voice.id, "wav"))
    assert said.format == "wav" and at.exchange.request.path == "/audio/speech"


async def test_r_gen_10_r_ep_04_r_stt_02_what_was_said_comes_back_in_its_own_language(at: ServiceHarness) -> None:
    path = await at.recording()
    made = await at.service.transcription.transcribe(
        TranscriptionRequest(path, "nvidia/parakeet-tdt-0.6b-v3", timestamps=True)
    )
    assert "cup" in made.text or "coffee" in made.text
    assert made.words and made.segments and made.duration_s
    assert (at.exchange.request.method, at.exchange.request.path) == ("POST", "/audio/transcriptions")
    sent = at.exchange.request.body
    assert not any("translat" in repr(part).lower() for part in sent)  # type: ignore[attr-defined] # the parts of a form


async def test_r_gen_11_a_character_of_the_list_is_talked_to(at: ServiceHarness) -> None:
    (somebody, *_) = await at.service.characters.search()
    answer = await at.service.chat.complete(asking(character_slug=somebody.slug))
    assert answer.text
    prompt = at.sandbox.control("/prompt", method="GET")["messages"]
    assert any(somebody.name in message["content"] for message in prompt if message["role"] == "system")


async def test_r_gen_12_r_rpc_16_r_rpc_31_a_call_to_a_chain_tells_what_it_cost(at: ServiceHarness) -> None:
    made = await at.service.crypto_rpc.call("base-mainnet", "eth_chainId")
    assert (made.outcome.result, made.credits, made.cost_usd) == ("0x2105", 20, Decimal("0.000014"))
    assert len(made.request_id) == 32
    assert (at.exchange.cost_usd, at.exchange.cost_source) == (Decimal("0.000014"), "stated")
    assert Decimal(at.sandbox.balance()) == 100 - made.cost_usd


async def test_r_rpc_04_r_rpc_14_r_rpc_15_one_call_and_a_batch_are_both_read(at: ServiceHarness) -> None:
    rpc = at.service.crypto_rpc
    batch = await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_chainId"), RpcItem("eth_getBalance", ["x"])]))
    assert batch.outcomes[0].result == await chain_id(at)
    assert batch.outcomes[1].error is not None
    assert (batch.credits, at.exchange.info and at.exchange.info.content_type) == (25, "application/json")


async def test_r_rpc_35_r_rpc_36_r_rpc_37_a_repeated_operation_is_the_same_and_free(at: ServiceHarness) -> None:
    rpc = at.service.crypto_rpc
    operation = rpc.prepare("base-mainnet", [RpcItem("eth_blockNumber")], idempotency_key="one-thing")
    first = await rpc.send(operation)
    balance = at.sandbox.balance()
    again = await rpc.send(operation)
    assert (first.replayed, again.replayed) == (False, True)
    assert again.outcome.result == first.outcome.result
    assert (again.credits, again.cost_usd, at.exchange.cost_usd) == (0, 0, 0)
    assert at.sandbox.balance() == balance


async def test_r_rpc_02_a_read_has_no_key_and_what_changes_something_has_one(at: ServiceHarness) -> None:
    rpc = at.service.crypto_rpc
    assert rpc.prepare("base-mainnet", [RpcItem("eth_call")]).idempotency_key is None
    assert rpc.prepare("base-mainnet", [RpcItem("eth_call")], idempotency_key="mine").idempotency_key == "mine"
    sent = rpc.prepare("base-mainnet", [RpcItem("eth_sendRawTransaction", ["0x00"])])
    assert sent.idempotency_key
    await rpc.send(sent)
    assert dict(at.exchange.request.headers)["Idempotency-Key"] == sent.idempotency_key


async def test_r_rpc_26_a_method_that_is_not_known_is_sent_all_the_same_and_the_refusal_told(
    at: ServiceHarness,
) -> None:
    with pytest.raises(BadRequest) as caught:
        await at.service.crypto_rpc.call("base-mainnet", "eth_somethingNew")
    assert "eth_somethingNew" in caught.value.message
    assert at.sandbox.balance() == "100"


REFUSALS: dict[str, tuple[type[Exception], str, Act]] = {
    "R-ERR-01": (NotFound, "not found", lambda at: at.service.chat.complete(asking(model="none"))),
    "R-ERR-06": (
        BadRequest,
        "eth_sign, eth_newFilter",
        lambda at: raw(at, [item("eth_call"), item("eth_sign"), item("eth_newFilter")]),
    ),
    "R-ERR-07": (BadRequest, "eth_subscribe", lambda at: raw(at, item("eth_subscribe"))),
    "R-ERR-08": (BadRequest, "different body", lambda at: one_key_two_bodies(at)),
    "R-ERR-09": (
        BadRequest,
        "supported voice: ",
        lambda at: at.service.speech.synthesize(SpeechRequest("Noon.", "tts-orpheus", "Leo")),
    ),
    "R-STT-19": (ContentRefused, "", silence),
    "R-TTS-07": (NotFound, "not found", lambda at: at.service.speech.synthesize(SpeechRequest("Noon.", "none", "x"))),
    "R-VID-08": (BadRequest, "", lambda at: at.service.video.complete(QueuedVideo(model="m", queue_id="7"))),
    "R-EXT-01": (NotFound, "character", lambda at: at.service.chat.complete(asking(character_slug="nobody"))),
}


def item(method: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": []}


async def raw(at: ServiceHarness, body: object) -> object:
    return await at.service.client.post_json("/crypto/rpc/base-mainnet", body, kind=CallKind.READ)


async def one_key_two_bodies(at: ServiceHarness) -> None:
    rpc = at.service.crypto_rpc
    for method in ("eth_chainId", "eth_blockNumber"):
        await rpc.send(rpc.prepare("base-mainnet", [RpcItem(method)], idempotency_key="one"))


@pytest.mark.parametrize("rule", REFUSALS)
async def test_a_refusal_is_told_in_the_services_words_and_not_repeated(at: ServiceHarness, rule: str) -> None:
    kind, words, act = REFUSALS[rule]
    with pytest.raises(kind) as caught:
        await act(at)
    assert words in str(caught.value), rule
    assert at.exchange.attempts == 1


async def test_r_err_02_r_err_04_r_vid_04_r_vid_05_every_wrong_field_is_named(at: ServiceHarness) -> None:
    with pytest.raises(BadRequest) as caught:
        await at.service.client.post_json("/video/complete", {"queue_id": "7"}, kind=CallKind.READ)
    assert {(field.path, field.message) for field in caught.value.fields} == {
        ("model", "Required"),
        ("queue_id", "Invalid uuid"),
    }


async def test_r_err_05_r_lim_20_r_ns_12_too_large_a_file_is_told_with_its_code(at: ServiceHarness) -> None:
    shape = {"status": 413, "shape": "E3", "text": "The file exceeds the 25 MB limit", "path": "/audio/transcriptions"}
    at.sandbox.fault("answer", times=1, **shape)
    with pytest.raises(TooLarge) as caught:
        await silence(at)
    assert (caught.value.code, caught.value.message) == ("PAYLOAD_TOO_LARGE", "The file exceeds the 25 MB limit")


PAID: dict[str, Act] = {
    "R-GEN-13 chat": chat,
    "R-GEN-13 speech": lambda at: at.spoken(),
    "R-GEN-13 images": lambda at: at.service.images.generate(PICTURE),
    "R-GEN-13 embeddings": lambda at: at.service.embeddings.embed(("tide",), EMBEDDER),
    "R-GEN-13 voices": clone,
    "R-GEN-13 video": queue,
    "R-GEN-13, R-ERR-15 transcription": silence,
    "R-GEN-13, R-RPC-43": chain_id,
}


@pytest.mark.parametrize("call", PAID)
async def test_an_empty_balance_is_told_once_and_nothing_is_tried_again(at: ServiceHarness, call: str) -> None:
    at.sandbox.control("/balance", {"usd": "0"})
    if "voices" in call:  # cloning itself is free here; a service may ask for money all the same
        at.sandbox.fault("answer", status=402, path="/audio/voices", times=1)
    with pytest.raises(PaymentRequired):
        await PAID[call](at)
    assert (at.exchange.attempts, at.exchange.status) == (1, 402)
    limits = await at.service.account.rate_limits()
    assert (limits.access_permitted, limits.balances.usd) == (False, 0)


async def test_r_char_37_r_char_38_r_char_39_a_list_a_wrong_key_and_a_failure_are_told_apart(
    at: ServiceHarness,
) -> None:
    assert len(await at.service.characters.search()) == 50
    at.sandbox.fault("answer", status=500, path="/characters", times=4)
    at.service.client._sleep = no_wait
    with pytest.raises(ServerFailed):
        await at.service.characters.search()
    assert at.exchange.attempts == 4
    at.sandbox.fault("answer", status=500, path="/characters", times=1)
    assert await at.service.characters.search()
    assert at.exchange.attempts == 2
    at.sandbox.fault("answer", status=401, path="/characters", times=1)
    with pytest.raises(AuthenticationFailed):
        await at.service.characters.search()
    assert at.exchange.attempts == 1


async def no_wait(seconds: float) -> None:
    """Take no time."""


async def test_r_ver_01_r_ver_03_r_ver_04_r_ver_05_r_ns_14_version_and_deprecation_are_read(at: ServiceHarness) -> None:
    await at.service.chat.complete(asking(model="rialto-handbook-2025"))
    info = at.exchange.info
    assert info is not None and info.service_version is not None
    assert info.service_version.replace(".", "").isdigit() and len(info.service_version) == 15
    assert (info.deprecation_date, "rialto-handbook" in str(info.deprecation_warning)) == ("2026-12-09", True)
    assert "/api/v1/" in at.exchange.request.url
    (old,) = [model for model in await at.service.models.list() if model.id == "rialto-handbook-2025"]
    assert old.deprecation is not None
    assert (old.deprecation.ends[:10], old.deprecation.replacement_model_id) == ("2026-12-09", "rialto-handbook")


async def test_r_ns_01_r_ns_03_r_ns_09_the_records_of_the_public_shapes_are_read(at: ServiceHarness) -> None:
    answer = await at.service.chat.complete(asking(enable_web_search="on"))
    assert answer.usage is not None and answer.cost_usd is not None
    assert answer.usage.total == answer.usage.prompt + answer.usage.completion > 0
    assert answer.sources and answer.finish_reason == "stop" and answer.model == "rialto-handbook"
    balance = await at.service.billing.balance()
    assert balance.balances["usd"] == 100 - answer.cost_usd
    page = await at.service.billing.usage()
    assert -sum(entry.amount for entry in page.entries) == pytest.approx(answer.cost_usd)
    limits = await at.service.account.rate_limits()
    assert limits.for_model("rialto-handbook") is not None and limits.next_epoch_at is not None
    (sky, *_) = await at.service.models.list("tts")
    assert (sky.id, len(sky.model_spec.voices), sky.price_input) == ("tts-kokoro", 54, Decimal("3.5"))


WALLET: dict[str, tuple[str, Act]] = {
    "R-CHAT-18": ("/chat/completions", chat),
    "R-TTS-01": ("/audio/speech", lambda at: at.spoken()),
    "R-STT-01": ("/audio/transcriptions", hiss),
    "R-VID-09": (
        "/video/complete",
        lambda at: at.service.video.complete(QueuedVideo(model="m", queue_id=str(uuid.UUID(int=7)))),
    ),
    "R-RPC-47": ("/crypto/rpc/base-mainnet", chain_id),
    "R-GEN-14": ("/embeddings", lambda at: at.service.embeddings.embed(("tide",), EMBEDDER)),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("rule", WALLET)
async def test_a_wallet_and_a_key_are_both_taken_and_a_wallet_hears_what_is_left(
    rule: str, dialect: str, tmp_path: Path
) -> None:
    path, act = WALLET[rule]
    async with with_key(tmp_path, dialect) as at:
        assert await act(at) is not None
        assert at.exchange.info is not None and at.exchange.info.balance_remaining is None
    async with with_wallet(tmp_path, dialect) as at:
        assert await act(at) is not None
        assert (at.exchange.request.path, at.exchange.attempts, at.exchange.status) == (path, 1, 200)
        assert at.exchange.info is not None and at.exchange.info.balance_remaining is not None
        assert 0 < at.exchange.info.balance_remaining <= 5


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("call", ["R-GEN-13 chat", "R-GEN-13, R-ERR-15 transcription", "R-GEN-13, R-RPC-43"])
async def test_r_wal_11_r_rpc_43_r_err_15_a_wallet_below_the_floor_is_told_how_much_is_missing(
    call: str, dialect: str, tmp_path: Path
) -> None:
    async with with_wallet(tmp_path, dialect, usd="0.04") as at:
        with pytest.raises(PaymentRequired) as caught:
            await PAID[call](at)
        error = caught.value
        assert (error.have, error.need, error.minimum) == (Decimal("0.04"), Decimal("0.1"), Decimal(5))
        assert (at.exchange.attempts, at.exchange.cost_usd) == (1, None)

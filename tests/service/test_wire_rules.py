"""Rules that hold for every call: shapes that OpenAI's clients know, names, credentials, versions, codes."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from openai.types.chat import completion_create_params

from app.service.chat_body import chat_body
from app.service.chat_types import ChatMessage, ChatRequest, ContentPart, ServiceParameters
from app.service.crypto_rpc import RpcItem
from app.service.dialect import DIALECTS
from app.service.errors import BadRequest, LimitExceeded, NotFound, PaymentRequired, ServerFailed, ServiceError
from app.service.speech import FORMATS, SpeechRequest, traits_of
from app.service.transcription import TranscriptionRequest
from tests.kit.service import ServiceHarness, with_key
from tests.service.every_call import CALLS, HI, WITHOUT_CREDENTIALS
from tests.service.loopback import KEY, Watched, answering
from tests.service.test_speech import HELLO as SPEECH
from tests.service.test_speech import model
from tests.service.test_uploads import WAV

EVERYTHING = ChatRequest(
    "m",
    (ChatMessage("user", (ContentPart.of_text("x", cache=True),)),),
    ServiceParameters("slug", True, True, "on", True, True, True, True, True, False),
    temperature=1.0,
    top_p=1.0,
    max_completion_tokens=5,
    reasoning_effort="low",
    seed=7,
    stop=("a",),
    prompt_cache_key="c",
)


CHAT = {"model": "m", "choices": [{"index": 0, "message": {"content": "x"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("stream", [False, True])
def test_r_gen_05_a_chat_says_nothing_that_openais_form_does_not_know_but_the_extension(
    stream: bool, dialect: str
) -> None:
    known = set(completion_create_params.CompletionCreateParamsBase.__annotations__) | {"stream"}
    extension = DIALECTS[dialect].extension_object
    body = chat_body(EVERYTHING, extension, stream=stream)
    assert set(body) - known == {extension}
    assert len(body) > 8


@pytest.mark.parametrize("dialect", DIALECTS)
def test_r_gen_06_every_feature_of_the_service_stands_in_the_extension_object(dialect: str) -> None:
    extension = DIALECTS[dialect].extension_object
    body = chat_body(EVERYTHING, extension, stream=False)
    names = {field.name for field in fields(ServiceParameters)}
    assert len(names) == 10
    assert set(body[extension]) == names  # type: ignore[call-overload] # an object
    assert names.isdisjoint(body)


@pytest.mark.parametrize("call", CALLS)
async def test_r_auth_01_r_ver_02_every_call_carries_the_key_and_asks_for_no_version(call: str, tmp_path: Path) -> None:
    wav = tmp_path / "a.wav"
    wav.write_bytes(WAV)
    async with Watched("https://service.test/v1", handler=answering({"error": "stop here"}, 400)) as watched:
        with suppress(ServiceError):
            await CALLS[call](watched.service, wav)
        (request,) = watched.requests
        key = None if call in WITHOUT_CREDENTIALS else f"Bearer {KEY}"
        assert request.headers.get("authorization") == key
        assert not [name for name in (*request.headers, *request.url.params) if "version" in name.lower()]
        assert request.url.path.startswith("/v1/") or request.url.host == "elsewhere.test"


@pytest.mark.parametrize(
    ("status", "kind"), [(400, BadRequest), (404, NotFound), (402, PaymentRequired), (500, ServerFailed)]
)
@pytest.mark.parametrize("code", ["AUTHENTICATION_FAILED", "INVALID_MODEL", "RATE_LIMIT_EXCEEDED", "WHATEVER", ""])
async def test_r_ns_13_the_status_decides_and_no_code(status: int, kind: type[ServiceError], code: str) -> None:
    async with Watched(handler=answering({"error": "words", "code": code}, status)) as watched:
        with pytest.raises(kind) as caught:
            await watched.service.models.list()
        assert caught.value.message == "words"


@pytest.mark.parametrize("missing", ["model", "file"])
async def test_r_ns_05_a_transcription_needs_a_file_and_a_model(missing: str, tmp_path: Path) -> None:
    wav = tmp_path / "a.wav"
    if missing != "file":
        wav.write_bytes(WAV)
    async with Watched(handler=answering({"text": "x"})) as watched:
        request = TranscriptionRequest(wav, "" if missing == "model" else "m")
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.transcription.transcribe(request)
        assert (caught.value.field, watched.requests) == (missing, [])


async def test_r_ns_07_speech_has_the_public_names_of_its_ten_fields() -> None:
    full = SpeechRequest("words", "m", "v", "pcm", 0.5, True, "en", "whisper", 0.5, 0.5)
    async with Watched(handler=answering({}, 400)) as watched:
        with pytest.raises(BadRequest):
            await watched.service.speech.synthesize(full)
        (request,) = watched.requests
        assert request.url.path == "/api/v1/audio/speech"
        assert set(json.loads(request.content)) == {
            *("input", "model", "voice", "response_format", "speed", "streaming"),
            *("language", "prompt", "temperature", "top_p"),
        }


@pytest.mark.parametrize("language", ["Klingon", "xx"])
async def test_r_tts_06_a_language_that_is_refused_is_not_tried_again(language: str) -> None:
    async with Watched(handler=answering({"error": "Unsupported language"}, 400)) as watched:
        with pytest.raises(BadRequest, match="Unsupported language"):
            await watched.service.speech.synthesize(replace(SPEECH, language=language))
        assert len(watched.requests) == 1


@pytest.mark.parametrize(
    ("model_id", "form"),
    [
        ("tts-qwen3-0-6b", "names"),
        ("tts-minimax-speech-02-hd", "names"),
        ("tts-xai-v1", "codes"),
        ("tts-elevenlabs-turbo-v2-5", "codes"),
        ("tts-gemini-3-1-flash", "locales"),
        ("tts-kokoro", "none"),
        ("never-heard-of", "none"),
    ],
)
def test_r_tts_05_each_model_takes_languages_in_a_form_of_its_own(model_id: str, form: str) -> None:
    assert traits_of(model(model_id)).language_form == form


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_r_tts_09_r_tts_22_r_tts_23_r_ns_08_models_and_their_voices_come_from_the_catalog(
    dialect: str, tmp_path: Path
) -> None:
    async with with_key(tmp_path, dialect) as at:
        listed = await at.service.models.list("tts")
        assert len(listed) == 11
        assert all(one.model_spec.voices and set(one.model_spec.supported_formats) <= set(FORMATS) for one in listed)
        for known in listed:
            assert (await at.service.models.one(known.id)).model_spec.voices == known.model_spec.voices
        asked = {exchange.request.path for exchange in at.exchanges}
        assert ("/models/tts-kokoro" in asked) is (dialect == "service")


async def test_r_rpc_40_the_hash_that_comes_back_is_the_one_reckoned_here(tmp_path: Path) -> None:
    async with with_key(tmp_path) as at:
        raw, reckoned = signed_transaction(at)
        made = await at.service.crypto_rpc.call("base-mainnet", "eth_sendRawTransaction", [raw])
        assert made.outcome.result == reckoned
        assert raw not in repr(at.exchange)


def signed_transaction(at: ServiceHarness) -> tuple[str, str]:
    """A transfer of the faucet's, and its hash as the wallet works it out before anything is sent."""
    from eth_account import Account

    from app.sandbox.chains.networks import TEST_ACCOUNTS
    from app.wallet.transactions import read_transaction

    fields_of: dict[str, Any] = {"type": 2, "maxFeePerGas": 20 * 10**9, "maxPriorityFeePerGas": 10**9, "gas": 21_000}
    fields_of |= {"nonce": 0, "to": "0x" + "11" * 20, "value": 1, "chainId": 8453, "data": "0x"}
    signed = Account.from_key(TEST_ACCOUNTS[1].private_key).sign_transaction(fields_of)
    raw = "0x" + bytes(signed.raw_transaction).hex()
    return raw, read_transaction(raw).hash


async def test_r_rpc_31_what_a_header_states_wins_over_what_was_estimated() -> None:
    for stated, counted in (("0.00000001", "stated"), ("", "estimated"), ("free", "estimated")):
        headers = {"x-service-rpc-cost-usd": stated}
        answer = httpx.Response(200, json={"id": 1, "result": 1}, headers=headers)
        async with Watched(handler=lambda request, answer=answer: answer) as watched:  # type: ignore[misc] # bound now
            rpc = watched.service.crypto_rpc
            await rpc.send(rpc.prepare("base-mainnet", [RpcItem("eth_call")]))
            assert watched.exchange.cost_source == counted


async def test_r_auth_09_r_auth_12_no_call_stakes_a_token_and_only_one_that_is_asked_for_makes_a_key(
    tmp_path: Path,
) -> None:
    """Both are done at the service; where a key may make others, the person does it on the page of keys."""
    wav = tmp_path / "a.wav"
    wav.write_bytes(WAV)
    async with Watched("https://service.test/v1", handler=answering({"error": "stop here"}, 400)) as watched:
        for name, ask in CALLS.items():
            if name.startswith("api_keys."):
                continue
            with suppress(ServiceError):
                await ask(watched.service, wav)
            watched.budget._failures.clear()
        sent = {(request.method, request.url.path.partition("/v1")[2]) for request in watched.requests}
        assert not [path for method, path in sent if method != "GET" and path.startswith("/api_keys")]
        assert not [path for _, path in sent if "stak" in path]


async def test_r_auth_12_daily_credits_are_read_and_counted_at_par(tmp_path: Path) -> None:
    async with with_key(tmp_path) as at:
        at.sandbox.control("/balance", {"usd": "1", "diem": "2.5"})
        assert (await at.service.account.rate_limits()).balances.diem == Decimal("2.5")
        assert (await at.service.billing.balance()).diem_allocation == Decimal("2.5")
        assert at.exchange.info is not None and at.exchange.info.balance_diem == Decimal("2.5")
    counted = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {**CHAT, "usage": counted, "cost": {"usd": 0.25, "diem": 0.5}}
    async with Watched(handler=answering(body)) as watched:
        assert (await watched.service.chat.complete(HI)).cost_usd == Decimal("0.75")

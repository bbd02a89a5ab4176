"""A sealed chat on its way: the relay that hands it to the enclave, and what a dishonest one does to the answer.

The relay knows roles, lengths and times. Only `Enclave` opens and seals; the receipt is about the bytes that leave the
enclave, before the relay has touched them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from app.sandbox.http.call import Call, dump
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.model_catalog import ModelEntry
from app.sandbox.sealed.enclave import SMALLEST, CannotOpen, KeyPair, is_public_key, seal
from app.sandbox.sealed.tee import keep_receipt

HEADERS = ("client-pub-key", "model-pub-key", "signing-algo")
FORBIDDEN = ("tools", "tool_choice", "response_format", "prompt_cache_key", "prompt_cache_retention")
FORBIDDEN_OPTIONS = ("enable_web_search", "enable_web_scraping", "enable_x_search", "character_slug")
SEALED_TEXTS = ("content", "reasoning_content")
MIDDLE = 3  # which piece of text a lie about the middle is told of
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class SealedRequest:
    """A request as the enclave has opened it. `sent` is the SHA-256 of the body that came."""

    body: Json
    client_key: bytes
    sent: str
    raw: str


def opened(call: Call, body: Json, model: ModelEntry) -> SealedRequest | None:
    """Open a sealed request; None for an open one, which a request that lacks one of the three headers is, too.

    Raises `HttpError` 400 with the texts of live enclaves.
    """
    prefix = f"{call.names.header_prefix}tee-"
    client, key, algorithm = (call.request.headers.get(prefix + name) for name in HEADERS)
    extension = body.get(call.names.extension)
    if client is None or key is None or algorithm is None:
        return None
    if isinstance(extension, dict) and extension.get("enable_e2ee") is False:
        return None
    if not model.has("supportsE2EE"):
        raise _refusal("Invalid E2EE headers: the model does not support it", "e2ee_invalid_payload_model")
    if algorithm != "ecdsa":
        raise _refusal("Unsupported signing algorithm", "e2ee_invalid_signing_algo")
    if not is_public_key(client):
        raise _refusal("Invalid public key", "e2ee_invalid_public_key")
    enclave = call.site.enclave
    if key.lower() != enclave.key.public.hex():
        raise _refusal("Invalid E2EE headers: the model has another key", "e2ee_model_key_mismatch")
    if body.get("stream") is not True:
        raise _refusal("E2EE requires streaming", "e2ee_invalid_version")
    options = extension if isinstance(extension, dict) else {}
    used = [name for name in FORBIDDEN if name in body]
    used += [name for name in FORBIDDEN_OPTIONS if options.get(name) not in (None, False, "off")]
    if used:
        raise _refusal(f"Invalid E2EE headers: {used[0]} is not available in E2EE", "e2ee_invalid_payload_model")
    raw = call.request.body.decode("utf-8", "replace")
    listed = body.get("messages")
    messages = listed if isinstance(listed, list) else []
    _note(call, raw, messages)
    refuses_history = _kind(call, "sealed_stale_key") == "history"
    plain: list[Any] = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("content"), str):
            raise _refusal("Encrypted field is not valid hex", "e2ee_decryption_failed")
        if refuses_history and message.get("role") == "assistant":
            raise _refusal("Failed to decrypt field", "e2ee_decryption_failed")
        try:
            text = enclave.open(message["content"]) if message["content"] else ""
        except CannotOpen as reason:
            raise _refusal(str(reason), "e2ee_decryption_failed") from None
        plain.append({**message, "content": text})
    if refuses_history:
        call.world.faults.take_fault("sealed_stale_key", call.request.path)
    inside = {**body, "messages": plain, call.names.extension: {**options, "include_venice_system_prompt": False}}
    return SealedRequest(inside, bytes.fromhex(client), hashlib.sha256(call.request.body).hexdigest(), raw)


def tells_plain_json(call: Call) -> bool:
    """Whether the relay answers in one piece, in the clear."""
    return _take(call, "sealed_plain_json") is not None


def add_headers(call: Call, model: ModelEntry) -> None:
    """What says that the answer comes from an enclave."""
    if model.has("supportsTeeAttestation") and _take(call, "sealed_no_header") is None:
        prefix = call.names.header_prefix
        call.headers |= {f"{prefix}tee": "true", f"{prefix}tee-provider": "rialto-sandbox"}


async def sealed_events(
    call: Call, request: SealedRequest, answer_id: str, events: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """The events of an answer, sealed by the enclave to the client's key, and then as the relay hands them on."""
    armed_fault = _Lies(call, request.client_key)
    received = hashlib.sha256()
    passed: list[str] = []
    try:
        async for event in events:
            data = event.removeprefix(b"data: ").strip()
            if data == b"[DONE]":
                sealed, plain = event, {}
            else:
                content = json.loads(data)
                plain = _seal_texts(content, request.client_key)
                sealed = b"data: " + dump(content) + b"\n\n" if plain else event
            received.update(sealed)
            keep_receipt(call, answer_id, request.sent, received.hexdigest())
            for piece in armed_fault.told(sealed, plain):
                passed.append(piece.decode())
                yield piece
            if armed_fault.ended:
                return
    finally:
        _note_answer(call, "".join(passed))
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


class _Lies:
    """What a dishonest relay does to the stream of one answer."""

    def __init__(self, call: Call, client_key: bytes) -> None:
        self._client_key = client_key
        self._texts = 0
        self.ended = False
        names = ("clear_first", "clear_middle", "clear_reasoning", "bad_chunk", "lost_chunk", "stale_key", "resealed")
        self._armed = {
            name: _take(call, f"sealed_{name}") for name in names if _kind(call, f"sealed_{name}") != "history"
        }

    def told(self, sealed: bytes, plain: dict[str, str]) -> list[bytes]:
        """The pieces that go out instead of one event; `plain` holds its texts before they were sealed."""
        armed = {"stale_key": None, **self._armed}
        if plain and armed["resealed"] is not None:
            for name, text in plain.items():
                sealed = _with_text(sealed, name, seal(text, self._client_key))
            return [sealed]
        if "reasoning_content" in plain and armed["clear_reasoning"] is not None:
            return [_with_text(sealed, "reasoning_content", plain["reasoning_content"])]
        if "content" not in plain:
            return [sealed]
        self._texts += 1
        if self._texts == 1 and armed["clear_first"] is not None:
            return [_with_text(sealed, "content", plain["content"])]
        if self._texts != MIDDLE:
            return [sealed]
        if armed["clear_middle"] is not None:
            return [_with_text(sealed, "content", plain["content"])]
        if (kind := armed["bad_chunk"]) is not None:
            envelope = json.loads(sealed.removeprefix(b"data: "))["choices"][0]["delta"]["content"]
            broken = {"odd": envelope[:-1], "other_key": seal(plain["content"], KeyPair().public)}
            return [_with_text(sealed, "content", broken.get(kind, envelope[:-2]))]
        if (kind := armed["lost_chunk"]) is not None:
            return [] if kind == "dropped" else [_with_text(sealed, "content", "")]
        if armed["stale_key"] is not None:
            self.ended = True
            error = {"message": "The enclave has a new key", "type": "api_error", "code": "e2ee_attestation_stale"}
            return [b"data: " + dump({"error": error}) + b"\n\n", DONE]
        return [sealed]


def _seal_texts(content: Json, client_key: bytes) -> dict[str, str]:
    """Seal the texts of a chunk in place; return them as they were."""
    plain: dict[str, str] = {}
    for choice in content.get("choices", ()):
        delta = choice.get("delta", {})
        for name in SEALED_TEXTS:
            if delta.get(name):
                plain[name] = delta[name]
                delta[name] = seal(delta[name], client_key)
    return plain


def _with_text(sealed: bytes, name: str, text: str) -> bytes:
    content = json.loads(sealed.removeprefix(b"data: "))
    content["choices"][0]["delta"][name] = text
    return b"data: " + dump(content) + b"\n\n"


def _note(call: Call, raw: str, messages: list[Any]) -> None:
    before = call.world.kept.get("sealed seen", {"requests": 0})
    texts = [message.get("content") if isinstance(message, dict) else message for message in messages]
    call.world.kept["sealed seen"] = {
        "requests": before["requests"] + 1,
        "body": raw,
        "headers": {name: text for name, text in call.request.headers.items() if name != "authorization"},
        "clear": [text for text in texts if text and not _is_envelope(text)],
        "answer": "",
    }


def _note_answer(call: Call, text: str) -> None:
    call.world.kept["sealed seen"]["answer"] = text


def _is_envelope(text: object) -> bool:
    try:
        return isinstance(text, str) and len(bytes.fromhex(text)) >= SMALLEST
    except ValueError:
        return False


def _take(call: Call, name: str) -> str | None:
    told = call.world.faults.take_fault(name, call.request.path)
    return None if told is None else str(told.get("kind", ""))


def _kind(call: Call, name: str) -> str | None:
    """The kind of an armed fault, without using it up."""
    armed = call.world.faults.armed(name)
    return None if armed is None else str(armed.get("kind", ""))


def _refusal(message: str, code: str) -> HttpError:
    return HttpError(400, {"error": {"message": message, "type": "invalid_request_error", "code": code}})

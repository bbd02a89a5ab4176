"""The answer of a sealed request: opened piece by piece, and stopped at the first that is not sealed (R-TEE-11).

Each chunk is opened and written again with what is known of it alone; whatever else stands in it (function calls,
search results, any field that we do not know) goes no further.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping

from app.sealed.envelope import EnvelopeDecryptionError, SecretKey, looks_sealed, open_envelope
from app.service.chat_wire import UNFIT, decode_sealed, encode, is_done
from app.service.client import ServiceResponse
from app.service.errors import InBandError, RefusedCall, SealBroken, ServiceError
from app.service.http.json_text import MAX_DEPTH, would_overflow
from app.service.response_info import ResponseInfo
from app.translation import tr

SEALED_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
STALE = frozenset({"e2ee_attestation_stale", "e2ee_model_key_mismatch"})
HISTORY = frozenset({"e2ee_decryption_failed"})
HISTORY_TEXT = re.compile(r"encrypted field is not valid hex|decryption failed|failed to decrypt field", re.IGNORECASE)
SEALED_TEXT = re.compile(r"e2ee|invalid public key|unsupported signing algorithm", re.IGNORECASE)


class SealedAnswer:
    """Opens one answer with the session's key. See `app.service.chat.Seal`."""

    def __init__(self, key: SecretKey, sent: bytes, on_broken: Callable[[], None]) -> None:
        """`on_broken` is told once it is clear that the session's keys must not be used again."""
        self._key = key
        self._on_broken = on_broken
        self._received = hashlib.sha256()
        self._info: ResponseInfo | None = None
        self.sent = sent  # SHA-256 of the bytes of the request
        self.answer_id = ""
        self.opened = 0  # pieces

    @property
    def received(self) -> bytes:
        """The SHA-256 of the bytes of the answer so far."""
        return self._received.digest()

    def accept(self, answer: ServiceResponse) -> None:
        info = self._info = answer.info
        if info.tee is not True:
            raise self._broken(
                "unsealed", tr("The answer does not say that it comes from the enclave, so none of it is shown.")
            )
        if info.content_type != "text/event-stream":
            raise self._broken("unsealed", tr("The answer did not arrive as a sealed stream, so none of it is shown."))

    def open(self, read: bytes, chunks: list[bytes]) -> tuple[list[bytes], ServiceError | None]:
        self._received.update(read)
        found: list[bytes] = []
        for data in chunks:
            try:
                found.append(data if is_done(data) else self._opened(data))
            except SealBroken as broken:
                return found, broken
        return found, None

    def drained(self, read: bytes) -> None:
        self._received.update(read)

    def ended(self, finish_reason: str) -> bool:
        return bool(finish_reason)

    def failed(self, error: ServiceError) -> ServiceError:
        if isinstance(error, SealBroken) or not isinstance(error, (RefusedCall, InBandError)):
            return error
        if error.code in STALE:
            return self._broken("stale", tr("The enclave’s key has changed. The enclave must be checked again."))
        said = f"{error.code or ''} {error.message}"
        if isinstance(error, RefusedCall) and error.status not in (400, 422):
            return error
        if error.code in HISTORY or HISTORY_TEXT.search(said):
            return self._broken("history", tr("The enclave did not accept the earlier messages of this sealed chat."))
        if SEALED_TEXT.search(said):
            return self._broken("refused", tr("The service refused the sealed request: {said}", said=error.message))
        return error

    def _opened(self, data: bytes) -> bytes:
        if len(data) > MAX_DEPTH and would_overflow(data):
            raise self._broken("damaged", tr("A piece of the answer cannot be read."))
        try:
            chunk = decode_sealed(data)
        except UNFIT:
            raise self._broken("damaged", tr("A piece of the answer cannot be read.")) from None
        if isinstance(chunk.id, str) and not self.answer_id:
            self.answer_id = chunk.id[:200]
        content: dict[str, object] = {"choices": self._choices(chunk.choices), "usage": chunk.usage, "cost": chunk.cost}
        if isinstance(chunk.model, str):
            content["model"] = chunk.model
        if chunk.error is not None:
            content["error"] = chunk.error
        return encode(content)

    def _choices(self, listed: object) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        for choice in listed if isinstance(listed, list) else ():
            if not isinstance(choice, Mapping):
                continue
            delta, reason = choice.get("delta"), choice.get("finish_reason")
            texts: dict[str, object] = {}
            for name in SEALED_TEXTS:
                text = self._text(delta.get(name), name) if isinstance(delta, Mapping) else None
                if text:
                    texts[name] = text
            found.append({"index": 0, "delta": texts, "finish_reason": reason if isinstance(reason, str) else None})
        return found

    def _text(self, value: object, name: str) -> str:
        if value is None or value == "" or value == []:
            return ""
        if not isinstance(value, str):
            raise self._in_the_clear(name)
        if not value.strip():
            return value
        if not looks_sealed(value):
            raise self._in_the_clear(name)
        try:
            text = open_envelope(value, self._key)
        except EnvelopeDecryptionError as broken:
            raise self._broken("damaged", str(broken)) from None
        self.opened += 1
        return text

    def _in_the_clear(self, name: str) -> SealBroken:
        if name.startswith("reasoning"):
            return self._broken("clear", tr("The model’s reasoning came in the clear. That piece is not shown."))
        return self._broken("clear", tr("A piece of the answer came in the clear. That piece is not shown."))

    def _broken(self, reason: str, sentence: str) -> SealBroken:
        self._on_broken()
        info = self._info
        return SealBroken(
            sentence,
            reason=reason,
            arrived=self.opened > 0,
            status=info.status if info is not None else None,
            info=info,
            request_id=info.request_id if info is not None else "",
        )

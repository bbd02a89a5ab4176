"""Misbehavior on request: which faults are armed, how often they still strike, and where.

Setting a fault replaces the one of the same name, so the controls can be repeated without harm. A fault is for all
or for one key alone; a key's own comes first.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from app.sandbox.http.errors import SHAPES, Json
from app.sandbox.http.validation import Checker, Path

# The id of the caller whose request this task works on; "" before it is known, and without a key.
CALLER: ContextVar[str] = ContextVar("CALLER", default="")
# name -> what it does, shown by `GET /sandbox/faults`
NAMES = {
    "slow": "wait `seconds` before answering",
    "answer": "answer with `status` (and `body`, or the example of a `shape`) instead of doing the work",
    "drop": "close the connection without an answer",
    "lie": "answer with a body that is not what the headers promise: `kind` length, json, html, empty or type",
    "cut": "close the connection after `after` characters of a streamed chat, or bytes of streamed speech or of a"
    " video; a video with `kind` length claims to be whole",
    "no_done": "end the stream without [DONE]",
    "in_band_error": "send an error object inside the 200 stream after `after` characters",
    "split_think": "split think tags across several chunks",
    "shuffle_batch": "answer the items of a JSON-RPC batch in a different order",
    "same_index": "give parallel streamed tool calls the same index",
    "nonce_reused": "refuse a wallet’s sign-in as if its nonce had been used before",
    "terms_v1": "send top-up terms in payment protocol version 1",
    "settlement_failed": "answer a verified payment with 402 SETTLEMENT_FAILED; nothing is transferred",
    "payment_in_progress": "answer a verified payment with 409 PAYMENT_IN_PROGRESS; nothing is transferred yet",
    "terms_without_block": "leave the recent block out of the terms of the Solana rail",
    "settlement_timeout": "answer a verified payment with 504 SETTLEMENT_TIMEOUT; it counts unless `landed` is false",
    # What a service could say of a sealed chat that is not true; the first stands for any one of the others
    "sealed": "falsify sealed chats: `kind` is a name below without `sealed_`, with its own kind after a colon",
    "sealed_other_nonce": "attest with a different nonce than the one sent",
    "sealed_old_quote": "attest with a quote for an older nonce",
    "sealed_other_key": "name a different key than the quote does",
    "sealed_other_address": "name a signing address that is not the key’s",
    "sealed_other_model": "attest another model",
    "sealed_debug": "attest an enclave in debug mode",
    "sealed_flipped_byte": "change one byte of the quote: `kind` body, signature or qe",
    "sealed_other_root": "sign the quote under a different root certificate",
    "sealed_firmware": "list the enclave’s firmware as `kind` out_of_date or revoked",
    "sealed_lists_expired": "send a list of firmware levels that has expired",
    "sealed_revoked": "list the enclave’s processor as revoked",
    "sealed_quote_type": "send a quote of a different type: `kind` sgx or version",
    "sealed_server_nonce": "say that the server made the nonce",
    "sealed_two_keys": "name two different keys",
    "sealed_report_data": "put something into the unused bytes of the quote’s report data",
    "sealed_event_log": "change an entry of the event log",
    "sealed_gpu": "send evidence of a graphics processor with `kind` nonce (another one) or empty",
    "sealed_nvidia": "let NVIDIA’s stand-in answer with `kind` nonce, signature, verdict, expired, other_gpu or debug",
    "sealed_measurements": "attest another release of the enclave’s program",
    "sealed_no_quote": "claim that everything is verified, and send no quote",
    "sealed_claims": "report the quote as invalid although it is not",
    "sealed_clear_first": "send the first piece of a sealed answer in the clear",
    "sealed_clear_middle": "send a later piece of a sealed answer in the clear",
    "sealed_clear_reasoning": "send the reasoning of a sealed answer in the clear",
    "sealed_bad_chunk": "damage a piece of a sealed answer: `kind` cut, odd or other_key",
    "sealed_lost_chunk": "lose a piece of a sealed answer: `kind` blank or dropped",
    "sealed_resealed": "put the relay’s key in place of the client’s, read the answer, and seal it again",
    "sealed_no_header": "leave out the header that says that an answer comes from an enclave",
    "sealed_plain_json": "answer a sealed chat in one piece, in the clear",
    "sealed_receipt": "sign a receipt for `kind` other_text, or with other_key",
    "sealed_stale_key": "change the enclave’s key: `kind` stream, or history (earlier answers are refused)",
}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"([!-~\xa0-\xff]([ \t!-~\xa0-\xff]*[!-~\xa0-\xff])?)?")
_FRAMING = ("content-length", "transfer-encoding", "connection", "content-encoding")
LIES = ("length", "json", "html", "empty", "type")
KINDS = {
    "sealed_flipped_byte": ("body", "signature", "qe"),
    "sealed_firmware": ("out_of_date", "revoked"),
    "sealed_quote_type": ("sgx", "version"),
    "sealed_gpu": ("nonce", "empty"),
    "sealed_nvidia": ("nonce", "signature", "verdict", "expired", "other_gpu", "debug"),
    "sealed_bad_chunk": ("cut", "odd", "other_key"),
    "sealed_lost_chunk": ("blank", "dropped"),
    "sealed_receipt": ("other_text", "other_key"),
    "sealed_stale_key": ("stream", "history"),
}
SEALED = "sealed_"
KINDS["sealed"] = tuple(
    f"{name.removeprefix(SEALED)}:{kind}" if kind else name.removeprefix(SEALED)
    for name in NAMES
    if name.startswith(SEALED)
    for kind in KINDS.get(name, ("",))
)


@dataclass(slots=True)
class Fault:
    name: str
    times_left: int | None  # None: until it is taken away
    path: str  # strikes only requests whose path contains this
    values: Json

    def as_json(self) -> Json:
        return {"times": self.times_left, "path": self.path, **self.values}


def sendable_headers(check: Checker, path: Path, value: object) -> Json | None:
    """Headers that can be sent. What frames the answer is not theirs to say: the fault `lie` is for that."""
    given = check.record(path, value)
    for name, text in (given or {}).items():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _FRAMING or not _HEADER_VALUE.fullmatch(str(text)):
            check.complain((*path, name), "Cannot be sent as a header")
    return given


class Faults:
    def __init__(self) -> None:
        self._armed: dict[str, dict[str, Fault]] = {}  # by the caller that they are for; "": for all

    def arm(self, name: str, body: Json, caller_id: str = "") -> Fault:
        """Arm one fault from its JSON form, for all or for one caller.

        Raises `Refusal` 400 with the tree of everything that is wrong in it.
        """
        check = Checker()
        values: Json = {
            "seconds": check.number(("seconds",), body.get("seconds"), 0, 600),
            "status": check.integer(("status",), body.get("status"), 400, 599),
            "body": body.get("body"),
            "shape": check.choice(("shape",), body.get("shape"), SHAPES),
            "text": check.text(("text",), body.get("text")),
            "headers": sendable_headers(check, ("headers",), body.get("headers")),
            "kind": check.choice(("kind",), body.get("kind"), KINDS.get(name, LIES)),
            "after": check.integer(("after",), body.get("after"), 0),
            "code": check.text(("code",), body.get("code")),
            "landed": check.boolean(("landed",), body.get("landed")),
        }
        times = check.integer(("times",), body.get("times"), 1)
        path = check.text(("path",), body.get("path")) or ""
        check.only((), body, (*values, "times", "path"))
        check.finish()
        fault = Fault(name, times, path, {key: value for key, value in values.items() if value is not None})
        self._armed.setdefault(caller_id, {})[name] = fault
        return fault

    def disarm(self, name: str, caller_id: str = "") -> None:
        self._armed.get(caller_id, {}).pop(name, None)

    def disarm_all(self, caller_id: str = "") -> None:
        self._armed.pop(caller_id, None)

    def clear(self) -> None:
        """Forget every fault, whomever it is for."""
        self._armed.clear()

    def take_fault(self, name: str, path: str) -> Json | None:
        """Return the fault's values when it hits this request, and use up one of its times."""
        fault = self._standing_for(name)
        if fault is None or fault.path not in path:
            return None
        values = self.armed(name)
        if fault.times_left is not None:
            fault.times_left -= 1
            if fault.times_left <= 0:
                for armed in self._armed.values():
                    if armed.get(fault.name) is fault:
                        del armed[fault.name]
        return values

    def armed(self, name: str) -> Json | None:
        """The values of a fault that is armed, by itself or as the kind of "sealed", without using it up."""
        fault = self._standing_for(name)
        if fault is None or fault.name == name:
            return fault.values if fault is not None else None
        _, _, kind = str(fault.values.get("kind", "")).partition(":")
        return {"kind": kind} if kind else {}

    def _standing_for(self, name: str) -> Fault | None:
        armed = {**self._armed.get("", {}), **self._armed.get(CALLER.get(), {})}
        fault, any_lie = armed.get(name), armed.get("sealed")
        if fault is not None or any_lie is None or not name.startswith(SEALED):
            return fault
        lie, _, _ = str(any_lie.values.get("kind", "")).partition(":")
        return any_lie if lie == name.removeprefix(SEALED) else None

    def as_json(self, caller_id: str = "") -> dict[str, Any]:
        return {name: fault.as_json() for name, fault in self._armed.get(caller_id, {}).items()}

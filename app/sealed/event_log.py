"""The log of what a machine measured while it started, and the compose file that it says it runs.

Each entry extends one of four registers of the quote: register = SHA-384(register ‖ digest). A log that leads to the
registers of the quote is the machine's own. Entries of the running system (type 0x08000001) have a name and a payload,
of which their digest is made; services that leave that digest empty are not missing anything.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.sealed.checks import Check, CheckFailed, Outcome, require
from app.sealed.quote import Quote
from app.translation import tr, tr_n

RUNTIME_EVENT = 0x08000001
MAX_EVENTS = 10_000
_DIGEST = re.compile(r"(?:[0-9a-fA-F]{96})?")
_BYTES = re.compile(r"(?:[0-9a-fA-F]{2})*")


@dataclass(frozen=True, slots=True)
class Event:
    register: int  # 0 to 3
    digest: bytes
    name: str
    payload: bytes


def check_event_log(log: object, quote: Quote) -> tuple[Check, tuple[Event, ...]]:
    """Replay a log (a list, or JSON text of one; None or "" when there is none) against the quote's registers.

    Raises `CheckFailed` for one that contradicts the quote.
    """
    title = tr("Event log")
    if log is None or log == "" or log == []:
        reason = tr("The service sent no event log.")
        return Check("event_log", title, "", Outcome.NOT_CHECKED, reason), ()
    try:
        entries = json.loads(log) if isinstance(log, str) else log
        events = _read(entries)
    except (ValueError, RecursionError):
        reason = tr("The event log cannot be read.")
        raise CheckFailed(Check("event_log", title, "", Outcome.FAILED, reason)) from None
    registers = [bytes(48)] * 4
    for event in events:
        registers[event.register] = hashlib.sha384(registers[event.register] + event.digest).digest()
    wrong = [number for number, (ours, theirs) in enumerate(zip(registers, quote.rtmrs, strict=True)) if ours != theirs]
    check = require(
        not wrong,
        "event_log",
        title,
        tr_n("{n} entry", "{n} entries", len(events)) if not wrong else f"RTMR{wrong[0]}",
        tr("The event log does not match the measurements in the quote."),
    )
    return check, events


def check_compose(info: object, events: tuple[Event, ...], quote: Quote) -> Check:
    """Whether the compose file, where its text or hash is given, is the one that the machine measured.

    Raises `CheckFailed` when two of text, hash, log and quote contradict each other.
    """
    title = tr("Compose file")
    stated, text = _stated(info)
    logged = [event.payload for event in events if event.register == 3 and event.name == "compose-hash"]
    configured = quote.mrconfigid[1:33] if quote.mrconfigid[:1] == b"\x01" and not any(quote.mrconfigid[33:]) else None
    known = [each for each in (configured, *logged, *stated) if each is not None]
    if text is not None:
        known.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    if not known or (not logged and not stated and text is None):
        reason = tr("The service does not say which compose file the enclave runs.")
        return Check("compose", title, "", Outcome.NOT_CHECKED, reason)
    if configured is None or any(each != known[0] for each in known):
        reason = tr("The compose file is not the one the enclave measured.")
        raise CheckFailed(Check("compose", title, known[-1].hex(), Outcome.FAILED, reason))
    if text is None:
        reason = tr("The service sent the hash of the compose file, not its text.")
        return Check("compose", title, known[0].hex(), Outcome.NOTED, reason)
    return Check("compose", title, known[0].hex(), Outcome.PASSED)


def _read(entries: object) -> tuple[Event, ...]:
    if not isinstance(entries, list) or len(entries) > MAX_EVENTS:
        raise ValueError("not a log")
    return tuple(_event(each) for each in entries)


def _event(entry: object) -> Event:
    if not isinstance(entry, Mapping):
        raise ValueError("not an entry")
    register, kind = entry.get("imr"), entry.get("event_type")
    digest, name = entry.get("digest", ""), entry.get("event", "")
    payload = entry.get("event_payload", "")
    if type(register) is not int or not 0 <= register <= 3 or type(kind) is not int or not 0 <= kind < 2**32:
        raise ValueError("no register")
    if not isinstance(digest, str) or not isinstance(name, str) or not isinstance(payload, str):
        raise ValueError("not text")
    if not _DIGEST.fullmatch(digest) or not _BYTES.fullmatch(payload):
        raise ValueError("not hex")
    stated, content = bytes.fromhex(digest), bytes.fromhex(payload)
    if kind == RUNTIME_EVENT:
        made = hashlib.sha384(kind.to_bytes(4, "little") + b":" + name.encode() + b":" + content).digest()
        if stated and stated != made:
            raise CheckFailed(
                Check(
                    "event_log",
                    tr("Event log"),
                    name[:64],
                    Outcome.FAILED,
                    tr("An entry of the event log does not match its digest."),
                )
            )
        stated = made
    elif not stated:
        raise ValueError("no digest")
    return Event(register, stated, name if kind == RUNTIME_EVENT else "", content)


def _stated(info: object) -> tuple[list[bytes], str | None]:
    """The hashes and the text that `info` and its `tcb_info` (an object, or JSON text of one) give."""
    if not isinstance(info, Mapping):
        return [], None
    inner = tcb_info(info)
    hashes: list[bytes] = []
    for value in (info.get("compose_hash"), inner.get("compose_hash")):
        if isinstance(value, str) and value:
            hashes.append(bytes.fromhex(value) if re.fullmatch(r"[0-9a-fA-F]{64}", value) else b"")
    text = inner.get("app_compose")
    return hashes, text if isinstance(text, str) and text else None


def tcb_info(info: object) -> Mapping[str, object]:
    """The `tcb_info` of an attestation's `info`; empty when it cannot be read."""
    found = info.get("tcb_info") if isinstance(info, Mapping) else None
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            return {}
    return found if isinstance(found, Mapping) else {}

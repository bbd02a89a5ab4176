"""The file in which the evidence of a sealed chat is saved, so that it can be checked again without the service.

JSON in UTF-8, one object:

    format        "sealed-evidence"
    version       1
    host          where it was asked for, "" when not known
    model         the model's id
    nonce         64 hex digits: what was asked with
    checked_at    when it was checked, ISO 8601 in UTC; certificates and lists are held against this time
    root          {"name", "sha256"}: the root certificate that was pinned
    attestation   the body of the answer, as text, character for character
    collateral    Intel's lists as text (JSON), or null where they were not asked for
    nvidia        NVIDIA's answer about the graphics processors, {"issuer", "tokens", "keys"} as text, or null; the keys
                  came from NVIDIA's server, which this file alone cannot prove
    asked         hosts beside the service that were asked, {"intel": […], "nvidia": […]}, also where nothing came
    measurements  those first seen for this host and model, name → hex, or null
    receipts      list of {"answer", "sent", "received", "body"}: the answer's id, the SHA-256 of the bytes sent and
                  received, and the receipt as it came, or null

`python -m app.sealed verify FILE` reads it. Only a chain that ends at Intel's root proves a genuine processor,
whatever the file says of its root.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

from app.sealed.attestation import Verdict, verify
from app.sealed.chain import INTEL_ROOT, Root
from app.sealed.checks import Damaged
from app.sealed.collateral import Collateral
from app.sealed.gpu import NvidiaAnswer
from app.sealed.receipt import NO_RECEIPT, EnclaveReceipt, check_receipt
from app.translation import tr

FORMAT = "sealed-evidence"
VERSION = 1
MAX_FILE_BYTES = 16 * 1024 * 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SavedReceipt:
    """`body` is the receipt as it came, None where the service had none."""

    answer: str
    sent: bytes
    received: bytes
    body: object = None


@dataclass(frozen=True, slots=True)
class Evidence:
    model: str
    nonce: bytes
    checked_at: datetime
    attestation: bytes
    host: str = ""
    root: Root = INTEL_ROOT
    collateral: Collateral | None = None
    nvidia: NvidiaAnswer | None = None
    asked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    measurements: Mapping[str, str] | None = None
    receipts: tuple[SavedReceipt, ...] = field(default=())

    def verify(self) -> Verdict:
        """Check all of it again, as of when it was checked first."""
        return verify(
            self.attestation,
            model=self.model,
            nonce=self.nonce,
            now=self.checked_at,
            root=self.root,
            collateral=self.collateral,
            nvidia=self.nvidia,
            asked=self.asked,
            known=self.measurements,
        )

    def check_receipts(self, verdict: Verdict) -> tuple[tuple[str, EnclaveReceipt], ...]:
        """Each answer's id with what came of its receipt."""
        return tuple(
            (
                each.answer,
                NO_RECEIPT
                if each.body is None
                else check_receipt(each.body, verdict.address, each.sent, each.received),
            )
            for each in self.receipts
        )

    def to_bytes(self) -> bytes:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "host": self.host,
            "model": self.model,
            "nonce": self.nonce.hex(),
            "checked_at": self.checked_at.astimezone(UTC).isoformat(),
            "root": {"name": self.root.name, "sha256": self.root.sha256},
            "attestation": self.attestation.decode(),
            "collateral": self.collateral.text if self.collateral is not None else None,
            "nvidia": asdict(self.nvidia) if self.nvidia is not None else None,
            "asked": {name: list(hosts) for name, hosts in self.asked.items()},
            "measurements": dict(self.measurements) if self.measurements is not None else None,
            "receipts": [
                {"answer": each.answer, "sent": each.sent.hex(), "received": each.received.hex(), "body": each.body}
                for each in self.receipts
            ],
        }
        text = json.dumps(content, ensure_ascii=False, indent=1)
        return text.encode(errors="backslashreplace")  # half of a surrogate pair stays what it was: JSON escapes it so


def read_evidence(data: bytes) -> Evidence:
    """Return what a saved file holds. Raises `Damaged` with the offset of what cannot be right, in bytes."""
    if len(data) > MAX_FILE_BYTES:
        raise Damaged("file", MAX_FILE_BYTES, tr("The file is larger than 16 MB."))
    try:
        text = data.decode()
        content = json.loads(text)
    except UnicodeDecodeError as error:
        raise Damaged("file", error.start, tr("The file is not text.")) from None
    except json.JSONDecodeError as error:
        raise Damaged("file", len(error.doc[: error.pos].encode()), tr("The file is not JSON.")) from None
    except (RecursionError, ValueError):
        raise Damaged("file", 0, tr("The file is not JSON.")) from None
    fields = _Fields(content, data)
    if fields.text("format") != FORMAT or fields.get("version") != VERSION:
        raise fields.wrong("format")
    root = fields.record("root")
    sha256, name = root.get("sha256"), root.get("name")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256) or not isinstance(name, str):
        raise fields.wrong("root")
    measurements = fields.get("measurements")
    return Evidence(
        model=fields.text("model"),
        nonce=fields.bytes_of("nonce"),
        checked_at=fields.time("checked_at"),
        attestation=fields.text("attestation").encode(),
        host=fields.text("host"),
        root=INTEL_ROOT if sha256 == INTEL_ROOT.sha256 else Root(sha256, name),
        collateral=fields.collateral(),
        nvidia=fields.nvidia(),
        asked=fields.asked(),
        measurements=None if measurements is None else fields.texts("measurements"),
        receipts=fields.receipts(),
    )


class _Fields:
    """The members of the file's object; what does not fit is refused with the place of its name in the file."""

    def __init__(self, content: object, data: bytes) -> None:
        if not isinstance(content, dict):
            raise Damaged("file", 0, tr("The file is not an object."))
        self._content, self._data = content, data

    def wrong(self, name: str) -> Damaged:
        offset = self._data.find(f'"{name}"'.encode())
        if offset < 0:
            return Damaged("file", len(self._data), tr("The file lacks “{name}”.", name=name))
        return Damaged("file", offset, tr("“{name}” has an unexpected value.", name=name))

    def get(self, name: str) -> object:
        if name not in self._content:
            raise self.wrong(name)
        return self._content[name]

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str):
            raise self.wrong(name)
        return value

    def record(self, name: str) -> Mapping[str, object]:
        value = self.get(name)
        if not isinstance(value, Mapping):
            raise self.wrong(name)
        return value

    def texts(self, name: str) -> dict[str, str]:
        record = self.record(name)
        found = {key: value for key, value in record.items() if isinstance(value, str)}
        if len(found) != len(record):
            raise self.wrong(name)
        return found

    def bytes_of(self, name: str) -> bytes:
        value = self.text(name)
        if not _SHA256.fullmatch(value):
            raise self.wrong(name)
        return bytes.fromhex(value)

    def time(self, name: str) -> datetime:
        try:
            at = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self.wrong(name) from None
        if at.tzinfo is None:
            raise self.wrong(name)
        return at

    def collateral(self) -> Collateral | None:
        text = self.get("collateral")
        if text is not None and not isinstance(text, str):
            raise self.wrong("collateral")
        try:
            return Collateral(text) if text is not None else None
        except Damaged:
            raise self.wrong("collateral") from None

    def nvidia(self) -> NvidiaAnswer | None:
        if self._content.get("nvidia") is None:
            return None
        match self.texts("nvidia"):
            case {"issuer": issuer, "tokens": tokens, "keys": keys}:
                return NvidiaAnswer(issuer, tokens, keys)
        raise self.wrong("nvidia")

    def asked(self) -> dict[str, tuple[str, ...]]:
        found = self.record("asked") if "asked" in self._content else {}
        hosts = {name: tuple(each) for name, each in found.items() if isinstance(each, list)}
        if len(hosts) != len(found) or not all(isinstance(host, str) for each in hosts.values() for host in each):
            raise self.wrong("asked")
        return hosts

    def receipts(self) -> tuple[SavedReceipt, ...]:
        listed, found = self.get("receipts"), []
        if not isinstance(listed, list):
            raise self.wrong("receipts")
        for each in listed:
            answer, sent, received = (
                each.get(name) if isinstance(each, Mapping) else None for name in ("answer", "sent", "received")
            )
            hashes = [value for value in (sent, received) if isinstance(value, str) and _SHA256.fullmatch(value)]
            if not isinstance(answer, str) or len(hashes) != 2:
                raise self.wrong("receipts")
            found.append(SavedReceipt(answer, bytes.fromhex(hashes[0]), bytes.fromhex(hashes[1]), each.get("body")))
        return tuple(found)

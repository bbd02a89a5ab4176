"""Checks the signature that an enclave gives for one answer, and what it says about the bytes we sent and received."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.sealed import secp256k1
from app.sealed.keys import address_of, keccak256
from app.translation import tr

MAX_TEXT_CHARS = 100_000
_HASH = re.compile(r"[0-9a-fA-F]{64}")
_SIGNATURE = re.compile(r"(?:0[xX])?([0-9a-fA-F]{130})")


class ReceiptOutcome(StrEnum):
    """Only `BOUND` is "verified"."""

    BOUND = "bound"  # signed by the attested key, over the hashes of our bytes
    SIGNED = "signed"  # signed by the attested key, over other bytes
    FOREIGN = "foreign"  # signed by another key
    FAILED = "failed"  # cannot be read
    NONE = "none"  # the service has none


@dataclass(frozen=True, slots=True)
class EnclaveReceipt:
    """`signer` is the address that signed, "" where none could be told. `text` is what it signed."""

    outcome: ReceiptOutcome
    text: str = ""
    signer: str = ""

    @property
    def sentence(self) -> str:
        match self.outcome:
            case ReceiptOutcome.BOUND:
                return tr("The receipt matches what was sent and received.")
            case ReceiptOutcome.SIGNED:
                return tr("The enclave signed a receipt for other bytes, which cannot be compared.")
            case ReceiptOutcome.FOREIGN:
                return tr("The receipt is signed by another key.")
            case ReceiptOutcome.FAILED:
                return tr("The receipt cannot be read.")
            case ReceiptOutcome.NONE:
                return tr("The service has no receipt for this answer.")


NO_RECEIPT = EnclaveReceipt(ReceiptOutcome.NONE)


def check_receipt(body: object, address: bytes, sent: bytes, received: bytes) -> EnclaveReceipt:
    """Check a receipt against the attested address and the SHA-256 of the bytes sent and received. Never raises."""
    content = body if isinstance(body, Mapping) else {}
    text, signature = content.get("text"), content.get("signature")
    if isinstance(signature, Mapping):
        signature = signature.get("value")
    match = _SIGNATURE.fullmatch(signature.strip()) if isinstance(signature, str) else None
    if not isinstance(text, str) or not text or len(text) > MAX_TEXT_CHARS or match is None:
        return EnclaveReceipt(ReceiptOutcome.FAILED)
    signer = recover_signer(text, bytes.fromhex(match[1]))
    if signer is None:
        return EnclaveReceipt(ReceiptOutcome.FAILED, text)
    shown = f"0x{signer.hex()}"
    if signer != address:
        return EnclaveReceipt(ReceiptOutcome.FOREIGN, text, shown)
    hashes = [part.lower() for part in text.split(":") if _HASH.fullmatch(part)]
    is_ours = hashes[-2:] == [sent.hex(), received.hex()]
    return EnclaveReceipt(ReceiptOutcome.BOUND if is_ours else ReceiptOutcome.SIGNED, text, shown)


def recover_signer(text: str, signature: bytes) -> bytes | None:
    """The address that signed `text` as a personal message (EIP-191). 65 bytes r‖s‖v, v as 27/28 or 0/1."""
    message = text.encode("utf-8", "surrogatepass")
    digest = keccak256(b"\x19Ethereum Signed Message:\n" + str(len(message)).encode() + message)
    v = signature[64] - 27 if signature[64] >= 27 else signature[64]
    if v not in (0, 1):
        return None
    try:
        return address_of(secp256k1.recover(signature[:64] + bytes([v]), digest))
    except ValueError:
        return None

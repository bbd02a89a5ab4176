"""What a payment signs: EIP-3009 `TransferWithAuthorization`, hashed as EIP-712 typed data.

The bytes that are hashed are built here, one 32-byte word for each field, so that a sign sheet can show what stands in
them and not what somebody meant to put there. Whoever signs compares these hashes with those of another encoder.
Source: EIP-712 (encoding), EIP-3009 (the message).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.translation import tr
from app.wallet.addresses import checksum_address, keccak256
from app.wallet.errors import PaymentRefused

WORD = 32
NONCE_BYTES = 32
MAX_UINT256 = 2**256 - 1
PRIMARY_TYPE = "TransferWithAuthorization"
DOMAIN_FIELDS = (
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
)
MESSAGE_FIELDS = (
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("validAfter", "uint256"),
    ("validBefore", "uint256"),
    ("nonce", "bytes32"),
)


def type_text(name: str, fields: tuple[tuple[str, str], ...]) -> str:
    """`Name(type field,…)`, the text whose hash stands first in the encoded struct."""
    return f"{name}({','.join(f'{kind} {field}' for field, kind in fields)})"


DOMAIN_TYPE = type_text("EIP712Domain", DOMAIN_FIELDS)
MESSAGE_TYPE = type_text(PRIMARY_TYPE, MESSAGE_FIELDS)


@dataclass(frozen=True, slots=True)
class TransferAuthorization:
    """Leave for whoever holds the signature to move `value` base units from `sender` to `receiver`, once.

    Addresses are checksummed, times are Unix seconds, `nonce` is 32 bytes that are never used twice.
    """

    token_name: str
    token_version: str
    chain_id: int
    token: str
    sender: str
    receiver: str
    value: int
    valid_after: int
    valid_before: int
    nonce: bytes

    @property
    def domain_bytes(self) -> bytes:
        """160 bytes: type hash, hash of the name, hash of the version, chain id, contract."""
        return b"".join(
            (
                keccak256(DOMAIN_TYPE.encode()),
                keccak256(self.token_name.encode()),
                keccak256(self.token_version.encode()),
                _number(self.chain_id),
                _address(self.token),
            )
        )

    @property
    def struct_bytes(self) -> bytes:
        """224 bytes: type hash, then the six fields in their order."""
        if len(self.nonce) != NONCE_BYTES:
            raise PaymentRefused("nonce", tr("A payment’s nonce is 32 bytes."), "nonce")
        return b"".join(
            (
                keccak256(MESSAGE_TYPE.encode()),
                _address(self.sender),
                _address(self.receiver),
                _number(self.value),
                _number(self.valid_after),
                _number(self.valid_before),
                self.nonce,
            )
        )

    @property
    def domain_separator(self) -> bytes:
        return keccak256(self.domain_bytes)

    @property
    def struct_hash(self) -> bytes:
        return keccak256(self.struct_bytes)

    @property
    def digest(self) -> bytes:
        """The 32 bytes that are signed; a hardware wallet shows this or the two hashes above."""
        return keccak256(b"\x19\x01" + self.domain_separator + self.struct_hash)

    def typed_data(self) -> dict[str, object]:
        """The document that `eth_signTypedData_v4` takes, for signing elsewhere; numbers as decimal text."""
        return {
            "types": {
                "EIP712Domain": [{"name": name, "type": kind} for name, kind in DOMAIN_FIELDS],
                PRIMARY_TYPE: [{"name": name, "type": kind} for name, kind in MESSAGE_FIELDS],
            },
            "primaryType": PRIMARY_TYPE,
            "domain": {
                "name": self.token_name,
                "version": self.token_version,
                "chainId": self.chain_id,
                "verifyingContract": self.token,
            },
            "message": dict(self.wire()),
        }

    def document(self) -> str:
        """The document to sign elsewhere, as `eth_signTypedData_v4` takes it."""
        return json.dumps(self.typed_data(), indent=2, ensure_ascii=True)

    def payload(self, signature: str) -> Mapping[str, object]:
        """The inner part of a payment header."""
        return {"signature": signature, "authorization": dict(self.wire())}

    def wire(self) -> Mapping[str, str]:
        """The six fields as a payment header carries them."""
        return {
            "from": self.sender,
            "to": self.receiver,
            "value": str(self.value),
            "validAfter": str(self.valid_after),
            "validBefore": str(self.valid_before),
            "nonce": "0x" + self.nonce.hex(),
        }


@dataclass(frozen=True, slots=True)
class SignedWords:
    """The fields as they stand in the bytes that are hashed."""

    chain_id: int
    token: str
    sender: str
    receiver: str
    value: int
    valid_after: int
    valid_before: int
    nonce: bytes


def read_signed_words(domain_bytes: bytes, struct_bytes: bytes, *, name: str, version: str) -> SignedWords:
    """Take the two encodings apart again. Raises `PaymentRefused` when they are not of this type and this token."""
    domain = _words(domain_bytes, 1 + len(DOMAIN_FIELDS))
    struct = _words(struct_bytes, 1 + len(MESSAGE_FIELDS))
    expected = (keccak256(DOMAIN_TYPE.encode()), keccak256(name.encode()), keccak256(version.encode()))
    if domain[:3] != expected or struct[0] != keccak256(MESSAGE_TYPE.encode()):
        raise PaymentRefused("encoding", tr("The data to sign is not a transfer of this token."))
    sender, receiver, token = (_read_address(word) for word in (struct[1], struct[2], domain[4]))
    value, valid_after, valid_before, chain_id = (
        int.from_bytes(word, "big") for word in (struct[3], struct[4], struct[5], domain[3])
    )
    return SignedWords(chain_id, token, sender, receiver, value, valid_after, valid_before, struct[6])


def _number(value: int) -> bytes:
    if not 0 <= value <= MAX_UINT256:
        raise PaymentRefused("number", tr("A number in the payment does not fit into 256 bits."))
    return value.to_bytes(WORD, "big")


def _address(text: str) -> bytes:
    return bytes(WORD - 20) + bytes.fromhex(text[2:])


def _words(data: bytes, count: int) -> tuple[bytes, ...]:
    if len(data) != count * WORD:
        raise PaymentRefused("encoding", tr("The data to sign has the wrong length."))
    return tuple(data[at : at + WORD] for at in range(0, len(data), WORD))


def _read_address(word: bytes) -> str:
    if any(word[: WORD - 20]):
        raise PaymentRefused("encoding", tr("An address in the data to sign is not valid."))
    return checksum_address(word[WORD - 20 :])

"""What is inside the enclave: the model's key, the opening of messages, the sealing of answers, receipts.

What comes is opened with OpenSSL's key agreement, so that a client is checked by another library than its own. What
goes out a piece at a time is sealed with libsecp256k1, in an eighth of the time. Receipts are signed by eth_keys.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from eth_keys.datatypes import PrivateKey
from eth_utils.crypto import keccak

from app.sandbox.http.errors import Json
from app.sandbox.sealed.attestation_issuer import Authority
from app.sandbox.sealed.nvidia import Signer

try:
    import coincurve
except ImportError:  # coincurve 21 has no wheel for Python 3.14; OpenSSL does the same, more slowly
    HAS_COINCURVE = False
else:
    HAS_COINCURVE = True

RUNTIME_EVENT = 0x08000001
SMALLEST = 65 + 12 + 16


class CannotOpen(Exception):
    """The message is one of the texts that live enclaves answer with."""


@dataclass
class KeyPair:
    """A pair on secp256k1, usable for sealing and for signing."""

    secret: bytes = field(default_factory=lambda: (secrets.randbits(255) + 1).to_bytes(32, "big"))

    def __post_init__(self) -> None:
        self._key = ec.derive_private_key(int.from_bytes(self.secret, "big"), ec.SECP256K1())
        self.public = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._signer = PrivateKey(self.secret)
        self.address: str = self._signer.public_key.to_address()

    def agree(self, other: bytes) -> bytes:
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), other)
        return _key_of(self._key.exchange(ec.ECDH(), theirs))

    def sign(self, text: str) -> str:
        """A personal message's signature (EIP-191)."""
        message = text.encode()
        digest = keccak(b"\x19Ethereum Signed Message:\n%d" % len(message) + message)
        signature = self._signer.sign_msg_hash(digest).to_bytes()
        return f"0x{signature[:64].hex()}{signature[64] + 27:02x}"


def is_public_key(text: str) -> bool:
    """Whether 130 hex digits are a point."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), bytes.fromhex(text))
    except ValueError:
        return False
    return len(text) == 130


def seal(text: str, recipient: bytes) -> str:
    """The envelope of a text for the owner of a public key."""
    public, shared = _agree_once(recipient)
    nonce = secrets.token_bytes(12)
    return (public + nonce + AESGCM(_key_of(shared)).encrypt(nonce, text.encode(), None)).hex()


def _agree_once(recipient: bytes) -> tuple[bytes, bytes]:
    """Return a new public key and the x-coordinate that it shares with `recipient`."""
    if not HAS_COINCURVE:
        own = ec.generate_private_key(ec.SECP256K1())
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), recipient)
        return own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint), own.exchange(
            ec.ECDH(), theirs
        )
    key = coincurve.PrivateKey()
    shared = coincurve.PublicKey(recipient).multiply(key.secret).format(compressed=False)[1:33]
    return key.public_key.format(compressed=False), shared


def _key_of(shared: bytes) -> bytes:
    return HKDF(SHA256(), 32, b"", b"ecdsa_encryption").derive(shared)


class Enclave:
    """One enclave with its key, its measurements and its chain; lives as long as the Sandbox."""

    def __init__(self) -> None:
        self.authority = Authority()
        self.stranger = Authority("Another")  # a chain that nobody pinned
        self.key = KeyPair()
        self.other_key = KeyPair()
        self.gpu_signer = Signer()
        self.old_nonce = secrets.token_bytes(32)

    def open(self, envelope: str) -> str:
        """The text of an envelope sealed to the model's key. Raises `CannotOpen`."""
        try:
            raw = bytes.fromhex(envelope)
        except ValueError:
            raise CannotOpen("Encrypted field is not valid hex") from None
        if len(raw) < SMALLEST:
            raise CannotOpen("Encrypted field is not valid hex")
        try:
            return AESGCM(self.key.agree(raw[:65])).decrypt(raw[65:77], raw[77:], None).decode()
        except (InvalidTag, ValueError):
            raise CannotOpen("Failed to decrypt field") from None


def compose_text(release: int) -> str:
    return json.dumps({"manifest_version": 2, "name": "rialto-sandbox", "release": release}, separators=(",", ":"))


def event_log(compose_hash: bytes) -> list[Json]:
    """What the machine measured while it started, in the form that is sent."""
    log = [
        _event(number % 3, 0x80000001 + number, "", f"{name}".encode())
        for number, name in enumerate(("firmware", "kernel", "boot", "table"))
    ]
    runtime = (
        ("system-preparing", b""),
        ("compose-hash", compose_hash),
        ("instance-id", b"sandbox"),
        ("system-ready", b""),
    )
    return log + [_event(3, RUNTIME_EVENT, name, payload) for name, payload in runtime]


def measurements(log: list[Json], compose_hash: bytes) -> dict[str, bytes]:
    registers = [bytes(48)] * 4
    for event in log:
        place = event["imr"]
        registers[place] = hashlib.sha384(registers[place] + bytes.fromhex(event["digest"])).digest()
    return {
        "mrtd": hashlib.sha384(b"rialto sandbox").digest(),
        "mrconfigid": b"\x01" + compose_hash + bytes(15),
        **{f"rtmr{number}": value for number, value in enumerate(registers)},
    }


def _event(register: int, kind: int, name: str, payload: bytes) -> Json:
    if kind == RUNTIME_EVENT:
        digest = hashlib.sha384(kind.to_bytes(4, "little") + b":" + name.encode() + b":" + payload)
    else:
        digest = hashlib.sha384(payload)
    return {
        "imr": register,
        "event_type": kind,
        "digest": digest.hexdigest(),
        "event": name,
        "event_payload": payload.hex(),
    }

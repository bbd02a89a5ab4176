"""The passphrase vault's bytes: how they are laid out, opened and made. Slow by design: run in a thread.

    magic and version (12) | header length (4) | body length (4)
    header    JSON: which key derivation with which numbers, and its salt
    verifier  12 bytes nonce + 16 bytes tag: an empty text sealed with a key of its own
    body      12 bytes nonce + AES-256-GCM of the secrets as JSON
    checksum  SHA-256 of everything before

How the three kinds of trouble are told apart: the lengths find a missing end and the checksum finds accidental
damage, both before any passphrase is asked for. Verifier and body are sealed apart, each with everything before the
verifier as associated data: when neither opens the passphrase is wrong, when only one does the other was tampered
with. Changing the salt and repairing the checksum makes every passphrase look wrong: no format can tell that
apart.

Nothing here protects against an old copy of the whole file being put back.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import struct
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.credentials.stores import VaultTampered, VaultTooNew, VaultTruncated, WrongPassphrase
from app.translation import tr

NAME = b"RIALTOVAULT"
MAGIC = NAME + b"\x01"
_LENGTHS = struct.Struct(">II")
_FRONT = len(MAGIC) + _LENGTHS.size
_NONCE, _TAG, _CHECKSUM, _SALT, _KEY = 12, 16, 32, 16, 32
_VERIFIER = _NONCE + _TAG
MAX_HEADER_BYTES = 4096
MAX_BODY_BYTES = 4 * 1024 * 1024

# The least that a guess costs anyone who stole the file; `measured_derivation` asks for more on a fast computer.
ARGON2ID = {"kdf": "argon2id", "iterations": 3, "lanes": 1, "memory_kib": 64 * 1024}
SCRYPT = {"kdf": "scrypt", "n": 2**17, "r": 8, "p": 1}
DERIVATION_S = 1.0  # what unlocking may take on the computer that made the file
MOST_TIMES = 32  # of the least: the file may be opened on a computer that is slower
_MAX_MEMORY_KIB = 1024 * 1024  # a header must not make us allocate without end

TRUNCATED = tr("The passphrase file is incomplete. Restore it from a backup.")
TAMPERED = tr("The passphrase file was changed or damaged after Rialto saved it, so Rialto does not use it.")
WRONG = tr("Wrong passphrase.")
TOO_NEW = tr("The passphrase file was written by a newer version of Rialto. Nothing was changed.")


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """Two keys from one passphrase; bytearrays, so that `wipe` can overwrite them."""

    verifier: bytearray
    body: bytearray

    def wipe(self) -> None:
        """Overwrite both. Copies inside the cipher library are beyond Python's reach; they live for one call."""
        for key in (self.verifier, self.body):
            key[:] = bytes(len(key))


@dataclass(frozen=True, slots=True)
class ParsedVaultFile:
    """A vault file taken apart, lengths and checksum proved, nothing decrypted."""

    front: bytes
    header: bytes
    verifier: bytes
    body: bytes
    parameters: dict[str, Any]


def parse_vault(data: bytes) -> ParsedVaultFile:
    """Raises `VaultTruncated`, `VaultTampered`, `VaultTooNew`."""
    if MAGIC.startswith(data[: len(MAGIC)]) and len(data) < _FRONT + _VERIFIER + _CHECKSUM:
        raise VaultTruncated(TRUNCATED)
    if not data.startswith(MAGIC):
        if data.startswith(NAME) and data[len(NAME)] > MAGIC[-1]:
            raise VaultTooNew(TOO_NEW)
        raise VaultTampered(TAMPERED)
    header_bytes, body_bytes = _LENGTHS.unpack_from(data, len(MAGIC))
    if header_bytes > MAX_HEADER_BYTES or not _NONCE + _TAG <= body_bytes <= MAX_BODY_BYTES:
        raise VaultTampered(TAMPERED)
    ends = [_FRONT, header_bytes, _VERIFIER, body_bytes]
    size = sum(ends) + _CHECKSUM
    if len(data) < size:
        raise VaultTruncated(TRUNCATED)
    if len(data) > size or hashlib.sha256(data[:-_CHECKSUM]).digest() != data[-_CHECKSUM:]:
        raise VaultTampered(TAMPERED)
    front, header, verifier, body = (data[sum(ends[:i]) : sum(ends[: i + 1])] for i in range(4))
    return ParsedVaultFile(front, header, verifier, body, _parameters(header))


def _parameters(header: bytes) -> dict[str, Any]:
    try:
        parameters = json.loads(header)
        assert isinstance(parameters, dict)
        salt = bytes.fromhex(parameters["salt"])
        numbers = [parameters[name] for name in _number_names(parameters["kdf"])]
        memory_kib = numbers[2] if parameters["kdf"] == "argon2id" else numbers[0] * numbers[1] * 128 // 1024
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise VaultTampered(TAMPERED) from None
    whole = all(isinstance(number, int) and 0 < number <= 2**24 for number in numbers)
    if not whole or len(salt) < _SALT or memory_kib > _MAX_MEMORY_KIB:
        raise VaultTampered(TAMPERED)
    return parameters


def _number_names(kdf: str) -> tuple[str, str, str]:
    if kdf == "argon2id":
        return ("iterations", "lanes", "memory_kib")
    if kdf == "scrypt":
        return ("n", "r", "p")
    raise KeyError(kdf)


def best_derivation() -> dict[str, Any]:
    """Return Argon2id's numbers where the installed `cryptography` has it, else scrypt's."""
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        Argon2id(salt=bytes(_SALT), length=_KEY, iterations=1, lanes=1, memory_cost=8)
    except (ImportError, UnsupportedAlgorithm):
        return dict(SCRYPT)
    return dict(ARGON2ID)


def measured_derivation(clock: Callable[[], float] = time.perf_counter) -> dict[str, Any]:
    """Return `best_derivation` repeated as often as takes this computer about a second. Takes about 0.3 s itself."""
    found = best_derivation()
    took = []
    for _ in range(2):  # the first may wait for memory, or for another program
        began = clock()
        derive("", new_parameters(found)).wipe()
        took.append(clock() - began)
    times = max(1, min(MOST_TIMES, int(DERIVATION_S / max(min(took), 0.001))))
    repeated = "iterations" if found["kdf"] == "argon2id" else "p"
    return {**found, repeated: found[repeated] * times}


def derive(passphrase: str, parameters: dict[str, Any]) -> Keys:
    """Turn a passphrase into keys; the same letters typed on another system give the same keys (NFC)."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

    text = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    salt = bytes.fromhex(parameters["salt"])
    try:
        master = _stretch(text, salt, parameters)
    except (ImportError, UnsupportedAlgorithm) as error:
        raise VaultTooNew(
            tr("This file needs Argon2id, which the cryptography library on this computer does not support.")
        ) from error
    except (ValueError, OverflowError, MemoryError) as error:
        raise VaultTampered(TAMPERED) from error
    verifier, body = (
        bytearray(HKDFExpand(SHA256(), _KEY, b"rialto vault " + use).derive(master)) for use in (b"verifier", b"body")
    )
    return Keys(verifier, body)


def _stretch(text: bytes, salt: bytes, parameters: dict[str, Any]) -> bytes:
    if parameters["kdf"] == "argon2id":
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        return Argon2id(
            salt=salt,
            length=_KEY,
            iterations=parameters["iterations"],
            lanes=parameters["lanes"],
            memory_cost=parameters["memory_kib"],
        ).derive(text)
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=salt, length=_KEY, n=parameters["n"], r=parameters["r"], p=parameters["p"]).derive(text)


def new_parameters(derivation: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return numbers with a fresh salt, for a new vault or a new passphrase."""
    return {**(derivation or measured_derivation()), "salt": secrets.token_bytes(_SALT).hex()}


def open_body(sealed: ParsedVaultFile, keys: Keys) -> dict[str, str]:
    """Return the secrets. Raises `WrongPassphrase` or `VaultTampered`."""
    known_good = _opens(keys.verifier, sealed.verifier, sealed.front + sealed.header) == b""
    plain = _opens(keys.body, sealed.body, sealed.front + sealed.header)
    if not known_good:
        # A body that opens although the verifier does not: the verifier was what somebody changed.
        raise VaultTampered(TAMPERED) if plain is not None else WrongPassphrase(WRONG)
    try:
        found = json.loads(plain or b"")
    except ValueError:
        raise VaultTampered(TAMPERED) from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise VaultTampered(TAMPERED)
    return found


def _opens(key: bytearray, sealed: bytes, associated: bytes) -> bytes | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(bytes(key)).decrypt(sealed[:_NONCE], sealed[_NONCE:], associated)
    except InvalidTag:
        return None


def seal(found: dict[str, str], keys: Keys, parameters: dict[str, Any]) -> bytes:
    """Return the whole file. Fresh nonces each time."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    header = json.dumps(parameters, sort_keys=True).encode()
    plain = json.dumps(found, ensure_ascii=False).encode("utf-8", "surrogatepass")
    front = MAGIC + _LENGTHS.pack(len(header), _NONCE + len(plain) + _TAG)
    nonce, body_nonce = secrets.token_bytes(_NONCE), secrets.token_bytes(_NONCE)
    verifier = nonce + AESGCM(bytes(keys.verifier)).encrypt(nonce, b"", front + header)
    body = body_nonce + AESGCM(bytes(keys.body)).encrypt(body_nonce, plain, front + header)
    whole = front + header + verifier + body
    return whole + hashlib.sha256(whole).digest()

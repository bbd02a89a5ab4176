"""The sealing of texts: a fresh key pair each, key agreement on secp256k1, HKDF-SHA256, AES-256-GCM.

An envelope is lower-case hex of: public key (65 bytes, 04…) ‖ nonce (12) ‖ ciphertext and tag. The agreed secret is
the raw x-coordinate of the shared point; libraries that hash the point give another key.
"""

from __future__ import annotations

import re
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.sealed import secp256k1
from app.translation import tr

INFO = b"ecdsa_encryption"
KEY_BYTES, NONCE_BYTES, TAG_BYTES = 65, 12, 16
MIN_BYTES = KEY_BYTES + NONCE_BYTES + TAG_BYTES
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

_HEX = re.compile(r"[0-9a-fA-F]+")


class EnvelopeDecryptionError(Exception):
    """An envelope that does not open. The message is a sentence; nothing of the content is in it."""


def looks_sealed(text: str) -> bool:
    """Whether a text can only be meant as an envelope, whole or damaged."""
    return len(text) >= 2 * MIN_BYTES and _HEX.fullmatch(text) is not None


class SecretKey:
    """One private key, in memory only: it has no text form, cannot be pickled, and is overwritten by `wipe`.

    Libraries work on copies that Python frees and does not overwrite; `wipe` reaches the one that lasts.
    """

    __slots__ = ("_secret", "public")

    def __init__(self, secret: bytes | None = None) -> None:
        """A new key; `secret` (32 bytes) is for tests with fixed keys."""
        self._secret = bytearray(secret if secret is not None else _fresh())
        self.public = secp256k1.public_key(bytes(self._secret))

    def agree(self, other: bytes) -> bytes:
        """The AES key shared with the owner of a 65-byte public key. Raises `EnvelopeDecryptionError`."""
        if not self._secret:
            raise EnvelopeDecryptionError(tr("The session’s key was wiped."))
        if len(other) != KEY_BYTES or other[0] != 4:
            raise EnvelopeDecryptionError(tr("The envelope has no valid public key."))
        try:
            # Not in constant time: the secret lives for one session, and only the network could hear the time.
            shared = secp256k1.shared_x(other, bytes(self._secret))
        except ValueError:
            raise EnvelopeDecryptionError(tr("The envelope has no valid public key.")) from None
        return HKDF(SHA256(), 32, None, INFO).derive(shared)

    def wipe(self) -> None:
        for place in range(len(self._secret)):
            self._secret[place] = 0
        self._secret.clear()

    @property
    def is_wiped(self) -> bool:
        return not self._secret

    def __repr__(self) -> str:
        return "SecretKey(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret key is not pickled")


def seal(text: str, recipient: bytes, *, ephemeral: SecretKey | None = None, nonce: bytes | None = None) -> str:
    """Return the envelope of a text for the owner of a public key; half characters become "?".

    `ephemeral` and `nonce` are for fixed vectors. Raises `EnvelopeDecryptionError` for a key that is none.
    """
    if not secp256k1.is_on_curve(recipient):
        raise EnvelopeDecryptionError(tr("The model’s key is not valid."))
    own = ephemeral or SecretKey()
    fresh = nonce or secrets.token_bytes(NONCE_BYTES)
    try:
        sealed = AESGCM(own.agree(recipient)).encrypt(fresh, text.encode("utf-8", "replace"), None)
    finally:
        if ephemeral is None:
            own.wipe()
    return (own.public + fresh + sealed).hex()


def open_envelope(envelope: str, key: SecretKey) -> str:
    """Return the text in an envelope sealed to `key`. Raises `EnvelopeDecryptionError`."""
    if not looks_sealed(envelope) or len(envelope) % 2:
        raise EnvelopeDecryptionError(tr("A piece of the answer is not a whole envelope."))
    raw = bytes.fromhex(envelope)
    shared = key.agree(raw[:KEY_BYTES])
    try:
        content = AESGCM(shared).decrypt(raw[KEY_BYTES : KEY_BYTES + NONCE_BYTES], raw[KEY_BYTES + NONCE_BYTES :], None)
        return content.decode()
    except (InvalidTag, UnicodeDecodeError):
        raise EnvelopeDecryptionError(tr("A piece of the answer cannot be opened with this session’s key.")) from None


def _fresh() -> bytes:
    while True:
        secret = secrets.token_bytes(32)
        if 0 < int.from_bytes(secret, "big") < ORDER:
            return secret

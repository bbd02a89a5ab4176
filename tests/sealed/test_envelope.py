"""Envelopes: fixed vectors, another library on the far side, and what must not open.

The second implementation is OpenSSL through `cryptography`: its own curve arithmetic and key agreement, where
`app.sealed` uses libsecp256k1 through `coincurve`.
"""

from __future__ import annotations

import copy
import gc
import pickle
import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from app.sealed.envelope import EnvelopeDecryptionError, SecretKey, looks_sealed, open_envelope, seal
from app.sealed.keys import address_of, read_address, read_key
from tests.sealed.samples import vector

VECTORS = vector("envelope.json")
KEYS = VECTORS["keys"]
CLIENT, MODEL = bytes.fromhex(KEYS["client_session_private"]), bytes.fromhex(KEYS["model_private"])


def openssl_seal(text: str, recipient: bytes) -> str:
    own = ec.generate_private_key(ec.SECP256K1())
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), recipient)
    key = HKDF(SHA256(), 32, b"", b"ecdsa_encryption").derive(own.exchange(ec.ECDH(), theirs))
    nonce = secrets.token_bytes(12)
    point = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return (point + nonce + AESGCM(key).encrypt(nonce, text.encode(), None)).hex()


def openssl_open(envelope: str, secret: bytes) -> str:
    raw = bytes.fromhex(envelope)
    own = ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256K1())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), raw[:65]))
    key = HKDF(SHA256(), 32, b"", b"ecdsa_encryption").derive(shared)
    return AESGCM(key).decrypt(raw[65:77], raw[77:], None).decode()


@pytest.mark.parametrize("made", VECTORS["envelopes"], ids=lambda made: made["what"])
def test_r_tee_09_envelopes_are_made_and_opened_as_the_vectors_say(made: dict[str, str]) -> None:
    sender = SecretKey(bytes.fromhex(made["ephemeral_private"]))
    recipient, nonce = bytes.fromhex(made["recipient_public"]), bytes.fromhex(made["nonce"])
    assert sender.agree(recipient).hex() == made["aes_key"]
    assert seal(made["plaintext"], recipient, ephemeral=sender, nonce=nonce) == made["envelope_hex"]
    owner = next(SecretKey(each) for each in (CLIENT, MODEL) if SecretKey(each).public == recipient)
    assert open_envelope(made["envelope_hex"], owner) == made["plaintext"]


@pytest.mark.parametrize("refused", VECTORS["refused"], ids=lambda refused: refused["why"])
def test_r_tee_11_what_the_vectors_refuse_does_not_open(refused: dict[str, str]) -> None:
    with pytest.raises(EnvelopeDecryptionError):
        open_envelope(refused["envelope_hex"], SecretKey(MODEL))


@given(st.text(max_size=300))
def test_another_library_opens_what_is_sealed_and_the_other_way_around(text: str) -> None:
    key = SecretKey(MODEL)
    assert openssl_open(seal(text, key.public), MODEL) == text
    assert open_envelope(openssl_seal(text, key.public), key) == text


def test_r_tee_09_each_envelope_has_a_key_and_a_nonce_of_its_own() -> None:
    made = [seal("the same", SecretKey(MODEL).public) for _ in range(50)]
    assert len({each[:130] for each in made}) == len({each[130:154] for each in made}) == 50


def test_r_tee_11_an_envelope_with_any_byte_changed_does_not_open() -> None:
    envelope = seal("four words of text", SecretKey(MODEL).public)
    for place in range(0, len(envelope), 2):
        other = f"{int(envelope[place : place + 2], 16) ^ 1:02x}"
        with pytest.raises(EnvelopeDecryptionError):
            open_envelope(envelope[:place] + other + envelope[place + 2 :], SecretKey(MODEL))


def test_half_a_character_is_sealed_as_a_question_mark() -> None:
    assert open_envelope(seal("a\ud800b", SecretKey(MODEL).public), SecretKey(MODEL)) == "a?b"


def test_a_key_that_is_none_is_not_sealed_to() -> None:
    for key in (b"", b"\x04" + bytes(64), SecretKey().public[:64], b"\x02" + SecretKey().public[1:]):
        with pytest.raises(EnvelopeDecryptionError):
            seal("x", key)


def test_text_in_the_clear_does_not_look_sealed() -> None:
    assert looks_sealed(seal("", SecretKey(MODEL).public))
    for text in ("", "Hello", "ab" * 92, "ab" * 93 + "x", "0x" + "ab" * 100):
        assert not looks_sealed(text)


def test_r_tee_16_a_secret_key_has_no_text_form_and_no_copies() -> None:
    key = SecretKey(MODEL)
    for text in (repr(key), str(key), f"{key}"):
        assert "2222" not in text and text == "SecretKey(…)"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(TypeError):
        copy.copy(key)


def test_r_tee_16_a_wiped_key_is_gone_and_opens_nothing() -> None:
    key = SecretKey(MODEL)
    (held,) = (each for each in gc.get_referents(key) if isinstance(each, bytearray))
    assert bytes(held) == MODEL
    key.wipe()
    assert key.is_wiped and not any(held)
    with pytest.raises(EnvelopeDecryptionError):
        open_envelope(VECTORS["envelopes"][0]["envelope_hex"], key)


def test_r_tee_04_keys_are_read_in_every_form_that_is_sent() -> None:
    key = bytes.fromhex(KEYS["model_public"])
    for text in (key.hex(), key.hex()[2:], f"0x{key.hex()}", key.hex().upper(), f" {key.hex()}\n"):
        assert read_key(text) == key
    for text in (None, 4, "", "04", key.hex()[:-2], "05" + key.hex()[2:], "04" + "00" * 64, "zz" * 65):
        assert read_key(text) is None
    assert f"0x{address_of(key).hex()}" == KEYS["model_address"]
    assert read_address(KEYS["model_address_checksummed"]) == address_of(key)
    for text in (None, "", KEYS["model_address"][2:], KEYS["model_address"] + "0"):
        assert read_address(text) is None

"""Both libraries behind `secp256k1` compute the same."""

from __future__ import annotations

import pytest
from eth_keys.datatypes import PrivateKey

from app.sealed import secp256k1

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
SECRETS = [(1).to_bytes(32, "big"), b"\x07" * 32, (ORDER - 1).to_bytes(32, "big")]
NOT_ON_CURVE = b"\x04" + b"\x01" * 64
BACKENDS = [False, *([True] if secp256k1.HAS_COINCURVE else [])]


@pytest.fixture(params=BACKENDS, ids=lambda fast: "coincurve" if fast else "OpenSSL")
def _backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secp256k1, "HAS_COINCURVE", request.param)


pytestmark = pytest.mark.usefixtures("_backend")


@pytest.mark.parametrize("secret", SECRETS)
def test_a_public_key_is_that_of_a_third_library(secret: bytes) -> None:
    assert secp256k1.public_key(secret)[1:] == PrivateKey(secret).public_key.to_bytes()


@pytest.mark.parametrize("secret", [bytes(32), ORDER.to_bytes(32, "big")])
def test_a_number_outside_the_order_is_no_secret(secret: bytes) -> None:
    with pytest.raises(ValueError):
        secp256k1.public_key(secret)


def test_both_sides_of_an_agreement_get_one_x() -> None:
    one, other = SECRETS[1:]
    shared = secp256k1.shared_x(secp256k1.public_key(one), other)
    assert shared == secp256k1.shared_x(secp256k1.public_key(other), one)
    assert shared.hex() == "989c0b76cb563971fdc9bef31ec06c3560f3249d6ee9e5d83c57625596e05f6f"


def test_only_points_of_the_curve_are_accepted() -> None:
    key = secp256k1.public_key(SECRETS[1])
    assert secp256k1.is_on_curve(key)
    for wrong in (NOT_ON_CURVE, key[:-1], key + b"\x00", b"\x06" + key[1:], b""):
        assert not secp256k1.is_on_curve(wrong)
    with pytest.raises(ValueError):
        secp256k1.shared_x(NOT_ON_CURVE, SECRETS[1])


def test_the_signer_of_a_digest_is_recovered() -> None:
    signature = PrivateKey(SECRETS[1]).sign_msg_hash(b"\x01" * 32).to_bytes()
    assert secp256k1.recover(signature, b"\x01" * 32) == secp256k1.public_key(SECRETS[1])
    for wrong in (bytes(65), b"\xff" * 64 + b"\x00"):
        with pytest.raises(ValueError):
            secp256k1.recover(wrong, b"\x01" * 32)

"""Arithmetic on the curve secp256k1, by libsecp256k1 where `coincurve` has a wheel for this Python, else by OpenSSL.

The only file of `app` that imports coincurve: another library takes its place here. OpenSSL and eth_keys need several
milliseconds for what libsecp256k1 does in a tenth of one, which is still less than a frame.

Public keys are 65 bytes (04‖x‖y), secrets 32 bytes. Nothing here runs in constant time.
"""

from __future__ import annotations

try:
    import coincurve
except ImportError:  # coincurve 21 has no wheel for Python 3.14
    HAS_COINCURVE = False
else:
    HAS_COINCURVE = True


def public_key(secret: bytes) -> bytes:
    """Return the public key of a secret. Raises `ValueError` for zero and anything not below the order."""
    if HAS_COINCURVE:
        return coincurve.PublicKey.from_secret(secret).format(compressed=False)
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256K1()).public_key()
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def shared_x(public: bytes, secret: bytes) -> bytes:
    """Return the x-coordinate (32 bytes) of the point that both sides of a key agreement compute.

    Raises `ValueError` for a key that is not on the curve.
    """
    if HAS_COINCURVE:
        return coincurve.PublicKey(public).multiply(secret).format(compressed=False)[1:33]
    from cryptography.hazmat.primitives.asymmetric import ec

    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), public)
    return ec.derive_private_key(int.from_bytes(secret, "big"), ec.SECP256K1()).exchange(ec.ECDH(), theirs)


def is_on_curve(public: bytes) -> bool:
    """Return whether these are the 65 bytes of a point on the curve."""
    if len(public) != 65 or public[0] != 4:
        return False
    try:
        if HAS_COINCURVE:
            coincurve.PublicKey(public)
        else:
            from cryptography.hazmat.primitives.asymmetric import ec

            ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256K1(), public)
    except ValueError:
        return False
    return True


def recover(signature: bytes, digest: bytes) -> bytes:
    """Return the public key that signed a 32-byte digest; the signature is r‖s‖v, 65 bytes with v 0 or 1.

    Raises `ValueError` if no key did.
    """
    if HAS_COINCURVE:
        key = coincurve.PublicKey.from_signature_and_message(signature, digest, hasher=None)
        return key.format(compressed=False)
    from eth_keys.datatypes import Signature
    from eth_keys.exceptions import BadSignature
    from eth_utils.exceptions import ValidationError

    try:
        return b"\x04" + Signature(signature).recover_public_key_from_msg_hash(digest).to_bytes()
    except (BadSignature, ValidationError) as error:
        raise ValueError(str(error)) from error

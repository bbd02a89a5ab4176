"""Who signed: EIP-191 texts, EIP-712 transfers, Ed25519 messages. Everything that needs cryptography is in this file.

eth_account takes half a second to load, so it is loaded by the first signature. Call from a worker thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.sandbox.http.errors import HttpError

SIGNATURE_BYTES = 65
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
NEEDS_ETH_ACCOUNT = "Wallets need the package eth-account, which is not installed here: pip install eth-account"

TRANSFER_FIELDS: Mapping[str, str] = {
    "from": "address",
    "to": "address",
    "value": "uint256",
    "validAfter": "uint256",
    "validBefore": "uint256",
    "nonce": "bytes32",
}  # in the order in which EIP-3009 hashes them


@dataclass(frozen=True, slots=True)
class TokenDomain:
    """The EIP-712 domain of a token's contract."""

    name: str
    version: str
    chain_id: int
    contract: str


def signer_of_text(text: str, signature: bytes) -> str | None:
    """Return the checksummed address that signed `text` by EIP-191, or None when the signature is of nobody."""
    if not _well_formed(signature):
        return None
    try:
        from eth_account import Account
        from eth_account.messages import encode_defunct
        from eth_keys.exceptions import BadSignature
    except ModuleNotFoundError:
        raise HttpError(501, NEEDS_ETH_ACCOUNT) from None
    try:
        return str(Account.recover_message(encode_defunct(text=text), signature=signature))
    except BadSignature:
        return None


def signer_of_transfer(domain: TokenDomain, message: Mapping[str, object], signature: bytes) -> str | None:
    """Return the checksummed address that signed an EIP-3009 `TransferWithAuthorization`.

    `message` has the keys of `TRANSFER_FIELDS`; integers are ints, the nonce is bytes. As the token's contract does,
    this refuses the second form that every signature has (a high `s`).
    """
    if not _well_formed(signature) or int.from_bytes(signature[32:64], "big") > CURVE_ORDER // 2:
        return None
    try:
        from eth_account import Account
        from eth_account.messages import encode_typed_data
        from eth_keys.exceptions import BadSignature
    except ModuleNotFoundError:
        raise HttpError(501, NEEDS_ETH_ACCOUNT) from None
    fields = [{"name": name, "type": kind} for name, kind in TRANSFER_FIELDS.items()]
    document = encode_typed_data(
        domain_data={
            "name": domain.name,
            "version": domain.version,
            "chainId": domain.chain_id,
            "verifyingContract": domain.contract,
        },
        message_types={"TransferWithAuthorization": fields},
        message_data=dict(message),
    )
    try:
        return str(Account.recover_message(document, signature=signature))
    except BadSignature:
        return None


def ed25519_sign(seed: bytes, message: bytes) -> bytes:
    """Return the signature of a private key (32 bytes)."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def ed25519_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the owner of `public_key` (32 bytes) signed `message`."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _well_formed(signature: bytes) -> bool:
    """Return whether r, s and v are in range; only then is recovery defined."""
    if len(signature) != SIGNATURE_BYTES or signature[64] not in (0, 1, 27, 28):
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    return 0 < r < CURVE_ORDER and 0 < s < CURVE_ORDER

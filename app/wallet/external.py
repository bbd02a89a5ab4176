"""Signatures that were made elsewhere, on a device or in another program, for wallets that are only watched here."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from app.translation import tr
from app.wallet import base58
from app.wallet.addresses import Chain, read_address
from app.wallet.errors import AddressRefused, KeyUnavailable, SigningFailed
from app.wallet.libraries import load_eth_account
from app.wallet.signer import recovered_address
from app.wallet.typed_data import TransferAuthorization

AskElsewhere = Callable[[str], Awaitable[str | None]]
"""Shows a text to sign, returns the signature that came back, None when nobody signed."""


class ExternalSigner:
    """Signs for a watched address by asking the person to do it elsewhere. What comes back is checked."""

    def __init__(self, address: str, ask: AskElsewhere) -> None:
        """Raises `AddressRefused`."""
        self.chain: Chain
        self.chain, self.address = read_address(address)
        self._ask = ask

    async def sign_text(self, text: str) -> str:
        """Raises `KeyUnavailable` when nobody signed, `SigningFailed` for a signature of something else."""
        signature = await self._ask(text)
        if signature is None:
            raise KeyUnavailable(
                "elsewhere", tr("The key for this wallet is on another device, and nothing was signed there.")
            )
        return await check_text_signature(self.chain, self.address, text, signature)

    async def sign_authorization(self, authorization: TransferAuthorization) -> str:
        """Payments have a page of their own, where the signature is pasted."""
        raise KeyUnavailable("elsewhere", tr("The key for this wallet is elsewhere. Paste its signature."))


async def check_text_signature(chain: Chain, address: str, text: str, signature: str) -> str:
    """Return `signature` as the wire carries it when it is `address`'s, of `text`. Raises `SigningFailed`."""
    return await asyncio.to_thread(_evm if chain == "evm" else _ed25519, address, text, signature.strip())


def _evm(address: str, text: str, signature: str) -> str:
    digits = signature[2:] if signature[:2] in ("0x", "0X") else signature
    if len(digits) != 130 or any(char not in "0123456789abcdefABCDEF" for char in digits):
        raise SigningFailed("format", tr("A signature is 0x followed by 130 hexadecimal digits."))
    load_eth_account()
    from eth_account.messages import encode_defunct

    if recovered_address(encode_defunct(text=text), "0x" + digits) != address:
        raise SigningFailed("other_signer", tr("This signature is from another wallet or signs something else."))
    return "0x" + digits.lower()


def _ed25519(address: str, text: str, signature: str) -> str:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes(base58.decode(address))).verify(
            bytes(base58.decode(signature)), text.encode()
        )
        return signature
    except (InvalidSignature, AddressRefused, ValueError):
        pass
    raise SigningFailed("other_signer", tr("This signature is from another wallet or signs something else."))

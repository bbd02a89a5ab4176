"""Private keys, and what they sign. Keys stay in this file: others hold a `PrivateKey` and cannot look inside.

A key is read from its store for one signature, used in a worker thread and wiped. Python and the libraries make
copies that nobody can wipe; what is ours to wipe is. eth_account takes 0.6 s to load, so nothing here loads it before
the first signature, and never on the thread of the window.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar, cast

from app.translation import tr
from app.wallet import base58
from app.wallet.addresses import ED25519_KEY_BYTES, Chain, read_evm_address, read_solana_address
from app.wallet.errors import KeyRefused, KeyUnavailable, SigningFailed, WalletError
from app.wallet.libraries import load_eth_account
from app.wallet.solana_transfer import READ_BACK, TokenTransfer, read_message
from app.wallet.transactions import Transaction, read_transaction
from app.wallet.typed_data import TransferAuthorization

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from eth_account.messages import SignableMessage
    from eth_account.signers.local import LocalAccount

KEY_BYTES = 32
SIGNATURE_BYTES = 65
SECP256K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

T = TypeVar("T")


class PrivateKey:
    """A secret key of one chain. It is never shown, compared, copied or pickled; `with key:` wipes it at the end."""

    __slots__ = ("__weakref__", "_secret", "chain")

    def __init__(self, secret: bytearray, chain: Chain) -> None:
        """Take over `secret`, 32 bytes, which is wiped with the key. Raises `KeyRefused`, having wiped it."""
        self._secret = secret
        self.chain: Chain = chain
        if len(secret) != KEY_BYTES:
            self.wipe()
            raise KeyRefused("length", tr("A private key has 32 bytes: 64 hexadecimal digits."))
        if chain == "evm" and not 0 < int.from_bytes(secret, "big") < SECP256K1_ORDER:
            self.wipe()
            raise KeyRefused("range", tr("This number is not a valid private key."))

    @classmethod
    def generate(cls, chain: Chain) -> PrivateKey:
        """A new key from the system's source of randomness."""
        while True:  # once, but for a chance of 1 in 2^128
            try:
                return cls(bytearray(secrets.token_bytes(KEY_BYTES)), chain)
            except KeyRefused:
                continue

    def reveal(self) -> bytearray:
        """The key itself, for `app.wallet` only. Not a copy: it turns to zeros when the key is wiped.

        Raises `KeyUnavailable` when that has happened.
        """
        if not any(self._secret):
            raise KeyUnavailable("wiped", tr("The key is no longer in memory."))
        return self._secret

    def to_text(self) -> str:
        """The key as its store keeps it and as a person may see it once: 0x and hexadecimal, or base58 of 64 bytes."""
        secret = self.reveal()
        if self.chain == "evm":
            return "0x" + secret.hex()
        return base58.encode(secret + _ed25519_public(_ed25519(secret)))

    def wipe(self) -> None:
        """Overwrite the key. It cannot be used any more."""
        for at in range(len(self._secret)):
            self._secret[at] = 0

    def __enter__(self) -> PrivateKey:
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def __del__(self) -> None:
        self.wipe()

    def __repr__(self) -> str:
        return f"PrivateKey({self.chain}, hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a private key is not copied")


ReadKey = Callable[[], Awaitable[PrivateKey]]


class Signer(Protocol):
    """Whoever can sign for one address. Raises `WalletError`."""

    @property
    def chain(self) -> Chain: ...

    @property
    def address(self) -> str: ...

    async def sign_text(self, text: str) -> str:
        """Return the signature of a message people can read, as the wire carries it."""


class EthAccountSigner:
    """Signs with a secp256k1 key through eth_account. `read_key` is asked for the key each time."""

    chain: Chain = "evm"

    def __init__(self, address: str, read_key: ReadKey) -> None:
        """Raises `AddressRefused`."""
        self.address = read_evm_address(address)
        self._read_key = read_key

    async def sign_text(self, text: str) -> str:
        """EIP-191 "personal sign": `0x` and 130 hexadecimal digits."""

        def sign(key: PrivateKey) -> str:
            load_eth_account()
            from eth_account.messages import encode_defunct

            return self._signed(key, encode_defunct(text=text))

        return await self._with_key(sign)

    async def sign_authorization(self, authorization: TransferAuthorization) -> str:
        """EIP-712. Raises `SigningFailed` unless our encoding and eth_account's agree to the last bit."""

        def sign(key: PrivateKey) -> str:
            signable = typed_data_message(authorization)
            if (signable.header, signable.body) != (authorization.domain_separator, authorization.struct_hash):
                raise SigningFailed(
                    "encoding", tr("Two independent encodings of the payment differ. Nothing was signed.")
                )
            signature = self._signed(key, signable)
            if recovered_address(signable, signature) != self.address:
                raise SigningFailed("signature", tr("The signature is not valid. Nothing was sent."))
            return signature

        return await self._with_key(sign)

    async def sign_transaction(self, transaction: Transaction) -> str:
        """EIP-1559: the raw bytes as `0x…`, for `eth_sendRawTransaction`.

        Raises `SigningFailed` unless the signed bytes, read back, say what was to be signed, field by field.
        """

        def sign(key: PrivateKey) -> str:
            raw = "0x" + bytes(self._account(key).sign_transaction(dict(_fields(transaction))).raw_transaction).hex()
            read = read_transaction(raw)
            if any(getattr(read, field.name) != getattr(transaction, field.name) for field in fields(Transaction)):
                raise SigningFailed("transaction", tr("The signed transaction is not the one you approved."))
            return raw

        return await self._with_key(sign)

    async def _with_key(self, sign: Callable[[PrivateKey], str]) -> str:
        return await _with_key(self._read_key, self.chain, sign)

    def _signed(self, key: PrivateKey, signable: SignableMessage) -> str:
        # Not HexBytes.hex(): that leaves out the 0x, and services refuse a bare signature.
        return "0x" + bytes(self._account(key).sign_message(signable).signature).hex()

    def _account(self, key: PrivateKey) -> LocalAccount:
        load_eth_account()
        from eth_account import Account

        account = Account.from_key(bytes(key.reveal()))
        if account.address != self.address:
            raise KeyUnavailable("other_address", tr("The stored key for this wallet belongs to another address."))
        return cast("LocalAccount", account)

    def __repr__(self) -> str:
        return f"EthAccountSigner({self.address})"


class Ed25519Signer:
    """Signs with an Ed25519 key. `read_key` is asked for the key each time."""

    chain: Chain = "solana"

    def __init__(self, address: str, read_key: ReadKey) -> None:
        """Raises `AddressRefused`."""
        self.address = read_solana_address(address)
        self._read_key = read_key

    async def sign_text(self, text: str) -> str:
        """64 bytes in base58."""
        return await self._sign(text.encode())

    async def sign_transfer(self, transfer: TokenTransfer) -> str:
        """The same for a payment.

        Raises `SigningFailed` unless its bytes, read back, say what was to be signed, field by field.
        """

        def encoded() -> bytes:
            message = transfer.message
            read = read_message(message)
            if any(getattr(read, name) != getattr(transfer, name) for name in READ_BACK):
                raise SigningFailed("transaction", tr("The signed transaction is not the one you approved."))
            return message

        return await self._sign(await asyncio.to_thread(encoded))

    async def _sign(self, data: bytes) -> str:
        def sign(key: PrivateKey) -> str:
            private = _ed25519(key.reveal())
            if base58.encode(_ed25519_public(private)) != self.address:
                raise KeyUnavailable("other_address", tr("The stored key for this wallet belongs to another address."))
            return base58.encode(private.sign(data))

        return await _with_key(self._read_key, self.chain, sign)

    def __repr__(self) -> str:
        return f"Ed25519Signer({self.address})"


def _fields(transaction: Transaction) -> Mapping[str, Any]:
    """A transaction of the kind EIP-1559 as eth_account takes it."""
    assert transaction.chain_id is not None
    assert transaction.max_priority_fee is not None
    return {
        "type": 2,
        "chainId": transaction.chain_id,
        "nonce": transaction.nonce,
        "to": transaction.to,
        "value": transaction.value,
        "data": transaction.data,
        "gas": transaction.gas,
        "maxFeePerGas": transaction.max_fee,
        "maxPriorityFeePerGas": transaction.max_priority_fee,
    }


async def address_of(key: PrivateKey) -> str:
    """The address that belongs to a key, which is not wiped."""
    return await asyncio.to_thread(derived_address, key)


async def warm_up() -> None:
    """Load in a thread what the first signature needs, so that it does not wait; worth doing when a wallet is shown."""
    await asyncio.to_thread(load_eth_account)


def derived_address(key: PrivateKey) -> str:
    """The address that belongs to a key, which is not wiped. May load eth_account: call it in a thread."""
    if key.chain == "solana":
        return base58.encode(_ed25519_public(_ed25519(key.reveal())))
    load_eth_account()
    from eth_account import Account

    return str(Account.from_key(bytes(key.reveal())).address)


def typed_data_message(authorization: TransferAuthorization) -> SignableMessage:
    """The payment as eth_account encodes it. Loads eth_account: call it in a thread."""
    load_eth_account()
    from eth_account.messages import encode_typed_data

    message = {
        "from": authorization.sender,
        "to": authorization.receiver,
        "value": authorization.value,
        "validAfter": authorization.valid_after,
        "validBefore": authorization.valid_before,
        "nonce": authorization.nonce,
    }
    return encode_typed_data(full_message={**authorization.typed_data(), "message": message})


def recovered_address(signable: SignableMessage, signature: str) -> str:
    """Who signed. Raises `SigningFailed` for what is no signature at all. Call it in a thread."""
    load_eth_account()
    from eth_account import Account

    return without_words(
        lambda: str(Account.recover_message(signable, signature=bytes.fromhex(signature[2:]))),
        SigningFailed("signature", tr("This signature does not match the text.")),
    )


def without_words(work: Callable[[], T], failure: WalletError) -> T:
    """Return what `work` returns; whatever a library raises instead becomes `failure`, with no trace of the original.

    eth_account's own errors repeat the phrase that was given to it, and an error that is chained to another carries
    that one's frames along.
    """
    try:
        return work()
    except WalletError:
        raise
    except Exception:  # noqa: S110 - its words may be secret; `failure` is what is said instead
        pass
    raise failure


async def _with_key(read_key: ReadKey, chain: Chain, sign: Callable[[PrivateKey], str]) -> str:
    key = await read_key()

    def run() -> str:
        with key:
            if key.chain != chain:
                raise KeyUnavailable("other_chain", tr("The stored key for this wallet belongs to another chain."))
            return without_words(
                lambda: sign(key), SigningFailed("library", tr("The signature could not be created on this computer."))
            )

    try:
        signing = _signing_thread().submit(run)
    except RuntimeError:  # the program is ending
        key.wipe()
        raise
    # A cancelled caller does not wait for the thread, and what the thread has not begun is never run.
    signing.add_done_callback(lambda _: key.wipe())
    return await asyncio.wrap_future(signing)


async def forget_keys() -> None:
    """Overwrite the memory that signing used and gave back, of its own thread and of the one that calls."""
    from app.wallet.memory_wipe import forget_in_steps, wipe_freed_memory

    await asyncio.get_running_loop().run_in_executor(_signing_thread(), wipe_freed_memory)
    for _ in forget_in_steps():
        await asyncio.sleep(0)


@cache
def _signing_thread() -> ThreadPoolExecutor:
    """One thread for all signatures: the C library keeps memory by thread, so there is one to clean up after."""
    return ThreadPoolExecutor(1, thread_name_prefix="signing")


def _ed25519(seed: bytes | bytearray) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def _ed25519_public(private: Ed25519PrivateKey) -> bytes:
    public = private.public_key().public_bytes_raw()
    assert len(public) == ED25519_KEY_BYTES
    return public

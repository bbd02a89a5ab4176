"""The networks that are no EVM: a few methods each, enough to see that the family is another one."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.sandbox.chains.rpc_values import METHOD_NOT_FOUND, RpcError, at, invalid
from app.sandbox.http.errors import Json

if TYPE_CHECKING:
    from app.sandbox.chains.networks import Network, Node

STARTED_AT = 1_767_225_600  # 2026-01-01 UTC, block 0 of these networks
STARKNET_BLOCK_S, SOLANA_SLOT_S = 30, 0.4
EPOCH_SLOTS = 432_000
SOLANA_SLUG = "solana-mainnet"  # where payments are settled
TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"  # noqa: S105 - a program's address
TOKEN_DECIMALS = 6
# No mint authority, the supply, the decimals, initialized, no freeze authority.
MINT_ACCOUNT = bytes(36) + (10**15).to_bytes(8, "little") + bytes([TOKEN_DECIMALS, 1]) + bytes(36)
BLOCKS_VALID = 150  # for so many a transaction may name a block
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class SolanaToken(Protocol):
    """A token as its chain sees it. Accounts are those that hold it, not their owners."""

    mint: str

    def balance(self, account: str) -> int | None:
        """Return base units, None for an account that never had any."""
        ...

    def transfers(self, account: str) -> list[Json]:
        """Return what `getSignaturesForAddress` lists, newest first."""
        ...


def make_node(network: Network, now: Callable[[], float], token: SolanaToken) -> Node:
    """`token`: what payments on `solana-mainnet` are made in."""
    if network.family == "starknet":
        return StarknetNode(network.slug, now)
    return SolanaNode(network.slug, now, token if network.slug == SOLANA_SLUG else None)


class _Listed:
    def __init__(self) -> None:
        self._named: dict[str, Callable[[object], object]] = {}

    def answer(self, method: str, params: object) -> object:
        function = self._named.get(method)
        if function is None:
            raise RpcError(METHOD_NOT_FOUND, f"the method {method} does not exist/is not available")
        return function(params)


class StarknetNode(_Listed):
    """Empty blocks, one every 30 s of the Sandbox's clock."""

    def __init__(self, slug: str, now: Callable[[], float]) -> None:
        super().__init__()
        self._slug = slug
        self._now = now
        chain_id = "SN_MAIN" if slug.endswith("mainnet") else "SN_SEPOLIA"
        self._named = {
            "starknet_chainId": lambda _: "0x" + chain_id.encode().hex(),
            "starknet_specVersion": lambda _: "0.8.1",
            "starknet_syncing": lambda _: False,
            "starknet_blockNumber": lambda _: self._number(),
            "starknet_blockHashAndNumber": lambda _: self._named_block(self._number()),
            "starknet_getBlockTransactionCount": lambda _: 0,
            "starknet_getBlockWithTxHashes": self._block,
            "starknet_getNonce": lambda _: "0x0",
        }

    def _number(self) -> int:
        return max(0, int((self._now() - STARTED_AT) // STARKNET_BLOCK_S))

    def _named_block(self, number: int) -> Json:
        return {"block_hash": _felt(f"{self._slug} block {number}"), "block_number": number}

    def _block(self, params: object) -> Json:
        wanted = next(iter(params.values()), "latest") if isinstance(params, dict) else at(params, 0, "latest")
        number = self._number()
        if isinstance(wanted, dict) and isinstance(wanted.get("block_number"), int):
            if not 0 <= wanted["block_number"] <= number:
                raise RpcError(24, "Block not found")
            number = wanted["block_number"]
        elif wanted not in ("latest", "pending"):
            raise invalid("expected latest, pending or a block number")
        return {
            **self._named_block(number),
            "status": "ACCEPTED_ON_L2",
            "parent_hash": _felt(f"{self._slug} block {number - 1}") if number else "0x0",
            "timestamp": STARTED_AT + number * STARKNET_BLOCK_S,
            "starknet_version": "0.13.5",
            "transactions": [],
        }


def latest_block(slug: str, now: float) -> tuple[str, int]:
    """Return the newest block's hash, and the height until which a transaction may name it."""
    slot = slot_at(now)
    return _base58(f"{slug} {slot}"), slot + BLOCKS_VALID


def block_height(slug: str, blockhash: str, now: float) -> int | None:
    """Return the height of a block that a transaction may still name, None for any other."""
    slot = slot_at(now)
    return next(
        (each for each in range(slot, slot - BLOCKS_VALID - 1, -1) if _base58(f"{slug} {each}") == blockhash), None
    )


def slot_at(now: float) -> int:
    return max(0, int((now - STARTED_AT) / SOLANA_SLOT_S))


class SolanaNode(_Listed):
    """Slots by the Sandbox's clock, accounts without money, and perhaps one token."""

    def __init__(self, slug: str, now: Callable[[], float], token: SolanaToken | None) -> None:
        super().__init__()
        self._slug = slug
        self._token = token
        self._now = now
        self._named = {
            "getHealth": lambda _: "ok",
            "getVersion": lambda _: {"solana-core": "2.2.0", "feature-set": 0},
            "getSlot": lambda _: self._slot(),
            "getBlockHeight": lambda _: self._slot(),
            "getTransactionCount": lambda _: 0,
            "getGenesisHash": lambda _: _base58(slug),
            "getBalance": lambda _: self._value(0),
            "getAccountInfo": self._account,
            "getTokenAccountBalance": self._held,
            "getSignaturesForAddress": self._transfers,
            "getSupply": lambda _: self._value({"total": 0, "circulating": 0, "nonCirculating": 0}),
            "getLargestAccounts": lambda _: self._value([]),
            "getLatestBlockhash": self._latest,
            "getEpochInfo": self._epoch,
        }

    def _slot(self) -> int:
        return slot_at(self._now())

    def _value(self, value: object) -> Json:
        return {"context": {"slot": self._slot()}, "value": value}

    def _latest(self, _: object) -> Json:
        blockhash, last_valid = latest_block(self._slug, self._now())
        return self._value({"blockhash": blockhash, "lastValidBlockHeight": last_valid})

    def _account(self, params: object) -> Json:
        """The token's own account, which payers read its decimals from; no other one exists."""
        if self._token is None or at(params, 0, "") != self._token.mint:
            return self._value(None)
        data = base64.b64encode(MINT_ACCOUNT).decode()
        facts = {"executable": False, "lamports": 1_461_600, "rentEpoch": 0, "space": len(MINT_ACCOUNT)}
        return self._value({"data": [data, "base64"], "owner": TOKEN_PROGRAM, **facts})

    def _held(self, params: object) -> Json:
        units = self._token.balance(str(at(params, 0, ""))) if self._token is not None else None
        if units is None:
            raise invalid("Invalid param: could not find account")
        return self._value({"amount": str(units), "decimals": TOKEN_DECIMALS})

    def _transfers(self, params: object) -> object:
        return self._token.transfers(str(at(params, 0, ""))) if self._token is not None else []

    def _epoch(self, _: object) -> Json:
        slot = self._slot()
        return {
            "epoch": slot // EPOCH_SLOTS,
            "slotIndex": slot % EPOCH_SLOTS,
            "slotsInEpoch": EPOCH_SLOTS,
            "absoluteSlot": slot,
            "blockHeight": slot,
        }


def _felt(text: str) -> str:
    """A number below 2 to the 251st, as this family's hashes are."""
    return hex(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big") >> 5)


def _base58(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    number = int.from_bytes(digest, "big")
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return _BASE58[0] * (len(digest) - len(digest.lstrip(b"\0"))) + digits  # each zero at the front is a digit

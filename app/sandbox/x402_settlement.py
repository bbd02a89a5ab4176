"""Where play money is, and which payments were carried out. A payment is carried out once, however often it comes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Protocol

from app.sandbox.errors import Json
from app.sandbox.wallets_faucet import FAUCET_ADDRESS, FAUCET_FUNDS_USD
from app.sandbox.x402_payment import Authorization, Payment
from app.sandbox.x402_terms import units


class SettlementFailed(Exception):
    """Nothing was transferred; the text says why."""


class Settlement(Protocol):
    """A token's ledger. Amounts are base units, addresses checksummed."""

    def balance(self, address: str) -> int: ...

    def mint(self, address: str, amount: int) -> None: ...

    async def transfer(self, payment: Payment) -> str:
        """Carry out a verified payment and return its transaction hash. Raises `SettlementFailed`."""
        ...


class PlayMoney:
    """The ledger without a chain: balances in a table."""

    def __init__(self) -> None:
        self._balances = {FAUCET_ADDRESS: units(FAUCET_FUNDS_USD)}

    def balance(self, address: str) -> int:
        return self._balances.get(address, 0)

    def mint(self, address: str, amount: int) -> None:
        self._balances[address] = self.balance(address) + amount

    async def transfer(self, payment: Payment) -> str:
        authorization = payment.authorization
        if self.balance(authorization.sender) < authorization.value:
            raise SettlementFailed("The sender has too little of the token")
        self.mint(authorization.sender, -authorization.value)
        self.mint(authorization.receiver, authorization.value)
        return "0x" + hashlib.sha256(authorization.nonce + payment.signature).hexdigest()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a settled payment is answered with, now and whenever it comes again."""

    payment: Payment
    request_body: bytes  # SHA-256 of the body that came with it
    answer: Json
    response: Json


@dataclass(slots=True)
class Treasury:
    """The payments that were carried out, or are just being, each by its sender and nonce."""

    receipts: dict[tuple[str, bytes], Receipt] = field(default_factory=dict)
    in_progress: set[tuple[str, bytes]] = field(default_factory=set)


def key_of(authorization: Authorization) -> tuple[str, bytes]:
    return authorization.sender, authorization.nonce

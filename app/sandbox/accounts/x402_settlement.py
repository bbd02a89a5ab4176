"""Where play money is, and which payments were carried out. A payment is carried out once, however often it comes."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from app.sandbox.accounts.faucet import FAUCET_ADDRESS, FAUCET_FUNDS_USD
from app.sandbox.accounts.wallet_address import Chain
from app.sandbox.accounts.x402_payment import Payment
from app.sandbox.accounts.x402_solana import SolanaPayment
from app.sandbox.accounts.x402_terms import SOLANA_MINT, terms_of, units
from app.sandbox.chains.networks import FIRST_DOLLARS, chains_of
from app.sandbox.http.call import Call
from app.sandbox.installed_engines import installed


class SettlementFailed(Exception):
    """Nothing was transferred; the text says why."""


Payable = Payment | SolanaPayment


class Settlement(Protocol):
    """A token's ledger. Amounts are base units, addresses checksummed."""

    async def balance(self, address: str) -> int: ...

    async def wei(self, address: str) -> int | None:
        """What an address has for gas; None where there is no chain."""
        ...

    async def give(self, address: str, amount: int, wei: int = 0) -> None:
        """Let the faucet give. Raises `SettlementFailed` when it has not that much."""
        ...

    async def transfer(self, payment: Payable) -> str:
        """Carry out a verified payment and return its transaction hash. Raises `SettlementFailed`."""
        ...


class PlayMoney:
    """The ledger without a chain: balances in a table."""

    def __init__(self, balances: MutableMapping[str, int], first: int = 0) -> None:
        """`first`: what an address has that never had anything."""
        self._balances = balances
        self._first = first
        balances.setdefault(FAUCET_ADDRESS, units(FAUCET_FUNDS_USD))

    async def balance(self, address: str) -> int:
        return self._balances.get(address, self._first)

    async def wei(self, address: str) -> int | None:
        return None

    async def give(self, address: str, amount: int, wei: int = 0) -> None:
        self._move(FAUCET_ADDRESS, address, amount)

    async def transfer(self, payment: Payable) -> str:
        self._move(payment.wallet.address, payment.receiver, payment.value)
        return payment.reference()

    def _move(self, sender: str, receiver: str, amount: int) -> None:
        have = self._balances.get(sender, self._first)
        if have < amount:
            raise SettlementFailed("The sender has too little of the token")
        self._balances[sender] = have - amount
        self._balances[receiver] = self._balances.get(receiver, self._first) + amount


@dataclass(frozen=True, slots=True)
class SettlementReceipt:
    """What a settled payment is answered with, now and whenever it comes again."""

    payment: bytes  # `digest` of the payment
    request_body: bytes  # SHA-256 of the body that came with it
    answer: bytes
    response: str  # as a header


@dataclass(slots=True)
class Treasury:
    """The tokens' ledgers, and the payments that were carried out or are just being, each by its sender and nonce."""

    receipts: MutableMapping[str, SettlementReceipt]
    ledgers: dict[str, Settlement] = field(default_factory=dict)  # by the token's address
    in_progress: set[str] = field(default_factory=set)

    def ledger(self, call: Call, chain: Chain = "evm") -> Settlement:
        """Return the ledger of the token that payments are made in: on the chain, where its engine is installed.

        That of Solana is a table.
        """
        token = SOLANA_MINT if chain == "solana" else terms_of(call.world.settings.dialect).token
        ledger = self.ledgers.get(token)
        if ledger is None:
            is_on_chain = chain == "evm" and installed("chains")
            ledger = _ledger_on_chain(call, token) if is_on_chain else _ledger_in_table(call, token)
            self.ledgers[token] = ledger
        return ledger


def _ledger_in_table(call: Call, token: str) -> Settlement:
    first = units(Decimal(FIRST_DOLLARS)) if call.world.settings.fund_any else 0
    return PlayMoney(call.world.table(f"play money {token}", int), first)


def _ledger_on_chain(call: Call, token: str) -> Settlement:
    from app.sandbox.accounts.x402_chain import ChainMoney

    return ChainMoney(chains_of(call.world, call.site.data_files), token)

"""Symbols and decimals of tokens, so that amounts read as people write them: "2.5 USDC" in place of 2500000.

A contract names itself, so a symbol proves nothing; only the tokens that Rialto knows by their address are vouched for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.formats import current, format_number, plain
from app.service.http.sanitize import sanitize_text
from app.storage.service_cache import ServiceCache
from app.translation import tr
from app.wallet.abi_types import Entry
from app.wallet.errors import QuantityRefused
from app.wallet.networks import PLAY_MONEY, USDC_ON_BASE
from app.wallet.quantities import LARGEST, UNITS, scaled

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.ui.crypto_rpc.session.decoding import Interfaces
    from app.ui.crypto_rpc.session.outcomes import CallOutcome

MAX_SYMBOL_CHARS = 12
MAX_DECIMALS = 77
MAX_TOKENS = 1_000  # whose facts are kept for one service
_KEPT = ("crypto_rpc", "tokens")
_BASE = "base-mainnet"
# EIP-20: which argument of a function, and which value of an event, counts the token's smallest unit
_AMOUNTS = {
    "transfer(address,uint256)": 1,
    "approve(address,uint256)": 1,
    "transferFrom(address,address,uint256)": 2,
    "Transfer(address,address,uint256)": 2,
    "Approval(address,address,uint256)": 2,
}
_COUNTS = frozenset({"balanceOf(address)", "totalSupply()", "allowance(address,address)"})  # by what they return
_WRITTEN = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?|\.[0-9]+)\s*(\S*)")


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What a token calls itself. `vouched`: it is one that Rialto knows by its address."""

    symbol: str = ""
    decimals: int | None = None
    vouched: bool = False

    @property
    def is_whole(self) -> bool:
        return bool(self.symbol) and self.decimals is not None

    def amount(self, number: int) -> str:
        """An amount in the smallest unit as people write it; "" while the decimals are not known."""
        if self.decimals is None:
            return ""
        if number == LARGEST:
            return tr("unlimited {symbol}", symbol=self.symbol)
        whole, point, rest = scaled(number, self.decimals).partition(".")
        written = format_number(int(whole)) + (current().decimal if point else "") + rest
        return f"{written} {self.symbol}".strip()


def amount_place(entry: Entry) -> int | None:
    """Which input of a token's function or event is an amount of it; None where none is."""
    place = _AMOUNTS.get(entry.signature)
    if place is None or (entry.kind == "event" and entry.inputs[place].indexed):  # EIP-721's third value is an id
        return None
    return place


def counts_tokens(entry: Entry) -> bool:
    """Whether a function returns an amount of the token."""
    return entry.signature in _COUNTS and len(entry.outputs) == 1 and entry.outputs[0].type.startswith("uint")


def smallest_units(text: str, token: TokenFacts) -> str:
    """The amount as a contract takes it: "2.5", "2.5 USDC" of a token with 6 decimals is "2500000".

    A whole number without the symbol is taken as it is, as before. Raises `QuantityRefused`.
    """
    written = _WRITTEN.fullmatch(plain(text.strip()))
    if written is None or token.decimals is None:
        return text
    digits, symbol = written[1].replace("_", "").replace(",", ""), written[2]
    if symbol.lower() in UNITS or (symbol and symbol.lower() != token.symbol.lower()):
        return text
    if not symbol and "." not in digits:
        return text
    whole, _, rest = digits.partition(".")
    if len(rest.rstrip("0")) > token.decimals:
        raise QuantityRefused(
            "whole",
            tr("{symbol} has {decimals} decimal places.", symbol=token.symbol, decimals=token.decimals),
        )
    return str(int((whole or "0") + rest[: token.decimals].ljust(token.decimals, "0")))


class TokenBook:
    """What is known of tokens on each network: those of Rialto's own list, and what contracts answered before."""

    def __init__(self, current_account: CurrentAccount) -> None:
        self._current_account = current_account
        self._seen: dict[str, TokenFacts] = {}  # by "network address"
        self._service = ""
        self.catalog: ServiceCache | None = None

    async def read(self) -> None:
        """Read what was kept for the service of the account in use."""
        account = self._current_account.account
        self._seen, self._service = {}, account.base_url if account is not None else ""
        kept = await self.catalog.load(self._service, *_KEPT) if self.catalog is not None and self._service else None
        for name, facts in kept.value.items() if kept is not None and isinstance(kept.value, dict) else ():
            match facts:
                case [str(symbol), int(decimals)] if 0 <= decimals <= MAX_DECIMALS:
                    self._seen[str(name)] = TokenFacts(_shown(symbol), decimals)

    def on(self, network: str) -> Mapping[str, TokenFacts]:
        """The tokens of a network, by address in lower case."""
        start = f"{network} "
        found = {name.removeprefix(start): facts for name, facts in self._seen.items() if name.startswith(start)}
        if self._current_account.is_sandbox:
            found[PLAY_MONEY.address.lower()] = TokenFacts(PLAY_MONEY.symbol, PLAY_MONEY.decimals, vouched=True)
        elif network == _BASE:
            found[USDC_ON_BASE.address.lower()] = TokenFacts(USDC_ON_BASE.symbol, USDC_ON_BASE.decimals, vouched=True)
        return found

    async def learn(
        self,
        network: str,
        items: Sequence[Mapping[str, object]],
        outcomes: Sequence[CallOutcome],
        interfaces: Interfaces,
    ) -> None:
        """Keep the symbols and decimals that are in these answers."""
        before = dict(self._seen)
        for item, outcome in zip(items, outcomes, strict=False):
            read = interfaces.token_fact(item, outcome.value) if not outcome.is_error else None
            if read is None:
                continue
            address, name, value = read
            key = f"{network} {address.lower()}"
            facts = self._seen.get(key, TokenFacts())
            if name == "symbol" and isinstance(value, str) and _shown(value):
                self._seen[key] = replace(facts, symbol=_shown(value))
            elif name == "decimals" and isinstance(value, int) and 0 <= value <= MAX_DECIMALS:
                self._seen[key] = replace(facts, decimals=value)
        if self._seen != before and self.catalog is not None and self._service:
            whole = [(key, [each.symbol, each.decimals]) for key, each in self._seen.items() if each.is_whole]
            await self.catalog.save(self._service, *_KEPT, dict(whole[-MAX_TOKENS:]))


def _shown(symbol: str) -> str:
    """A symbol as it is shown: the contract chose it, so it is one short word."""
    return sanitize_text(" ".join(symbol.split()))[:MAX_SYMBOL_CHARS].strip()

"""Callers who are known by a wallet: what is kept about them, and one request's way from sign-in to last byte.

A wallet needs no account: its ledger, empty, begins with the first valid sign-in or the first top-up.
Source: wire reference, "Wallet 402 on other endpoints" (R-AUTH-03 to 08, R-WAL-08, -11 to -13).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property

from app.sandbox.accounts.sign_in import HEADERS, Nonces, check_sign_in, check_signature, read_sign_in
from app.sandbox.accounts.sign_in_codes import SignInRefused
from app.sandbox.accounts.wallet_address import Chain, Wallet
from app.sandbox.accounts.x402_settlement import SettlementReceipt, Treasury
from app.sandbox.accounts.x402_terms import below_the_floor
from app.sandbox.http.call import Call
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError
from app.sandbox.world import Caller, Ledger, World

FLOOR_USD = Decimal("0.10")  # less is not admitted
MAX_CONCURRENT = 5
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MICRO_USD = Decimal("0.000001")


@dataclass(slots=True, kw_only=True)
class WalletCaller(Caller):
    address: str
    chain: Chain
    in_flight: int = 0  # inference requests that have not been answered to the last byte


class Wallets:
    """Everything about wallets that outlives a request. One per world; `World.reset` forgets it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.nonces = Nonces(world.table("nonces", float))

    @cached_property
    def treasury(self) -> Treasury:
        return Treasury(self._world.table("receipts", SettlementReceipt))

    def caller(self, wallet: Wallet) -> WalletCaller:
        """Return who holds this wallet, known from now on."""
        caller = self._world.callers.get(f"wallet:{wallet.address}")
        if isinstance(caller, WalletCaller):
            return caller
        new = WalletCaller(
            f"wallet:{wallet.address}",
            self._world.clock.now(),
            Ledger(Decimal(0)),
            address=wallet.address,
            chain=wallet.chain,
        )
        return self._world.adopt(new)

    def known(self, wallet: Wallet) -> WalletCaller | None:
        """Return who holds this wallet, if it was ever signed in with or topped up."""
        return self.caller(wallet) if self._world.has_account(f"wallet:{wallet.address}") else None


def wallets_of(world: World) -> Wallets:
    wallets = world.kept.get("wallets")
    if not isinstance(wallets, Wallets):
        wallets = world.kept["wallets"] = Wallets(world)
    return wallets


@dataclass(slots=True)
class Visit:
    """One request that came with a sign-in header. Either `caller` or `refusal` is set."""

    caller: WalletCaller | None
    refusal: HttpError | None = None
    _inference: bool = field(default=False, init=False)
    _counted: bool = field(default=False, init=False)

    def admit(self, call: Call) -> None:
        """Let an inference request in. Raises `HttpError` 402 below the floor, 429 for the sixth at once."""
        caller = self.caller
        assert caller is not None
        self._inference = True
        if caller.ledger.balance_usd + caller.ledger.balance_diem < FLOOR_USD:
            raise below_the_floor(call, caller.ledger.balance_usd)
        if caller.in_flight >= MAX_CONCURRENT and not call.world.settings.no_limits:
            text = f"A wallet may have {MAX_CONCURRENT} requests at once; wait for one to finish"
            raise HttpError(429, {"error": text, "code": "X402_CONCURRENCY_LIMIT"}, {"Retry-After": "1"})
        self._counted = True
        caller.in_flight += 1

    def end(self, answer: Response) -> None:
        """Add the balance to an inference answer; the request is over when its body is.

        A streamed answer states what was left before it, because its headers leave before its cost is known.
        """
        if self._inference and self.caller is not None:
            left = self.caller.ledger.balance_usd.quantize(MICRO_USD, ROUND_FLOOR)
            answer.headers.setdefault("X-Balance-Remaining", f"{left:f}")
        if isinstance(answer.body, bytes):
            self.leave()
        else:
            answer.body = self._until_sent(answer.body)

    def leave(self) -> None:
        """Make room for another request of this wallet. May be called more than once."""
        if self._counted and self.caller is not None:
            self._counted = False
            self.caller.in_flight -= 1

    async def _until_sent(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for piece in pieces:
                yield piece
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
            self.leave()


async def arrive(call: Call, *, explain: bool = True) -> Visit:
    """Verify the sign-in header of a request and use up its nonce. `explain`: whether a refusal names its code."""
    header = next(call.request.headers[name] for name in HEADERS if name in call.request.headers)
    world = call.world
    wallets = wallets_of(world)
    try:
        sign_in = read_sign_in(header)
        check_sign_in(sign_in, own_domains(call.site.origin), world.clock.utc())
        await asyncio.to_thread(check_signature, sign_in)
        if world.faults.take_fault("nonce_reused", call.request.path) is not None:
            raise SignInRefused("NONCE_REUSED", "This sign-in was used before; sign a new one for every request")
        wallets.nonces.use(sign_in.wallet.address, sign_in.message.nonce, world.clock.now())
    except SignInRefused as refused:
        body = {"error": refused.text, "code": refused.code}
        return Visit(None, HttpError(401, body if explain else {"error": "Invalid Sign-in-with-x signature"}))
    except HttpError as refusal:  # the package that verifies is not installed
        return Visit(None, refusal)
    return Visit(wallets.caller(sign_in.wallet))


def own_domains(origin: str) -> frozenset[str]:
    """Return the names under which this server may be signed in to: each with its port, and bare."""
    port = origin.rpartition(":")[2]
    return frozenset(name + suffix for name in LOOPBACK_NAMES for suffix in ("", f":{port}"))

"""A program that tops up and is killed at one point of it: `python -m tests.ui.wallet.killed_top_up HOME RAIL POINT`.

A point that begins with "again " is one of sending the same payment again, in a home that has an open one. "refused"
stands for a service that refuses the payment, and "look" for asking what became of one.

The Sandbox's address and key come over standard input. It kills itself with SIGKILL: nothing is saved on the way out.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qasync
from PySide6.QtWidgets import QApplication

from app.service.x402 import X402Resource
from app.storage.paid_call_intents import Intents
from app.storage.wallet.open_payments import OpenPayment, OpenPayments
from app.ui.kit.theme import Theme
from tests.kit.portable import KILL
from tests.kit.wallet import SOLANA_KEY, WalletHarness, open_wallet

FIRST = (
    *("before-intent", "after-intent", "signed", "after-signature", "after-file", "before-send"),
    *("carried-out", "before-answer-is-kept", "answer-kept", "refused"),
)
AGAIN = tuple(
    f"again {point}" for point in ("look", "before-send", "carried-out", "before-answer-is-kept", "answer-kept")
)
POINTS = (*FIRST, *AGAIN)
AMOUNT = "7.25"


def die() -> None:
    os.kill(os.getpid(), KILL)


def arm(point: str, wallet: WalletHarness) -> None:
    """Put the end of the program where it belongs."""
    wrapped: dict[str, Callable[..., Awaitable[Any]]] = {
        name: getattr(Intents, name) for name in ("open", "amend", "sent", "answered", "unknown")
    }
    settle, put, transactions = X402Resource.settle, OpenPayments.put, X402Resource.transactions

    async def opened(self: Intents, *args: Any, **kwargs: Any) -> Any:
        if point == "before-intent":
            die()
        intent = await wrapped["open"](self, *args, **kwargs)
        if point == "after-intent":
            die()
        return intent

    async def amended(self: Intents, *args: Any) -> Any:
        if point == "signed":
            die()
        intent = await wrapped["amend"](self, *args)
        if point == "after-signature":
            die()
        return intent

    async def sent(self: Intents, *args: Any) -> Any:
        intent = await wrapped["sent"](self, *args)
        if point == "before-send":
            die()
        return intent

    def kept(self: OpenPayments, payment: OpenPayment) -> None:
        put(self, payment)
        if point == "after-file":
            die()

    async def answered(self: Intents, *args: Any, **kwargs: Any) -> Any:
        intent = await wrapped["answered"](self, *args, **kwargs)
        if point == "answer-kept":
            die()
        return intent

    async def unknown(self: Intents, *args: Any, **kwargs: Any) -> Any:
        if point == "refused":
            die()
        return await wrapped["unknown"](self, *args, **kwargs)

    async def looked(self: X402Resource, *args: Any, **kwargs: Any) -> Any:
        if point == "look":
            die()
        return await transactions(self, *args, **kwargs)

    async def settled(self: X402Resource, payment: str) -> Any:
        if point == "carried-out":
            under_way = asyncio.ensure_future(settle(self, payment))
            account = next(each for each in wallet.book.list() if each.kind == "wallet")
            while (await wallet.wallet_state(account))["usd"] == "0" and not under_way.done():
                await asyncio.sleep(0)
            die()
        settlement = await settle(self, payment)
        if point == "before-answer-is-kept":
            die()
        return settlement

    Intents.open = opened  # type: ignore[method-assign]  # the end of this program
    Intents.amend = amended  # type: ignore[method-assign]
    Intents.sent = sent  # type: ignore[method-assign]
    Intents.answered = answered  # type: ignore[method-assign]
    Intents.unknown = unknown  # type: ignore[method-assign]
    OpenPayments.put = kept  # type: ignore[method-assign]
    X402Resource.settle = settled  # type: ignore[method-assign]
    X402Resource.transactions = looked  # type: ignore[method-assign]


async def main(home: Path, rail: str, point: str) -> None:
    told = json.loads(sys.stdin.readline())
    sandbox = SimpleNamespace(**told)
    theme = Theme()
    theme.apply(app)
    async with open_wallet(home, sandbox, theme) as wallet:  # type: ignore[arg-type]  # its address and its key
        key = SOLANA_KEY if rail == "solana" else (await wallet.control("/faucet"))["wallet"]["private_key"]
        if point in AGAIN:
            account = next(each for each in wallet.book.list() if each.kind == "wallet")
            await wallet.place.write(account.id, key)
            arm(point.removeprefix("again "), wallet)
            (card,) = wallet.payment_cards()
            (card.button if point == "again look" else card.again).click()
        else:
            account = await (wallet.solana_wallet() if rail == "solana" else wallet.faucet_wallet())
            dialog = await wallet.review(account, AMOUNT)
            if point == "refused":
                await wallet.fault("settlement_failed", times=1)
            arm(point, wallet)
            dialog.go.click()
        await asyncio.Event().wait()


if __name__ == "__main__":
    app = QApplication([])
    with qasync.QEventLoop(app) as loop:
        loop.run_until_complete(main(Path(sys.argv[1]), *sys.argv[2:]))

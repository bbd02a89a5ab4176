"""A program that tops up and is killed at one point of it: `python -m tests.ui.wallet.killed_top_up HOME POINT`.

The Sandbox's address and key come over standard input. It kills itself with SIGKILL: nothing is saved on the way out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qasync
from PySide6.QtWidgets import QApplication

from app.service.x402 import X402Resource
from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from tests.kit.wallet import WalletHarness, open_wallet

POINTS = ("before-intent", "after-intent", "after-signature", "before-send", "carried-out", "before-answer-is-kept")
AMOUNT = "7.25"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(point: str, wallet: WalletHarness) -> None:
    """Put the end of the program where it belongs."""
    wrapped: dict[str, Callable[..., Awaitable[Any]]] = {
        name: getattr(Intents, name) for name in ("open", "amend", "sent")
    }
    settle = X402Resource.settle

    async def opened(self: Intents, *args: Any, **kwargs: Any) -> Any:
        if point == "before-intent":
            die()
        intent = await wrapped["open"](self, *args, **kwargs)
        if point == "after-intent":
            die()
        return intent

    async def amended(self: Intents, *args: Any) -> Any:
        intent = await wrapped["amend"](self, *args)
        if point == "after-signature":
            die()
        return intent

    async def sent(self: Intents, *args: Any) -> Any:
        intent = await wrapped["sent"](self, *args)
        if point == "before-send":
            die()
        return intent

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
    X402Resource.settle = settled  # type: ignore[method-assign]


async def main(home: Path, point: str) -> None:
    told = json.loads(sys.stdin.readline())
    sandbox = SimpleNamespace(**told)
    theme = Theme()
    theme.apply(app)
    async with open_wallet(home, sandbox, theme) as wallet:  # type: ignore[arg-type]  # its address and its key
        account = await wallet.faucet_wallet()
        dialog = await wallet.review(account, AMOUNT)
        arm(point, wallet)
        dialog.go.click()
        await asyncio.Event().wait()


if __name__ == "__main__":
    app = QApplication([])
    with qasync.QEventLoop(app) as loop:
        loop.run_until_complete(main(Path(sys.argv[1]), sys.argv[2]))

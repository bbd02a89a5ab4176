"""Heavy use of the real window leaves nothing in PySide's map of wrappers that could end the process."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent

from tests.journeys.paying_tabs import PAID_ACTIONS
from tests.journeys.test_wallet import control, full_wallet, in_the_sandbox, wallet_page
from tests.kit.waiting import until
from tests.wrapper_map import dangers

TABS = ("chat", "wallet", "speech", "transcription", "images", "video", "crypto_rpc", "settings")


@pytest.mark.qt_log_ignore("pa_context_connect")  # there may be no sound server; nothing is heard here
async def test_a_window_in_heavy_use_keeps_no_wrapper_of_what_qt_deletes_without_a_word(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        wallet = await full_wallet(rialto)
        for tab, action in PAID_ACTIONS.items():
            rialto.window.show_tab(tab)
            await action.prepare(rialto, tmp_path)
            action.begin(rialto)
            await until(lambda action=action: action.done(rialto))
        sandbox = rialto.account_services.sandbox_account().id
        for number, (account, mode, percent, status) in enumerate(
            (
                (wallet.id, "dark", 150, 404),
                (sandbox, "light", 100, 429),
                (wallet.id, "dark", 200, 503),
                (sandbox, "light", 100, 0),
            )
        ):
            await control(rialto, "/faults", "DELETE")
            rialto.accounts.use(account)
            await until(
                lambda account=account: rialto.current_account.account and rialto.current_account.account.id == account
            )
            if status:
                await control(rialto, "/faults/answer", "PUT", status=status, times=200)
            rialto.window.theme.set_mode(mode)
            rialto.window.theme.set_text_percent(percent)
            rialto.window.resize(1000 + 100 * number, 700)
            for tab in TABS:
                rialto.window.show_tab(tab)
                rialto.window.grab()
                wallet_page(rialto).presenter.refresh()
                await settle()
        found = Counter(dangers())
        assert not found, found


async def settle() -> None:
    """Let Qt destroy what was discarded, and Python what nobody holds."""
    for _ in range(10):
        await asyncio.sleep(0.005)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()

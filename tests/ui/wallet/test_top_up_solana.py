"""Topping up on the second rail, through the window: what is shown is what is signed, once, until its block is over."""

from __future__ import annotations

from decimal import Decimal

from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness


async def test_r_wal_06_r_wal_07_r_wal_09_a_solana_wallet_tops_up_with_the_block_of_the_terms(
    wallet: WalletHarness,
) -> None:
    account = await wallet.solana_wallet()
    dialog = await wallet.review(account)
    assert wallet.top_up.step == "review", wallet.top_up.problem
    shown = {row.name: row for row in dialog.sheet.rows}
    assert (shown["owner"].value, shown["amount"].value) == (account.address, "7250000")
    dialog.go.click()
    await until(lambda: wallet.top_up.step in ("done", "unknown", "refused"))
    assert (wallet.top_up.step, wallet.top_up.problem) == ("done", "")
    assert (wallet.top_up.credited, wallet.top_up.new_balance) == (Decimal("7.25"), Decimal("7.25"))
    await wallet.leave(dialog)
    state = await wallet.wallet_state(account)
    assert (Decimal(state["usd"]), Decimal(state["usdc"])) == (Decimal("7.25"), Decimal("92.75"))

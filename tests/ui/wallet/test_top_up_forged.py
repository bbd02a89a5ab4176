"""Terms of payment that somebody forged: each is refused through the window, with its reason, and nothing is signed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from app.service.client import OnWait
from app.service.x402 import TopUpRequirements, X402Resource
from app.ui.wallet.presenter_top_up import TERM_WORDS
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness

Terms = dict[str, Any]
OTHER = "0x" + "ab" * 20


def _with(**changes: object) -> Callable[[Terms], Terms]:
    return lambda terms: {**terms, **changes}


FORGED: dict[str, tuple[Callable[[Terms], Terms], str]] = {
    "another chain": (_with(network="eip155:1"), "unknown network"),
    "another token": (_with(asset=OTHER), "a token that is not"),
    "a larger amount": (_with(amount="900000000"), "or more"),
    "no amount": (_with(amount="0"), "whole number"),
    "an absurd expiry": (_with(maxTimeoutSeconds=10**7), "stay valid"),
    "a receiver with hidden characters": (_with(payTo="0x\u202e" + "2" * 40), "hidden characters"),
    "a receiver in look-alike letters": (_with(payTo="0\u0445" + "2" * 40), "hidden characters"),
    "nobody as the receiver": (_with(payTo="0x" + "0" * 40), "recipient"),
    "a token under another name": (_with(extra={"name": "USD C\u043ein", "version": "2"}), "hidden characters"),
    "permission to take more": (
        _with(extra={"name": "USD Coin", "version": "2", "assetTransferMethod": "permit2"}),
        "more than one payment",
    ),
    "another scheme": (_with(scheme="upto"), "exact amount"),
}


def forge(monkeypatch: pytest.MonkeyPatch, change: Callable[[Terms], Terms], *, after: int = 0) -> None:
    """From the answer number `after` on, every entry for the EVM chain is changed."""
    real = X402Resource.top_up_requirements
    answers = [0]

    async def forged(self: X402Resource, *, on_wait: OnWait | None = None) -> TopUpRequirements:
        terms = await real(self, on_wait=on_wait)
        answers[0] += 1
        if answers[0] <= after:
            return terms

        def one(entry: Mapping[str, object]) -> Mapping[str, object]:
            return change(dict(entry)) if str(entry.get("network", "")).startswith("eip155") else entry

        return replace(terms, options=tuple(map(one, terms.options)))

    monkeypatch.setattr(X402Resource, "top_up_requirements", forged)


@pytest.mark.parametrize("case", FORGED)
async def test_r_wal_03_forged_terms_are_refused_with_the_reason(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    change, reason = FORGED[case]
    account = await wallet.faucet_wallet()
    forge(monkeypatch, change)
    dialog = await wallet.review(account)
    said = " ".join([dialog.problem.text(), *(way.reason for way in wallet.top_up.ways)])
    assert reason in said, said
    assert wallet.top_up.step == "payment"
    assert await wallet.intents.recent("x402") == ()
    await wallet.leave(dialog)


@pytest.mark.parametrize(
    ("name", "value"), [("payTo", OTHER), ("amount", "6000000"), ("maxTimeoutSeconds", 900), ("asset", OTHER)]
)
@pytest.mark.parametrize("after", [1, 2])
async def test_r_wal_04_terms_that_change_between_the_steps_are_not_signed(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch, name: str, value: object, after: int
) -> None:
    account = await wallet.faucet_wallet()
    forge(monkeypatch, _with(**{name: value}), after=after)
    dialog = await wallet.review(account)
    if after == 2:
        assert wallet.top_up.step == "review"
        dialog.go.click()
        await until(lambda: wallet.top_up.problem)
    assert "changed its terms" in dialog.problem.text()
    assert TERM_WORDS[name].removeprefix("the ") in dialog.problem.text()
    assert "Nothing was signed" in dialog.problem.text()
    assert await wallet.intents.recent("x402") == ()
    assert await wallet.keys.signed_lately() == ()
    await wallet.leave(dialog)


async def test_real_tokens_are_not_taken_from_the_sandbox_nor_play_money_elsewhere(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await wallet.faucet_wallet()
    forge(monkeypatch, _with(asset="0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913"))
    dialog = await wallet.review(account)
    assert any("a token that is not" in way.reason for way in wallet.top_up.ways)
    await wallet.leave(dialog)


async def test_the_second_rail_is_named_and_said_to_need_another_wallet(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    dialog = await wallet.review(account)
    (other,) = [way for way in wallet.top_up.ways if way.reason]
    assert other.network == "USDC on Solana"
    assert "This wallet cannot pay on Solana" in other.reason
    said = [label.text() for label in dialog.payment_page.findChildren(QLabel)]
    assert any(text.startswith("Not available here: This wallet cannot pay") for text in said), said
    assert not next(each for each in dialog.way_buttons if "Solana" in each.text()).isEnabled()
    await wallet.leave(dialog)

"""A row that cannot be drawn is reported and left out; the list shows the others, then and at the next refresh."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from app.ui.kit.lists.rows import build_rows, sanitized_row
from app.ui.kit.theme import Theme
from app.ui.wallet.account_card import AccountView
from app.ui.wallet.list_pane import WalletListPane
from app.ui.wallet.state import AccountCard


@pytest.fixture
def crashes(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    seen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: seen.append(error))
    return seen


def test_a_row_that_fails_is_reported_and_the_others_are_built(crashes: list[BaseException]) -> None:
    assert build_rows(["1", "x", "3"], int) == [1, 3]
    assert [type(error) for error in crashes] == [ValueError]


class TupleRow(NamedTuple):
    id: str
    name: str
    count: int = 0


@dataclass(frozen=True)
class DataclassRow:
    id: str
    name: str
    count: int = 0


@pytest.mark.parametrize("kind", [TupleRow, DataclassRow])
def test_rows_of_either_form_lose_what_deceives_but_keep_their_ids(kind: type[TupleRow | DataclassRow]) -> None:
    deceptive = "ev\u202egpj.exe"
    row = sanitized_row(kind(deceptive, deceptive, 2))
    assert (type(row), row.id, row.count) == (kind, deceptive, 2)
    assert "\u202e" not in row.name
    plain = kind("1", "plain", 2)
    assert sanitized_row(plain) is plain


def card(name: str, usd: str = "5") -> AccountCard:
    return AccountCard(
        id=name, name=name, kind="api_key", host="service", in_use=name == "a", is_play=False, usd=Decimal(usd)
    )


class OneFails:
    """Lets the card of one account fail while it is drawn, half way through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = ""
        whole = AccountView._add_facts

        def add_facts(view: AccountView, shown: AccountCard) -> None:
            if shown.name == self.name:
                raise ArithmeticError(shown.name)
            whole(view, shown)

        monkeypatch.setattr(AccountView, "_add_facts", add_facts)


@pytest.mark.usefixtures("qapp")
def test_an_account_that_cannot_be_drawn_hides_no_other_and_is_back_with_the_next_good_answer(
    theme: Theme, monkeypatch: pytest.MonkeyPatch, crashes: list[BaseException]
) -> None:
    pane, fails = WalletListPane(theme, lambda key: ""), OneFails(monkeypatch)

    def shown() -> list[str]:
        views = pane.findChildren(AccountView)
        return [view.card.name for view in views if not view.isHidden() and view.parent() is not None]

    def show(*cards: AccountCard) -> Any:
        pane.show_accounts(tuple(wallet(each) for each in cards))

    fails.name = "b"
    show(card("a"), card("b"), card("c"))
    assert shown() == ["a", "c"]
    assert len(crashes) == 1
    show(card("a"), card("b"), card("c", "6"))
    assert shown() == ["a", "c"]
    fails.name = ""
    show(card("a"), card("b"), card("c"))
    assert shown() == ["a", "b", "c"]
    fails.name = "a"
    show(card("a", "7"), card("b"), card("c"))  # while it is changed
    assert shown() == ["b", "c"]
    fails.name = ""
    show(card("a", "7"), card("b"), card("c"))
    assert shown() == ["a", "b", "c"]
    assert pane.view_of("a").card.usd == Decimal(7)


def wallet(card: AccountCard) -> AccountCard:
    from dataclasses import replace

    return replace(card, kind="wallet", chain="evm", address="0x" + "1" * 40)


@pytest.mark.parametrize("amount", ["1e308", "-1e300", "NaN", "Infinity", "1e-400"])
@pytest.mark.usefixtures("qapp")
def test_a_balance_that_is_none_is_a_dash(theme: Theme, amount: str) -> None:
    pane = WalletListPane(theme, lambda key: "")
    for usd in (amount, amount, "5"):
        pane.show_accounts((card("a", usd), card("b")))
    assert pane.view_of("a").card.usd == Decimal(5)

"""Amounts, counts, sizes and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import money, number_format, time_format


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("18.42", "$18.42"),
        ("0.11", "$0.11"),
        ("0.0026", "$0.0026"),
        ("0.00256", "$0.0026"),
        ("0.0175", "$0.0175"),
        ("0.082", "$0.082"),
        ("0.00001", "$0.00001"),
        ("0.000000123", "$0.00000012"),
        ("0", "$0.00"),
        ("5", "$5.00"),
        ("1234567.891", "$1,234,567.89"),
        ("-0.5", "−$0.50"),
        ("0.099999", "$0.10"),
    ],
)
def test_an_amount_keeps_what_matters(amount: str, text: str) -> None:
    assert money.money(Decimal(amount)) == text


@pytest.mark.parametrize("amount", ["1e15", "-1e15", "1e20", "-1e300", "1e308", "NaN", "-Infinity"])
@pytest.mark.parametrize("decimals", [None, 2])
def test_an_amount_that_nobody_can_have_is_a_dash(amount: str, decimals: int | None) -> None:
    assert money.money(Decimal(amount), decimals) == number_format.DASH


@given(st.decimals(min_value=Decimal("1e-12"), max_value=Decimal("1e9"), allow_nan=False, allow_infinity=False))
def test_no_amount_is_ever_rounded_to_zero(amount: Decimal) -> None:
    assert any(digit in "123456789" for digit in money.money(amount))


@given(st.decimals(min_value=Decimal("1e-9"), max_value=Decimal("1e6"), allow_nan=False, allow_infinity=False))
def test_a_cap_is_never_below_the_amount(amount: Decimal) -> None:
    shown = Decimal(money.at_most(amount).removeprefix("up to $").replace(",", ""))
    assert shown >= amount
    assert money.short_cost(amount, "possible") == f"≤{money.at_most(amount).removeprefix('up to ')}"


def test_a_button_that_costs_says_it_in_one_form() -> None:
    assert money.priced("Clone", Decimal("0.05")) == "Clone for $0.05"
    assert money.priced("Clone", None) == "Clone, price unknown"


def test_the_shortest_sound_is_not_written_as_none() -> None:
    written = [time_format.length(seconds) for seconds in (0, 0.4, 1.9, 61, None)]
    assert written == ["0:00", "0:01", "0:01", "1:01", number_format.DASH]


def test_an_estimate_says_so() -> None:
    assert money.cost(Decimal("0.0019"), "stated") == "$0.0019"
    assert money.cost(Decimal("0.0019"), "estimated") == "about $0.0019"
    assert money.cost(None) == money.cost(Decimal(1), "none") == "cost not stated"


@pytest.mark.parametrize(
    ("n", "text"),
    [(812, "812"), (4100, "4.1K"), (12_400, "12.4K"), (131_072, "131K"), (750_000, "750K"), (1_000_000, "1M")],
)
def test_a_large_number_is_short_and_never_larger_than_it_is(n: int, text: str) -> None:
    assert number_format.short_count(n) == text


def test_thousands_have_commas() -> None:
    assert number_format.count(1284) == "1,284"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (812, "812 bytes"),
        (25_000_000, "25 MB"),
        (31_800_000, "31.8 MB"),
        (103_000_000, "103 MB"),
        (1_300_000_000, "1.3 GB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert number_format.size(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.084, "84 ms"), (0.8, "0.8 s"), (4.2, "4.2 s"), (59.99, "1 min"), (72, "1 min 12 s"), (7500, "2 h 5 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert time_format.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(23, "0:23"), (22.1, "0:23"), (0, "0:00"), (-3, "0:00"), (725, "12:05"), (3723, "1:02:03")]
)
def test_a_countdown_reaches_zero_only_when_the_time_is_up(seconds: float, text: str) -> None:
    assert time_format.countdown(seconds) == text


def test_moments_are_told_as_people_tell_them() -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC).astimezone().replace(hour=12, minute=0)
    assert time_format.when(now - timedelta(seconds=20), now) == "just now"
    assert time_format.when(now - timedelta(minutes=4), now) == "4 min ago"
    assert time_format.when(now.replace(hour=9, minute=10), now) == "today 09:10"
    assert time_format.when(now.replace(hour=9, minute=10) - timedelta(days=1), now) == "yesterday 09:10"
    assert time_format.when(now.replace(month=3, day=3), now) == "Mar 3, 2026"


def test_amounts_that_stand_together_add_up_as_they_are_read() -> None:
    amounts = [Decimal(text) for text in ("0.825", "0.0233", "0.0042", "0.08", "0.0015")]
    decimals = money.decimals_of(amounts)
    assert [money.money(each, decimals) for each in amounts] == ["$0.8250", "$0.0233", "$0.0042", "$0.0800", "$0.0015"]
    assert money.money(sum(amounts, Decimal(0)), decimals) == "$0.9340"
    written = [
        money.summand(each, decimals) for each in (*amounts, Decimal("0.15"), Decimal("2.00001"), Decimal("0.000014"))
    ]
    assert written == ["$0.825", "$0.0233", "$0.0042", "$0.08", "$0.0015", "$0.15", "$2.00", "$0.000014"]
    assert money.decimals_of([]) == money.decimals_of([Decimal(3), Decimal("1.50")]) == 2
    assert money.decimals_of([Decimal("0.00000123")]) == 6
    assert money.decimals_of([Decimal("0.15"), Decimal("0.000046")]) == 4
    assert money.decimals_of([Decimal("1.00000123")]) == 4
    assert money.money(Decimal("1E+14"), 2).endswith(",000.00")
    assert money.money(Decimal("1E+30"), 2) == number_format.DASH

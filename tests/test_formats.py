"""Numbers, money and dates in the signs and orders of a language, set once from what Qt knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from app import formats
from app.core import money, number_format, spending_limits, time_format
from app.formats import US_ENGLISH, format_number, plain, written
from app.translation import tr_n
from app.ui.kit.locale_formats import formats_of
from app.wallet.quantities import read_quantity

AT = datetime(2026, 3, 3, 15, 4, 5, tzinfo=UTC).replace(tzinfo=datetime(2026, 3, 3).astimezone().tzinfo)


@pytest.fixture(autouse=True)
def _us_english_again() -> Iterator[None]:
    yield
    formats.use(US_ENGLISH)


def test_without_a_language_everything_is_us_english() -> None:
    assert formats.current() == US_ENGLISH == formats_of("en") == formats_of("en_US") == formats_of("no language")
    assert money.money(Decimal("1284.5")) == "$1,284.50"
    assert (time_format.day(AT), time_format.moment(AT)) == ("Mar 3, 2026", "Mar 3, 2026, 15:04")
    assert written(AT, formats.current().month) == "March 2026"


@pytest.mark.parametrize(
    ("language", "amount", "less", "size", "day", "long_day", "clock"),
    [
        ("de", "1.284,50\xa0$", "−0,0026\xa0$", "31,8 MB", "3. März 2026", "3. März", "15:04:05"),
        ("pt_BR", "$\xa01.284,50", "−$\xa00,0026", "31,8 MB", "3 de mar. de 2026", "3 de março", "15:04:05"),
        ("en_GB", "$1,284.50", "−$0.0026", "31.8 MB", "3 Mar 2026", "3 March", "15:04:05"),
        ("ja", "$1,284.50", "−$0.0026", "31.8 MB", "2026年3月3日", "3月3日", "15:04:05"),
        ("fi", "1\xa0284,50\xa0$", "−0,0026\xa0$", "31,8 MB", "3. maalis 2026", "3. maaliskuuta", "15.04.05"),
        ("hi", "$1,284.50", "−$0.0026", "31.8 MB", "3 मार्च 2026", "3 मार्च", "3:04:05 pm"),
    ],
)
def test_a_language_writes_amounts_sizes_days_and_times_its_own_way(
    language: str, amount: str, less: str, size: str, day: str, long_day: str, clock: str
) -> None:
    formats.use(formats_of(language))
    assert (money.money(Decimal("1284.5")), money.money(Decimal("-0.0026"))) == (amount, less)
    assert number_format.size(31_800_000) == size
    assert (time_format.day(AT), time_format.day_of_year(AT.date(), long=True), time_format.clock(AT)) == (
        day,
        long_day,
        clock,
    )


def test_counts_durations_and_headings_follow_the_language() -> None:
    formats.use(formats_of("cs"))
    assert number_format.count(-1_284) == "−1\xa0284"
    assert tr_n("{n} chat", "{n} chats", 1_284) == "1\xa0284 chats"
    assert (time_format.duration(4.2), number_format.short_count(12_400), number_format.rating(4.6)) == (
        "4,2 s",
        "12,4K",
        "4,6",
    )
    assert time_format.day_group(AT, AT + timedelta(days=90)) == "březen 2026"  # and not "března", as in a date
    assert money.bare(Decimal("0.7")) == "0,70"


@pytest.mark.parametrize("language", ["en", "de", "fr", "pt_BR", "pl", "ja", "ar", "hi", "fi", "lt", "he", "ko"])
def test_every_language_names_each_part_of_a_date_once(language: str) -> None:
    found = formats_of(language)
    formats.use(found)
    day = date(2026, 11, 23)
    assert written(day, found.date).count("2026") == 1 and "23" in written(day, found.date)
    assert "2026" not in written(day, found.day) + written(day, found.long_day)
    assert "23" in written(day, found.day) and "23" not in written(day, found.month)
    assert "2026" in written(day, found.month)


def test_what_is_typed_is_read_in_the_language_and_in_that_of_the_wire() -> None:
    assert (plain("1,284.5"), read_quantity("1,500 gwei")) == ("1284.5", 1_500 * 10**9)
    formats.use(formats_of("de"))
    assert (plain("1.284,5"), plain("1284.5")) == ("1284.5", "1284.5")
    assert spending_limits.read_limit("10,50 $") == spending_limits.read_limit("10.50") == Decimal("10.50")
    assert read_quantity("1,5 gwei") == read_quantity("1.5 gwei") == 1_500_000_000


def test_a_number_has_the_decimals_it_is_asked_for() -> None:
    assert (format_number(1284), format_number(4.25, 1), format_number(Decimal("0.10"))) == ("1,284", "4.2", "0.10")

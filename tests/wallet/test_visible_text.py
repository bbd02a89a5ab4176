"""What a person cannot see is spelled out."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.visible_text import hides_something, make_visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("USD Coin", "USD Coin"),
        ("USD\u202eCoin", "USD‹U+202E›Coin"),
        ("USD\u200bCoin", "USD‹U+200B›Coin"),
        ("USD\u00a0Coin", "USD‹U+00A0›Coin"),
        ("USD Coin\n", "USD Coin‹U+000A›"),
        ("\ufeffUSD", "‹U+FEFF›USD"),
        ("US\u0414 Coin", "US‹U+0414› Coin"),
        ("ＵSD", "‹U+FF35›SD"),
        ("a\u0301", "a‹U+0301›"),
        ("\ud800", "‹U+D800›"),
        ("‹U+0041›", "‹U+2039›U+0041‹U+203A›"),
        ("\x7f\x1b[31m", "‹U+007F›‹U+001B›[31m"),
    ],
)
def test_characters_that_deceive_are_shown_as_their_code_points(text: str, shown: str) -> None:
    assert make_visible(text) == shown
    assert hides_something(text) is (text != shown)


def test_letters_and_lines_stay_where_they_are_welcome() -> None:
    assert make_visible("Größe\nzwei", ascii_only=False, lines=True) == "Größe\nzwei"
    assert make_visible("Größe\u202e", ascii_only=False) == "Größe‹U+202E›"
    assert hides_something("a\nb")
    assert not hides_something("a\nb", lines=True)


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    for char in make_visible(text, ascii_only=False):
        assert char == " " or unicodedata.category(char)[0] not in "CZ"
    shown = make_visible(text)
    assert all(char.isascii() or char in "‹›" for char in shown)
    assert hides_something(text) is (shown != text)

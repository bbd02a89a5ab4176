"""How an unfinished line is shown, and how citation markers are read and held back (R-EXT-19)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.kit.markdown.citations import MARKER, held_back, indexes_of
from app.ui.kit.markdown.tail import presentable


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("half **bo", "half **bo**"),
        ("half **", "half "),
        ("half *i", "half *i*"),
        ("some `co", "some `co`"),
        ("some `", "some "),
        ("~~gone", "~~gone~~"),
        ("see [the do", "see the do"),
        ("see [the docs](https://exa", "see the docs"),
        ("see [the docs](https://example.org)", "see [the docs](https://example.org)"),
        ("all **done** here", "all **done** here"),
        ("2 * 3 and snake_case", "2 * 3 and snake_case"),
        ("- ", "- "),
        ("- [ ", ""),
        ("#", ""),
        ("``", ""),
        ("12", ""),
        ("H<su", "H"),
        ("H<sub>", "H"),
        ("H<sub>2", "H<sub>2</sub>"),
        ("**H<sub>2", "**H<sub>2</sub>**"),
        ("H<sub>2</", "H<sub>2</sub>"),
        ("H<sub>2</sub>O", "H<sub>2</sub>O"),
        ("code `<sub>", "code `<sub>`"),
        ("1 < 2", "1 < 2"),
        ("| a | b", ""),
    ],
)
def test_half_a_line_shows_no_raw_markup(line: str, expected: str) -> None:
    assert presentable(line, "text", citations=True) == expected


def test_code_is_shown_as_it_comes_except_half_a_fence() -> None:
    assert presentable("x = **y", "code", citations=True) == "x = **y"
    assert presentable("``", "code", citations=True) == ""


def test_a_table_grows_by_whole_rows() -> None:
    assert presentable("| a | b", "table", citations=True) == ""
    assert presentable("a | b", "table", citations=True) == ""


@pytest.mark.parametrize("marker", ["[REF]0[/REF]", "[REF] 1, 12 [/REF]", "^1^", "^1,2^"])
def test_no_part_of_a_citation_is_seen_before_it_is_whole(marker: str) -> None:
    for end in range(1, len(marker)):
        assert held_back(f"A fact.{marker[:end]}") == end
    assert held_back(f"A fact.{marker}") == 0


@pytest.mark.parametrize("text", ["a [link", "a [REF]x", "x[1]", "10^x", "a ^ b", "[REF]1[/REF] and on"])
def test_what_is_no_citation_is_not_held_back(text: str) -> None:
    assert held_back(text) == 0


def test_without_search_markers_are_text() -> None:
    assert presentable("two squared is 2^2", "text", citations=False) == "two squared is 2^2"


def test_brackets_count_from_nought_and_carets_from_one() -> None:
    assert [indexes_of(found) for found in MARKER.finditer("[REF]0, 2[/REF] ^1,3^")] == [(0, 2), (0, 2)]


@given(st.text(alphabet="ab*_`~[](){}<>!#|-+123.^$\\ :/REF&\t", max_size=60), st.booleans())
@settings(max_examples=500, deadline=None)
def test_any_line_can_be_shown(line: str, citations: bool) -> None:
    for kind in (None, "text", "list", "table", "code"):
        presentable(line, kind, citations)

"""Long texts are cut where a reader would breathe: behind sentences, never inside a word, number, address or name."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.speech_text import parts, sentences, split_text


def said(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "One is here. Two is there! Is three? Yes…",
        "“Really?” she said. | Yes!",
        "“Go!” | He went.",
        "Dr. Smith met Mrs. Jones at 5 p.m. yesterday. | It rained.",
        "J. R. R. Tolkien wrote it. | Twice.",
        "Pi is 3.14159 and e is 2.718. | Both are irrational.",
        "See https://example.org/a.b?c=1.2, e.g. the notes. | Then come back.",
        "Write to ada@example.org. | She answers.",
        "1. First | 2. Second",
        "It cost $4.50. | Too much.",
        "一句话说完了。|再来一句！|好吗？",
        "「行こう。」|彼は言った。",
        "Der Versuch, d.h. der zweite, gelang. | Endlich.",
        "He lives in the U.S. | She does not.",
        "Bread, milk, etc. | Nothing else.",
        "We met in 1999. | It was May.",
        "क्या हाल है। | ठीक है।",
        "Wait... what? | Never mind.",
        "There was no sun. | The art. | He sat.",
        "See no. 5 and fig. 3 on p. 12. | Then stop.",
        "The scale reads ３．５ today．|It was ４。",
        "سلام دوست۔ | ٹھیک ہے۔",
    ],
)
def test_where_sentences_end(text: str) -> None:
    """A bar stands where one ends and the next begins; without bars, each stop ends one."""
    if "|" not in text:
        assert said(text) == ["One is here.", "Two is there!", "Is three?", "Yes…"]
        return
    wanted = [piece.strip() for piece in text.split("|")]
    plain = text.replace(" | ", "\n" if text.startswith("1.") else " ").replace("|", "")
    assert said(plain) == wanted


def test_r_lim_21_a_long_text_becomes_the_fewest_parts_that_fit() -> None:
    sentence = "The harbour lies still in the morning. "
    found = split_text(sentence * 200)
    assert [len(piece) for piece in found] == [4094, 3704]
    assert all(piece.endswith("morning.") for piece in found)
    assert " ".join(found) == (sentence * 200).strip()


WRAPPED = """The ferry left at six whether or not anyone was on it, and Dr.
Smith liked that about the ferry. It made no promises and kept
them all, which was more than could be said for the office in
London. Then it was gone.

Chapter 2
The lamp
- oil
- wick
"""


def test_a_line_that_was_wrapped_goes_on_and_a_heading_does_not() -> None:
    found = [" ".join(piece.split()) for piece in said(WRAPPED)]
    assert found == [
        "The ferry left at six whether or not anyone was on it, and Dr. Smith liked that about the ferry.",
        "It made no promises and kept them all, which was more than could be said for the office in London.",
        "Then it was gone.",
        "Chapter 2",
        "The lamp",
        "- oil",
        "- wick",
    ]


def test_what_a_space_holds_together_is_not_torn_apart() -> None:
    text = "after the count of 10 000 000 men Dr. Smith and 25\u00a0000\u202f000 more came " * 12
    for maximum in range(60, 130, 7):
        pieces = split_text(text, maximum)
        for one, other in itertools.pairwise(pieces):
            assert not (one[-1].isdigit() and other[0].isdigit()), (one, other)
            assert not one.endswith("Dr.")
    assert any("25\u00a0000\u202f000" in piece for piece in split_text(text, 60))


def test_words_numbers_and_addresses_among_signs_without_spaces_stay_whole() -> None:
    text = "他在2026年访问了https://example.org/a/b?c=12.5然后又写了hello给我们看" * 20
    for maximum in (50, 61, 72, 85):
        for piece in split_text(text, maximum):
            assert piece.count("https://example.org/a/b?c=12.5") == piece.count("http") == piece.count("c=12")
            assert piece.count("2026") == piece.count("26"), piece
            assert piece.count("hello") == piece.count("llo"), piece


def test_a_text_that_fits_is_one_part() -> None:
    assert split_text("  Dr. Ada is in.\n\nCome!  ") == ("Dr. Ada is in.\n\nCome!",)
    assert split_text(" \n ") == ()


def test_a_sentence_that_is_too_long_is_cut_behind_a_clause_else_between_words() -> None:
    clause = "and then the boat went on past the light, "
    assert all(piece.endswith("light,") for piece in split_text(clause * 20, 100)[:-1])
    words = "on and on and on "
    assert all(not piece.startswith(" ") and piece.split()[-1] in ("on", "and") for piece in split_text(words * 20, 50))


def test_numbers_and_addresses_stay_whole_in_a_long_sentence() -> None:
    text = "the values 1,234,567.89 and https://example.org/very/long/path?with=1,2 and " * 8
    for piece in split_text(text, 120):
        for word in piece.split():
            assert word in text.split()


def test_what_is_combined_is_not_torn_apart() -> None:
    family = "👩\u200d👩\u200d👧" * 40
    for piece in split_text(family, 31):
        assert not piece.startswith("\u200d")
    assert all(piece[0] == "e" for piece in split_text("e\u0301" * 40, 31))


@given(st.text(max_size=600), st.integers(5, 80))
def test_nothing_is_lost_or_too_long(text: str, maximum: int) -> None:
    found = parts(text, maximum)
    assert all(0 < len(span) <= maximum for span in found)
    assert "".join("".join(span.of(text).split()) for span in found) == "".join(text.split())
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))

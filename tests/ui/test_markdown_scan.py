"""The scanner: every place it cuts at, and that nothing about chunks or hostile text changes what it finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.kit.markdown.scanner import (
    CODE_PART_LINES,
    DENSE_LINE_CHARS,
    MAX_LINE_CHARS,
    MOST_DOLLARS,
    MOST_LINKS,
    TABLE_PART_ROWS,
    WORDLESS_LINE_CHARS,
    Scanner,
)
from app.ui.kit.markdown.segments import Segment, dedented

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "word ", "two words", "\n", "\n\n", "# ", "- ", "* ", "1. ", "2) ", "   ", "    ", "\t", "> ", "```",
            "```py\n", "~~~\n", "| a | b |\n", "|--|:-:|\n", "---\n", "===\n", "**", "_", "`", "[x](y)",
            "[REF]0[/REF]", "^1^", "[^1]", "[^1]: note\n", "[r]: http://e.org\n", "\r\n", "- [ ] ", "&amp;", "\\",
            "$x_1$", "<b>", "中文", "😀", "\u2028", "：", "「", "~~", "<br>", "<sub>", "</sub>", "<kbd>K</kbd>",
            "https://e.org/",
        ]
    ),
    max_size=60,
).map("".join)  # fmt: skip
TEXTS = st.one_of(MARKDOWN, st.text(max_size=300))
LONG_LINES = st.lists(st.sampled_from(["[*" * 400, "word " * 900, "\n", "- ", "```\n", "| a |\n"]), max_size=8).map(
    "".join
)


def segments(text: str) -> list[Segment]:
    scanner = Scanner()
    return scanner.feed(text) + scanner.finish()


def kinds(text: str) -> list[str]:
    return [segment.kind for segment in segments(text)]


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_the_segments_joined_are_the_text(text: str) -> None:
    assert "".join(segment.source for segment in segments(text)) == text


@given(st.one_of(TEXTS, LONG_LINES), st.lists(st.integers(1, 900), min_size=1, max_size=20))
@settings(max_examples=400, deadline=None)
def test_the_chunks_a_text_comes_in_make_no_difference(text: str, sizes: list[int]) -> None:
    scanner = Scanner()
    found: list[Segment] = []
    at = number = 0
    while at < len(text):
        size = sizes[number % len(sizes)]
        found += scanner.feed(text[at : at + size])
        scanner.tail()
        at += size
        number += 1
    assert found + scanner.finish() == segments(text)


def test_a_blank_line_ends_a_paragraph_but_not_a_list() -> None:
    assert kinds("one\n\ntwo\n\n- a\n\n- b\n\n  still b\n\nthree") == ["text", "text", "list", "text"]


def test_a_fence_hides_everything_that_looks_like_markdown() -> None:
    found = segments("```py\n# no heading\n\n- no list\n```\nafter")
    assert [segment.kind for segment in found] == ["code", "text"]
    assert found[0].code == "# no heading\n\n- no list"
    assert found[0].context.language == "py"


def test_a_fence_in_a_list_is_code_of_its_own_and_the_list_counts_on() -> None:
    found = segments("1. one\n\n   ```sh\n   ls\n   ```\n\n   more\n1. two\n1. three\n")
    assert [segment.kind for segment in found] == ["list", "code", "list", "list"]
    assert found[1].code == "ls"
    assert (found[1].context.indent, found[2].context.indent) == (1, 1)
    assert found[2].prose.strip() == "more"
    assert found[3].context.number == 2


def test_a_fence_that_never_closes_is_code_to_the_end() -> None:
    found = segments("```\nnever\nclosed")
    assert [(segment.kind, segment.code, segment.context.closed) for segment in found] == [
        ("code", "never\nclosed", False)
    ]


def test_long_code_comes_in_parts_that_join_again() -> None:
    lines = [f"line {number}" for number in range(CODE_PART_LINES * 2 + 5)]
    found = segments("```\n" + "\n".join(lines) + "\n```\n")
    assert [segment.context.part for segment in found] == [0, 1, 2]
    assert "\n".join(segment.code for segment in found).split("\n") == lines


def test_long_tables_come_in_parts_under_the_same_head() -> None:
    head = "| a | b |\n|---|---|\n"
    rows = [f"| {number} | x |\n" for number in range(TABLE_PART_ROWS * 2 + 1)]
    found = segments(head + "".join(rows))
    assert [segment.kind for segment in found] == ["table"] * 3
    assert found[0].prose.startswith(head)
    assert all(segment.prose.startswith(head) and segment.context.joined for segment in found[1:])


def test_a_table_begins_under_a_paragraph() -> None:
    assert kinds("words above\n| a | b |\n|--|--|\n| 1 | 2 |\n") == ["text", "table"]


def test_long_lists_are_cut_between_items_and_count_on() -> None:
    found = segments("".join(f"{number}. " + "word " * 30 + "\n" for number in range(5, 30)))
    assert len(found) > 3
    numbers = [segment.context.number for segment in found]
    assert numbers[0] is None
    assert [str(number) + "." for number in numbers[1:]] == [segment.source.split()[0] for segment in found[1:]]


def test_a_line_without_end_is_cut_at_spaces() -> None:
    found = segments("word " * 2000)
    assert all(len(segment.source) <= MAX_LINE_CHARS for segment in found)
    assert all(segment.source.endswith(" ") for segment in found)
    assert [len(segment.source) for segment in segments("x" * 5_000)] == [2_000, 2_000, 1_000]
    assert all(len(segment.source) <= DENSE_LINE_CHARS for segment in segments("[*" * 3_000))


@pytest.mark.parametrize(
    "text",
    [
        "x" * 9_000,
        "<a href=http://a.example>" * 400,
        "http://a/ " * 900,
        "[*" * 300 + "http://a" * 900,
        "word " * 2_000,
        "Let $x_1$ and $y_2$ be " * 200,
    ],
    ids=["no space", "links", "links and spaces", "markup, then links", "words", "formulas"],
)
def test_a_long_line_is_cut_in_the_same_places_however_it_came(text: str) -> None:
    whole = segments(text)
    scanner = Scanner()
    bit_by_bit = [segment for at in range(0, len(text), 7) for segment in scanner.feed(text[at : at + 7])]
    assert [*bit_by_bit, *scanner.finish()] == whole
    assert "".join(segment.source for segment in whole) == text
    assert all(segment.source.count("://") <= MOST_LINKS for segment in whole)
    assert all(segment.source.count("$") <= MOST_DOLLARS and segment.source.count("$") % 2 == 0 for segment in whole)
    assert all(len(segment.source) <= WORDLESS_LINE_CHARS or " " in segment.source for segment in whole)


def test_headings_rules_and_quotes_interrupt_a_paragraph() -> None:
    assert kinds("a\n# b\nc\n> d\n\ne\n***\nf\n") == ["text", "heading", "text", "quote", "text", "rule", "text"]
    assert kinds("Title\n===\nbody") == ["heading", "text"]


def test_a_number_in_running_text_is_no_list() -> None:
    assert kinds("It happened in\n1984. Nobody knew.\n") == ["text"]


def test_link_definitions_are_collected() -> None:
    scanner = Scanner()
    scanner.feed("See [the docs][Docs].\n\n[docs]: https://example.org/d\n")
    assert scanner.references == {"docs": "https://example.org/d"}


def test_indentation_counts_tabs_as_columns() -> None:
    assert dedented("\t\tx", 4) == "\tx"
    assert dedented("  x", 4) == "x"
    assert dedented("\tx", 2) == "  x"

"""Markdown on its way to the clipboard and into pages: bounded for hostile texts, whole for long honest ones."""

from __future__ import annotations

import time

import pytest

from app.ui.conversation.actions import MOST_FORMATTED
from app.ui.kit.markdown.html import html_of


@pytest.mark.parametrize("piece", ["\\(", "\\[", "![", "**a_", "- \\(\n  ", "> \\(\n"])
def test_a_hostile_text_does_not_hold_the_window(piece: str) -> None:
    html_of("loads the parser")
    began = time.process_time()
    html_of(piece * (MOST_FORMATTED // len(piece)))
    assert time.process_time() - began < 1.5  # up to 5.6 s as one paragraph


def test_long_honest_blocks_stay_one_block() -> None:
    table = html_of("| a | b |\n|---|---|\n" + "".join(f"| {row} | *x* |\n" for row in range(400)))
    assert (table.count("<table>"), table.count("<tr>")) == (1, 401)
    numbered = html_of("".join(f"{number}. an item with *some* words\n" for number in range(1, 300)))
    assert (numbered.count("<ol"), numbered.count("<li>")) == (1, 299)
    nested = html_of("- a\n" + "- an item with *some* words\n\n  and a paragraph\n  - and an item inside\n" * 99)
    assert nested.count("<li>") == 199
    code = html_of("```python\n" + "x = 1  # \\(\n" * 500 + "```\n")
    assert code.count("<pre>") == 1 and code.count("x = 1") == 500


def test_a_link_that_is_defined_elsewhere_is_found_from_each_part() -> None:
    text = "word " * 700 + "[there][1]\n\n[1]: https://example.org/page\n"
    assert 'href="https://example.org/page"' in html_of(text)

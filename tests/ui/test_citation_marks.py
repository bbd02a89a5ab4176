"""Marks of sources outside the screen: copied, exported, edited and after a crash they are numbers, never markup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.ui.chat.session.message_rows import EDITED
from app.ui.conversation.selection import html_text, markdown_text, plain_text, select_all, selected_text
from app.ui.kit.markdown.citations import from_numbers, in_numbers
from app.ui.kit.markdown.plain import plain_of
from app.ui.kit.markdown.tail import cut_off
from app.ui.kit.theme import Theme
from tests.kit.chat import open_chat_presenter
from tests.kit.message_view import SOURCES, answer, click, shown

MARKED = "A **fact**.[REF]1[/REF] More, `[REF]0[/REF]` in code.[REF]0, 1[/REF]"
ROW = answer(MARKED, citations=True, sources=SOURCES)


def test_marks_are_numbers_in_every_copy() -> None:
    first, second = SOURCES[:2]
    plain = plain_text(ROW)
    assert plain.startswith("A fact.[2] More, [REF]0[/REF] in code.[1][2]\n\nSources:\n\n[1] ")
    assert f"[1] {first.title} {first.url}\n[2] {second.title} {second.url}" in plain
    assert markdown_text(ROW).startswith("A **fact**.[2] More,")
    assert f"1. [{first.title}](<{first.url}>)" in markdown_text(ROW)
    assert "[REF]1" not in html_text(ROW) and f'href="{second.url}"' in html_text(ROW)


def test_a_message_without_sources_is_copied_as_it_reads() -> None:
    row = answer("A **fact** is x^2^.")
    assert (plain_text(row), markdown_text(row)) == ("A fact is x^2^.", "A **fact** is x^2^.")
    assert plain_text(replace(row, role="user")) == "A **fact** is x^2^."


def test_the_copy_button_and_the_selection_give_numbers(theme: Theme) -> None:
    view = shown(theme, [ROW])
    click(view, "Copy message")
    data = QGuiApplication.clipboard().mimeData()
    assert data.text() == plain_text(ROW) and data.html() == html_text(ROW)
    view.copy_message(ROW.id)
    assert QGuiApplication.clipboard().text() == plain_text(ROW)
    select_all(view.stack, view.selection)
    assert "[2]" in selected_text(view.stack, view.selection)
    assert "[REF]1" not in selected_text(view.stack, view.selection, as_source=True)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("- one\n- two\n\n1. a\n2. b", "• one\n• two\n\n1. a\n2. b"),
        ("| A | B |\n|---|---|\n| 1 | 2 |", "A\tB\n1\t2"),
        ("# T\n\n```py\nx = 1\n\ny = 2\n```", "T\n\nx = 1\n\ny = 2"),
        ("[here](https://a.example) &amp; <b>", "here (https://a.example) & <b>"),
    ],
)
def test_markdown_reads_well_as_plain_text(source: str, text: str) -> None:
    assert plain_of(source) == text


def test_a_bare_address_is_written_once() -> None:
    assert plain_of("See <https://a.example>.") == "See https://a.example."


@pytest.mark.parametrize(
    ("edited", "stored"),
    [
        ("one[1][2]", "one[REF]0[/REF][REF]1[/REF]"),
        ("[1](https://a.example) [1]: x [3] `a[1]`", "[1](https://a.example) [1]: x [3] `a[1]`"),
        ("```\na[1]\n```\nb[1]", "```\na[1]\n```\nb[REF]0[/REF]"),
    ],
)
def test_numbers_become_marks_again_outside_of_code_and_links(edited: str, stored: str) -> None:
    assert from_numbers(edited, 2) == stored
    assert in_numbers("one[REF]0, 1[/REF]^0^") == "one[1][2]"


@pytest.mark.parametrize(
    ("text", "shown_as"),
    [
        ("Hello **bo", "Hello **bo**"),
        ("A fact.[REF]0", "A fact."),
        ("42.", "42."),
        ("```\nx = **", "```\nx = **"),
        ("| a | **b", "| a | **b"),
    ],
)
def test_a_text_that_was_cut_off_ends_without_half_a_mark(text: str, shown_as: str) -> None:
    assert cut_off(text, citations=True) == shown_as


async def test_an_edited_answer_keeps_its_sources(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Which?")
        chat_id, question = harness.presenter.opened.chat_id, harness.rows[0].id
        assert chat_id is not None
        source = {"title": "A page", "url": "https://a.example", "content": "", "date": ""}
        given = await harness.history.add_message(
            chat_id, "assistant", "A fact.[REF]0[/REF]", parent_id=question, sources=[source]
        )
        harness.presenter.new_chat()
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        harness.presenter.begin_edit(given.id)
        assert harness.told["draft_replaced"][-1] == ("A fact.[1]",)
        await harness.say("A better fact.[1]")
        row = harness.rows[-1]
        assert (row.text, row.citations, [each.title for each in row.sources]) == (
            "A better fact.[REF]0[/REF]",
            True,
            ["A page"],
        )
        stored = harness.presenter.opened.thread.get(row.id)
        assert stored is not None and stored.extra[EDITED]


async def test_what_a_crash_kept_is_read_with_its_marks(tmp_home: Path) -> None:
    """A crash keeps neither the sources nor whether the web was searched."""
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Which?")
        chat_id, question = harness.presenter.opened.chat_id, harness.rows[0].id
        assert chat_id is not None
        text = "A fact.[REF]0[/REF] Another **one.[REF]1"
        kept = await harness.history.add_message(chat_id, "assistant", text, parent_id=question, state="interrupted")
        harness.presenter.new_chat()
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert harness.rows[-1].id == kept.id and harness.rows[-1].citations
        assert harness.rows[-1].text == "A fact.[REF]0[/REF] Another **one.**"
        assert plain_text(harness.rows[-1]) == "A fact.[1] Another one."

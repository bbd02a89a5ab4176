"""Blanks in saved prompts: found, asked for in a form, filled in, and remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from app.core.blanks import Blank, blanks_in, with_blanks_filled
from app.ui.chat.blanks_dialog import BlanksDialog
from app.ui.kit.theme import Theme
from tests.kit.chat import ChatHarness, open_chat
from tests.kit.waiting import until

PROMPT = "Write about {{topic}} in a {{tone: formal|friendly}} tone. {{ topic }} again, on {{date}}. {{clipboard}}"


@pytest.fixture
async def chat(theme: Theme, tmp_home: Path) -> AsyncIterator[ChatHarness]:
    async with open_chat(theme, tmp_home) as shown:
        yield shown


def test_blanks_are_found_once_with_their_choices() -> None:
    assert blanks_in(PROMPT) == (
        Blank("topic"),
        Blank("tone", ("formal", "friendly")),
        Blank("date"),
        Blank("clipboard"),
    )
    assert blanks_in("{{}} {{ }} {a} {{a\nb}} {{:x|y}}") == ()
    assert blanks_in("{{größte Sorge}}") == (Blank("größte Sorge"),)


def test_a_value_is_text_whatever_stands_in_it() -> None:
    assert with_blanks_filled("{{a}}-{{b}}-{{c}}", {"a": "{{b}}", "b": r"\1 \g<0>"}) == r"{{b}}-\1 \g<0>-{{c}}"


@given(st.text(alphabet="{}:| ab\n", max_size=60))
def test_any_text_without_values_stays_as_it_is(text: str) -> None:
    assert with_blanks_filled(text, {}) == text
    filled = with_blanks_filled(text, {blank.name: "x" for blank in blanks_in(text)})
    assert all(f"{{{{{blank.name}}}}}" not in filled for blank in blanks_in(text)) or "{{" in filled


async def saved(chat: ChatHarness, text: str) -> str:
    presets = chat.presenter.presets
    assert presets is not None
    presets.keep("prompt", "Essay", {"text": text})
    await chat.tasks.idle()
    return presets.rows("prompt")[0].id


async def form(chat: ChatHarness) -> BlanksDialog:
    await until(lambda: any(each.isVisible() for each in chat.page.main.findChildren(BlanksDialog)))
    return next(each for each in chat.page.main.findChildren(BlanksDialog) if each.isVisible())


async def test_a_prompt_is_filled_in_by_key_and_the_form_remembers(chat: ChatHarness) -> None:
    preset_id = await saved(chat, PROMPT)
    QGuiApplication.clipboard().setText("two\nlines")
    chat.page.box.use_preset(preset_id)
    dialog = await form(chat)
    assert list(dialog.fields) == ["topic", "tone", "clipboard"]  # the date needs no question
    assert [field.accessibleName() for field in dialog.fields.values()] == ["topic", "tone", "Clipboard"]
    assert not dialog.use.isEnabled()
    field = dialog.fields["topic"]
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "tides")
    dialog.fields["tone"].setCurrentText("friendly")  # type: ignore[union-attr]  # a choice
    QTest.keyClick(field, Qt.Key.Key_Return)
    await until(lambda: chat.presenter.opened.options.system_prompt)
    text = chat.presenter.opened.options.system_prompt
    assert text.startswith("Write about tides in a friendly tone. tides again, on ")
    assert text.endswith("two\nlines") and "{{" not in text
    await chat.tasks.idle()
    chat.page.box.use_preset(preset_id)
    dialog = await form(chat)
    assert dialog.values() == {"topic": "tides", "tone": "friendly", "clipboard": "two\nlines"}
    dialog.reject()
    await chat.tasks.idle()
    assert chat.presenter.opened.options.system_prompt == text


async def test_a_prompt_with_a_date_alone_asks_nothing(chat: ChatHarness) -> None:
    chat.page.box.use_preset(await saved(chat, "Today is {{date}}."))
    await until(lambda: chat.presenter.opened.options.system_prompt)
    assert "{{" not in chat.presenter.opened.options.system_prompt

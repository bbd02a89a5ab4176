"""What goes in and out of Chat: code, exports, imports, images, reviews and prompts, by somebody without a mouse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication, QLineEdit

from app.ui.chat.export_dialog import ExportDialog, ReportDialog
from app.ui.chat.session.chat_options import ChatOptions
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.preset_popover import PresetPopover
from tests.journeys.keyboard import Keyboard
from tests.journeys.talk import Talk, in_the_sandbox
from tests.journeys.test_answers_keyboard import use_model
from tests.journeys.test_chat_list_keyboard import zone_by_key
from tests.kit.waiting import until
from tests.storage.test_chat_import import openai_chat

QUESTION = "Can I keep everything in one folder, on a USB stick?"
COMMAND = "RIALTO_HOME=/media/stick/rialto python3 packaging/bootstrap.py run"


async def walk_to_code(talk: Talk, action: str) -> None:
    """Tab from the top of the conversation to a button of the first code block."""
    view = talk.view
    await talk.hands.tab_to(view, "Shift+Tab")
    view.set_focused(None)
    await talk.hands.press("Home")
    for _ in range(60):
        await talk.hands.press("Tab")
        spot = view.picture.focused
        if spot is not None and spot.control == action and code_box(talk) is not None:
            return
    raise AssertionError(f"{action} cannot be reached by Tab")


def code_box(talk: Talk) -> Any:
    """The code block that the focused control stands in, None when it is none."""
    view = talk.view
    spot = view.picture.focused
    number = view.stack.number_of(spot.row_id) if spot is not None else None
    if spot is None or number is None:
        return None
    unit = view.stack.model(number).unit(spot.key)
    is_code = unit is not None and unit.segment is not None and unit.segment.kind == "code"
    return unit.boxes[spot.box] if unit is not None and is_code else None


async def export(hands: Keyboard, kind: str, steps: int, file: Path) -> str:
    """Save the open chat in one form and read what was written."""
    await hands.press("Ctrl+E")
    dialog = await hands.dialog(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    while not dialog.kind.isAncestorOf(hands.focus):
        await hands.press("Tab")
    await hands.press(*["Right"] * steps)
    assert dialog.form.kind == kind
    await hands.tab_to(dialog.receipts)
    await hands.press("Space")
    assert dialog.form.receipts
    await hands.tab_to(dialog.go)
    await hands.press("Return")
    await hands.choose_file(str(file))
    await until(lambda: file.exists() and file.stat().st_size > 0)
    await hands.begin()
    return file.read_text(encoding="utf-8")


async def test_a_person_without_a_mouse_keeps_code_exports_imports_and_attaches_an_image(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await talk.ask(QUESTION)
        assert COMMAND in talk.rows[-1].text

        # a code block: wrapped and back, copied without its fences, saved as a file
        await walk_to_code(talk, "wrap")
        await hands.press("Space")
        assert code_box(talk).group.wrap
        await hands.press("Space")
        assert not code_box(talk).group.wrap
        await walk_to_code(talk, "copy")
        await hands.press("Return")
        assert QGuiApplication.clipboard().text().strip() == COMMAND
        await walk_to_code(talk, "save")
        await hands.press("Return")
        script = tmp_path / "run.sh"
        await hands.choose_file(str(script))
        await until(lambda: script.exists() and script.read_text(encoding="utf-8").strip() == COMMAND)
        await hands.begin()

        # the chat as text and as a page
        text = await export(hands, "markdown", 0, tmp_path / "chat.md")
        assert QUESTION in text
        assert COMMAND in text
        web = await export(hands, "html", 1, tmp_path / "chat.html")
        assert web.startswith("<!doctype html>")
        assert COMMAND in web
        assert "<script" not in web

        # another program's chats: told what was left out, then read in the list
        foreign = tmp_path / "conversations.json"
        foreign.write_text(json.dumps([openai_chat()]), encoding="utf-8")
        await hands.command("Import chats")
        await hands.choose_file(str(foreign))
        await hands.dialog(ReportDialog)
        await hands.press("Return")
        await until(lambda: talk.presenter.head().title == "A picture")
        assert [row.text for row in talk.rows] == ["What is it?", "A tower."]
        assert talk.rows[-1].places == 2
        await hands.begin()

        # an image from the clipboard, taken away again by Del and by its button
        await hands.press("Ctrl+N")
        await until(lambda: not talk.rows)
        await use_model(talk, "vision", "rialto-vision")
        image = QImage(120, 90, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.darkCyan)
        QGuiApplication.clipboard().setImage(image)
        strip = talk.composer.strip
        for key in ("Delete", "Space"):
            await hands.press("Ctrl+L", "Ctrl+V")
            await until(lambda: strip.isVisible() and any(not chip.view.busy for chip in strip.chips.values()))
            (chip,) = strip.chips.values()
            assert not chip.view.refusal
            assert "Pasted image" in chip.accessibleName()
            await hands.tab_to(chip if key == "Delete" else chip.close_button, "Shift+Tab")
            await hands.press(key)
            await until(lambda: not strip.chips and not strip.isVisible())
            assert talk.message_box.hasFocus(), "the keyboard is where the picture was attached"
            assert talk.presenter.head().model_id == "rialto-vision", "Del meant the picture, not the chat"


async def test_a_person_without_a_mouse_keeps_prompts_and_presets_and_reads_reviews(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, page = talk.hands, talk.page

        def options() -> ChatOptions:
            return talk.presenter.opened.options

        await talk.begin()
        await talk.ask("What is the Sandbox?")

        # a system prompt is written, kept under a name, renamed, used in another chat, removed and brought back
        await hands.command("Show parameters")
        await until(lambda: talk.side.is_made(0) and talk.parameters.isVisible())
        await zone_by_key(talk, page.side)
        await hands.tab_to(talk.parameters.prompt)
        await hands.type("Answer like a sailor.")
        await hands.tab_to(talk.parameters.prompts)
        await hands.press("Space")
        await keep_as(hands, talk.page.box.prompts, "Sailor")
        await open_library(hands, talk.page.box.prompts, "Prompt library")
        await until(lambda: names(talk.page.box.prompts) == ["Sailor"])
        await hands.press("Down", "F2")
        await name_it(hands, "Old sailor")
        await until(lambda: names(talk.page.box.prompts) == ["Old sailor"])
        await hands.press("Ctrl+N")
        await until(lambda: options().system_prompt == "")
        await open_library(hands, talk.page.box.prompts, "Prompt library")
        await hands.type("old")
        await hands.press("Down", "Return")
        await until(lambda: options().system_prompt == "Answer like a sailor.")
        await until(lambda: QApplication.activePopupWidget() is None)
        await open_library(hands, talk.page.box.prompts, "Prompt library")
        await hands.press("Down")
        await hands.tab_to(talk.page.box.prompts.remove_button)
        await hands.press("Space")
        await until(lambda: not names(talk.page.box.prompts))
        assert talk.page.box.prompts.isAncestorOf(hands.focus)
        assert hands.focus.isEnabled()
        await hands.press("Escape")

        # all of a chat's choices under one name
        await use_model(talk, "reasoning", "rialto-reasoning")
        await hands.press("Ctrl+Shift+B")
        web = options().web_search
        await open_library(hands, talk.page.box.presets, "Presets")
        await keep_as(hands, talk.page.box.presets, "Deep")
        await hands.press("Ctrl+Shift+B")
        await use_model(talk, "vision", "rialto-vision")
        await open_library(hands, talk.page.box.presets, "Presets")
        await until(lambda: names(talk.page.box.presets) == ["Deep"])
        await hands.press("Down", "Return")
        await until(lambda: talk.presenter.head().model_id == "rialto-reasoning" and options().web_search == web)
        await until(lambda: QApplication.activePopupWidget() is None)
        await talk.ask("What is the Sandbox?")
        chat = talk.presenter.opened.chat_id
        await open_library(hands, talk.page.box.presets, "Presets")
        await hands.press("Down", "F2")
        await name_it(hands, "Thorough")
        await open_library(hands, talk.page.box.presets, "Presets")
        await until(lambda: names(talk.page.box.presets) == ["Thorough"])
        await hands.press("Tab")
        assert talk.page.box.presets.list.hasFocus(), "Tab walks the parts as they stand"
        await hands.press("Delete")
        await until(lambda: not names(talk.page.box.presets))
        assert talk.presenter.opened.chat_id == chat, "Del meant the preset, not the chat"
        await hands.press("Escape")

        # what others wrote about a character
        await hands.press("Ctrl+Shift+P")
        people = rialto.characters_page
        await until(lambda: people.presenter.state.rows and not people.presenter.state.loading)
        await hands.tab_to(people.grid.view)
        await hands.press("Right")
        await until(lambda: people.presenter.state.character is not None)
        await zone_by_key(talk, people.details)
        await hands.tab_to(people.details.reviews.more)
        await hands.press("Space")
        await until(lambda: people.presenter.state.reviews.pages_read == 1)
        box = people.details.reviews
        assert len(box.reviews) == len(people.presenter.state.reviews.rows) > 2
        await until(lambda: hands.focus is box.reviews[0])
        await hands.press("End")
        assert hands.focus is box.reviews[-1]
        await until(lambda: not box.reviews[-1].visibleRegion().isEmpty())
        await hands.press("Up", "Home")
        assert box.reviews[0].hasFocus()
        await until(lambda: not box.reviews[0].visibleRegion().isEmpty())
        assert box.reviews[0].accessibleName()


def names(library: PresetPopover) -> list[str]:
    """What the library lists, from the top."""
    rows = library.list.model()
    return [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]


async def open_library(hands: Keyboard, library: PresetPopover, words: str) -> None:
    """Open prompts or presets from the palette; the search field has the keyboard."""
    await hands.command(words)
    await until(lambda: QApplication.activePopupWidget() is library and library.search.hasFocus())


async def keep_as(hands: Keyboard, library: PresetPopover, name: str) -> None:
    """Keep what the open chat has under a name."""
    await until(lambda: QApplication.activePopupWidget() is library)
    await hands.tab_to(library.save)
    await hands.press("Space")
    await name_it(hands, name)


async def name_it(hands: Keyboard, name: str) -> None:
    """Write a name into the dialog that asks for one, over what stands there."""
    await hands.dialog(Dialog)
    await until(lambda: isinstance(hands.focus, QLineEdit))
    await hands.press("Ctrl+A")
    await hands.type(name)
    await hands.press("Return")
    await hands.begin()

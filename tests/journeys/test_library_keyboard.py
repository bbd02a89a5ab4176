"""Prompts and presets in files and back after they were removed, and a pasted image made smaller, without a mouse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage
from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto
from app.ui.kit.widgets.buttons import LinkButton
from tests.journeys.talk import Talk, in_the_sandbox
from tests.journeys.test_answers_keyboard import use_model
from tests.journeys.test_chat_list_keyboard import zone_by_key
from tests.journeys.test_chat_more_keyboard import keep_as, names, open_library
from tests.kit.waiting import until

PROMPT = "Answer like a sailor."


def toasts(rialto: Rialto) -> list[str]:
    """What the toasts say, the newest last."""
    return [toast.accessibleName() for toast in rialto.window.overlays.toasts.toasts]


async def ask_and_stop(talk: Talk, text: str) -> None:
    """Send something, and do without the rest of the answer as soon as it begins."""
    await talk.hands.press("Ctrl+L")
    await talk.hands.type(text)
    await talk.hands.press("Return")
    await until(lambda: talk.is_writing and len(talk.rows) == 2)
    await talk.hands.press("Escape")
    await until(lambda: not talk.is_writing)


@pytest.mark.timeout(120)
async def test_a_person_without_a_mouse_carries_prompts_and_presets_in_files_and_undoes_a_removal(
    start: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "library.json"
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, page = talk.hands, talk.page
        library = talk.page.box.presets
        await talk.begin()

        await hands.command("Show parameters")
        await until(lambda: talk.side.is_made(0) and talk.parameters.isVisible())
        await zone_by_key(talk, page.side)
        await hands.tab_to(talk.parameters.prompt)
        await hands.type(PROMPT)
        await hands.tab_to(talk.parameters.prompts)
        await hands.press("Space")
        await keep_as(hands, talk.page.box.prompts, "Sailor")
        for name in ("Deep", "Plain"):
            await open_library(hands, library, "Presets")
            await keep_as(hands, library, name)

        # out into a file: both kinds, and nothing of this computer
        await open_library(hands, library, "Presets")
        await until(lambda: names(library) == ["Deep", "Plain"])
        await hands.tab_to(library.export)
        await hands.press("Space")
        await hands.choose_file(str(file))
        await until(lambda: file.exists() and "Saved as library.json." in toasts(rialto))
        opened: list[str] = []
        monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
        (link,) = rialto.window.overlays.toasts.toasts[-1].findChildren(LinkButton)
        assert link.text() == "Show in folder"
        link.click()
        assert opened == [str(tmp_path)]
        assert str(tmp_path) in rialto.settings.value.dialog_folders.values(), "the next dialog opens there"
        kept = json.loads(file.read_text(encoding="utf-8"))["presets"]
        assert [(each["kind"], each["name"]) for each in kept] == [
            ("preset", "Deep"),
            ("preset", "Plain"),
            ("prompt", "Sailor"),
        ]
        await hands.begin()

        # removed with Del: Ctrl+Z in the library has it back at once
        await open_library(hands, library, "Presets")
        await hands.press("Tab", "Home", "Delete")
        await until(lambda: names(library) == ["Plain"])
        await hands.undo("chat")
        await until(lambda: names(library) == ["Deep", "Plain"])

        # removed again: F6 leads from the page to Undo in the toast, and the keyboard comes back from there
        await hands.press("Home", "Delete")
        await until(lambda: names(library) == ["Plain"])
        await hands.press("Escape")
        await until(lambda: QApplication.activePopupWidget() is None)
        await hands.press("Ctrl+L", "F6")
        assert hands.focus.objectName().startswith("undo")
        await hands.press("Space")
        await until(lambda: names(library) == ["Deep", "Plain"])
        assert talk.message_box.hasFocus()

        # two things gone, one after the other: Ctrl+Z in the empty box brings each back, the last one first
        await ask_and_stop(talk, "What is the Sandbox?")
        chat = talk.presenter.opened.chat_id
        await open_library(hands, library, "Presets")
        await hands.press("Tab", "Home", "Delete")
        await until(lambda: names(library) == ["Plain"])
        await hands.press("Escape")
        await hands.command("Move chat to trash")
        await until(lambda: talk.presenter.opened.chat_id is None and not talk.rows)
        await hands.press("Ctrl+L")
        await hands.undo("chat")
        await until(lambda: talk.presenter.opened.chat_id == chat and talk.rows)
        assert names(library) == ["Plain"]
        await hands.press("Ctrl+Z")
        await until(lambda: names(library) == ["Deep", "Plain"])
        await hands.press("Ctrl+Z")
        assert talk.presenter.opened.chat_id == chat, "there is nothing more to undo"

        # what is in the box comes first: a typed word is undone, nothing else
        await open_library(hands, library, "Presets")
        await hands.press("Tab", "Home", "Delete", "Escape")
        await until(lambda: names(library) == ["Plain"])
        await hands.press("Ctrl+L")
        await hands.type("word")
        await hands.press("Ctrl+Z")
        await until(lambda: talk.composer_text() == "")
        assert names(library) == ["Plain"]

        # the file read in again: what is still there is kept beside it under another name
        await open_library(hands, library, "Presets")
        await hands.tab_to(library.take)
        await hands.press("Space")
        await hands.choose_file(str(file))
        await until(lambda: names(library) == ["Deep", "Plain", "Plain 2"])
        assert "Imported 3 from library.json." in toasts(rialto)
        await hands.begin()
        await open_library(hands, talk.page.box.prompts, "Prompt library")
        await hands.type("2")
        await until(lambda: names(talk.page.box.prompts) == ["Sailor 2"])
        await hands.press("Return")
        await until(lambda: talk.presenter.opened.options.system_prompt == PROMPT)

        # a file that is something else is told, and changes nothing
        other = tmp_path / "other.json"
        other.write_text("[]", encoding="utf-8")
        await until(lambda: QApplication.activePopupWidget() is None)
        await open_library(hands, library, "Presets")
        await hands.tab_to(library.take)
        await hands.press("Space")
        await hands.choose_file(str(other))
        await until(lambda: "This file contains no Rialto prompts or presets." in toasts(rialto))
        assert names(library) == ["Deep", "Plain", "Plain 2"]


@pytest.mark.timeout(120)
async def test_a_person_without_a_mouse_makes_a_pasted_image_smaller(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await use_model(talk, "vision", "rialto-vision")
        image = QImage(2400, 1200, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.darkCyan)
        QGuiApplication.clipboard().setImage(image)
        await hands.press("Ctrl+L", "Ctrl+V")
        strip = talk.composer.strip
        await until(lambda: any(not chip.view.busy for chip in strip.chips.values()))
        (chip,) = strip.chips.values()
        assert "2,400 × 1,200" in chip.view.detail
        await hands.tab_to(chip.smaller, "Shift+Tab")
        await hands.press("Space")
        await until(lambda: not chip.view.busy and "2,400 × 1,200" not in chip.view.detail)
        (attached,) = talk.presenter.opened.attachments
        assert (attached.width, attached.height) == (1568, 784)
        assert not chip.smaller.isVisible(), "it is as small as it gets"
        assert chip.hasFocus(), "the keyboard stays with the picture, and not on what takes it away"

        # it goes along as it is now
        await ask_and_stop(talk, "What is in this picture?")
        assert (talk.rows[0].attachments[0].width, talk.rows[0].attachments[0].height) == (1568, 784)

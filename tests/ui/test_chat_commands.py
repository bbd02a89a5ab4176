"""Commands and characters after a slash, and what a source tells: by the keyboard alone, on the real Sandbox."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.chat import open_sandbox_chat, press
from tests.kit.waiting import until


async def test_a_slash_lists_commands_and_enter_carries_one_out(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        await box.type("/thinki", send=False)
        completion = box.completion
        assert completion.isVisible()
        assert completion.entries[0].word == "thinking"
        await box.type("")
        assert box.presenter.opened.options.thinking is False
        assert box.composer.text() == ""
        assert not completion.isVisible()
        assert box.rows == (), "nothing was sent"


async def test_arrow_keys_walk_the_list_escape_closes_it_and_a_path_is_a_message(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        await box.type("/", send=False)
        completion = box.completion
        first = completion.list.currentIndex().row()
        press(box.message_box, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)
        assert completion.list.currentIndex().row() == first + 1
        assert box.page.handle_escape()
        assert not completion.isVisible()
        assert box.composer.text() == "/"
        box.composer.set_text("")
        await box.type("/etc/hosts is what?")
        assert box.rows[0].text == "/etc/hosts is what?"


async def test_a_slash_and_a_name_find_a_character_to_speak_with(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {swift_sandbox.api_key}"}, timeout=60) as http:
            body = (await http.get(f"{swift_sandbox.base_url}/characters", params={"limit": 1})).json()
        name = body["data"][0]["name"]
        await box.type(f"/{name.split()[0]}", send=False)
        completion = box.completion
        assert f"character {name}" in [entry.word for entry in completion.entries]
        while completion.entries[completion.list.currentIndex().row()].word != f"character {name}":
            press(box.message_box, Qt.Key.Key_Down)
        press(box.message_box, Qt.Key.Key_Tab)
        await box.settle()
        assert box.presenter.head().character.name == name


async def test_a_preset_is_a_command_too(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        box.presenter.set_option("system_prompt", "Review network code.")
        box.presenter.presets.save("prompt", "Reviewer")
        await box.settle()
        box.presenter.set_option("system_prompt", "")
        await box.type("/prompt rev", send=False)
        await box.type("")
        assert box.presenter.opened.options.system_prompt == "Review network code."


async def test_a_list_of_commands_never_takes_a_key_from_an_input_method(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        await box.type("/ne", send=False)
        QApplication.sendEvent(box.message_box, QInputMethodEvent("ん", []))
        press(box.message_box, Qt.Key.Key_Return)
        assert box.composer.text().startswith("/ne")
        assert box.rows == ()


async def test_a_source_tells_title_and_excerpt_before_anything_opens(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-search") as box:
        box.presenter.set_option("social_posts", True)
        await box.type("Which tips are there about drafts?")
        row, view = box.rows[-1], box.view
        view.setFocus()
        for _ in range(200):  # by keyboard to the first source
            press(view, Qt.Key.Key_Tab)
            spot = view.picture.focused
            if spot is not None and spot.control == "source0":
                break
        press(view, Qt.Key.Key_Return)
        await until(lambda: bool(box.canvas.findChildren(Dialog)))
        (dialog,) = box.canvas.findChildren(Dialog)
        words = " ".join(label.text() for label in dialog.findChildren(QLabel))
        assert row.sources[0].title in words
        assert row.sources[0].snippet[:60] in words
        assert row.sources[0].url in words
        dialog.reject()
        await box.settle()
        assert opened == []

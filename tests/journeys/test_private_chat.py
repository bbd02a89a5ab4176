"""A private chat: its words are in no file while it is open, after it ended, and after a kill; kept, it is ordinary."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton

from app.ui.kit.widgets.dialogs import Dialog
from tests.journeys.conftest import settled
from tests.journeys.test_typing import box, enter_sandbox, written
from tests.kit.waiting import until

Start = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
QUESTION = "How do I stop an answer, dear pomegranate?"
DRAFT = "A quince that was never sent"
WORDS = ("pomegranate", "quince")


async def ask(rialto: Any, text: str) -> None:
    """Send a message and wait for the whole answer."""
    box(rialto).setPlainText(text)
    await until(lambda: rialto.chat.head().can_send)
    before = len(rialto.chat_page.rows())
    rialto.chat_page.send(written(rialto))
    await until(lambda: len(rialto.chat_page.rows()) > before and rialto.chat_page.rows()[-1].state == "complete")


def files_with(folder: Path, *words: str) -> list[str]:
    """The files below a folder that hold one of these words, in UTF-8 or in UTF-16."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes().lower()
            sought = [word.lower() for word in words]
            if any(word.encode() in data or word.encode("utf-16-le") in data for word in sought):
                found.append(str(path.relative_to(folder)))
    return sorted(found)


async def private_chat(rialto: Any) -> str:
    """A private chat with an answer and a draft; the first line of that answer."""
    rialto.window.registry.run("chat.new_private")
    await ask(rialto, QUESTION)
    answer = rialto.chat_page.rows()[-1].text.splitlines()[0]
    box(rialto).setPlainText(DRAFT)
    await until(lambda: rialto.chat.library.get(rialto.chat.opened.chat_id).draft == DRAFT)
    await settled(rialto)
    return str(answer)


async def press(rialto: Any, words: str) -> None:
    """Press a button of the dialog that is open."""
    await until(lambda: any(each.isVisible() for each in rialto.window.findChildren(Dialog)))
    dialog = next(each for each in rialto.window.findChildren(Dialog) if each.isVisible())
    next(button for button in dialog.findChildren(QPushButton) if button.text() == words).click()
    await until(lambda: not dialog.isVisible())
    await settled(rialto)


async def test_the_search_finds_what_an_ordinary_chat_leaves(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        await ask(rialto, QUESTION)
        await settled(rialto)
    assert any(name.startswith("data") and name.endswith(".db") for name in files_with(tmp_path / "home", *WORDS))


async def test_no_file_holds_a_word_of_a_private_chat_and_its_receipt_stays(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with start() as rialto:
        await enter_sandbox(rialto)
        answer = await private_chat(rialto)
        chat_id = rialto.chat.opened.chat_id
        assert rialto.chat_page.controller.private.isVisible()
        rialto.window.registry.run("chat.new")  # away from it, and back
        rialto.chat_page.open_chat(chat_id)
        await until(lambda: written(rialto) == DRAFT)
        assert rialto.settings.value.last_chat == ""
        await rialto.database.back_up_daily()
        assert files_with(home, *WORDS, answer) == []
        rialto.chat_page.trash()
        await press(rialto, "Discard")
        assert rialto.chat.library.get(chat_id) is None
        assert not rialto.chat_page.controller.private.isVisible()
        assert len(await rialto.database.fetch("SELECT 1 FROM receipts WHERE tab = 'chat'")) >= 1
    assert files_with(home, *WORDS, answer) == []
    async with start() as rialto:
        await settled(rialto)
        assert len(rialto.chat.library) == 0


async def test_a_kept_private_chat_is_as_it_was_after_a_restart(start: Start) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        answer = await private_chat(rialto)
        rialto.chat_page.controller.private.action.emit("keep")
        await until(lambda: not rialto.chat.opened.private)
        await settled(rialto)
        assert not rialto.chat_page.controller.private.isVisible()
        assert [row.role for row in rialto.chat_page.rows()] == ["user", "assistant"]
    async with start() as rialto:
        await until(lambda: written(rialto) == DRAFT)
        assert rialto.chat_page.rows()[0].text == QUESTION
        assert rialto.chat_page.rows()[-1].text.startswith(answer)


async def test_closing_the_window_asks_about_a_private_chat(start: Start) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        await private_chat(rialto)
        rialto.window.close()
        await press(rialto, "Cancel")
        assert rialto.window.isVisible() and rialto.chat.unsaved_private()
        rialto.window.close()
        await press(rialto, "Keep this chat")
        await until(lambda: not rialto.window.isVisible())
    async with start() as rialto:
        await until(lambda: written(rialto) == DRAFT)
        assert not rialto.chat.opened.private


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills in another way")
def test_a_kill_leaves_no_word_of_a_private_chat(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = [sys.executable, "-m", "tests.journeys.private_window", str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as child:
        assert child.stdout is not None
        answer = child.stdout.readline().strip()
        child.kill()
    assert answer
    assert files_with(home, *WORDS, answer) == []

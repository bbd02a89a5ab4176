"""A chat of 5,000 messages that a killed process wrote in opens whole; so do columns that were being written."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from app.sandbox.server import RunningSandbox
from app.storage.chat_file import import_chat
from app.storage.database import Database
from app.storage.settings import SettingsStore
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.kit.chat import open_sandbox_chat_presenter
from tests.kit.portable import KILL
from tests.ui.silent_service import silent_service
from tests.ui.test_chat_sandbox import sandbox

__all__ = ["sandbox"]  # a fixture
MESSAGES = 5_000


async def fill(home: Path) -> str:
    """Put a long chat on the disk, with a branch in it, and have it opened at the next start."""
    database = await Database.open(home / "rialto.sqlite3")
    turns = [
        {
            "id": f"m{number}",
            "parent_id": f"m{number - 1}" if number else None,
            "role": "assistant" if number % 2 else "user",
            "content": f"Turn {number} with **some** words.",
        }
        for number in range(MESSAGES - 1)
    ]
    turns.append({"id": "side", "parent_id": "m100", "role": "assistant", "content": "Another way"})
    body = {"title": "Long", "messages": turns, "head_id": f"m{MESSAGES - 2}"}
    chat = await import_chat(database, body)
    await database.close()
    settings = SettingsStore(home / "settings.json")
    settings.remember(last_chat=chat.id)
    settings.save()
    return chat.id


async def killed(home: Path, box: RunningSandbox, work: str) -> int:
    """Run `tests.ui.killed_long_chat` until it says how much it shows, then kill it. Returns the number that it
    said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_long_chat", str(home), box.base_url, box.api_key, work),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        told = (await process.stdout.readline()).decode().strip()
    os.kill(process.pid, KILL)
    await process.wait()
    return int(told)


async def test_a_chat_of_5000_messages_from_a_killed_process_opens_whole(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    chat_id = await fill(tmp_home)
    with silent_service(tmp_home / "silent-sandbox") as box:
        shown_chars = await killed(tmp_home, box, "ask")
    assert shown_chars > 20
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        opened = tab.presenter.opened
        assert opened.chat_id == chat_id
        await tab.tasks.idle()
        assert opened.is_whole
        rows = tab.rows
        assert len(opened.thread.all()) == MESSAGES + 2
        assert len(rows) == MESSAGES + 1  # the branch beside it is one message
        assert [row.text for row in rows[: MESSAGES - 1]] == [
            f"Turn {number} with **some** words." for number in range(MESSAGES - 1)
        ]
        assert rows[101].places == 2
        assert (rows[-1].state, len(rows[-1].text) > 20) == ("interrupted", True)
        view = MessageView(theme)
        view.resize(800, 600)
        view.set_messages(rows)
        view.show()
        QApplication.processEvents()
        view.scroll_to_row("m0")
        QApplication.processEvents()
        assert view.stack.placed[0].row == 0
        view.deleteLater()


async def test_answers_side_by_side_survive_a_kill_each_with_what_came(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    with silent_service(tmp_home / "silent-sandbox") as box:
        assert await killed(tmp_home, box, "compare") > 20
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        thread = tab.presenter.opened.thread
        answers = [each for each in thread.all() if each.role == "assistant"]
        assert len(answers) == 3
        assert {each.state for each in answers} == {"interrupted"}
        assert all(each.content for each in answers)
        tab.presenter.message_actions.act(answers[1].id, "keep")
        await tab.tasks.idle()
        tab.presenter.message_actions.act(answers[1].id, "continue")
        await tab.tasks.idle()
        assert tab.rows[-1].id == answers[1].id
        assert tab.rows[-1].state == "complete"

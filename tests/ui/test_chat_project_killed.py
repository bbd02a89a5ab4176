"""The window is killed while a project's chats are moved: every chat is there, and all of them are in one place."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from app.storage.backups import integrity_fault
from tests.kit.chat import open_chat_presenter
from tests.kit.portable import KILL
from tests.ui.killed_project_move import CHATS


@pytest.mark.parametrize("lines", [1, 4, 9])
async def test_killed_while_chats_are_moved_all_of_them_are_there_together(lines: int, tmp_home: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_project_move", str(tmp_home)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        for _ in range(lines):
            assert (await process.stdout.readline()).strip()
    os.kill(process.pid, KILL)
    await process.wait()
    assert integrity_fault(tmp_home / "rialto.sqlite3") == ""
    async with open_chat_presenter(tmp_home) as after:
        chats = await after.history.chats()
        assert {chat.title for chat in chats} == {f"Chat {number}" for number in range(CHATS)}
        assert all(chat.draft == chat.title.replace("Chat", "draft") for chat in chats)
        assert [chat.message_count for chat in chats] == [1] * CHATS
        (place,) = {chat.project_id for chat in chats}
        assert [each.name for each in after.presenter.projects.all] == ["One", "Other"]
        rest, sections = after.told["entries_changed"][-1]
        counts = {section.head.id: len(section.chats) for section in sections}
        assert (len(rest), counts.get(place, 0)) == ((CHATS, 0) if place is None else (0, CHATS))
        # and it goes on from there
        ids = [chat.id for chat in chats]
        after.presenter.projects.move(ids, after.presenter.projects.all[0].id if place is None else None)
        await after.tasks.idle()
        assert {chat.project_id for chat in await after.history.chats()} != {place}

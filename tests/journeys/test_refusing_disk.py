"""A disk that takes nothing more: one notice in words, no crash report, and what was typed stays where it is."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest

from app.ui.shell.history_dialog import HistoryDialog
from tests.journeys.conftest import settled, until
from tests.journeys.test_typing import box, enter_sandbox, written
from tests.read_only import read_only

Start = Callable[..., Any]

READ_ONLY = "PRAGMA query_only=ON"
FULL = "PRAGMA max_page_count=1"  # SQLite takes the least that holds what is there


async def refuse(rialto: Any, how: str) -> None:
    writer = rialto.database._writer
    await writer.execute(how)
    if how == FULL:  # the room that is left in the last pages
        with pytest.raises(sqlite3.OperationalError):
            for _ in range(4000):
                await writer.execute("INSERT INTO desk (tab, key, value) VALUES ('x', hex(randomblob(8)), 'x')")


async def allow(rialto: Any) -> None:
    await rialto.database._writer.execute("PRAGMA query_only=OFF")
    await rialto.database._writer.execute("PRAGMA max_page_count=1000000")


def notices(rialto: Any) -> list[str]:
    return [toast.accessibleName() for key, toast in rialto.window.overlays.toasts._toasts if key == "disk"]


@pytest.mark.parametrize("how", [READ_ONLY, FULL])
async def test_a_store_that_refuses_is_one_notice_and_no_crash(start: Start, how: str) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.window.show_tab("speech")
        rialto.window.show_tab("chat")
        await settled(rialto)
        await refuse(rialto, how)
        box(rialto).setFocus()
        box(rialto).insertPlainText("x" * 20_000)
        rialto.chat_page.send(written(rialto))
        await settled(rialto)
        assert written(rialto) == "x" * 20_000  # it leaves the box only when it is on the disk
        problem = rialto.chat.head().problem
        assert problem is not None and problem.what == "This could not be saved"
        speech = rialto.window.tab("speech").presenter
        speech.replace_text("The tide turns at noon.")
        speech.speak(aloud=False)  # the clip's row comes first: it cannot be made
        await settled(rialto)
        assert len(notices(rialto)) == 1, notices(rialto)
        assert "What is on screen stays" in notices(rialto)[0]
        await allow(rialto)
        rialto.chat_page.send(written(rialto))
        await until(lambda: written(rialto) == "")
        await settled(rialto)


async def test_files_that_cannot_be_written_are_told_in_the_same_way(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        with read_only(rialto.paths.config):
            rialto.settings.remember(show_adult=True)
            rialto.tasks.start("save", asyncio.to_thread, rialto.settings.save)
            await settled(rialto)
            assert len(notices(rialto)) == 1


def damage(home: Path) -> None:
    path = home / "data" / "rialto.db"
    content = bytearray(path.read_bytes())
    content[0:4096] = b"\xff" * 4096
    path.write_bytes(content)


async def dialog_of(rialto: Any) -> HistoryDialog:
    await until(lambda: any(each.isVisible() for each in rialto.window.findChildren(HistoryDialog)))
    found = next(each for each in rialto.window.findChildren(HistoryDialog) if each.isVisible())
    assert isinstance(found, HistoryDialog)
    return found


async def made_history(start: Start) -> None:
    """A chat, and the daily backup of it."""
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.window.registry.run("chat.new")
        QTest.keyClicks(box(rialto), "worth keeping")
        await asyncio.sleep(0)
    async with start() as rialto:
        await settled(rialto)
        await asyncio.to_thread(lambda: [path.unlink() for path in rialto.paths.backups.iterdir()])
        assert await rialto.database.back_up_daily() is not None


async def test_a_damaged_history_is_restored_by_one_press(
    start: Start, without_history: Callable[..., Any], tmp_path: Path
) -> None:
    await made_history(start)
    damage(tmp_path / "home")
    async with without_history() as rialto:
        dialog = await dialog_of(rialto)
        assert dialog.first.text() == "Restore the backup"
        dialog.first.click()
        await until(lambda: rialto.chat.library is not None)
        await until(lambda: written(rialto) == "worth keeping")
        kept = list(rialto.paths.data.glob("rialto-damaged-*.db"))
        assert len(kept) == 1 and kept[0].read_bytes()[:4] == b"\xff" * 4


async def test_stay_stays_and_the_history_can_be_tried_again(
    start: Start, without_history: Callable[..., Any], tmp_path: Path
) -> None:
    await made_history(start)
    whole = (tmp_path / "home" / "data" / "rialto.db").read_bytes()
    damage(tmp_path / "home")
    async with without_history() as rialto:
        dialog = await dialog_of(rialto)
        dialog.stay.click()
        await until(lambda: not dialog.isVisible())
        await settled(rialto)
        assert rialto.window.isVisible() and not rialto._is_closed
        (tmp_path / "home" / "data" / "rialto.db").write_bytes(whole)
        rialto.tasks.start("history", rialto._start_history)
        await until(lambda: rialto.chat.library is not None)


@pytest.mark.parametrize("name", ["settings.json", "accounts.json"])
async def test_a_damaged_file_of_settings_or_accounts_is_told_and_kept(start: Start, tmp_path: Path, name: str) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
    path = tmp_path / "home" / "config" / name
    path.write_bytes(b"\x00garbage")
    async with start() as rialto:
        await until(lambda: rialto.window._overlays is not None)
        toasts = rialto.window.overlays.toasts._toasts
        await until(lambda: any("could not be understood" in toast.accessibleName() for _, toast in toasts))
        aside = list(path.parent.glob(f"{name}.broken-*"))
        assert [each.read_bytes() for each in aside] == [b"\x00garbage"]
        assert not path.exists() or json.loads(path.read_bytes())

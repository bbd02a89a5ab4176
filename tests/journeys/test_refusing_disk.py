"""A disk that takes nothing more: one notice in words, no crash report, and what was typed stays where it is."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest

from app.credentials.accounts import new_account
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.label import Label
from app.ui.shell.history_dialog import HistoryDialog
from tests.journeys.conftest import settled
from tests.journeys.test_typing import box, enter_sandbox, written
from tests.kit.settings import change_settings
from tests.kit.waiting import until
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
        assert "It stays on screen" in notices(rialto)[0]
        await allow(rialto)
        rialto.chat_page.send(written(rialto))
        await until(lambda: written(rialto) == "")
        await settled(rialto)


async def test_files_that_cannot_be_written_are_told_in_the_same_way(start: Start, tmp_path: Path) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
        with read_only(rialto.paths.config):
            rialto.settings.remember(show_adult=True)
            rialto.tasks.start_unless_running("save", asyncio.to_thread, rialto.settings.save)
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
        assert dialog.first.text() == "Restore backup"
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
        again = toast_of(rialto, "Nothing is saved until Rialto can open its history").findChild(LinkButton)
        assert again.text() == "Try again"
        again.click()
        await until(lambda: rialto.chat.library is not None)


def toast_of(rialto: Any, words: str) -> Any:
    """The notice that says this, None when none does."""
    if rialto.window._overlays is None:
        return None
    toasts = rialto.window.overlays.toasts.toasts
    return next((toast for toast in toasts if words in toast.accessibleName()), None)


@pytest.mark.parametrize("name", ["settings.json", "accounts.json"])
async def test_a_damaged_file_of_settings_or_accounts_is_told_and_kept(start: Start, tmp_path: Path, name: str) -> None:
    async with start() as rialto:
        await enter_sandbox(rialto)
    path = tmp_path / "home" / "config" / name
    path.write_bytes(b"\x00garbage")
    path.with_name(f"{name}.copy").write_bytes(b"\x00garbage")
    async with start() as rialto:
        await until(lambda: toast_of(rialto, "could not be read"))
        assert toast_of(rialto, "could not be read").findChild(LinkButton).text() == "Open folder"
        aside = list(path.parent.glob(f"{name}.broken-*"))
        assert [each.read_bytes() for each in aside] == [b"\x00garbage"]
        assert not path.exists() or json.loads(path.read_bytes())


async def test_damaged_settings_and_accounts_come_back_with_one_press_each(start: Start, tmp_path: Path) -> None:
    config = tmp_path / "home" / "config"
    async with start() as rialto:
        await enter_sandbox(rialto)
        rialto.account_services.accounts.add(new_account("Work", "https://api.example.com/v1"))
        change_settings(rialto.settings, text_percent=120)
    for name in ("settings.json", "accounts.json"):
        (config / name).write_bytes(b"\x00garbage")
    async with start() as rialto:
        await until(lambda: toast_of(rialto, "Your accounts are damaged"))
        assert rialto.window.current_tab == ""  # as if nothing had been there
        assert [account.name for account in rialto.account_services.accounts.list()] != ["Sandbox", "Work"]
        for words, back in (
            ("settings are damaged", "settings were restored"),
            ("accounts are damaged", "accounts were restored"),
        ):
            toast_of(rialto, words).findChild(LinkButton, "restore").click()
            await until(lambda back=back: toast_of(rialto, back))
        assert (rialto.theme.text_percent, rialto.window.current_tab) == (120, "chat")
        assert [account.name for account in rialto.account_services.accounts.list()] == ["Sandbox", "Work"]
        await until(lambda: rialto.chat.head().can_send)
        assert len(list(config.glob("*.broken-*"))) == 2
    async with start() as rialto:  # and on the disk
        await settled(rialto)
        assert (rialto.theme.text_percent, rialto.window.current_tab) == (120, "chat")
        assert [account.name for account in rialto.account_services.accounts.list()] == ["Sandbox", "Work"]


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA locking_mode=EXCLUSIVE")
connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.readline()
"""


async def test_a_history_that_another_program_holds_opens_once_it_is_released(
    start: Start, without_history: Callable[..., Any], tmp_path: Path
) -> None:
    await made_history(start)
    path = str(tmp_path / "home" / "data" / "rialto.db")
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert await holder.stdout.readline() == b"held\n"
        async with without_history() as rialto:
            dialog = await dialog_of(rialto)
            assert dialog.first.text() == "Try again"
            assert any("Another program is using" in label.text() for label in dialog.findChildren(Label))
            dialog.first.click()  # still held: it is asked again
            await until(lambda: not dialog.isVisible())
            dialog = await dialog_of(rialto)
            holder.stdin.close()
            await holder.wait()
            dialog.first.click()
            await until(lambda: rialto.chat.library is not None)
            await until(lambda: written(rialto) == "worth keeping")
            await until(lambda: rialto.chat.head().can_send)
    finally:
        if holder.returncode is None:
            holder.kill()
            await holder.wait()

"""Limits, key files and copies of attachments on a disk that refuses: said once, nothing lies, later it works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog

from app.bootstrap.rialto import Rialto
from app.ui.wallet.wallet_dialogs import ExportDialog
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS
from tests.journeys.test_refused_exports import hear_nothing, told
from tests.journeys.test_refused_writes import add_wallet, named
from tests.journeys.test_wallet import in_the_sandbox, wallet_page
from tests.kit.waiting import until
from tests.read_only import read_only

Start = Callable[..., Any]
PASSWORD = "four quiet herons wade"


def saved_limits(rialto: Rialto) -> dict[str, str]:
    path = rialto.paths.config / "settings.json"
    found: dict[str, str] = json.loads(path.read_text()).get("budgets", {}) if path.exists() else {}
    return found


async def test_a_limit_that_the_disk_refuses_holds_is_said_once_and_is_saved_with_the_next(start: Start) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("wallet")
        await settled(rialto)
        limits = wallet_page(rialto).list.limits
        with read_only(rialto.paths.config):
            limits.limit_requested.emit("hard day", "1.50")
            await settled(rialto)
            assert len(told(rialto)) == 1, told(rialto)
            assert wallet_page(rialto).presenter.limit_text("hard day") == "1.50"
            assert "hard day" not in saved_limits(rialto)
        limits.limit_requested.emit("soft day", "1.00")
        await until(lambda: saved_limits(rialto) == {"hard day": "1.50", "soft day": "1.00"})
        await settled(rialto)


async def test_a_key_file_that_a_folder_refuses_is_said_once_and_can_be_saved_later(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = folder / "wallet-key.json"

    async def export() -> None:
        rialto.tasks.start_unless_running("export", wallet_page(rialto).dialogs.export, account.id)
        await until(lambda: isinstance(wallet_page(rialto).dialogs.open, ExportDialog))
        dialog = wallet_page(rialto).dialogs.open
        assert isinstance(dialog, ExportDialog)
        dialog.password.setText(PASSWORD)
        dialog.again.setText(PASSWORD)
        dialog.set_path(path)
        await until(lambda: told(rialto))
        await settled(rialto)

    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("wallet")
        assert await add_wallet(rialto) == ""
        account = named(rialto, "Pocket")
        assert account is not None
        await settled(rialto)
        hear_nothing(rialto)
        with read_only(folder):
            await export()
            assert len(told(rialto)) == 1 and "failed" in told(rialto)[0], told(rialto)
            assert not path.exists()
        hear_nothing(rialto)
        await export()
        assert len(told(rialto)) == 1 and "encrypted" in told(rialto)[0], told(rialto)
        assert "crypto" in json.loads(path.read_text())


async def test_a_copy_of_an_attachment_that_a_folder_refuses_is_said_once_and_can_be_saved_later(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    source, path = tmp_path / "notes.txt", folder / "notes.txt"
    source.write_text("The tide turns at noon.")

    async def save() -> None:
        row = next(row for row in rialto.chat_page.rows() if row.attachments)
        rialto.chat_page.box.save_attachment(row.id, 0)
        await until(lambda: any(dialog.isVisible() for dialog in rialto.window.findChildren(QFileDialog)))
        dialog = next(dialog for dialog in rialto.window.findChildren(QFileDialog) if dialog.isVisible())
        dialog.selectFile(str(path))
        dialog.accept()
        await until(lambda: told(rialto))
        await settled(rialto)

    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("chat")
        await PAID_ACTIONS["chat"].prepare(rialto, tmp_path)
        rialto.chat.attaching.add_files([source])
        await until(lambda: rialto.chat.opened.attachments and not rialto.chat.opened.reading)
        rialto.chat.send("What does it say?")
        await until(lambda: PAID_ACTIONS["chat"].done(rialto))
        await settled(rialto)
        hear_nothing(rialto)
        with read_only(folder):
            await save()
            assert len(told(rialto)) == 1 and "could not be saved" in told(rialto)[0], told(rialto)
            assert not path.exists()
        hear_nothing(rialto)
        await save()
        assert path.read_text() == source.read_text()

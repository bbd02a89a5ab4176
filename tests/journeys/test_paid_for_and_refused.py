"""What was paid for while the disk took nothing is on the screen, and is saved where there is room for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog

from app.audio.duration import length_of
from app.credentials.accounts import SANDBOX_ADDRESS, new_account
from app.storage.errors import StorageUnavailable
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.toast import Toast
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, console, speech
from tests.journeys.test_refusing_disk import READ_ONLY, allow, refuse
from tests.journeys.test_wallet import control, in_the_sandbox
from tests.kit.waiting import until
from tests.read_only import vanished

Start = Callable[..., Any]


async def on_its_way(rialto: Any, tab: str) -> bool:
    """Everything that is written before the call is on the disk, and the call has left or leaves now."""
    if tab == "chat":
        return bool(await rialto.database.fetch("SELECT 1 FROM receipts WHERE outcome = 'open'"))
    if tab == "crypto_rpc":
        return bool(await rialto.database.fetch("SELECT 1 FROM rpc_calls WHERE state = 'open'"))
    return bool(await rialto.database.fetch("SELECT 1 FROM intents WHERE state = 'sent'"))


def offer(rialto: Any) -> Toast | None:
    """The notice that offers to save elsewhere, None when there is none."""
    toasts = rialto.window.overlays.toasts.toasts
    return next((toast for toast in toasts if toast.findChild(LinkButton, "elsewhere") is not None), None)


async def saved_elsewhere(rialto: Any, folder: Path) -> Path:
    """Press "Save elsewhere…" and choose a folder on another disk."""
    await until(lambda: offer(rialto) is not None)
    found = offer(rialto)
    assert found is not None
    found.findChild(LinkButton, "elsewhere").click()
    await until(lambda: any(dialog.isVisible() for dialog in rialto.window.findChildren(QFileDialog)))
    dialog = next(dialog for dialog in rialto.window.findChildren(QFileDialog) if dialog.isVisible())
    rialto.crashes.report(StorageUnavailable("The disk refuses something else meanwhile."))
    path = folder / Path(dialog.selectedFiles()[0]).name
    dialog.selectFile(str(path))
    dialog.accept()
    await until(path.exists)
    await until(lambda: offer(rialto) is None)
    return path


def is_what_was_paid_for(tab: str, path: Path) -> bool:
    data = path.read_bytes()
    if tab == "chat":
        return len(data.decode()) > 20
    if tab == "speech":
        return (length_of(path, path.suffix.removeprefix(".")) or 0) > 0.2
    if tab == "transcription":
        return path.suffix == ".txt" and bool(data.decode().strip())
    if tab == "images":
        return QImage.fromData(data).size() != QSize(0, 0)
    return "result" in json.loads(data)


def is_on_screen(rialto: Any, tab: str, path: Path) -> bool:
    if tab == "chat":
        return path.read_text() in [row.text for row in rialto.chat_page.rows()]
    if tab == "speech":
        return speech(rialto).presenter.sound.view.known_s > 0.2  # the player has it all, to be heard
    if tab == "crypto_rpc":
        run = console(rialto).presenter.run
        return run is not None and run.body == path.read_bytes()
    return True


@pytest.mark.parametrize("tab", ["chat", "speech", "transcription", "images", "crypto_rpc"])
async def test_what_was_paid_for_can_be_saved_elsewhere(start: Start, tmp_path: Path, tab: str) -> None:
    elsewhere = tmp_path / "another disk"
    elsewhere.mkdir()
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab(tab)
        action = PAID_ACTIONS[tab]
        await action.prepare(rialto, tmp_path)
        await settled(rialto)
        await control(rialto, "/faults/slow", "PUT", seconds=4)
        action.begin(rialto)
        while not await on_its_way(rialto, tab):
            pass
        with ExitStack() as gone:
            await refuse(rialto, READ_ONLY)
            for name in ("images", "speech"):
                gone.enter_context(vanished(rialto.paths.data / name))
            path = await saved_elsewhere(rialto, elsewhere)
            assert is_what_was_paid_for(tab, path), path.read_bytes()[:200]
            assert is_on_screen(rialto, tab, path)
        await allow(rialto)
        await control(rialto, "/faults", "DELETE")
        await settled(rialto)


async def test_a_disk_that_refuses_keeps_nobody_on_the_first_page_or_in_an_account(start: Start) -> None:
    async with start() as rialto:
        other = rialto.account_services.accounts.add(new_account("Practice", SANDBOX_ADDRESS, kind="sandbox"))
        with vanished(rialto.paths.config):
            rialto._begin(rialto.account_services.sandbox_account().id)
            await until(lambda: rialto.window.current_tab == "chat" and rialto.current_account.service is not None)
            for account in (rialto.account_services.sandbox_account(), other):
                rialto.accounts.use(account.id)
                await until(lambda account=account: rialto.current_account.account.id == account.id)
            await settled(rialto)
        assert rialto.account_services.accounts.active_id == other.id

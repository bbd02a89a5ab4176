"""A person who goes on without a history is told what needs one: no button crashes, and Send says why it rests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog

from app.bootstrap.rialto import Rialto
from app.core.tabs import TABS
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.shell.history_dialog import HistoryDialog
from app.ui.shell.navigation import Rail
from tests.journeys.conftest import settled
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.waiting import until

NOT_PRESSED = ("Record", "Open this folder", "Open folder", "Remove everything", "Quit", "Test microphone")


async def stay(rialto: Rialto) -> None:
    await until(lambda: rialto.window.findChildren(HistoryDialog))
    dialog = rialto.window.findChildren(HistoryDialog)[0]
    await until(dialog.isVisible)
    dialog.stay.click()
    await until(lambda: not dialog.isVisible())


def close_all() -> None:
    for _ in range(4):
        for open_now in (QApplication.activePopupWidget(), QApplication.activeModalWidget()):
            if isinstance(open_now, QDialog):
                open_now.reject()
            elif open_now is not None:
                open_now.close()


def buttons_of(rialto: Rialto) -> list[QAbstractButton]:
    rail = rialto.window.findChild(Rail)
    return [
        each
        for each in rialto.window.findChildren(QAbstractButton)
        if each.isVisible() and each.isEnabled() and not (rail is not None and rail.isAncestorOf(each))
    ]


async def test_no_button_crashes_without_a_history(without_history: Callable[..., Any], tmp_path: Path) -> None:
    database = tmp_path / "home" / "data" / "rialto.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"\xff" * 4096)
    pressed: set[str] = set()
    async with without_history() as rialto:
        await stay(rialto)
        rialto.window.resize(1440, 900)
        await in_the_sandbox(rialto)
        for tab in TABS:
            rialto.window.show_tab(tab)
            await asyncio.sleep(0.3)
            for button in buttons_of(rialto):
                if not alive(button):
                    continue
                words = button.accessibleName() or button.text()
                if f"{tab} {words}" in pressed or words.startswith(NOT_PRESSED) or not button.isVisible():
                    continue
                pressed.add(f"{tab} {words}")
                asyncio.get_running_loop().call_soon(button.click)
                await asyncio.sleep(0.02)
                close_all()
                rialto.window.overlays.close_layer()
                rialto.window.show_tab(tab)
        assert len(pressed) > 60


async def test_send_says_why_it_rests_without_a_history(without_history: Callable[..., Any], tmp_path: Path) -> None:
    database = tmp_path / "home" / "data" / "rialto.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"\xff" * 4096)
    async with without_history() as rialto:
        await stay(rialto)
        await in_the_sandbox(rialto)
        composer = rialto.chat_page.main.composer
        QTest.keyClicks(composer.box, "Hello")
        await settled(rialto)
        head = rialto.chat.head()
        assert not head.can_send and not composer.send.isEnabled()
        assert head.why_not == "Rialto could not open its history, so nothing can be sent."
        assert composer.text() == "Hello"


async def test_what_needs_a_history_says_so(without_history: Callable[..., Any], tmp_path: Path) -> None:
    """What a dialog, a link or a drop begins, where no button could be gray."""
    database = tmp_path / "home" / "data" / "rialto.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"\xff" * 4096)
    async with without_history() as rialto:
        await stay(rialto)
        await in_the_sandbox(rialto)
        sentence = "Nothing is saved until Rialto can open its history."
        refused: list[str] = []
        rialto.crashes.refused.connect(lambda refusal: refused.append(refusal.sentence))
        images, wallet, chat = (rialto.window.tab(name) for name in ("images", "wallet", "chat"))

        async def make_project() -> None:
            rialto.chat.projects.create("Garden", ())

        deeds: tuple[Callable[[], object], ...] = (
            lambda: rialto.tasks.start_unless_running("test project", make_project),
            chat.controller.open_handbook_project,
            lambda: images.presenter.library.bring_in(tmp_path / "owl.png"),
            lambda: wallet.receipts.export(tmp_path / "receipts.csv"),
        )
        for deed in deeds:
            asyncio.get_running_loop().call_soon(deed)
        await until(lambda: len(refused) == 3 and rialto.chat.opened.problem is not None)
        problem = rialto.chat.opened.problem
        assert problem is not None and sentence in problem.sentence
        assert refused == [sentence] * 3

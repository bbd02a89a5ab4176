"""Drives the tour: uses the window as a person would, waits, describes each step, takes screenshots."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.formats import format_number
from app.translation import tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QAbstractButton, QWidget

    from app.ui.chat.page import ChatPage
    from app.ui.conversation.rows import MessageRow
    from app.ui.shell.main_window import MainWindow

PICTURE = re.compile(r"\d\d-[a-z-]+\.png")
STEP_WITHIN_S = 60.0
LOOK_EVERY_S = 0.02
SETTLE_S = 0.4  # for slides, fades and the first images


class StepFailed(Exception):
    """What was to be seen did not come; the text says what."""


class TourGuide:
    """Leads through one act."""

    def __init__(self, window: MainWindow, chat: ChatPage, folder: Path) -> None:
        self.window = window
        self.chat = chat
        self._folder = folder
        self._number = max((int(path.name[:2]) for path in folder.iterdir() if PICTURE.fullmatch(path.name)), default=0)

    async def until(self, what: str, happened: Callable[[], object], within_s: float = STEP_WITHIN_S) -> None:
        """Return when `happened()` is true. Raises `StepFailed` naming `what` when that takes too long."""
        for _ in range(int(within_s / LOOK_EVERY_S)):
            if happened():
                return
            await asyncio.sleep(LOOK_EVERY_S)
        raise StepFailed(tr("waited {within_s} s for {what}", within_s=format_number(within_s, 0), what=what))

    async def picture(self, name: str, saw: str) -> None:
        """Save what the window shows now, without notices of other work, and say what was seen."""
        await asyncio.sleep(SETTLE_S)
        for toast in self.window.overlays.toasts.toasts:
            toast.close_toast()
        self._number += 1
        path = self._folder / f"{self._number:02}-{name}.png"
        if not self.window.grab().save(str(path)):
            raise StepFailed(tr("could not write {path}", path=path))
        print(f"{self._number:2}. {saw} ({path.name})", flush=True)

    def press(
        self, widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        """Press one key where the focus of `widget`'s window would bring it."""
        QTest.keyClick(widget, key, modifiers)

    def click(self, button: QAbstractButton) -> None:
        if not button.isEnabled() or not button.isVisible():
            raise StepFailed(
                tr(
                    "the button {accessibleName} cannot be pressed",
                    accessibleName=button.accessibleName() or button.text(),
                )
            )
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    async def ask(self, text: str) -> None:
        """Type a question and press Enter."""
        box = self.chat.main.composer.box
        box.setFocus()
        QTest.keyClicks(box, text)
        await self.until(tr("the text to appear in the box"), lambda: box.toPlainText() == text)
        self.press(box, Qt.Key.Key_Return)
        await self.until(tr("the question to be sent"), lambda: self.last("user") is not None and not box.toPlainText())

    def last(self, role: str) -> MessageRow | None:
        return next((row for row in reversed(self.chat.rows()) if row.role == role), None)

    def answer(self) -> MessageRow:
        row = self.last("assistant")
        if row is None:
            raise StepFailed(tr("there is no answer"))
        return row


def place_is_known(window: MainWindow) -> bool:
    """Whether the look for a keyring has ended, with one or without."""
    secrets = window.secrets
    return secrets is not None and bool(secrets.state.kind or secrets.state.sentence)

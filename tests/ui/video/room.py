"""The video tab in a window, with hands: what the tests of its page share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QPushButton, QWidget

from app.storage.video_jobs import VideoJob
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.video.page import VideoPage
from tests.ui.video.desk import PROMPT, TEXT_MODEL, Controls, Desk, open_desk

NO_DEVICES = pytest.mark.qt_log_ignore("pipewire", "PulseAudio", "QRhi", extend=True)  # no sound, no screen


@dataclass
class Room:
    """A desk with its page in a window."""

    desk: Desk
    page: VideoPage
    window: QWidget
    toasts: list[tuple[str, str, str]]

    def press(self, button: QWidget) -> None:
        assert button.isVisible(), button.accessibleName()
        assert button.isEnabled(), button.accessibleName()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def run(self, action_id: str) -> None:
        action = next(each for each in self.page.actions() if each.id == action_id)
        assert action.enabled(), action_id
        action.run()

    async def say_yes(self) -> None:
        """Press the button of the question that is asked."""
        await self.desk.until(lambda: QApplication.activeModalWidget() or self.window.findChild(QDialog))
        dialog = self.window.findChild(QDialog) or QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        buttons = [button for button in dialog.findChildren(QPushButton) if button.text() not in ("Cancel", "")]
        buttons[-1].click()

    async def done(self, job_id: str) -> VideoJob:
        await self.desk.reaches(job_id, "running")
        return await self.desk.done(job_id)

    async def order(self, prompt: str = PROMPT) -> str:
        """Type, wait for the price, press the button; return the job's id."""
        form, desk = self.page.form, self.desk
        await desk.until(lambda: desk.presenter.form.model(TEXT_MODEL))
        form.prompt.setPlainText("")
        QTest.keyClicks(form.prompt, prompt)
        await desk.until(lambda: form.queue.isEnabled() and desk.presenter.form.exact)
        before = {job.id for job in desk.jobs}
        self.press(form.queue)
        await desk.until(lambda: {job.id for job in desk.jobs} - before)
        return desk.job.id


@asynccontextmanager
async def open_room(home: Path, theme: Theme, controls: Controls) -> AsyncIterator[Room]:
    windows: list[QWidget] = []
    try:
        async with open_desk(home, controls) as desk:
            page = VideoPage(theme, desk.presenter, desk.tasks)
            window = QWidget()
            windows.append(window)
            row = QHBoxLayout(window)
            for pane in (page.list_pane(), page.canvas(), page.inspector()):
                row.addWidget(pane, 2 if pane is page.canvas() else 1)
            window.resize(1440, 900)
            window.show()
            window.activateWindow()
            page.set_zones(Zones())
            page.activated()
            toasts: list[tuple[str, str, str]] = []
            page.toast_wanted.connect(lambda *words: toasts.append(words))
            yield Room(desk, page, window, toasts)
            page.side.player.show_film("")
    finally:
        for window in windows:
            window.hide()
            window.deleteLater()

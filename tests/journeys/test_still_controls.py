"""From a press to what it brings, nothing that can be pressed moves under a still pointer, in any tab."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QApplication, QWidget

from app.bootstrap.rialto import Rialto
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS
from tests.journeys.talk import in_the_sandbox
from tests.kit.waiting import until


class Watcher(QObject):
    """Sees every painting of a button in a window, and notes where a pointer on it would have lost it.

    A button that grows at one end stays under the pointer. Places are measured in what scrolls, so that scrolling is
    no move; what was hidden meanwhile may come elsewhere, and so may what is in the inspector.
    """

    def __init__(self, window: QWidget, inspector: QWidget | None) -> None:
        super().__init__()
        self._inspector = inspector
        self.moved: list[str] = []
        self._window = window
        self._places: dict[QAbstractButton, QRect] = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QAbstractButton):
            if event.type() == QEvent.Type.Paint and watched.isEnabled():
                self._see(watched)
            elif event.type() == QEvent.Type.Hide:
                self._places.pop(watched, None)
        return False

    def _see(self, button: QAbstractButton) -> None:
        holder = button.parentWidget()
        while holder is not None and holder is not self._window:
            above = holder.parentWidget()
            area = above.parentWidget() if above is not None else None
            if isinstance(area, QAbstractScrollArea) and area.viewport() is above:
                break
            holder = above
        if holder is None:
            return  # in another window
        if self._inspector is not None and self._inspector.isAncestorOf(button):
            return  # the inspector shows another image or video than before
        place = QRect(button.mapTo(holder, QPoint()), button.size())
        before = self._places.get(button, place)
        self._places[button] = place
        if not place.contains(before.center()):
            name = button.accessibleName() or button.text()
            self.moved.append(f"{name}: {before.getRect()} → {place.getRect()}")


@pytest.mark.parametrize("tab", PAID_ACTIONS)
async def test_nothing_moves_from_a_press_to_what_it_brings(
    start: Callable[..., AbstractAsyncContextManager[Rialto]], tmp_path: Path, tab: str
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1024, 640)  # where there is no room to spare
        rialto.window.show_tab(tab)
        job = PAID_ACTIONS[tab]
        await job.prepare(rialto, tmp_path)
        await settled(rialto)
        QApplication.processEvents()  # the window takes its smaller size in steps, which is not what is looked at here
        rialto.window.grab()
        watcher = Watcher(rialto.window, rialto.window.tab(tab).inspector())
        qt_app = QApplication.instance()
        assert qt_app is not None
        qt_app.installEventFilter(watcher)
        rialto.window.grab()
        try:
            job.begin(rialto)
            await until(lambda: job.done(rialto))
            await settled(rialto)
            rialto.window.grab()
        finally:
            qt_app.removeEventFilter(watcher)
        assert not watcher.moved, "\n".join(watcher.moved)

"""The whole program while a screen reader asks for everything it has, to the end of its window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto


@pytest.fixture
def reader(qapp: QApplication) -> Iterator[None]:
    assert qapp is not None
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def read(found: QAccessibleInterface, path: tuple[int, ...] = ()) -> int:
    """Ask for what a reader asks for; return how many objects there are."""
    assert found.isValid(), path
    QAccessible.uniqueId(found)
    for asked in (found.state, found.rect, found.parent, found.focusChild, found.valueInterface, found.textInterface):
        asked()
    for kind in (QAccessible.Text.Name, QAccessible.Text.Description):
        found.text(kind)
    assert found.role() != QAccessible.Role.NoRole or not found.state().focusable, path
    below = (found.child(number) for number in range(found.childCount()))
    return 1 + sum(read(each, (*path, number)) for number, each in enumerate(below) if each is not None)


async def test_a_reader_may_ask_for_all_of_every_tab_and_the_window_closes(
    reader: None, start: Callable[[], AbstractAsyncContextManager[Rialto]]
) -> None:
    async with start() as rialto:
        window = rialto.window
        for name in window.tab_names():
            window.show_tab(name)
            QTest.keyClick(window, Qt.Key.Key_Tab)
            QApplication.processEvents()
            assert read(QAccessible.queryAccessibleInterface(window)) > 100

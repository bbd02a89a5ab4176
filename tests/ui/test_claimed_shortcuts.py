"""A key that means the row or the file one stands on does not also reach what is open in the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QTableView, QWidget
from pytestqt.qtbot import QtBot

from app.ui.chat.composer.attachment_strip import AttachmentChip
from app.ui.chat.state import AttachmentView
from app.ui.kit.qt_workarounds.claimed_shortcuts import claim_shortcut
from app.ui.kit.theme import Theme
from app.ui.kit.thumbnails import Thumbnails
from app.ui.transcription.batch_view import BatchTable


def chip(theme: Theme) -> QWidget:
    return AttachmentChip(theme, AttachmentView("a", "text", "notes.txt", "1 KB", "", False), Thumbnails(None))


@pytest.mark.parametrize(
    ("make", "reaches"),
    [(chip, 0), (lambda _theme: BatchTable("Files"), 0), (lambda _theme: QTableView(), 1)],
    ids=["attachment", "batch of files", "any other table"],
)
def test_del_on_a_thing_never_throws_away_what_is_open(
    qtbot: QtBot, theme: Theme, make: Callable[[Theme], QWidget], reaches: int
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    thing = make(theme)
    window.setCentralWidget(thing)
    trashed: list[bool] = []
    trash = QAction(window)
    trash.setShortcut("Del")
    trash.triggered.connect(lambda: trashed.append(True))
    window.addAction(trash)
    window.show()
    window.activateWindow()
    thing.setFocus()
    qtbot.waitUntil(thing.hasFocus, timeout=60_000)
    qtbot.keyClick(thing, Qt.Key.Key_Delete)
    assert len(trashed) == reaches


def test_only_the_key_alone_is_kept() -> None:
    def override(key: Qt.Key, held: Qt.KeyboardModifier) -> QKeyEvent:
        return QKeyEvent(QEvent.Type.ShortcutOverride, key, held)

    assert claim_shortcut(override(Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier), Qt.Key.Key_Delete)
    assert not claim_shortcut(override(Qt.Key.Key_Delete, Qt.KeyboardModifier.ControlModifier), Qt.Key.Key_Delete)
    assert not claim_shortcut(override(Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier), Qt.Key.Key_Delete)

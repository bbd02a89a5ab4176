"""Windows of a test, deleted when nobody tells them anything any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget


@contextmanager
def styled_at_the_end() -> Iterator[None]:
    """Build what is in the block under no style sheet, as the program does at its start: Qt styles each widget again
    whenever one around it gets a parent, which is half of the cost of a page."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    sheet = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(sheet)


@contextmanager
def deleted_last() -> Iterator[list[QWidget]]:
    """Take windows into the list; they go behind the block, in which presenters tell them things to their end."""
    windows: list[QWidget] = []
    try:
        yield windows
    finally:
        for window in windows:
            window.hide()
            window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

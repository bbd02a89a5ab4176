"""What Tab reaches, and that nobody asks Qt's focus chain for it."""

import re
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTextEdit, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.ui.kit.tab_order import tab_stops

APP = Path(__file__).resolve().parents[2] / "app"
CHAIN = re.compile(r"\.(nextInFocusChain|previousInFocusChain|focusProxy)\(")


def test_stops_come_in_the_order_in_which_they_were_built(window: QWidget) -> None:
    column = QVBoxLayout(window)
    first, hidden, off, last = QLineEdit(), QPushButton("hidden"), QPushButton("off"), QTextEdit()
    for widget in (first, hidden, off, last):
        column.addWidget(widget)
    QApplication.processEvents()
    hidden.hide()
    off.setEnabled(False)
    assert tab_stops(window) == [first, last]


def test_what_stands_behind_a_deleted_stop_lives_on(window: QWidget) -> None:
    column = QVBoxLayout(window)
    going, staying = QPushButton("going"), QTextEdit()
    for widget in (going, staying):
        column.addWidget(widget)
    QApplication.processEvents()
    viewport = staying.viewport()
    assert tab_stops(window) == [going, staying]
    going.setParent(None)
    going.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert isValid(viewport)


def test_nobody_walks_along_the_focus_chain() -> None:
    """See `app/ui/kit/tab_order.py`: a walk takes widgets away from Python later, far from where it was made."""
    assert [str(path) for path in APP.rglob("*.py") if CHAIN.search(path.read_text(encoding="utf-8"))] == []

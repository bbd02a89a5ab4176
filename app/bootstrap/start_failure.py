"""Reports a failed start in a message box, because nobody reads the terminal of a program started from an icon.

A module of its own, because its test shows the boxes without a start.
"""

from __future__ import annotations

import os
import sys

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from app.translation import tr

_INVISIBLE = ("offscreen", "minimal", "vnc")  # Qt's platforms whose windows nobody at this computer sees


def show_start_failure(what: str, advice: str = "") -> None:
    """Print both sentences to stderr, then show them in a message box until the person closes it.

    `what` says what happened, `advice` what to do now. Call before the window's own loop runs; makes a QApplication
    where there is none yet. On a platform without a screen only stderr hears it.
    """
    print(" ".join(filter(None, (what, advice))), file=sys.stderr)
    _application = QApplication.instance() or QApplication([sys.argv[0]])
    if QGuiApplication.platformName() not in _INVISIBLE:
        failure_box(what, advice).exec()


def show_text(text: str) -> None:
    """Print what the command line asked for; in a box where a start has no output, as from a Windows terminal."""
    if sys.stdout is not None:
        try:
            print(text, flush=True)
        except BrokenPipeError:  # `rialto --help | head -2`: the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains again at its exit
        return
    _application = QApplication.instance() or QApplication([sys.argv[0]])
    QMessageBox.information(None, "Rialto", text)


def failure_box(what: str, advice: str = "") -> QMessageBox:
    """The box, not shown yet. Its texts are plain: a path in them is never taken for markup."""
    box = QMessageBox(QMessageBox.Icon.Critical, tr("Rialto cannot start"), what, QMessageBox.StandardButton.Close)
    box.setInformativeText(advice)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return box

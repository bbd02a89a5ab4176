"""Help › Test Rialto: the program tries every part of itself in a process of its own, and its table grows line by line.

The test works in a data folder made for it, in the Sandbox and for play money; nothing of the person's is touched.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Sequence

from PySide6.QtCore import QProcess, QTimer
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QApplication, QWidget

from app.storage.paths import resources
from app.translation import tr
from app.ui.kit.own_executable import own_command
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

_WIDTH, _HEIGHT = 720, 340
_SAID_MS = 2000
_RUNNING = tr("Takes about half a minute. Uses a separate data folder, the Sandbox and play money.")
_GOOD = tr("Everything works. “Not available” marks something this computer does not have.")
_BAD = tr("Something does not work. Copy the table into a bug report. It contains no keys and nothing you wrote.")


class SelfTestDialog(Dialog):
    """`command` is what to run; its output is shown as it comes, and its exit code tells how it went."""

    def __init__(self, theme: Theme, parent: QWidget, command: Sequence[str]) -> None:
        super().__init__(theme, parent, tr("Test Rialto"), width=_WIDTH)
        self.said = Label(theme, _RUNNING, role="text2", wrap=True)
        self.body.addWidget(self.said)
        self.table = TextArea()
        self.table.setReadOnly(True)
        self.table.setFont(theme.font("code"))
        self.table.setLineWrapMode(TextArea.LineWrapMode.NoWrap)
        self.table.setMinimumHeight(theme.px(_HEIGHT))
        self.table.setAccessibleName(tr("Results"))
        self.body.addWidget(self.table)
        self.copy = self.add_button(tr("Copy table"))
        self.copy.clicked.connect(self._copy)
        self.end = self.add_button(tr("Stop"), accepts=False, default=True)
        self.end.setFocus()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.setWorkingDirectory(str(resources().parent))  # where a checkout's package is found
        self._process.readyRead.connect(self._read)
        self._process.finished.connect(self._ended)
        self._process.errorOccurred.connect(self._not_started)
        self.finished.connect(self._stop)
        self._process.start(command[0], list(command[1:]))

    def _read(self) -> None:
        text = self._decoder.decode(bytes(self._process.readAll().data()))
        self.table.moveCursor(QTextCursor.MoveOperation.End)
        self.table.insertPlainText(text)  # a piece may end anywhere in a line

    def _ended(self, code: int, _how: QProcess.ExitStatus) -> None:
        self._read_rest()
        self._say(good=code == 0)

    def _read_rest(self) -> None:
        if self._process.bytesAvailable():
            self._read()

    def _not_started(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:
            self._say(good=False)

    def _say(self, *, good: bool) -> None:
        self.said.set_text(_GOOD if good else _BAD)
        self.said.set_role("ok" if good else "bad")
        self.end.setText(tr("Close"))

    def _stop(self) -> None:
        """Ask the test to end; it takes what it started with it."""
        if self._process.state() != QProcess.ProcessState.NotRunning:
            self._process.finished.disconnect(self._ended)
            if sys.platform == "win32":  # no polite end for a process without a window; it has children
                QProcess.startDetached("taskkill", ["/T", "/F", "/PID", str(self._process.processId())])
            else:
                self._process.terminate()
            self._process.setParent(QApplication.instance())  # it outlives the dialog until it has ended
            self._process.finished.connect(self._process.deleteLater)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.table.toPlainText())
        self.copy.setText(tr("Copied"))
        QTimer.singleShot(_SAID_MS, self.copy, lambda: self.copy.setText(tr("Copy table")))


async def show_self_test(theme: Theme, parent: QWidget) -> None:
    """Run the test and show it until the person closes it."""
    await SelfTestDialog(theme, parent, [*own_command(), "--self-test"]).answer()

"""Shows a crash report: what failed, the redacted text, and Copy. Nothing is sent; the person decides what to do."""

from __future__ import annotations

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.shell.crash_reports import CrashReport

_WIDTH = 620
_TEXT_HEIGHT = 260
_SAID_MS = 2000


class CrashDialog(Dialog):
    """`earlier` is for a report that the last run left behind; otherwise Rialto has just failed and goes on."""

    def __init__(self, theme: Theme, parent: QWidget, report: CrashReport, *, earlier: bool = False) -> None:
        title = tr("Rialto quit unexpectedly last time") if earlier else tr("Something in Rialto failed")
        super().__init__(theme, parent, title, width=_WIDTH)
        self._report = report
        meaning = tr(
            "Everything that was saved is safe. The report below stays on this computer and is not sent "
            "anywhere. It contains no keys or messages, so you can copy it into a bug report."
        )
        if not earlier:
            meaning = tr(
                "Your chats are safe, and Rialto keeps running. {partition}", partition=meaning.partition(". ")[2]
            )
        self.body.addWidget(Label(theme, meaning, role="text2", wrap=True))
        self.text = TextArea(report.text)
        self.text.setReadOnly(True)
        self.text.setProperty("mono", True)
        self.text.setFont(theme.font("code"))
        self.text.setLineWrapMode(TextArea.LineWrapMode.NoWrap)
        self.text.setMinimumHeight(theme.type_px(_TEXT_HEIGHT))
        self.text.setAccessibleName(tr("Crash report"))
        self.body.addWidget(self.text)
        self.copy = self.add_button(tr("Copy report"))
        self.copy.clicked.connect(self._copy)
        self.folder: Button = self.add_button(tr("Open folder"))
        self.folder.clicked.connect(self._open_folder)
        close = self.add_button(tr("Close"), kind="primary", accepts=True, default=True)
        close.setFocus()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report.text)
        self.copy.setText(tr("Copied"))
        QTimer.singleShot(_SAID_MS, self.copy, lambda: self.copy.setText(tr("Copy report")))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._report.path.parent)))


async def show_crash(theme: Theme, parent: QWidget, report: CrashReport, *, earlier: bool = False) -> None:
    """Show one report and wait until it is closed."""
    await CrashDialog(theme, parent, report, earlier=earlier).answer()

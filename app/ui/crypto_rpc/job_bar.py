"""The progress bar of a long-running job: how far it is, what it has cost, and Stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from app.translation import tr
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Progress
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.crypto_rpc.session.jobs import JobView
    from app.ui.kit.theme import Theme


class JobBar(QFrame):
    """Hidden while there is no job; one that has ended stays until it is closed."""

    stop_requested = Signal()
    close_requested = Signal()
    action = Signal(str)  # of what ended the job, such as "limits:day"

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._view: JobView | None = None
        zone(self, "pane")
        self.setAccessibleName(tr("Running job"))
        self.words = Label(theme, "", wrap=True, tabular=True)
        self.note = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.progress = Progress(theme, tr("Progress"))
        self.fix = Button(theme, tr("Change the limit…"), size="small")
        self.fix.hide()
        self.button = Button(theme, tr("Stop"), size="small")
        column = QVBoxLayout()
        column.addWidget(self.words)
        column.addWidget(self.progress)
        column.addWidget(self.note)
        self._line = QHBoxLayout()
        self._line.addLayout(column, 1)
        self._line.addWidget(self.fix)
        self._line.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(rule())
        layout.addLayout(self._line)
        self.fix.clicked.connect(self._fix_pressed)
        self.button.clicked.connect(self._pressed)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.hide()

    def show_job(self, view: JobView | None) -> None:
        ended = view is not None and not view.running and self._view is not None and self._view.running
        self._view = view
        self.setVisible(view is not None)
        if view is None:
            return
        self.words.set_text(view.words, f"{view.title}." if view.running else "")
        self.note.set_text(view.sentence or view.note)
        self.note.setVisible(bool(view.sentence or view.note))
        if view.action is not None:
            self.fix.setText(view.action.text)
        self.fix.setVisible(view.action is not None)
        self.progress.set_share(view.share)
        self.progress.setVisible(view.running)
        self.button.setText(tr("Stop") if view.running else tr("Close"))
        if ended:
            announce(self, view.sentence)

    def _fix_pressed(self) -> None:
        if self._view is not None and self._view.action is not None:
            self.action.emit(self._view.action.id)

    def _pressed(self) -> None:
        running = self._view is not None and self._view.running
        (self.stop_requested if running else self.close_requested).emit()

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._line.setContentsMargins(px(20), px(10), px(16), px(10))
        self._line.setSpacing(px(12))

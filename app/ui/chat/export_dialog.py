"""Asks in which form a chat leaves, and where to; and which files chats are taken from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QWidget

from app.translation import tr
from app.ui.chat.session.export import ENDINGS, HTML, JSON, MARKDOWN, NAMES, ExportForm, name_of
from app.ui.kit.file_dialogs import ask_for_files, ask_for_folder, ask_to_save
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.kit.theme import Theme

_WORDS = {
    MARKDOWN: tr("The visible conversation as text, for notes and repositories."),
    HTML: tr("The visible conversation as a single page for any browser. It loads nothing and runs no scripts."),
    JSON: tr("The whole chat with every branch and attachment. Rialto can import it without loss."),
}


class ExportDialog(Dialog):
    """`form` is what was chosen; await `answer`."""

    def __init__(self, theme: Theme, parent: QWidget, title: str) -> None:
        super().__init__(theme, parent, tr("Export chat"), width=460)
        self.kind = SegmentedChoice(theme, tr("Format"), tuple((kind, NAMES[kind]) for kind in ENDINGS))
        self.kind.set_current(MARKDOWN)
        self._about = QStackedLayout()  # takes the room of its longest text: no button moves
        for kind in ENDINGS:
            self._about.addWidget(Label(theme, _WORDS[kind], role="text2", wrap=True))
        self.body.addWidget(Label(theme, title, weight=500, elide=True))
        self.body.addWidget(self.kind, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addLayout(self._about)
        self.sources = self._switch(tr("Include sources"), True)
        self.thoughts = self._switch(tr("Include reasoning"), False)
        self.receipts = self._switch(tr("Include tokens and cost"), False)
        self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(tr("Save as…"), kind="primary", accepts=True, default=True)
        self.kind.changed.connect(self._agree)
        self._agree(MARKDOWN)

    def _switch(self, words: str, on: bool) -> Switch:
        switch = Switch(self._theme, words)
        switch.setChecked(on)
        row = QHBoxLayout()
        label = Label(self._theme, words, wrap=True)
        label.setBuddy(switch)
        row.addWidget(label, 1)
        row.addWidget(switch)
        self.body.addLayout(row)
        return switch

    def _agree(self, kind: str) -> None:
        self._about.setCurrentIndex(tuple(ENDINGS).index(kind))
        for switch in (self.sources, self.thoughts, self.receipts):
            switch.setEnabled(kind != JSON)
            switch.setToolTip(plain_tip(tr("JSON always includes everything.")) if kind == JSON else "")

    @property
    def form(self) -> ExportForm:
        return ExportForm(
            self.kind.current,
            thoughts=self.thoughts.isChecked(),
            receipts=self.receipts.isChecked(),
            sources=self.sources.isChecked(),
        )


def ask_where(parent: QWidget, title: str, form: ExportForm, then: Callable[[Path], None]) -> None:
    """Ask for the file to write."""
    kinds = f"{NAMES[form.kind]} (*{ENDINGS[form.kind]})"
    ask_to_save(parent, tr("Export chat"), name_of(title, form.kind), then, kinds=kinds)


def ask_where_project(parent: QWidget, title: str, then: Callable[[Path], None]) -> None:
    """Ask for the file to write a project into."""
    ask_to_save(parent, tr("Export project"), name_of(title, JSON), then, kinds=tr("Rialto project (*.json)"))


def ask_where_all(parent: QWidget, then: Callable[[Path], None]) -> None:
    """Ask for the folder to write several chats into."""
    ask_for_folder(parent, tr("Export chats"), then)


def ask_which(parent: QWidget, then: Callable[[tuple[Path, ...]], None]) -> None:
    """Ask for the files to take chats from."""
    ask_for_files(parent, tr("Import chats"), then, tr("Chat exports (*.json *.jsonl *.zip);;All files (*)"))


class ReportDialog(Dialog):
    """What came of an import, line by line."""

    def __init__(self, theme: Theme, parent: QWidget, title: str, lines: Sequence[str]) -> None:
        super().__init__(theme, parent, title, width=480)
        for line in lines:
            self.body.addWidget(Label(theme, line, role="text2", wrap=True))
        self.add_button(tr("Close"), kind="primary", accepts=True, default=True).setFocus()

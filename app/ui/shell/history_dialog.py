"""What to do when the history cannot be opened: restore its backup, try again, stay without it, or quit.

A module of its own: it is loaded only when the history cannot be opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

Answer = Literal["restore", "try", "stay", "quit"]


class HistoryDialog(Dialog):
    """`chosen` says which button was pressed; closing the dialog in any other way stays."""

    def __init__(self, theme: Theme, parent: QWidget, sentence: str, backup: Path | None) -> None:
        super().__init__(theme, parent, tr("Rialto cannot open its history"))
        self.chosen: Answer = "stay"
        self.body.addWidget(Label(theme, sentence, role="text2", wrap=True))
        if backup is not None:
            words = tr("The damaged file is kept next to the restored backup.")
            self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        self.body.addStretch(1)
        self.quit = self._button(tr("Quit"), "quit")
        self.stay = self._button(tr("Continue anyway"), "stay")
        if backup is None:
            self.first = self._button(tr("Try again"), "try", kind="primary")
        else:
            self.first = self._button(tr("Restore backup"), "restore", kind="primary")
        self.first.setDefault(True)
        self.first.setFocus()

    def _button(self, words: str, answer: Answer, *, kind: str = "") -> Button:
        button = self.add_button(words, kind=kind)

        def choose() -> None:
            self.chosen = answer
            self.accept()

        button.clicked.connect(choose)
        return button


async def ask_without_history(theme: Theme, window: QWidget, sentence: str, backup: Path | None) -> Answer:
    """Say why the history cannot be opened and return what the person wants. `backup`: the newest good copy."""
    dialog = HistoryDialog(theme, window, sentence, backup)
    await dialog.answer()
    return dialog.chosen

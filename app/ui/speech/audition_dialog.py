"""Asks for the line and the voices of an audition, and says what they cost together."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QListWidget, QListWidgetItem, QPlainTextEdit, QWidget

from app.service.speech_text import MAX_CHARS
from app.ui.shared import money
from app.ui.shared.dialogs import Dialog
from app.ui.shared.fields import bind_label
from app.ui.shared.label import Label
from app.ui.shared.theme import Theme
from app.ui.speech.state import Choice
from app.ui.speech.voice_book import Key, Voice

if TYPE_CHECKING:
    Shelf = Any  # the presenter's; pages know no presenter's insides but what they are handed

MAX_VOICES = 6
OFFERED = 60


class AuditionDialog(Dialog):
    """`line` and `voices` are what was chosen."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        line: str,
        shelf: Shelf,
        choice: Choice,
        price: Callable[[str, tuple[Key, ...]], Decimal | None],
    ) -> None:
        super().__init__(theme, parent, "Hear a line in several voices", width=480)
        self._price = price
        words = Label(theme, "Line", "small", "text2", weight=500)
        self.text = QPlainTextEdit(line)
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(theme.px(24) + 3 * theme.line_px("body"))
        bind_label(words, self.text)
        self.text.setAccessibleName("Line")
        title = Label(theme, f"Up to {MAX_VOICES} voices", "small", "text2", weight=500)
        self.list = QListWidget()
        self.list.setAccessibleName("Voices")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setMinimumHeight(theme.px(220))
        for voice in _offered(shelf.all(), choice):
            item = QListWidgetItem(
                f"{voice.name} · {voice.model_name}" + (f" · {voice.language}" * bool(voice.language))
            )
            item.setData(Qt.ItemDataRole.UserRole, voice.key)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            on = voice.favourite or voice.key == (choice.model, choice.voice)
            checked = on and len(self.voices) < MAX_VOICES
            item.setCheckState(Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self.cost = Label(theme, "", role="text2", wrap=True, tabular=True)
        for widget in (words, self.text, title, self.list, self.cost):
            self.body.addWidget(widget)
        self.add_button("Cancel", accepts=False)
        self.go = self.add_button("Speak", kind="primary", accepts=True)
        self.text.textChanged.connect(self._agree)
        self.list.itemChanged.connect(lambda _item: self._agree())
        self._agree()

    @property
    def line(self) -> str:
        return self.text.toPlainText().strip()

    @property
    def voices(self) -> tuple[Key, ...]:
        items = [self.list.item(row) for row in range(self.list.count())]
        return tuple(
            tuple(item.data(Qt.ItemDataRole.UserRole)) for item in items if item.checkState() == Qt.CheckState.Checked
        )

    def _agree(self) -> None:
        line, voices = self.line, self.voices
        price = self._price(line, voices)
        problem = ""
        if not any(char.isalnum() for char in line):
            problem = "There is nothing to say."
        elif len(line) > MAX_CHARS:
            problem = f"Up to {money.count(MAX_CHARS)} characters; this line has {money.count(len(line))}."
        elif not voices:
            problem = "Choose a voice."
        elif len(voices) > MAX_VOICES:
            problem = f"Up to {MAX_VOICES} voices; {len(voices)} are chosen."
        cost = money.about(price) if price is not None else "The price is not known"
        count = "one voice" if len(voices) == 1 else f"{len(voices)} voices"
        self.cost.set_text(problem or f"{cost} for {count} together.")
        self.go.setText(f"Speak for {money.money(price)}" if price and not problem else "Speak")
        self.go.setEnabled(not problem)


def _offered(voices: tuple[Voice, ...], choice: Choice) -> list[Voice]:
    """The voice in use, favourites and what was used lately first, then the model's own, then the rest."""

    def rank(voice: Voice) -> tuple[bool, bool, bool, bool]:
        in_use = voice.key == (choice.model, choice.voice)
        return (not in_use, not voice.favourite, voice.used_at is None, voice.model != choice.model)

    return sorted(voices, key=rank)[:OFFERED]

"""Asks for the text and the voices of a voice comparison, and shows the total price."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QCheckBox, QScrollArea, QVBoxLayout, QWidget

from app.core import money, number_format
from app.service.speech_text import MAX_CHARS
from app.translation import tr, tr_n
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.surfaces import zone
from app.ui.speech.state import Choice
from app.ui.speech.voice_catalog import Key, Voice, VoiceFilter

if TYPE_CHECKING:
    Shelf = Any  # the presenter's; pages know no presenter's insides but what they are handed

MAX_VOICES = 6
SHOWN = 40  # at once; what was typed brings the others


class AuditionDialog(Dialog):
    """`line` and `voices` are what was chosen."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        line: str,
        voice_list: Shelf,
        choice: Choice,
        price: Callable[[str, tuple[Key, ...]], Decimal | None],
    ) -> None:
        super().__init__(theme, parent, tr("Compare voices"), width=480)
        self._price = price
        words = Label(theme, tr("Line"), "small", "text2", weight=500)
        self.text = TextArea(line)
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(theme.px(24) + 3 * theme.line_px("body"))
        bind_label(words, self.text)
        self.text.setAccessibleName(tr("Line"))
        title = Label(theme, tr("Up to {max_voices} voices", max_voices=MAX_VOICES), "small", "text2", weight=500)
        self.search = SearchField(theme, tr("Search voices"), results=lambda: results_words(self._fitting))
        inside = QWidget()
        zone(inside, "surface")
        column = QVBoxLayout(inside)
        column.setSpacing(theme.px(6))
        self._known = _ranked(voice_list.all(), choice)
        self._chosen: list[Key] = []
        for voice in self._known:
            if (voice.favourite or voice.key == (choice.model, choice.voice)) and len(self._chosen) < MAX_VOICES:
                self._chosen.append(voice.key)
        self.boxes = [VoiceBox() for _ in range(min(SHOWN, len(self._known)))]
        for box in self.boxes:
            box.toggled.connect(partial(self._tick, box))
            column.addWidget(box)
        column.addStretch(1)
        self.list = QScrollArea()
        self.list.setAccessibleName(tr("Voices"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setWidgetResizable(True)
        self.list.setWidget(inside)
        self.list.setMinimumHeight(theme.px(220))
        self.cost = Label(theme, "", role="text2", wrap=True, tabular=True)
        for widget in (words, self.text, title, self.search, self.list, self.cost):
            self.body.addWidget(widget)
        self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(tr("Speak"), kind="primary", accepts=True)
        self.text.textChanged.connect(self._agree)
        self.search.search_changed.connect(lambda _text: self._show_voices())
        self.search.returnPressed.connect(self._tick_first)
        self._show_voices()
        self._agree()

    @property
    def line(self) -> str:
        return self.text.toPlainText().strip()

    @property
    def voices(self) -> tuple[Key, ...]:
        return tuple(self._chosen)

    def _show_voices(self) -> None:
        """Those that are chosen, then those that fit what was typed."""
        words = VoiceFilter(text=self.search.text().strip())
        chosen = [voice for voice in self._known if voice.key in self._chosen]
        fitting = [voice for voice in self._known if voice.key not in self._chosen and words.lets(voice)]
        self._fitting = len(fitting)
        shown = (chosen + fitting)[: len(self.boxes)]
        for box, voice in zip_longest(self.boxes, shown):
            box.show_voice(voice, on=voice is not None and voice.key in self._chosen)
        self._let_six()

    def _tick_first(self) -> None:
        """Take the first voice that was found: Enter, as in a list."""
        box = next((box for box in self.boxes if box.key is not None and box.key not in self._chosen), None)
        if box is not None and self.search.text().strip() and box.isEnabled():
            box.setChecked(True)

    def _tick(self, box: VoiceBox, on: bool) -> None:
        if box.key is not None:
            self._chosen = [key for key in self._chosen if key != box.key] + [box.key] * on
            self._let_six()
            self._agree()

    def _let_six(self) -> None:
        """No seventh voice can be ticked."""
        full = len(self._chosen) >= MAX_VOICES
        why = tr("Up to {max_voices} voices", max_voices=MAX_VOICES) if full else ""
        for box in self.boxes:
            box.setEnabled(not full or box.isChecked())
            box.setToolTip(plain_tip("" if box.isChecked() else why))

    def _agree(self) -> None:
        line, voices = self.line, self.voices
        price = self._price(line, voices)
        problem = ""
        if not any(char.isalnum() for char in line):
            problem = tr("Type something to speak.")
        elif len(line) > MAX_CHARS:
            problem = tr(
                "Up to {max_chars} characters. This line has {count}.",
                max_chars=number_format.count(MAX_CHARS),
                count=number_format.count(len(line)),
            )
        elif not voices:
            problem = tr("Choose a voice.")
        cost = tr("About {price}", price=money.money(price)) if price is not None else tr("Price unknown")
        count = tr_n("one voice", "{n} voices together", len(voices))
        self.cost.set_text(problem or tr("{cost} for {count}.", cost=cost, count=count))
        self.go.setText(money.priced(tr("Speak"), price) if price and not problem else tr("Speak"))
        self.go.setEnabled(not problem)


class VoiceBox(QCheckBox):
    """One voice; hidden while there is none to show."""

    def __init__(self) -> None:
        super().__init__()
        self.key: Key | None = None

    def show_voice(self, voice: Voice | None, *, on: bool) -> None:
        self.key = voice.key if voice is not None else None
        self.setVisible(voice is not None)
        if voice is not None:
            language = f" · {voice.language}" * bool(voice.language)
            self.setText(f"{voice.name} · {voice.model_name}{language}")
            with QSignalBlocker(self):
                self.setChecked(on)


def _ranked(voices: tuple[Voice, ...], choice: Choice) -> list[Voice]:
    """The voice in use, favorites and what was used lately first, then the model's own, then the rest."""

    def rank(voice: Voice) -> tuple[bool, bool, bool, bool]:
        in_use = voice.key == (choice.model, choice.voice)
        return (not in_use, not voice.favourite, voice.used_at is None, voice.model != choice.model)

    return sorted(voices, key=rank)

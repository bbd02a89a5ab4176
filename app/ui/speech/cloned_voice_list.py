"""Cloned voices: their model, age and expiry, and a button to clone again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from app.core.money import priced
from app.formats import format_number
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.qt_workarounds.claimed_shortcuts import deletes
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.speech.state import ClonedRow


class ClonedVoiceList(ScrollPane):
    clone_requested = Signal()
    use_requested = Signal(str)
    again_requested = Signal(str)
    play_requested = Signal(str)
    trash_requested = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(tr("My voices"))
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it may have no other control, and the keys scroll it
        self._column = self.fill(theme, "pane", (16, 12, 16, 12), 12)
        self.words = Label(
            theme,
            tr(
                "Clone a voice from a 5 to 30 s sample. 5 to 10 s is best. The service keeps the voice for "
                "about a week. The sample stays on this computer, so you can clone it again."
            ),
            role="text2",
            wrap=True,
        )
        self.clone = Button(theme, tr("Clone a voice…"), "plus")
        self._column.addWidget(self.words)
        self._column.addWidget(self.clone, 0, Qt.AlignmentFlag.AlignLeft)
        self._rows = QVBoxLayout()
        self._column.addLayout(self._rows)
        self._column.addStretch(1)
        self.cards: list[CloneCard] = []
        self.clone.clicked.connect(self.clone_requested)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._rows.setSpacing(px(8))

    def show_rows(self, rows: Sequence[ClonedRow]) -> None:
        """Show the shelf; a person has a handful of voices, not thousands."""
        if [card.voice_id for card in self.cards] != [row.id for row in rows]:
            focus = self.window().focusWidget()
            place = next((at for at, card in enumerate(self.cards) if focus and card.isAncestorOf(focus)), -1)
            discard(*self.cards)
            self.cards = [self._card(row.id) for row in rows]
            for card in self.cards:
                self._rows.addWidget(card)
            if place >= 0:  # the keyboard stays where the card was
                beside = self.cards[min(place, len(self.cards) - 1)].trash if self.cards else self.clone
                beside.setFocus(Qt.FocusReason.OtherFocusReason)
        for card, row in zip(self.cards, rows, strict=True):
            card.show_row(row)

    def _card(self, voice_id: str) -> CloneCard:
        card = CloneCard(self._theme, voice_id)
        card.use.clicked.connect(lambda: self.use_requested.emit(voice_id))
        card.again.clicked.connect(lambda: self.again_requested.emit(voice_id))
        card.play.clicked.connect(lambda: self.play_requested.emit(voice_id))
        card.trash.clicked.connect(lambda: self.trash_requested.emit(voice_id))
        return card


class CloneCard(Card):
    """One voice of one's own."""

    def __init__(self, theme: Theme, voice_id: str) -> None:
        super().__init__(theme, padding=(12, 10))
        self.voice_id = voice_id
        self.name = Label(theme, "", weight=600, elide=True)
        self.state = Badge(theme, "", "ok")
        self.second = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.handle = Label(theme, "", "caption", "text3", mono=True, elide=True)
        self.use = Button(theme, tr("Use"), size="small")
        self.again = Button(theme, tr("Clone again"), "refresh", size="small")
        self.play = IconButton(theme, "play", tr("Hear the sample"), size="small")
        self.trash = IconButton(theme, "trash", tr("Move to trash"), size="small")
        top, below = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.name, 1)
        top.addWidget(self.state)
        below.addWidget(self.use)
        below.addWidget(self.again)
        below.addStretch(1)
        below.addWidget(self.play)
        below.addWidget(self.trash)
        self.body.addLayout(top)
        self.body.addWidget(self.second)
        self.body.addWidget(self.handle)
        self.body.addLayout(below)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete on any of its buttons moves the voice to the trash."""
        if deletes(event):
            self.trash.click()
        else:
            super().keyPressEvent(event)

    def show_row(self, row: ClonedRow) -> None:
        self.name.set_text(row.name)
        ended = tr("expired") if row.handle else tr("not created")  # its clone was refused, or never arrived
        state = tr("in use") if row.in_use else tr("ready")
        words = tr("working") if row.working else ended if row.has_expired else state
        self.state.set_badge(words, "warn" if row.has_expired else "accent" if row.in_use or row.working else "ok")
        facts = (
            row.model_name,
            row.age,
            row.expiry,
            tr("sample {sample_s}\u00a0s", sample_s=format_number(row.sample_s, 0)),
        )
        self.second.set_text(" · ".join(fact for fact in facts if fact))
        self.handle.set_text(row.handle)
        can_be_used = not (row.has_expired or row.working or row.in_use)
        if self.use.hasFocus() and not can_be_used:
            self.play.setFocus(Qt.FocusReason.OtherFocusReason)  # not to its neighbor, which costs money
        self.use.setEnabled(can_be_used)
        self.again.setText(priced(tr("Clone again"), row.price))
        self.again.setEnabled(not row.working)
        for button, words in (
            (self.use, tr("Use")),
            (self.again, tr("Clone again")),
            (self.play, tr("Hear the sample for")),
        ):
            button.setAccessibleName(f"{words} {row.name}")
        self.trash.rename(tr("Move {name} to trash", name=row.name))

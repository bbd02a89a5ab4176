"""The canvas of a transcript: its sound above, a search, the words, and the receipt below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.kit.sound.player_bar import PlayerBar
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.fields import TextField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.receipt_line import ReceiptLine
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import rule, zone
from app.ui.kit.widgets.switch import Switch
from app.ui.transcription.session.editing import Match, search
from app.ui.transcription.state import Head, TranscriptState
from app.ui.transcription.transcript_view import TranscriptView

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

ESTIMATED = {
    "words": tr("The model returned segment timestamps only. Word timestamps are estimated."),
    "all": tr("The model returned no timestamps. All timestamps are estimated from the text length."),
}


NO_SPEECH = tr("The service heard no speech in this recording.")


class ResultView(QWidget):
    """Search and modes are its own; everything else is told to the page."""

    receipt_requested = Signal()
    replace_requested = Signal(object, str)  # tuple[Match, ...], the text in their place

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._found: tuple[Match, ...] = ()
        self._at = -1
        self._id: str | None = None
        self.player = PlayerBar(theme)
        self._top = QWidget()
        zone(self._top, "pane")
        self.follow = Switch(theme, tr("Follow playback"), checked=True)
        follow_label = Label(theme, tr("Follow"), "small", "text2")
        follow_label.setBuddy(self.follow)
        self.player.extras.addWidget(follow_label)
        self.player.extras.addWidget(self.follow)
        self.search = SearchField(
            theme, tr("Find in this transcript"), results=lambda: self.count.text(), is_filter=False
        )
        self.search.setProperty("sizing", "small")
        self.count = Label(theme, "", "small", "text2", tabular=True)
        self.replacing = IconButton(theme, "pencil", tr("Find and replace"), size="small", checkable=True)
        self.replacement = TextField(theme, tr("Replace with"), placeholder=tr("Replace with"))
        self.replacement.setProperty("sizing", "small")
        self.replace_one = Button(theme, tr("Replace"), size="small")
        self.replace_all = Button(theme, tr("Replace all"), size="small")
        self._second = QWidget()
        self._second.hide()
        self._after: tuple[int, int] | None = None  # segment and character behind what was replaced last
        self.previous = IconButton(theme, "chevron-up", tr("Previous match"), shortcut="Ctrl+Shift+G", size="small")
        self.next = IconButton(theme, "chevron-down", tr("Next match"), shortcut="Ctrl+G", size="small")
        self.modes = SegmentedChoice(
            theme,
            tr("Transcript view"),
            (("segments", tr("Segments")), ("words", tr("Words")), ("text", tr("Text"))),
        )
        self._notice_icon = IconLabel(theme, "info", "text3", px=14)
        self.notice = Label(theme, "", "small", "text3", wrap=True)
        self.view = TranscriptView(theme)
        self.view.handle_key = self.player.handle_key
        self.receipt = ReceiptLine(theme)
        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        above = QVBoxLayout(self._top)
        above.setContentsMargins(0, 0, 0, 0)
        above.addWidget(self.player)
        self._bar = QHBoxLayout()
        self._bar.addWidget(self.search, 100)  # up to its greatest width; the rest is left free
        for widget in (self.replacing, self.count, self.previous, self.next):
            self._bar.addWidget(widget)
        self._bar.addStretch(1)
        self._bar.addWidget(self.modes)
        self._second_bar = QHBoxLayout(self._second)
        self._second_bar.addWidget(self.replacement, 1)
        self._second_bar.addWidget(self.replace_one)
        self._second_bar.addWidget(self.replace_all)
        self._second_bar.addStretch(1)
        self._notice_row = QHBoxLayout()
        self._notice_row.addWidget(self._notice_icon, 0, Qt.AlignmentFlag.AlignTop)
        self._notice_row.addWidget(self.notice, 1)
        self._below = QHBoxLayout()
        self._below.addWidget(self.receipt, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._top)
        column.addWidget(rule())
        column.addLayout(self._bar)
        column.addWidget(self._second)
        column.addWidget(rule())
        column.addLayout(self._notice_row)
        column.addWidget(self.view, 1)
        column.addWidget(rule())
        column.addLayout(self._below)

    def _connect(self) -> None:
        self.search.search_changed.connect(self._search)
        self.search.left.connect(self.view.setFocus)
        self.search.returnPressed.connect(lambda: self.step(1))
        self.replacing.toggled.connect(self._show_second)
        self.replacement.returnPressed.connect(self._replace_one)
        self.replace_one.clicked.connect(self._replace_one)
        self.replace_all.clicked.connect(self._replace_all)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.modes.changed.connect(self.view.set_mode)
        self.receipt.activated.connect(self.receipt_requested)
        self.follow.toggled.connect(self._set_follow)
        self.player.segment_requested.connect(self._step_segment)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._bar.setContentsMargins(px(24), px(8), px(24), px(8))
        self._bar.setSpacing(px(6))
        for field in (self.search, self.replacement):
            field.setMaximumWidth(self._theme.type_px(280))
        self._second_bar.setContentsMargins(px(24), 0, px(24), px(8))
        self._second_bar.setSpacing(px(6))
        self._below.setContentsMargins(px(24), px(10), px(24), px(10))
        shown = bool(self.notice.text())
        self._notice_row.setContentsMargins(px(24), px(8) if shown else 0, px(24), 0)
        self._notice_row.setSpacing(px(6))

    # What the page tells

    def show_head(self, head: Head) -> None:
        if head.view != "result":
            return
        if head.id != self._id:
            self._id = head.id
            self.view.clear_position()
            self.view.verticalScrollBar().setValue(0)
            self.view.current = 0
        self.receipt.set_runs(head.receipt)
        self.view.show_marks(head.marks)
        sound = head.sound
        length = sound.duration_s or 0.0
        self.player.waveform.set_sound(sound.peaks, length if sound.peaks is not None else 0.0, length)
        self.player.set_length(length)
        self.player.set_ready(sound.is_there and bool(sound.kind))
        self.player.set_status(sound.why_not)

    def show_reading(self, reading: TranscriptState) -> None:
        self.view.show_document(reading.document)
        words = ESTIMATED.get(reading.document.estimated, "")
        if not any(segment.text.strip() for segment in reading.document.segments):
            words = NO_SPEECH
        self.notice.set_text(words)
        self.notice.setVisible(bool(words))
        self._notice_icon.setVisible(bool(words))
        self._apply_theme()
        self._search(self.search.text(), keep=True)

    def show_position(self, seconds: float) -> None:
        """What is heard now; touches only what changes."""
        self.player.set_position(seconds)
        self.view.set_position(seconds)

    # Search

    def _search(self, text: str, *, keep: bool = False) -> None:
        self._found = search(self.view.document, text)
        if self._after is not None:
            behind, self._after = self._after, None
            self._at = next((n for n, each in enumerate(self._found) if (each.segment, each.start) >= behind), 0)
            self._at = self._at if self._found else -1
            keep = False
        elif not keep or self._at >= len(self._found):
            start = self.view.segment
            after = next((n for n, match in enumerate(self._found) if match.segment >= start), 0)
            self._at = after if self._found else -1
        self._show_found(move=not keep)

    def open_replace(self) -> None:
        """Show the second line of the search, and begin with what is to be found."""
        self.replacing.setChecked(True)
        (self.replacement if self._found else self.search).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_second(self, on: bool) -> None:
        self._second.setVisible(on)
        if on:
            (self.replacement if self._found else self.search).setFocus(Qt.FocusReason.OtherFocusReason)

    def _replace_one(self) -> None:
        """Replace the match with the frame, and go to the one behind it."""
        self._search(self.search.text(), keep=True)  # what was typed a moment ago counts
        if 0 <= self._at < len(self._found):
            match, text = self._found[self._at], self.replacement.text()
            self._after = (match.segment, match.start + len(text))
            self.replace_requested.emit((match,), text)

    def _replace_all(self) -> None:
        self._search(self.search.text(), keep=True)
        if found := self._found:
            self.replace_requested.emit(found, self.replacement.text())
            words = tr_n("1 replaced", "{n} replaced", len(found))
            self.count.set_text(words)
            announce(self.count, words)

    def step(self, by: int) -> None:
        """The next or the previous match; around the end."""
        if self._found:
            self._at = (self._at + by) % len(self._found)
            self._show_found()
            self.search.say_step()

    def _show_found(self, *, move: bool = True) -> None:
        total = len(self._found)
        searched = bool(self.search.text().strip())
        words = tr("{at} of {total}", at=self._at + 1, total=total) if total else tr("not found")
        self.count.set_text(words if searched else "")
        for button in (self.previous, self.next):
            button.setEnabled(bool(total))
            button.setVisible(searched)
        self.replace_one.setEnabled(bool(total))
        self.replace_all.setEnabled(bool(total))
        if move:
            self.view.show_found(self._found, self._at)
        else:
            self.view.refresh_found(self._found, self._at)

    # Inside

    def _set_follow(self, on: bool) -> None:
        self.view.follow = on

    def _step_segment(self, by: int) -> None:
        """The segment before or after the one that is heard."""
        document = self.view.document
        if not document.segments:
            return
        at = self.view.spoken[0] if self.view.spoken is not None else self.view.segment
        number = max(0, min(len(document.segments) - 1, at + by))
        self.view.go_to(number)
        self.view.listen_requested.emit(document.segments[number].start)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.player.handle_key(event):
            super().keyPressEvent(event)

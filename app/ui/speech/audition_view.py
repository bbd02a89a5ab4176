"""Voices side by side: one line in up to six of them, or clips to be compared. Play, star, take the voice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.sound.player_bar import PlayButton
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Spinner
from app.ui.kit.widgets.surfaces import zone
from app.ui.speech.state import AuditionRow

COLUMN_PX = 250
MAX_LINE_CHARS = 300


class AuditionView(QWidget):
    play_requested = Signal(str)
    star_requested = Signal(str)
    use_requested = Signal(str)
    menu_requested = Signal(str, QPoint)  # where on the screen
    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        zone(self, "canvas")
        self.title = Label(theme, tr("Compare voices"), "heading")
        self.line = Label(theme, "", role="text2", wrap=True)
        self.close_button = Button(theme, tr("Back to text"), "pencil")
        self.close_button.clicked.connect(self.closed)
        self._cards: dict[str, _VoiceCard] = {}
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.close_button)
        inside = QWidget()
        self._grid = QGridLayout(inside)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(inside)
        zone(inside, "canvas")
        self._column = QVBoxLayout(self)
        self._column.addLayout(head)
        self._column.addWidget(self.line)
        self._column.addWidget(self._scroll, 1)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(24), px(16), px(24), px(8))
        self._column.setSpacing(px(12))
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(px(12))

    def show_rows(self, rows: Sequence[AuditionRow]) -> None:
        """Show these clips; cards that are there already only change. What they share stands above them."""
        is_one_text = len({row.text for row in rows}) == 1
        self.title.set_text(tr("Compare voices") if is_one_text else tr("Clips side by side"))
        self.line.set_text(_short(rows[0].text) if rows and is_one_text else "")
        self.line.setVisible(bool(self.line.text()))
        wanted = [row.clip_id for row in rows]
        if wanted != list(self._cards):
            discard(*self._cards.values())
            self._cards = {}
            columns = max(1, min(3, self.width() // max(1, self._theme.type_px(COLUMN_PX))))
            for place, row in enumerate(rows):
                card = _VoiceCard(self._theme, row.clip_id)
                card.play.clicked.connect(lambda _=False, clip=row.clip_id: self.play_requested.emit(clip))
                card.star.clicked.connect(lambda _=False, clip=row.clip_id: self.star_requested.emit(clip))
                card.menu_requested.connect(self.menu_requested)
                card.use.clicked.connect(lambda _=False, clip=row.clip_id: self.use_requested.emit(clip))
                self._cards[row.clip_id] = card
                self._grid.addWidget(card, place // columns, place % columns)
        for row in rows:
            self._cards[row.clip_id].show_row(row, title="" if is_one_text else row.title)

    @property
    def cards(self) -> tuple[_VoiceCard, ...]:
        return tuple(self._cards.values())


class _VoiceCard(Card):
    """One voice: play, name, what it cost, star, use, and a menu of everything else."""

    menu_requested = Signal(str, QPoint)

    def __init__(self, theme: Theme, clip_id: str) -> None:
        super().__init__(theme)
        self.clip_id = clip_id
        self.play = PlayButton(theme)
        self.spinner = Spinner(theme, px=18)
        self.name = Label(theme, "", weight=600, elide=True)
        self.second = Label(theme, "", "small", "text2", elide=True)
        self.what = Label(theme, "", elide=True)
        self.delivery = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.facts = Label(theme, "", "small", "text3", tabular=True, wrap=True)
        self.star = IconButton(theme, "star", tr("Star"), size="small")
        self.more = IconButton(theme, "more", tr("More actions"), size="small")
        self.use = Button(theme, tr("Use this voice"), size="small")
        top = QHBoxLayout()
        top.setSpacing(theme.px(10))
        top.addWidget(self.play)
        top.addWidget(self.spinner)
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(self.name)
        names.addWidget(self.second)
        top.addLayout(names, 1)
        top.addWidget(self.star, 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        self.more.clicked.connect(lambda: self._ask_menu(self.more.mapToGlobal(self.more.rect().bottomLeft())))
        self.body.addLayout(top)
        for label in (self.what, self.delivery, self.facts):
            self.body.addWidget(label)
        self.body.addWidget(self.use, 0, Qt.AlignmentFlag.AlignLeft)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._ask_menu(event.globalPos())

    def _ask_menu(self, place: QPoint) -> None:
        self.menu_requested.emit(self.clip_id, place)

    def show_row(self, row: AuditionRow, *, title: str = "") -> None:
        working = row.state == "working"
        self.spinner.setVisible(working)
        self.play.setVisible(not working)
        self.play.setEnabled(row.state in ("complete", "cut"))
        self.play.set_plays(row.plays)
        self.play.setAccessibleName(f"{tr('Pause') if row.plays else tr('Play')} {row.voice_name}")
        self.name.set_text(row.voice_name)
        self.second.set_text(row.model_name)
        self.what.set_text(title)
        self.what.setVisible(bool(title))
        self.delivery.set_text(row.delivery)
        facts = [row.note or (tr("Speaking") if working else ""), row.length, row.cost]
        self.facts.set_text(" · ".join(fact for fact in facts if fact))
        self.star.set_icon("star-filled" if row.starred else "star", "warn" if row.starred else "text3")
        self.star.rename(f"{tr('Remove the star from') if row.starred else tr('Star')} {row.voice_name}")
        self.more.rename(tr("More actions for {voice_name}", voice_name=row.voice_name))
        self.use.setAccessibleName(tr("Use the voice {voice_name}", voice_name=row.voice_name))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"

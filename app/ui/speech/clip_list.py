"""The left pane: every clip by day, a filter above, their number and size below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter

from app.core.number_format import size as size_words
from app.translation import tr, tr_n
from app.ui.kit import icons
from app.ui.kit.lists.grouped_list import RowLike, under_headings
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.lists.list_pane import ListPane, StorageFooter
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.spinner import paint_spinner
from app.ui.speech.state import ClipRow


class ClipListPane(ListPane):
    """Shows the clips and says which one is wanted, and for what."""

    new_requested = Signal()
    open_requested = Signal(str)
    play_requested = Signal(str)
    rename_requested = Signal(str)
    star_requested = Signal(str)
    trash_requested = Signal(object)  # ids
    again_requested = Signal(str)
    save_requested = Signal(str)
    continue_requested = Signal(str)
    compare_requested = Signal(object)  # ids
    player_key = Signal(QKeyEvent)

    def __init__(self, theme: Theme) -> None:
        self.foot = StorageFooter(theme)
        super().__init__(theme, tr("Speech"), tr("Filter clips"), tr("Clear filter"), self.foot)
        self._rows: Sequence[ClipRow] = ()
        self._row_places: Mapping[str, int] = {}  # in which row a clip is, by its id
        self._number = 0
        self._bytes = 0
        self._open = ""
        self.new = IconButton(theme, "plus", tr("New clip"), shortcut="Ctrl+N", framed=True)
        beta = Badge(theme, tr("Beta"), "outline")
        beta.setToolTip(tr("Beta: this part of the service may change."))
        self.header.add_after_title(beta)
        self.header.add(self.new)
        self.view = GroupedView(theme, tr("Clips"), has_end_sign=False, selects_many=True)
        self.delegate = ClipDelegate(theme, self.view)
        self.view.setItemDelegate(self.delegate)
        self.hold(self.view)
        self.new.clicked.connect(self.new_requested)
        self.filter.search_changed.connect(lambda _text: self._agree())
        self.view.chosen.connect(lambda key: self.open_requested.emit(str(key)))
        self.view.play_requested.connect(self._play)
        self.view.key_pressed.connect(self._key)
        self.view.rename_requested.connect(lambda key: self.rename_requested.emit(str(key)))
        self.view.trash_requested.connect(lambda keys: self.trash_requested.emit(self._clips(keys)))
        self.view.menu_requested.connect(lambda key, place: self.menu_of(str(key)).popup(place))
        self._agree()

    # -- what the page tells --------------------------------------------------------------------------------------

    def show_rows(self, rows: Sequence[ClipRow], places: Mapping[str, int], number: int, total_bytes: int) -> None:
        """Show the rows of `number` clips in this order; selection and scroll position stay.

        `places`: in which row a clip is, by its id, and a comparison by its own.
        """
        self._rows, self._row_places, self._number, self._bytes = rows, places, number, total_bytes
        self.is_read = True
        self._agree()

    def show_open(self, clip_id: str) -> None:
        """Mark the row of the clip whose text stands in the editor, or of the comparison that is open."""
        self._open = self.row_with(clip_id)
        self.view.show_open(self._open)

    def row_with(self, clip_id: str) -> str:
        """Return the id of the row that a clip is in: its own, or that of its comparison."""
        place = self._row_places.get(clip_id)
        return clip_id if place is None else self._rows[place].id

    def _agree(self) -> None:
        text = self.filter.text().strip()
        shown = matching(self._rows, SearchTerms(text), lambda row: (row.title, row.second_line))
        self.view.show_groups(under_headings(shown, lambda row: row.id, lambda row: row.group), text)
        self.show_filled(
            bool(self.view.rows.rowCount()),
            tr("No clip contains “{text}”.", text=text)
            if text
            else tr("Your clips appear here. Type something and press Speak."),
        )
        if not self.is_read:
            return
        count = tr_n("{n} clip", "{n} clips", self._number) if self._number else tr("No clips")
        self.foot.show_kept(f"{count}, {size_words(self._bytes)}" if self._number else count)

    def neighbor(self, step: int) -> str:
        """The row after (1) or before (-1) the open one."""
        return str(self.view.rows.neighbor(self._open, step) or "")

    def selected(self) -> tuple[str, ...]:
        """The selected clips, those of a comparison one by one."""
        return self._clips(self.view.selected_keys())

    def row(self, row_id: str) -> ClipRow | None:
        """A row of the list, or a clip in one of them."""
        place = self._row_places.get(row_id)
        row = None if place is None else self._rows[place]
        return row and next((each for each in (row, *row.clips) if each.id == row_id), None)

    def _clips(self, keys: Sequence[object]) -> tuple[str, ...]:
        rows = [row for key in keys if (row := self.row(str(key))) is not None]
        return tuple(clip.id for row in rows for clip in (row.clips or (row,)))

    def _play(self, key: object) -> None:
        row = self.row(str(key))
        if row is not None:
            (self.open_requested if row.clips or row.is_draft else self.play_requested).emit(row.id)

    # -- hands ----------------------------------------------------------------------------------------------------

    def _key(self, event: QKeyEvent, _key: object) -> None:
        if event.key() in (Qt.Key.Key_J, Qt.Key.Key_L, Qt.Key.Key_Less, Qt.Key.Key_Greater) or event.key() in (
            Qt.Key.Key_BracketLeft,
            Qt.Key.Key_BracketRight,
        ):
            self.player_key.emit(event)
        else:
            return
        event.accept()

    def menu_of(self, clip_id: str) -> Menu:
        """Return what can be done with a clip, or with a comparison."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        row = self.row(clip_id)
        is_listed = self.row_with(clip_id) == clip_id and row is not None
        chosen = self._clips(self.view.selected_with(clip_id) if is_listed else (clip_id,))
        entries = [
            (tr("Open"), "speech", "Return", self.open_requested),
            (tr("Play or pause"), "play", "Space", self.play_requested),
            (tr("Rename…"), "pencil", "F2", self.rename_requested),
            (
                tr("Remove star") if row is not None and row.starred else tr("Star"),
                "star",
                "Ctrl+D",
                self.star_requested,
            ),
            (tr("Speak again with the selected voice"), "retry", "Ctrl+Shift+D", self.again_requested),
            (tr("Save as…"), "download", "Ctrl+S", self.save_requested),
        ]
        if row is not None and row.is_partial:
            entries.insert(1, (tr("Get missing parts"), "refresh", "Ctrl+R", self.continue_requested))
        if row is not None and (row.clips or row.is_draft):
            entries = [entry for entry in entries if entry[-1] in (self.open_requested, self.rename_requested)]
        is_one = len(chosen) == 1 or (row is not None and len(row.clips) == len(chosen))
        for text, icon_name, key, signal in entries if is_one else ():
            entry = menu.add(text, icon_name, shortcut=key)
            entry.triggered.connect(lambda _=False, signal=signal: signal.emit(clip_id))
        if not is_one:
            menu.add(tr("Compare {count} clips", count=len(chosen)), "grid").triggered.connect(
                lambda: self.compare_requested.emit(chosen)
            )
        words = tr_n("Move to trash", "Move {n} clips to trash", len(chosen))
        if row is not None and row.is_draft and is_one:
            words = tr("Delete draft")
        trash = menu.add_trash(words)
        trash.triggered.connect(lambda: self.trash_requested.emit(chosen))
        return menu


class ClipDelegate(GroupedDelegate):
    """Play sign, title and length above, voice and cost below."""

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, ClipRow):
            self._paint_clip(painter, rect, row, is_on)

    def _paint_clip(self, painter: QPainter, rect: QRect, row: ClipRow, is_on: bool) -> None:
        theme = self._theme
        side = theme.icon_px(14)
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        sign = QRectF(inside.left(), inside.top() + (theme.type_px(19) - side) / 2, side, side)
        if row.working:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            paint_spinner(painter, theme, sign, 0.2)
        else:
            name = _sign_of(row)
            icons.paint(painter, theme, name, sign, "warn" if name == "warning" else "accent")
        left = inside.left() + side + theme.px(10)
        small = theme.font("small", tabular=True)
        measures = QFontMetrics(small)
        upper = QRect(left, inside.top(), inside.right() - left + 1, theme.type_px(19))
        lower = QRect(left, upper.bottom() + 2, upper.width(), theme.type_px(17))
        self.text(painter, upper, row.length, small, "text2", at_end=True)
        room = upper.adjusted(0, 0, -(measures.horizontalAdvance(row.length) + theme.px(8)), 0)
        if row.starred:
            star = theme.icon_px(12)
            spot = QRectF(room.right() - star, room.center().y() - star / 2, star, star)
            icons.paint(painter, theme, "star-filled", spot, "warn")
            room.adjust(0, 0, -(star + theme.px(4)), 0)
        self.text(painter, room, row.title, theme.font("body", 600 if is_on else 500), "text")
        self.text(painter, lower, row.cost, small, "text3", at_end=True)
        room = lower.adjusted(0, 0, -(measures.horizontalAdvance(row.cost) + theme.px(8)), 0)
        self.text(painter, room, row.second_line, small, "text3")


def _sign_of(row: ClipRow) -> str:
    if row.is_draft or row.clips:
        return "pencil" if row.is_draft else "grid"
    return "pause" if row.plays else "warning" if row.is_partial else "play"

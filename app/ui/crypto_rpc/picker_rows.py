"""The rows of the Console's pickers: methods in two lines, networks in one with columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QStyle, QWidget

from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.lists.grouped_list import Group, GroupedModel, Heading, Index, RowLike
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, at_end, at_start, without_end, without_start
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import badge_size, paint_badge

COLUMN_SHARES = (38, 38, 24)  # hundredths of the room that title, slug and chain id have


@dataclass(frozen=True, slots=True)
class PickRow:
    """One row. `usable` False: shown with its reason, never chosen. `starred` None: it has no star.

    With `columns` (two of them) the row is one line: title, columns, right; without, `help` is a second line.
    """

    key: str
    title: str
    help: str = ""
    badge: str = ""
    tone: str = "neutral"
    right: str = ""
    mono: bool = False
    usable: bool = True
    starred: bool | None = None
    columns: tuple[str, ...] = ()
    current: bool = False

    @property
    def spoken(self) -> str:
        more = (("favourite",) if self.starred else ()) + ((tr("in use"),) if self.current else ())
        parts = (self.title, self.help, *self.columns, self.badge, self.right, *more)
        return ", ".join(part for part in parts if part)


Row = PickRow | Heading


class PickModel(GroupedModel):
    """Rows that cannot be used are shown and cannot be gone to."""

    page = 300  # the row in use is gone to

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index)
        if isinstance(row, PickRow) and not row.usable:
            return Qt.ItemFlag.ItemNeverHasChildren
        return super().flags(index)

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows, each under the heading before it."""
        groups: list[tuple[str, list[tuple[Hashable, RowLike]]]] = []
        for row in rows:
            if isinstance(row, Heading):
                groups.append((row.title, []))
            else:
                if not groups:
                    groups.append(("", []))
                groups[-1][1].append((row.key, row))
        shown: list[Group] = list(groups)
        self.set_rows(shown)

    def first(self) -> QModelIndex:
        """The first row that can be chosen."""
        usable = self.where(lambda row: isinstance(row, PickRow) and row.usable)
        return usable[0] if usable else QModelIndex()


class PickDelegate(GroupedDelegate):
    def key_of(self, row: RowLike) -> Hashable:
        return row.key if isinstance(row, PickRow) else None

    def height_key(self, row: RowLike) -> Hashable:
        return type(row), isinstance(row, PickRow) and bool(row.help)

    def row_height(self, row: RowLike) -> int:
        theme = self._theme
        if isinstance(row, PickRow) and row.help:
            return theme.type_px(19) + theme.type_px(17) + theme.px(9)
        return theme.height_px(32)

    def star_rect(self, rect: QRect) -> QRect:
        side = self._theme.icon_px(16) + self._theme.px(16)
        return QRect(rect.left(), rect.top(), side, rect.height())

    def paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_on: bool) -> None:
        """The row under the keyboard is marked; the ring is the search field's."""
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        super().paint_ground(painter, rect, state & ~QStyle.StateFlag.State_HasFocus, chosen)

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, PickRow):
            inside = inside_of(self._theme, rect)
            if row.starred is not None:
                side = self._theme.icon_px(16)
                name, role = ("star-filled", "warn") if row.starred else ("star", "text3")
                paint(painter, self._theme, name, at_start(painter, inside, side), role)
            (self._paint_columns if row.columns else self._paint_lines)(painter, inside, row)

    def _paint_columns(self, painter: QPainter, rect: QRect, row: PickRow) -> None:
        theme = self._theme
        title, slug, chain, right = columns_of(theme, painter, rect)
        font = theme.font("body", weight=600 if row.current else 500)
        if row.current:
            side = theme.icon_px(14)
            words = QFontMetrics(font).horizontalAdvance(row.title) + theme.px(6)
            sign = without_start(painter, title, min(words, title.width() - side))
            paint(painter, theme, "check", at_start(painter, sign, side), "accent")
            self.text(painter, without_end(painter, title, side + theme.px(6)), row.title, font, "text")
        else:
            self.text(painter, title, row.title, font, "text")
        self.text(painter, slug, row.columns[0], theme.font("code"), "text2")
        small = theme.font("body", tabular=True)
        self.text(painter, chain, row.columns[1], small, "text2", at_end=True)
        if row.badge:
            size = badge_size(theme, row.badge)
            box = at_end(painter.layoutDirection(), right, size.width())
            box = QRectF(box.left(), right.center().y() - size.height() / 2, size.width(), size.height())
            paint_badge(painter, theme, box, row.badge, row.tone)
        else:
            self.text(painter, right, row.right, small, "text", at_end=True)

    def _paint_lines(self, painter: QPainter, rect: QRect, row: PickRow) -> None:
        theme, room = self._theme, rect
        if row.right:
            self.text(painter, room, row.right, theme.font("body", tabular=True), "text", at_end=True)
            room = without_end(painter, room, theme.type_px(52) + theme.px(10))
        if row.badge:
            size = badge_size(theme, row.badge)
            box = at_end(painter.layoutDirection(), room, size.width())
            box = QRectF(box.left(), room.center().y() - size.height() / 2, size.width(), size.height())
            paint_badge(painter, theme, box, row.badge, row.tone)
            room = without_end(painter, room, round(size.width()) + theme.px(10))
        title = QRect(room)
        if row.help:
            title = QRect(room.left(), room.top() + theme.px(3), room.width(), theme.type_px(19))
            below = QRect(room.left(), title.bottom() + 1, room.width(), theme.type_px(17))
            self.text(painter, below, row.help, theme.font("small"), "text2")
        font = theme.font("code") if row.mono else theme.font("body", weight=500)
        shown = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideMiddle, title.width())
        self.text(painter, title, shown, font, "text" if row.usable else "text2")


def inside_of(theme: Theme, rect: QRect) -> QRect:
    return rect.adjusted(theme.px(14), 0, -theme.px(16), 0)


def columns_of(theme: Theme, painter: QPainter, inside: QRect) -> tuple[QRect, QRect, QRect, QRect]:
    """Where title, slug, chain id and credits stand in a row of this width, behind the star."""
    rest = without_start(painter, inside, theme.icon_px(16) + theme.px(10))
    taken = theme.type_px(66)
    right = at_end(painter.layoutDirection(), rest, taken).toRect()
    right = QRect(right.left(), rest.top(), taken, rest.height())
    rest = without_end(painter, rest, taken + theme.px(4))
    places, used = [], 0
    for share in COLUMN_SHARES:
        width = rest.width() * share // 100
        start = without_start(painter, rest, used)
        places.append(without_end(painter, start, start.width() - width + theme.px(4)))
        used += width
    return places[0], places[1], places[2], right


class ColumnHead(QWidget):
    """The names of the columns, over the list. Nothing in it is pressed."""

    def __init__(self, theme: Theme, names: Sequence[str], view: QAbstractItemView) -> None:
        super().__init__()
        self._theme = theme
        self._names = tuple(names)
        self._bar = view.verticalScrollBar()
        self._bar.rangeChanged.connect(lambda: self.update())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFixedHeight(self._theme.height_px(26, 17))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("text2"))
        start = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        end = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
        taken = self._bar.sizeHint().width() if self._bar.maximum() > 0 else 0
        boxes = columns_of(self._theme, painter, inside_of(self._theme, self.rect().adjusted(0, 0, -taken, 0)))
        for box, name, side in zip(boxes, self._names, (start, start, end, end), strict=True):
            painter.drawText(box, int(side), name)

"""Rows of the Console's left pane: collections with their saved requests, and the requests that were sent."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.crypto_rpc.state import CallEntry, CollectionEntry
from app.ui.kit import icons
from app.ui.kit.lists.grouped_list import Group, RowLike, under_headings
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate, at_end, at_start, without_end, without_start
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.widgets.badge import badge_size, paint_badge

COLLECTIONS = tr("Collections")
TONES = {"warn": "warn", "bad": "bad", "replay": "outline", "": "neutral", "ok": "ok"}


@dataclass(frozen=True, slots=True)
class CollectionKey:
    """The key of a collection's row, or with `place` (from 0) that of one request saved in it."""

    file: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class CollectionRow:
    """A collection; folded, its requests are not in the list."""

    id: CollectionKey
    title: str
    count: int
    is_unfolded: bool
    trouble: str = ""

    @property
    def spoken(self) -> str:
        held = tr_n("{n} request", "{n} requests", self.count)
        return tr(
            "Collection {title}, {trouble}, {value}",
            title=self.title,
            trouble=self.trouble or held,
            value="unfolded" if self.is_unfolded else "folded",
        )


@dataclass(frozen=True, slots=True)
class SavedRow:
    """One request saved in the collection above it."""

    id: CollectionKey
    title: str
    second: str

    @property
    def spoken(self) -> str:
        return f"{self.title}, {self.second}"


def groups_of(
    entries: Sequence[CallEntry], collections: Sequence[CollectionEntry], unfolded: Collection[str], searched: str
) -> list[Group]:
    """The list: collections that hold what is searched, then requests (searched already) by day."""
    words = SearchTerms(searched)
    rows: list[tuple[Hashable, RowLike]] = []
    for each in collections:
        held = [(place, saved) for place, saved in enumerate(each.requests) if words.are_in(*saved)]
        if not held and not words.are_in(each.name):
            continue
        is_unfolded = bool(held) if words else each.file in unfolded
        key = CollectionKey(each.file)
        rows.append((key, CollectionRow(key, each.name, len(each.requests), is_unfolded, each.trouble)))
        for place, (title, second) in held if is_unfolded else ():
            inner = CollectionKey(each.file, place)
            rows.append((inner, SavedRow(inner, title, second)))
    found: list[Group] = [(COLLECTIONS, rows)] if rows else []
    days = under_headings(entries, lambda entry: entry.id, lambda entry: entry.group)
    return [*found, *((day, list(rows)) for day, rows in days)]


class CallDelegate(GroupedDelegate):
    """A collection in one line, what is saved in it and what was sent in two."""

    def row_height(self, row: RowLike) -> int:
        if isinstance(row, CollectionRow):
            return self._theme.height_px(28)
        return self._theme.px(13) + self._theme.type_px(19) + self._theme.type_px(17)

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        inside = rect.adjusted(self._theme.px(16), 0, -self._theme.px(16), 0)
        if isinstance(row, CollectionRow):
            self._paint_collection(painter, inside, row)
        elif isinstance(row, SavedRow):
            start = without_start(painter, inside, self._theme.icon_px(16) + self._theme.px(8))
            first, second = self._lines(start)
            self.text(painter, first, row.title, self._theme.font("body"), "text")
            self.text(painter, second, row.second, self._theme.font("small"), "text2")
        elif isinstance(row, CallEntry):
            self._paint_call(painter, inside, row, is_on)

    def _lines(self, rect: QRect) -> tuple[QRect, QRect]:
        theme = self._theme
        first = QRect(rect.left(), rect.top() + theme.px(6), rect.width(), theme.type_px(19))
        return first, QRect(rect.left(), first.bottom() + 1, rect.width(), theme.type_px(17))

    def _paint_collection(self, painter: QPainter, rect: QRect, row: CollectionRow) -> None:
        theme = self._theme
        side = theme.icon_px(16)
        sign = at_start(painter, rect, side)
        icons.paint(painter, theme, "warning" if row.trouble else "folder", sign, "warn" if row.trouble else "text2")
        arrow = at_end(painter.layoutDirection(), rect, theme.icon_px(14))
        icons.paint(painter, theme, "chevron-down" if row.is_unfolded else "chevron-right", arrow, "text3")
        room = without_end(painter, without_start(painter, rect, side + theme.px(8)), theme.icon_px(14) + theme.px(6))
        self.pair(
            painter,
            room,
            (row.title, theme.font("body"), "text"),
            (row.trouble or format_number(row.count), theme.font("small", tabular=True), "text2"),
        )

    def _paint_call(self, painter: QPainter, rect: QRect, row: CallEntry, is_on: bool) -> None:
        theme = self._theme
        first, second = self._lines(rect)
        if row.badge:
            sign = "replay" if row.tone == "replay" else ""
            size = badge_size(theme, row.badge, sign)
            box = at_end(painter.layoutDirection(), first, size.width())
            box = QRectF(QPointF(box.left(), first.center().y() - size.height() / 2), size)
            paint_badge(painter, theme, box, row.badge, TONES[row.tone], sign)
            first = without_end(painter, first, round(size.width()) + theme.px(6))
        font = theme.font("code") if row.mono else theme.font("body", weight=600)
        shown = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideMiddle, first.width())
        self.text(painter, first, shown, font, "text")
        small = theme.font("small", tabular=True)
        self.pair(painter, second, (row.second, small, "text2"), (row.right, small, "text2"))

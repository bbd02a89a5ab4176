"""Rows of the model picker and how they are painted: star, name with badges, context, prices, privacy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.translation import tr
from app.ui.chat.session.inspector_state import ModelRow
from app.ui.chat.session.seal import ENCLAVE, PROMISES, SEALED
from app.ui.kit import icons
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.badge import badge_size, paint_badge
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.pill import PillButton

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()
# Widths in px at 100 % of what stands right of the name.
COLUMNS = ((tr("Context"), 58), (tr("In $ / 1M"), 62), (tr("Out $ / 1M"), 64), (tr("Privacy"), 72), (tr("Tier"), 28))
NARROW_COLUMNS = COLUMNS[:3]  # where a large text leaves no room for names; the rest is in the tooltip
ROOM_FOR_ALL = 610
STAR = 22
GAP = 8
BADGE_ICONS = {
    SEALED: "lock",
    ENCLAVE: "shield",
    tr("Vision"): "eye",
    tr("Reasoning"): "bulb",
    tr("Functions"): "wrench",
    tr("Web"): "globe",
    tr("Audio in"): "wave",
    tr("Video in"): "video",
    tr("Code"): "code",
}
SORTS: Mapping[str, Callable[[ModelRow], Any]] = {
    "name": lambda row: row.name.casefold(),
    "price": lambda row: (row.price is None, row.price or 0, row.name.casefold()),
    "context": lambda row: (-row.tokens, row.name.casefold()),
    "newest": lambda row: (-row.created, row.name.casefold()),
}
PRIVACY = {"private": tr("Private"), "anonymized": tr("Anonymous")}


@dataclass(frozen=True, slots=True)
class Group:
    """A heading between the rows."""

    text: str


class ModelListModel(QAbstractListModel):
    """Models that match the text and have every chosen ability; favorites stand under their own heading.

    `current_word` is what a screen reader hears of a row that is current.
    """

    def __init__(self, parent: QObject | None = None, *, current_word: str = tr("in use")) -> None:
        super().__init__(parent)
        self._current_word = current_word
        self._all: tuple[ModelRow, ...] = ()
        self._text = ""
        self._abilities: frozenset[str] = frozenset()
        self._sort = "name"
        self._rows: tuple[Group | ModelRow, ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), ModelRow):
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name if isinstance(row, ModelRow) else row.text
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, ModelRow):
            return plain_tip(told(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row, self._current_word) if isinstance(row, ModelRow) else row.text
        return None

    def row(self, index: Index) -> Group | ModelRow | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def matches(self) -> int:
        return sum(isinstance(row, ModelRow) for row in self._rows)

    def index_of(self, model_id: str) -> QModelIndex:
        for place, row in enumerate(self._rows):
            if isinstance(row, ModelRow) and row.id == model_id:
                return self.index(place, 0)
        return QModelIndex()

    def name_of(self, model_id: str) -> str:
        """The name of a model, filtered away or not; its id when it is not in the list."""
        return next((row.name for row in self._all if row.id == model_id), model_id)

    def first(self) -> QModelIndex:
        """The first model, past the heading."""
        return next(
            (self.index(place, 0) for place, row in enumerate(self._rows) if isinstance(row, ModelRow)), QModelIndex()
        )

    def set_models(self, rows: tuple[ModelRow, ...]) -> None:
        self._all = rows
        self._rebuild()

    def set_filter(self, text: str, abilities: Collection[str]) -> None:
        self._text = text.casefold().strip()
        self._abilities = frozenset(abilities)
        self._rebuild()

    def set_sort(self, sort: str) -> None:
        """Put each group into another order, one of `SORTS`."""
        self._sort = sort
        self._rebuild()

    def _rebuild(self) -> None:
        words = SearchTerms(self._text)
        found = [row for row in self._all if self._abilities <= row.abilities and words.are_in(row.name, row.id)]
        found.sort(key=SORTS[self._sort])
        favourites = [row for row in found if row.is_favorite]
        others = [row for row in found if not row.is_favorite]
        rows: list[Group | ModelRow] = []
        if favourites:
            rows += [Group(tr("Favorites")), *favourites]
        if others:
            rows += [Group(tr("All models")), *others] if favourites else others
        if tuple(rows) != self._rows:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()


def told(row: ModelRow) -> str:
    """A row's tooltip: its id, and what has no room beside it."""
    lines = [row.id]
    lines += [tr("Replaced by {replacement}", replacement=row.replacement)] if row.replacement else []
    lines += [PRIVACY.get(row.privacy, row.privacy)] if row.privacy else []
    lines += [tr("Tier {tier}: how often you can use it", tier=row.tier)] if row.tier else []
    lines += [sentence for badge, sentence in PROMISES.items() if badge in row.abilities]
    return "\n".join(lines)


def filter_pill(theme: Theme, name: str) -> PillButton:
    """A pill that keeps the models with one ability; those of enclaves say what they promise."""
    pill = PillButton(theme, name, BADGE_ICONS[name] if name in PROMISES else "")
    if name in PROMISES:
        pill.setToolTip(plain_tip(PROMISES[name]))
        pill.setAccessibleName(name)
        pill.setAccessibleDescription(PROMISES[name])
    return pill


def spoken(row: ModelRow, current_word: str = tr("in use")) -> str:
    """A row as a screen reader says it."""
    parts = [row.name, *row.badges]
    parts += [tr("{context} context", context=row.context)] if row.context else []
    parts += (
        [
            tr(
                "{price_in} dollars in, {price_out} out per million tokens",
                price_in=row.price_in,
                price_out=row.price_out,
            )
        ]
        if row.price_in
        else []
    )
    parts += [word for on, word in ((row.is_default, tr("default")), (row.is_favorite, tr("favorite"))) if on]
    parts += [part for part in (PRIVACY.get(row.privacy, row.privacy), row.retires) if part]
    parts += [tr("tier {tier}", tier=row.tier)] if row.tier else []
    parts += [tr("replaced by {replacement}", replacement=row.replacement)] if row.replacement else []
    parts += [current_word] if row.is_current else []
    return ", ".join(parts)


def columns_in(theme: Theme, rect: QRect) -> tuple[tuple[str, int], ...]:
    """The columns that a row of this width has room for."""
    return COLUMNS if rect.width() >= theme.type_px(ROOM_FOR_ALL) else NARROW_COLUMNS


def column_rects(theme: Theme, rect: QRect) -> list[QRect]:
    """Where context, prices, privacy and tier stand in a row; the header uses it too."""
    rects: list[QRect] = []
    right = rect.right() + 1
    for _, width in reversed(columns_in(theme, rect)):
        wide = theme.type_px(width)
        rects.append(QRect(right - wide, rect.top(), wide, rect.height()))
        right -= wide + theme.px(GAP)
    return rects[::-1]


class ModelDelegate(QStyledItemDelegate):
    """Paints a model in two lines: name and marks above, abilities below.

    Before it stands the star of favorites or, where several can be chosen (`many`), a box with its mark.
    """

    def __init__(self, theme: Theme, parent: QObject | None = None, *, many: bool = False) -> None:
        super().__init__(parent)
        self._theme = theme
        self._many = many

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        if isinstance(index.data(ROW_ROLE), Group):
            return QSize(option.rect.width(), theme.type_px(17) + theme.px(8))
        return QSize(option.rect.width(), theme.type_px(19) + theme.height_px(18, 16) + theme.px(7))

    def star_rect(self, rect: QRect) -> QRect:
        """The part of a row that toggles the favorite."""
        theme = self._theme
        return QRect(rect.left() + theme.px(4), rect.top(), theme.icon_px(STAR) + theme.px(8), rect.height())

    def inside(self, rect: QRect) -> QRect:
        """A row without its margins."""
        theme = self._theme
        return rect.adjusted(theme.px(10), 0, -theme.px(14), 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        row = index.data(ROW_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Group):
            painter.setFont(theme.font("small", QFont.Weight.DemiBold))
            painter.setPen(theme.color("text3"))
            left = self.inside(rect).left() + theme.icon_px(STAR) + theme.px(GAP)
            painter.drawText(rect.adjusted(left, theme.px(4), 0, 0), _START, row.text)
        elif isinstance(row, ModelRow):
            self._paint_back(painter, rect, option.state, row)
            self._paint_row(painter, self.inside(rect), row)
        painter.restore()

    def _paint_back(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, row: ModelRow) -> None:
        theme = self._theme
        card = QRectF(rect.adjusted(theme.px(4), 0, -theme.px(4), 0))
        painter.setPen(Qt.PenStyle.NoPen)
        if row.is_current:
            painter.setBrush(theme.color("accent_tint"))
            painter.drawRoundedRect(card, theme.px(6), theme.px(6))
            painter.setBrush(theme.color("accent"))
            inset = theme.px(9)
            painter.drawRoundedRect(QRectF(card.left(), card.top() + inset, 3, card.height() - 2 * inset), 1.5, 1.5)
        if state & QStyle.StateFlag.State_Selected:
            painter.setBrush(Qt.BrushStyle.NoBrush if row.is_current else theme.color("hover"))
            if row.is_current:
                painter.setPen(theme.color("accent"))
            painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), theme.px(6), theme.px(6))
        elif state & QStyle.StateFlag.State_MouseOver and not row.is_current:
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(card, theme.px(6), theme.px(6))

    def _paint_row(self, painter: QPainter, rect: QRect, row: ModelRow) -> None:
        theme = self._theme
        side = theme.icon_px(15)
        place = QRectF(rect.left(), rect.center().y() - side / 2, side, side)
        if self._many:
            self._paint_mark(painter, place, is_on=row.is_current)
        else:
            name = "star-filled" if row.is_favorite else "star"
            icons.paint(painter, theme, name, place, "warn" if row.is_favorite else "text3")
        columns = column_rects(theme, rect)
        left = rect.left() + theme.icon_px(STAR) + theme.px(GAP)
        room = columns[0].left() - theme.px(GAP) - left
        line = theme.type_px(19)
        top = rect.top() + theme.px(2) if row.badges else rect.center().y() - line // 2
        upper = QRect(left, top, room, line)
        self._paint_name(painter, upper, row)
        self._paint_badges(painter, QRect(left, upper.bottom() + 1 + theme.px(1), room, theme.height_px(18, 16)), row)
        painter.setFont(theme.font("body", tabular=True))
        values = (row.context, row.price_in, row.price_out, PRIVACY.get(row.privacy, row.privacy), row.tier)
        roles = ("text2", "text", "text", "text2", "text2")
        for text, cell, role in zip(values, columns, roles, strict=False):  # as many as there is room for
            painter.setPen(theme.color(role))
            shown = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, cell.width())
            painter.drawText(cell, _END, shown)

    def _paint_mark(self, painter: QPainter, place: QRectF, *, is_on: bool) -> None:
        theme = self._theme
        fill, line = ("accent", "accent") if is_on else ("surface", "control")
        solid_frame(painter, theme, place, theme.px(4), fill, line)
        if is_on:
            icons.paint(painter, theme, "check", place.adjusted(1, 1, -1, -1), "on_accent")

    def _paint_name(self, painter: QPainter, rect: QRect, row: ModelRow) -> None:
        theme = self._theme
        font = theme.font("body", QFont.Weight.DemiBold)
        metrics = QFontMetrics(font)
        marks: list[tuple[str, str, str]] = []
        if row.is_default:
            marks.append((tr("default"), "accent", ""))
        if row.retires:
            marks.append((row.retires, "warn", "clock"))
        needed = sum(badge_size(theme, text, sign).width() + theme.px(6) for text, _, sign in marks)
        check = theme.icon_px(15)
        checked = row.is_current and not self._many
        needed += check + theme.px(6) if checked else 0
        shown = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, max(40, rect.width() - needed))
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(rect, _START, shown)
        left = rect.left() + metrics.horizontalAdvance(shown) + theme.px(6)
        for text, tone, sign in marks:
            size = badge_size(theme, text, sign)
            spot = QRectF(left, rect.center().y() + 1 - size.height() / 2, size.width(), size.height())
            paint_badge(painter, theme, spot, text, tone, sign)
            left += size.width() + theme.px(6)
        if checked:
            icons.paint(
                painter, theme, "check", QRectF(left, rect.center().y() + 1 - check / 2, check, check), "accent"
            )

    def _paint_badges(self, painter: QPainter, rect: QRect, row: ModelRow) -> None:
        theme = self._theme
        left = rect.left()
        for place, text in enumerate(row.badges):
            size = badge_size(theme, text, BADGE_ICONS.get(text, ""))
            rest = len(row.badges) - place
            if left + size.width() > rect.right() and rest:
                painter.setFont(theme.font("caption"))
                painter.setPen(theme.color("text3"))
                painter.drawText(QRect(left, rect.top(), rect.right() - left, rect.height()), _START, f"+{rest}")
                return
            spot = QRectF(left, rect.top(), size.width(), size.height())
            paint_badge(painter, theme, spot, text, "neutral", BADGE_ICONS.get(text, ""))
            left += size.width() + theme.px(4)


_START = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)

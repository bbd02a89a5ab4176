"""What the rows of every list under headings draw alike: the heading, the ground of a row, its two lines."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen, QRegion
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.kit.lists.grouped_list import ROW_ROLE, GroupedModel, Heading, Index, RowLike

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LINE = int(Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
END = int(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
Ground = Literal["card", "row"]


class GroupedDelegate(QStyledItemDelegate):
    """A subclass says how high its rows are and paints them; headings and grounds are painted here.

    `ground`: "card" for a rounded one with space at both sides, "row" for one from edge to edge with a line below.
    `marked` is the key of the row that is open, `turn` the place of the rings, 0 to 1.
    """

    ground: Ground = "card"

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.marked: Hashable | None = None
        self.turn = 0.0
        self._sizes: dict[tuple[Hashable, float], QSize] = {}
        self.wanted = QRegion()  # of the paint event: Qt asks for every row in the rectangle around it

    # What a subclass says

    def row_height(self, row: RowLike) -> int:
        """The height of a row in px; as it stands here, that of two lines."""
        theme = self._theme
        return theme.px(15) + theme.type_px(19) + theme.type_px(17)

    def height_key(self, row: RowLike) -> Hashable:
        """What the height of a row depends on besides the text size; as it stands here, its type."""
        return type(row)

    def key_of(self, row: RowLike) -> Hashable:
        """The key under which a row stands in the list; as it stands here, its `id`."""
        return getattr(row, "id", None)

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        """Paint what stands on the ground; `is_on`: the row is the open one."""

    def spinner_rect(self, rect: QRect, row: RowLike, direction: Qt.LayoutDirection) -> QRect:
        """The part of a row's `rect` in which something turns; as it stands here, all of it."""
        return rect

    # What Qt asks

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Asked for every row there is, each time a page of a long list comes: sizes are kept. Rows fill the width."""
        model = index.model()
        row = model.row(index) if isinstance(model, GroupedModel) else None  # `data` goes through Qt and back
        if row is None:
            return QSize()
        kind = (self.height_key(row), self._theme.scale)
        size = self._sizes.get(kind)
        if size is None:
            size = self._sizes[kind] = QSize(0, self._height(row))
        return size

    def _height(self, row: RowLike) -> int:
        theme = self._theme
        if isinstance(row, Heading):
            return theme.px(12) + theme.type_px(16) + theme.px(4)
        return self.row_height(row)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        if row is None or not (self.wanted.isEmpty() or self.wanted.intersects(option.rect)):
            return
        rect = QRect(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            self.paint_heading(painter, rect, row.title)
        else:
            key = self.key_of(row)
            is_on = key is not None and key == self.marked
            self.paint_ground(painter, rect, option.state, is_on)
            self.paint_row(painter, rect, row, is_on)
        painter.restore()

    # What subclasses draw with

    def paint_heading(self, painter: QPainter, rect: QRect, text: str) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(12), -theme.px(16), -theme.px(4))
        self.text(painter, inside, text, theme.font("small", QFont.Weight.DemiBold), "text3")

    def paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_on: bool) -> None:
        theme, is_card = self._theme, self.ground == "card"
        body = QRectF(rect.adjusted(theme.px(6), 0, -theme.px(6), 0) if is_card else rect)
        radius = theme.px(6) if is_card else 0
        fill = "accent_tint" if is_on else ""
        if not fill and state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            fill = "hover"
        painter.setPen(Qt.PenStyle.NoPen)
        if fill:
            painter.setBrush(theme.color(fill))
            painter.drawRoundedRect(body, radius, radius)
        if is_on:
            painter.setBrush(theme.color("accent"))
            inset = min(theme.px(9 if is_card else 12), body.height() / 4)
            left = body.right() - 3 if is_right_to_left(painter) else body.left()
            painter.drawRoundedRect(QRectF(left, body.top() + inset, 3, body.height() - 2 * inset), 1.5, 1.5)
        if not is_card:
            painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            ring = body.adjusted(1, 1, -1, -1) if is_card else body.adjusted(2, 2, -2, -3)
            painter.drawRoundedRect(ring, theme.px(6), theme.px(6))

    def text(self, painter: QPainter, rect: QRect, text: str, font: QFont, role: str, *, at_end: bool = False) -> None:
        """One line, cut with an ellipsis to its room."""
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.drawText(rect, END if at_end else LINE, shown)

    def pair(
        self, painter: QPainter, rect: QRect, first: tuple[str, QFont, str], second: tuple[str, QFont, str]
    ) -> None:
        """Two texts on one line, each with its font and its color's name; the first gives way to the second."""
        taken = 0
        if second[0]:
            taken = QFontMetrics(second[1]).horizontalAdvance(second[0]) + self._theme.px(8)
            self.text(painter, rect, *second, at_end=True)
        self.text(painter, without_end(painter, rect, taken), *first)


def is_right_to_left(painter: QPainter) -> bool:
    return painter.layoutDirection() == Qt.LayoutDirection.RightToLeft


def without_start(painter: QPainter, rect: QRect, taken: int) -> QRect:
    """The rest of `rect` when `taken` px at the side on which reading begins are taken."""
    return rect.adjusted(0, 0, -taken, 0) if is_right_to_left(painter) else rect.adjusted(taken, 0, 0, 0)


def without_end(painter: QPainter, rect: QRect, taken: int) -> QRect:
    """The rest of `rect` when `taken` px at the side on which reading ends are taken."""
    return rect.adjusted(taken, 0, 0, 0) if is_right_to_left(painter) else rect.adjusted(0, 0, -taken, 0)


def at_start(painter: QPainter, rect: QRect, width: float) -> QRectF:
    """A square of `width` px in the middle of the line, at the side on which reading begins."""
    left = rect.right() + 1 - width if is_right_to_left(painter) else rect.left()
    return QRectF(left, rect.top() + (rect.height() - width) / 2, width, width)


def at_end(direction: Qt.LayoutDirection, rect: QRect, width: float) -> QRectF:
    """The same at the side on which reading ends."""
    left = rect.left() if direction == Qt.LayoutDirection.RightToLeft else rect.right() + 1 - width
    return QRectF(left, rect.top() + (rect.height() - width) / 2, width, width)

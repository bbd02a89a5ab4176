"""The rows of the command palette: a model over `Listing` and the delegate that paints them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.kit import icons
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.key_hint import hint_size, paint_hint
from app.ui.shell.palette_rows import Listing, Row

Runs = tuple[tuple[str, bool], ...]
Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole


class PaletteModel(QAbstractListModel):
    """Headings and candidates; only candidates can be chosen."""

    def __init__(self) -> None:
        super().__init__()
        self._listing = Listing((), 0, 0)

    def set_listing(self, listing: Listing) -> None:
        self.beginResetModel()
        self._listing = listing
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._listing.rows)

    def row(self, index: Index) -> Row:
        return self._listing.rows[index.row()]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.row(index)
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.heading or (row.candidate.title if row.candidate else "")
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(row)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or self.row(index).candidate is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


def spoken(row: Row) -> str:
    """What a screen reader says: the title, what it is and its key."""
    if row.candidate is None:
        return row.heading
    parts = (row.candidate.title, row.candidate.hint, " ".join(row.candidate.keys))
    return ", ".join(part for part in parts if part)


class PaletteDelegate(QStyledItemDelegate):
    """Icon, title with the typed letters marked, quiet second part, key caps at the end."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row = index.data(ROW_ROLE)
        if row.candidate is None:
            return QSize(100, self._theme.height_px(17 + (9 if index.row() == 0 else 11), 17))
        return QSize(100, self._theme.height_px(38))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        area: QRect = option.rect
        direction: Qt.LayoutDirection = option.direction
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(direction)
        sheet = _Sheet(painter, self._theme, QRect(area), direction)
        if row.candidate is None:
            sheet.heading(row.heading)
        else:
            sheet.candidate(row, selected=bool(state & QStyle.StateFlag.State_Selected))
        painter.restore()


class _Sheet:
    """One row being painted. Places are thought of left to right; `visual` mirrors them where the text does."""

    def __init__(self, painter: QPainter, theme: Theme, area: QRect, direction: Qt.LayoutDirection) -> None:
        self._painter = painter
        self._theme = theme
        self._area = area
        self._direction = direction

    def visual(self, rect: QRect) -> QRect:
        return QStyle.visualRect(self._direction, self._area, rect)

    def heading(self, text: str) -> None:
        theme = self._theme
        self._painter.setFont(theme.font("small", 600))
        self._painter.setPen(theme.color("text3"))
        line = self._area.adjusted(theme.px(18), 0, -theme.px(18), -theme.px(3))
        self._painter.drawText(self.visual(line), Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignBottom, text)

    def candidate(self, row: Row, *, selected: bool) -> None:
        theme = self._theme
        candidate = row.candidate
        assert candidate is not None
        body = self._area.adjusted(theme.px(6), 0, -theme.px(6), 0)
        if selected:
            self._painter.setPen(Qt.PenStyle.NoPen)
            self._painter.setBrush(theme.color("accent_tint"))
            self._painter.drawRoundedRect(body, 6, 6)
        inner = body.adjusted(theme.px(12), 0, -theme.px(12), 0)
        size = theme.icon_px(17)
        if candidate.icon:
            box = self.visual(QRect(inner.left(), inner.center().y() - size // 2, size, size))
            icons.paint(self._painter, theme, candidate.icon, QRectF(box), "accent" if selected else "text2")
        left = inner.left() + size + theme.px(12)
        right = self._keys(inner, candidate.keys)
        line = QRect(left, inner.top(), right - left, inner.height())
        marked = "accent" if selected else "text"
        left = self._runs(line, row.title_runs, theme.font("body", 600 if selected else 400), "text", marked)
        left += theme.px(12)
        if row.hint_runs and left + theme.px(28) < right:
            rest = QRect(left, inner.top(), right - left, inner.height())
            self._runs(rest, row.hint_runs, theme.font("body"), "text3", "text2")

    def _runs(self, line: QRect, runs: Runs, font: QFont, role: str, marked_role: str) -> int:
        """Paint runs of text after each other and return where they end; what does not fit is elided."""
        at = line.left()
        for text, marked in runs:
            run_font = QFont(font)
            if marked:
                run_font.setWeight(QFont.Weight.DemiBold)
            metrics = QFontMetrics(run_font)
            room = line.right() - at
            if room <= 0:
                break
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            width = metrics.horizontalAdvance(shown)
            self._painter.setFont(run_font)
            self._painter.setPen(self._theme.color(marked_role if marked else role))
            box = self.visual(QRect(at, line.top(), width + 1, line.height()))
            self._painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, shown)
            at += width
            if shown != text:
                break
        return at

    def _keys(self, inner: QRect, keys: tuple[str, ...]) -> int:
        """Paint key caps against the far edge and return where the free room ends."""
        theme = self._theme
        right = inner.right() + 1
        for key in reversed(keys):
            size = hint_size(theme, key)
            cap = QRect(right - size.width(), inner.center().y() - size.height() // 2 + 1, size.width(), size.height())
            paint_hint(self._painter, theme, key, QRectF(self.visual(cap)), "text2")
            right -= size.width() + theme.px(4)
        return right - theme.px(8)

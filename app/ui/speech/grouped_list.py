"""Rows under headings: the model behind the list of clips and the list of voices, and what their delegates share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate

from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
LINE = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
END = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class RowLike(Protocol):
    """What stands in such a list: it says itself aloud."""

    @property
    def spoken(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Heading:
    text: str

    @property
    def spoken(self) -> str:
        return self.text


class GroupedModel(QAbstractListModel):
    """Resets only when rows came, went or moved; else it says which rows changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[tuple[Hashable, RowLike], ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self.row(index), Heading):
            return Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.spoken
        return None

    def row(self, index: Index) -> RowLike | None:
        return self._rows[index.row()][1] if index.isValid() and index.row() < len(self._rows) else None

    def shown_keys(self) -> list[Hashable]:
        """The rows that are no headings, in order."""
        return [key for key, row in self._rows if not isinstance(row, Heading)]

    def index_of(self, key: Hashable) -> QModelIndex:
        for number, (found, row) in enumerate(self._rows):
            if found == key and not isinstance(row, Heading):
                return self.index(number, 0)
        return QModelIndex()

    def set_rows(self, groups: Sequence[tuple[str, Sequence[tuple[Hashable, RowLike]]]]) -> None:
        """Show these groups; one without a title has no heading."""
        rows: list[tuple[Hashable, RowLike]] = []
        for title, members in groups:
            if title:
                rows.append((("heading", title), Heading(title)))
            rows += members
        if [key for key, _ in rows] != [key for key, _ in self._rows]:
            self.beginResetModel()
            self._rows = tuple(rows)
            self.endResetModel()
            return
        before, self._rows = self._rows, tuple(rows)
        for number, (old, new) in enumerate(zip(before, rows, strict=True)):
            if old != new:
                self.dataChanged.emit(self.index(number, 0), self.index(number, 0))


class GroupedView(QListView):
    """Enter and a click choose, Space and the sign at the left play, the sign at the right is the row's own.

    `sign_width` px at the left and right end of a row are hit apart from the rest.
    """

    chosen = Signal(object)
    play_wanted = Signal(object)
    sign_wanted = Signal(object)
    key_pressed = Signal(QKeyEvent, object)

    def __init__(self, theme: Theme, name: str, *, has_end_sign: bool) -> None:
        super().__init__()
        self._theme = theme
        self._has_end_sign = has_end_sign
        self.rows = GroupedModel(self)
        self.setModel(self.rows)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        theme.changed.connect(self.doItemsLayout)

    def key_at(self, index: QModelIndex) -> Hashable | None:
        row = self.rows.row(index)
        if row is None or isinstance(row, Heading):
            return None
        return self.rows._rows[index.row()][0]

    @property
    def current_key(self) -> Hashable | None:
        return self.key_at(self.currentIndex())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        key = self.key_at(index)
        if key is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            return
        place = self.visualRect(index)
        side = self._theme.px(16) + self._theme.icon_px(16) + self._theme.px(4)
        x = event.position().x()
        if x < place.left() + side:
            self.play_wanted.emit(key)
        elif self._has_end_sign and x > place.right() - side:
            self.sign_wanted.emit(key)
        else:
            self.chosen.emit(key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = self.current_key
        if key is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(key)
        elif key is not None and event.key() == Qt.Key.Key_Space:
            self.play_wanted.emit(key)
        else:
            event.ignore()
            self.key_pressed.emit(event, key)
            if not event.isAccepted():
                super().keyPressEvent(event)


class GroupedDelegate(QStyledItemDelegate):
    """The parts that both lists draw alike."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.marked: Hashable | None = None  # the row that is in use

    def paint_heading(self, painter: QPainter, rect: QRect, text: str) -> None:
        theme = self._theme
        painter.setFont(theme.font("small", QFont.Weight.DemiBold))
        painter.setPen(theme.color("text3"))
        inside = rect.adjusted(theme.px(16), theme.px(8), -theme.px(16), -theme.px(2))
        painter.drawText(inside, LINE, text)

    def paint_back(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_on: bool) -> None:
        theme = self._theme
        card = QRectF(rect.adjusted(theme.px(6), 0, -theme.px(6), 0))
        fill = "accent_tint" if is_on else ""
        if not fill and state & (QStyle.StateFlag.State_MouseOver | QStyle.StateFlag.State_Selected):
            fill = "hover"
        painter.setPen(Qt.PenStyle.NoPen)
        if fill:
            painter.setBrush(theme.color(fill))
            painter.drawRoundedRect(card, theme.px(6), theme.px(6))
        if is_on:
            painter.setBrush(theme.color("accent"))
            inset = min(theme.px(9), card.height() / 4)
            painter.drawRoundedRect(QRectF(card.left(), card.top() + inset, 3, card.height() - 2 * inset), 1.5, 1.5)
        focused = QStyle.StateFlag.State_HasFocus | QStyle.StateFlag.State_KeyboardFocusChange
        if state & focused == focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(card.adjusted(1, 1, -1, -1), theme.px(6), theme.px(6))

    def text(self, painter: QPainter, rect: QRect, text: str, font: QFont, role: str, *, at_end: bool = False) -> None:
        """One line, cut with an ellipsis to its room."""
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.drawText(rect, END if at_end else LINE, shown)

"""The left pane while all chats are searched: a field, and what was found as one types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.chat.chat_search_paint import paint_marked
from app.ui.chat.state import MOST_HITS, Hit
from app.ui.shared.buttons import IconButton
from app.ui.shared.frames import solid_frame
from app.ui.shared.header import PaneHeader
from app.ui.shared.label import Label
from app.ui.shared.search_field import SearchField
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
HIT_ROLE = int(Qt.ItemDataRole.UserRole)
_ROOT = QModelIndex()
_START = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading).value)


class HitModel(QAbstractListModel):
    """What was found, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: tuple[Hit, ...] = ()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        hit = self._hits[index.row()] if index.isValid() and index.row() < len(self._hits) else None
        if hit is None:
            return None
        if role == HIT_ROLE:
            return hit
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return hit.text
        return hit.spoken if role == Qt.ItemDataRole.AccessibleTextRole else None

    def set_hits(self, hits: Sequence[Hit]) -> None:
        if tuple(hits) != self._hits:
            self.beginResetModel()
            self._hits = tuple(hits)
            self.endResetModel()


class HitDelegate(QStyledItemDelegate):
    """Title and time on a line, the excerpt with its marked words on two."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        return QSize(120, theme.line_px("body") + 3 * theme.line_px("small") + theme.px(14))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, hit = self._theme, index.data(HIT_ROLE)
        painter.save()
        area = QRect(option.rect)
        body = area.adjusted(theme.px(6), theme.px(1), -theme.px(6), -theme.px(1))
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            ring = "accent" if chosen and option.state & QStyle.StateFlag.State_HasFocus else ""
            solid_frame(painter, theme, body.toRectF(), 6, "accent_tint" if chosen else "hover", ring, 2.0)
        inside = body.adjusted(theme.px(10), theme.px(6), -theme.px(10), -theme.px(6))
        line, small = theme.line_px("body"), theme.line_px("small")
        font = theme.font("body", 500)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        title = QFontMetrics(font).elidedText(hit.chat_title, Qt.TextElideMode.ElideRight, inside.width())
        painter.drawText(QRect(inside.left(), inside.top(), inside.width(), line), _START, title)
        painter.setFont(theme.font("small", tabular=True))
        painter.setPen(theme.color("text3"))
        painter.drawText(QRect(inside.left(), inside.top() + line, inside.width(), small), _START, hit.note)
        words = QRect(inside.left(), inside.top() + line + small, inside.width(), 2 * small)
        paint_marked(painter, theme, words, hit.text, hit.marks)
        painter.restore()


class SearchPane(QWidget):
    """`search_wanted` tells what was typed, `hit_chosen` chat, message and what was searched for."""

    search_wanted = Signal(str)
    hit_chosen = Signal(str, str, str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.back = IconButton(theme, "chevron-left", self.tr("Back to the chats"))
        self.header = PaneHeader(theme, self.tr("Search all chats"))
        self.header.add_before_title(self.back)
        self.field = SearchField(theme, self.tr("Words in any chat"), shortcut="Ctrl+Shift+F")
        self.field.setProperty("sizing", "small")
        self.model = HitModel(self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(HitDelegate(theme, self.view))
        self.view.setAccessibleName(self.tr("Found messages"))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.note = Label(theme, "", "small", "text3", wrap=True)
        self._above = QHBoxLayout()
        self._above.addWidget(self.field)
        self._below = QHBoxLayout()
        self._below.addWidget(self.note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self.view, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        self.back.clicked.connect(self.left)
        self.field.textChanged.connect(self._typed)
        self.field.left.connect(self.left)
        self.field.installEventFilter(self)
        self.view.installEventFilter(self)
        self.view.clicked.connect(self._choose)
        theme.changed.connect(self._dress)
        self._dress()
        self.show_hits("", ())

    def _dress(self) -> None:
        theme = self._theme
        self._above.setContentsMargins(theme.px(12), theme.px(10), theme.px(12), theme.px(6))
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(9))
        self.view.doItemsLayout()

    def open(self, text: str = "") -> None:
        """Begin to search, with what stood in the filter."""
        if text:
            self.field.setText(text)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._typed(self.field.text())

    def show_hits(self, text: str, hits: Sequence[Hit]) -> None:
        """Show what was found for `text`; an answer to an older text is not shown."""
        if text != self.field.text():
            return
        self.model.set_hits(hits)
        if hits:
            self.view.setCurrentIndex(self.model.index(0, 0))
        number = len(hits)
        if not text.strip():
            words = self.tr("In titles and messages here. Every word must occur; quotes keep words together.")
        elif not number:
            words = self.tr("No chat holds “{text}”.").format(text=text.strip())
        elif number >= MOST_HITS:
            words = self.tr("The newest {number} places. More words find fewer.").format(number=number)
        else:
            words = self.tr("1 place") if number == 1 else self.tr("{number} places").format(number=number)
        self.note.set_text(words)

    def _typed(self, text: str) -> None:
        self.search_wanted.emit(text)

    def _choose(self, index: QModelIndex) -> None:
        hit = index.data(HIT_ROLE)
        if isinstance(hit, Hit):
            self.hit_chosen.emit(hit.chat_id, hit.message_id, self.field.text().strip())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.view.currentIndex())
            return True
        if watched is self.field and key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.view.keyPressEvent(event)
            return True
        if watched is self.view and key == Qt.Key.Key_Escape:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().eventFilter(watched, event)

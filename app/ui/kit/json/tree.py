"""The tree view of JSON: names and values in the colors of code, what a value means at the right of its row.

Copying gives whole values, however short they are shown. Nothing in a value is ever loaded or opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPalette,
)
from PySide6.QtWidgets import QFrame, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView, QWidget

from app.service.http.json_large import CONTAINERS
from app.service.http.sanitize import sanitize_text
from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.json.node import JsonNode, Path, TreeRoot
from app.ui.kit.json.tree_model import NODE, JsonTreeModel, copied, path_text, summary
from app.ui.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
Reading = Callable[[str, object], str]
MAX_UNFOLDED = 2_000  # rows that * opens at most
_TONE_ICON = {"ok": "check", "bad": "error"}


def no_reading(_name: str, _value: object) -> str:
    return ""


class JsonTree(QTreeView):
    """`reading` gives a few words about the value under a name, "" for none. `chosen` names where the selection is."""

    chosen = Signal(object)  # Path, () for nothing
    copied = Signal(str)  # what was copied, in a word: "value" or "path"
    offer_taken = Signal()  # the words that `offer` gave were pressed
    curl_requested = Signal()  # from the menu of a row

    def __init__(self, theme: Theme, name: str, reading: Reading = no_reading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._is_revealing = False
        self.has_curl = False  # True where somebody answers `curl_requested`
        self.offer: Reading = no_reading  # words that act, drawn at the right of a row; "" for none
        self.setMouseTracking(True)
        self.rows = JsonTreeModel(self)
        self.setModel(self.rows)
        self.setItemDelegate(_JsonDelegate(theme, reading, self))
        self.setAccessibleName(name)
        self.setHeaderHidden(True)
        self.header().setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setHorizontalScrollMode(QTreeView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setExpandsOnDoubleClick(True)
        self.expanded.connect(self._open_first_part)
        self.selectionModel().currentChanged.connect(lambda now, _before: self.chosen.emit(self.rows.node(now).path))
        self._retheme()
        theme.changed.connect(self._retheme)

    def set_roots(self, roots: Sequence[TreeRoot], *, unfold: bool = True) -> None:
        """Show other values; a single one, and those that went wrong, unfolded."""
        self.rows.set_roots(roots)
        for row, root in enumerate(roots):
            if unfold and (len(roots) == 1 or root.tone == "bad"):
                self._open(self.rows.index(row, 0))

    def reveal(self, path: Path) -> bool:
        """Select a place, its ancestors unfolded. False when there is no such place."""
        index = self.rows.index_of(path)
        if not index.isValid():
            return False
        self._is_revealing = True
        above = index.parent()
        while above.isValid():
            self._open(above)
            above = above.parent()
        self._is_revealing = False
        self.setCurrentIndex(index)
        self.scrollTo(index)
        return True

    def current_value(self) -> object:
        return self.rows.node(self.currentIndex()).picked

    def copy_value(self) -> None:
        if self.currentIndex().isValid():
            QGuiApplication.clipboard().setText(copied(self.current_value()))
            self.copied.emit("value")

    def copy_path(self) -> None:
        if self.currentIndex().isValid():
            QGuiApplication.clipboard().setText(path_text(self.rows.node(self.currentIndex()).path))
            self.copied.emit("path")

    def unfold_below(self, index: QModelIndex) -> None:
        """Unfold a row and everything below it, up to `MAX_UNFOLDED` rows."""
        waiting, left = [index], MAX_UNFOLDED
        while waiting and left > 0:
            each = waiting.pop(0)
            self._open(each)
            rows = self.rows.rowCount(each)
            left -= rows
            waiting += [self.rows.index(row, 0, each) for row in range(rows)]

    def event(self, event: QEvent) -> bool:
        """While the keyboard is in the tree, its own key for the path comes before the tab's of the same name."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _copies_path(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_value()
        elif _copies_path(event):
            self.copy_path()
        elif event.key() == Qt.Key.Key_Asterisk:
            self.unfold_below(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with a row, by the right button or the menu key."""
        index = self.currentIndex()
        if event.reason() == QContextMenuEvent.Reason.Mouse:
            index = self.indexAt(event.pos())
        if not index.isValid():
            return
        self.setCurrentIndex(index)
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.add(tr("Copy value"), "copy", shortcut="Ctrl+C").triggered.connect(self.copy_value)
        menu.add(tr("Copy path"), "hash", shortcut="Ctrl+Shift+C").triggered.connect(self.copy_path)
        if self.has_curl:
            menu.add(tr("Copy request as curl"), "code").triggered.connect(self.curl_requested)
        if self.rows.hasChildren(index):
            menu.add(tr("Expand all below"), "expand").triggered.connect(lambda: self.unfold_below(self.currentIndex()))
        if self.offer_of(self.rows.node(index)):
            menu.add(self.offer_of(self.rows.node(index)), "document").triggered.connect(self.offer_taken)
        where = event.globalPos() if event.reason() == QContextMenuEvent.Reason.Mouse else None
        menu.popup(where or self.viewport().mapToGlobal(self.visualRect(index).center()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self._is_on_offer(event.position().toPoint()):
            self.offer_taken.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        on = self._is_on_offer(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on else Qt.CursorShape.ArrowCursor)

    def _is_on_offer(self, place: QPoint) -> bool:
        index = self.indexAt(place)
        node: JsonNode | None = index.data(NODE)
        words = self.offer_of(node) if node is not None else ""
        return bool(words) and place.x() >= self.visualRect(index).right() - self.offer_width(words)

    def offer_of(self, node: JsonNode) -> str:
        """The words that act on a row, below the first level: there its price has the place."""
        return self.offer(str(node.key), node.value) if node.root is None else ""

    def offer_width(self, words: str) -> int:
        """How much of a row's right end its offer takes, in px."""
        font = self._theme.font("small", weight=500)
        return QFontMetrics(font).horizontalAdvance(words) + self._theme.px(16)

    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if _is_in_trouble(self.rows.node(index)):
            row = QRect(0, option.rect.top(), self.viewport().width(), option.rect.height())
            painter.fillRect(row, self._theme.color("bad_tint"))
            painter.fillRect(row.adjusted(0, 0, self._theme.px(3) - row.width(), 0), self._theme.color("bad"))
        super().drawRow(painter, option, index)

    def _open(self, index: QModelIndex) -> None:
        self.rows.fetchMore(index)
        self.expand(index)

    def _open_first_part(self, index: QModelIndex) -> None:
        """Of a long list that was unfolded, the first part at once: who unfolds wants to see entries."""
        first = self.rows.index(0, 0, index)
        if not self._is_revealing and first.isValid() and self.rows.node(first).span is not None:
            self._open(first)

    def _retheme(self) -> None:
        self.setIndentation(self._theme.px(18))
        self.setFont(self._theme.font("code"))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Base, self._theme.color("canvas"))
        self.setPalette(palette)
        self.doItemsLayout()


class _JsonDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, reading: Reading, tree: JsonTree) -> None:
        super().__init__(tree)
        self._theme = theme
        self._tree = tree
        self._reading = reading

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = max(self._theme.height_px(24, 19), QFontMetrics(self._theme.font("code")).height() + 2)
        return QSize(self._theme.px(120), height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        node = self._tree.rows.node(index)
        painter.save()
        theme, rect = self._theme, QRect(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("accent_tint"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        rect.adjust(theme.px(4), 0, -theme.px(12), 0)
        rect.setRight(self._paint_right(painter, rect, node) - theme.px(12))
        self._paint_left(painter, rect, node)
        painter.restore()

    def _paint_right(self, painter: QPainter, rect: QRect, node: JsonNode) -> int:
        """Paint what stands at the right; return where it begins."""
        theme, right, root = self._theme, rect.right(), node.root
        offered = self._tree.offer_of(node)
        if offered:
            return self._right_text(painter, rect, right, offered, "accent", weight=500)
        if root is not None and root.detail:
            right = self._right_text(painter, rect, right, root.detail, "text2")
        if root is not None and root.note:
            tone = root.tone or "text2"
            right = self._right_text(
                painter, rect, right - theme.px(8 if root.detail else 0), root.note, tone, weight=500
            )
            if root.tone in _TONE_ICON:
                side = theme.icon_px(14)
                right -= side + theme.px(4)
                box = QRectF(right, rect.center().y() - side // 2, side, side)
                paint(painter, theme, _TONE_ICON[root.tone], box, root.tone)
        words = self._reading(str(node.key if root is None or not isinstance(root.key, str) else root.key), node.value)
        if words:
            right = self._right_text(painter, rect, right - theme.px(8 if right < rect.right() else 0), words, "text3")
        return right

    def _right_text(
        self, painter: QPainter, rect: QRect, right: int, text: str, role: str, weight: int | None = None
    ) -> int:
        font = self._theme.font("small", weight=weight, tabular=True)
        metrics = QFontMetrics(font)
        shown = metrics.elidedText(sanitize_text(text), Qt.TextElideMode.ElideRight, rect.width() // 2)
        width = metrics.horizontalAdvance(shown)
        painter.setFont(font)
        painter.setPen(self._theme.color(role))
        box = QRect(right - width, rect.top(), width, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        return right - width

    def _paint_left(self, painter: QPainter, rect: QRect, node: JsonNode) -> None:
        theme, root = self._theme, node.root
        font = theme.font("code")
        painter.setFont(font)
        metrics = QFontMetrics(font)
        runs = [(f"{root.label} ", "text2")] if root is not None and root.label else []
        if node.span is not None:
            runs = [(str(node.key), "text2")]
        else:
            words = root.words if root is not None else ""
            value = (words, "text") if words else (summary(node.value), _value_role(node.value))
            runs += [(str(node.key), "syntax_name"), (": ", "text2"), value]
        left = rect.left()
        for text, role in runs:
            room = rect.right() - left
            if room <= 0:
                return
            one_line = sanitize_text(text.replace("\n", " ")[: max(1, room)])  # no letter is narrower than a pixel
            shown = metrics.elidedText(one_line, Qt.TextElideMode.ElideRight, room)
            painter.setPen(theme.color(role))
            box = QRect(left, rect.top(), room, rect.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
            left += metrics.horizontalAdvance(shown)


def _copies_path(event: QKeyEvent) -> bool:
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return event.key() == Qt.Key.Key_C and event.modifiers() == both


def _is_in_trouble(node: JsonNode | None) -> bool:
    """True for a first-level row that went wrong, and everything below it."""
    while node is not None:
        if node.root is not None:
            return node.root.tone == "bad"
        node = node.parent
    return False


def _value_role(value: object) -> str:
    if isinstance(value, str):
        return "syntax_string"
    if value is None or isinstance(value, bool):
        return "syntax_keyword"
    return "text2" if isinstance(value, CONTAINERS) else "syntax_number"

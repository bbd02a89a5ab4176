"""All actions with their keys as one list: a model and a delegate, because a widget for each would be hundreds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.translation import tr
from app.ui.kit.icons import paint
from app.ui.kit.key_text import key_text
from app.ui.kit.qt_workarounds.claimed_shortcuts import deletes
from app.ui.kit.shortcut_map import ShortcutMap, ShortcutRefused, ShortcutRow
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.focus_ring import is_by_keyboard
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.key_hint import hint_size, paint_hint

Index = QModelIndex | QPersistentModelIndex
Said = tuple[str, str]  # a sentence and its color role
ROW = Qt.ItemDataRole.UserRole
SAID = Qt.ItemDataRole.UserRole + 1
ENDS = Qt.ItemDataRole.UserRole + 2  # (first of its group, last of its group)
_WAITING = tr("Press the new shortcut. Backspace clears it, Esc cancels.")


class KeyListModel(QAbstractListModel):
    """A title (a plain text) before the actions of each group (`ShortcutRow`); a sentence may stand under an action."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[str | ShortcutRow] = []
        self._said: dict[str, Said] = {}

    def set_rows(self, rows: Sequence[ShortcutRow]) -> None:
        items: list[str | ShortcutRow] = []
        group = ""
        for row in rows:
            if row.group != group:
                group = row.group
                items.append(group)
            items.append(row)
        same = [self._key(item) for item in items] == [self._key(item) for item in self._items]
        if same:
            self._items = items
            if items:
                self.dataChanged.emit(self.index(0), self.index(len(items) - 1))
            return
        self.beginResetModel()
        self._items = items
        self.endResetModel()

    def say(self, action_id: str, said: Said | None) -> None:
        """Put a sentence under an action, or take it away."""
        if said is None:
            self._said.pop(action_id, None)
        else:
            self._said[action_id] = said
        index = self.index_of(action_id)
        if index.isValid():
            self.dataChanged.emit(index, index)
            self.layoutChanged.emit()

    def index_of(self, action_id: str) -> QModelIndex:
        """Where an action is; an invalid index when it is not listed."""
        keys = [self._key(item) for item in self._items]
        return self.index(keys.index(action_id)) if action_id in keys else QModelIndex()

    def shown(self) -> tuple[str, ...]:
        """The ids of the actions that are listed."""
        return tuple(item.action_id for item in self._items if isinstance(item, ShortcutRow))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role == ROW:
            return item
        if role == SAID:
            return self._said.get(item.action_id, ("", "")) if isinstance(item, ShortcutRow) else ("", "")
        if role == ENDS:
            return self._ends(index.row())
        if role == Qt.ItemDataRole.DisplayRole:
            return item.text if isinstance(item, ShortcutRow) else item
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(item)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid() or not isinstance(self._items[index.row()], ShortcutRow):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def _ends(self, at: int) -> tuple[bool, bool]:
        before = self._items[at - 1] if at else ""
        after = self._items[at + 1] if at + 1 < len(self._items) else ""
        return not isinstance(before, ShortcutRow), not isinstance(after, ShortcutRow)

    @staticmethod
    def _key(item: str | ShortcutRow) -> str:
        return item.action_id if isinstance(item, ShortcutRow) else f"# {item}"


def _spoken(item: str | ShortcutRow) -> str:
    if not isinstance(item, ShortcutRow):
        return item
    said = (item.text, key_text(item.shortcut) or tr("no shortcut"), tr("changed") if item.is_changed else "")
    return ", ".join(filter(None, said))


class KeyListView(QListView):
    """Enter, F2 or a press on a key waits for another one; Del goes back to the usual key. As high as its rows."""

    def __init__(self, theme: Theme, keys: ShortcutMap) -> None:
        super().__init__()
        self._theme = theme
        self._keys = keys
        self.rows = KeyListModel()
        self.setModel(self.rows)
        self._delegate = KeyDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(tr("Keyboard shortcuts"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.rows.modelReset.connect(self.fit)
        self.rows.layoutChanged.connect(self.fit)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Be as high as the rows: the page scrolls, not the list in it."""
        self.doItemsLayout()
        self.setFixedHeight(sum(self.sizeHintForRow(row) for row in range(self.rows.rowCount())) + 2)

    def start_capture(self, action_id: str) -> KeyCapture | None:
        """Wait for a key for this action; None when it is not listed."""
        index = self.rows.index_of(action_id)
        if not index.isValid():
            return None
        self.rows.say(action_id, (_WAITING, "text2"))
        index = self.rows.index_of(action_id)
        self.setCurrentIndex(index)
        self.edit(index)
        capture = self.indexWidget(index) or self.viewport().findChild(KeyCapture)
        return capture if isinstance(capture, KeyCapture) else None

    def take(self, action_id: str, shortcut: str) -> bool:
        """Give an action a key; False, with the reason under it, when that is refused."""
        try:
            self._keys.set_shortcut(action_id, shortcut)
        except ShortcutRefused as refused:
            self._refuse(action_id, str(refused))
            return False
        self.rows.say(action_id, None)
        return True

    def reset(self, action_id: str = "") -> None:
        """Back to the usual key of an action. (Without one, Qt's own reset.)"""
        if not action_id:
            super().reset()
            return
        try:
            self._keys.reset_shortcut(action_id)
        except ShortcutRefused as refused:
            self._refuse(action_id, str(refused))
        else:
            self.rows.say(action_id, None)

    def _refuse(self, action_id: str, sentence: str) -> None:
        self.rows.say(action_id, (sentence, "bad"))
        announce(self, sentence, urgent=True)

    def _row_at(self, index: Index) -> ShortcutRow | None:
        row = index.data(ROW) if index.isValid() else None
        return row if isinstance(row, ShortcutRow) else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._row_at(self.currentIndex())
        if row is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.start_capture(row.action_id)
        elif row is not None and deletes(event) and row.is_changed:
            self.reset(row.action_id)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = self._row_at(index)
        if row is None:
            return
        parts = self._delegate.parts(self.visualRect(index), row)
        if row.is_changed and parts.undo.contains(event.position().toPoint()):
            self.reset(row.action_id)
        elif parts.key.contains(event.position().toPoint()):
            self.start_capture(row.action_id)


class _Parts:
    """Where the key and the sign for the usual key are in a row."""

    def __init__(self, key: QRect, undo: QRect) -> None:
        self.key = key
        self.undo = undo


class KeyDelegate(QStyledItemDelegate):
    """A card's row: the action, its key as a key, a sign when it was changed, a sentence below when there is one."""

    def __init__(self, theme: Theme, view: KeyListView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._theme
        if not isinstance(index.data(ROW), ShortcutRow):
            return QSize(100, theme.height_px(16 + (20 if index.row() else 12), 16))
        said = theme.line_px("small") if index.data(SAID)[0] else 0
        return QSize(100, theme.height_px(40) + said)

    def parts(self, area: QRect, row: ShortcutRow) -> _Parts:
        """Lay a row out; mirrored where the text runs from right to left."""
        theme = self._theme
        size = hint_size(theme, key_text(row.shortcut) or tr("None"))
        line = QRect(area.left(), area.top(), area.width(), theme.height_px(40))
        side = max(theme.px(24), size.height())
        width = max(side, size.width() + theme.px(8))
        key = QRect(line.right() - theme.px(12) - width, line.center().y() - side // 2, width, side)
        undo = QRect(key.left() - theme.px(4) - side, key.top(), side, side)
        direction = self._view.layoutDirection()
        return _Parts(QStyle.visualRect(direction, area, key), QStyle.visualRect(direction, area, undo))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item = index.data(ROW)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(option.direction)
        if isinstance(item, ShortcutRow):
            self._paint_row(painter, option, index, item)
        else:
            painter.setFont(self._theme.font("small", 600))
            painter.setPen(self._theme.color("text3"))
            title = option.rect.adjusted(0, 0, 0, -self._theme.px(6))
            painter.drawText(title, int(Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeading), item)
        painter.restore()

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, row: ShortcutRow) -> None:
        theme = self._theme
        area = QRect(option.rect)
        self._paint_card(painter, area, *index.data(ENDS))
        state = option.state
        if state & QStyle.StateFlag.State_HasFocus and is_by_keyboard(self._view):
            solid_frame(painter, theme, QRectF(area).adjusted(3, 3, -3, -3), 5, "", "accent", 2.0)
        parts = self.parts(area, row)
        line = QRect(area.left(), area.top(), area.width(), theme.height_px(40))
        left = area.left() + theme.px(16)
        room = QRect(
            left, line.top(), area.width() - theme.px(16 + 40) - parts.key.width() - parts.undo.width(), line.height()
        )
        font = theme.font("body")
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        shown = QFontMetrics(font).elidedText(row.text, Qt.TextElideMode.ElideRight, room.width())
        words = QStyle.visualRect(option.direction, area, room)
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading), shown)
        self._paint_key(painter, parts, row, hovered=bool(state & QStyle.StateFlag.State_MouseOver))
        sentence, role = index.data(SAID)
        if sentence:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color(role))
            below = QRect(left, line.bottom() - theme.px(6), area.width() - 2 * theme.px(16), theme.line_px("small"))
            flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
            painter.drawText(QStyle.visualRect(option.direction, area, below), flags, sentence)

    def _paint_card(self, painter: QPainter, area: QRect, first: bool, last: bool) -> None:
        """A slice of the card: only the ends of a group have corners."""
        theme = self._theme
        radius = theme.px(8)
        card = QRectF(area)
        if not first:
            card.setTop(card.top() - 2 * radius)
        if not last:
            card.setBottom(card.bottom() + 2 * radius)
        painter.save()
        painter.setClipRect(area)
        solid_frame(painter, theme, card, radius, "surface", "line")
        if not last:
            painter.fillRect(QRect(area.left() + 1, area.bottom(), area.width() - 2, 1), theme.color("line"))
        painter.restore()

    def _paint_key(self, painter: QPainter, parts: _Parts, row: ShortcutRow, *, hovered: bool) -> None:
        theme = self._theme
        text = key_text(row.shortcut)
        if hovered:
            solid_frame(painter, theme, QRectF(parts.key), 6, "hover", "")
        if text:
            size = hint_size(theme, text)
            cap = QRectF(0, 0, size.width(), size.height())
            cap.moveCenter(QRectF(parts.key).center())
            paint_hint(painter, theme, text, cap, "text2")
        else:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text3"))
            painter.drawText(parts.key, int(Qt.AlignmentFlag.AlignCenter), tr("None"))
        if row.is_changed:
            side = theme.icon_px(15)
            image = QRectF(0, 0, side, side)
            image.moveCenter(QRectF(parts.undo).center())
            paint(painter, theme, "undo", image, "accent")

    # Editing: the editor is a field that takes a key instead of text

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        row: ShortcutRow = index.data(ROW)
        capture = KeyCapture(self._theme, tr("New shortcut for {text}", text=row.text), "")
        capture.setParent(parent)
        capture.captured.connect(lambda shortcut: self._captured(capture, row.action_id, shortcut))
        capture.left.connect(lambda: self._leave(capture, row.action_id))
        return capture

    def _captured(self, capture: KeyCapture, action_id: str, shortcut: str) -> None:
        if self._view.take(action_id, shortcut):
            self.closeEditor.emit(capture)

    def _leave(self, capture: KeyCapture, action_id: str) -> None:
        self._view.rows.say(action_id, None)
        self.closeEditor.emit(capture)

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        row = index.data(ROW) if index.isValid() else None
        if isinstance(row, ShortcutRow) and index.data(SAID)[0] == _WAITING:
            self._view.rows.say(row.action_id, None)
        super().destroyEditor(editor, index)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Nothing to write: a key was taken, or refused, when it was pressed."""

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        parts = self.parts(QRect(option.rect), index.data(ROW))
        width = editor.width()
        left = parts.key.right() + 1 - width if self._view.isLeftToRight() else parts.key.left()
        height = self._theme.height_px(28)
        editor.setGeometry(left, parts.key.center().y() - height // 2, width, height)

    def eventFilter(self, editor: Any, event: QEvent) -> bool:
        """Keys belong to the editor: Enter and Tab would end it before it had seen them."""
        if event.type() in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride):
            return False
        return super().eventFilter(editor, event)


_MODIFIERS = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_Meta,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_CapsLock,
    Qt.Key.Key_unknown,
)


class KeyCapture(QLineEdit):
    """While it has the focus every combination belongs to it, those of the window too.

    `captured` carries Qt's portable text; Backspace gives "", no key. Esc and Tab leave as they do everywhere.
    """

    captured = Signal(str)
    left = Signal()

    def __init__(self, theme: Theme, name: str, shortcut: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setProperty("sizing", "small")
        self.setText(key_text(shortcut))
        self.setPlaceholderText(tr("Press a shortcut"))
        self.setFixedWidth(theme.type_px(150))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # or the window would run the action whose key is being typed
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key in _MODIFIERS:
            event.accept()
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Backspace and not event.modifiers():
            self.captured.emit("")
        else:
            combination = QKeySequence(event.keyCombination())
            self.captured.emit(combination.toString(QKeySequence.SequenceFormat.PortableText))

"""A short list of places with icons, one of them shown: the sections of Settings, the pages of the handbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui.kit import icons
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.focus_ring import is_by_keyboard
from app.ui.kit.widgets.frames import solid_frame

_ICON_ROLE = Qt.ItemDataRole.UserRole + 1
_KEY_ROLE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Place:
    key: str
    title: str
    icon: str = ""


class NavList(QListView):
    """`chosen` tells the key of the place that the person went to, by mouse or with the arrow keys."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._items = QStandardItemModel(self)
        self._quiet = False
        self.setModel(self._items)
        self.setItemDelegate(_NavDelegate(theme, self))
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.selectionModel().currentChanged.connect(self._moved)
        theme.changed.connect(self._restyle)

    def set_places(self, places: Sequence[Place]) -> None:
        """List other places; the current one stays when it is among them."""
        before = self.current
        self._quiet = True
        self._items.clear()
        for place in places:
            item = QStandardItem(place.title)
            item.setData(place.key, _KEY_ROLE)
            item.setData(place.icon, _ICON_ROLE)
            item.setEditable(False)
            self._items.appendRow(item)
        self._quiet = False
        self.set_current(before)

    @property
    def current(self) -> str:
        """The key of the place that is marked, "" for none."""
        key = self.currentIndex().data(_KEY_ROLE)
        return key if isinstance(key, str) else ""

    def set_current(self, key: str) -> None:
        """Mark a place without telling; a key that is not listed marks none."""
        self._quiet = True
        for row in range(self._items.rowCount()):
            index = self._items.index(row, 0)
            if index.data(_KEY_ROLE) == key:
                self.setCurrentIndex(index)
                break
        else:
            self.selectionModel().clear()
        self._quiet = False

    def _moved(self, now: QModelIndex) -> None:
        if not self._quiet and now.isValid():
            self.chosen.emit(now.data(_KEY_ROLE))

    def _restyle(self) -> None:
        self.doItemsLayout()
        self.viewport().update()


class _NavDelegate(QStyledItemDelegate):
    """Icon and title; the current place on a tint with a bar, a ring inside it when the keyboard led there."""

    def __init__(self, theme: Theme, view: NavList) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.height_px(33))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        state = option.state
        on = bool(state & QStyle.StateFlag.State_Selected)
        painter.save()
        side = theme.px(6)
        area = QRect(option.rect)
        body = area.adjusted(side, 0, -side, 0)

        def visual(rect: QRect) -> QRect:
            return QStyle.visualRect(option.direction, area, rect)

        if on or state & QStyle.StateFlag.State_MouseOver:
            focused = on and state & QStyle.StateFlag.State_HasFocus
            ring = "accent" if focused and is_by_keyboard(self._view) else ""
            solid_frame(painter, theme, QRectF(body), 6, "accent_tint" if on else "hover", ring, 2.0 if ring else 1.0)
        if on:
            bar = visual(QRect(body.left(), body.top() + theme.px(9), 3, body.height() - 2 * theme.px(9)))
            solid_frame(painter, theme, QRectF(bar), 1.5, "accent", "")
        left = body.left() + theme.px(10)
        name = index.data(_ICON_ROLE)
        if name:
            size = theme.icon_px(17)
            box = visual(QRect(left, body.center().y() - size // 2, size, size))
            icons.paint(painter, theme, name, QRectF(box), "accent" if on else "text2")
            left += size + theme.px(10)
        font = theme.font("body", 600 if on else 400)
        room = QRect(left, body.top(), body.right() - left - theme.px(6), body.height())
        shown = QFontMetrics(font).elidedText(index.data(), Qt.TextElideMode.ElideRight, room.width())
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        painter.drawText(visual(room), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading), shown)
        painter.restore()

"""A field for several of a list, such as models: it looks like a choice of one and opens a list with ticks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField

Index = QModelIndex | QPersistentModelIndex
_KEY_ROLE = int(Qt.ItemDataRole.UserRole)
_CHECK_ROLE = int(Qt.ItemDataRole.CheckStateRole)
SHOWN_ROWS = 8
ROW_HIGH = 30


class MultiSelectField(ChoiceField):
    """`picked` tells the keys in force after the person changed them, in the order of the list.

    Nothing picked means "any", in the words of `any_words`; the list takes no more than `most`.
    """

    picked = Signal(tuple)

    def __init__(self, theme: Theme, name: str, *, any_words: str, many_words: str, most: int) -> None:
        """`many_words` has a place for `{number}`, as in "{number} models". Raises `ValueError` without a name."""
        super().__init__(theme, name, small=True)
        self._any_words, self._many_words, self._most = any_words, many_words, most
        self._options: tuple[tuple[str, str], ...] = ()
        self._keys: tuple[str, ...] = ()
        self._list: _TickList | None = None
        self.addItem(any_words)

    @property
    def keys(self) -> tuple[str, ...]:
        """What is picked."""
        return self._keys

    def set_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Offer these (key, words); what is picked and no longer offered stays picked."""
        if tuple(options) != self._options:
            self._options = tuple(options)
            self._say()
            if self._list is not None:
                self._list.set_options(self._options, self._keys)

    def set_keys(self, keys: Sequence[str]) -> None:
        """Pick without telling anybody."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._say()
            if self._list is not None:
                self._list.set_keys(self._keys)

    def _say(self) -> None:
        names = dict(self._options)
        words = self._any_words
        if len(self._keys) == 1:
            words = names.get(self._keys[0], self._keys[0])
        elif self._keys:
            words = self._many_words.format(number=len(self._keys))
        self.setItemText(0, words)
        self.setToolTip(plain_tip("\n".join(names.get(key, key) for key in self._keys)))

    def showPopup(self) -> None:
        """Open the list under the field. Space, F4 and a click come here by way of Qt."""
        if self._list is None:
            # not a child of the field: the style sheet would dress it as the field's own list
            self._list = _TickList(self._theme, self.window(), self.accessibleName(), self._most)
            self._list.set_options(self._options, self._keys)
            self._list.toggled.connect(self._toggle)
        self._list.open_at(self, width=max(240, round(self.width() / self._theme.scale)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.showPopup()
            return
        super().keyPressEvent(event)

    @property
    def list(self) -> _TickList | None:
        """The open list; None before its first use."""
        return self._list

    def _toggle(self, key: str) -> None:
        if key in self._keys:
            chosen = {each for each in self._keys if each != key}
        elif len(self._keys) < self._most:
            chosen = {*self._keys, key}
        else:
            return
        known = [each for each, _ in self._options]
        left = [each for each in self._keys if each in chosen and each not in known]
        self.set_keys((*(each for each in known if each in chosen), *left))
        self.picked.emit(self._keys)


class _TickList(Popover):
    """A field that filters, over rows with ticks. The arrows move and Space or Enter ticks, from the field as well."""

    toggled = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget, name: str, most: int) -> None:
        super().__init__(theme, parent, name=name, padding=6)
        self._most = most
        self.search = SearchField(theme, tr("Filter"), results=None)
        self.search.setProperty("sizing", "small")
        self.search.installEventFilter(self)
        self._items = QStandardItemModel(self)
        self._shown = QSortFilterProxyModel(self)
        self._shown.setSourceModel(self._items)
        self._shown.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.view = QListView()
        self.view.setModel(self._shown)
        self.view.setItemDelegate(_TickDelegate(theme, self.view))
        self.view.setAccessibleName(name)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the arrows in the field above move in it
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._full = Label(theme, "", "small", "text2", wrap=True)
        self._full.hide()
        self.body.addWidget(self.search)
        self.body.addWidget(self.view)
        self.body.addWidget(self._full)
        self.set_first_focus(self.search)
        FilterKeys(self.view, self.search, take=lambda _event: self._toggle(self.view.currentIndex()))
        self.search.textChanged.connect(self._filter)
        self.view.clicked.connect(lambda index: self._toggle(index))
        self.closed.connect(self.search.clear)

    def set_options(self, options: Sequence[tuple[str, str]], keys: Sequence[str]) -> None:
        self._items.clear()
        for key, words in options:
            item = QStandardItem(words)
            item.setData(key, _KEY_ROLE)
            item.setEditable(False)
            item.setCheckable(True)
            self._items.appendRow(item)
        self.set_keys(keys)
        self._go_to(0)
        rows = min(SHOWN_ROWS, max(1, len(options)))
        self.view.setFixedHeight(rows * self._theme.height_px(ROW_HIGH, 19) + 2)

    def set_keys(self, keys: Sequence[str]) -> None:
        for row in range(self._items.rowCount()):
            item = self._items.item(row)
            on = item.data(_KEY_ROLE) in keys
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        full = len(keys) >= self._most
        self._full.set_text(tr("Up to {most} at a time.", most=self._most) if full else "")
        self._full.setVisible(full)

    def _filter(self, text: str) -> None:
        self._shown.setFilterFixedString(text.strip())
        self._go_to(0)

    def _go_to(self, row: int) -> None:
        index = self._shown.index(max(0, min(self._shown.rowCount() - 1, row)), 0)
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)

    def _toggle(self, index: QModelIndex) -> None:
        key = index.data(_KEY_ROLE)
        if isinstance(key, str):
            self.toggled.emit(key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            ticks = event.key() == Qt.Key.Key_Space and not self.search.text()  # later it belongs to what is typed
            if ticks:
                self._toggle(self.view.currentIndex())
                return True
        return super().eventFilter(watched, event)


class _TickDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self._theme.height_px(ROW_HIGH, 19))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        painter.save()
        body = QRectF(option.rect).adjusted(1, 1, -1, -1)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            solid_frame(painter, theme, body, theme.px(6), "hover", "")
        on = Qt.CheckState(index.data(_CHECK_ROLE)) == Qt.CheckState.Checked
        side = theme.icon_px(15)
        box = QRectF(body.left() + theme.px(8), body.center().y() - side / 2, side, side)
        solid_frame(painter, theme, box, theme.px(4), "accent" if on else "surface", "accent" if on else "control")
        if on:
            icons.paint(painter, theme, "check", box.adjusted(1.5, 1.5, -1.5, -1.5), "on_accent")
        words = option.rect.adjusted(theme.px(8) + side + theme.px(9), 0, -theme.px(8), 0)
        painter.setFont(theme.font("small", 500 if on else 400))
        painter.setPen(theme.color("text"))
        shown = QFontMetrics(painter.font()).elidedText(str(index.data()), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading), shown)
        painter.restore()

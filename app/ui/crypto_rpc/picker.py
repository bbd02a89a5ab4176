"""The popovers that choose a network or a method: a field that filters at once, rows with their price, keys for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.shared.badge import badge_size, paint_badge
from app.ui.shared.flow import FlowLayout
from app.ui.shared.frames import solid_frame
from app.ui.shared.icons import paint
from app.ui.shared.kbd import KeyHint
from app.ui.shared.label import Label
from app.ui.shared.pill import PillButton
from app.ui.shared.popover import Popover
from app.ui.shared.search_field import SearchField
from app.ui.shared.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
WIDTH, LIST_HEIGHT = 540, 330  # px at 100 %
_ROOT = QModelIndex()
_LINE = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
_END = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


@dataclass(frozen=True, slots=True)
class PickRow:
    """One row. `usable` False: shown with its reason, never chosen. `starred` None: it has no star."""

    key: str
    title: str
    help: str = ""
    badge: str = ""
    tone: str = "neutral"
    right: str = ""
    mono: bool = False
    usable: bool = True
    starred: bool | None = None

    @property
    def spoken(self) -> str:
        star = ("favourite",) if self.starred else ()
        return ", ".join(part for part in (self.title, self.help, self.badge, self.right, *star) if part)


@dataclass(frozen=True, slots=True)
class PickGroup:
    title: str

    @property
    def spoken(self) -> str:
        return self.title


Row = PickRow | PickGroup
Find = Callable[[str, frozenset[str]], Sequence[Row]]


class PickModel(QAbstractListModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()

    def set_rows(self, rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.rows[index.row()] if index.isValid() and index.row() < len(self.rows) else None
        if isinstance(row, PickRow) and row.usable:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return Qt.ItemFlag.ItemNeverHasChildren

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        return row.spoken if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None

    def first(self) -> QModelIndex:
        """The first row that can be chosen."""
        place = next((at for at, row in enumerate(self.rows) if isinstance(row, PickRow) and row.usable), -1)
        return self.index(place, 0)


class PickDelegate(QStyledItemDelegate):
    """Two lines where there is help, one where not."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme, row = self._theme, index.data(ROW_ROLE)
        if isinstance(row, PickGroup):
            return QSize(option.rect.width(), theme.type_px(17) + theme.px(10))
        lines = theme.type_px(19) + (theme.type_px(17) if row is not None and row.help else 0)
        return QSize(option.rect.width(), lines + theme.px(9))

    def star_rect(self, rect: QRect) -> QRect:
        side = self._theme.icon_px(16) + self._theme.px(16)
        return QRect(rect.left(), rect.top(), side, rect.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row, rect = self._theme, index.data(ROW_ROLE), QRect(option.rect)
        painter.save()
        if isinstance(row, PickGroup):
            painter.setFont(theme.font("small", weight=600))
            painter.setPen(theme.color("text2"))
            painter.drawText(rect.adjusted(theme.px(12), theme.px(4), 0, 0), _LINE, row.title)
        elif isinstance(row, PickRow):
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            if selected or option.state & QStyle.StateFlag.State_MouseOver:
                frame = QRectF(rect).adjusted(theme.px(4), 0, -theme.px(4), 0)
                solid_frame(painter, theme, frame, theme.px(6), "accent_tint" if selected else "hover", "")
            if selected:
                bar = QRectF(rect.left() + theme.px(4), rect.top() + theme.px(4), 3, rect.height() - 2 * theme.px(4))
                painter.fillRect(bar, theme.color("accent"))
            self._paint_row(painter, rect, row)
        painter.restore()

    def _paint_row(self, painter: QPainter, rect: QRect, row: PickRow) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(14), theme.px(3), -theme.px(16), -theme.px(3))
        if row.starred is not None:
            side = theme.icon_px(16)
            box = QRectF(inside.left(), inside.center().y() - side / 2, side, side)
            paint(painter, theme, "star-filled" if row.starred else "star", box, "warn" if row.starred else "text3")
            inside.setLeft(inside.left() + side + theme.px(10))
        right = inside.right() + 1
        if row.right:
            width = theme.type_px(52)
            painter.setFont(theme.font("body", tabular=True))
            painter.setPen(theme.color("text"))
            painter.drawText(QRect(right - width, inside.top(), width, inside.height()), _END, row.right)
            right -= width + theme.px(10)
        if row.badge:
            size = badge_size(theme, row.badge)
            box = QRectF(right - size.width(), inside.center().y() - size.height() / 2, *size.toTuple())
            paint_badge(painter, theme, box, row.badge, row.tone)
            right -= size.width() + theme.px(10)
        room = right - inside.left()
        title_height = inside.height() if not row.help else theme.type_px(19)
        font = theme.font("code") if row.mono else theme.font("body", weight=500)
        painter.setFont(font)
        painter.setPen(theme.color("text" if row.usable else "text2"))
        shown = QFontMetrics(font).elidedText(row.title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(QRect(inside.left(), inside.top(), room, title_height), _LINE, shown)
        if row.help:
            small = theme.font("small")
            painter.setFont(small)
            painter.setPen(theme.color("text2"))
            shown = QFontMetrics(small).elidedText(row.help, Qt.TextElideMode.ElideRight, room)
            top = inside.top() + title_height
            painter.drawText(QRect(inside.left(), top, room, inside.bottom() + 1 - top), _LINE, shown)


class Picker(Popover):
    """`find` gives the rows for a text and the pills that are down. `chosen` tells a key, and whether Ctrl was held."""

    chosen = Signal(str, bool)
    star_wanted = Signal(str)
    help_wanted = Signal(str)  # F1 on a row

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        *,
        name: str,
        placeholder: str,
        find: Find,
        pills: Sequence[str] = (),
        hints: Sequence[tuple[str, str]] = (),
        count: Callable[[Sequence[Row]], str] = lambda _rows: "",
        note: Callable[[], str] = lambda: "",
        free: bool = False,
    ) -> None:
        super().__init__(theme, parent, name=name, padding=0)
        self._find = find
        self._count = count
        self._note = note
        self._free = free  # what is typed may be chosen although no row has it
        self._list_theme = theme
        self.search = SearchField(theme, placeholder)
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self.refresh)
        self.pills = {text: PillButton(theme, text) for text in pills}
        self.view = QListView()
        self.rows = PickModel(self.view)
        self.delegate = PickDelegate(theme, self.view)
        self.view.setModel(self.rows)
        self.view.setItemDelegate(self.delegate)
        self.view.setAccessibleName(name)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.view.viewport().installEventFilter(self)
        self.nothing = Label(theme, "", role="text2", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.count = Label(theme, "", "small", "text2", tabular=True)
        self.note = Label(theme, "", "small", "text2", elide=True)
        self._places = QStackedWidget()
        self._build(hints)
        self.set_first_focus(self.search)
        theme.changed.connect(self._dress_list)
        self._dress_list()

    def _build(self, hints: Sequence[tuple[str, str]]) -> None:
        theme = self._list_theme
        top = QVBoxLayout()
        top.setContentsMargins(theme.px(10), theme.px(10), theme.px(10), theme.px(8))
        top.setSpacing(theme.px(8))
        inside = QHBoxLayout(self.search)
        inside.setContentsMargins(0, 0, theme.px(36), 0)
        inside.addStretch(1)
        inside.addWidget(self.count)
        self.count.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        top.addWidget(self.search)
        if self.pills:
            holder = QWidget()
            flow = FlowLayout(theme, gap=6, line_gap=6, parent=holder)
            for pill in self.pills.values():
                pill.toggled.connect(self.refresh)
                flow.addWidget(pill)
            top.addWidget(holder)
        self._places.addWidget(self.view)
        self._places.addWidget(self.nothing)
        footer = QFrame()
        zone(footer, "pane")
        row = QHBoxLayout(footer)
        row.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(8))
        row.setSpacing(theme.px(6))
        for key, words in hints:
            row.addWidget(KeyHint(theme, key))
            row.addWidget(Label(theme, words, "small", "text2"))
            row.addSpacing(theme.px(6))
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.note, 1)
        self.body.setSpacing(0)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        self.body.addWidget(self._places)
        self.body.addWidget(rule())
        self.body.addWidget(footer)

    def open_under(self, button: QWidget) -> None:
        """Open below the button with everything shown."""
        self.search.clear()
        for pill in self.pills.values():
            pill.setChecked(False)
        self.refresh()
        room = round(button.window().width() / self._list_theme.scale) - 32
        self.open_at(button, width=min(WIDTH, room))

    def refresh(self) -> None:
        """Ask again for the rows; the first that can be chosen is under the keyboard."""
        self.rows.set_rows(
            self._find(self.search.text(), frozenset(t for t, pill in self.pills.items() if pill.isChecked()))
        )
        self.count.set_text(self._count(self.rows.rows))
        self.note.set_text(self._note())
        typed = self.search.text().strip()
        found = bool(self.rows.rows)
        self._places.setCurrentIndex(0 if found else 1)
        words = f"Nothing is called “{typed}”."
        self.nothing.set_text(f"{words} Enter adds it as it is." if self._free and typed else words)
        self.view.setCurrentIndex(self.rows.first())

    def _choose(self, index: QModelIndex, control: bool) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, PickRow) and row.usable:
            self.close()
            self.chosen.emit(row.key, control)
        elif self._free and not self.rows.first().isValid() and self.search.text().strip():
            typed = self.search.text().strip()
            self.close()
            self.chosen.emit(typed, control)

    def _dress_list(self) -> None:
        self._places.setFixedHeight(self._list_theme.type_px(LIST_HEIGHT))
        self.view.doItemsLayout()

    def _dress(self) -> None:
        """The footer's tone reaches the card's edge, so this popover has no padding of its own."""
        super()._dress()
        self.body.setSpacing(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            self._clicked(event)
        return super().eventFilter(watched, event)

    def _clicked(self, event: QMouseEvent) -> None:
        where = event.position().toPoint()
        index = self.view.indexAt(where)
        row = index.data(ROW_ROLE)
        starred = isinstance(row, PickRow) and row.starred is not None
        if starred and self.delegate.star_rect(self.view.visualRect(index)).contains(where):
            self.star_wanted.emit(row.key)
            self.refresh()
        else:
            self._choose(index, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))

    def _key(self, event: QKeyEvent) -> bool:
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.view.currentIndex(), control)
            return True
        if key == Qt.Key.Key_D and control:
            row = self.view.currentIndex().data(ROW_ROLE)
            if isinstance(row, PickRow) and row.starred is not None:
                self.star_wanted.emit(row.key)
                self.refresh()
            return True
        if key == Qt.Key.Key_F1:
            row = self.view.currentIndex().data(ROW_ROLE)
            if isinstance(row, PickRow):
                self.help_wanted.emit(row.key)
            return True
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.view.keyPressEvent(event)
            return True
        return False

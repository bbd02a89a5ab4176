"""A library of prompts or presets: search, use, save, rename, remove, and files to and from other computers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QPainter, QStandardItem, QStandardItemModel
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
from app.ui.kit.file_dialogs import ask_for_file, ask_to_save
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.qt_workarounds.claimed_shortcuts import DELETE_KEYS, claim_shortcut, deletes
from app.ui.kit.widgets.buttons import Button, QuietButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
ID_ROLE = int(Qt.ItemDataRole.UserRole)
DETAIL_ROLE = ID_ROLE + 1
WIDTH, LIST_HIGH, ROW_HIGH = 340, 230, 44


class PresetRowLike(Protocol):
    """One row: its name, and what it would set in a few words."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def detail(self) -> str: ...


class PresetPopover(Popover):
    """One kind of preset. Ids are those of the rows; `save_requested` carries nothing: the name is asked for."""

    used = Signal(str)
    save_requested = Signal()
    rename_requested = Signal(str, str)  # id, name as it is now
    remove_requested = Signal(str)
    undo_requested = Signal()
    file_chosen = Signal(object)  # Path to read
    target_chosen = Signal(object)  # Path to write

    def __init__(self, theme: Theme, parent: QWidget, *, title: str, empty: str) -> None:
        super().__init__(theme, parent, name=title)
        self._rows: tuple[PresetRowLike, ...] = ()
        self.search = SearchField(theme, tr("Search {title}", title=title.lower()), results=None)
        self.search.textChanged.connect(lambda _text: self._fill())
        self._items = QStandardItemModel(self)
        self.list = _List()  # no parent yet: Tab walks the parts in the order in which they get one
        self.list.setModel(self._items)
        self.list.setItemDelegate(TwoLines(theme, self.list))
        self.list.setAccessibleName(title)
        self.list.chosen.connect(self._use)
        self.list.rename_requested.connect(self._rename)
        self.list.remove_requested.connect(self.remove_requested)
        self.list.undo_requested.connect(self.undo_requested)
        self._empty = Label(theme, empty, "small", "text2", wrap=True)
        self.save = Button(theme, tr("Save current…"), "plus", size="small")
        self.save.clicked.connect(self._save)
        self.rename_button = QuietButton(theme, tr("Rename"), "pencil", size="small")
        self.rename_button.clicked.connect(lambda: self._rename(self.current()))
        self.remove_button = QuietButton(theme, tr("Remove"), "trash", size="small")
        self.remove_button.clicked.connect(lambda: self.remove_requested.emit(self.current()))
        self.take = QuietButton(theme, tr("Import…"), "upload", size="small")
        self.take.clicked.connect(self.ask_for_file)
        self.export = QuietButton(theme, tr("Export…"), "download", size="small")
        self.export.clicked.connect(self.ask_for_target)
        self.body.addWidget(self.search)
        self.body.addWidget(self.list)
        self.body.addWidget(self._empty)
        for buttons in ((self.save, self.rename_button, self.remove_button), (self.take, self.export)):
            row = QWidget()
            flow = FlowLayout(theme, gap=6, line_gap=6, parent=row)
            for button in buttons:
                flow.addWidget(button)
            self.body.addWidget(row)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._follow())
        self.set_first_focus(self.search)
        self.search.installEventFilter(self.list)
        FilterKeys(self.list, self.search, nothing=lambda: tr("No results."))

    def show_rows(self, rows: Sequence[PresetRowLike]) -> None:
        """List these; the one that was current stays so."""
        self._rows = tuple(rows)
        self._fill()

    def open_under(self, opener: QWidget) -> None:
        self.search.setText("")  # unlike `clear` it leaves nothing that Ctrl+Z would bring back
        self._fill()
        self.list.setFixedHeight(self._theme.height_px(LIST_HIGH))
        self.open_at(opener, width=WIDTH)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_requested.emit()
            return
        super().keyPressEvent(event)

    def current(self) -> str:
        """The id of the row that the keyboard is on, "" for none."""
        found = self.list.currentIndex().data(ID_ROLE)
        return found if isinstance(found, str) else ""

    def _fill(self) -> None:
        before, words = self.current(), SearchTerms(self.search.text())
        self._items.clear()
        for row in self._rows:
            if words.are_in(row.name, row.detail):
                item = QStandardItem(row.name)
                item.setData(row.id, ID_ROLE)
                item.setData(row.detail, DETAIL_ROLE)
                item.setData(f"{row.name}, {row.detail}", Qt.ItemDataRole.AccessibleTextRole)
                item.setToolTip(plain_tip(row.detail))
                item.setEditable(False)
                self._items.appendRow(item)
                if row.id == before:
                    self.list.setCurrentIndex(item.index())
        if not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self._items.index(0, 0))
        self.list.setVisible(bool(self._rows))
        self._empty.setVisible(not self._rows)
        self._follow()

    def _follow(self) -> None:
        for button in (self.rename_button, self.remove_button):
            button.setEnabled(bool(self.current()))
        self.export.setEnabled(bool(self._rows))

    def _use(self, preset_id: str) -> None:
        if preset_id:
            self.close()
            self.used.emit(preset_id)

    def _save(self) -> None:
        self.close()
        self.save_requested.emit()

    def _rename(self, preset_id: str) -> None:
        row = next((row for row in self._rows if row.id == preset_id), None)
        if row is not None:
            self.close()
            self.rename_requested.emit(row.id, row.name)

    def ask_for_file(self) -> None:
        """Ask which file to take in."""
        self.close()
        kinds = f"{tr('Prompts and presets')} (*.json)"
        ask_for_file(self.parentWidget(), tr("Import prompts and presets"), self.file_chosen.emit, kinds)

    def ask_for_target(self) -> None:
        """Ask where to write everything."""
        self.close()
        title = tr("Export prompts and presets")
        ask_to_save(self.parentWidget(), title, "rialto-presets.json", self.target_chosen.emit)


class _List(QListView):
    """Enter uses, F2 renames, Del removes, Ctrl+Z undoes that; F2 and Ctrl+Z in the search field, too."""

    chosen = Signal(str)
    rename_requested = Signal(str)
    remove_requested = Signal(str)
    undo_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.clicked.connect(lambda index: self.chosen.emit(index.data(ID_ROLE)))

    def eventFilter(self, watched: object, event: object) -> bool:
        if isinstance(event, QKeyEvent) and claim_shortcut(event, Qt.Key.Key_F2):
            return True
        if not isinstance(event, QKeyEvent) or event.type() != QKeyEvent.Type.KeyPress:
            return False
        if event.key() == Qt.Key.Key_F2:
            self.keyPressEvent(event)
            return True
        typed = isinstance(watched, QLineEdit) and watched.isUndoAvailable()
        if event.matches(QKeySequence.StandardKey.Undo) and not typed:
            self.undo_requested.emit()
            return True
        return False

    def event(self, event: QEvent) -> bool:
        """F2 and Del mean the row, not what is open in the window below."""
        return claim_shortcut(event, Qt.Key.Key_F2, *DELETE_KEYS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        current = self.currentIndex().data(ID_ROLE)
        name = current if isinstance(current, str) else ""
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.chosen.emit(name)
            case Qt.Key.Key_F2:
                self.rename_requested.emit(name)
            case _ if deletes(event):
                self.remove_requested.emit(name)
            case Qt.Key.Key_Escape:
                event.ignore()  # the popover closes
            case _ if event.matches(QKeySequence.StandardKey.Undo):
                self.undo_requested.emit()
            case _:
                super().keyPressEvent(event)


class TwoLines(QStyledItemDelegate):
    """Name over what it sets, both cut where they end."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.height_px(ROW_HIGH, 34))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme = self._theme
        state = option.state
        painter.save()
        area = QRectF(option.rect)
        on = bool(state & QStyle.StateFlag.State_Selected)
        if on or state & QStyle.StateFlag.State_MouseOver:
            solid_frame(painter, theme, area.adjusted(0, 1, 0, -1), 6, "accent_tint" if on else "hover", "")
        inner = area.adjusted(theme.px(8), theme.px(3), -theme.px(8), -theme.px(3))
        flags = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value)
        half = inner.height() / 2
        for text, style, weight, role, top in (
            (index.data(), "body", 500, "text", inner.top()),
            (index.data(DETAIL_ROLE), "small", None, "text2" if on else "text3", inner.top() + half),
        ):
            font = theme.font(style, weight)
            painter.setFont(font)
            painter.setPen(theme.color(role))
            shown = QFontMetricsF(font).elidedText(str(text or ""), Qt.TextElideMode.ElideRight, inner.width())
            painter.drawText(QRectF(inner.left(), top, inner.width(), half), flags, shown)
        painter.restore()

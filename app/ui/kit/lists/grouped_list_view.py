"""The widget of a list under headings: clicks, keys, the open row and the rings that turn."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from PySide6.QtCore import QElapsedTimer, QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView

from app.ui.kit.lists.grouped_list import Group, GroupedModel, RowLike, keep_in_sight, menu_place
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate
from app.ui.kit.qt_workarounds.claimed_shortcuts import DELETE_KEYS, claim_shortcut, deletes
from app.ui.kit.theme import Theme

FRAME_MS = 80  # of the rings; they are small, and other things move meanwhile
TURN_MS = 900
REVEALED = 300  # rows; the list goes by itself to what is open among these


class GroupedView(QListView):
    """Enter and a click choose; Delete, F2, Space and the menu key ask for what a pane does with them.

    `selects_many`: Shift, Ctrl and Ctrl+A select several rows, and Delete means all of them.

    `has_start_sign`, `has_end_sign`: the sign at that end of a row is hit apart from the rest of it.
    `click_chooses`: False where a click only selects, and a double click or Enter chooses.
    `turns` says in which rows something turns; that, and nothing else, is painted anew while the list is in sight.
    `ground` is the color that the list stands on: it paints it itself, so that nothing behind it is painted with it.
    Every signal carries keys of rows, never places: rows move while one looks at them.
    """

    chosen = Signal(object)
    play_requested = Signal(object)  # the sign at the start, or Space
    sign_requested = Signal(object)  # the sign at the end
    rename_requested = Signal(object)
    trash_requested = Signal(object)  # a tuple: all that are selected
    menu_requested = Signal(object, QPoint)  # where on the screen
    moved = Signal(object)  # the user went to this row; nothing is chosen yet
    key_pressed = Signal(QKeyEvent, object)  # before the view's own keys: accept the event to keep it

    def __init__(
        self,
        theme: Theme,
        name: str,
        *,
        has_start_sign: bool = True,
        has_end_sign: bool = False,
        click_chooses: bool = True,
        selects_many: bool = False,
        turns: Callable[[RowLike], bool] | None = None,
        ground: str = "",
    ) -> None:
        super().__init__()
        self._theme = theme
        self._ground = ground
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent, bool(ground))
        self._signs = (has_start_sign, has_end_sign)
        self._click_chooses = click_chooses
        self._turns = turns
        self._typed = ""
        self._is_told = False  # the current row is being set by the program, not by a hand
        self._goes_there = False  # once the row of what is open has come
        self.follows_open = False  # whether the list goes along when the open row moves to another place in it
        self._stays_there = False  # the program went to the current row, and no hand has moved anything since
        self._clock = QElapsedTimer()
        self._turner = QTimer(self)
        self._turner.setInterval(FRAME_MS)
        self._turner.timeout.connect(self._turn)
        self.rows = GroupedModel(self)
        self.setModel(self.rows)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        if selects_many:
            self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.selectionModel().currentChanged.connect(self._publish_place)
        self.verticalScrollBar().actionTriggered.connect(self._let_go)
        theme.changed.connect(self.doItemsLayout)

    # What a pane tells

    def show_groups(self, groups: Iterable[Group], typed: str = "") -> None:
        """Show these rows; where the same row is still there it stays the current one, and the place in sight stays.

        Where the keyboard is in the list, the row that it is at stays in sight instead. `typed` is what these rows were
        filtered by: when that has changed, the list begins anew at its top.
        """
        from_top, self._typed = typed != self._typed, typed
        before, scrolled = self.current_key, 0 if from_top else self.verticalScrollBar().value()
        is_at = self.hasFocus() and self.viewport().rect().intersects(self.visualRect(self.currentIndex()))
        self._is_told = True
        self.rows.set_rows(groups, from_top=from_top)
        index = self.rows.index_of(before) if before is not None else QModelIndex()
        if index.isValid() and self.currentIndex() != index:
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.verticalScrollBar().setValue(scrolled)
        if from_top:
            self.scrollToTop()
        delegate = self.itemDelegate()
        if self._goes_there and isinstance(delegate, GroupedDelegate):
            self._go_to(delegate.marked)
        elif is_at or (self.follows_open and self._stays_there):
            self.scrollTo(self.currentIndex())
        self._is_told = False
        self._agree()

    def show_row(self, key: Hashable, row: RowLike) -> None:
        """Show a newer state of one row, if it is in the list."""
        before = self.rows.row_of(key)
        self.rows.set_row(key, row)
        if before is not None and self._turns is not None and self._turns(before) != self._turns(row):
            self._agree()

    def show_open(self, key: Hashable | None) -> None:
        """Mark the row that the canvas shows, and go to it when it has just become that one."""
        delegate = self.itemDelegate()
        self._is_told = True
        if isinstance(delegate, GroupedDelegate) and (delegate.marked != key or self._goes_there):
            before, delegate.marked = delegate.marked, key
            self._goes_there = key is not None  # also when its row is on the way
            for each in (before, key):
                self.update(self.rows.index_of(each))
            if not self._go_to(key):
                self.selectionModel().clearSelection()
        self._is_told = False

    def show_current(self, key: Hashable | None) -> None:
        """Go to a row without `moved`: it was not a hand."""
        self._is_told = True
        keep_in_sight(self, self.rows.index_of(key))
        self._is_told = False

    def _go_to(self, key: Hashable | None) -> bool:
        """Go to the row of what is open, once it is there; it stays in sight while the list gets its real size."""
        self.rows.reveal(key, REVEALED)
        place = self.rows.index_of(key)
        if place.isValid():
            self._goes_there, self._stays_there = False, True
            keep_in_sight(self, place)
        return place.isValid()

    # What a pane asks

    @property
    def current_key(self) -> Hashable | None:
        return self.rows.key(self.currentIndex())

    def selected_keys(self) -> tuple[Hashable, ...]:
        """In the order of the list."""
        keys = (self.rows.key(index) for index in sorted(self.selectedIndexes(), key=lambda index: index.row()))
        return tuple(key for key in keys if key is not None)

    def selected_with(self, key: Hashable) -> tuple[Hashable, ...]:
        """What an action on a row acts on: all that are selected when the row is among them, else the row alone."""
        selected = self.selected_keys()
        return selected if key in selected else (key,)

    # Hands

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        key = self.rows.key(index)
        if key is None or event.button() != Qt.MouseButton.LeftButton:
            return
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier):
            return
        place = self.visualRect(index)
        side = self._theme.px(16) + self._theme.icon_px(16) + self._theme.px(4)
        x = event.position().x()
        from_left, from_right = x - place.left(), place.right() - x
        is_left = self.layoutDirection() == Qt.LayoutDirection.LeftToRight
        from_start, from_end = (from_left, from_right) if is_left else (from_right, from_left)
        has_start_sign, has_end_sign = self._signs
        if has_start_sign and from_start < side:
            self.play_requested.emit(key)
        elif has_end_sign and from_end < side:
            self.sign_requested.emit(key)
        elif self._click_chooses:
            self.chosen.emit(key)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        key = self.rows.key(self.indexAt(event.position().toPoint()))
        if not self._click_chooses and key is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(key)

    def event(self, event: QEvent) -> bool:
        """Keep the keys that mean the row one stands on from the window's actions, which mean what is open."""
        has_row = event.type() == QEvent.Type.ShortcutOverride and self.current_key is not None
        return (has_row and claim_shortcut(event, *DELETE_KEYS, Qt.Key.Key_F2)) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, pressed = self.current_key, event.key()
        event.ignore()
        self.key_pressed.emit(event, key)
        if event.isAccepted():
            return
        event.accept()
        if key is not None and pressed in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(key)
        elif key is not None and pressed == Qt.Key.Key_Space and self._signs[0]:
            self.play_requested.emit(key)
        elif key is not None and pressed == Qt.Key.Key_F2:
            self.rename_requested.emit(key)
        elif key is not None and deletes(event):
            self.trash_requested.emit(self.selected_keys() or (key,))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index, place = menu_place(self, event)
        key = self.rows.key(index)
        if key is not None:
            self.menu_requested.emit(key, place)

    def _publish_place(self, now: QModelIndex, _before: QModelIndex) -> None:
        key = self.rows.key(now)
        if not self._is_told:
            self._let_go()
        if not self._is_told and key is not None:
            self.moved.emit(key)

    # Painting, and rings

    def paintEvent(self, event: QPaintEvent) -> None:
        delegate = self.itemDelegate()
        if isinstance(delegate, GroupedDelegate):
            delegate.wanted = event.region()
        if self._ground:
            painter = QPainter(self.viewport())
            painter.fillRect(event.rect(), self._theme.color(self._ground))
            painter.end()
        super().paintEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._agree()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._turner.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._stays_there:
            self.scrollTo(self.currentIndex())

    def _let_go(self, _action: int = 0) -> None:
        self._stays_there = False

    def _turning(self) -> list[QModelIndex]:
        return self.rows.where(self._turns) if self._turns is not None else []

    def _agree(self) -> None:
        """Let the rings turn while there is one, somebody sees the list and motion is wanted."""
        wanted = self.isVisible() and not self._theme.reduced_motion and bool(self._turning())
        if wanted and not self._turner.isActive():
            self._clock.start()
            self._turner.start()
        elif not wanted:
            self._turner.stop()

    def _turn(self) -> None:
        delegate = self.itemDelegate()
        seen, direction = self.viewport().rect(), self.layoutDirection()
        for index in self._turning():
            place, row = self.visualRect(index), self.rows.row(index)
            if row is None or not place.intersects(seen):
                continue
            if isinstance(delegate, GroupedDelegate):
                delegate.turn = (self._clock.elapsed() % TURN_MS) / TURN_MS
                place = delegate.spinner_rect(place, row, direction)
            self.viewport().update(place)

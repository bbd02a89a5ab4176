"""The left pane while the trash is open: what is in it, restore, delete permanently, empty."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QStyle, QVBoxLayout, QWidget

from app.core.trash import TrashEntry
from app.formats import format_number
from app.translation import tr
from app.ui.kit.lists.grouped_list import GroupedModel, RowLike
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.dialogs import confirm
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.trash import Trash
    from app.ui.kit.theme import Theme

KEPT = tr("It stays in backups until newer ones replace them, but Rialto cannot restore it from there.")


class TrashPane(QWidget):
    """Shows a `Trash`. It asks before anything is deleted permanently; `left` when the list is wanted back."""

    left = Signal()

    def __init__(self, theme: Theme, trash: Trash, tasks: TaskScope, back: str, parent: QWidget | None = None) -> None:
        """`back` says where leaving leads: "Back to the clips"."""
        super().__init__(parent)
        self._theme = theme
        self._trash = trash
        self._tasks = tasks
        zone(self, "pane")
        self.back = IconButton(theme, "chevron-left", back)
        self.header = PaneHeader(theme, tr("Trash"))
        self.header.add_before_title(self.back)
        self.view = GroupedView(theme, tr("Trash"), has_start_sign=False, click_chooses=False, selects_many=True)
        self.view.setItemDelegate(TrashDelegate(theme, self.view))
        self.view.setUniformItemSizes(True)
        self.nothing = EmptyState(theme, tr("The trash is empty"), icon_name="trash")
        self.note = Label(theme, "", "small", "text3", wrap=True)
        self.restore = Button(theme, tr("Restore"), "undo", size="small")
        self.delete = Button(theme, tr("Delete permanently…"), size="small", kind="danger")
        self.empty = Button(theme, tr("Empty trash…"), size="small", kind="danger")
        self.stops = (self.back, self.view, self.restore, self.delete, self.empty)  # as Tab reaches them
        buttons = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=8, parent=buttons)
        for button in (self.restore, self.delete, self.empty):
            flow.addWidget(button)
        self._below = QVBoxLayout()
        self._below.addWidget(self.note)
        self._below.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        self._list = QVBoxLayout()
        self._list.addWidget(self.view)
        self._list.addWidget(self.nothing)
        layout.addLayout(self._list, 1)
        self._foot = QWidget()
        foot = QVBoxLayout(self._foot)
        foot.setContentsMargins(0, 0, 0, 0)
        foot.setSpacing(0)
        foot.addWidget(rule())
        foot.addLayout(self._below)
        layout.addWidget(self._foot)
        self.back.clicked.connect(self.left)
        self.view.chosen.connect(lambda key: trash.restore((str(key),)))
        self.view.trash_requested.connect(lambda _keys: self._delete())
        self.restore.clicked.connect(lambda: trash.restore(self._selected()))
        self.delete.clicked.connect(self._delete)
        self.empty.clicked.connect(self._empty)
        trash.changed.connect(self.show_entries)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_entries(trash.entries)

    def open(self) -> None:
        """Show what is in the trash now, with the keyboard in the list."""
        self._trash.show()
        self._stop().setFocus(Qt.FocusReason.OtherFocusReason)

    def _stop(self) -> QWidget:
        """What has the keyboard in this pane: the list, or the way back while there is none."""
        return self.view if self._trash.entries else self.back

    def _apply_theme(self) -> None:
        theme = self._theme
        self._list.setContentsMargins(0, theme.px(8), 0, 0)
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(12))
        self._below.setSpacing(theme.px(8))

    @property
    def model(self) -> GroupedModel:
        """What is in the trash, the one moved last first."""
        return self.view.rows

    def show_entries(self, entries: Sequence[TrashEntry]) -> None:
        """Show what is in the trash now."""
        place = max(0, self.view.currentIndex().row())
        self.view.show_groups([("", [(entry.id, entry) for entry in entries])])
        number = len(entries)
        if number and self.view.current_key is None:
            self.view.show_current(entries[min(place, number - 1)].id)
        had_focus = self.window().focusWidget() in (self.back, self.view, self.restore, self.delete, self.empty)
        is_empty = not number and self._trash.is_read
        self.nothing.setVisible(is_empty)
        self.view.setVisible(not is_empty)
        self._foot.setVisible(bool(number))
        for button in (self.restore, self.delete, self.empty):
            button.setEnabled(bool(number))
        if had_focus and (not number or self.back.hasFocus()):
            self._stop().setFocus(Qt.FocusReason.OtherFocusReason)  # the keyboard stays in the pane
        kept = (
            tr("for {kept_days} days", kept_days=self._trash.kept_days)
            if self._trash.kept_days
            else tr("until you delete them")
        )
        self.note.set_text(tr("Items stay here {kept}. Searches skip them.", kept=kept))

    def _selected(self) -> tuple[str, ...]:
        current = self.view.current_key
        return tuple(map(str, self.view.selected_keys() or (() if current is None else (current,))))

    def _delete(self) -> None:
        ids = self._selected()
        if ids:
            self._tasks.start_unless_running("delete permanently", self._ask, ids)

    def _empty(self) -> None:
        ids = tuple(entry.id for entry in self._trash.entries)
        if ids:
            self._tasks.start_unless_running("delete permanently", self._ask, ids)

    async def _ask(self, ids: tuple[str, ...]) -> None:
        entry = self.model.row_of(ids[0])
        what = (
            f"“{entry.title}”"
            if len(ids) == 1 and entry is not None
            else tr("{count} items", count=format_number(len(ids)))
        )
        words = tr("Delete {what} permanently?", what=what)
        if await confirm(self._theme, self.window(), words, KEPT, action=tr("Delete permanently"), danger=True):
            self._trash.delete(ids)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class TrashDelegate(GroupedDelegate):
    """Title above, what it is and when it was moved here below. The row that the keys mean is plain to see."""

    def paint_ground(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, is_on: bool) -> None:
        super().paint_ground(painter, rect, state, is_on or bool(state & QStyle.StateFlag.State_Selected))

    def key_of(self, row: RowLike) -> Hashable:
        return None

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        theme = self._theme
        inside = rect.adjusted(theme.px(16), theme.px(7), -theme.px(16), 0)
        upper = QRect(inside.left(), inside.top(), inside.width(), theme.type_px(19))
        self.text(painter, upper, row.title, theme.font("body", 500), "text")
        if isinstance(row, TrashEntry):
            lower = QRect(inside.left(), upper.bottom() + 2, inside.width(), theme.type_px(17))
            self.text(painter, lower, row.second_line, theme.font("small", tabular=True), "text3")

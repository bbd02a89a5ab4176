"""The list of chats as it is dragged: chats into projects and out of them, projects to another place."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from PySide6.QtCore import QMimeData, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPainter,
    QPaintEvent,
    QPen,
)

from app.ui.chat.state import ChatEntry, ProjectEntry, ProjectKey
from app.ui.kit.lists.grouped_list_view import GroupedView

MIME = "application/x-rialto-rows"  # says that a drag is ours; what is dragged is known here


class _Target(NamedTuple):
    """Where a drag would end: the row that is marked, and whether above it, below it, or on it."""

    key: ProjectKey | None  # None outside of all projects
    edge: int = 0  # -1 above the row, 1 below it


class ChatListView(GroupedView):
    """A `GroupedView` whose rows are dragged. Everything that a drag does, a key or a menu does as well."""

    chats_dropped = Signal(object, object)  # ids of chats, and the project they go to or None
    project_dropped = Signal(str, str, int)  # a project, and which it goes above (-1) or below (1)

    _dragged: tuple[Hashable, ...] = ()
    _target: _Target | None = None

    def startDrag(self, supported: Qt.DropAction) -> None:
        """Drag the chats that are selected, or one project."""
        current = self.current_key
        if isinstance(current, ProjectKey):
            keys: tuple[Hashable, ...] = (current,) if current.project_id else ()
        else:
            keys = tuple(key for key in self.selected_keys() if isinstance(key, str))
        if not keys:
            return
        data = QMimeData()
        data.setData(MIME, b"1")
        drag = QDrag(self)
        drag.setMimeData(data)
        self._dragged = keys
        drag.exec(Qt.DropAction.MoveAction)
        self._dragged = ()
        self._mark(None)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self._agree_to(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        if self._agree_to(event):
            self._mark(self._target_at(event.position().toPoint()))

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._mark(None)

    def dropEvent(self, event: QDropEvent) -> None:
        target = self._target_at(event.position().toPoint())
        if not self._agree_to(event) or target is None:
            return
        super().dragLeaveEvent(QDragLeaveEvent())  # ends the scrolling; a list's own drop would move rows by itself
        dragged = self._dragged
        self._mark(None)
        if isinstance(dragged[0], ProjectKey):
            if target.key is not None and target.key != dragged[0]:
                self.project_dropped.emit(dragged[0].project_id, target.key.project_id, target.edge)
        else:
            self.chats_dropped.emit(dragged, target.key.project_id if target.key is not None else None)

    def _agree_to(self, event: QDropEvent) -> bool:
        """Take drags of this list; others, such as files, are left to what is behind it."""
        is_ours = bool(self._dragged) and event.mimeData().hasFormat(MIME)
        event.setAccepted(is_ours)
        return is_ours

    def _target_at(self, at: QPoint) -> _Target | None:
        """Where a drop at this place goes; None where it means nothing."""
        index = self.indexAt(at)
        row, key = self.rows.row(index), self.rows.key(index)
        orders = bool(self._dragged) and isinstance(self._dragged[0], ProjectKey)
        if isinstance(row, ProjectEntry):
            if not row.id:
                return None
            upper = at.y() < self.visualRect(index).center().y()
            return _Target(row.key, (-1 if upper else 1) if orders else 0)
        inside = isinstance(row, ChatEntry) and row.in_project
        above = self.project_above(key) if inside else None
        if orders:
            return _Target(above, 1) if above is not None else None
        return _Target(above)

    def project_above(self, key: Hashable) -> ProjectKey | None:
        """The project under whose row a chat stands."""
        keys = self.rows.shown_keys()
        above = (each for each in reversed(keys[: keys.index(key)]) if isinstance(each, ProjectKey))
        return next(above, None)

    def _mark(self, target: _Target | None) -> None:
        if target != self._target:
            self._target = target
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._target is None:
            return
        theme, width = self._theme, self._theme.px(2)
        key, edge = self._target
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("accent"), width))
        rect = QRectF(self.visualRect(self.rows.index_of(key)) if key is not None else self.viewport().rect())
        rect = rect.adjusted(theme.px(6), width / 2, -theme.px(6), -width / 2)
        if edge:
            line = rect.top() if edge < 0 else rect.bottom()
            painter.drawLine(QPointF(rect.left(), line), QPointF(rect.right(), line))
        else:
            painter.drawRoundedRect(rect, theme.px(6), theme.px(6))
        painter.end()

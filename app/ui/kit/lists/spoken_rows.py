"""A list that is walked from a field above it: the field keeps the focus, so the row under the keys is announced."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView, QWidget

from app.translation import tr
from app.ui.kit.widgets.announce import announce, is_heard

PAUSE_MS = 300  # after the last letter typed
WALKING_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def choosable_rows(model: QAbstractItemModel) -> list[int]:
    """The numbers of the rows that can be chosen; titles of groups cannot."""
    every = (model.index(row, 0) for row in range(model.rowCount()))
    return [each.row() for each in every if model.flags(each) & Qt.ItemFlag.ItemIsEnabled]


def spoken_row(index: QModelIndex) -> str:
    """What is said of a row: its text, whether it is ticked, and its place among the rows that can be chosen."""
    words = str(index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data() or "")
    tick = index.data(Qt.ItemDataRole.CheckStateRole)
    if tick is not None:
        on = Qt.CheckState(tick) == Qt.CheckState.Checked
        words = f"{words}, {tr('selected') if on else tr('not selected')}"
    rows = choosable_rows(index.model())
    if index.row() not in rows:
        return words
    return tr("{row}, {place} of {count}", row=words, place=rows.index(index.row()) + 1, count=len(rows))


class SpokenRows(QObject):
    """Says the row that `view` moves to and its place ("Seer, $0.20, 2 of 7") while `field` has the focus.

    What is typed changes the rows: then the first is said once, after a pause, or `nothing` when none is left.
    With `moves`, Up, Down and the page keys in the field move in the view.
    """

    def __init__(
        self, view: QListView, field: QWidget, *, nothing: Callable[[], str] = lambda: "", moves: bool = True
    ) -> None:
        super().__init__(view)
        self._view = view
        self._field = field
        self._nothing = nothing
        self._moves = moves
        self._said = ""
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._say)
        model = view.model()
        for changed in (model.modelReset, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
            changed.connect(self.look_again)
        model.dataChanged.connect(self.look_again)
        view.selectionModel().currentChanged.connect(self._moved)
        field.installEventFilter(self)

    def look_again(self, *_: object) -> None:
        """Say what is there now: call it where rows may not have changed, such as none after none."""
        if is_heard():
            self._pause.start(PAUSE_MS)

    def _moved(self, *_: object) -> None:
        if is_heard() and not self._pause.isActive():
            self._pause.start(0)

    def _say(self) -> None:
        if not self._field.hasFocus():
            return
        index = self._view.currentIndex()
        words = spoken_row(index) if index.isValid() else self._nothing()
        if words != self._said:
            self._said = words
            announce(self._field, words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self._said = ""
        if (
            self._moves
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in WALKING_KEYS
        ):
            self._view.keyPressEvent(event)
            return True
        return False

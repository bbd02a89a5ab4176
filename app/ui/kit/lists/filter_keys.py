"""The keys of a filter field: they walk and take the rows below it while the field keeps the focus."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit

from app.translation import tr
from app.ui.kit.widgets.announce import announce, is_heard
from app.ui.kit.widgets.search_field import SearchField

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


class FilterKeys(QObject):
    """The keys of `field`, above the rows of `view`, which it filters: they behave alike in every list and picker.

    Up, Down and the page keys walk the rows while the field keeps the focus, and Enter takes the current row. With
    `selects_first` that is the first one as soon as something is typed; other owners choose it themselves. The row
    under the keys is announced with its place ("Seer, $0.20, 2 of 7"). What is typed changes the rows: then the first
    is announced once, after a pause, or `nothing` when none is left, unless the field announces their number itself
    (`is_quiet`). With `rows_come_later` Enter waits for the rows of what was typed. Esc belongs to `SearchField`.
    """

    def __init__(
        self,
        view: QAbstractItemView,
        field: QLineEdit,
        *,
        walk: Callable[[QKeyEvent], object] | None = None,
        take: Callable[[QKeyEvent], object] | None = None,
        take_nothing: Callable[[QKeyEvent], object] = lambda _event: None,
        nothing: Callable[[], str] = lambda: "",
        selects_first: bool = False,
        is_quiet: bool = False,
        rows_come_later: bool = False,
    ) -> None:
        """`walk` and `take`: what the keys and Enter do, by default as in the view. `take_nothing`: without a row."""
        super().__init__(view)
        self._view = view
        self.field = field
        self._walk = walk or view.keyPressEvent
        self._take = take or view.keyPressEvent
        self._take_nothing = take_nothing
        self._nothing = nothing
        self._selects_first = selects_first
        self._is_quiet = is_quiet
        self._is_fresh = False  # something was typed, and no key has walked the rows since
        self._walks = False
        self._rows_come_later = rows_come_later
        self._awaits_rows = False  # the rows still belong to what was typed before
        self._enter: QKeyEvent | None = None  # pressed before they were there
        self._said = ""
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._say)
        model = view.model()
        for changed in (model.modelReset, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
            changed.connect(self.look_again)
        model.dataChanged.connect(self.look_again)
        if rows_come_later:
            for changed in (model.modelReset, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
                changed.connect(self._rows_changed)
        view.selectionModel().currentChanged.connect(self._moved)
        field.textChanged.connect(self._typed)
        if selects_first and isinstance(field, SearchField):
            field.search_changed.connect(lambda _text: self._select_first(), Qt.ConnectionType.QueuedConnection)
        field.installEventFilter(self)

    def look_again(self, *_: object) -> None:
        """Say what is there now: call it where rows may not have changed, such as none after none."""
        if is_heard() and not self._is_quiet:
            self._pause.start(PAUSE_MS)

    def _moved(self, *_: object) -> None:
        if is_heard() and not self._pause.isActive() and (self._walks or not self._is_quiet):
            self._pause.start(0)

    def _say(self) -> None:
        if not self.field.hasFocus():
            return
        index = self._view.currentIndex()
        words = spoken_row(index) if index.isValid() else self._nothing()
        if words != self._said:
            self._said = words
            announce(self.field, words)

    def _typed(self, text: str) -> None:
        self._is_fresh = bool(text.strip())
        self._awaits_rows, self._enter = self._rows_come_later, None

    def _select_first(self) -> bool:
        """Make the first row the current one where something new was typed; False where it was so."""
        if not (self._is_fresh and self._selects_first and self.field.hasFocus()):
            return False
        model, before = self._view.model(), self._view.currentIndex()
        first = next((row for row in range(model.rowCount()) if self._can_be_chosen(row)), None)
        if first is None or before.row() == first:
            return False
        self._view.setCurrentIndex(model.index(first, 0))
        return True

    def _can_be_chosen(self, row: int) -> bool:
        model = self._view.model()
        return bool(model.flags(model.index(row, 0)) & Qt.ItemFlag.ItemIsEnabled)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self._said = ""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() in WALKING_KEYS:
            self._publish()
            self._walks = True
            if not self._select_first():
                self._walk(event)
            self._walks = self._is_fresh = False
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._publish()
            if self._awaits_rows:
                self._enter = QKeyEvent(event)
            else:
                self._enter_pressed(event)
            return True
        return False

    def _enter_pressed(self, event: QKeyEvent) -> None:
        self._select_first()
        if self._view.currentIndex().isValid():
            self._take(event)
        else:
            self._take_nothing(event)

    def _rows_changed(self) -> None:
        """Rows that are found later are here: take the first where Enter was pressed meanwhile."""
        if not self._view.model().rowCount():
            return
        self._awaits_rows = False
        self._select_first()
        event, self._enter = self._enter, None
        if event is not None and self.field.hasFocus():
            QTimer.singleShot(0, self, lambda: self._enter_pressed(event))

    def _publish(self) -> None:
        """Let what was typed a moment ago be searched for."""
        if isinstance(self.field, SearchField):
            self.field.publish()

"""The middle of the tab: every job with its poster and state; filter, search and what they take on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from app.ui.shared.buttons import IconButton, LinkButton
from app.ui.shared.empty_state import EmptyState
from app.ui.shared.header import PaneHeader
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.problems import ActionSpec
from app.ui.shared.search_field import SearchField
from app.ui.shared.segmented import SegmentedChoice
from app.ui.shared.surfaces import rule, zone
from app.ui.video.job_delegate import JobDelegate
from app.ui.video.job_model import JobModel
from app.ui.video.posters import Posters
from app.ui.video.state import FILTERS, JobRow, Jobs

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

FRAME_MS = 66
TURN_S = 0.9
EXAMPLE = "A small sailboat crossing at dusk, low swell, warm light on the sail, camera at water level."
_EMPTY = {
    "all": ("No videos yet", "Say what is to be seen at the left. The price is on the button before anything is sent."),
    "open": ("Nothing is running", "Jobs that wait, render or are being fetched stand here."),
    "ready": ("Nothing is ready yet", "Videos that are whole on this computer stand here."),
    "trash": ("The trash is empty", "What you delete stays here until you empty it."),
}


class _View(QListView):
    """The list itself; keys of the player go to the player."""

    trash_pressed = Signal()
    key_pressed = Signal(QKeyEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        delegate = self.itemDelegate()
        if isinstance(delegate, JobDelegate):
            delegate.wanted = event.region()
        super().paintEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.trash_pressed.emit()
            return
        event.ignore()
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Comma, Qt.Key.Key_Period, Qt.Key.Key_J, Qt.Key.Key_L):
            self.key_pressed.emit(event)
        if not event.isAccepted():
            super().keyPressEvent(event)


class JobsPane(QFrame):
    """`selected` and `menu_wanted` carry a job's id."""

    selected = Signal(str)
    filter_chosen = Signal(str)
    search_wanted = Signal(str)
    menu_wanted = Signal(str, QPoint)
    trash_wanted = Signal(str)
    folder_wanted = Signal()
    empty_wanted = Signal()
    example_wanted = Signal(str)
    list_wanted = Signal()
    inspector_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        zone(self, "canvas")
        self._theme = theme
        self._jobs = Jobs()
        self.posters = Posters(self)
        self.model = JobModel(self)
        self._make_header()
        self.search = SearchField(theme, self.tr("Search videos"), shortcut="Ctrl+F")
        self._search_row = QWidget()
        self._search_layout = QHBoxLayout(self._search_row)
        self._search_layout.addWidget(self.search)
        self._search_row.hide()
        self.view = _View()
        self.view.setModel(self.model)
        self.delegate = JobDelegate(theme, self.posters.get, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setAccessibleName(self.tr("Jobs"))
        self.view.setUniformItemSizes(True)
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.empty = EmptyState(
            theme,
            _EMPTY["all"][0],
            _EMPTY["all"][1],
            icon_name="video",
            actions=((ActionSpec("example", self.tr("Fill in an example")), "sparkle"),),
        )
        self.nothing = EmptyState(theme, "", "", icon_name="search")
        self.places = QStackedWidget()
        for widget in (self.view, self.empty, self.nothing):
            self.places.addWidget(widget)
        self._make_foot()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._search_row)
        layout.addWidget(self.places, 1)
        layout.addWidget(rule())
        layout.addWidget(self.foot)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._turn)
        self._connect()
        theme.changed.connect(self._dress)
        self._dress()

    def _make_header(self) -> None:
        theme = self._theme
        self.header = PaneHeader(theme, self.tr("Jobs"))
        self.list_button = IconButton(theme, "panel-left", self.tr("Show the form"), shortcut="Ctrl+B")
        self.running = Label(theme, "", role="text2", tabular=True)
        self.filter = SegmentedChoice(theme, self.tr("Which jobs"), FILTERS, current="all")
        self.search_button = IconButton(theme, "search", self.tr("Search"), shortcut="Ctrl+F", checkable=True)
        self.inspector_button = IconButton(theme, "panel-right", self.tr("Preview"), shortcut="Ctrl+I", checkable=True)
        self.header.add_before_title(self.list_button)
        self.header.add_after_title(self.running)
        for widget in (self.filter, self.search_button, self.inspector_button):
            self.header.add(widget)

    def _make_foot(self) -> None:
        theme = self._theme
        self.foot = QWidget()
        self._foot_row = QHBoxLayout(self.foot)
        self.usage = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.empty_trash = LinkButton(theme, self.tr("Empty the trash…"))
        self.folder = LinkButton(theme, self.tr("Open folder"))
        self._foot_row.addWidget(IconLabel(theme, "drive", px=16))
        self._foot_row.addWidget(self.usage, 1)
        self._foot_row.addWidget(self.empty_trash)
        self._foot_row.addWidget(self.folder)

    def _connect(self) -> None:
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.clicked.connect(self._chosen)
        self.view.customContextMenuRequested.connect(self._menu)
        self.view.trash_pressed.connect(lambda: self.trash_wanted.emit(self.current()))
        self.filter.changed.connect(self.filter_chosen)
        self.search.search_changed.connect(self.search_wanted)
        self.search.left.connect(lambda: self.show_search(False))
        self.search_button.toggled.connect(self.show_search)
        self.folder.clicked.connect(self.folder_wanted)
        self.empty_trash.clicked.connect(self.empty_wanted)
        self.empty.action.connect(lambda _id: self.example_wanted.emit(EXAMPLE))
        self.list_button.clicked.connect(self.list_wanted)
        self.inspector_button.clicked.connect(self.inspector_wanted)
        self.posters.made.connect(lambda _film: self.view.viewport().update())

    def _dress(self) -> None:
        px = self._theme.px
        self._foot_row.setContentsMargins(px(16), px(6), px(14), px(6))
        self._search_layout.setContentsMargins(px(16), px(8), px(14), px(8))
        self.view.doItemsLayout()

    # Showing

    def show_jobs(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.model.set_rows(jobs.rows)
        self.running.set_text(jobs.running)
        self.usage.set_text(jobs.footer)
        if self.filter.current != jobs.which:
            self.filter.set_current(jobs.which)
        self.empty_trash.setVisible(jobs.which == "trash" and bool(jobs.rows))
        self.folder.setVisible(jobs.which != "trash")
        self.show_selected(jobs.selected)
        searched = bool(jobs.search.strip())
        if jobs.rows:
            self.places.setCurrentWidget(self.view)
        elif searched or jobs.which != "all":
            title, text = _EMPTY[jobs.which]
            words = ("Nothing found", f"No video matches “{jobs.search.strip()}”.") if searched else (title, text)
            self.nothing.set_words(*words)
            self.places.setCurrentWidget(self.nothing)
        else:
            self.places.setCurrentWidget(self.empty)
        self._run()

    def show_row(self, row: JobRow) -> None:
        before = self.model.row(self.model.index_of(row.id))
        self.model.set_row(row)
        if before is not None and before.turns != row.turns:
            self._run()

    def visible_jobs(self) -> list[str]:
        """The ids of the rows that are to be seen."""
        seen = self.view.viewport().rect()
        first = self.view.indexAt(QPoint(2, 2)).row()
        ids = []
        for number in range(max(0, first), self.model.rowCount()):
            index = self.model.index(number, 0)
            if not seen.intersects(self.view.visualRect(index)):
                break
            row = self.model.row(index)
            ids.append(row.id if row is not None else "")
        return ids

    def show_selected(self, job_id: str) -> None:
        self.delegate.open_row = job_id
        index = self.model.index_of(job_id)
        if index != self.view.currentIndex():
            blocked = self.view.selectionModel().blockSignals(True)
            self.view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.selectionModel().blockSignals(blocked)
        self.view.viewport().update()

    def current(self) -> str:
        row = self.model.row(self.view.currentIndex())
        return row.id if row is not None else ""

    def neighbour(self, by: int) -> str:
        """The job before (-1) or after (1) the one that is looked at, "" without any."""
        ids = [row.id for row in self.model.rows()]
        if not ids:
            return ""
        at = ids.index(self._jobs.selected) + by if self._jobs.selected in ids else 0
        return ids[max(0, min(len(ids) - 1, at))]

    def show_search(self, on: bool) -> None:
        """Open the search field, or close it and forget what was searched for."""
        if self.search_button.isChecked() != on:
            self.search_button.setChecked(on)
            return
        self._search_row.setVisible(on)
        if on:
            self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self.search.text():
            self.search.clear()
            self.search_wanted.emit("")

    def _chosen(self, index: QModelIndex, _before: object = None) -> None:
        row = self.model.row(index)
        if row is not None and row.id != self._jobs.selected:
            self.selected.emit(row.id)

    def _menu(self, at: QPoint) -> None:
        row = self.model.row(self.view.indexAt(at))
        if row is not None:
            self.menu_wanted.emit(row.id, self.view.viewport().mapToGlobal(at))

    # What turns

    def _run(self) -> None:
        wanted = self.isVisible() and bool(self.model.busy_rows()) and not self._theme.reduced_motion
        if wanted and not self._timer.isActive():
            self._timer.start()
        elif not wanted:
            self._timer.stop()

    def _turn(self) -> None:
        self.delegate.turn = (self.delegate.turn + FRAME_MS / 1000 / TURN_S) % 1.0
        seen = self.view.viewport().rect()
        for index in self.model.busy_rows():
            place = self.view.visualRect(index)
            if seen.intersects(place):
                self.view.viewport().update(place)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._run()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

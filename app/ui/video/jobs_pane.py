"""The middle of the tab: every job with its poster and state; filter, search and what they take on the disk."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.core.problems import ActionSpec
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.grouped_list import RowLike
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.widgets.buttons import IconButton, LinkButton
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import rule, zone
from app.ui.video.job_delegate import JobDelegate
from app.ui.video.posters import Posters
from app.ui.video.state import FILTERS, JobRow, Jobs

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

EXAMPLE = tr("A small sailboat crossing at dusk, low swell, warm light on the sail, camera at water level.")
_EMPTY = {
    "all": (
        tr("No videos yet"),
        tr("Describe your video on the left. The button shows its price."),
    ),
    "open": (tr("Nothing is running"), tr("Waiting, rendering and downloading jobs appear here.")),
    "ready": (tr("Nothing is ready yet"), tr("Finished videos on this computer appear here.")),
    "trash": (tr("The trash is empty"), tr("Deleted videos stay here until you empty the trash.")),
}
PLAYER_KEYS = frozenset(
    {Qt.Key.Key_Space, Qt.Key.Key_Comma, Qt.Key.Key_Period, Qt.Key.Key_J, Qt.Key.Key_L}
)  # the arrows stay with the list


class JobsPane(QFrame):
    """`selected` and `menu_requested` carry a job's id; whoever takes the key of `player_key` accepts its event."""

    selected = Signal(str)
    filter_chosen = Signal(str)
    search_requested = Signal(str)
    menu_requested = Signal(str, QPoint)
    trash_requested = Signal(object)  # ids
    folder_requested = Signal()
    empty_requested = Signal()
    example_requested = Signal(str)
    list_requested = Signal()
    inspector_requested = Signal()
    player_key = Signal(QKeyEvent)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        zone(self, "canvas")
        self._theme = theme
        self._jobs = Jobs()
        self.posters = Posters(self)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header, the list with what stands in for it, and the foot, one at each step."""
        theme = self._theme
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._make_header()
        layout.addWidget(self.header)
        yield
        self.search = SearchField(
            theme, tr("Search videos"), results=lambda: results_words(len(self._jobs.rows)), shortcut="Ctrl+F"
        )
        self._search_row = QWidget()
        self._search_layout = QHBoxLayout(self._search_row)
        self._search_layout.addWidget(self.search)
        self._search_row.hide()
        self.places = QStackedWidget()
        layout.addWidget(self._search_row)
        layout.addWidget(self.places, 1)
        self.view = GroupedView(theme, tr("Jobs"), has_start_sign=False, selects_many=True, turns=_turns)
        self.delegate = JobDelegate(theme, self.posters.get, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.rows.page = 50  # its rows are higher than those of other lists
        self.view.setUniformItemSizes(True)
        self.places.addWidget(self.view)
        yield
        self.empty = EmptyState(
            theme,
            _EMPTY["all"][0],
            _EMPTY["all"][1],
            icon_name="video",
            actions=((ActionSpec("example", tr("Try an example")), "sparkle"),),
        )
        self.nothing = EmptyState(theme, "", "", icon_name="search")
        for widget in (self.empty, self.nothing):
            self.places.addWidget(widget)
        yield
        self._make_foot()
        layout.addWidget(rule())
        layout.addWidget(self.foot)
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _make_header(self) -> None:
        theme = self._theme
        self.header = PaneHeader(theme, tr("Jobs"))
        self.list_button = IconButton(theme, "panel-left", tr("Show the form"), shortcut="Ctrl+B")
        self.running = Label(theme, "", role="text2", tabular=True)
        self.filter = SegmentedChoice(theme, tr("Job filter"), FILTERS, current="all")
        self.search_button = IconButton(theme, "search", tr("Search"), shortcut="Ctrl+F", checkable=True)
        self.inspector_button = IconButton(theme, "panel-right", tr("Preview"), shortcut="Ctrl+I", checkable=True)
        self.header.add_before_title(self.list_button)
        self.header.add_after_title(self.running)
        for widget in (self.filter, self.search_button, self.inspector_button):
            self.header.add(widget)

    def _make_foot(self) -> None:
        theme = self._theme
        self.foot = QWidget()
        self._foot_row = QHBoxLayout(self.foot)
        self.usage = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.empty_trash = LinkButton(theme, tr("Empty trash…"))
        self.folder = LinkButton(theme, tr("Open folder"))
        self._foot_row.addWidget(IconLabel(theme, "drive", px=16))
        self._foot_row.addWidget(self.usage, 1)
        self._foot_row.addWidget(self.empty_trash)
        self._foot_row.addWidget(self.folder)

    def _connect(self) -> None:
        self.view.moved.connect(self._choose)
        self.view.chosen.connect(self._choose)
        self.view.menu_requested.connect(lambda key, at: self.menu_requested.emit(str(key), at))
        self.view.trash_requested.connect(self.trash_requested)
        self.view.key_pressed.connect(self._hand_on)
        self.filter.changed.connect(self.filter_chosen)
        self.search.search_changed.connect(self.search_requested)
        self.search.left.connect(lambda: self.show_search(False))
        FilterKeys(self.view, self.search, selects_first=True, is_quiet=True)
        self.search_button.toggled.connect(self.show_search)
        self.folder.clicked.connect(self.folder_requested)
        self.empty_trash.clicked.connect(self.empty_requested)
        self.empty.action.connect(lambda _id: self.example_requested.emit(EXAMPLE))
        self.list_button.clicked.connect(self.list_requested)
        self.inspector_button.clicked.connect(self.inspector_requested)
        self.posters.made.connect(self._show_poster)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._foot_row.setContentsMargins(px(16), px(6), px(14), px(6))
        self._search_layout.setContentsMargins(px(16), px(8), px(14), px(8))

    # Showing

    def show_jobs(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.view.show_groups([("", ((row.id, row) for row in jobs.rows))], f"{jobs.which} {jobs.search}")
        self.running.set_text(jobs.running)
        self.usage.set_text(jobs.footer)
        if self.filter.current != jobs.which:
            self.filter.set_current(jobs.which)
        self.empty_trash.setVisible(jobs.which == "trash" and bool(jobs.rows))
        self.view.show_open(jobs.selected)
        self.search.say_results()
        searched = bool(jobs.search.strip())
        if jobs.rows or not jobs.loaded:
            self.places.setCurrentWidget(self.view)
        elif searched or jobs.which != "all":
            title, text = _EMPTY[jobs.which]
            words = (
                (tr("Nothing found"), tr("No video matches “{search}”.", search=jobs.search.strip()))
                if searched
                else (title, text)
            )
            self.nothing.set_words(*words, "search" if searched else "trash" if jobs.which == "trash" else "video")
            self.places.setCurrentWidget(self.nothing)
        else:
            self.places.setCurrentWidget(self.empty)

    def show_row(self, row: JobRow) -> None:
        self.view.show_row(row.id, row)

    def _show_poster(self, film: str) -> None:
        """Paint the poster anew, and not the words beside it."""
        view, job_id = self.view, self.delegate.awaited.pop(film, None)
        place = view.visualRect(view.rows.index_of(job_id))
        view.viewport().update(self.delegate.poster_rect(place, view.layoutDirection()))

    def visible_jobs(self) -> list[str]:
        """The ids of the rows that are to be seen."""
        view, rows = self.view, self.view.rows
        seen = view.viewport().rect()
        ids = []
        for number in range(max(0, view.indexAt(QPoint(2, 2)).row()), rows.rowCount()):
            index = rows.index(number, 0)
            if not seen.intersects(view.visualRect(index)):
                break
            ids.append(str(rows.key(index)))
        return ids

    def neighbor(self, by: int) -> str:
        """The job before (-1) or after (1) the one that is looked at, "" without any."""
        self.view.rows.reveal(self._jobs.selected)
        if self.view.rows.row_of(self._jobs.selected) is None:
            by = 1  # the first
        return str(self.view.rows.neighbor(self._jobs.selected, by) or "")

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
            self.search_requested.emit("")

    def _choose(self, key: Hashable) -> None:
        if key != self._jobs.selected:
            self.selected.emit(str(key))

    def _hand_on(self, event: QKeyEvent, _key: Hashable | None) -> None:
        """Keys of the player go to the player."""
        if event.key() in PLAYER_KEYS:
            self.player_key.emit(event)


def _turns(row: RowLike) -> bool:
    return isinstance(row, JobRow) and row.turns

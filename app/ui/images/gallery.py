"""The middle pane: the images as a grid or list, with search, and its empty state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QImage,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from app.core import time_format
from app.core.problems import ActionSpec, Problem
from app.translation import tr, tr_n
from app.ui.images.image_processing import read_thumbnail, tile
from app.ui.images.state import SCOPES, GalleryState
from app.ui.images.tile_delegate import GAP, TileDelegate
from app.ui.images.tile_model import TileModel
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.grouped_list import menu_place
from app.ui.kit.qt_workarounds.claimed_shortcuts import deletes
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.kit.thumbnails import Thumbnails
from app.ui.kit.widgets.buttons import Button, IconButton, LinkButton
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import keep_scroll_bar, rule, zone

MIN_TILE = 240  # px at 100 %; as many columns as fit
SHAPE = 9 / 16  # height of an image in the gallery to its width
ROOM_FOR_COUNT = 600  # px at 100 %; in less, the number gives way to the search
ROOM_FOR_SEARCH = 520  # in less, the search is a sign, and its field has the place of the title
SPIN_MS = 100
FRAME_MS = 16
EXAMPLES = (
    ActionSpec("example-0", tr("Travel poster, one wide landscape, flat shapes, low sun")),
    ActionSpec("example-1", tr("Desk lamp, low key, warm light on a dark wall")),
)


class TileView(QListView):
    """A list in as many columns as fit. Enter opens, Delete throws away, arrows move in both directions."""

    opened = Signal(str)
    trash_requested = Signal()
    menu_requested = Signal(QPoint)
    resized = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        # Whoever paints every pixel is moved when it scrolls, instead of being painted anew.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setAutoFillBackground(False)
        self._waiting: set[int] = set()  # rows
        self._next_frame = QTimer(self)
        self._next_frame.setSingleShot(True)
        self._next_frame.setInterval(FRAME_MS)
        self._next_frame.timeout.connect(self._paint_waiting)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("canvas"))
        painter.end()
        delegate = self.itemDelegate()
        if isinstance(delegate, TileDelegate):
            delegate.begin_frame(event.region())
        super().paintEvent(event)
        if isinstance(delegate, TileDelegate) and delegate.waiting:
            self._waiting.update(delegate.waiting)
            self._next_frame.start()

    def _paint_waiting(self) -> None:
        """Paint what the last frames had no room for, where it is still in sight."""
        rows, self._waiting = self._waiting, set()
        for row in rows:
            self.viewport().update(self.visualRect(self.model().index(row, 0)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if event.key() in keys and not event.modifiers() and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            return
        if deletes(event):
            self.trash_requested.emit()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index, place = menu_place(self, event)
        if index.isValid():
            self.menu_requested.emit(place)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class Gallery(QWidget):
    """`selected` tells whose details are wanted, "" for nobody's."""

    selected = Signal(str)
    opened = Signal(str)
    trash_requested = Signal(object)  # (id, …)
    menu_requested = Signal(QPoint)
    searched = Signal(str)
    scope_chosen = Signal(str)
    empty_trash_requested = Signal()
    list_requested = Signal()
    inspector_requested = Signal()
    example_requested = Signal(str)
    problem_action = Signal(str)
    folder_requested = Signal()
    dropped = Signal(object)  # (Path, …)
    more_requested = Signal()  # older images than those of the state

    def __init__(
        self,
        theme: Theme,
        path_of: Callable[[str], Path | None],
        waiting_words: Callable[[str], str],
        cache: Path,
        *,
        whole: bool = True,
    ) -> None:
        """`cache` is where small images are kept; it may be deleted at any time.

        `whole`: without it, `build` is still to be run.
        """
        super().__init__()
        self._theme = theme
        self._path_of = path_of
        self._waiting_words = waiting_words
        self._cache = cache
        self._gallery_state = GalleryState()
        self._wanted = ""
        self._searches = self._is_whole = False
        zone(self, "canvas")
        FileDrop(theme, self).dropped.connect(self.dropped)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header, the foot, the tiles and what stands in for them, one at each step."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._make_header()
        column.addWidget(self.header)
        yield
        self.problem = ErrorCard(self._theme)
        self.problem.hide()
        self._problem_box = QVBoxLayout()
        self._problem_box.addWidget(self.problem)
        self.places = QStackedWidget()
        column.addWidget(self.places, 1)
        column.addLayout(self._problem_box)  # below: the images stay where they are
        column.addWidget(rule())
        column.addWidget(self._make_foot())
        yield
        self._make_tiles()
        yield
        self._make_stand_ins()
        self._spin = QTimer(self)
        self._spin.setInterval(SPIN_MS)
        self._spin.timeout.connect(self._turn)
        yield
        self._connect()
        self._theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._is_whole = True

    def _make_header(self) -> None:
        theme = self._theme
        self.header = PaneHeader(theme, tr("Images"))
        self.list_button = IconButton(theme, "panel-left", tr("Show the form"), shortcut="Ctrl+B")
        self.inspector_button = IconButton(
            theme, "panel-right", tr("Show the inspector"), shortcut="Ctrl+I", checkable=True
        )
        self.count = Label(theme, "", role="text2", tabular=True)
        self.search = SearchField(
            theme, tr("Search images"), results=lambda: results_words(len(self._gallery_state.tiles))
        )
        self.search_button = IconButton(theme, "search", tr("Search images"), shortcut="Ctrl+F")
        self.scope = ChoiceField(theme, tr("Filter images"), small=True)
        self.empty_trash = Button(theme, tr("Empty"), "trash", kind="quiet", size="small")
        self.shape = SegmentedChoice(
            theme,
            tr("Show as"),
            (("grid", tr("Tiles")), ("list", tr("List"))),
            icons={"grid": "grid", "list": "list"},
        )
        for key, words in SCOPES:
            self.scope.addItem(words, key)
        self.header.add_before_title(self.list_button)
        self.header.add_after_title(self.count)
        for widget in (
            self.empty_trash,
            self.search_button,
            self.search,
            self.scope,
            self.shape,
            self.inspector_button,
        ):
            self.header.add(widget)
        self.empty_trash.hide()

    def _make_stand_ins(self) -> None:
        theme = self._theme
        self.empty = EmptyState(
            theme,
            tr("No images yet"),
            tr(
                "Describe what you want to see, then press Generate. Images are saved on this computer with their "
                "settings."
            ),
            icon_name="images",
            actions=tuple((spec, "sparkle") for spec in EXAMPLES),
        )
        self.nothing = EmptyState(theme, tr("Nothing found"), icon_name="search", actions=((_CLEAR, ""),))
        for page in (self.empty, self.nothing):
            self.places.addWidget(page)

    def _make_tiles(self) -> None:
        self.model = TileModel(self)
        self.view = TileView(self._theme)
        self.thumbnails = Thumbnails(self, one_thread=True)
        self.delegate = TileDelegate(self._theme, self._picture, self._waiting_words, self.view)
        view = self.view
        view.setModel(self.model)
        view.setItemDelegate(self.delegate)
        view.setViewMode(QListView.ViewMode.ListMode)
        view.setFlow(QListView.Flow.LeftToRight)
        view.setWrapping(True)
        view.setMovement(QListView.Movement.Static)
        view.setResizeMode(QListView.ResizeMode.Fixed)
        view.setUniformItemSizes(True)
        view.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        keep_scroll_bar(view)
        view.setFrameShape(QListView.Shape.NoFrame)
        view.setAccessibleName(tr("Images"))
        grid = QWidget()
        self._around = QHBoxLayout(grid)
        self._around.addWidget(view)
        self.places.addWidget(grid)

    def _make_foot(self) -> QWidget:
        """What all images take on this disk, as below the list of videos."""
        theme = self._theme
        self.usage = Label(theme, "", "small", "text2", tabular=True, elide=True)
        self.folder = LinkButton(theme, tr("Open folder"))
        foot = QWidget()
        self._foot = QHBoxLayout(foot)
        self._foot.addWidget(IconLabel(theme, "drive", px=16))
        self._foot.addWidget(self.usage, 1)
        self._foot.addWidget(self.folder)
        return foot

    def _connect(self) -> None:
        self.folder.clicked.connect(self.folder_requested)
        self.list_button.clicked.connect(self.list_requested)
        self.inspector_button.clicked.connect(self.inspector_requested)
        self.search.search_changed.connect(self.searched)
        self.search.left.connect(self._close_search)
        FilterKeys(self.view, self.search, selects_first=True, is_quiet=True)
        self.search_button.clicked.connect(self.open_search)
        self.scope.activated.connect(lambda _: self.scope_chosen.emit(str(self.scope.currentData())))
        self.empty_trash.clicked.connect(self.empty_trash_requested)
        self.shape.changed.connect(self._reshape)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.view.activated.connect(lambda index: self.opened.emit(self._id(index)))
        self.view.doubleClicked.connect(lambda index: self.opened.emit(self._id(index)))
        self.view.trash_requested.connect(lambda: self.trash_requested.emit(self.chosen()))
        self.view.menu_requested.connect(self.menu_requested)
        self.view.resized.connect(self._lay_out)
        self.view.verticalScrollBar().valueChanged.connect(self._name_group)
        self.model.more_requested.connect(self.more_requested)
        self.thumbnails.loaded.connect(self._loaded)
        self.empty.action.connect(self._example)
        self.nothing.action.connect(lambda _: self._clear())
        self.problem.action.connect(self.problem_action)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._around.setContentsMargins(px(12), px(12), 0, 0)
        self._foot.setContentsMargins(px(16), px(6), px(14), px(6))
        self.search.setMinimumWidth(self._theme.type_px(90))
        self._problem_box.setContentsMargins(px(16), 0, px(16), 0)
        self.delegate.turn = 0.0
        self._lay_out()

    # -- showing --------------------------------------------------------------------------------------------------

    def show_state(self, gallery_state: GalleryState) -> None:
        """Images, their number, and what stands there instead of them."""
        before, self._gallery_state = self._gallery_state, gallery_state
        from_top = (before.search, before.scope) != (gallery_state.search, gallery_state.scope)
        chosen = self.current()
        self.model.set_rows(gallery_state.tiles, from_top=from_top, has_unread=gallery_state.unread > 0)
        if not self.view.currentIndex().isValid() and gallery_state.tiles:
            if from_top and gallery_state.search and not self.model.index_of(chosen).isValid():
                chosen = ""  # further down, or not found at all
            self.select(self._wanted or chosen or gallery_state.tiles[0].id)
            if not self.view.currentIndex().isValid():  # it is in the trash, or filtered away
                self.select(gallery_state.tiles[0].id)
        if self._wanted and self.model.index_of(self._wanted).isValid():
            self.select(self._wanted)
        number = len(gallery_state.tiles)
        what = tr_n("{n} image", "{n} images", number + gallery_state.unread)
        self.count.set_text(what if gallery_state.total else "")
        self.search.say_results()
        self.empty_trash.setVisible(gallery_state.scope == "trash" and gallery_state.total > 0)
        if number or not gallery_state.loaded:
            self.places.setCurrentIndex(0)
        elif gallery_state.search or gallery_state.scope:
            sign = (
                "search"
                if gallery_state.search
                else {"trash": "trash", "starred": "star"}.get(gallery_state.scope, "search")
            )
            self.nothing.set_words(*_nothing_words(gallery_state), sign)
            self.places.setCurrentIndex(2)
        else:
            self.places.setCurrentIndex(1)
        busy = gallery_state.busy
        if busy and not self._theme.reduced_motion:
            self._spin.start()
        elif not busy:
            self._spin.stop()
        self._name_group()
        if not number:
            self.selected.emit("")

    def show_problem(self, problem: Problem | None) -> None:
        self.problem.setVisible(problem is not None)
        around = self._theme.px(12) if problem is not None else 0
        self._problem_box.setContentsMargins(self._theme.px(16), around, self._theme.px(16), around)
        if problem is not None:
            self.problem.set_problem(problem)

    def set_zones(self, zones: Zones) -> None:
        self.list_button.setVisible(not zones.list_beside)
        self.inspector_button.setChecked(zones.inspector_open)

    def current(self) -> str:
        """The id of the image that is looked at, "" for none."""
        return self._id(self.view.currentIndex())

    def chosen(self) -> tuple[str, ...]:
        """The ids of all that are selected, in their order."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        return tuple(tile.id for tile in map(self.model.row, rows) if tile is not None)

    def select(self, image_id: str, *, is_there: bool = False) -> None:
        """Look at an image, now or as soon as it is there. `is_there`: it is now, however far down."""
        self.model.reveal(image_id, is_there=is_there)
        index = self.model.index_of(image_id)
        self._wanted = "" if index.isValid() else image_id
        if index.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect
            self.view.selectionModel().setCurrentIndex(index, flags)
            self.view.scrollTo(index)

    def _id(self, index: QModelIndex) -> str:
        tile = self.model.row(index.row()) if index.isValid() else None
        return tile.id if tile is not None else ""

    def _moved(self, index: QModelIndex) -> None:
        self.selected.emit(self._id(index))

    def _picture(self, image_id: str, size: QSize) -> QImage | None:
        path = self._path_of(image_id)
        if path is None:
            return QImage()
        radius = self._theme.px(4 if self.delegate.as_lines else 8) * size.width() / max(1, self._face_width())
        load = partial(read_thumbnail, path, self._cache)
        ground = None if self.delegate.as_lines else self._theme.color("canvas")
        face = self._theme.color("sunken")
        finish = partial(tile, size=size, radius=radius, ground=ground, face=face)
        look = f"{size.height()}{ground.name() if ground is not None else ''}{face.name()}"
        return self.thumbnails.get(image_id, size.width(), 2 * size.width(), load, finish, look)

    def _face_width(self) -> int:
        return self._theme.icon_px(56) if self.delegate.as_lines else self.delegate.cell.width() - self._theme.px(GAP)

    def _loaded(self, key: str) -> None:
        index = self.model.index_of(key)
        if index.isValid():
            self.view.viewport().update(self.view.visualRect(index))

    def _turn(self) -> None:
        """Spinners and seconds of what is on its way; nothing else is painted anew."""
        self.delegate.turn = (self.delegate.turn + SPIN_MS / 900) % 1.0
        for place in range(64):
            row = self.model.row(place)
            if row is not None and row.state == "sending":
                self.view.viewport().update(self.view.visualRect(self.model.index(place, 0)))

    def open_search(self) -> None:
        """Show the search field, where there was no room for it in place of the title, and go to it."""
        self._searches = True
        self._fit_header()
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _close_search(self) -> None:
        self._searches = False
        self._fit_header()

    def _fit_header(self) -> None:
        theme = self._theme
        has_room = self.width() >= theme.type_px(ROOM_FOR_SEARCH)
        instead = not has_room and (self._searches or bool(self.search.text()))
        self.header.title.setVisible(not instead)
        self.search.setMaximumWidth(self.width() if instead else theme.type_px(180))
        self.search.setVisible(has_room or instead)
        self.search_button.setVisible(not has_room and not instead)
        self.count.setVisible(self.width() > theme.type_px(ROOM_FOR_COUNT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_whole:
            self._fit_header()

    def _lay_out(self) -> None:
        theme = self._theme
        self._fit_header()
        width = self.view.viewport().width() - 2
        if self.delegate.as_lines:
            cell = QSize(width, self.delegate.line_px())
        else:
            columns = max(1, width // (theme.type_px(MIN_TILE) + theme.px(GAP)))
            wide = width // columns
            cell = QSize(wide, round((wide - theme.px(GAP)) * SHAPE) + self.delegate.caption_px())
        if cell != self.delegate.cell or self.view.gridSize() != cell:
            self.delegate.cell = cell
            self.view.setGridSize(cell)
            self.view.doItemsLayout()
        self.view.verticalScrollBar().setSingleStep(theme.px(48))

    def show_scope(self, scope: str) -> None:
        """Show all images (""), the starred ones or the trash."""
        self.scope.setCurrentIndex(self.scope.findData(scope))
        self.scope_chosen.emit(scope)

    def _reshape(self, shape: str) -> None:
        self.delegate.as_lines = shape == "list"
        self._lay_out()
        self.view.scrollTo(self.view.currentIndex())

    def _name_group(self) -> None:
        """The title is the day of the first image in sight."""
        if self._gallery_state.scope == "trash":
            self.header.set_title(tr("Trash"))
            return
        row = self.model.row(self.view.indexAt(QPoint(self._theme.px(24), self._theme.px(24))).row())
        row = row or (self._gallery_state.tiles[0] if self._gallery_state.tiles else None)
        self.header.set_title(
            time_format.day_group(row.at, datetime.now(UTC)) if row is not None and row.at else tr("Images")
        )

    def _example(self, action: str) -> None:
        self.example_requested.emit(next(spec.text for spec in EXAMPLES if spec.id == action))

    def _clear(self) -> None:
        self.search.clear()
        self.searched.emit("")
        self.show_scope("")


_CLEAR = ActionSpec("clear", tr("Show all images"))


def _nothing_words(gallery_state: GalleryState) -> tuple[str, str]:
    where = {"starred": tr("in starred images"), "trash": tr("in the trash")}.get(gallery_state.scope, "")
    if gallery_state.search:
        return tr("No image matches “{search}”", search=gallery_state.search), tr(
            "Searched {where} by prompt and model.", where=where or tr("all images")
        )
    return {"starred": tr("No starred images"), "trash": tr("The trash is empty")}.get(
        gallery_state.scope, tr("Nothing here")
    ), ""

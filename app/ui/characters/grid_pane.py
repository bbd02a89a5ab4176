"""The middle pane: the characters as cards or lines, more of them as one scrolls, and what to do when none fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.characters.card_delegate import GAP, CardDelegate
from app.ui.characters.list_model import CHARACTER_ROLE, CharacterListModel
from app.ui.characters.state import PAGE_ROWS, CharactersState
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.empty_state import Skeleton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.spinner import Spinner
from app.ui.kit.widgets.surfaces import keep_scroll_bar, zone

if TYPE_CHECKING:
    from app.ui.characters.character_images import CharacterImages
    from app.ui.characters.presenter import CharactersPresenter
    from app.ui.kit.theme import Theme

MIN_CARD = 216  # px at 100 %; as many columns as fit
NEAR_END_PX = 600


class CardView(QListView):
    """A list in as many columns as fit. Enter chooses; arrows move in both directions."""

    chosen = Signal(QModelIndex)
    resized = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex())
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class GridPane(QWidget):
    """`selected` tells whose details are wanted, `chosen` with whom a chat is to be started."""

    selected = Signal(str)
    chosen = Signal(str)
    more_requested = Signal()
    again_requested = Signal()
    clear_search_requested = Signal()
    clear_filters_requested = Signal()
    action = Signal(str)

    def __init__(
        self, theme: Theme, presenter: CharactersPresenter, pictures: CharacterImages, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pictures = pictures
        self._state = CharactersState()
        zone(self, "canvas")
        self.header = QFrame()
        self.header.setProperty("part", "header")
        self.title = Label(theme, "", "reading", weight=600, elide=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.loaded = Label(theme, "", role="text3", tabular=True)
        self.shape = SegmentedChoice(
            theme,
            tr("View"),
            (("grid", tr("Cards")), ("list", tr("List"))),
            icons={"grid": "grid", "list": "list"},
        )
        self.list_button = IconButton(theme, "panel-left", tr("Show filters"), shortcut="Ctrl+B")
        self.request_button = IconButton(theme, "console", tr("Show the last request"))
        self.details_button = IconButton(theme, "panel-right", tr("Details"), shortcut="Ctrl+I", checkable=True)
        self._head = QHBoxLayout(self.header)
        for widget in (self.list_button, self.title, self.loaded):
            self._head.addWidget(widget)
        self._head.addStretch(1)
        for button in (self.shape, self.request_button, self.details_button):
            self._head.addWidget(button)
        self.list_button.hide()
        self.model = CharacterListModel(self)
        self.view = CardView()
        self.delegate = CardDelegate(theme, lambda one: pictures.get(presenter.picture_url(one)), self.view)
        self._places = QStackedWidget()
        self._footer = Footer(theme)
        self._problem = ErrorCard(theme)
        self._nothing = NothingFound(theme)
        self._columns = 1
        self._set_up_view()
        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _set_up_view(self) -> None:
        view = self.view
        view.setModel(self.model)
        view.setItemDelegate(self.delegate)
        view.setViewMode(QListView.ViewMode.IconMode)
        view.setMovement(QListView.Movement.Static)
        view.setResizeMode(QListView.ResizeMode.Adjust)
        view.setUniformItemSizes(True)
        view.setSpacing(0)
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        keep_scroll_bar(view)
        view.setSelectionRectVisible(False)
        view.setAccessibleName(tr("Characters"))

    def _build(self) -> None:
        self._around = QHBoxLayout()
        self._around.addWidget(self.view)
        grid = QWidget()
        grid.setLayout(self._around)
        loading = QWidget()
        inside = QVBoxLayout(loading)
        inside.addWidget(Skeleton(self._theme, rows=8))
        self._loading_box = inside
        failed = QWidget()
        box = QVBoxLayout(failed)
        box.addStretch(1)
        box.addWidget(self._problem)
        box.addStretch(2)
        self._failed_box = box
        for page in (grid, loading, failed, self._nothing):
            self._places.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._places, 1)
        layout.addWidget(self._footer)

    def _connect(self) -> None:
        self.shape.changed.connect(self._reshape)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.view.chosen.connect(lambda index: self.chosen.emit(index.data(CHARACTER_ROLE).slug))
        self.view.doubleClicked.connect(lambda index: self.chosen.emit(index.data(CHARACTER_ROLE).slug))
        self.view.resized.connect(self._lay_out)
        self.view.verticalScrollBar().valueChanged.connect(self._near_end)
        self._pictures.arrived.connect(lambda _url: self.view.viewport().update())
        self._footer.again.clicked.connect(self.again_requested)
        self._problem.action.connect(self._pressed)
        self._nothing.clear_search.clicked.connect(self.clear_search_requested)
        self._nothing.clear_filters.clicked.connect(self.clear_filters_requested)

    def _pressed(self, action: str) -> None:
        if action == "retry":
            self.again_requested.emit()
        else:
            self.action.emit(action)

    def _apply_theme(self) -> None:
        theme = self._theme
        left = 16 if self.list_button.isVisibleTo(self) else 24
        self._head.setContentsMargins(theme.px(left), 0, theme.px(16), 0)
        self._head.setSpacing(theme.px(8))
        self._around.setContentsMargins(theme.px(24), theme.px(16), 0, 0)
        self._loading_box.setContentsMargins(theme.px(24), theme.px(16), theme.px(24), 0)
        self._failed_box.setContentsMargins(theme.px(24), theme.px(24), theme.px(24), theme.px(24))
        self._lay_out()

    def set_places(self, *, list_button: bool, details_open: bool) -> None:
        """Follow the window: which panes the two buttons open."""
        self.list_button.setVisible(list_button)
        self.details_button.setChecked(details_open)
        self._apply_theme()

    # Showing

    def show_state(self, state: CharactersState) -> None:
        """Rows, number, footer and what stands there instead of rows."""
        old, self._state = self._state, state
        self.title.set_text(state.title)
        self.loaded.set_text(tr("{rows} loaded", rows=len(state.rows)) if state.rows else "")
        self.model.set_rows(state.rows)
        index = self.model.index_of(state.selected)
        if index.isValid() and self.view.currentIndex() != index:
            self.view.selectionModel().setCurrentIndex(index, self.view.selectionModel().SelectionFlag.ClearAndSelect)
        if old.rows and state.rows and old.rows[0] is not state.rows[0]:
            self.view.scrollToTop()
        self._footer.show_state(state)
        if state.rows:
            self._places.setCurrentIndex(0)
            QTimer.singleShot(0, self.view, self._near_end)  # a tall window may show the whole first page
        elif state.loading:
            self._places.setCurrentIndex(1)
        elif state.problem is not None:
            if self._problem.problem != state.problem:
                self._problem.set_problem(state.problem)
            self._places.setCurrentIndex(2)
        else:
            self._nothing.show_state(state)
            self._places.setCurrentIndex(3)

    def _lay_out(self) -> None:
        """Cards share the width equally; lines take all of it."""
        theme = self._theme
        width = self.view.viewport().width()
        gap = theme.px(GAP)
        room = max(1, width - gap)
        self._columns = 1 if self.delegate.as_lines else max(1, (room + gap) // (theme.type_px(MIN_CARD) + gap))
        cell = QSize((width - 2) // self._columns, self.delegate.height_px())
        if self.delegate.cell != cell or self.view.gridSize() != cell:
            self.delegate.cell = cell
            self.view.setGridSize(cell)
            self.view.doItemsLayout()

    def _reshape(self, shape: str) -> None:
        self.delegate.as_lines = shape == "list"
        self._lay_out()
        self.view.scrollTo(self.view.currentIndex())

    def _moved(self, index: QModelIndex) -> None:
        character = index.data(CHARACTER_ROLE) if index.isValid() else None
        if character is not None and character.slug != self._state.selected:
            self.selected.emit(character.slug)

    def _near_end(self) -> None:
        bar = self.view.verticalScrollBar()
        if self.view.isVisible() and bar.maximum() - bar.value() < NEAR_END_PX:
            self.more_requested.emit()


class Footer(QFrame):
    """What is loaded, what is coming, what did not come."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("part", "footer")
        self._spinner = Spinner(theme)
        self._sign = IconLabel(theme, "warning", "warn", px=16)
        self._text = Label(theme, "", "small", "text2", tabular=True)
        self._hint = Label(theme, tr("More load as you scroll"), "small", "text3")
        self.again = Button(theme, tr("Try again"), size="small")
        self._row = QHBoxLayout(self)
        for widget in (self._spinner, self._sign, self._text):
            self._row.addWidget(widget)
        self._row.addStretch(1)
        self._row.addWidget(self._hint)
        self._row.addWidget(self.again)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self._row.setContentsMargins(self._theme.px(24), self._theme.px(8), self._theme.px(24), self._theme.px(8))
        self._row.setSpacing(self._theme.px(8))
        self.setMinimumHeight(self._theme.height_px(44))

    def show_state(self, state: CharactersState) -> None:
        number = len(state.rows)
        failed = state.problem is not None and bool(number)
        self.setVisible(bool(number))
        self._spinner.setVisible(state.loading_more)
        self._sign.setVisible(failed)
        self.again.setVisible(failed)
        self._hint.setVisible(not failed and not state.is_complete)
        if state.saved_note:
            why = state.problem.what if state.problem is not None else ""
            text = ". ".join(filter(None, (state.saved_note, why)))
        elif failed:
            text = tr("{number} loaded. The next page could not be loaded.", number=number)
        elif state.loading_more:
            text = tr("Loading {first} to {last}", first=number + 1, last=number + PAGE_ROWS)
        elif state.is_complete:
            text = tr_n("{n} character", "All {n} loaded", number)
        else:
            text = tr("{number} loaded", number=number)
        self._text.set_text(text)


class NothingFound(QWidget):
    """Names the search and the filters in force, and clears either."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        centre = Qt.AlignmentFlag.AlignHCenter
        self._title = Label(theme, "", "reading", weight=600, wrap=True)
        self._text = Label(theme, "", role="text2", wrap=True)
        self.clear_search = Button(theme, tr("Clear search"), size="small")
        self.clear_filters = Button(theme, "", size="small")
        column = QVBoxLayout(self)
        column.setSpacing(theme.px(4))
        column.addStretch(1)
        column.addWidget(IconLabel(theme, "search", "text3", px=32), 0, centre)
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        row.addStretch(1)
        row.addWidget(self.clear_search)
        row.addWidget(self.clear_filters)
        row.addStretch(1)
        column.addSpacing(theme.px(8))
        column.addLayout(row)
        column.addStretch(2)

    def show_state(self, state: CharactersState) -> None:
        searched = state.filters.search.strip()
        filters = state.filters.narrowing
        self._title.set_text(
            tr("No character matches “{searched}”", searched=searched) if searched else tr("No characters here")
        )
        words = []
        if filters:
            words.append(tr_n("{n} filter is on.", "{n} filters are on.", filters))
        if state.filters.adult == "hide":
            words.append(tr("Adult characters are hidden."))
        self._text.set_text(" ".join(words))
        self.clear_search.setVisible(bool(searched))
        self.clear_filters.setVisible(filters > 0)
        self.clear_filters.setText(tr_n("Clear {n} filter", "Clear {n} filters", filters))

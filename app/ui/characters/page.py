"""The character browser: three panes shown in place of the chat tab's, and their connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.ui.characters.character_images import CharacterImages
from app.ui.characters.details_pane import DetailsPane
from app.ui.characters.filters_pane import FiltersPane
from app.ui.characters.grid_pane import GridPane
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.widgets.links import LinkOpener

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from app.core.tasks import TaskScope
    from app.service.http.network import Network
    from app.ui.characters.presenter import CharactersPresenter
    from app.ui.characters.state import CharactersState
    from app.ui.kit.tab import Zones
    from app.ui.kit.theme import Theme


class CharactersPage(QObject):
    """`character_chosen` carries the `Character` and whether a new chat is to be started with it."""

    character_chosen = Signal(object, bool)
    closed = Signal()
    help_requested = Signal(str)

    def __init__(
        self,
        theme: Theme,
        presenter: CharactersPresenter,
        tasks: TaskScope,
        *,
        network: Network,
        asked: Callable[[str], object] = lambda _host: None,
        cache: Path | None = None,
    ) -> None:
        """`asked` is called with each host that an image is loaded from; `cache` is the folder for images."""
        super().__init__()
        self.presenter = presenter
        self.pictures = CharacterImages(network, tasks, self, asked=asked, cache=cache)
        self.filters = FiltersPane(theme)
        self.grid = GridPane(theme, presenter, self.pictures)
        self.details = DetailsPane(theme, presenter, self.pictures)
        self._links = LinkOpener(theme, self.grid, tasks)
        self._theme = theme
        self._tasks = tasks
        self._connect()
        self.show_state(presenter.state)

    @property
    def search(self) -> QWidget:
        """Where Ctrl+F goes."""
        return self.filters.search

    def list_pane(self) -> QWidget:
        return self.filters

    def canvas(self) -> QWidget:
        return self.grid

    def inspector(self) -> QWidget:
        return self.details

    def set_zones(self, zones: Zones) -> None:
        """The window says which panes are beside the grid and which slide over it."""
        self.grid.set_places(list_button=not zones.list_beside, details_open=zones.inspector_open)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        """What the two pane buttons of the grid's header call."""
        self.grid.list_button.clicked.connect(lambda: toggle_list())
        self.grid.details_button.clicked.connect(lambda: toggle_inspector())

    def activated(self) -> None:
        """The browser has come to the front: ask for what is to be shown, and take the keyboard."""
        self.presenter.open()
        self.filters.search.setFocus(Qt.FocusReason.OtherFocusReason)

    def _connect(self) -> None:
        presenter, filters, grid, details = self.presenter, self.filters, self.grid, self.details
        presenter.state_changed.connect(self.show_state)
        presenter.current_account.account_changed.connect(self._account_changed)
        filters.search_changed.connect(presenter.search)
        filters.changed.connect(presenter.set_filter)
        filters.tag_toggled.connect(presenter.toggle_tag)
        filters.back_requested.connect(self.closed)
        FilterKeys(grid.view, filters.search, selects_first=True, is_quiet=True, rows_come_later=True)
        grid.selected.connect(presenter.select)
        grid.chosen.connect(lambda slug: self._choose(slug, new_chat=True))
        grid.more_requested.connect(presenter.load_more)
        grid.again_requested.connect(presenter.try_again)
        grid.clear_search_requested.connect(self._clear_search)
        grid.clear_filters_requested.connect(presenter.clear_filters)
        grid.action.connect(self.help_requested)
        grid.request_button.clicked.connect(self.show_request)
        details.start_requested.connect(lambda slug: self._choose(slug, new_chat=True))
        details.use_requested.connect(lambda slug: self._choose(slug, new_chat=False))
        details.link_requested.connect(self._links.ask)
        details.images_requested.connect(self._allow_images)
        details.reviews_requested.connect(presenter.load_reviews)
        details.tag_chosen.connect(presenter.toggle_tag)
        details.close_requested.connect(self.grid.details_button.click)

    def show_state(self, state: CharactersState) -> None:
        """Make every pane agree. Safe to call at any time, any number of times."""
        self.filters.show_state(state)
        self.grid.show_state(state)
        self.details.show_state(state)

    def show_request(self) -> None:
        """Show the last call to the list of characters, with every header of its response."""
        self._tasks.start_unless_running("characters request", self._show_request)

    async def _show_request(self) -> None:
        from app.ui.kit.call_dialog import CallDialog

        await CallDialog(self._theme, self.grid, self.presenter.current_account.latest.get("characters")).answer()

    def _account_changed(self) -> None:
        """Another account, or only now a service to ask: whoever looks sees its characters."""
        self.pictures.forget()
        if self.grid.isVisible():
            self.presenter.open()

    def _clear_search(self) -> None:
        self.filters.clear_search()
        self.presenter.clear_search()

    def _allow_images(self, on: bool) -> None:
        if not on:
            self.pictures.forget_all()
        self.presenter.allow_images(on)
        self.grid.view.viewport().update()

    def _choose(self, slug: str, *, new_chat: bool) -> None:
        character = next((row for row in self.presenter.state.rows if row.slug == slug), None)
        if character is not None:
            self.character_chosen.emit(character, new_chat)

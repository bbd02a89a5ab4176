"""The right pane of a chat: Parameters, Request, Totals."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.discard import discard
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from app.ui.chat.inspector.parameters_page import ParametersPage
    from app.ui.chat.inspector.sealed_turns import SealedTurns
    from app.ui.chat.inspector.totals_page import TotalsPage
    from app.ui.chat.session.inspector_state import RequestView
    from app.ui.kit.call_pane import CallPane
    from app.ui.kit.theme import Theme

PARAMETERS, REQUEST, TOTALS = range(3)
NAMES = ("parameters", "request", "totals")
Page = TypeVar("Page", bound=QWidget)


class Inspector(QWidget):
    """Three pages under one header, each made when it is first looked at: none of them delays the first paint.

    The page that is shown at first is made by `complete`. `set_up` is called with the place of each page that was just
    made, to connect and fill it.
    """

    def __init__(self, theme: Theme, set_up: Callable[[int], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._set_up = set_up
        self._is_complete = False
        self._begun = self._make_parameters()
        zone(self, "pane")
        titles = (tr("Parameters"), tr("Request"), tr("Totals"))
        self.tabs = PaneTabs(theme, tr("Inspector"), titles)
        self.pages = QStackedWidget()
        for _ in titles:
            self.pages.addWidget(QWidget())
        self.tabs.bar.currentChanged.connect(self._show)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self.pages, 1)

    @cached_property
    def parameters(self) -> ParametersPage:
        return self._put(PARAMETERS, at_once(self._begun))

    @cached_property
    def request(self) -> CallPane:
        from app.ui.kit.call_pane import CallPane

        return self._put(REQUEST, CallPane(self._theme, above=self.sealed_turns))

    @cached_property
    def sealed_turns(self) -> SealedTurns:
        from app.ui.chat.inspector.sealed_turns import SealedTurns

        return SealedTurns(self._theme)

    def show_request(self, view: RequestView) -> None:
        """Show a call, or say why there is none."""
        self.sealed_turns.show_turns(view.sealed)
        self.request.show_call(view.call, view.note)

    @cached_property
    def totals(self) -> TotalsPage:
        from app.ui.chat.inspector.totals_page import TotalsPage

        return self._put(TOTALS, TotalsPage(self._theme))

    def is_made(self, page: int) -> bool:
        """Whether a page has been looked at before."""
        return NAMES[page] in self.__dict__

    def is_shown(self, page: int) -> bool:
        """Whether a page is made and at the front; the inspector itself may be closed."""
        return self.is_made(page) and self.tabs.bar.currentIndex() == page

    def show_page(self, page: int) -> None:
        """Bring one of PARAMETERS, REQUEST, TOTALS to the front."""
        self.tabs.bar.setCurrentIndex(page)

    def complete(self) -> None:
        """The first paint is over: there is time for the page that is shown, between what the person does."""
        self._is_complete = True
        page = self.tabs.bar.currentIndex()
        if page == PARAMETERS:
            self._build_some()
        else:
            self._make(page)

    def _build_some(self) -> None:
        """Make the next piece of the parameters, unless somebody has wanted all of them meanwhile."""
        if self.is_made(PARAMETERS):
            return
        try:
            next(self._begun)
        except StopIteration as ended:
            self._put(PARAMETERS, ended.value)
        else:
            QTimer.singleShot(0, self, self._build_some)

    def _make_parameters(self) -> BuildSteps[ParametersPage]:
        from app.ui.chat.inspector.parameters_page import ParametersPage

        page = ParametersPage(self._theme, self.pages, whole=False)
        yield
        yield from page.build()
        return page

    def _show(self, page: int) -> None:
        if self._is_complete or page != PARAMETERS:
            self._make(page)
        self.pages.setCurrentIndex(page)

    def _make(self, page: int) -> None:
        if not self.is_made(page):
            getattr(self, NAMES[page])

    def _put(self, place: int, page: Page) -> Page:
        self.__dict__[NAMES[place]] = page  # already, because `set_up` asks for it
        before = self.pages.widget(place)
        self.pages.insertWidget(place, page)
        if before is not None:
            self.pages.removeWidget(before)
            discard(before)
        self.pages.setCurrentIndex(self.tabs.bar.currentIndex())
        self._set_up(place)
        return page

"""The right pane: how it is recorded and sent, or what can be made of the transcript; details and request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core.shown_call import shown_call
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.call_pane import CallPane
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.surfaces import zone
from app.ui.transcription.details_page import DetailsPage
from app.ui.transcription.export_page import ExportPage
from app.ui.transcription.options_page import OptionsPage
from app.ui.transcription.state import Head

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

EXPORT, OPTIONS, DETAILS, REQUEST = range(4)


class Inspector(QWidget):
    """A transcript begins with Export, everything else with Options."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the pages, one at each step."""
        theme = self._theme
        titles = (tr("Export"), tr("Options"), tr("Details"), tr("Request"))
        self.tabs = PaneTabs(theme, tr("Inspector"), titles)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        self.pages = QStackedWidget(self)
        layout.addWidget(self.pages, 1)
        yield
        self.options = OptionsPage(theme, self.pages, whole=False)
        self.pages.addWidget(self.options)
        yield from self.options.build()
        self.export = ExportPage(theme, self.pages, whole=False)
        self.pages.insertWidget(EXPORT, self.export)
        yield from self.export.build()
        yield
        self.details = DetailsPage(theme)
        self.pages.addWidget(self.details)
        yield
        self.request = CallPane(theme, tr("The exact request appears here: the audio, the model and the options."))
        self.pages.addWidget(self.request)
        yield
        self._view = ""
        self.tabs.bar.setTabVisible(EXPORT, False)
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        self.show_page(OPTIONS)
        self.pages.setCurrentIndex(OPTIONS)  # hiding a tab has moved the bar already
        yield

    def show_page(self, page: int) -> None:
        self.tabs.bar.setCurrentIndex(page)

    @property
    def page(self) -> int:
        return self.tabs.bar.currentIndex()

    def show_head(self, head: Head) -> None:
        """Follow the canvas: another kind of row has other pages in front."""
        done = head.view == "result"
        if head.view != self._view:
            self._view = head.view
            self.tabs.bar.setTabText(OPTIONS, tr("Recording") if head.view == "recording" else tr("Options"))
            self.tabs.bar.setTabVisible(EXPORT, done)
            self.show_page(EXPORT if done else OPTIONS)
            self.pages.setCurrentIndex(self.page)
        self.options.show_head(head)
        self.details.show_facts(head.facts)
        self.request.show_call(shown_call(head.exchange) if head.exchange is not None else None)

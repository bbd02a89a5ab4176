"""The right pane: how it is recorded and sent, or what can be made of the transcript; details and request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.ui.shared.header import PaneTabs
from app.ui.shared.surfaces import zone
from app.ui.transcription.details_page import DetailsPage, RequestPage
from app.ui.transcription.export_page import ExportPage
from app.ui.transcription.options_page import OptionsPage
from app.ui.transcription.state import Head

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

EXPORT, OPTIONS, DETAILS, REQUEST = range(4)


class Inspector(QWidget):
    """A transcript begins with Export, everything else with Options."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        zone(self, "pane")
        titles = (self.tr("Export"), self.tr("Options"), self.tr("Details"), self.tr("Request"))
        self.tabs = PaneTabs(theme, self.tr("Inspector"), titles)
        self.options = OptionsPage(theme)
        self.export = ExportPage(theme)
        self.details = DetailsPage(theme)
        self.request = RequestPage(theme)
        self.pages = QStackedWidget()
        for page in (self.export, self.options, self.details, self.request):
            self.pages.addWidget(page)
        self._view = ""
        self.tabs.bar.setTabVisible(EXPORT, False)
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        self.show_page(OPTIONS)
        self.pages.setCurrentIndex(OPTIONS)  # hiding a tab has moved the bar already
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self.pages, 1)

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
            self.tabs.bar.setTabText(OPTIONS, self.tr("Recording") if head.view == "recording" else self.tr("Options"))
            self.tabs.bar.setTabVisible(EXPORT, done)
            self.show_page(EXPORT if done else OPTIONS)
            self.pages.setCurrentIndex(self.page)
        self.options.show_head(head)
        self.details.show_facts(head.facts)
        self.request.show_exchange(head.exchange)

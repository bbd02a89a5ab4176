"""The right pane of a chat: Parameters, Request, Totals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.ui.chat.parameters_page import ParametersPage
from app.ui.chat.request_page import RequestPage
from app.ui.chat.totals_page import TotalsPage
from app.ui.shared.header import PaneTabs
from app.ui.shared.surfaces import zone

if TYPE_CHECKING:
    from app.ui.shared.theme import Theme

PARAMETERS, REQUEST, TOTALS = range(3)


class Inspector(QWidget):
    """Three pages under one header."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        zone(self, "pane")
        self.parameters = ParametersPage(theme)
        self.request = RequestPage(theme)
        self.totals = TotalsPage(theme)
        titles = (self.tr("Parameters"), self.tr("Request"), self.tr("Totals"))
        self.tabs = PaneTabs(theme, self.tr("Inspector"), titles)
        self.pages = QStackedWidget()
        for page in (self.parameters, self.request, self.totals):
            self.pages.addWidget(page)
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self.pages, 1)

    def show_page(self, page: int) -> None:
        """Bring one of PARAMETERS, REQUEST, TOTALS to the front."""
        self.tabs.bar.setCurrentIndex(page)

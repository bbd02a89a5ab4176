"""The middle of the Wallet tab: a header with its pages, the span of days, the export; and the pages below."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import zone
from app.ui.wallet.bookings_and_signatures import ComparePage, SignaturesPage
from app.ui.wallet.key_view import KeyView
from app.ui.wallet.overview import Overview
from app.ui.wallet.receipts_page import ReceiptsPage
from app.ui.wallet.state import BookRow

PAGES = ("overview", "receipts", "compare", "signed", "key")
TITLES = (tr("Overview"), tr("Activity"), tr("Compare"), tr("Signatures"), tr("API key"))
SPANS = (("7", tr("7 days")), ("14", tr("14 days")), ("30", tr("30 days")))
WIDE = 760  # px at 100 %: narrower, the span is chosen on the page of transactions


class Canvas(QWidget):
    """`page_shown` tells which page was brought to the front."""

    page_shown = Signal(str)
    seen = Signal()  # it is in front again
    list_requested = Signal()
    export_requested = Signal()
    days_requested = Signal(int)

    def __init__(self, theme: Theme, row_at: Callable[[int], BookRow | None], *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._row_at = row_at
        self._is_whole = False
        zone(self, "canvas")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header and the pages, one at each step."""
        theme, row_at = self._theme, self._row_at
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.header = PaneTabs(theme, tr("Wallet pages"), TITLES)
        self.list_button = IconButton(theme, "panel-left", tr("Show accounts"), shortcut="Ctrl+B")
        self.list_button.clicked.connect(self.list_requested)
        self.list_button.hide()
        self.header.add(self.list_button)
        self.span = SegmentedChoice(theme, tr("Days"), SPANS, current="14")
        self.span.changed.connect(lambda key: self.days_requested.emit(int(key)))
        self.header.add(self.span)
        self.export = Button(theme, tr("Export…"), "download")
        self.export.clicked.connect(self.export_requested)
        self.header.add(self.export)
        column.addWidget(self.header)
        self.pages = QStackedWidget()
        column.addWidget(self.pages, 1)
        yield
        self.overview = Overview(theme, row_at, whole=False)
        self.pages.addWidget(self.overview)
        yield from self.overview.build()
        yield
        self.receipts = ReceiptsPage(theme, row_at, whole=False)
        self.pages.addWidget(self.receipts)
        yield from self.receipts.build()
        yield
        self.compare = ComparePage(theme)
        self.pages.addWidget(self.compare)
        yield
        self.signed = SignaturesPage(theme)
        self.pages.addWidget(self.signed)
        yield
        self.key = KeyView(theme, whole=False)
        self.pages.addWidget(self.key)
        yield from self.key.build()
        yield
        self.header.bar.currentChanged.connect(self._turn)
        self._is_whole = True

    @property
    def page(self) -> str:
        return PAGES[self.pages.currentIndex()]

    def show_page(self, name: str) -> None:
        """Bring a page to the front. Raises `ValueError` for one that is not there."""
        self.header.bar.setCurrentIndex(PAGES.index(name))

    def show_days(self, days: int) -> None:
        if str(days) in dict(SPANS):
            self.span.set_current(str(days))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen.emit()

    def _turn(self, place: int) -> None:
        self.pages.setCurrentIndex(place)
        self._fit()
        self.page_shown.emit(PAGES[place])

    def _fit(self) -> None:
        wide = self.width() >= self._theme.type_px(WIDE)
        self.span.setVisible(wide and self.page == "overview")
        self.export.setVisible(self.width() >= self._theme.type_px(560))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_whole:
            self._fit()

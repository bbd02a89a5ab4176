"""Settings › Sandbox: four pages in one section, and above them the reminder of what was switched on."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.settings.rows import SectionPage
from app.ui.settings.sandbox.controls import ControlsPage
from app.ui.settings.sandbox.overview import OverviewPage
from app.ui.settings.sandbox.own_code import OwnCodePage
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.requests import RequestsPage
from app.ui.settings.sandbox.state import SandboxState

PAGES = (
    ("overview", tr("Overview")),
    ("requests", tr("Requests")),
    ("controls", tr("Controls")),
    ("code", tr("Your code")),
)


class SandboxPage(SectionPage):
    """Each page is built when it is first opened."""

    def __init__(self, theme: Theme, presenter: SandboxPresenter) -> None:
        super().__init__(theme)
        self.presenter = presenter
        self.choice = SegmentedChoice(theme, tr("Sandbox pages"), PAGES)
        self.choice.changed.connect(self.open_page)
        row = QHBoxLayout()
        row.addWidget(self.choice)
        row.addStretch(1)
        self.column.addLayout(row)
        self.reminder = Reminder(theme, presenter.clear_all)
        self.column.addWidget(self.reminder)
        self._holder = QVBoxLayout()
        self.column.addLayout(self._holder, 1)
        self._pages: dict[str, QWidget] = {}
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)
        self.open_page("overview")

    @property
    def current(self) -> QWidget:
        """The page that is open."""
        return self._pages[self.choice.current]

    def open_page(self, key: str) -> None:
        """Show one of `PAGES`."""
        if key not in self._pages:
            self._pages[key] = self._build(key)
            self._holder.addWidget(self._pages[key])
        self.choice.set_current(key)
        self.show_state(self.presenter.state)
        for name, page in self._pages.items():  # no stack: that would be as high as the highest of them
            page.setVisible(name == key)

    def _build(self, key: str) -> QWidget:
        theme, presenter = self.theme, self.presenter
        if key == "overview":
            return OverviewPage(theme, presenter)
        if key == "requests":
            return RequestsPage(theme, presenter)
        if key == "controls":
            return ControlsPage(theme, presenter)

        return OwnCodePage(theme, presenter)

    def show_state(self, state: SandboxState) -> None:
        self.reminder.show_active(tuple(one.words for one in state.active), stays=self.choice.current == "controls")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.presenter.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():
            self.presenter.rest()


class Reminder(Card):
    """Says which test controls are on, for as long as any is, with one button that ends them all."""

    def __init__(self, theme: Theme, clear_all: Callable[[], None]) -> None:
        super().__init__(theme, padding=(14, 10), spacing=0)
        row = QHBoxLayout()
        row.setSpacing(theme.px(10))
        self._icon = IconLabel(theme, "warning", "warn", px=18)
        row.addWidget(self._icon)
        self.words = Label(theme, "", wrap=True)
        row.addWidget(self.words, 1)
        self.clear = Button(theme, tr("Clear all"), size="small")
        self.clear.clicked.connect(clear_all)
        row.addWidget(self.clear)
        self.body.addLayout(row)
        self.hide()

    def show_active(self, active: tuple[str, ...], *, stays: bool) -> None:
        """`stays`: it is there without any, too, so that the first that is turned on moves nothing."""
        count = len(active)
        if count:
            lead = tr_n("{n} test control is on.", "{n} test controls are on.", count)
            self.words.set_text(f"{'; '.join(active)}.", lead=lead)
        else:
            self.words.set_text(tr("No test controls are on."), lead="")
        self._icon.set_icon(*("warning", "warn") if count else ("check", "text3"))
        self.set_fill("warn_tint" if count else "surface")
        self.set_border("warn" if count else "line")
        self.clear.setEnabled(bool(count))
        self.setVisible(stays or bool(count))

"""The right pane: voices, delivery, cloned voices, and the request that was sent."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.call_pane import CallPane
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.splitter import Splitter
from app.ui.kit.widgets.surfaces import zone
from app.ui.speech.cloned_voice_list import ClonedVoiceList
from app.ui.speech.delivery import LARGE, DeliveryPage
from app.ui.speech.voice_picker import VoicePicker

VOICE, OWN, REQUEST = range(3)


class SpeechInspector(QWidget):
    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        zone(self, "pane")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the pages, one at each step."""
        theme = self._theme
        self.tabs = PaneTabs(theme, tr("Inspector"), (tr("Voice and delivery"), tr("My voices"), tr("Request")))
        self.pages = QStackedWidget(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self.pages, 1)
        voice = Splitter(theme, tr("Voice list height"), direction=Qt.Orientation.Vertical)
        voice.setChildrenCollapsible(False)
        self.pages.addWidget(voice)
        yield
        self.picker = VoicePicker(theme)
        voice.addWidget(self.picker)
        yield
        self.delivery = DeliveryPage(theme, whole=False)
        voice.addWidget(self.delivery)
        yield from self.delivery.build()
        voice.setStretchFactor(0, 1)
        voice.setStretchFactor(1, 0)
        voice.setSizes([430, 400])
        yield
        self.cloned_voices = ClonedVoiceList(theme)
        self.pages.addWidget(self.cloned_voices)
        yield
        self.request = CallPane(theme)
        self.pages.addWidget(self.request)
        yield
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        yield

    def _apply_theme(self) -> None:
        """Large letters leave room for one word of the first title."""
        self.tabs.bar.setTabText(VOICE, tr("Voice and delivery") if self._theme.scale < LARGE else tr("Voice"))

    def show_page(self, page: int) -> None:
        """Bring one of VOICE, OWN, REQUEST to the front."""
        self.tabs.bar.setCurrentIndex(page)

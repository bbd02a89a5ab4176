"""The right pane: the voices and how they speak, one's own voices, and what was really sent."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.service.exchange import Exchange, body_text
from app.ui.shared import money
from app.ui.shared.buttons import QuietButton
from app.ui.shared.header import PaneTabs
from app.ui.shared.label import Label
from app.ui.shared.surfaces import zone
from app.ui.shared.theme import Theme
from app.ui.speech.clone_shelf import CloneShelf
from app.ui.speech.delivery import LARGE, DeliveryPage
from app.ui.speech.voice_picker import VoicePicker

VOICE, OWN, REQUEST = range(3)


class SpeechInspector(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        zone(self, "pane")
        self.tabs = PaneTabs(theme, "Inspector", ("Voice and delivery", "My voices", "Request"))
        self.picker = VoicePicker(theme)
        self.delivery = DeliveryPage(theme)
        self.shelf = CloneShelf(theme)
        self.request = RequestPage(theme)
        voice = QSplitter(Qt.Orientation.Vertical)
        voice.setChildrenCollapsible(False)
        voice.addWidget(self.picker)
        voice.addWidget(self.delivery)
        voice.setStretchFactor(0, 1)
        voice.setStretchFactor(1, 0)
        voice.setSizes([430, 400])
        self.pages = QStackedWidget()
        for page in (voice, self.shelf, self.request):
            self.pages.addWidget(page)
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        self._theme = theme
        theme.changed.connect(self._dress)
        self._dress()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self.pages, 1)

    def _dress(self) -> None:
        """Large letters leave room for one word of the first title."""
        self.tabs.bar.setTabText(VOICE, "Voice and delivery" if self._theme.scale < LARGE else "Voice")

    def show_page(self, page: int) -> None:
        """Bring one of VOICE, OWN, REQUEST to the front."""
        self.tabs.bar.setCurrentIndex(page)


class RequestPage(QScrollArea):
    """The last call as it was sent, without the key."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._exchange: Exchange | None = None
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAccessibleName("Request")
        inside = QWidget()
        zone(inside, "pane")
        self._column = QVBoxLayout(inside)
        self.path = Label(theme, "What Rialto sends stands here, exactly as it is sent.", role="text2", wrap=True)
        self.curl = QuietButton(theme, "Copy as curl, without the key", "copy", size="small")
        self.body = Label(theme, "", "code", mono=True, wrap=True)
        self.body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.outcome = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.request_id = Label(theme, "", "small", "text2", mono=True, wrap=True)
        self.content_type = Label(theme, "", "small", "text2", mono=True, wrap=True)
        for widget in (self.path, self.body, self.outcome, self.request_id, self.content_type):
            self._column.addWidget(widget)
        self._column.addWidget(self.curl, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        self.curl.hide()
        self.setWidget(inside)
        self.curl.clicked.connect(self._copy)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(16), px(12), px(16), px(12))
        self._column.setSpacing(px(10))

    def show_exchange(self, exchange: Exchange | None) -> None:
        """Show a call; None leaves the last one."""
        if exchange is None:
            return
        self._exchange = exchange
        record, info = exchange.request, exchange.info
        self.path.set_text(f"{record.method} {record.path}")
        self.path.set_role("text")
        self.body.set_text(body_text(record.body) if not isinstance(record.body, tuple) else "A form with a file")
        status = str(exchange.status) if exchange.status is not None else "no answer"
        self.outcome.set_text(f"{status} · {money.clock(exchange.started_at)} · {money.duration(exchange.duration_s)}")
        self.request_id.set_text(f"request id: {info.request_id}" if info is not None else "")
        self.content_type.set_text(f"content type: {info.content_type}" if info is not None else "")
        self.curl.show()

    def _copy(self) -> None:
        from PySide6.QtGui import QGuiApplication

        from app.service.exchange import curl_command

        if self._exchange is not None:
            QGuiApplication.clipboard().setText(curl_command(self._exchange.request))

"""The inspector's Request page: what was sent for a job, and what the answer's headers said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.core import money
from app.service.exchange import curl_command
from app.ui.kit.copy_command import copy_command
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import zone
from app.ui.video.state import Detail

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LONGEST = 300  # of one value; a picture as a data URL is not shown whole


class RequestPage(QScrollArea):
    """`copied` tells a sentence for a toast."""

    copied = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._detail = Detail()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Request"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget()
        zone(inside, "pane")
        self._column = QVBoxLayout(inside)
        self.setWidget(inside)
        self.nothing = Label(theme, self.tr("Choose a job to see what was sent for it."), role="text2", wrap=True)
        self.sent = DetailsBlock(theme, title=self.tr("Sent"))
        self.answer = DetailsBlock(theme, title=self.tr("Answer"))
        for block in (self.sent, self.answer):
            block.copy_button.setText(self.tr("Copy"))
        self.curl = Button(theme, self.tr("Copy as curl"), "copy", size="small")
        self.curl.clicked.connect(self._copy)
        for widget in (self.nothing, self.sent, self.answer):
            self._column.addWidget(widget)
        self._column.addWidget(self.curl, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_detail(self._detail)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(px(16), px(14), px(16), px(16))
        self._column.setSpacing(px(12))

    def show_detail(self, detail: Detail) -> None:
        """Show the call of a job; of an earlier run of the program its answer's headers are no longer known."""
        before, self._detail = self._detail, detail
        exchange = detail.exchange
        if detail.id and (before.id, before.body, before.exchange) == (detail.id, detail.body, exchange):
            return
        self.nothing.setVisible(not detail.id)
        self.sent.setVisible(bool(detail.id))
        for widget in (self.answer, self.curl):
            widget.setVisible(exchange is not None)
        if not detail.id:
            return
        rows = [("Request", "POST /video/queue")]
        if exchange is not None:
            rows.append(("Address", exchange.request.url))
        rows += [(name, _shown(value)) for name, value in detail.body.items()]
        rows.append(("Credentials", "sent, not shown"))
        self.sent.set_rows(tuple(rows))
        if exchange is not None:
            info = exchange.info
            told = [("Status", str(exchange.status or "no answer")), ("Took", money.duration(exchange.duration_s))]
            told += [(name, value) for name, value in (info.headers if info is not None else ())]
            self.answer.set_rows(tuple(told))

    def _copy(self) -> None:
        if self._detail.exchange is not None:
            record = self._detail.exchange.request
            self.copied.emit(copy_command(curl_command(record), record.url))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"

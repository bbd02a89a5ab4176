"""The inspector's Request page: what was sent for a job, and what the answer's headers said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.core.answer_rows import answer_rows
from app.formats import format_number
from app.translation import tr
from app.ui.kit.call_pane import CallPane
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.label import Label
from app.ui.video.state import Detail

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LONGEST = 300  # of one value; an image as a data URL is not shown whole


class RequestPage(CallPane):
    def __init__(self, theme: Theme) -> None:
        super().__init__(Button(theme, tr("Copy as curl"), "copy", size="small"))
        self._detail = Detail()
        column = self.fill(theme, "pane", (16, 14, 16, 16), 12)
        self.nothing = Label(theme, tr("Select a job to see its request."), role="text2", wrap=True)
        self.sent = DetailsBlock(theme, title=tr("Sent"))
        self.answer = DetailsBlock(theme, title=tr("Response"))
        for block in (self.sent, self.answer):
            block.copy_button.setText(tr("Copy"))
        for widget in (self.nothing, self.sent, self.answer):
            column.addWidget(widget)
        column.addWidget(self.curl, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        self.show_detail(self._detail)

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
        rows = [(tr("Request"), "POST /video/queue")]
        if exchange is not None:
            rows.append((tr("Address"), exchange.request.url))
        rows += [(name, _shown(value)) for name, value in detail.body.items()]
        rows.append((tr("Credentials"), tr("sent, not shown")))
        self.sent.set_rows(tuple(rows))
        self.record = exchange.request if exchange is not None else None
        if exchange is not None:
            self.answer.set_rows(answer_rows(exchange))


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return (
        text
        if len(text) <= LONGEST
        else tr("{text}… ({count} characters)", text=text[:LONGEST], count=format_number(len(text)))
    )

"""What the Request pages of all tabs have in common: a call can be copied as a command, without the key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from app.service.exchange import curl_command
from app.translation import tr
from app.ui.kit.copy_command import copy_command
from app.ui.kit.widgets.scroll_pane import ScrollPane

if TYPE_CHECKING:
    from app.service.exchange import RequestRecord
    from app.ui.kit.widgets.buttons import Button


class CallPane(ScrollPane):
    """`record` is the call that is shown. `copied` tells a sentence for a toast."""

    copied = Signal(str)

    def __init__(self, curl: Button) -> None:
        super().__init__(tr("Request"))
        self.record: RequestRecord | None = None
        self.curl = curl
        curl.clicked.connect(self.copy_curl)

    def copy_curl(self) -> None:
        """Put the command on the clipboard; the key stays out of it."""
        if self.record is not None:
            self.copied.emit(copy_command(curl_command(self.record), self.record.url))

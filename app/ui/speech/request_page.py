"""The inspector's Request page: every call of the clip in the player, as it was sent, without the key."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.call_pane import CallPane
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.label import Label
from app.ui.speech.state import CallView

NOTHING = tr("The exact request appears here once it is sent.")


class RequestPage(CallPane):
    """Shows one call; with more than one, arrows step through them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(QuietButton(theme, tr("Copy as curl, without the key"), "copy", size="small"))
        self._calls: tuple[CallView, ...] = ()
        self._place = 0
        self._newest_is_shown = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it has few controls, and the keys scroll it
        column = self.fill(theme, "pane", (16, 12, 16, 12), 10)
        self.before = IconButton(theme, "chevron-left", tr("Previous call"), size="small")
        self.after = IconButton(theme, "chevron-right", tr("Next call"), size="small")
        self.which = Label(theme, "", "small", weight=600, tabular=True)
        self._steps = QWidget()
        row = QHBoxLayout(self._steps)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.which, 1)
        row.addWidget(self.before)
        row.addWidget(self.after)
        self.nothing = Label(theme, NOTHING, role="text2", wrap=True)
        self.path = Label(theme, "", mono=True, wrap=True)
        self.body = Label(theme, "", "code", mono=True, wrap=True)
        self.body.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answer = DetailsBlock(theme, title=tr("Response"))
        self.answer.copy_button.setText(tr("Copy"))
        self.answer.copy_button.setAccessibleName(tr("Copy response"))
        for widget in (self._steps, self.nothing, self.path, self.body):
            column.addWidget(widget)
        column.addWidget(self.curl, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.answer)
        column.addStretch(1)
        self.before.clicked.connect(lambda: self.step(-1))
        self.after.clicked.connect(lambda: self.step(1))
        self._agree()

    def show_calls(self, calls: Sequence[CallView]) -> None:
        """Show the calls of a clip; the newest is followed until the person steps away from it."""
        is_same_clip = bool(self._calls) and bool(calls) and self._calls[0].record.body == calls[0].record.body
        self._calls = tuple(calls)
        if not is_same_clip or self._newest_is_shown:
            self._place, self._newest_is_shown = max(0, len(self._calls) - 1), True
        self._place = min(self._place, max(0, len(self._calls) - 1))
        self._agree()

    def step(self, by: int) -> None:
        """Go to the call before (-1) or after (1)."""
        self._place = max(0, min(len(self._calls) - 1, self._place + by))
        self._newest_is_shown = self._place == len(self._calls) - 1
        self._agree()

    def _agree(self) -> None:
        call = self._calls[self._place] if self._calls else None
        self._steps.setVisible(len(self._calls) > 1)
        self.nothing.setVisible(call is None)
        self.path.setVisible(call is not None)
        self.body.setVisible(call is not None)
        self.answer.setVisible(call is not None)
        self.record = call.record if call is not None else None
        self.curl.setVisible(call is not None and bool(call.record.url))
        if call is None:
            return
        self.which.set_text(call.title)
        self.before.setEnabled(self._place > 0)
        self.after.setEnabled(self._place < len(self._calls) - 1)
        self.path.set_text(f"{call.record.method} {call.record.path}")
        self.body.set_text(json.dumps(call.record.body, indent=2, ensure_ascii=False, default=str))
        self.answer.set_rows(call.answer)

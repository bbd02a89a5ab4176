"""The Request page as a dialog, for calls of places that have no inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.call_pane import CallPane
from app.ui.kit.widgets.dialogs import Dialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.core.shown_call import ShownCall
    from app.ui.kit.theme import Theme

WIDTH, HEIGHT = 560, 420  # px at 100 %


class CallDialog(Dialog):
    """Shows one call. `pane.copied` has a sentence for a toast."""

    def __init__(self, theme: Theme, parent: QWidget, call: ShownCall | None) -> None:
        super().__init__(theme, parent, tr("Request"), width=WIDTH)
        self.pane = CallPane(theme, tr("Nothing was requested yet."))
        self.pane.setMinimumHeight(theme.px(HEIGHT))
        self.pane.show_call(call)
        self.body.addWidget(self.pane, 1)
        self.add_button(tr("Close"), accepts=False, default=True).setFocus()

"""What the replacement of a model that leaves changes, before it is used.

A module of its own: a dialog is no part of the controller that opens it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.core.leaving_models import LeavingNotice
    from app.ui.kit.theme import Theme


class ChangesDialog(Dialog):
    """What the replacement changes. `everywhere` says that everything that uses the old model is to take it."""

    def __init__(self, theme: Theme, parent: QWidget, notice: LeavingNotice, lines: Sequence[str]) -> None:
        title = tr(
            "{replacement_name} instead of {model_name}",
            replacement_name=notice.replacement_name,
            model_name=notice.name,
        )
        super().__init__(theme, parent, title, width=480)
        self.everywhere = False
        words = [tr("{name} {retires}.", name=notice.name, retires=notice.retires)]
        if notice.uses:
            words.append(tr("In use: {uses}.", uses=notice.uses))
        self.body.addWidget(Label(theme, " ".join(words), role="text2", wrap=True))
        for line in lines or (tr("The model list shows no differences."),):
            self.body.addWidget(Label(theme, line, wrap=True))
        self.add_button(tr("Not now"), accepts=False)
        every = self.add_button(tr("Use everywhere"))
        every.clicked.connect(self._apply_everywhere)
        self.add_button(tr("Use in this chat"), kind="primary", accepts=True, default=True).setFocus()

    def _apply_everywhere(self) -> None:
        self.everywhere = True
        self.accept()

"""The notice above the message box about a deprecated model, and what its replacement changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.chat.state import DeprecatedModel
    from app.ui.kit.theme import Theme


class DeprecationStrip(QWidget):
    """`changes_requested`: say what would be different. `hidden_for`: the model that the person has read about."""

    changes_requested = Signal()
    choose_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._read: set[str] = set()
        self._model_id = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(4), 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(IconLabel(theme, "clock", "warn", px=14), 0, Qt.AlignmentFlag.AlignTop)
        self.words = Label(theme, "", "small", "text2", wrap=True)
        row.addWidget(self.words, 1)
        self.changes = LinkButton(theme, tr("Show changes…"))
        self.choose = LinkButton(theme, tr("Choose…"))
        self.close_button = LinkButton(theme, tr("Later"))
        self.close_button.setAccessibleName(tr("Do not show this again for this model"))
        for button in (self.changes, self.choose, self.close_button):
            row.addWidget(button)
        self.changes.clicked.connect(self.changes_requested)
        self.choose.clicked.connect(self.choose_requested)
        self.close_button.clicked.connect(self._put_away)
        self.hide()

    def show_deprecations(self, deprecations: DeprecatedModel | None) -> None:
        """Say which model goes and when; nothing for one that stays, or that was put away."""
        self._model_id = deprecations.model_id if deprecations is not None else ""
        if deprecations is not None:
            words = [tr("{name} {retires}.", name=deprecations.model_name, retires=deprecations.retires)]
            if deprecations.replacement_name:
                words.append(tr("{name} will replace it.", name=deprecations.replacement_name))
            self.words.set_text(" ".join(words))
            self.changes.setVisible(deprecations.can_replace)
            self.choose.setVisible(not deprecations.can_replace)
        self.setVisible(deprecations is not None and deprecations.model_id not in self._read)

    def _put_away(self) -> None:
        self._read.add(self._model_id)
        self.hide()


class ChangesDialog(Dialog):
    """What the replacement changes. `everywhere` says that all chats of the old model are to take it."""

    def __init__(self, theme: Theme, parent: QWidget, deprecations: DeprecatedModel, lines: Sequence[str]) -> None:
        title = tr(
            "{replacement_name} instead of {model_name}",
            replacement_name=deprecations.replacement_name,
            model_name=deprecations.model_name,
        )
        super().__init__(theme, parent, title, width=480)
        self.everywhere = False
        number = deprecations.chats
        words = [tr("{name} {retires}.", name=deprecations.model_name, retires=deprecations.retires)]
        if number:
            words.append(tr_n("{n} chat uses it.", "{n} chats use it.", number))
        self.body.addWidget(Label(theme, " ".join(words), role="text2", wrap=True))
        for line in lines or (tr("The model list shows no differences."),):
            self.body.addWidget(Label(theme, line, wrap=True))
        self.add_button(tr("Not now"), accepts=False)
        if number > 1:
            every = self.add_button(tr("Use in all {number} chats", number=format_number(number)))
            every.clicked.connect(self._apply_everywhere)
        self.add_button(tr("Use in this chat"), kind="primary", accepts=True, default=True).setFocus()

    def _apply_everywhere(self) -> None:
        self.everywhere = True
        self.accept()

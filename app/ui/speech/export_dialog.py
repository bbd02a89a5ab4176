"""Asks how a clip is saved: its format, and the pattern its name is made of, with the name it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.speech.session.take_actions import TakeActions

DEFAULT_PATTERN = "{title} - {voice}"


class ExportDialog(Dialog):
    """`kind` and `pattern` are what was chosen."""

    def __init__(
        self, theme: Theme, parent: QWidget, take_id: str, kind: str, pattern: str, take_actions: TakeActions
    ) -> None:
        super().__init__(theme, parent, tr("Save clip"))
        self._take_id = take_id
        self.take_actions = take_actions
        self.format = ChoiceField(theme, tr("Format"))
        self._formats = {one.name: one for one in take_actions.export_formats()}
        for one in self._formats.values():
            self.format.addItem(one.title, one.name)
        self.format.setCurrentIndex(max(0, self.format.findData(kind)))
        self.field = TextField(theme, tr("Name"), text=pattern or DEFAULT_PATTERN)
        self.preview = Label(theme, "", "small", "text2", wrap=True)
        rows = (
            (Label(theme, tr("Format"), "small", "text2"), self.format),
            (Label(theme, tr("Name"), "small", "text2"), self.field),
        )
        for label, field in rows:
            bind_label(label, field)
            self.body.addWidget(label)
            self.body.addWidget(field)
        self.body.addWidget(
            Label(
                theme,
                tr("{title}, {voice}, {model}, {date}, {time} and {id} are replaced."),
                "small",
                "text3",
                wrap=True,
            )
        )
        self.body.addWidget(self.preview)
        self.add_button(tr("Cancel"), accepts=False)
        self.save = self.add_button(tr("Save as…"), kind="primary", accepts=True, default=True)
        self.format.currentIndexChanged.connect(lambda _index: self._agree())
        self.field.textChanged.connect(lambda _text: self._agree())
        self._agree()

    @property
    def kind(self) -> str:
        return str(self.format.currentData())

    @property
    def pattern(self) -> str:
        return self.field.text().strip() or DEFAULT_PATTERN

    def _agree(self) -> None:
        problem = self._formats[self.kind].problem
        name = self.take_actions.proposed_name(self._take_id, self.kind, self.pattern)
        self.preview.set_text(problem or tr("Saved as {name}", name=name))
        self.save.setEnabled(not problem)

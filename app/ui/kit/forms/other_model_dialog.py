"""Asks for a model by its id, shows what the service says of it, and returns it to be used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.other_model import NotAModel, OtherModel, facts_of
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.spinner import Spinner

OTHER_MODEL = tr("Other model…")
WIDTH = 520
LookUp = Callable[[str], Awaitable[OtherModel]]  # raises `NotAModel`


class OtherModelDialog(Dialog):
    """Enter looks the id up, and uses the model that was found. `found` is what the record on show belongs to."""

    def __init__(self, theme: Theme, parent: QWidget, look_up: LookUp, hint: str) -> None:
        super().__init__(theme, parent, tr("Other model"), width=WIDTH)
        self._look_up = look_up
        self.found: OtherModel | None = None
        label = Label(theme, tr("Model ID"), "small", "text2", weight=500)
        self.field = TextField(theme, tr("Model ID"), mono=True)
        bind_label(label, self.field)
        self.check = Button(theme, tr("Look up"), "search")
        self.busy = Spinner(theme)
        self.problem = ProblemLabel(theme)
        self.record = DetailsBlock(theme, title=tr("Model"))
        self.record.copy_button.setText(tr("Copy"))
        self.record.copy_button.setAccessibleName(tr("Copy the record"))
        line = QHBoxLayout()
        line.setSpacing(theme.px(8))
        line.addWidget(self.field, 1)
        line.addWidget(self.busy)
        line.addWidget(self.check)
        self.body.addWidget(label)
        self.body.addLayout(line)
        self.body.addWidget(Label(theme, hint, "small", "text3", wrap=True))
        self.body.addWidget(self.problem)
        self.body.addWidget(self.record)
        self.body.addStretch(1)
        self.add_button(tr("Cancel"), accepts=False)
        self.use = self.add_button(tr("Use model"), kind="primary", accepts=True)
        self.field.textChanged.connect(self._forget)
        self.check.clicked.connect(self.look)
        self.field.returnPressed.connect(self._enter)
        self._forget()
        self.field.setFocus()

    def look(self) -> None:
        """Ask the service for what is typed; the newest request counts."""
        if self.field.text().strip():
            self._forget()
            self.busy.show()
            self.tasks.replace("look up", self._ask, self.field.text())

    async def _ask(self, text: str) -> None:
        try:
            found = await self._look_up(text)
        except NotAModel as error:
            self.busy.hide()
            self.problem.show_field_error(self.field, str(error))
            self.problem.show()
        else:
            self.busy.hide()
            self.found = found
            self.record.set_rows(facts_of(found))
            self.record.show()
            self.use.setEnabled(True)
            self.use.setDefault(True)
        self._fit()

    def _enter(self) -> None:
        if self.found is not None:
            self.accept()
        else:
            self.look()

    def _forget(self) -> None:
        """Another id is typed: the record on show is not its."""
        self.tasks.cancel("look up")
        self.found = None
        self.problem.set_text("")
        self.use.setEnabled(False)
        self.check.setEnabled(bool(self.field.text().strip()))
        for widget in (self.busy, self.problem, self.record):
            widget.hide()


async def ask_other_model(
    theme: Theme, parent: QWidget, look_up: LookUp, *, in_chat: bool = False
) -> OtherModel | None:
    """Ask for a model that need not be in the list; None when the person leaves."""
    hint = tr("Any model of the service, also one that its list leaves out.")
    if in_chat:
        hint = tr(
            "Any model of the service. Parameters may follow, as in {example}.", example="id:enable_web_search=on"
        )
    dialog = OtherModelDialog(theme, parent, look_up, hint)
    return dialog.found if await dialog.answer() else None

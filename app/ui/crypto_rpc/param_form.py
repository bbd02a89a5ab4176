"""The parameters of one call as named fields, each with the meaning of its value below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.translation import tr
from app.ui.crypto_rpc.session.parameter_fields import FieldMeaning, FieldView
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

HINTS = {
    "address": "0x…",
    "block": tr("latest, safe, finalized, pending, earliest or a number"),
    "quantity": tr("1500, 0x5dc, 30 gwei or 1.5 ether"),
    "hash": tr("0x and 64 digits"),
    "hex": "0x…",
    "bool": tr("true or false"),
    "list": "[ ]",
    "object": "{ }",
}
Read = Callable[[str, str], FieldMeaning]


class ParamForm(ScrollPane):
    """`edited` gives the texts of all fields after each change that a person made."""

    edited = Signal(object)  # list[str]
    contract_requested = Signal()

    def __init__(self, theme: Theme, read: Read, parent: QWidget | None = None) -> None:
        super().__init__(tr("Parameters as fields"), parent)
        self._theme = theme
        self._read = read
        self.fields: tuple[FieldView, ...] = ()
        self.inputs: list[TextField] = []
        self._notes: list[Label] = []
        column = self.fill(theme, "canvas", (20, 10, 20, 10), 10)
        rows = QVBoxLayout()
        self._rows: WidgetList[QWidget] = WidgetList(rows)
        column.addLayout(rows)
        self.nothing = Label(theme, "", role="text2", wrap=True)
        self.contract = LinkButton(theme, tr("Fill in from a contract (ABI)…"), "document")
        self.contract.clicked.connect(self.contract_requested)
        column.addWidget(self.nothing)
        column.addWidget(self.contract, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def show_fields(self, fields: tuple[FieldView, ...], *, contract: bool) -> None:
        """Show these fields."""
        shape = [(field.place, field.kind) for field in fields]
        if shape != [(field.place, field.kind) for field in self.fields] or len(self.inputs) != len(fields):
            self._make(fields)
        self.fields = fields
        for field, line in zip(fields, self.inputs, strict=True):
            if line.text() != field.text:
                line.setText(field.text)
        self._explain()
        self.nothing.set_text(tr("The parameters of this method are not documented. Write them as JSON."))
        self.nothing.setVisible(not fields)
        self.contract.setVisible(contract)

    def _make(self, fields: tuple[FieldView, ...]) -> None:
        self._rows.clear()
        self.inputs, self._notes = [], []
        for field in fields:
            row = QWidget()
            column = QVBoxLayout(row)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(self._theme.px(3))
            words = field.label if not field.optional else tr("{label} (optional)", label=field.label)
            label = Label(self._theme, words, "small", "text2", weight=500)
            hint = HINTS.get(field.kind, "")
            line = TextField(self._theme, field.label, placeholder=hint, mono=True, small=True)
            line.setMaxLength(2_000_000)
            note = Label(self._theme, "", "caption", "text2", wrap=True)
            note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            bind_label(label, line)
            line.setAccessibleName(field.label)
            line.textEdited.connect(self._publish)
            for widget in (label, line, note):
                column.addWidget(widget)
            self.inputs.append(line)
            self._notes.append(note)
            self._rows.add(row)

    def _publish(self) -> None:
        self._explain()
        self.edited.emit([line.text() for line in self.inputs])

    def _explain(self) -> None:
        for field, line, note in zip(self.fields, self.inputs, self._notes, strict=True):
            reading = self._read(field.kind, line.text())
            line.set_problem(reading.problem)
            note.set_role("bad" if reading.problem else "text2")
            note.set_text(reading.problem or reading.note)
            note.setVisible(bool(reading.problem or reading.note))

"""Dialogs for what a chat asks for as JSON: the schema of its answers, its functions, and answers for functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.chat.session.structured_output import Fault, Structure, answer_format, function_names, functions_of
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

SCHEMA_EXAMPLE = """{
  "type": "object",
  "properties": {
    "answer": {"type": "string"},
    "sources": {"type": "array", "items": {"type": "string"}}
  },
  "required": ["answer", "sources"],
  "additionalProperties": false
}"""
FUNCTIONS_EXAMPLE = """[
  {
    "name": "get_weather",
    "description": "The weather of a city now",
    "parameters": {
      "type": "object",
      "properties": {"city": {"type": "string"}},
      "required": ["city"]
    }
  }
]"""
LINES = 9


class JsonEdit(TextArea):
    """A field for JSON; a line that is wrong is tinted."""

    def __init__(self, theme: Theme, name: str, *, lines: int = LINES) -> None:
        super().__init__()
        self._theme = theme
        self._lines = lines
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setProperty("mono", True)
        self.setLineWrapMode(TextArea.LineWrapMode.NoWrap)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFont(self._theme.font("code"))
        self.setFixedHeight(self._lines * self._theme.line_px("code") + self._theme.px(14))

    def mark_line(self, line: int) -> None:
        """Tint a line, counted from 1; 0 tints none."""
        block = self.document().findBlockByNumber(line - 1)
        marks: list[QTextEdit.ExtraSelection] = []
        if line > 0 and block.isValid():
            mark = QTextEdit.ExtraSelection()
            form = QTextCharFormat()
            form.setBackground(QColor(self._theme.color("bad_tint")))
            form.setProperty(QTextFormat.Property.FullWidthSelection, True)
            mark.format = form
            mark.cursor = QTextCursor(block)
            marks.append(mark)
        self.setExtraSelections(marks)


class StructureDialog(Dialog):
    """`structure` is what was entered. What the model cannot do stays here, dashed, with the reason."""

    def __init__(
        self, theme: Theme, parent: QWidget, structure: Structure, *, no_schema: str = "", no_functions: str = ""
    ) -> None:
        super().__init__(theme, parent, tr("JSON output and functions"), width=620)
        self._before = structure
        self.use_schema = Switch(theme, tr("Use a schema"))
        self.use_schema.setChecked(structure.use_schema)
        self.schema = JsonEdit(theme, tr("Answer schema"))
        self.schema.setPlainText(structure.schema or SCHEMA_EXAMPLE)
        self.schema_note = Label(theme, "", "small", "text3", wrap=True)
        self.use_functions = Switch(theme, tr("Offer functions"))
        self.use_functions.setChecked(structure.use_functions)
        self.functions = JsonEdit(theme, tr("Functions the model can call"))
        self.functions.setPlainText(structure.functions or FUNCTIONS_EXAMPLE)
        self.functions_note = Label(theme, "", "small", "text3", wrap=True)
        self.choice = SegmentedChoice(
            theme,
            tr("Function choice"),
            (("auto", tr("Auto")), ("required", tr("Always")), ("none", tr("Never"))),
        )
        self.choice.set_current(structure.function_choice)
        self._no_schema, self._no_functions = no_schema, no_functions
        self._row(self.use_schema, tr("Use a schema"))
        self.body.addWidget(self.schema)
        self.body.addWidget(self.schema_note)
        self._row(self.use_functions, tr("Offer functions"))
        self.body.addWidget(self.functions)
        self.body.addWidget(self.functions_note)
        self._row(self.choice, tr("Function choice"))
        self.add_button(tr("Cancel"), accepts=False)
        self.save = self.add_button(tr("Use in this chat"), kind="primary", accepts=True)
        for edit in (self.schema, self.functions):
            edit.textChanged.connect(self._check)
        for switch in (self.use_schema, self.use_functions):
            switch.toggled.connect(lambda _on: self._check())
        self._check()

    def _row(self, control: QWidget, words: str) -> None:
        row = QHBoxLayout()
        label = Label(self._theme, words, weight=500)
        label.setBuddy(control)
        row.addWidget(label, 1)
        row.addWidget(control)
        self.body.addLayout(row)

    def _check(self) -> None:
        schema = answer_format(self.schema.toPlainText())
        self._show(self.schema, self.schema_note, schema, self.use_schema.isChecked(), self._no_schema)
        if not isinstance(schema, Fault) and not self._no_schema:
            self.schema_note.set_text(tr("The schema is ready to send. Answers are shown as a tree."))
        functions = functions_of(self.functions.toPlainText())
        self._show(self.functions, self.functions_note, functions, self.use_functions.isChecked(), self._no_functions)
        if not isinstance(functions, Fault) and not self._no_functions:
            names = ", ".join(function_names(self.functions.toPlainText()))
            self.functions_note.set_text(
                tr("{names}. Rialto does not run functions: you see the call and enter the result.", names=names)
            )
        wrong = (self.use_schema.isChecked() and isinstance(schema, Fault)) or (
            self.use_functions.isChecked() and isinstance(functions, Fault)
        )
        self.save.setEnabled(not wrong)
        for switch, note in ((self.use_schema, self.schema_note), (self.use_functions, self.functions_note)):
            if not switch.isChecked():
                note.set_text(tr("Off: none of this is sent."))

    def _show(self, edit: JsonEdit, note: Label, made: object, on: bool, why_not: str) -> None:
        fault = made if isinstance(made, Fault) else None
        edit.mark_line(fault.line if fault is not None and on else 0)
        note.set_role("bad" if fault is not None and on else "warn" if why_not and on else "text3")
        if why_not:
            note.set_text(why_not)
        elif fault is not None:
            note.set_text(fault.sentence)

    @property
    def structure(self) -> Structure:
        """What was entered; an example that nobody switched on is not kept."""
        schema, functions = self.schema.toPlainText(), self.functions.toPlainText()
        return Structure(
            use_schema=self.use_schema.isChecked(),
            schema=schema if self.use_schema.isChecked() or schema != SCHEMA_EXAMPLE else "",
            use_functions=self.use_functions.isChecked(),
            functions=functions if self.use_functions.isChecked() or functions != FUNCTIONS_EXAMPLE else "",
            function_choice=self.choice.current,
        )


class CallsDialog(Dialog):
    """A field for each function that the model asks for. `answers` are the texts by call id."""

    def __init__(self, theme: Theme, parent: QWidget, calls: Sequence[tuple[str, str, str, str]]) -> None:
        """`calls` are (id, name, arguments, what was answered before)."""
        title = tr_n("Enter function result", "Enter function results", len(calls))
        super().__init__(theme, parent, title, width=560)
        self.fields: dict[str, TextArea] = {}
        words = tr("The model called this function. Rialto runs nothing: what you enter is returned as the result.")
        self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        for call_id, name, arguments, given in calls:
            called = name or tr("unnamed")
            field = JsonEdit(theme, tr("Result of {name}", name=called), lines=3)
            field.setPlaceholderText(tr("What {name} returns, as text or JSON", name=called))
            field.setPlainText(given)
            field.textChanged.connect(self._check)
            self.fields[call_id] = field
            together = QVBoxLayout()
            together.setSpacing(theme.px(4))
            together.addWidget(Label(theme, called, mono=True, weight=500))
            together.addWidget(Label(theme, _tidy(arguments), "small", "text2", mono=True, wrap=True))
            together.addSpacing(theme.px(2))
            together.addWidget(field)
            self.body.addLayout(together)
        self.add_button(tr("Cancel"), accepts=False)
        words = tr_n("Send result", "Send results", len(calls))
        self.send = self.add_button(words, kind="primary", accepts=True)
        if self.fields:
            next(iter(self.fields.values())).setFocus()
        self._check()

    def _check(self) -> None:
        self.send.setEnabled(all(field.toPlainText().strip() for field in self.fields.values()))

    @property
    def answers(self) -> dict[str, str]:
        return {call_id: field.toPlainText() for call_id, field in self.fields.items()}


def _tidy(arguments: str) -> str:
    """Arguments as they are read best, cut where a screen ends."""
    try:
        text = json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        text = arguments
    return text if len(text) <= 4_000 else f"{text[:4_000]}…"

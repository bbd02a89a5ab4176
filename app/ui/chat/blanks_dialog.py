"""The form for the blanks of a prompt, before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from app.core.blanks import CLIPBOARD, Blank
from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, bind_label
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.ui.kit.theme import Theme

COPIED_LINES = 4  # of what was copied, before it scrolls
MAX_CHARS = 4000  # of one line


class BlanksDialog(Dialog):
    """One field for each blank; **Use** waits until none is empty."""

    def __init__(
        self, theme: Theme, parent: QWidget, name: str, blanks: Sequence[Blank], values: Mapping[str, str]
    ) -> None:
        super().__init__(theme, parent, tr("Fill in “{name}”", name=name))
        self.fields: dict[str, QLineEdit | TextArea | ChoiceField] = {}
        self.add_button(tr("Cancel"), accepts=False)
        self.use = self.add_button(tr("Use prompt"), kind="primary", accepts=True, default=True)
        for blank in blanks:
            title = tr("Clipboard") if blank.name == CLIPBOARD else blank.name
            words = Label(theme, title, "small", "text2", weight=500)
            field = self._field(theme, blank, values.get(blank.name, ""))
            bind_label(words, field)
            self.body.addWidget(words)
            self.body.addWidget(field)
            self.fields[blank.name] = field
        self._check()
        next(iter(self.fields.values())).setFocus()

    def _field(self, theme: Theme, blank: Blank, value: str) -> QLineEdit | TextArea | ChoiceField:
        if blank.choices:
            choice = ChoiceField(theme, blank.name)
            choice.addItems(list(blank.choices))
            choice.setCurrentText(value if value in blank.choices else blank.choices[0])
            return choice
        if blank.name == CLIPBOARD:
            text = TextArea(value)
            text.setTabChangesFocus(True)
            text.setFixedHeight(theme.px(16) + COPIED_LINES * theme.line_px("body"))
            text.textChanged.connect(self._check)
            return text
        line = QLineEdit(value)
        line.setMaxLength(MAX_CHARS)
        line.selectAll()
        line.textChanged.connect(self._check)
        return line

    def _check(self) -> None:
        self.use.setEnabled(all(text.strip() for text in self.values().values()))

    def values(self) -> dict[str, str]:
        """What was filled in, by blank."""
        found: dict[str, str] = {}
        for name, field in self.fields.items():
            if isinstance(field, ChoiceField):
                found[name] = field.currentText()
            else:
                found[name] = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
        return found

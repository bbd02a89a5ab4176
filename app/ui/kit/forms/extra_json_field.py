"""The field for request parameters without a field of their own, as a JSON object: one for all tabs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.extra_json import parse_extra_json
from app.translation import tr
from app.ui.kit.forms.options_fold import OptionsFold
from app.ui.kit.text_area import DebouncedTextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import set_property

EXTRA_JSON = tr("Extra JSON")
LINES = 4


class ExtraJsonField(QWidget):
    """`settled` gives the text a moment after the last key, right or wrong; a fault stands below as a sentence."""

    settled = Signal(str)

    def __init__(
        self,
        theme: Theme,
        note: str = tr("Sent with the request as typed. Not validated."),
        fields: Mapping[str, str] | None = None,
        example: str = '{"name": "value"}',
    ) -> None:
        """`note` stands below while nothing is wrong; `fields` as in `parse_extra_json`."""
        super().__init__()
        self._theme = theme
        self._usual = note
        self._fields = fields
        self.box = DebouncedTextArea(EXTRA_JSON, example)
        self.box.setProperty("mono", True)
        self.note = Label(theme, note, "small", "text3", wrap=True)
        self.setFocusProxy(self.box)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.box)
        self._column.addWidget(self.note)
        self.box.settled.connect(self._settle)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._show_fault("")

    def show_text(self, text: str, why_off: str = "", *, replace: bool = False) -> None:
        """Show what is stored, unless something is being typed; with `replace`, also then.

        `why_off` turns the field off and says why.
        """
        self.box.show_text(text, replace=replace or not self.box.is_typing)
        self.box.setEnabled(not why_off)
        self._show_fault(self.box.toPlainText(), why_off)

    def flush(self) -> None:
        """Report what was typed a moment ago."""
        self.box.flush()

    def _settle(self, text: str) -> None:
        self._show_fault(text)
        self.settled.emit(text)

    def _show_fault(self, text: str, why_off: str = "") -> None:
        fault = parse_extra_json(text, self._fields)[1]
        words = fault or why_off or self._usual
        self.note.set_text(words)
        self.note.set_role("bad" if fault else "text3")
        set_property(self.box, "state", "error" if fault else "")
        self.box.setAccessibleDescription(words)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._column.setSpacing(theme.px(4))
        self.box.setFont(theme.font("small", mono=True))
        self.box.setFixedHeight(LINES * theme.line_px("small") + theme.px(10))


class ExtraJsonFold(OptionsFold):
    """The field behind a button, for a form whose other options are all in sight."""

    def __init__(self, theme: Theme, fields: Mapping[str, str]) -> None:
        super().__init__(theme)
        self.extra = ExtraJsonField(theme, fields=fields)
        label = Label(theme, EXTRA_JSON, "small", "text2", weight=500)
        label.setBuddy(self.extra.box)
        self.body.addWidget(label)
        self.body.addWidget(self.extra)

    def show_text(self, text: str, *, replace: bool = False) -> None:
        """Show what is stored, as `ExtraJsonField` does. A text that comes into the form opens it."""
        is_new = bool(text) and text != self.extra.box.toPlainText()
        self.extra.show_text(text, replace=replace)
        if is_new:
            self.unfold(True)

"""A sentence about what is wrong, below the fields that it is about: shown, and said aloud when it comes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce, nothing_said
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import set_property


class ProblemLabel(Label):
    """Empty while nothing is wrong. Says a sentence once, when it is new and the label's surroundings are on screen."""

    def __init__(
        self, theme: Theme, style: str = "small", *, weight: int | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "", style, "bad", weight=weight, wrap=True, parent=parent)

    _blamed: QWidget | None = None
    _is_said_with_the_field = False

    def show_field_error(self, field: QWidget, sentence: str) -> None:
        """Say what is wrong with a field, mark it and put the keyboard into it, until other words are set."""
        self._is_said_with_the_field = field.window().focusWidget() is not field
        self.set_text(sentence)
        self._is_said_with_the_field = False
        self._blamed = field
        set_property(field, "state", "error")
        with nothing_said():  # that the description is new: Orca 43 would say it once more
            field.setAccessibleDescription(sentence)
        field.setFocus(Qt.FocusReason.OtherFocusReason)

    def setText(self, text: str) -> None:
        before = self.text()
        if self._blamed is not None and alive(self._blamed):
            set_property(self._blamed, "state", "")
            self._blamed.setAccessibleDescription("")
        self._blamed = None
        super().setText(text)
        around = self.parentWidget()
        if self.text() != before and around is not None and not self._is_said_with_the_field:
            announce(around, self.text(), urgent=True)

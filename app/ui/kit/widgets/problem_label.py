"""A sentence about what is wrong, below the fields that it is about: shown, and said aloud when it comes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.label import Label


class ProblemLabel(Label):
    """Empty while nothing is wrong. Says a sentence once, when it is new and the label's surroundings are on screen."""

    def __init__(
        self, theme: Theme, style: str = "small", *, weight: int | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "", style, "bad", weight=weight, wrap=True, parent=parent)

    def setText(self, text: str) -> None:
        before = self.text()
        super().setText(text)
        around = self.parentWidget()
        if self.text() != before and around is not None and around.isVisible():
            announce(around, self.text(), urgent=True)

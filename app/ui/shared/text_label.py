"""A label that keeps its text style and its colour role through every change of theme and text size."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.ui.shared.theme import Theme


class TextLabel(QLabel):
    """Plain text in one of the theme's styles. `wrap` lets it break into lines; text is never read as markup."""

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        *,
        style: str = "body",
        role: str = "text",
        weight: int | None = None,
        mono: bool = False,
        tabular: bool = False,
        wrap: bool = False,
        selectable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._style = style
        self._role = role
        self._weight = weight
        self._mono = mono
        self._tabular = tabular
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if wrap:  # a wrapped label must be allowed to be narrow, and then grows downwards
            policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            policy.setHeightForWidth(True)
            self.setSizePolicy(policy)
        if selectable:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            self.setAccessibleName(text)
        theme.changed.connect(self._restyle)
        self._restyle()

    def set_role(self, role: str) -> None:
        """Take another colour role, such as "bad" for a sentence that says what went wrong."""
        if role != self._role:
            self._role = role
            self._restyle()

    def set_weight(self, weight: int | None) -> None:
        if weight != self._weight:
            self._weight = weight
            self._restyle()

    def _restyle(self) -> None:
        self.setFont(self._theme.font(self._style, self._weight, mono=self._mono, tabular=self._tabular))
        palette = QPalette(self.palette())
        color = self._theme.color(self._role)
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
            palette.setColor(group, QPalette.ColorRole.WindowText, color)
            palette.setColor(group, QPalette.ColorRole.Text, color)
        self.setPalette(palette)

"""The fields of what is signed, each with its exact value and how to read it. Nothing is shortened."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.ui.shared.card import Card
from app.ui.shared.label import Label
from app.ui.shared.theme import Theme
from app.ui.wallet.top_up_state import SheetRow

TITLES = {
    "domain": "Domain: which token, on which chain",
    "message": "Message: TransferWithAuthorization",
    "hash": "Hashes",
}


class SignSheet(Card):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, padding=(14, 8), spacing=4)
        self.setAccessibleName("Exactly what you sign")
        self._holder: QWidget | None = None
        self.rows: tuple[SheetRow, ...] = ()

    def show_rows(self, rows: tuple[SheetRow, ...]) -> None:
        """Show other fields."""
        if self._holder is not None:
            self._holder.hide()
            self._holder.deleteLater()
        self.rows = rows
        theme = self._theme
        self._holder = QWidget()
        grid = QGridLayout(self._holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(14))
        grid.setVerticalSpacing(theme.px(5))
        line = 0
        for group, title in TITLES.items():
            grid.addWidget(Label(theme, title, "small", "text2", weight=600), line, 0, 1, 3)
            line += 1
            for row in (each for each in rows if each.group == group):
                name = Label(theme, row.name, "small", "text2", mono=True)
                value = Label(theme, row.value, "small", mono=True, wrap=True)
                value.setAccessibleName(f"{row.name}: {row.value}")
                value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                grid.addWidget(name, line, 0, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(value, line, 1, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(
                    Label(theme, row.reading, "small", "text2", wrap=True), line, 2, Qt.AlignmentFlag.AlignTop
                )
                line += 1
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        self.body.addWidget(self._holder)

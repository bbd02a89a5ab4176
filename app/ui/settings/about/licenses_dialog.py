"""The licences of everything that is shipped: the parts at the left, the words of one at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.nav_list import NavList, Place
from app.ui.settings.about.state import Part

_WIDTH, _HEIGHT = 1020, 460  # eighty letters beside the list
_LIST_WIDTH = 260
_NO_TEXT = "Its authors name the licence above and ship no text of it."


class LicensesDialog(Dialog):
    def __init__(self, theme: Theme, parent: QWidget, parts: Sequence[Part]) -> None:
        super().__init__(theme, parent, "Licences", width=_WIDTH)
        self._parts = parts
        self.list = NavList(theme, "Parts of Rialto")
        self.list.setFixedWidth(theme.type_px(_LIST_WIDTH))
        self.list.set_places([Place(str(index), part.title) for index, part in enumerate(parts)])
        self.list.chosen.connect(self._show)
        self.words = QPlainTextEdit()
        self.words.setReadOnly(True)
        self.words.setAccessibleName("Licence")
        self.words.setFont(theme.font("code"))
        row = QHBoxLayout()
        row.setSpacing(theme.px(12))
        row.addWidget(self.list)
        row.addWidget(self.words, 1)
        for widget in (self.list, self.words):
            widget.setMinimumHeight(theme.px(_HEIGHT))
        self.body.addLayout(row, 1)
        self.add_button("Close", accepts=True, default=True)
        if parts:
            self.list.set_current("0")
            self._show("0")
        self.list.setFocus()

    def _show(self, key: str) -> None:
        part = self._parts[int(key)]
        self.words.setPlainText(f"{part.title}\n{part.words}\n\n{part.text.strip() or _NO_TEXT}\n")

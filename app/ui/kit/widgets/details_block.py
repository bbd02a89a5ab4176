"""The facts under an error: a table of label and value, and one button that copies them for support."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import QuietButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule

_MONO = frozenset(
    {tr("Request ID"), tr("Version"), tr("Code"), tr("Request")}
)  # ids lose their shape in a proportional font


class DetailsBlock(Card):
    """Shows (label, value) rows. The texts are already free of secrets."""

    def __init__(
        self,
        theme: Theme,
        rows: tuple[tuple[str, str], ...] = (),
        *,
        title: str = tr("Details"),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, padding=(14, 8), spacing=8, parent=parent)
        top = QHBoxLayout()
        top.addWidget(Label(theme, title, weight=500), 1)
        self.copy_button = QuietButton(theme, tr("Copy for support"), "copy", size="small")
        self.copy_button.clicked.connect(self.copy)
        top.addWidget(self.copy_button)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        self._grid = QGridLayout()
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(theme.px(24))
        self._grid.setVerticalSpacing(theme.px(4))
        self.body.addLayout(self._grid)
        self._labels: list[Label] = []
        self._rows: tuple[tuple[str, str], ...] = ()
        self.set_rows(rows)

    def set_rows(self, rows: tuple[tuple[str, str], ...]) -> None:
        """Show other facts."""
        discard(*self._labels)
        self._labels = []
        self._rows = rows
        for line, (name, value) in enumerate(rows):
            left = Label(self._theme, name, "small", "text2")
            right = Label(self._theme, value, "small", wrap=True, mono=name in _MONO, tabular=True)
            self._grid.addWidget(left, line, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(right, line, 1)
            self._labels += [left, right]

    def text(self) -> str:
        """What the button copies: one `Label: value` a line."""
        return "\n".join(f"{name}: {value}" for name, value in self._rows)

    def copy(self) -> None:
        """Put the facts on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

"""Secrets on this computer: what, whose, where kept, last used, replace or remove. Never the secret itself."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule
from app.ui.settings.accounts.state import SecretRow

_HEADS = (tr("Secret"), tr("Belongs to"), tr("Kept in"), tr("Last used"))


class SecretsTable(QWidget):
    """`wanted` tells (account id, "replace-key", "export-key" or "remove-key")."""

    wanted = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._rows: tuple[SecretRow, ...] | None = None
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(1, 1, 1, 1)
        self._table = QWidget()
        self._outer.addWidget(self._table)
        self.setAccessibleName(tr("Secrets on this computer"))
        theme.changed.connect(self.update)
        self.show_rows(())

    def show_rows(self, rows: tuple[SecretRow, ...]) -> None:
        """Show other rows; the same ones change nothing."""
        if rows == self._rows:
            return
        self._rows = rows
        discard(self._table)
        self._table = QWidget()
        self._outer.addWidget(self._table)
        grid = QGridLayout(self._table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._theme.px(16))
        grid.setVerticalSpacing(0)
        for column, stretch in enumerate((3, 3, 4, 2, 0)):
            grid.setColumnStretch(column, stretch)
        for column, head in enumerate(_HEADS):
            label = Label(self._theme, head, "small", "text2", weight=500, wrap=True)
            label.setMinimumHeight(self._theme.height_px(30))
            label.setContentsMargins(self._theme.px(16) if column == 0 else 0, 0, 0, 0)
            grid.addWidget(label, 0, column)
        if not rows:
            self._line(grid, 1)
            words = Label(self._theme, tr("No keys are stored here. The Sandbox needs none."), role="text2", wrap=True)
            words.setMinimumHeight(self._theme.height_px(50))
            words.setContentsMargins(self._theme.px(16), 0, self._theme.px(16), 0)
            grid.addWidget(words, 2, 0, 1, 5)
        for index, row in enumerate(rows):
            self._line(grid, 1 + 2 * index)
            self._fill(grid, 2 + 2 * index, row)

    def _line(self, grid: QGridLayout, at: int) -> None:
        """A line over the whole width of the card, whatever the grid's margins are."""
        holder = QWidget()
        holder.setFixedHeight(1)
        layout = QHBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(rule())
        grid.addWidget(holder, at, 0, 1, 5)

    def _fill(self, grid: QGridLayout, at: int, row: SecretRow) -> None:
        theme = self._theme
        what = QWidget()
        words = QVBoxLayout(what)
        words.setContentsMargins(theme.px(16), theme.px(8), 0, theme.px(8))
        words.setSpacing(0)
        words.addWidget(Label(theme, row.what, weight=500, wrap=True))
        words.addWidget(Label(theme, row.hint or tr("not shown"), "small", "text2", mono=bool(row.hint), wrap=True))
        grid.addWidget(what, at, 0)
        grid.addWidget(Label(theme, row.belongs_to, wrap=True), at, 1)
        place = QHBoxLayout()
        place.setSpacing(theme.px(6))
        place.addWidget(
            IconLabel(theme, "lock" if row.is_lasting else "clock", "ok" if row.is_lasting else "text2", px=15)
        )
        place.addWidget(Label(theme, row.kept_in, wrap=True), 1)
        grid.addLayout(place, at, 2)
        grid.addWidget(Label(theme, row.last_used or tr("never"), role="text2", tabular=True, wrap=True), at, 3)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.px(6))
        buttons.setContentsMargins(0, 0, theme.px(10), 0)
        verb, wanted = (tr("Export"), "export-key") if row.is_wallet else (tr("Replace"), "replace-key")
        first = Button(theme, f"{verb}…", size="small")
        word = "key" if row.what == tr("API key") else row.what.lower()
        first.setAccessibleName(
            tr("{verb} the {word} of {belongs_to}", verb=verb, word=word, belongs_to=row.belongs_to)
        )
        first.clicked.connect(lambda: self.wanted.emit(row.account_id, wanted))
        remove = IconButton(
            theme, "trash", tr("Remove the {word} of {belongs_to}", word=word, belongs_to=row.belongs_to), size="small"
        )
        remove.clicked.connect(lambda: self.wanted.emit(row.account_id, "remove-key"))
        buttons.addWidget(first)
        buttons.addWidget(remove)
        grid.addLayout(buttons, at, 4, Qt.AlignmentFlag.AlignVCenter)

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), self._theme.px(8), "surface", "line")

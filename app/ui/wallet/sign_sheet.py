"""The fields of what is signed, each with its exact value and how to read it. Nothing is shortened."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.discard import discard
from app.ui.kit.lists.read_lines import ReadLines
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.label import Label
from app.ui.wallet.top_up_state import SheetRow

TITLES = {
    "domain": tr("Domain: token and chain"),
    "message": tr("Message: TransferWithAuthorization"),
    "transfer": tr("Message: TransferChecked"),
    "fee": tr("Network: fee and block"),
    "hash": tr("Hashes, as shown on a hardware wallet"),
    "digest": tr("Hash of the whole message"),
}
SIDE = 14  # px of air at both sides of a line


class SignSheet(Card):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, padding=(1, 1), spacing=0)
        self.setAccessibleName(tr("Exactly what you sign"))
        self._holder: QWidget | None = None
        self.rows: tuple[SheetRow, ...] = ()

    def show_rows(self, rows: tuple[SheetRow, ...]) -> None:
        """Show other fields."""
        if self._holder is not None:
            discard(self._holder)
        self.rows = rows
        self._holder = _Fields(self._theme, rows)
        self.body.addWidget(self._holder)


class _Fields(QWidget):
    """A band for each group, a hairline between its lines."""

    def __init__(self, theme: Theme, rows: tuple[SheetRow, ...]) -> None:
        super().__init__()
        self._theme = theme
        self._titles: list[Label] = []
        self._names: list[Label] = []
        grid = QGridLayout(self)
        side = theme.px(SIDE)
        grid.setContentsMargins(side, 0, side, theme.px(4))
        grid.setHorizontalSpacing(theme.px(14))
        grid.setVerticalSpacing(0)
        line, walked = 0, ReadLines(self)
        groups = {row.group for row in rows}
        for group, title in ((each, TITLES[each]) for each in TITLES if each in groups):
            self._titles.append(_cell(theme, Label(theme, title, "small", "text2", weight=600)))
            grid.addWidget(self._titles[-1], line, 0, 1, 3)
            line += 1
            for row in (each for each in rows if each.group == group):
                name = Label(theme, row.name, "small", "text2", mono=True)
                value = Label(theme, row.value, "small", mono=True, wrap=True)
                value.setAccessibleName(", ".join(filter(None, (f"{row.name}: {row.value}", row.reading))))
                value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                walked.add(value)
                reading = Label(theme, row.reading, "small", "text2", wrap=True)
                for said in (name, reading):  # by the value's own name
                    show_as(said, "NoRole")
                self._names.append(name)
                for place, label in enumerate((name, value, reading)):
                    grid.addWidget(_cell(theme, label), line, place, Qt.AlignmentFlag.AlignTop)
                line += 1
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        for title in self._titles:
            painter.fillRect(0, title.y(), self.width(), title.height(), theme.color("sunken"))
        for label in (*self._titles[1:], *self._names):
            painter.fillRect(0, label.y(), self.width(), 1, theme.color("line"))


def _cell(theme: Theme, label: Label) -> Label:
    """Air above and below the words of one line."""
    air = theme.px(4)
    label.setContentsMargins(0, air, 0, air)
    return label

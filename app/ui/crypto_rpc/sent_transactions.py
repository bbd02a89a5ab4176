"""What became of the transactions in a request: one block for each, above the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QWidget

from app.translation import tr
from app.ui.crypto_rpc.state import SentTransaction
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.flow import DOWN, ScaledBox
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

ICONS = {
    "waiting": ("clock", "text2"),
    "mined": ("check", "ok"),
    "reverted": ("error", "bad"),
    "unknown": ("warning", "warn"),
}


class SentTransactions(QWidget):
    """`check_requested`: the person wants to know now."""

    copied = Signal(str)  # what was copied, in words
    check_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.shown: tuple[SentTransaction, ...] = ()
        lines = ScaledBox(theme, DOWN, margins=(16, 8, 16, 8), gap=10, parent=self)
        self._lines: WidgetList[QWidget] = WidgetList(lines)
        self.hide()

    def show_sent(self, sent: Sequence[SentTransaction], *, speak: bool = False) -> None:
        """Show the transactions of a run; `speak` says aloud what has changed."""
        if tuple(sent) == self.shown:
            return
        before = {each.hash: each.words for each in self.shown}
        self.shown = tuple(sent)
        self._lines.clear()
        for each in sent:
            line = self._line(each)
            self._lines.add(line)
            line.show()
            if speak and before.get(each.hash) not in (None, each.words):
                announce(self, each.words)
        self.setVisible(bool(sent))

    def _line(self, sent: SentTransaction) -> QWidget:
        theme, line = self._theme, QWidget()
        grid = QGridLayout(line)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(8))
        grid.setVerticalSpacing(theme.px(2))
        grid.setColumnStretch(1, 1)
        icon, role = ICONS[sent.state]
        grid.addWidget(IconLabel(theme, icon, role), 0, 0, Qt.AlignmentFlag.AlignTop)
        words = Label(theme, sent.words, role="bad" if sent.state == "reverted" else "text", wrap=True, weight=500)
        grid.addWidget(words, 0, 1)
        if sent.state in ("waiting", "unknown") and not sent.watched:
            check = Button(theme, tr("Check, {price}", price=sent.check_price), size="small")
            check.clicked.connect(self.check_requested)
            grid.addWidget(check, 0, 2, Qt.AlignmentFlag.AlignTop)
        self._add_code(grid, 1, sent.hash, tr("Copy hash"), tr("hash"))
        if sent.contract:
            self._add_code(grid, 2, sent.contract, tr("Copy the new contract’s address"), tr("contract’s address"))
        return line

    def _add_code(self, grid: QGridLayout, row: int, value: str, name: str, what: str) -> None:
        words = Label(self._theme, value, "code", "text2", mono=True, wrap=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        copy = IconButton(self._theme, "copy", name, size="small", icon_size=14)
        copy.clicked.connect(lambda: self._copy(value, what))
        grid.addWidget(words, row, 1)
        grid.addWidget(copy, row, 2, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)

    def _copy(self, value: str, what: str) -> None:
        QGuiApplication.clipboard().setText(value)
        self.copied.emit(what)

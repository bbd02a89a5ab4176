"""Two pages of lists: the service's bookings beside ours, and what was signed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.money import money
from app.translation import tr, tr_n
from app.ui.kit.lists.plain_table import PlainTable
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.flow import DOWN, ScaledBox
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.wallet.receipts_table import day_and_time
from app.ui.wallet.state import Difference, SignedRow, UsageSums

KIND_WORDS = {"sign-in": tr("Sign-in"), "payment": tr("Payment"), "transaction": tr("Transaction")}


def _page(theme: Theme) -> tuple[QWidget, ScaledBox]:
    page = QWidget()
    return page, ScaledBox(theme, DOWN, margins=(24, 16, 24, 12), gap=10, parent=page)


PARTS = (("calls", tr("Requests")), ("days", tr("Days")), ("models", tr("Models")), ("keys", tr("Keys")))


class ComparePage(QWidget):
    """`compare_requested`: hold the receipts against the service's bookings; `export_requested`: save these."""

    compare_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        page, column = _page(theme)
        outer.addWidget(page)
        head = QHBoxLayout()
        text = tr(
            "Rialto’s receipts next to the service’s own charges. Charges by other programs with the same "
            "key appear only on the service’s side."
        )
        self.words = Label(theme, text, role="text2", wrap=True)
        head.addWidget(self.words, 1)
        self.compare = Button(theme, tr("Compare now"), "refresh")
        self.compare.clicked.connect(self.compare_requested)
        self.export = Button(theme, tr("Save as CSV…"), "download")
        self.export.setToolTip(tr("Save the service’s charges as a table"))
        self.export.clicked.connect(self.export_requested)
        head.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.export, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        self.part = SegmentedChoice(theme, tr("Compare by"), PARTS)
        self.part.changed.connect(self._show_part)
        column.addWidget(self.part, 0, Qt.AlignmentFlag.AlignLeft)
        self.verdict = Label(theme, "", weight=600, wrap=True)
        column.addWidget(self.verdict)
        titles = (tr("When"), tr("What"), "Rialto", tr("Service"), tr("Result"))
        self.table = PlainTable(theme, tr("Charges side by side"), titles, (130, 0, 100, 100, 210), (2, 3))
        self.empty = EmptyState(
            theme,
            tr("Not compared yet"),
            tr("Make a few requests, then choose Compare now."),
            icon_name="receipt",
        )
        column.addWidget(self.table, 1)
        column.addWidget(self.empty, 1)
        self._calls: tuple[tuple[Difference, ...], str] = ((), "")
        self._sums = UsageSums()
        self.show_differences((), "")

    def show_records(self, has_records: bool) -> None:
        """Whether the service keeps sums and a table of charges; the account in use is another one."""
        self.part.setVisible(has_records)
        self.export.setVisible(has_records)
        self.part.set_current("calls")
        self._sums = UsageSums()
        self.show_differences((), "")

    def show_differences(self, found: tuple[Difference, ...], words: str) -> None:
        """Take what was found; what differs stands first and says so in words."""
        self._calls = (found, words)
        self._show_part(self.part.current)

    def show_sums(self, sums: UsageSums) -> None:
        self._sums = sums
        self._show_part(self.part.current)

    def _show_part(self, part: str) -> None:
        sums = self._sums
        lines = {"days": sums.days, "models": sums.models, "keys": sums.keys}.get(part)
        if lines is None:
            self._show(*self._calls)
        else:
            differing = sum(each.is_fault for each in lines)
            verdict = tr_n("{n} sum differs", "{n} sums differ", differing) if differing else tr("All sums match")
            self._show(lines, sums.problem or (verdict if lines and part != "keys" else ""))

    def _show(self, found: tuple[Difference, ...], words: str) -> None:
        self.verdict.set_text(words)
        lines = [
            (
                day_and_time(each.at) if each.at is not None else "",
                each.what,
                money(each.ours) if each.ours is not None else "–",
                money(each.theirs) if each.theirs is not None else "–",
                each.verdict,
            )
            for each in found
        ]
        self.table.rows.set_lines(lines, ["warn" if each.is_fault else "" for each in found])
        self.verdict.setVisible(bool(words))
        self.table.setVisible(bool(found or words))
        self.empty.setVisible(not found and not words)


class SignaturesPage(QWidget):
    """What wallets signed, newest first; the document of the chosen line stands below, to the letter."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        page, column = _page(theme)
        outer.addWidget(page)
        text = tr(
            "Everything your wallets signed here, and when. Each sign-in is valid for one request. "
            "Signatures are not stored."
        )
        column.addWidget(Label(theme, text, role="text2", wrap=True))
        titles = (tr("When"), tr("Wallet"), tr("What"), tr("For"), tr("Address"))
        self.table = PlainTable(theme, tr("Signatures"), titles, (130, 140, 90, 170, 0))
        column.addWidget(self.table, 2)
        self.empty = EmptyState(
            theme,
            tr("Nothing signed yet"),
            tr("Wallet sign-ins, payments and transactions appear here."),
            icon_name="signature",
        )
        column.addWidget(self.empty, 1)
        self._below = Label(theme, tr("Exactly what was signed"), weight=600)
        column.addWidget(self._below)
        self.document = TextArea()
        self.document.setReadOnly(True)
        self.document.setAccessibleName(tr("Exactly what was signed"))
        self.document.setFont(theme.font("code", mono=True))
        column.addWidget(self.document, 1)
        self._rows: tuple[SignedRow, ...] = ()
        self.show_rows(())
        self.empty.hide()  # nobody knows yet
        self.table.selectionModel().currentRowChanged.connect(lambda now, _before: self._show(now.row()))

    def show_rows(self, rows: tuple[SignedRow, ...]) -> None:
        self._rows = rows
        lines = [
            (day_and_time(each.at), each.account, KIND_WORDS.get(each.kind, each.kind), each.host, each.address)
            for each in rows
        ]
        self.table.rows.set_lines(lines)
        for part in (self.table, self._below, self.document):
            part.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        if rows:
            self.table.selectRow(0)
        else:
            self.document.setPlainText("")

    def _show(self, place: int) -> None:
        self.document.setPlainText(self._rows[place].document if 0 <= place < len(self._rows) else "")

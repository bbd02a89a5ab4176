"""Every receipt: filters above, sums below them, and a table that reads only what is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core.money import money, spent
from app.core.time_format import day_of_year
from app.translation import tr, tr_n
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.flow import DOWN, FlowLayout, ScaledBox
from app.ui.kit.widgets.label import Label
from app.ui.wallet.receipts_table import ReceiptTable
from app.ui.wallet.state import FREE_WORDS, OUTCOME_WORDS, BookRow, Choices, Filter, Totals

PERIODS = (
    (1, tr("Today")),
    (7, tr("7 days")),
    (14, tr("14 days")),
    (30, tr("30 days")),
    (90, tr("90 days")),
    (0, tr("All time")),
)


class ReceiptsPage(QWidget):
    """`filter_requested` carries the name of a filter and its new value."""

    filter_requested = Signal(str, object)
    clear_requested = Signal()

    def __init__(self, theme: Theme, row_at: Callable[[int], BookRow | None], *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._row_at = row_at
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the filters, the table and what stands in for it, some at each step."""
        theme = self._theme
        column = ScaledBox(theme, DOWN, margins=(24, 14, 24, 8), gap=8, parent=self)
        holder = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=6, parent=holder)
        yield
        self.fields: dict[str, ChoiceField] = {}
        for name, words in (
            ("days", tr("Time")),
            ("tab", tr("Tab")),
            ("account_id", tr("Account")),
            ("model", tr("Model")),
            ("outcome", tr("Outcome")),
            ("free", tr("Price")),
        ):
            field = self.fields[name] = ChoiceField(theme, tr("Filter by {words}", words=words.lower()), small=True)
            field.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToContents)
            field.setMaximumWidth(theme.type_px(210))
            field.activated.connect(lambda _index, each=name: self._chosen(each))
            flow.addWidget(field)
        self.clear = LinkButton(theme, tr("Clear filters"))
        self.clear.clicked.connect(self.clear_requested)
        flow.addWidget(self.clear)
        column.addWidget(holder)
        yield
        self.sums = Label(theme, "", role="text2", wrap=True, tabular=True)
        column.addWidget(self.sums)
        self.pages = QStackedWidget()
        column.addWidget(self.pages, 1)
        yield
        self.table = ReceiptTable(theme, self._row_at, name=tr("Receipts"))
        self.pages.addWidget(self.table)
        yield
        self.empty = EmptyState(
            theme,
            tr("No receipts"),
            tr("Every request creates one. Change the filters above, or make a first request."),
            icon_name="receipt",
        )
        self.pages.addWidget(self.empty)
        yield
        self._fill("days", [(key, words) for key, words in PERIODS], 14)
        self._fill("outcome", [("", tr("All outcomes")), *OUTCOME_WORDS.items()], "")
        self._fill("free", list(FREE_WORDS.items()), "")
        self.show_choices(Choices(), Filter())

    def show_choices(self, choices: Choices, wanted: Filter) -> None:
        """Offer what occurs in the book, and show what is chosen."""
        self._fill("tab", [("", tr("All tabs")), *choices.tabs], wanted.tab)
        self._fill("account_id", [("", tr("All accounts")), *choices.accounts], wanted.account_id)
        self._fill("model", [("", tr("All models")), *choices.models], wanted.model)
        self._select("outcome", wanted.outcome)
        self._select("free", wanted.free)
        periods: list[tuple[object, str]] = list(PERIODS)
        if wanted.day is not None:
            periods.insert(0, (wanted.day, day_of_year(wanted.day, long=True)))
        self._fill("days", periods, wanted.day or wanted.days)
        self.clear.setVisible(wanted != Filter())

    def show_totals(self, totals: Totals) -> None:
        """Show the sums of what the filter finds; without days, nothing was read yet."""
        if not totals.days:
            return
        parts = [
            tr_n("{n} receipt", "{n} receipts", totals.count),
            tr("{spent} spent", spent=spent(totals.spent, totals.possible)),
        ]
        if totals.play:
            parts.append(tr("{play} in play money", play=spent(totals.play, totals.possible_play)))
        if totals.expected:
            parts.append(
                tr(
                    "estimated up to {expected}, actual {expected_actual}",
                    expected=money(totals.expected),
                    expected_actual=money(totals.expected_actual),
                )
            )
        self.sums.set_text(" · ".join(parts))
        self.pages.setCurrentIndex(0 if totals.count else 1)

    def set_count(self, count: int) -> None:
        self.table.rows.set_count(count)

    def _chosen(self, name: str) -> None:
        self.filter_requested.emit(name, self.fields[name].currentData())

    def _fill(self, name: str, items: Sequence[tuple[object, str]], current: object) -> None:
        """Offer these; where they are offered already, an open list keeps its place, and no reader hears of it."""
        field = self.fields[name]
        if [(field.itemData(at), field.itemText(at)) for at in range(field.count())] != list(items):
            field.blockSignals(True)
            field.clear()
            for key, words in items:
                field.addItem(words, key)
            field.blockSignals(False)
        self._select(name, current)

    def _select(self, name: str, key: object) -> None:
        field = self.fields[name]
        place = next((at for at in range(field.count()) if field.itemData(at) == key), 0)
        field.setCurrentIndex(place)

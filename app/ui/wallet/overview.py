"""The first page: usage by day and tab, the limits of the account in use, and the latest calls."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.core.money import summand, up_to
from app.core.tabs import tab_title
from app.core.time_format import day_of_year
from app.formats import format_number
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.discard import WidgetList
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.flow import ACROSS, DOWN, FlowLayout, ScaledBox
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import rule, zone
from app.ui.wallet.gauge_list import GaugeList
from app.ui.wallet.receipts_table import ReceiptTable
from app.ui.wallet.state import CHART_ROLES, CHART_TABS, BookRow, Totals
from app.ui.wallet.usage_chart import UsageChart

NARROW = 820  # px at 100 %: below, limits stand under the chart
LATEST = 10


class Dot(QWidget):
    """The color of a tab, beside its name."""

    def __init__(self, theme: Theme, role: str) -> None:
        super().__init__()
        self._theme, self._role = theme, role
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(10), self._theme.px(10))

    def _apply_theme(self) -> None:
        self.setFixedSize(self.sizeHint())
        self.update()

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(self._role))
        painter.drawRoundedRect(self.rect(), 2, 2)


class UsageTable(QTableWidget):
    """The figures of the chart: days down, tabs across, sums at the ends."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAccessibleName(tr("Usage by day and tab, as a table"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()

    def show_totals(self, totals: Totals) -> None:
        known = {(day, tab): amount for day, tab, amount in totals.by_day}
        others = sorted({tab for _, tab, _ in totals.by_day if tab not in CHART_TABS})
        tabs = [tab for tab in (*CHART_TABS, *others) if any(at == tab for _, at, _ in totals.by_day)]
        self.setColumnCount(len(tabs) + 2)
        self.setHorizontalHeaderLabels([tr("Day"), *(tab_title(tab) for tab in tabs), tr("Total")])
        self.setRowCount(len(totals.days) + 1)
        possible = totals.possible_days
        for place, day in enumerate(totals.days):
            amounts = [(known.get((day, tab), Decimal(0)), (day, tab) in possible) for tab in tabs]
            self._fill(place, day_of_year(day), amounts, totals.decimals)
        sums = [
            (
                sum((known.get((day, tab), Decimal(0)) for day in totals.days), Decimal(0)),
                any(at == tab for _, at in possible),
            )
            for tab in tabs
        ]
        self._fill(len(totals.days), tr("Total"), sums, totals.decimals)
        self.verticalHeader().setDefaultSectionSize(self._theme.height_px(26, 17))

    def _fill(self, row: int, words: str, amounts: list[tuple[Decimal, bool]], decimals: int) -> None:
        """Fill a row with amounts, each with whether a part of it may not have been charged."""
        self.setItem(row, 0, QTableWidgetItem(words))
        whole = sum((amount for amount, _ in amounts), Decimal(0)), any(possible for _, possible in amounts)
        for column, (amount, possible) in enumerate([*amounts, whole], 1):
            item = QTableWidgetItem(up_to(summand(amount, decimals), possible, short=True) if amount else "")
            item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, column, item)


class Overview(QScrollArea):
    """`all_requested`: show every receipt."""

    all_requested = Signal()

    def __init__(self, theme: Theme, row_at: Callable[[int], BookRow | None], *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._row_at = row_at
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget()
        zone(holder, "canvas")
        self.setWidget(holder)
        self._column = QVBoxLayout(holder)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._top.setSpacing(0)
        self._column.addLayout(self._top, 1)
        self._bar = rule(vertical=True)
        self._top.addWidget(self._bar)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the chart, the limits and the latest calls, one at each step."""
        theme, outer = self._theme, self._column
        self._top.insertWidget(0, self._usage(), 5)
        yield
        self._top.addWidget(self._limits(), 3)
        yield
        outer.addWidget(rule())
        head = ScaledBox(theme, ACROSS, margins=(24, 12, 24, 2))
        head.addWidget(Label(theme, tr("Recent requests"), "heading"), 1)
        self.show_all = LinkButton(theme, tr("Show all"), size="")
        self.show_all.clicked.connect(self.all_requested)
        head.addWidget(self.show_all)
        outer.addLayout(head)
        self.latest = ReceiptTable(theme, self._row_at, name=tr("Recent requests"), hides=True)
        self.latest.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.latest.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        under = ScaledBox(theme, ACROSS, margins=(12, 0, 12, 0))  # the cells' own margin makes it 24
        under.addWidget(self.latest)
        outer.addLayout(under)
        self.nothing = Label(theme, tr("No requests yet. Each one appears here with its cost."), role="text2")
        self.nothing.hide()
        empty = ScaledBox(theme, ACROSS, margins=(24, 0, 24, 0))
        empty.addWidget(self.nothing)
        outer.addLayout(empty)

    def _usage(self) -> QWidget:
        theme = self._theme
        box = QWidget()
        column = ScaledBox(theme, DOWN, margins=(24, 16, 20, 16), gap=10, parent=box)
        head = ScaledBox(theme, ACROSS, gap=8)
        head.addWidget(Label(theme, tr("Usage"), "heading"))
        self.sum = Label(theme, "", role="text2", tabular=True, elide=True)
        head.addWidget(self.sum, 1)
        self.form = SegmentedChoice(
            theme,
            tr("Chart or table"),
            (("chart", tr("Chart")), ("table", tr("Table"))),
            icons={"chart": "chart", "table": "list"},
        )
        head.addWidget(self.form)
        column.addLayout(head)
        self.legend = QWidget()
        self._legend: WidgetList[QWidget] = WidgetList(FlowLayout(theme, gap=16, line_gap=4, parent=self.legend))
        column.addWidget(self.legend)
        self.shapes = QStackedWidget()
        self.chart, self.table = UsageChart(theme), UsageTable(theme)
        self.shapes.addWidget(self.chart)
        self.shapes.addWidget(self.table)
        self.form.changed.connect(self._show_shape)
        column.addWidget(self.shapes, 1)
        return box

    def _limits(self) -> QWidget:
        theme = self._theme
        box = QWidget()
        column = ScaledBox(theme, DOWN, margins=(20, 16, 24, 16), gap=12, parent=box)
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("Rate limits"), "heading"), 1)
        self.limits_of = Label(theme, "", "small", "text2")
        head.addWidget(self.limits_of)
        column.addLayout(head)
        self.gauges = GaugeList(theme)
        column.addWidget(self.gauges)
        column.addStretch(1)
        return box

    def show_totals(self, totals: Totals) -> None:
        """Show what was spent."""
        spent = sum((amount for *_, amount in totals.by_day), Decimal(0))
        first, last = (totals.days[0], totals.days[-1]) if totals.days else (None, None)
        if first is not None and last is not None:
            amount = up_to(summand(spent, totals.decimals), bool(totals.possible_days))
            if totals.is_play:
                amount = tr("{amount} in play money", amount=amount)
            words = tr(
                "{amount} from {first} to {last}",
                amount=amount,
                first=day_of_year(first, long=True),
                last=day_of_year(last, long=True),
            )
            self.sum.set_text(
                words if first != last else tr("{amount} on {day}", amount=amount, day=day_of_year(first, long=True))
            )
        self._show_legend(totals)
        self.chart.show_totals(totals)
        self.table.show_totals(totals)
        self.show_all.setText(tr("Show all {n}", n=format_number(totals.count)))
        is_empty = totals.count == 0 and bool(totals.days)  # without days, nothing was read yet
        self.nothing.setVisible(is_empty)
        self.latest.setVisible(not is_empty)
        self.show_all.setVisible(totals.count > 0)
        shown = min(totals.count, LATEST)
        self.latest.rows.set_count(shown)
        row = self._theme.height_px(30, 17)
        self.latest.setFixedHeight(row * max(1, shown) + self._theme.height_px(32, 17) + self._theme.px(14))

    def _show_shape(self, key: str) -> None:
        self.shapes.setCurrentIndex(0 if key == "chart" else 1)

    def _show_legend(self, totals: Totals) -> None:
        self._legend.clear()
        sums: dict[str, Decimal] = {}
        for _, tab, amount in totals.by_day:
            sums[tab] = sums.get(tab, Decimal(0)) + amount
        for tab in sorted(sums, key=lambda each: CHART_TABS.index(each) if each in CHART_TABS else 99):
            entry = QWidget()
            row = ScaledBox(self._theme, ACROSS, gap=6, parent=entry)
            row.addWidget(Dot(self._theme, CHART_ROLES.get(tab, "control")))
            row.addWidget(Label(self._theme, tab_title(tab), "small", "text2"))
            possible = any(at == tab for _, at in totals.possible_days)
            words = up_to(summand(sums[tab], totals.decimals), possible, short=True)
            row.addWidget(Label(self._theme, words, "small", weight=600, tabular=True))
            self._legend.add(entry)
            entry.show()
        self.legend.setVisible(bool(sums))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._theme.type_px(NARROW)
        self._top.setDirection(DOWN if narrow else ACROSS)
        self._bar.setVisible(not narrow)

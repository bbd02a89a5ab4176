"""Cost per day: one bar per day, stacked by tab. A table next to it shows the same figures."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, Decimal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.money import money, summand, up_to, whole_money
from app.core.tabs import tab_title
from app.core.time_format import day_of_year
from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.theme import Theme
from app.ui.wallet.state import CHART_ROLES, CHART_TABS, Totals

MOST_STEPS = 5
STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
GAP = 1  # px between the parts of a bar


def scale_of(most: Decimal) -> tuple[Decimal, int]:
    """The step between the lines, a round amount, and how many steps reach above the highest day."""
    if most <= 0:
        return Decimal("0.25"), 4
    least = most / MOST_STEPS
    unit = Decimal(1).scaleb(least.adjusted())
    step = next(unit * factor for factor in STEPS if least <= unit * factor)
    return step, max(2, int((most / step).to_integral_value(rounding=ROUND_CEILING)))


class UsageChart(QWidget):
    """`day_chosen` tells the day that was pressed. Arrow keys walk the days."""

    is_pane = True  # for the focus ring: it shows the chosen day itself
    day_chosen = Signal(object)  # date

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._days: tuple[date, ...] = ()
        self._decimals = 2
        self._parts: dict[date, list[tuple[str, Decimal]]] = {}
        self._possible: frozenset[tuple[date, str]] = frozenset()
        self._step, self._steps = scale_of(Decimal(0))
        self._marked: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(tr("Wallet: usage by day and tab"))
        show_as(self, "Chart")
        theme.changed.connect(self.update)

    def show_totals(self, totals: Totals) -> None:
        """Draw other days."""
        self._days = totals.days
        self._decimals = totals.decimals
        self._parts = {day: [] for day in totals.days}
        known = {(day, tab): amount for day, tab, amount in totals.by_day}
        for day in totals.days:
            named = [(tab, known[day, tab]) for tab in CHART_TABS if (day, tab) in known]
            others = (amount for (at, tab), amount in known.items() if at == day and tab not in CHART_TABS)
            rest = sum(others, Decimal(0))
            self._parts[day] = [*named, *([("wallet", rest)] if rest > 0 else [])]
        self._possible = frozenset((day, tab if tab in CHART_TABS else "wallet") for day, tab in totals.possible_days)
        self._step, self._steps = scale_of(max((self._total(day) for day in self._days), default=Decimal(0)))
        self._marked = None
        self.setAccessibleDescription(self._in_words())
        self.update()

    def mark(self, place: int | None) -> None:
        """Show the figures of one day."""
        self._marked = place if place is not None and 0 <= place < len(self._days) else None
        self.setAccessibleDescription(self._in_words())
        self.update()

    def _written(self, day: date, tab: str, amount: Decimal, *, short: bool = False) -> str:
        return up_to(summand(amount, self._decimals), (day, tab) in self._possible, short=short)

    def _written_total(self, day: date, *, short: bool = False) -> str:
        possible = any((day, tab) in self._possible for tab, _ in self._parts[day])
        return up_to(summand(self._total(day), self._decimals), possible, short=short)

    def _total(self, day: date) -> Decimal:
        return sum((amount for _, amount in self._parts[day]), Decimal(0))

    def _in_words(self) -> str:
        if not self._days:
            return ""
        if self._marked is not None:
            day = self._days[self._marked]
            parts = ", ".join(f"{tab_title(tab)} {self._written(day, tab, amount)}" for tab, amount in self._parts[day])
            return f"{day_of_year(day, long=True)}: {self._written_total(day)}" + (f"; {parts}" if parts else "")
        spent = [day for day in self._days if self._total(day)]
        return "; ".join(f"{day_of_year(day, long=True)} {self._written_total(day)}" for day in spent) or tr(
            "Nothing was spent."
        )

    def axis_words(self) -> list[str]:
        """The amounts beside the lines, from below, each with the decimals that a step needs."""
        decimals = max(2, -int(self._step.normalize().as_tuple().exponent))
        return [whole_money(Decimal(0)), *(money(self._step * line, decimals) for line in range(1, self._steps + 1))]

    @property
    def _top(self) -> Decimal:
        return self._step * self._steps

    # Measures

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(560), self._theme.px(290))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(260), self._theme.px(200))

    def _area(self) -> QRectF:
        metrics = QFontMetricsF(self._theme.font("caption", tabular=True))
        left = max(metrics.horizontalAdvance(each) for each in self.axis_words()) + self._theme.px(10)
        bottom = metrics.height() + self._theme.px(8)
        return QRectF(left, self._theme.px(8), self.width() - left, self.height() - bottom - self._theme.px(8))

    def _column(self, area: QRectF, place: int) -> QRectF:
        wide = area.width() / max(1, len(self._days))
        return QRectF(area.left() + place * wide, area.top(), wide, area.height())

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._days:
            return  # nothing was read yet
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self._area()
        self._paint_axis(painter, area)
        for place, day in enumerate(self._days):
            if place == self._marked:
                painter.fillRect(self._column(area, place), self._theme.color("sunken"))
            self._paint_bar(painter, self._column(area, place), day)
        if self._marked is not None:
            self._paint_card(painter, area, self._marked)

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        theme = self._theme
        painter.setFont(theme.font("caption", tabular=True))
        metrics = QFontMetricsF(painter.font())
        for line, words in enumerate(self.axis_words()):
            y = round(area.bottom() - area.height() * line / self._steps) + 0.5
            painter.setPen(theme.color("line"))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.color("text2"))
            painter.drawText(
                QRectF(0, y - metrics.height() / 2, area.left() - theme.px(8), metrics.height()),
                int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
                words,
            )
        if not self._days:
            return
        room = metrics.horizontalAdvance("00") + theme.px(8)
        every = max(1, round(room / max(1.0, self._column(area, 0).width()) + 0.49))
        for place, day in enumerate(self._days):
            if (len(self._days) - 1 - place) % every:
                continue
            column = self._column(area, place)
            painter.setPen(theme.color("text" if place == self._marked else "text2"))
            box = QRectF(column.center().x() - room, area.bottom() + theme.px(5), 2 * room, metrics.height())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop), str(day.day))

    def _paint_bar(self, painter: QPainter, column: QRectF, day: date) -> None:
        wide = min(column.width() * 0.64, self._theme.px(34))
        left = round(column.center().x() - wide / 2)
        bottom = column.bottom()
        painter.setPen(Qt.PenStyle.NoPen)
        for tab, amount in self._parts[day]:
            high = max(1.0, float(amount / self._top) * column.height())
            painter.setBrush(self._theme.color(CHART_ROLES.get(tab, "control")))
            painter.drawRoundedRect(QRectF(left, bottom - high, round(wide), max(1.0, high - GAP)), 2, 2)
            bottom -= high

    def _paint_card(self, painter: QPainter, area: QRectF, place: int) -> None:
        """The figures of the marked day, beside its bar."""
        theme, day = self._theme, self._days[place]
        lines = [
            (tab_title(tab), self._written(day, tab, amount, short=True), CHART_ROLES.get(tab, "control"))
            for tab, amount in self._parts[day]
        ]
        step, pad = theme.line_px("small") + theme.px(2), theme.px(12)
        wide, high = float(theme.type_px(150)), step * (len(lines) + 1) + 2 * pad
        column = self._column(area, place)
        left = column.left() - wide - theme.px(6)
        if left < area.left():
            left = min(column.right() + theme.px(6), self.width() - wide)
        box = QRectF(left, area.top() + theme.px(8), wide, high)
        painter.setPen(theme.color("line2"))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), theme.px(6), theme.px(6))
        inner = box.adjusted(pad, pad, -pad, -pad)
        sides = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight)
        for number, (words, amount, role) in enumerate(
            [(day_of_year(day, long=True), self._written_total(day, short=True), ""), *lines]
        ):
            row = QRectF(inner.left(), inner.top() + number * step, inner.width(), step)
            painter.setFont(theme.font("small", 600 if not number else 400, tabular=True))
            painter.setPen(Qt.PenStyle.NoPen)
            if role:
                painter.setBrush(theme.color(role))
                side = theme.px(9)
                painter.drawRoundedRect(QRectF(row.left(), row.center().y() - side / 2, side, side), 2, 2)
            painter.setPen(theme.color("text"))
            shift = theme.px(16) if role else 0
            for side_of, text in zip(sides, (words, amount), strict=True):
                place_of = row.adjusted(shift if side_of == sides[0] else 0, 0, 0, 0)
                painter.drawText(place_of, int(side_of | Qt.AlignmentFlag.AlignVCenter), text)

    # Pointing

    def _place_at(self, x: float) -> int | None:
        area = self._area()
        for place in range(len(self._days)):
            column = self._column(area, place)
            if column.left() <= x < column.right():
                return place
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.mark(self._place_at(event.position().x()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place_at(event.position().x())
        if place is not None:
            self.day_chosen.emit(self._days[place])

    def leaveEvent(self, event: QEvent) -> None:
        self.mark(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self._days) - 1
        at = self._marked if self._marked is not None else last + 1
        match event.key():
            case Qt.Key.Key_Left:
                self.mark(max(0, at - 1))
            case Qt.Key.Key_Right:
                self.mark(min(last, at + 1))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if self._marked is not None:
                self.day_chosen.emit(self._days[self._marked])
            case _:
                super().keyPressEvent(event)

"""What was asked of the Sandbox, live; a press on a line opens what was in the call."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.money import money
from app.core.number_format import count
from app.core.time_format import clock, duration
from app.translation import tr, tr_n
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import QuietButton
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.settings.sandbox.parts import CodeCard, Groups
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.request_list import RequestHeads, RequestView
from app.ui.settings.sandbox.state import OpenRequest, RequestRow, SandboxState

_LEAST_ROWS = 5


class RequestsPage(Groups):
    def __init__(self, theme: Theme, presenter: SandboxPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._opened: RequestRow | None = None
        self.list_part = self._make_list()
        self.details = RequestDetails(theme)
        self.details.back.clicked.connect(presenter.close_request)
        self.column.addWidget(self.list_part, 1)
        self.column.addWidget(self.details, 1)
        self.view.opened.connect(presenter.open_request)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def _make_list(self) -> QWidget:
        theme = self.theme
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(10))
        row = QHBoxLayout()
        row.setSpacing(theme.px(8))
        self.filter = SearchField(
            theme, tr("Filter requests"), results=lambda: results_words(self.view.rows.rowCount())
        )
        self.filter.setProperty("sizing", "small")
        self.filter.search_changed.connect(lambda _text: self._apply_filter())
        row.addWidget(self.filter, 1)
        self.which = SegmentedChoice(theme, tr("Request filter"), (("all", tr("All")), ("failed", tr("Failed"))))
        self.which.changed.connect(lambda _key: self._apply_filter())
        row.addWidget(self.which)
        column.addLayout(row)
        self._count = Label(theme, "", "small", "text2", wrap=True)
        column.addWidget(self._count)
        frame = _Framed(theme)
        inner = QVBoxLayout(frame)
        inner.setContentsMargins(1, 1, 1, 1)
        inner.setSpacing(0)
        self.view = RequestView(theme)
        inner.addWidget(RequestHeads(theme, self.view))
        inner.addWidget(self.view, 1)
        column.addWidget(frame, 1)
        self.filter.left.connect(lambda: self.view.setFocus(Qt.FocusReason.OtherFocusReason))
        FilterKeys(self.view, self.filter, selects_first=True, is_quiet=True)
        theme.changed.connect(self._fit)
        self._fit()
        return part

    def show_state(self, state: SandboxState) -> None:
        self.view.rows.set_rows(state.rows)
        self._say_count(state)
        opened = state.opened
        self.list_part.setVisible(opened is None)
        self.details.setVisible(opened is not None)
        if opened is not None:
            if self._opened is None:
                self.details.back.setFocus(Qt.FocusReason.OtherFocusReason)
            self.details.show_call(opened)
        elif self._opened is not None:
            self.view.select(self._opened)
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._opened = opened.row if opened is not None else None

    def _apply_filter(self) -> None:
        self.view.rows.set_filter(self.filter.text(), failed_only=self.which.current == "failed")
        self._say_count(self._presenter.state)

    def _say_count(self, state: SandboxState) -> None:
        shown, there = self.view.rows.rowCount(), len(state.rows)
        if state.silent or not state.running:
            words = state.silent or tr("The Sandbox is not running.")
        elif not there:
            words = tr("No requests yet. Requests appear here as they arrive, including Rialto’s own.")
        elif not shown:
            words = tr("None of the {there} requests match.", there=count(there))
        elif shown == there:
            words = tr_n(
                "{n} request. Keys, sign-ins and payments are hidden.",
                "The newest {n} requests. Keys, sign-ins and payments are hidden.",
                there,
            )
        else:
            words = tr(
                "{shown} of the newest {there} requests. Keys, sign-ins and payments are hidden.",
                shown=count(shown),
                there=count(there),
            )
        self._count.set_text(words)

    def _fit(self) -> None:
        self.view.setMinimumHeight(self.theme.height_px(36) * _LEAST_ROWS)


class RequestDetails(QWidget):
    """One call: the facts, and both directions as they went over the wire, without secrets."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(12))
        top = QHBoxLayout()
        self.back = QuietButton(theme, tr("All requests"), "chevron-left", size="small")
        top.addWidget(self.back)
        top.addStretch(1)
        column.addLayout(top)
        head = QHBoxLayout()
        head.setSpacing(theme.px(10))
        self._title = Label(theme, "", "code", wrap=True)
        head.addWidget(self._title, 1)
        self._badge = Badge(theme, "", "neutral")
        head.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        self._facts = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        column.addWidget(self._facts)
        self._problem = ProblemLabel(theme)
        column.addWidget(self._problem)
        self.asked = CodeCard(theme, tr("Request"))
        self.answered = CodeCard(theme, tr("Response"))
        column.addWidget(self.asked)
        column.addWidget(self.answered)
        column.addStretch(1)

    def show_call(self, opened: OpenRequest) -> None:
        row = opened.row
        self._title.set_text(f"{row.method} {row.path}")
        tone = "ok" if 200 <= row.status < 400 else "warn" if 400 <= row.status < 500 else "bad"
        self._badge.set_badge(str(row.status) if row.status else tr("Cut"), tone)
        charged = tr("{cost_usd} in play money", cost_usd=money(row.cost_usd)) if row.cost_usd else tr("not charged")
        facts = (
            clock(row.at),
            tr("took {duration_s}", duration_s=duration(row.duration_s)),
            charged,
            row.model,
            tr("request ID {request_id}", request_id=row.request_id),
        )
        self._facts.set_text(" · ".join(fact for fact in facts if fact))
        self._problem.set_text(opened.problem)
        self._problem.setVisible(bool(opened.problem))
        for card, text in ((self.asked, opened.asked), (self.answered, opened.answered)):
            card.set_text(text)
            card.setVisible(bool(text))


class _Framed(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), self._theme.px(8), "surface", "line")

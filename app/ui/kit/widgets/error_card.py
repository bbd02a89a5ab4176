"""An error where the action was: what happened, what it means, what to do, and the details behind a link."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.problems import ActionSpec, Problem
from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce, spoken_problem
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import CountdownRing

_BORDER = {"bad": "bad", "warn": "warn", "quiet": "line"}


class ErrorCard(Card):
    """Draws a `Problem`. `action` tells the id of the pressed button; `time_is_up` that its countdown has ended.

    A card whose problem counts down sends by itself when the time is up: connect `time_is_up` to trying again.
    """

    action = Signal(str)
    time_is_up = Signal()

    def __init__(self, theme: Theme, problem: Problem | None = None, *, parent: QWidget | None = None) -> None:
        super().__init__(theme, padding=(14, 12), spacing=0, parent=parent)
        self._problem: Problem | None = None
        self._row = QHBoxLayout()
        self.body.addLayout(self._row)
        self._icon = IconLabel(theme, "error", "bad")
        self.ring = CountdownRing(theme)
        self.ring.finished.connect(self.time_is_up)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(self.ring, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        self._row.addLayout(column, 1)
        self._column = column
        self.what = Label(theme, "", "reading", weight=600, wrap=True)
        self.meaning = Label(theme, "", role="text2", wrap=True, tabular=True)
        self._facts = QWidget()
        self._fact_pairs: WidgetList[QWidget] = WidgetList(FlowLayout(theme, gap=16, line_gap=4, parent=self._facts))
        self._buttons = QWidget()
        self._action_buttons: WidgetList[Button] = WidgetList(FlowLayout(theme, parent=self._buttons))
        bottom = QHBoxLayout()
        bottom.setSpacing(theme.px(8))
        bottom.addWidget(self._buttons, 1)
        self.details_link = LinkButton(theme, tr("Details"), "chevron-right")
        self.details_link.setCheckable(True)
        self.details_link.toggled.connect(self._show_details)
        bottom.addWidget(self.details_link, 0, Qt.AlignmentFlag.AlignVCenter)
        bottom.addStretch(0)  # a layout in which everything is hidden would hold the column to its narrowest
        self.details = DetailsBlock(theme)
        self.details.hide()
        for widget in (self.what, self.meaning, self._facts):
            column.addWidget(widget)
        self._bottom = bottom
        column.addLayout(bottom)
        self._details_holder = QVBoxLayout()
        self._details_holder.addWidget(self.details)
        self._details_holder.addStretch(0)
        column.addLayout(self._details_holder)
        self._space()
        theme.changed.connect(self._space)
        if problem is not None:
            self.set_problem(problem)

    @property
    def problem(self) -> Problem | None:
        return self._problem

    def set_problem(self, problem: Problem) -> None:
        """Show an error and say it aloud."""
        self._problem = problem
        tone = _BORDER[problem.severity]
        self.set_border(tone)
        counting = problem.countdown_until is not None
        self._icon.setVisible(not counting)
        self.ring.setVisible(counting)
        if problem.countdown_until is not None:
            self.ring.start(problem.countdown_until, "text2" if tone == "line" else tone)
        else:
            self.ring.stop()
            self._icon.set_icon(problem.icon, "text2" if tone == "line" else tone)
        self.what.set_text(problem.what)
        self.meaning.set_text(problem.meaning)
        self.meaning.setVisible(bool(problem.meaning))
        self._fill_facts(problem.facts)
        self._fill_buttons(problem)
        self.details.set_rows(problem.details)
        self.details_link.setVisible(bool(problem.details))
        self.details_link.setChecked(False)
        self.setAccessibleName(sanitize_line(problem.sentence))
        announce(self, spoken_problem(problem), urgent=True)

    def _fill_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        self._fact_pairs.clear()
        for label, value in facts:
            pair = QWidget()
            row = QHBoxLayout(pair)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(self._theme.px(8))
            row.addWidget(Label(self._theme, label, role="text2"))
            row.addWidget(Label(self._theme, value, weight=600, tabular=True))
            self._fact_pairs.add(pair)
        self._facts.setVisible(bool(facts))

    def _fill_buttons(self, problem: Problem) -> None:
        self._action_buttons.clear()
        waits = problem.countdown_until is not None  # it acts by itself: no button is the main one
        leaves = problem.primary is not None and problem.primary.id == "dismiss"  # to leave it is never the main thing
        for spec, kind in ((problem.primary, "" if waits or leaves else "primary"), (problem.alternative, "")):
            if spec is not None:
                self._action_buttons.add(self._button(spec, kind))
        self._buttons.setVisible(bool(problem.actions))

    def _button(self, spec: ActionSpec, kind: str) -> Button:
        button = Button(self._theme, spec.text, kind=kind)
        button.setObjectName(spec.id)
        button.clicked.connect(self._pressed)
        return button

    def _pressed(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.action.emit(sender.objectName())

    def _show_details(self, on: bool) -> None:
        self.details.setVisible(on)
        self._details_holder.setContentsMargins(0, self._theme.px(10) if on else 0, 0, 0)
        self.details_link.set_icon("chevron-down" if on else "chevron-right")

    def _space(self) -> None:
        px = self._theme.px
        self._row.setSpacing(px(10))
        self._column.setSpacing(0)
        self.meaning.setContentsMargins(0, px(3), 0, 0)
        self._facts.setContentsMargins(0, px(2), 0, 0)
        beside = max(0, (self._theme.line_px("reading") - self._theme.icon_px(18)) // 2)
        self._icon.setContentsMargins(0, beside, 0, 0)  # the icon stands beside the first line
        self._bottom.setContentsMargins(0, px(10), 0, 0)

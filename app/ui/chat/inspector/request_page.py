"""The inspector's second page: what was really sent for an answer, and what the answer's headers said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core import time_format
from app.translation import tr, tr_n
from app.ui.chat.inspector.json_view import JsonView
from app.ui.kit.call_pane import CallPane
from app.ui.kit.discard import WidgetList
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import QuietButton
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.chat.session.inspector_state import RequestView, SealedTurn
    from app.ui.kit.theme import Theme

# Prefixes that say nothing to a person; the whole name is in the tooltip.
_PREFIXES = ("x-ratelimit-", "x-service-", "x-venice-")
LONGEST_NAME = 26  # characters of a header's name that are shown whole; its value gives way
MOST_SEALED_TURNS = 6  # shown one by one
LONGEST_WRITTEN = 240  # characters of a message beside its envelope
ROLES = {"system": tr("System prompt"), "user": tr("You"), "assistant": tr("Answer")}
MAX_BODY_LINES = 34  # of the box; more scrolls inside it


class RequestPage(CallPane):
    def __init__(self, theme: Theme) -> None:
        super().__init__(QuietButton(theme, "curl", "copy", size="small"))
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it has few controls, and the keys scroll it
        column = self.fill(theme, "pane", (16, 12, 16, 12), 0)
        self._nothing = Label(theme, "", role="text2", wrap=True)
        self._filled = QWidget()
        column.addWidget(self._nothing)
        column.addWidget(self._filled)
        column.addStretch(1)
        self._build()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._show_nothing(tr("The exact request appears here once it is sent."))

    def _build(self) -> None:
        theme = self._theme
        column = QVBoxLayout(self._filled)
        column.setContentsMargins(0, 0, 0, 0)
        self._inner = column
        first = QHBoxLayout()
        self._method = Badge(theme, "POST", "accent")
        self._path = Label(theme, "", "small", mono=True, elide=True)
        self.curl.setAccessibleName(tr("Copy as curl, without the key"))
        self.curl.setToolTip(tr("Copy as curl, without the key"))
        first.addWidget(self._method)
        first.addWidget(self._path, 1)
        first.addWidget(self.curl)
        self._first = first
        self.body = JsonView(theme, tr("Request body"))
        self._box = _Box(theme, self.body)
        key_line = QHBoxLayout()
        key_line.addWidget(IconLabel(theme, "lock", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        key_line.addWidget(Label(theme, tr("Copies never contain your key."), "small", "text3", wrap=True), 1)
        self._key_line = key_line
        self._outcome = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self._headers_title = Label(theme, tr("Response headers"), "small", "text2", weight=600)
        self._headers = QVBoxLayout()
        self._header_lines: WidgetList[_HeaderLine] = WidgetList(self._headers)
        self._sealed = QVBoxLayout()
        self._sealed_turns: WidgetList[QWidget] = WidgetList(self._sealed)
        column.addLayout(first)
        column.addLayout(self._sealed)
        column.addWidget(self._box)
        column.addLayout(key_line)
        column.addWidget(self._headers_title)
        column.addWidget(self._outcome)
        column.addLayout(self._headers)
        self._refusal_title = Label(theme, tr("Response body"), "small", "text2", weight=600)
        self.refusal = JsonView(theme, tr("Response body"))
        self._refusal_box = _Box(theme, self.refusal)
        column.addWidget(self._refusal_title)
        column.addWidget(self._refusal_box)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._inner.setSpacing(theme.px(12))
        self._first.setSpacing(theme.px(8))
        self._key_line.setSpacing(theme.px(5))
        self._headers.setSpacing(theme.px(5))
        self._sealed.setSpacing(theme.px(10))

    def show_request(self, view: RequestView) -> None:
        """Show a call, or say why there is none."""
        self.record = record = view.record
        if record is None:
            self._show_nothing(view.note or tr("The exact request appears here once it is sent."))
            return
        self._nothing.hide()
        self._filled.show()
        self._method.set_badge(record.method, "accent")
        self._path.set_text(record.path)
        self._fill_sealed(view.sealed)
        self.body.set_value(record.body)
        self._box.fit()
        self._outcome.set_text(self._outcome_of(view))
        self._fill_headers(view.headers)
        self._show_refusal(view.refusal)

    def _show_refusal(self, text: str) -> None:
        try:
            self.refusal.set_value(json.loads(text))
        except (ValueError, RecursionError):
            self.refusal.set_value(text)
        for widget in (self._refusal_title, self._refusal_box):
            widget.setVisible(bool(text))
        self._refusal_box.fit()

    def _show_nothing(self, sentence: str) -> None:
        self._nothing.set_text(sentence)
        self._nothing.show()
        self._filled.hide()

    def _outcome_of(self, view: RequestView) -> str:
        if view.status is None:
            return tr("No response yet.")
        parts = [str(view.status)]
        if view.sent_at is not None:
            parts.append(tr("sent {sent_at}", sent_at=time_format.clock(view.sent_at)))
        if view.duration_s:
            parts.append(time_format.duration(view.duration_s))
        if view.attempts > 1:
            parts.append(tr_n("{n} try", "{n} tries", view.attempts))
        return " · ".join(parts)

    def _fill_sealed(self, turns: tuple[SealedTurn, ...]) -> None:
        """What was written beside what the service saw of it; the latest messages of a long chat."""
        theme = self._theme
        self._sealed_turns.clear()
        if not turns:
            return
        left = len(turns) - MOST_SEALED_TURNS
        if left > 0:
            words = tr_n("{n} earlier message is sealed as well.", "{n} earlier messages are sealed as well.", left)
            self._sealed_turns.add(Label(theme, words, "small", "text2", wrap=True))
        for turn in turns[-MOST_SEALED_TURNS:]:
            self._sealed_turns.add(_SealedPair(theme, turn))
        words = tr("Below is the whole request, as the service saw it.")
        self._sealed_turns.add(Label(theme, words, "small", "text2", wrap=True))

    def _fill_headers(self, headers: tuple[tuple[str, str], ...]) -> None:
        self._header_lines.clear()
        for name, value in headers:
            self._header_lines.add(_HeaderLine(self._theme, name, value))


class _SealedPair(QWidget):
    """One message: what was written at the left, what the service saw of it at the right."""

    def __init__(self, theme: Theme, turn: SealedTurn) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(12))
        grid.setVerticalSpacing(theme.px(2))
        role = ROLES.get(turn.role, turn.role)
        text = turn.written if len(turn.written) <= LONGEST_WRITTEN else f"{turn.written[:LONGEST_WRITTEN]}…"
        written, seen = tr("{role}, as written", role=role), tr("The service saw")
        for column, (title, heard, words, is_mono) in enumerate(
            ((role, written, text, False), (seen, seen, turn.seen, True))  # a narrow pane shows less than is heard
        ):
            grid.setColumnStretch(column, 1)
            grid.addWidget(Label(theme, title, "small", "text2", weight=600, elide=True), 0, column)
            shown = Label(theme, words, "small", "text2" if is_mono else "text", mono=is_mono, wrap=True)
            shown.setAccessibleName(heard)
            policy = shown.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)  # both have the same width, whatever is in them
            shown.setSizePolicy(policy)
            grid.addWidget(shown, 1, column, Qt.AlignmentFlag.AlignTop)


class _HeaderLine(QWidget):
    """A header's name and its value, which has all the room that the name leaves."""

    def __init__(self, theme: Theme, name: str, value: str) -> None:
        super().__init__()
        short = next((name[len(prefix) :] for prefix in _PREFIXES if name.startswith(prefix)), name)
        label = Label(theme, short, "small", "text2", mono=True, elide=len(short) > LONGEST_NAME)
        label.setToolTip(plain_tip(name))
        shown = Label(theme, value, "small", mono=True, elide=True)
        shown.setAccessibleName(f"{name}: {value}")
        shown.setToolTip(plain_tip(value))
        shown.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.px(8))
        line.addWidget(label)
        line.addWidget(shown, 1)


class _Box(QFrame):
    """The sunken frame around the body; as high as its text, to a bound."""

    def __init__(self, theme: Theme, view: JsonView) -> None:
        super().__init__()
        self._theme = theme
        self._view = view
        layout = QVBoxLayout(self)
        layout.addWidget(view)
        view.document().documentLayout().documentSizeChanged.connect(lambda _size: self.fit())
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        theme = self._theme
        margins = self.layout()
        if margins is not None:
            margins.setContentsMargins(theme.px(8), theme.px(6), theme.px(8), theme.px(6))
        most = MAX_BODY_LINES * theme.type_px(18)
        height = min(most, round(self._view.document().size().height()) + 2)
        self._view.setFixedHeight(max(theme.type_px(18), height))

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), self._theme.px(6), "sunken", "line")

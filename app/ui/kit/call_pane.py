"""The Request page of every tab: what was really sent, and every header of the response."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core import time_format
from app.formats import format_number
from app.service.exchange import FormPart, curl_command
from app.service.http.base64_text import text_in
from app.translation import tr, tr_n
from app.ui.kit.copy_command import copy_command
from app.ui.kit.discard import WidgetList
from app.ui.kit.json.view import JsonView
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane

if TYPE_CHECKING:
    from app.core.shown_call import ShownCall
    from app.service.exchange import RequestRecord
    from app.ui.kit.theme import Theme

# Prefixes that say nothing to a person; the whole name is in the tooltip.
_PREFIXES = ("x-ratelimit-", "x-service-", "x-venice-")
LONGEST_NAME = 26  # characters of a header's name that are shown whole; its value gives way
LONGEST_DATA = 300  # characters of a data URL that are shown whole; images travel as long ones
MAX_BODY_LINES = 34  # of the box; more scrolls inside it
NOTHING = tr("The exact request appears here once it is sent.")


class CallPane(ScrollPane):
    """Shows one of several calls; with more than one, arrows step through them, and the newest is followed.

    `record` is the request that is shown. `copied` has a sentence for a toast.
    """

    copied = Signal(str)

    def __init__(self, theme: Theme, nothing: str = NOTHING, above: QWidget | None = None) -> None:
        """`nothing` stands here until there is a call; `above` is shown between the address and the body."""
        super().__init__(tr("Request"))
        self.record: RequestRecord | None = None
        self._theme = theme
        self._calls: tuple[ShownCall, ...] = ()
        self._place = 0
        self._newest_is_shown = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # it has few controls, and the keys scroll it
        column = self.fill(theme, "pane", (16, 12, 16, 12), 0)
        self._until_then = nothing
        self.nothing = Label(theme, nothing, role="text2", wrap=True)
        self._filled = QWidget()
        column.addWidget(self.nothing)
        column.addWidget(self._filled)
        column.addStretch(1)
        self._build(above)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self._show()

    def _build(self, above: QWidget | None) -> None:
        theme = self._theme
        self._inner = column = QVBoxLayout(self._filled)
        column.setContentsMargins(0, 0, 0, 0)
        self.before = IconButton(theme, "chevron-left", tr("Previous call"), size="small")
        self.after = IconButton(theme, "chevron-right", tr("Next call"), size="small")
        self.which = Label(theme, "", "small", weight=600, tabular=True)
        self._steps = QWidget()
        steps = QHBoxLayout(self._steps)
        steps.setContentsMargins(0, 0, 0, 0)
        steps.addWidget(self.which, 1)
        steps.addWidget(self.before)
        steps.addWidget(self.after)
        self._first = QHBoxLayout()
        self.method = Badge(theme, "POST", "accent")
        self.path = Label(theme, "", "small", mono=True, elide=True)
        self.curl = QuietButton(theme, "curl", "copy", size="small")
        self.curl.setAccessibleName(tr("Copy as curl, without the key"))
        self.curl.setToolTip(tr("Copy as curl, without the key"))
        self._first.addWidget(self.method)
        self._first.addWidget(self.path, 1)
        self._first.addWidget(self.curl)
        self.body = JsonView(theme, tr("Request body"))
        self._box = _Box(theme, self.body)
        self._key_line = QHBoxLayout()
        self._key_line.addWidget(IconLabel(theme, "lock", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        self._key_line.addWidget(Label(theme, tr("Copies never contain your key."), "small", "text3", wrap=True), 1)
        self._answer = QHBoxLayout()
        self.copy_headers = QuietButton(theme, tr("Copy"), "copy", size="small")
        self.copy_headers.setAccessibleName(tr("Copy response headers"))
        self._answer.addWidget(Label(theme, tr("Response headers"), "small", "text2", weight=600), 1)
        self._answer.addWidget(self.copy_headers)
        self.outcome = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self._lines = QVBoxLayout()
        self._rows: WidgetList[_HeaderLine] = WidgetList(self._lines)
        column.addWidget(self._steps)
        column.addLayout(self._first)
        if above is not None:
            column.addWidget(above)
        column.addWidget(self._box)
        column.addLayout(self._key_line)
        column.addLayout(self._answer)
        column.addWidget(self.outcome)
        column.addLayout(self._lines)
        self._refusal_title = Label(theme, tr("Response body"), "small", "text2", weight=600)
        self.refusal = JsonView(theme, tr("Response body"))
        self._refusal_box = _Box(theme, self.refusal)
        column.addWidget(self._refusal_title)
        column.addWidget(self._refusal_box)
        self.before.clicked.connect(lambda: self.step(-1))
        self.after.clicked.connect(lambda: self.step(1))
        self.curl.clicked.connect(self.copy_curl)
        self.copy_headers.clicked.connect(self._copy_headers)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._inner.setSpacing(px(12))
        self._first.setSpacing(px(8))
        self._key_line.setSpacing(px(5))
        self._lines.setSpacing(px(5))

    def show_calls(self, calls: Sequence[ShownCall], nothing: str = "") -> None:
        """Show calls that belong together, such as the parts of a clip; without any, why there are none."""
        is_same = bool(self._calls) and bool(calls) and self._calls[0].record.body == calls[0].record.body
        self._calls = tuple(calls)
        if not is_same or self._newest_is_shown:
            self._place, self._newest_is_shown = max(0, len(self._calls) - 1), True
        self._place = min(self._place, max(0, len(self._calls) - 1))
        self.nothing.set_text(nothing or self._until_then)
        self._show()

    def show_call(self, call: ShownCall | None, nothing: str = "") -> None:
        self.show_calls((call,) if call is not None else (), nothing)

    def step(self, by: int) -> None:
        """Go to the call before (-1) or after (1)."""
        self._place = max(0, min(len(self._calls) - 1, self._place + by))
        self._newest_is_shown = self._place == len(self._calls) - 1
        self._show()

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """What is listed of the response: label and value."""
        call = self._calls[self._place] if self._calls else None
        return (*call.facts, *call.headers) if call is not None else ()

    def _show(self) -> None:
        call = self._calls[self._place] if self._calls else None
        self.nothing.setVisible(call is None)
        self._filled.setVisible(call is not None)
        self.record = call.record if call is not None else None
        self._rows.clear()
        if call is None:
            return
        self._steps.setVisible(len(self._calls) > 1)
        self.which.set_text(call.title)
        self.before.setEnabled(self._place > 0)
        self.after.setEnabled(self._place < len(self._calls) - 1)
        self.method.set_badge(call.record.method, "accent")
        self.path.set_text(call.record.path)
        self.path.setToolTip(plain_tip(call.record.url))
        self.curl.setVisible(bool(call.record.url))
        self.body.set_value(shown_body(call.record.body))
        self._box.setVisible(call.record.body is not None)
        self._box.fit()
        self.outcome.set_text(_outcome_of(call))
        self.outcome.setVisible(bool(self.outcome.text()))
        self.copy_headers.setVisible(bool(self.rows))
        for name, value in self.rows:
            self._rows.add(_HeaderLine(self._theme, name, value))
        self._show_refusal(call.refusal)

    def _show_refusal(self, text: str) -> None:
        try:
            self.refusal.set_value(json.loads(text))
        except (ValueError, RecursionError):
            self.refusal.set_value(text)
        for widget in (self._refusal_title, self._refusal_box):
            widget.setVisible(bool(text))
        self._refusal_box.fit()

    def copy_curl(self) -> None:
        """Put the command on the clipboard; the key stays out of it."""
        if self.record is not None and self.record.url:
            self.copied.emit(copy_command(curl_command(self.record), self.record.url))

    def _copy_headers(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(f"{name}: {value}" for name, value in self.rows))
        self.copied.emit(tr("Response headers copied"))


def shown_body(body: object) -> object:
    """Return a body as it is shown: the parts of a form by name, files as their names, and data URLs cut."""
    if isinstance(body, tuple) and all(isinstance(part, FormPart) for part in body):
        parts: dict[str, object] = {}
        for part in body:
            value = part.file_name if part.file_name is not None else part.value
            before = parts.get(part.name)
            parts[part.name] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
        return shown_body(parts)
    if isinstance(body, Mapping):
        return {name: shown_body(inner) for name, inner in body.items()}
    if isinstance(body, list | tuple):
        return [shown_body(inner) for inner in body]
    if isinstance(body, str) and body.startswith("data:") and len(body) > LONGEST_DATA and text_in(body) is None:
        return tr("{text}… ({count} characters)", text=body[:60], count=format_number(len(body)))
    return body


def _outcome_of(call: ShownCall) -> str:
    if call.status is None and call.facts:
        return ""
    if call.status is None:
        return tr("No response yet.") if call.duration_s is None else tr("No response.")
    parts = [str(call.status)]
    if call.sent_at is not None:
        parts.append(tr("sent {sent_at}", sent_at=time_format.clock(call.sent_at)))
    if call.duration_s:
        parts.append(time_format.duration(call.duration_s))
    if call.attempts > 1:
        parts.append(tr_n("{n} try", "{n} tries", call.attempts))
    return " · ".join(parts)


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
        line.addWidget(label, int(len(short) > LONGEST_NAME))
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

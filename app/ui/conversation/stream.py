"""Streams text to the screen: buffered, shown at most 30 times a second, in steps that never block the window."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QTimer
from PySide6.QtGui import QAccessible

from app.translation import tr
from app.ui.conversation.announcer import Announcer
from app.ui.conversation.units import BODY, STATE, THOUGHT
from app.ui.kit.widgets.announce import SpokenCountdown, announce

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.ui.conversation.layout import MessageLayout
    from app.ui.conversation.rows import MessageRow
    from app.ui.conversation.view import MessageView
    from app.ui.conversation.virtual_list import PlacedUnit
    from app.ui.kit.markdown.figures import Figures

FLUSH_MS = 33
STEP_CHARS = 5_000  # of text taken at once while it comes: two screens, of which one is laid out
LOAD_CHARS = 32_000  # of a long text that is there already
LOAD_MS = 4  # between two steps of loading one
BLINK_MS = 530


class Stream:
    """Feeds the rows that are being written. No timer runs while nothing comes."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self._theme = view.stack.styles.theme
        self._live: dict[str, Announcer] = {}
        self._waiting: dict[str, list[tuple[str, str]]] = {}  # row id → (text, thoughts) not yet with its model
        self._flush_timer = _timer(view, FLUSH_MS, self.flush, once=True)
        self._blink_timer = _timer(view, BLINK_MS, self._blink)
        self._tick_timer = _timer(view, 1000, self._tick)
        self._spoken_countdown = SpokenCountdown(view)
        self._counts_to: datetime | None = None
        self._last_flush = 0.0
        self._formulas: list[str] = []
        self._formula_timer = _timer(view, FLUSH_MS, self._show_formulas, once=True)

    @property
    def is_waiting(self) -> bool:
        """Whether text has come that is not with its row yet."""
        return bool(self._waiting)

    # -- what comes ---------------------------------------------------------------------------------------------------

    def begin(self, row_id: str) -> None:
        self._live.setdefault(row_id, Announcer(self._view))

    def end(self, row: MessageRow) -> None:
        """Show what is left of a row, at once when it is little; the view comes back for the rest."""
        row_id = row.id
        announcer = self._live.pop(row_id, None)
        if announcer is not None:
            announcer.finish(ending_of(row))
        model = self._view.stack.known_model(row_id)
        if model is not None:
            model.advance(STEP_CHARS)

    def say(self, sentence: str) -> None:
        """Tell screen readers at once, as for an error."""
        announce(self._view, sentence, urgent=True)

    def stop_all(self) -> None:
        self._live.clear()
        self._waiting.clear()
        self._flush_timer.stop()

    def append(self, row_id: str, text: str = "", reasoning: str = "") -> None:
        if not text and not reasoning:
            return
        if self._view.stack.number_of(row_id) is None:
            raise KeyError(row_id)
        self._waiting.setdefault(row_id, []).append((text, reasoning))
        announcer = self._live.get(row_id)
        if announcer is not None and text and QAccessible.isActive():
            announcer.add(text)
        self._wake()

    def with_text(self, row: MessageRow, model: MessageLayout) -> MessageRow:
        """Return the row with what has come for it so far."""
        self.hand_over(row.id)
        if model.answer.text == row.text and model.thoughts.text == row.reasoning:
            return row
        return replace(row, text=model.answer.text, reasoning=model.thoughts.text)

    # -- showing it ---------------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        if not self._flush_timer.isActive():
            since = (time.perf_counter() - self._last_flush) * 1000
            self._flush_timer.start(max(0, FLUSH_MS - int(since)) if since < FLUSH_MS else 0)

    def hand_over(self, row_id: str) -> MessageLayout | None:
        """Give a row's model the text that waits for it."""
        waiting = self._waiting.pop(row_id, None)
        stack = self._view.stack
        number = stack.number_of(row_id)
        if waiting is None or number is None:
            return None
        model = stack.model(number)
        text = "".join(each for each, _ in waiting)
        reasoning = "".join(each for _, each in waiting)
        model.append(text, reasoning)
        stack.rows[number] = model.row = replace(
            model.row, text=model.answer.text, reasoning=model.thoughts.text, state=model.row.state
        )
        stack.weights.grow(number, text)
        return model

    def flush(self) -> None:
        """Show the next step of everything that came. Long backlogs take several."""
        self._last_flush = time.perf_counter()
        view = self._view
        for row_id in list(self._waiting):
            self.hand_over(row_id)
        behind = [model for model in view.stack.known_models() if model.backlog]
        for model in behind:
            model.advance(STEP_CHARS if model.streaming else LOAD_CHARS)
        if behind:
            view.text_came()
        behind = [model for model in behind if model.backlog]
        if behind:
            self._flush_timer.start(FLUSH_MS if any(model.streaming for model in behind) else LOAD_MS)

    # -- formulas -----------------------------------------------------------------------------------------------------

    def follow(self, figures: Figures) -> None:
        """Look again when a formula or an image has come."""
        figures.formulas.typeset.connect(self.formula_set)
        figures.thumbnails.loaded.connect(lambda _key: self._view.viewport().update())

    def formula_set(self, source: str) -> None:
        """A formula can be drawn in its place; several that come together are shown together."""
        self._formulas.append(source)
        if not self._formula_timer.isActive():
            self._formula_timer.start()

    def _show_formulas(self) -> None:
        formulas, self._formulas = self._formulas, []
        models = self._view.stack.known_models()
        changed = [flow.formulas_set(formulas) for model in models for flow in (model.answer, model.thoughts)]
        if any(changed):
            self._view.refresh(in_steps=True)

    # -- the caret and other things that move by themselves -----------------------------------------------------------

    def caret(self) -> QRect | None:
        """Return where the caret of the answer that is being written is on screen."""
        view = self._view
        for placed in reversed(view.stack.placed):
            if placed.key[0] not in (BODY, THOUGHT):
                continue
            model = view.stack.model(placed.row)
            if not model.streaming:
                return None
            after = model.next_key(placed.key)
            if after is not None and after[0] in (BODY, THOUGHT):
                return None
            return view.picture.caret_of(placed)
        return None

    def update_timers(self) -> None:
        """Start or stop the timers by what is on screen, and ask for colors of code that is there."""
        view = self._view
        visible = view.isVisible()
        blinks = visible and view.picture.caret is not None and self._theme.motion_ms(1) > 0
        if blinks != self._blink_timer.isActive():
            self._blink_timer.start() if blinks else self._blink_timer.stop()
        if not blinks:
            view.picture.caret_on = True
        ticks = visible and any(placed.key[0] == STATE and _counts_down(placed) for placed in view.stack.placed)
        if ticks != self._tick_timer.isActive():
            self._tick_timer.start() if ticks else self._tick_timer.stop()
        for placed in view.stack.placed:
            self._ask_for_highlighting(placed)
        if visible and any(model.backlog for model in view.stack.known_models()):
            self._wake()

    def _ask_for_highlighting(self, placed: PlacedUnit) -> None:
        unit = placed.unit
        for box in unit.boxes:
            if box.group is None or box.group.colors is not None:
                continue
            if unit.segment is None or unit.segment.kind != "code":
                self._view.highlighter.color(box.group, box.source)
                continue
            model = self._view.stack.model(placed.row)
            flow = model.thoughts if placed.key[0] == THOUGHT else model.answer
            last = flow.code_units(placed.key[1])[-1].segment
            if last is not None and (last.context.closed or flow.is_finished):
                self._view.highlighter.color(box.group, flow.code_text(placed.key[1]))

    def _blink(self) -> None:
        image = self._view.picture
        image.caret_on = not image.caret_on
        if image.caret is not None:
            self._view.viewport().update(image.caret)

    def _tick(self) -> None:
        """Repaint the cards that count down; one that has reached its end is laid out without its ring."""
        view = self._view
        for placed in view.stack.placed:
            if placed.key[0] == STATE:
                placed.unit.stale()
        self._say_countdown()
        view.refresh()

    def _say_countdown(self) -> None:
        """Say how long the newest card on screen still counts, at the moments at which that is said."""
        rows = (self._view.stack.rows[placed.row] for placed in reversed(self._view.stack.placed))
        until = next((row.problem.countdown_until for row in rows if row.problem and row.problem.countdown_until), None)
        if until is None:
            return
        left = (until - datetime.now(UTC)).total_seconds()
        if until != self._counts_to:
            self._counts_to = until
            self._spoken_countdown.begin(left + 1)  # the first second has passed
        self._spoken_countdown.pass_to(left)


def ending_of(row: MessageRow) -> str:
    """What is said when an answer has ended: whether it is whole, and what it cost. A problem is said by itself."""
    cost = ", ".join(run.text for run in row.receipt if run.strong)
    match row.state:
        case "complete":
            return tr("Answer complete, {cost}.", cost=cost) if cost else tr("Answer complete.")
        case "stopped" | "interrupted" if row.problem is None:
            return f"{tr('Stopped.')} {row.state_text}".strip()
    return ""


def _counts_down(placed: PlacedUnit) -> bool:
    return any(box.counts_down for box in placed.unit.boxes)


def _timer(view: MessageView, interval_ms: int, call: Callable[[], None], *, once: bool = False) -> QTimer:
    timer = QTimer(view)
    timer.setInterval(interval_ms)
    timer.setSingleShot(once)
    timer.timeout.connect(call)
    return timer

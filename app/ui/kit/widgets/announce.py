"""Says a sentence aloud through whatever screen reader is running; costs nothing when none is."""

from __future__ import annotations

import math
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6 import QtGui  # its classes of accessibility take 2 ms when they are named, which no first paint waits for
from PySide6.QtWidgets import QApplication, QWidget

from app.core.number_format import or_dash
from app.core.time_format import duration
from app.service.http.sanitize import sanitize_line
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from app.core.problems import Problem

_listeners: list[Callable[[str], None]] = []
COUNTDOWN_MARKS_S = (30, 10, 0)  # the only moments at which a countdown is said aloud


def is_heard() -> bool:
    """Whether a screen reader, or anything else that asks for accessible objects, is running."""
    return QtGui.QAccessible.isActive()


@contextmanager
def nothing_said() -> Iterator[None]:
    """Keep from screen readers what Qt would tell them of objects that nobody sees yet."""
    if not is_heard():
        yield
        return
    QtGui.QAccessible.setActive(False)
    try:
        yield
    finally:
        QtGui.QAccessible.setActive(True)


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Announce `text` politely, or at once when `urgent` (errors); what is not on screen says nothing."""
    if not text or not widget.isVisible() or not is_heard():
        return
    event = QtGui.QAccessibleAnnouncementEvent(_main_window(widget), sanitize_line(text))
    politeness = QtGui.QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QtGui.QAccessible.updateAccessibility(event)
    for tell in _listeners:
        tell(sanitize_line(text))


def _main_window(widget: QWidget) -> QWidget:
    """Orca 48 drops what comes within 0.1 s of another announcement, except from the program's frame."""
    window = widget.window()
    while (above := window.parentWidget()) is not None:
        window = above.window()
    return window


def tell_focus_again() -> None:
    """Tell where the keyboard is: a menu did not take it away, and Orca stays at its entry when it has closed."""
    widget = QApplication.focusWidget()
    if widget is None or QApplication.activePopupWidget() is not None or not is_heard():
        return
    whole = QtGui.QAccessible.queryAccessibleInterface(widget)
    event = QtGui.QAccessibleEvent(whole.focusChild() or whole, QtGui.QAccessible.Event.Focus)
    QtGui.QAccessible.updateAccessibility(event)


def add_announcement_listener(tell: Callable[[str], None]) -> None:
    """Call `tell` with each sentence that is announced."""
    _listeners.append(tell)


def spoken_problem(problem: Problem) -> str:
    """A problem as it is said when it comes: with what is left of its countdown, whose further marks are said alone."""
    if problem.countdown_until is None:
        return problem.sentence
    return f"{problem.sentence} {_left((problem.countdown_until - datetime.now(UTC)).total_seconds())}"


@or_dash
def _left(left_s: float) -> str:
    if left_s <= 0:
        return tr("The wait is over")
    if left_s < 60:
        return tr_n("{n} second left", "{n} seconds left", math.ceil(left_s))
    return tr("{duration} left", duration=duration(math.ceil(left_s)))


class SpokenCountdown:
    """Says a countdown aloud at 30, 10 and 0 s and is silent between; what was past when it began is not said.
    Its start is said with what it is about, see `spoken_problem`. `say` gives other words, `marks` other moments.
    """

    def __init__(
        self, widget: QWidget, say: Callable[[float], str] | None = None, marks: tuple[int, ...] = COUNTDOWN_MARKS_S
    ) -> None:
        self._widget = widget
        self._say, self._marks = say or _left, marks
        self._before_s = 0.0

    def begin(self, left_s: float) -> None:
        """A countdown of this length starts now."""
        self._before_s = left_s

    def pass_to(self, left_s: float) -> None:
        """So much is left now. Call it as often as the figure on screen changes."""
        passed = any(left_s <= mark < self._before_s for mark in self._marks)
        self._before_s = min(self._before_s, left_s)
        if passed:
            announce(self._widget, self._say(left_s))

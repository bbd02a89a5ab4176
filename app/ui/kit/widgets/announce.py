"""Says a sentence aloud through whatever screen reader is running; costs nothing when none is."""

from __future__ import annotations

import math

from PySide6.QtWidgets import QWidget

from app.service.http.harmless_text import harmless_line
from app.translation import tr

COUNTDOWN_MARKS_S = (30, 10, 0)  # the only moments at which a countdown is said aloud


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Announce `text` politely, or at once when `urgent` (errors)."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # 2 ms that no first paint waits for

    if not text or not QAccessible.isActive():
        return
    event = QAccessibleAnnouncementEvent(widget, harmless_line(text))
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)


class SpokenCountdown:
    """Says a countdown aloud at 30, 10 and 0 s and is silent between; what was past when it began is not said."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._before_s = 0.0

    def begin(self, left_s: float) -> None:
        """A countdown of this length starts now."""
        self._before_s = left_s

    def pass_to(self, left_s: float) -> None:
        """So much is left now. Call it as often as the figure on screen changes."""
        passed = any(left_s <= mark < self._before_s for mark in COUNTDOWN_MARKS_S)
        self._before_s = min(self._before_s, left_s)
        if passed:
            announce(
                self._widget,
                tr("{ceil} seconds left", ceil=math.ceil(left_s)) if left_s > 0 else tr("The wait is over"),
            )

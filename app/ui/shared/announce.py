"""Says a sentence aloud through whatever screen reader is running; costs nothing when none is."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Announce `text` politely, or at once when `urgent` (errors)."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent  # 2 ms that no first paint waits for

    if not text or not QAccessible.isActive():
        return
    event = QAccessibleAnnouncementEvent(widget, text)
    politeness = QAccessible.AnnouncementPoliteness
    event.setPoliteness(politeness.Assertive if urgent else politeness.Polite)
    QAccessible.updateAccessibility(event)

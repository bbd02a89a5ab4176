"""Python's cycle collector, on the UI thread only.

The collector runs in whatever thread happens to allocate, and the database and the network have threads of their own.
A QObject in a garbage cycle would then be destroyed there: its timers are killed from the wrong thread and the process
dies. So automatic collection is off, and the UI thread collects when its event loop is about to wait: never in the
middle of a handler, and with no wake-up of its own while the program is idle.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QAbstractEventDispatcher, QObject

FULL_EVERY = 40  # middle collections between two full ones, which look at every object


class UiThreadCollector(QObject):
    """Takes the collector over when made; `close` gives it back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._dispatcher: QAbstractEventDispatcher | None = QAbstractEventDispatcher.instance()
        if self._dispatcher is not None:
            self._dispatcher.aboutToBlock.connect(collect_if_due)

    def close(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.aboutToBlock.disconnect(collect_if_due)
            self._dispatcher = None
        gc.enable()


def collect_if_due() -> None:
    """Collect the youngest objects when enough were made since the last time, older ones more seldom."""
    young, middle, old = gc.get_count()
    young_limit, middle_limit, _ = gc.get_threshold()
    if young <= young_limit:
        return
    if middle <= middle_limit:
        gc.collect(0)
    else:
        gc.collect(2 if old >= FULL_EVERY else 1)

"""The clock of what is on screen: times that say how long ago something was stay true, and nothing else wakes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

SECOND_MS = 1_000
MINUTE_MS = 60_000  # how often the words of `time_format.when` change


class Ticker(QObject):
    """Calls `refresh` when `widget` is shown, and again every `interval_ms` while it is on screen and `wanted` says so.

    Whoever changes what `wanted` reads calls `look`.
    """

    def __init__(
        self,
        widget: QWidget,
        refresh: Callable[[], object],
        interval_ms: int = MINUTE_MS,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(widget)
        self._widget = widget
        self._refresh = refresh
        self._wanted = wanted
        self.timer = QTimer(self)
        self.timer.setInterval(interval_ms)
        self.timer.timeout.connect(refresh)
        widget.installEventFilter(self)
        self.look()

    def look(self) -> None:
        """Run while the widget is on screen and there is something to count."""
        if not self._widget.isVisible() or not self._wanted():
            self.timer.stop()
        elif not self.timer.isActive():
            self.timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self._refresh()
            self.look()
        elif event.type() == QEvent.Type.Hide:
            self.timer.stop()
        return False

"""Tasks of a tab that may not crash."""

from __future__ import annotations

from app.core.tasks import TaskScope


class CheckedTasks(TaskScope):
    """Collects what crashes."""

    def __init__(self) -> None:
        self.crashes: list[Exception] = []
        super().__init__(self.crashes.append)

    def check(self) -> None:
        """Raise the first crash, if there was one. Call it when all is closed."""
        if self.crashes:
            raise self.crashes[0]

"""How much of the two caps is used, counted here: requests within a minute, credits within 24 hours.

A module of its own: a part of the presenter with a state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.storage.rpc_calls import RpcCalls
from app.ui.crypto_rpc.session.sending import caps_of
from app.ui.crypto_rpc.state import CapsView
from app.ui.kit.timers import start_in

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope

MINUTE = timedelta(minutes=1)
DAY = timedelta(hours=24)
SLACK_S = 0.05  # behind the moment at which the oldest request stops counting


class CapsCounter(QObject):
    """Counts after every request, and once more when a request grows older than a minute; idle it does nothing."""

    changed = Signal(object)  # CapsView

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._current_account = current_account
        self._tasks = tasks
        self._now = now
        self.calls: RpcCalls | None = None
        self.view = CapsView()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)

    def refresh(self) -> None:
        self._tasks.replace("rpc caps", self.count)

    async def count(self) -> None:
        """Count and show it; once more when the oldest request stops counting."""
        service, account, calls = self._current_account.service, self._current_account.account, self.calls
        if service is None or account is None or calls is None:
            return
        now = self._now()
        requests, _ = await calls.used_since(account.id, now - MINUTE)
        _, credits_used = await calls.used_since(account.id, now - DAY)
        oldest = await calls.first_since(account.id, now - MINUTE)
        caps = caps_of(service, account)
        resets_at = None if oldest is None else oldest + MINUTE
        view = CapsView(requests, caps.crypto, credits_used, caps.credits_a_day, resets_at)
        if view != self.view:
            self.view = view
            self.changed.emit(view)
        if view.resets_at is not None:
            start_in(self._timer, max(1.0, (view.resets_at - now).total_seconds() + SLACK_S))

"""What every presenter that calls the service for the account in use knows about that account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.core.money import after

if TYPE_CHECKING:
    from decimal import Decimal

    from app.core.caller import Caller
    from app.service.service import Service


class CallingPresenter(QObject):
    """A presenter that calls as `caller` says, which may change at any time."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller

    @property
    def account_id(self) -> str:
        """The id of the account in use, "" for none."""
        return self._caller.account.id if self._caller.account is not None else ""

    @property
    def in_sandbox(self) -> bool:
        """True when nothing can cost real money."""
        return self._caller.is_sandbox

    def left_after(self, price: Decimal) -> str:
        """What a price leaves of the balance: `balance after $4.98`, "" where nobody knows."""
        return after(price, self._caller.balance, is_play=self.in_sandbox)

    @property
    def service(self) -> Service | None:
        """The service of the account in use; None without one."""
        return self._caller.service

"""What every presenter that calls the service for the account in use knows about that account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.core.money import after

if TYPE_CHECKING:
    from decimal import Decimal

    from app.core.current_account import CurrentAccount
    from app.core.leaving_models import LeavingModels
    from app.service.service import Service


class CallingPresenter(QObject):
    """A presenter that calls as `current_account` says, which may change at any time."""

    def __init__(self, current_account: CurrentAccount) -> None:
        super().__init__()
        self._current_account = current_account

    @property
    def account_id(self) -> str:
        """The id of the account in use, "" for none."""
        return self._current_account.account.id if self._current_account.account is not None else ""

    @property
    def current_account(self) -> CurrentAccount:
        return self._current_account

    @property
    def leaving(self) -> LeavingModels:
        """The models that services are going to remove."""
        return self._current_account.leaving

    @property
    def in_sandbox(self) -> bool:
        """True when nothing can cost real money."""
        return self._current_account.is_sandbox

    def left_after(self, price: Decimal) -> str:
        """What a price leaves of the balance: `balance after $4.98`, "" where nobody knows."""
        return after(price, self._current_account.balance, is_play=self.in_sandbox)

    @property
    def service(self) -> Service | None:
        """The service of the account in use; None without one."""
        return self._current_account.service

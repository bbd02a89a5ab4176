"""One receipt for every call: hears each exchange from the client, keeps it, and tells the window the new numbers.

This is the only place where an exchange becomes a receipt; no tab does it for itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.ui.shared.caller import Caller, Headroom
from app.ui.shared.limit_watch import LimitWatch

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.exchange import Exchange
    from app.storage.receipts import Receipt, Receipts
    from app.ui.shared.budget import Budget
    from app.ui.shared.tasks import TaskScope

# Which tab a resource of the service belongs to; what is in no tab is asked on behalf of the window.
TAB_OF = {
    "chat": "chat",
    "models": "chat",
    "characters": "chat",
    "speech": "speech",
    "voices": "speech",
    "transcription": "transcription",
    "video": "video",
    "images": "images",
    "crypto": "crypto_rpc",
    "billing": "wallet",
    "x402": "wallet",
    "embeddings": "chat",
    "account": "settings",
}


def tab_of(resource: str) -> str:
    """Return the name of the tab that a resource belongs to."""
    return TAB_OF.get(resource, resource)


def receipt_from(exchange: Exchange, account: Account, estimate_usd: Decimal | None = None) -> Receipt:
    """Return the receipt of one exchange. Play money of the Sandbox is never a charge."""
    from app.storage.receipts import receipt_of

    info = exchange.info
    return receipt_of(
        id=exchange.id,
        at=exchange.started_at,
        account_id=account.id,
        tab=tab_of(exchange.resource),
        endpoint=f"{exchange.request.method} {exchange.request.path}",
        model=exchange.model or (info.model_id if info is not None and info.model_id else ""),
        units=exchange.units,
        cost_usd=exchange.cost_usd,
        cost_source=exchange.cost_source,
        balance_after=balance_after(exchange),
        request_id=info.request_id if info is not None else "",
        headroom=_headroom_values(exchange),
        duration_s=exchange.duration_s,
        outcome=exchange.outcome,
        charged=not account.is_sandbox,
        estimate_usd=estimate_usd,
    )


def balance_after(exchange: Exchange) -> Decimal | None:
    """Return what is left in USD: as stated, else the balance before the call less its cost (R-HDR-22, R-WAL-13)."""
    info = exchange.info
    if info is None:
        return None
    if info.balance_remaining is not None:
        return info.balance_remaining
    if info.balance_usd is None:
        return None
    return info.balance_usd - (exchange.cost_usd or Decimal(0))


def _headroom_values(exchange: Exchange) -> dict[str, int]:
    info = exchange.info
    if info is None:
        return {}
    values = {
        "requests_left": info.remaining_requests,
        "requests_limit": info.limit_requests,
        "tokens_left": info.remaining_tokens,
        "tokens_limit": info.limit_tokens,
    }
    return {name: value for name, value in values.items() if value is not None}


class Ledger(QObject):
    """Keeps receipts and the window's numbers. `recorded` follows each receipt that is on disk."""

    recorded = Signal(object)  # Receipt

    def __init__(
        self,
        caller: Caller,
        tasks: TaskScope,
        now: Callable[[], datetime] | None = None,
        budget: Budget | None = None,
    ) -> None:
        super().__init__()
        self.budget = budget
        self.limits = LimitWatch()  # of the account in use
        self._caller = caller
        self._tasks = tasks
        self._now = now or (lambda: datetime.now(UTC))
        self._receipts: Receipts | None = None

    async def start(self, receipts: Receipts) -> None:
        """Take the opened receipts and add up what today has cost so far. Raises `StorageError`."""
        self._receipts = receipts
        if self.budget is not None:
            self.budget.start(receipts)
        await self.refresh()

    async def refresh(self) -> None:
        """Add up what today cost, in the money of the account in use: all accounts, as the daily limit counts."""
        account = self._caller.account
        if self._receipts is None or account is None:
            return
        spent = await self._receipts.spent_since(self._midnight(), charged=not account.is_sandbox)
        if account is self._caller.account:
            self._caller.set_numbers(spent_today=spent)

    def recorder(self, account: Account) -> Callable[[Exchange], None]:
        """Return the client's hook for one account."""

        def record(exchange: Exchange) -> None:
            if account is self._caller.account:
                self._show(exchange)
            self._tasks.start(f"receipt {exchange.id}", self._keep, exchange, account)

        return record

    def _show(self, exchange: Exchange) -> None:
        info = exchange.info
        if info is None:
            return
        self.limits.hear(exchange, partner=self._caller.account is not None and self._caller.account.partner)
        headroom = None
        if info.remaining_requests is not None or info.remaining_tokens is not None:
            before = self._caller.headroom or Headroom()
            headroom = replace(
                before,
                requests_left=info.remaining_requests,
                requests_limit=info.limit_requests,
                tokens_left=info.remaining_tokens,
                tokens_limit=info.limit_tokens,
                resets_at=info.reset_requests_at,
            )
        short = exchange.duration_s if exchange.resource in ("models", "characters", "account") else None
        self._caller.set_numbers(
            headroom=headroom if exchange.resource == "chat" or self._caller.headroom is None else None,
            balance=balance_after(exchange),
            latency_ms=round(short * 1000) if short is not None and exchange.outcome == "ok" else None,
        )

    async def _keep(self, exchange: Exchange, account: Account) -> None:
        receipt = receipt_from(exchange, account, self.budget.expected(exchange.id) if self.budget else None)
        if self._receipts is not None:
            await self._receipts.add(receipt)
        if self.budget is not None:
            self.budget.settled(exchange.id)  # not before its cost is among the receipts
        if self._receipts is None:
            return
        self.recorded.emit(receipt)
        if receipt.cost_usd:
            await self.refresh()

    def _midnight(self) -> datetime:
        return self._now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)

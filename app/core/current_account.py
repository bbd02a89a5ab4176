"""What every tab may know about who we call as: the account, its service, and the numbers in the status bar.

Account switching, the receipts and the composition root write here; every tab reads and listens.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.leaving_models import LeavingModel, LeavingModels, LeavingNotice
from app.core.shown_call import ShownCall, shown_call

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.exchange import Exchange
    from app.service.models import Model
    from app.service.response_info import ResponseInfo
    from app.service.retry import BudgetState
    from app.service.service import Service

KEPT_CALLS = ("characters", "embeddings")


def is_same_window(one: datetime | None, other: datetime | None) -> bool:
    """Whether two answers speak of one window: within it less and less is left, so the lower count is the later one.

    Answers to calls made together overtake each other, and a service may round its seconds.
    """
    return one is not None and other is not None and abs(one - other) < timedelta(seconds=2)


class RateLimitRemaining(NamedTuple):
    """How much of a rate limit is left until `resets_at`; None where the service did not say."""

    requests_left: int | None = None
    requests_limit: int | None = None
    tokens_left: int | None = None
    tokens_limit: int | None = None
    resets_at: datetime | None = None
    of: str = ""  # what is limited: "Images"

    @classmethod
    def told(cls, info: ResponseInfo | None, of: str, *, by_tokens: bool = False) -> RateLimitRemaining | None:
        """Return what an answer said of its limit; None where it said nothing. A limit that names no end is a
        minute's. Tokens are in every response, and mean something only where what is asked for is paid `by_tokens`.
        """
        if info is None or info.remaining_requests is None:
            return None
        resets_at = info.reset_requests_at or info.received_at + timedelta(minutes=1)
        tokens = (info.remaining_tokens, info.limit_tokens) if by_tokens else (None, None)
        return cls(info.remaining_requests, info.limit_requests, *tokens, resets_at=resets_at, of=of)

    def after(self, before: RateLimitRemaining | None) -> RateLimitRemaining:
        """The same, unless an answer before told of fewer in the same window."""
        if before is None or not is_same_window(before.resets_at, self.resets_at):
            return self
        return min(before, self, key=lambda each: each.requests_left or 0)


class CurrentAccount(QObject):
    """The account in use and what is known of it. All values are of that account and are cleared when it changes."""

    account_changed = Signal()
    numbers_changed = Signal()
    budget_changed = Signal()
    reach_changed = Signal()
    lock_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.account: Account | None = None
        self.service: Service | None = None
        self.budget: BudgetState | None = None
        self.names: Callable[[str], str] = str  # of accounts, by id
        self.keys_locked = False  # the place where keys are kept
        self.reach = ""  # what is between us and the service, in the code of the last failed connection; "" for nothing
        self.leaving = LeavingModels()
        self.latest: dict[str, ShownCall] = {}  # by the part of the service (`KEPT_CALLS`): for their Request pages
        self._clear_numbers()

    def _clear_numbers(self) -> None:
        self.headroom: RateLimitRemaining | None = None  # of chat
        self.balance: Decimal | None = None  # USD
        self.spent_today: Decimal = Decimal(0)  # USD, of all accounts that spend the same money, real or play
        self.possible_today: Decimal = Decimal(0)  # of `spent_today`: what may not have been charged
        self.daily_limit: Decimal | None = None  # USD a day, None for none
        self.latency_ms: int | None = None
        self.models: tuple[Model, ...] = ()  # of chat
        self.added_models: tuple[Model, ...] = ()  # of chat, asked for by id: the list need not have them

    @property
    def priced_models(self) -> tuple[Model, ...]:
        """All chat models whose prices are known."""
        return (*self.models, *self.added_models)

    def mark_of(self, account_id: str) -> str:
        """The name of an account whose things stand among those of the one in use; "" for that one itself."""
        if not account_id or self.account is None or account_id == self.account.id:
            return ""
        return self.names(account_id)

    def note_call(self, exchange: Exchange) -> None:
        """Keep the latest call of a part of the service that has no inspector to show it in."""
        if exchange.resource in KEPT_CALLS:
            self.latest[exchange.resource] = shown_call(exchange)

    def leaving_model(self, model_id: str) -> LeavingModel | None:
        """What is known of the end of a model of this account; None for one that stays."""
        return self.leaving.one(self.account.id, model_id) if self.account is not None else None

    def leaving_notice(self, model_id: str, has_model: Callable[[str], bool]) -> LeavingNotice | None:
        """What to say of a model that leaves; None for one that stays. `has_model`: of the tab that uses it."""
        model = self.leaving_model(model_id) if model_id else None
        if model is None:
            return None
        return LeavingNotice(
            model_id,
            model.name,
            model.retires,
            model.replacement,
            model.replacement_name,
            self.leaving.uses(model.id),
            bool(model.replacement) and has_model(model.replacement),
        )

    @property
    def is_sandbox(self) -> bool:
        """True when nothing can cost real money."""
        return self.account is not None and self.account.is_sandbox

    @property
    def host(self) -> str:
        """The host name we speak to, "" without an account."""
        return self.account.host if self.account is not None else ""

    @property
    def is_locked(self) -> bool:
        """True while the account in use needs a key that is locked."""
        account = self.account
        return self.keys_locked and account is not None and account.kind != "sandbox" and not account.watch_only

    def use(self, account: Account | None, service: Service | None) -> None:
        """Call as somebody else, or as nobody."""
        self.account = account
        self.service = service
        self.latest.clear()
        self.budget = None
        self.set_reach("")
        self._clear_numbers()
        self.account_changed.emit()
        self.numbers_changed.emit()
        self.budget_changed.emit()

    def set_numbers(
        self,
        *,
        headroom: RateLimitRemaining | None = None,
        balance: Decimal | None = None,
        spent_today: Decimal | None = None,
        possible_today: Decimal | None = None,
        daily_limit: Decimal | None = None,
        latency_ms: int | None = None,
        models: tuple[Model, ...] | None = None,
    ) -> None:
        """Take what an answer told; None leaves what is known as it is."""
        news: dict[str, object] = {
            "headroom": headroom,
            "balance": balance,
            "spent_today": spent_today,
            "possible_today": possible_today,
            "daily_limit": daily_limit,
            "latency_ms": latency_ms,
            "models": models,
        }
        changed = {name: value for name, value in news.items() if value is not None and value != getattr(self, name)}
        for name, value in changed.items():
            setattr(self, name, value)
        if models and self.account is not None:
            self.leaving.hear_models(self.account.id, models)
        if changed:
            self.numbers_changed.emit()

    def set_reach(self, code: str) -> None:
        """Take how the last try to reach the service ended."""
        if code != self.reach:
            self.reach = code
            self.reach_changed.emit()

    def set_keys_locked(self, locked: bool) -> None:
        """Take whether the place where keys are kept has to be unlocked."""
        if locked != self.keys_locked:
            self.keys_locked = locked
            self.lock_changed.emit()

    def set_budget(self, budget: BudgetState | None) -> None:
        """Take the state of the failure budget; the window says so while it holds calls."""
        self.budget = budget
        self.budget_changed.emit()

"""The API key in use as the service sees it, and the account's other keys: listed, made and revoked where it may.

A new key is handed to whoever shows it and kept nowhere here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.money import bare, money
from app.core.number_format import count
from app.core.problems import describe
from app.core.time_format import clock, day, day_of_year, moment, time_of_day
from app.service.errors import AdminKeyRequired, AuthenticationFailed, Forbidden, NotFound, OutcomeUnknown, ServiceError
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.wallet.state import KeyPage, KeyRow

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.service.account import RateLimits
    from app.service.api_keys import ApiKey, KeyKind, KeyTerms
    from app.service.service import Service

KIND_WORDS = {"ADMIN": tr("Admin"), "INFERENCE": tr("Requests")}
PRIVACY_WORDS = {"PRIVATE_TEXT": tr("private text models"), "PRIVATE_ONLY": tr("private models")}
PERIOD_WORDS = {"EPOCH": tr("{amount} per day"), "MONTH": tr("{amount} per month"), "LIFETIME": tr("{amount} total")}
NEEDS_ADMIN = tr("Viewing the account’s keys requires an admin key.")
NOT_HERE = tr("This service does not list its keys. Create and revoke them on its website.")
UNKNOWN = tr("It is not clear whether the key was created. Check the list before you create another.")


class ApiKeysPresenter(QObject):
    """`changed` carries the `KeyPage`. `note_secret` hears of a new key before anybody sees it."""

    changed = Signal(object)

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope) -> None:
        super().__init__()
        self._current_account = current_account
        self._tasks = tasks
        self.note_secret: Callable[[str], object] = lambda _secret: None
        self.page = KeyPage()
        current_account.account_changed.connect(self._forget)

    def load(self) -> None:
        """Read what the service says about the key in use. It is free."""
        self._tasks.replace("wallet key", self._load)

    async def make(self, kind: KeyKind, terms: KeyTerms) -> tuple[str, str]:
        """Make a key. Return it, or "" and a sentence about what went wrong."""
        service = self._current_account.service
        if service is None:
            return "", tr("No account is in use.")
        try:
            made = await service.api_keys.make(kind, terms)
        except OutcomeUnknown:
            self.load()
            return "", UNKNOWN
        except ServiceError as error:
            return "", describe(error, subject="").sentence
        secret = made.secret.get_secret_value()
        self.note_secret(secret)
        self.load()
        return secret, ""

    async def change(self, row: KeyRow, terms: KeyTerms) -> str:
        """Change the name, the end and the limits of a key. Return what went wrong, "" for nothing."""
        key = row.key
        return "" if key is None else await self._do(lambda service: service.api_keys.change(key, terms))

    async def revoke(self, key_id: str) -> str:
        """End a key. Return what went wrong, "" for nothing."""
        return await self._do(lambda service: service.api_keys.revoke(key_id))

    async def _do(self, ask: Callable[[Service], Awaitable[None]]) -> str:
        service = self._current_account.service
        if service is None:
            return tr("No account is in use.")
        try:
            await ask(service)
        except ServiceError as error:
            return describe(error, subject="").sentence
        self.load()
        return ""

    def _forget(self) -> None:
        self._show(KeyPage())

    def _show(self, page: KeyPage) -> None:
        self.page = page
        self.changed.emit(page)

    async def _load(self) -> None:
        account, service = self._current_account.account, self._current_account.service
        if account is None or service is None:
            return
        if account.kind == "wallet":
            self._show(KeyPage(problem=tr("A wallet signs in without an API key.")))
            return
        self._show(replace(self.page, busy=True, problem=""))
        try:
            limits = await service.account.rate_limits()
        except ServiceError as error:
            self._show(KeyPage(problem=describe(error, subject="").sentence))
            return
        page = page_of(limits, account.secret_hint)
        keys, keys_problem = await self._keys(service)
        hits, hits_problem = await self._hits(service)
        self._show(replace(page, keys=keys, keys_problem=keys_problem, hits=hits, hits_problem=hits_problem))

    async def _keys(self, service: Service) -> tuple[tuple[KeyRow, ...], str]:
        try:
            found = await service.api_keys.list_all()
        except (AdminKeyRequired, AuthenticationFailed, Forbidden):
            return (), NEEDS_ADMIN
        except NotFound:
            return (), NOT_HERE
        except ServiceError as error:
            return (), describe(error, subject="").sentence
        return tuple(build_rows(found, row_of)), ""

    async def _hits(self, service: Service) -> tuple[tuple[tuple[str, str, str], ...], str]:
        try:
            hits = await service.account.limit_log()
        except (AdminKeyRequired, AuthenticationFailed, Forbidden):
            return (), tr("Viewing the limits reached requires an admin key.")
        except ServiceError as error:
            return (), describe(error, subject="").sentence
        rows = ((_moment(each.at, clock), each.model_id, each.limit_type) for each in hits)
        return tuple(rows), ""


def page_of(limits: RateLimits, hint: str) -> KeyPage:
    """What the limits say about the key that asked for them; `hint` is how the key ends."""
    expires = limits.key_expires_at
    balances = limits.balances
    amounts = [
        f"{money(amount)} {words}".rstrip()
        for amount, words in (
            (balances.usd, ""),
            (balances.diem, tr("daily credits")),
            (balances.bundled, tr("bundled")),
        )
        if amount is not None
    ]
    amounts += [f"{money(amount)} {name.replace('_', ' ').lower()}" for name, amount in balances.others.items()]
    facts = (
        (tr("Key"), tr("ends in {hint}", hint=hint) if hint else tr("not shown")),
        (tr("Can make requests"), tr("yes") if limits.access_permitted else tr("no")),
        (tr("Tier"), limits.tier.id or tr("not stated")),
        (tr("Expires"), moment(expires) if expires is not None else tr("never")),
        (tr("Can spend"), ", ".join(amounts) or tr("not stated")),
    )

    def amount(value: Decimal | None) -> str:
        return count(value) if value is not None else tr("none")

    rows = tuple((each.model_id, amount(each.amount("RPM")), amount(each.amount("TPM"))) for each in limits.models)
    return KeyPage(facts=facts, limits=rows)


def row_of(key: ApiKey) -> KeyRow:
    """One key as the list shows it."""
    week = key.spent.week.usd
    return KeyRow(
        id=key.id,
        name=key.description or tr("No name"),
        kind=KIND_WORDS.get(key.kind, key.kind.capitalize() or tr("Not stated")),
        ends_in=f"…{key.last_chars}" if key.last_chars else "",
        expires=day(key.expires_at) if key.expires_at is not None else tr("never"),
        used=_moment(key.last_used_at, time_of_day),
        limit=_limit_words(key),
        week=money(week) if week is not None else "",
        key=key,
    )


def _limit_words(key: ApiKey) -> str:
    """What a key may spend, how much of it is spent, and which models it may use."""
    limits, spent = key.limits, key.spent_in_period
    amounts = [
        (tr("{spent} of {most}", spent=shown(used), most=shown(most)) if used is not None else shown(most))
        for most, used, shown in ((limits.usd, spent.usd, money), (limits.diem, spent.diem, _credits))
        if most is not None
    ]
    words = PERIOD_WORDS.get(key.period, "{amount}").replace("{amount}", ", ".join(amounts)) if amounts else ""
    return ", ".join(filter(None, (words, PRIVACY_WORDS.get(key.privacy, "")))) or tr("none")


def _credits(amount: Decimal) -> str:
    return tr("{amount} credits", amount=bare(amount))


def _moment(at: datetime | None, time: Callable[[datetime], str]) -> str:
    """`Mar 3, 14:06`, "" for no moment; `time` writes the time of day."""
    return f"{day_of_year(at)}, {time(at)}" if at is not None else ""

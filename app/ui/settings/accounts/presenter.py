"""Accounts: add, check, use, rename, remove, and replace a key. All but checking works without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.core.account_removal import AccountRemoval, WalletFacts
from app.core.call_log import CallLog, LastResponse
from app.core.secret_storage import Secrets
from app.core.service_versions import ServiceVersions
from app.core.tasks import TaskScope
from app.core.time_format import when
from app.credentials.accounts import (
    Account,
    AccountRefused,
    Accounts,
    RemovedAccount,
    clean_address,
    free_name,
    hint_of,
    new_account,
)
from app.credentials.stores import SecretStoreError, StoreAbsent
from app.service.dialect import guess_dialect
from app.service.errors import AuthenticationFailed, BadResponse, ConnectionFailed, NotFound, ServiceError, TimedOut
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.settings.accounts.checking import (
    CheckedKey,
    host_name,
    key_problem,
    refused,
    short,
    verdict,
)
from app.ui.settings.accounts.state import (
    AccountRow,
    AccountsState,
    FormState,
    PublicModels,
    RemovedRow,
    SecretRow,
    TestLine,
)

CHECK_WITHIN_S = 25.0
AUTOMATIC = ""  # the dialect is guessed from the address
PROXY = "connection"  # whose secret the proxy's password is
USUAL_PATHS = ("/api/v1", "/v1")  # tried where an address was typed without one

# account, a key that is typed or "" for the one that is kept → what the service says. Raises `ServiceError`.
if TYPE_CHECKING:
    from app.service.models import Model

Check = Callable[[Account, str], Awaitable[CheckedKey]]
ListModels = Callable[[Account], Awaitable[tuple["Model", ...]]]


async def no_models(_account: Account) -> tuple[Model, ...]:
    """Nobody can be asked."""
    raise ConnectionFailed(tr("No service can be asked."), surely_not_sent=True)


async def no_balance(_account_id: str) -> Decimal | None:
    """The last known balance where nobody keeps any."""
    return None


@dataclass(frozen=True, slots=True)
class AccountDraft:
    """What a form holds. `name` may be empty: the host's name is taken then."""

    base_url: str
    key: str
    name: str = ""
    dialect: str = AUTOMATIC

    def __repr__(self) -> str:
        return f"AccountDraft({self.base_url!r}, name={self.name!r})"  # the key stays out of every log


class AccountsPresenter(QObject):
    """`account_chosen` tells the id of the account that is in use from now on; `key_replaced` that its key is new."""

    state_changed = Signal(object)  # AccountsState
    account_chosen = Signal(str)
    key_replaced = Signal(str)

    def __init__(
        self,
        accounts: Accounts,
        secrets: Secrets,
        tasks: TaskScope,
        *,
        check: Check,
        calls: CallLog | None = None,
        versions: ServiceVersions | None = None,
        proxy_user: Callable[[], str] = lambda: "",
        is_welcomed: Callable[[], bool] = lambda: True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        balance_of: Callable[[str], Awaitable[Decimal | None]] = no_balance,
        open_payment_of: Callable[[str], Decimal | None] = lambda _account_id: None,
        list_models: ListModels = no_models,
    ) -> None:
        """`check` asks a service about a key, `calls` has when an account was answered, and `versions` by which version
        of the service. `proxy_user` is whose password the proxy is given, "" for nobody's. No account is in use before
        somebody `is_welcomed`. `balance_of` and `open_payment_of` have, by account id and in USD, the last known
        balance and a top-up that is not settled. `list_models` asks a service which models it has, without a key.
        """
        super().__init__()
        self._accounts = accounts
        self._secrets = secrets
        self._tasks = tasks
        self._check = check
        self._proxy_user = proxy_user
        self._is_welcomed = is_welcomed
        self._now = now
        self._tests: dict[str, TestLine] = {}
        self._answers: dict[str, LastResponse] = {}
        self._calls = calls
        self._versions = versions
        self.removal = AccountRemoval(accounts, secrets, now)
        self._balance_of = balance_of
        self._open_payment_of = open_payment_of
        self._list_models = list_models
        self._undoable = ""  # the account that was removed last
        self._waiting: tuple[Account, str] | None = None  # a new account and its key, until there is a place for it
        self.state = AccountsState(problem=accounts.note)
        secrets.state_changed.connect(lambda _state: self.refresh())
        secrets.ready.connect(self._add_waiting)
        secrets.ready.connect(self.delete_due)
        secrets.locked.connect(self.forget_waiting)
        if calls is not None:
            calls.changed.connect(lambda _account: self.refresh())
        if versions is not None:
            versions.changed.connect(lambda _account: self.refresh())
        self.refresh()

    # What the person does

    def use(self, account_id: str) -> None:
        """Call as this account from now on."""
        self._tasks.start_unless_running(f"use {account_id}", self._use, account_id)

    def test(self, account_id: str) -> None:
        """Ask the service whether it accepts the key; a call that never costs anything."""
        self._tasks.start_unless_running(f"test {account_id}", self._test, account_id)

    def rename(self, account_id: str, name: str) -> None:
        self._tasks.start_unless_running(f"rename {account_id}", self._rename, account_id, name)

    def set_limit_class(self, account_id: str, limit_class: str) -> None:
        """Call as often as the service documents for a class, until it tells the account's own limits."""
        self._tasks.start_unless_running(f"limits {account_id}", self._set_limit_class, account_id, limit_class)

    def replace_key(self, account_id: str, key: str) -> None:
        """Keep another key for an account; the old one is overwritten."""
        self._tasks.start_unless_running(f"key {account_id}", self._replace_key, account_id, key)

    def remove_key(self, account_id: str) -> None:
        """Keep an account without its key. A wallet's private key stays among the removed wallets for 30 days."""
        self._tasks.start_unless_running(f"key {account_id}", self._remove_key, account_id)

    def remove(self, account_id: str) -> None:
        """Take an account off the list; `undo_remove` restores it until Rialto quits or the next removal.

        After that its API key is deleted. A wallet's private key is kept for 30 days: see `restore`.
        """
        self._tasks.start_unless_running("remove", self._remove, account_id)

    def restore(self, account_id: str) -> None:
        """Put a removed wallet back on the list, with its key."""
        self._tasks.start_unless_running("remove", self._restore, account_id)

    def delete_permanently(self, account_id: str) -> None:
        """Delete the private key of a removed wallet. Nothing brings it back."""
        self._tasks.start_unless_running("remove", self._delete_permanently, account_id)

    def delete_due(self) -> None:
        """Delete the keys of removed accounts that need not be kept any longer."""
        self._tasks.start_unless_running("delete removed", self._delete_due)

    def add(self, draft: AccountDraft, *, unchecked: bool = False) -> None:
        """Check the draft's key with its service, keep it and use the account. `unchecked` keeps it without asking."""
        self._tasks.start_unless_running("add", self._add, draft, unchecked)

    def reset_form(self) -> None:
        """Forget what the form was told last."""
        self._waiting = None
        self._change(form=FormState(done=self.state.form.done))

    def forget_waiting(self) -> None:
        """The form was changed: an account that waits for a place for its key is not wanted any more."""
        self._waiting = None
        self._change(form=replace(self.state.form, waits=False))

    async def facts(self, account_id: str) -> WalletFacts:
        """What a person should know before the private key of this wallet goes."""
        balance, removed = await self._balance_of(account_id), self._accounts.removed_one(account_id)
        if balance is None and removed is not None:
            balance = removed.balance_usd
        return WalletFacts(balance, self._open_payment_of(account_id))

    # What others tell

    def record_answer(self, account_id: str, at: datetime, latency_ms: int | None) -> None:
        """The account was answered: its row and the table of secrets say so."""
        self._answers[account_id] = LastResponse(at, latency_ms)

    def _answered(self, account_id: str) -> LastResponse | None:
        """The newest answer that anybody knows of."""
        heard = self._calls.last_answer(account_id) if self._calls is not None else None
        known = [answer for answer in (heard, self._answers.get(account_id)) if answer is not None]
        return max(known, key=lambda answer: answer.at, default=None)

    def refresh(self) -> None:
        """Read the book again; times such as "4 min ago" become true again."""
        accounts = self._accounts.list()
        self._change(
            accounts=tuple(build_rows(accounts, self._row)),
            removed_wallets=tuple(build_rows(self._removed_wallets(), self._removed_row)),
            secrets=(
                *(self._secret(account) for account in accounts if account.kind == "api_key"),
                *(self._wallet_secret(account) for account in accounts if account.has_private_key),
                *self._proxy_secret(),
            ),
        )

    # How it is done

    async def _use(self, account_id: str) -> None:
        if self._accounts.get(account_id) is None:
            return
        try:
            await self._write(self._accounts.set_active, account_id)
        finally:  # for this session it holds all the same
            self.account_chosen.emit(account_id)
            self.refresh()

    async def _test(self, account_id: str) -> None:
        account = self._accounts.get(account_id)
        if account is None:
            return
        self._set_test(account_id, TestLine("running", tr("Checking")))
        try:
            if account.kind == "api_key":
                await self._secrets.unlocked(tr("Unlock to test the key."))
            checked = await self._ask(account)
        except ServiceError as error:
            self._set_test(account_id, TestLine("bad", short(error)))
        except asyncio.CancelledError:
            self._set_test(account_id, TestLine())
            raise
        else:
            self.record_answer(account_id, self._now(), checked.latency_ms)
            self._set_test(account_id, verdict(checked))

    async def _ask(self, account: Account, typed_key: str = "") -> CheckedKey:
        try:
            async with asyncio.timeout(None if account.watch_only else CHECK_WITHIN_S):  # its owner signs elsewhere
                return await self._check(account, typed_key)
        except TimeoutError:
            raise TimedOut(tr("The service did not respond in time."), surely_not_sent=False) from None

    def look_at_models(self, draft: AccountDraft, show: Callable[[PublicModels], Awaitable[object]]) -> None:
        """Ask the service of an address for its models, without a key, and show them."""
        self._tasks.start_unless_running("public models", self._look_at_models, draft, show)

    async def _look_at_models(self, draft: AccountDraft, show: Callable[[PublicModels], Awaitable[object]]) -> None:
        done = self.state.form.done
        self._change(form=FormState(busy=True, done=done))
        form = FormState(done=done)
        try:
            found = await self._public_models(draft)
        except AccountRefused as error:
            form = FormState(problems={error.field: error.sentence}, done=done)
        except AuthenticationFailed:
            form = FormState(sentence=tr("This service lists its models only to those with a key."), done=done)
        except ServiceError as error:
            form = replace(refused(error, done), can_save_unchecked=False)
        else:
            self._change(form=form)
            await show(found)
        finally:
            self._change(form=form)

    async def _public_models(self, draft: AccountDraft) -> PublicModels:
        """Ask at the address as typed; where a host alone answers otherwise, at the usual paths."""
        account = self._drafted(draft, "")
        paths = ("", *USUAL_PATHS) if not urlsplit(account.base_url).path else ("",)
        for path in paths:
            at_path = self._drafted(replace(draft, base_url=f"{account.base_url}{path}"), "")
            try:
                return PublicModels(host_name(at_path.base_url), await self._list_models(at_path))
            except (NotFound, BadResponse):
                if path == paths[-1]:
                    raise
        raise AssertionError("there is always a last path")

    async def _find(self, draft: AccountDraft, account: Account, key: str) -> tuple[Account, CheckedKey]:
        """Check the key at the address as typed; where a host alone answers otherwise, at the usual paths."""
        try:
            return account, await self._ask(account, key)
        except (NotFound, BadResponse):
            if urlsplit(account.base_url).path:
                raise
            for path in USUAL_PATHS:
                at_path = self._drafted(replace(draft, base_url=f"{account.base_url}{path}"), key)
                with suppress(NotFound, BadResponse):
                    return at_path, await self._ask(at_path, key)
            raise

    async def _rename(self, account_id: str, name: str) -> None:
        try:
            await self._write(lambda: self._accounts.update(account_id, name=name))
        except AccountRefused as error:
            self._change(problem=error.sentence)
        else:
            self._change(problem="")
            if account_id == self._accounts.active_id:
                self.account_chosen.emit(account_id)

    async def _set_limit_class(self, account_id: str, limit_class: str) -> None:
        await self._write(lambda: self._accounts.update(account_id, limit_class=limit_class))
        if account_id == self._accounts.active_id:
            self.account_chosen.emit(account_id)

    async def _replace_key(self, account_id: str, key: str) -> None:
        account = self._accounts.get(account_id)
        if account is None or account.kind != "api_key":  # a wallet's private key would be lost
            return
        key = key.strip()
        problem = key_problem(key)
        if problem:
            self._change(problem=problem)
            return
        if await self._keep_secret(account_id, key):
            try:
                await self._write(lambda: self._accounts.update(account_id, secret_hint=hint_of(key)))
            finally:  # the new key is kept, whether or not its last characters are
                self._tests.pop(account_id, None)
                self.refresh()
                self.key_replaced.emit(account_id)

    async def _remove_key(self, account_id: str) -> None:
        account = self._accounts.get(account_id)
        if account is None:
            return
        if account.has_private_key:
            await self.removal.remove_private_key(account_id, (await self.facts(account_id)).balance_usd)
        elif not await self._remove_api_key(account):
            return
        self.refresh()
        self.key_replaced.emit(account_id)

    async def _remove_api_key(self, account: Account) -> bool:
        # The account first: where the disk refuses that, the key stays.
        await self._write(lambda: self._accounts.update(account.id, secret_hint=""))
        if await self._forget_secret(account.id):
            return True
        await self._write(lambda: self._accounts.update(account.id, secret_hint=account.secret_hint))
        return False

    async def _remove(self, account_id: str) -> None:
        account = self._accounts.get(account_id)
        if account is None or account.kind == "sandbox":
            return
        was_in_use = account_id == self._accounts.active_id
        balance = (await self.facts(account_id)).balance_usd if account.has_private_key else None
        await self.removal.remove(account_id, balance)
        self._undoable = account_id
        self.refresh()
        self._change(removed=account.name, removed_is_wallet=account.has_private_key, problem="")
        if was_in_use and self._accounts.active_id:
            self.account_chosen.emit(self._accounts.active_id)
        await self._delete_due()

    async def undo_remove(self) -> None:
        """Restore the account that was removed last. Raises `StorageError`: it can be asked for again."""
        if self._undoable:
            await self._restore(self._undoable)

    async def _restore(self, account_id: str) -> None:
        if self._accounts.removed_one(account_id) is None:
            return
        await self.removal.restore(account_id)
        if account_id == self._undoable:
            self._undoable = ""
            self._change(removed="")
        self.refresh()
        self.key_replaced.emit(account_id)

    async def _delete_permanently(self, account_id: str) -> None:
        await self._with_secrets(lambda: self.removal.delete_permanently(account_id))
        if account_id == self._undoable and self._accounts.removed_one(account_id) is None:
            self._undoable = ""
            self._change(removed="")
        self.refresh()

    async def _delete_due(self) -> None:
        await self.removal.delete_due({self._undoable})
        self.refresh()

    async def _add(self, draft: AccountDraft, unchecked: bool) -> None:
        await self._fill_form(self._add_checked(draft, unchecked))

    def _add_waiting(self) -> None:
        """There is a place for keys now: the connection that was asked for goes on."""
        if self._waiting is not None:
            self._tasks.start_unless_running("add", self._add_kept_back, *self._waiting)

    async def _add_kept_back(self, account: Account, key: str) -> None:
        await self._fill_form(self._finish(account, key))

    async def _fill_form(self, work: Awaitable[FormState]) -> None:
        self._waiting = None
        done = self.state.form.done
        self._change(form=FormState(busy=True, done=done))
        form = FormState(done=done)
        try:
            form = await work
        finally:
            self._change(form=form)

    async def _add_checked(self, draft: AccountDraft, unchecked: bool) -> FormState:
        """Return what the form shows next. The key is written before the account: a row without a key would lie."""
        done = self.state.form.done
        problems: dict[str, str] = {}
        account: Account | None = None
        key = draft.key.strip()
        try:
            account = self._drafted(draft, key)
        except AccountRefused as error:
            problems[error.field] = error.sentence
        if key_problem(key):
            problems["key"] = key_problem(key)
        if problems or account is None:
            return FormState(problems=problems, done=done)
        if not unchecked:
            try:
                account, checked = await self._find(draft, account, key)
            except ServiceError as error:
                return refused(error, done)
            self.record_answer(account.id, self._now(), checked.latency_ms)
            self._tests[account.id] = verdict(checked)
            if not checked.permitted:
                return FormState(problems={"key": tr("The service recognizes this key but denies access.")}, done=done)
        return await self._finish(account, key)

    async def _finish(self, account: Account, key: str) -> FormState:
        """Keep a new account and use it, at once or when there is a place for its key."""
        done = self.state.form.done
        sentence = await self._keep_new(account, key)
        if sentence or self._waiting is not None:
            return FormState(sentence=sentence, waits=self._waiting is not None, done=done)
        try:
            await self._use(account.id)
        except StorageError as error:  # it is in use for this session
            self._tasks.report(error)
        return FormState(done=done + 1)

    async def _keep_new(self, account: Account, key: str) -> str:
        """Write key and account; a sentence when that was refused, "" also where it waits for the person's choice."""
        try:
            await self._secrets.write(account.id, key)
        except StoreAbsent:
            self._waiting = account, key  # the question is beside the form: where keys are kept
            return ""
        except (SecretStoreError, StorageError) as error:
            return error.sentence
        try:
            await self._write(self._accounts.add, account)
        except (AccountRefused, StorageError) as error:
            await self._forget_secret(account.id)
            return error.sentence
        return ""

    def _drafted(self, draft: AccountDraft, key: str) -> Account:
        address = clean_address(draft.base_url)
        taken = (account.name for account in self._accounts.list())
        name = " ".join(draft.name.split()) or free_name(host_name(address), taken)
        dialect = draft.dialect or guess_dialect(address)
        return new_account(name, address, dialect=dialect, secret_hint=hint_of(key))  # type: ignore[arg-type]  # checked there

    async def _write(self, change: Callable[..., object], *args: object) -> None:
        await self.removal.write(lambda: change(*args))
        self.refresh()

    async def _keep_secret(self, account_id: str, key: str) -> bool:
        return await self._with_secrets(lambda: self._secrets.write(account_id, key))

    async def _forget_secret(self, account_id: str) -> bool:
        return await self._with_secrets(lambda: self._secrets.delete(account_id))

    async def _with_secrets(self, work: Callable[[], Awaitable[None]]) -> bool:
        try:
            await work()
        except (SecretStoreError, StorageError) as error:
            self._change(problem=error.sentence)
            return False
        self._change(problem="")
        return True

    def _row(self, account: Account) -> AccountRow:
        test = self._tests.get(account.id, TestLine())
        answered = self._answered(account.id)
        if not test.outcome and answered is not None:
            latency = f"{answered.latency_ms} ms" if answered.latency_ms is not None else ""
            test = TestLine("", tr("Responded {at}", at=when(answered.at, self._now())), latency)
        version = self._versions.of(account.id) if self._versions is not None else None
        return AccountRow(
            id=account.id,
            name=account.name,
            kind=account.kind,
            address="" if account.kind == "sandbox" else account.base_url,
            in_use=account.id == self._accounts.active_id and self._is_welcomed(),
            test=test,
            limit_class=account.limit_class,
            has_private_key=account.has_private_key,
            version=version.words if version is not None else "",
        )

    def _removed_wallets(self) -> tuple[RemovedAccount, ...]:
        return tuple(each for each in self._accounts.removed() if each.account.has_private_key)

    def _removed_row(self, removed: RemovedAccount) -> RemovedRow:
        left = removed.kept_until - self._now()
        return RemovedRow(
            id=removed.account.id,
            name=removed.account.name,
            address=removed.account.address,
            balance_usd=removed.balance_usd,
            days_left=max(0, -(-left // timedelta(days=1))) if self._secrets.state.kind != "session" else None,
        )

    def _secret(self, account: Account) -> SecretRow:
        place = self._secrets.state
        answered = self._answered(account.id)
        return SecretRow(
            account_id=account.id,
            what=tr("API key"),
            hint=tr("ends in {secret_hint}", secret_hint=account.secret_hint) if account.secret_hint else "",
            belongs_to=account.name,
            kept_in=place.place,
            is_lasting=place.kind != "session",
            last_used=when(answered.at, self._now()) if answered else "",
        )

    def _wallet_secret(self, account: Account) -> SecretRow:
        row = self._secret(account)
        short = f"{account.address[:6]}…{account.address[-4:]}"
        return replace(row, what=tr("Private key"), hint=tr("of {short}", short=short), is_wallet=True)

    def _proxy_secret(self) -> tuple[SecretRow, ...]:
        user = self._proxy_user()
        if not user:
            return ()
        place = self._secrets.state
        return (
            SecretRow(
                account_id=PROXY,
                what=tr("Proxy password"),
                hint=tr("user “{user}”", user=user),
                belongs_to=tr("Connection"),
                kept_in=place.place,
                is_lasting=place.kind != "session",
                last_used="",
            ),
        )

    def _set_test(self, account_id: str, line: TestLine) -> None:
        self._tests[account_id] = line
        self.refresh()

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state_changed.emit(self.state)

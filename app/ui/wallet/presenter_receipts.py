"""The ledger of all tabs: what the filter finds, page by page, its sums, its export, and how the service's books agree.

Rows are read as they are looked at; a book of a hundred thousand receipts opens as fast as one of ten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.file_saving import SavedFile
from app.core.number_format import count
from app.core.problems import describe
from app.core.tabs import tab_title
from app.core.time_format import clock
from app.service.billing import MAX_LOOKBACK_DAYS, UsageQuery
from app.service.errors import ServiceError
from app.storage.errors import NoHistory, StorageError
from app.storage.receipt_book import ReceiptBook, ReceiptFilter
from app.storage.receipt_sums import LocalZone, midnight
from app.translation import tr, tr_n
from app.ui.wallet.session.comparison import compare, compare_sums, service_bookings, verdict_words
from app.ui.wallet.state import CALL_WORDS, BookRow, Choices, Difference, Filter, Totals, UsageSums

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.receipt_recorder import ReceiptRecorder
    from app.core.tasks import TaskScope
    from app.credentials.accounts import Accounts
    from app.service.service import Service
    from app.storage.database import Database
    from app.storage.receipts import Receipt

PAGE = 100
KEPT_PAGES = 30
COMPARED = 5_000
UNIT_WORDS: dict[str, Callable[[int], str]] = {
    "prompt_tokens": lambda n: tr_n("{n} in", "{n} in", n),
    "completion_tokens": lambda n: tr_n("{n} out", "{n} out", n),
    "characters": lambda n: tr_n("{n} character", "{n} characters", n),
    "credits": lambda n: tr_n("{n} credit", "{n} credits", n),
    "images": lambda n: tr_n("{n} image", "{n} images", n),
}


async def _always() -> datetime | None:
    return None


class ReceiptsPresenter(QObject):
    """`count_changed`: other rows. `rows_arrived` carries the first and last place that can be drawn now."""

    count_changed = Signal(int)
    rows_arrived = Signal(int, int)
    totals_changed = Signal(object)  # Totals
    choices_changed = Signal(object)  # Choices
    filter_changed = Signal(object)  # Filter
    differences_changed = Signal(tuple, str)  # of Difference, and a sentence
    sums_changed = Signal(object)  # UsageSums
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(
        self,
        current_account: CurrentAccount,
        accounts: Accounts,
        receipt_recorder: ReceiptRecorder,
        tasks: TaskScope,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        books_since: Callable[[], Awaitable[datetime | None]] = _always,
    ) -> None:
        """`books_since`: when the Sandbox, where it is compared with, began to keep books."""
        super().__init__()
        self._books_since = books_since
        self._current_account = current_account
        self._accounts = accounts
        self._tasks = tasks
        self._now = now
        self._book: ReceiptBook | None = None
        self._pages: dict[int, tuple[BookRow, ...]] = {}
        self._wanted: list[int] = []
        self.filter = Filter()
        self.totals = Totals()
        self.choices = Choices()
        self.is_seen: Callable[[], bool] = lambda: True
        self._is_behind = False
        self._receipt_recorder = receipt_recorder
        receipt_recorder.recorded.connect(lambda _receipt: self._follow())
        current_account.account_changed.connect(self.reload)

    async def start(self, database: Database) -> None:
        """Take the opened database."""
        self._book = ReceiptBook(database)
        self.reload()

    # What is shown

    def row(self, place: int) -> BookRow | None:
        """The row at a place; None while it is being read."""
        page = self._pages.get(place // PAGE)
        if page is not None:
            return page[place % PAGE] if place % PAGE < len(page) else None
        if self._book is not None and place // PAGE not in self._wanted:
            self._wanted.append(place // PAGE)
            self._tasks.start_unless_running("wallet rows", self._read_rows)
        return None

    def days(self) -> tuple[date, ...]:
        """The days of the chart, oldest first."""
        last = self.filter.day or self._today()
        days = 1 if self.filter.day is not None else self.filter.days or 30
        return tuple(last - timedelta(days=days - 1 - place) for place in range(days))

    # What the person does

    def set_filter(self, **changes: Any) -> None:
        """Show other receipts; what is not named stays as it is."""
        self.filter = replace(self.filter, **changes)
        self.filter_changed.emit(self.filter)
        self.reload()

    def _follow(self) -> None:
        """There is another receipt: read it now for who looks, else once somebody does."""
        self._is_behind = True
        if self.is_seen():
            self.catch_up()

    def catch_up(self) -> None:
        """Read what came while nobody looked. Call when somebody does."""
        if self._is_behind:
            self.reload()

    def reload(self) -> None:
        self._is_behind = False
        if self._book is not None:
            self._tasks.replace("wallet book", self._reload)

    def export(self, path: Path) -> None:
        """Write what the filter finds as CSV, or JSON where the name ends so."""
        self._tasks.start_unless_running("wallet export", self._export, path)

    def compare(self) -> None:
        """Hold the receipts of the account in use against the service's own bookings."""
        self._tasks.start_unless_running("wallet compare", self._compare)

    @property
    def has_service_records(self) -> bool:
        """Whether the account in use has a key, whose service keeps sums and a table of charges."""
        account = self._current_account.account
        return account is not None and account.kind != "wallet"

    def export_bookings(self, path: Path) -> None:
        """Write the service's own charges of the days that are shown as CSV."""
        self._tasks.start_unless_running("wallet export", self._export_bookings, path)

    # How it is done

    async def _reload(self) -> None:
        if self._book is None:
            raise NoHistory
        wanted, zone = self._stored_filter(), LocalZone()
        is_play = self._current_account.is_sandbox
        totals = await self._book.totals(wanted, zone, play=is_play)
        tabs, accounts, models = await self._book.choices()
        self._pages = {}  # another one: a page that is being read belongs to the rows of before
        self._wanted.clear()
        names = self._names()
        self.choices = Choices(
            tuple((tab, tab_title(tab)) for tab in tabs),
            tuple((each, names.get(each, tr("A removed account"))) for each in accounts),
            tuple((model, model) for model in models),
        )
        self.totals = Totals(
            count=totals.count,
            spent=totals.spent_usd,
            play=totals.play_usd,
            possible=totals.possible_usd,
            possible_play=totals.possible_play_usd,
            expected=totals.estimated_usd,
            expected_actual=totals.estimated_actual_usd,
            days=self.days(),
            by_day=tuple((day, tab, amount) for (day, tab), amount in sorted(totals.by_day.items())),
            possible_days=totals.possible_days,
            is_play=is_play,
        )
        self.choices_changed.emit(self.choices)
        self.totals_changed.emit(self.totals)
        self.count_changed.emit(totals.count)

    async def _read_rows(self) -> None:
        if self._book is None:
            raise NoHistory
        names = self._names()
        while self._wanted:
            number = self._wanted[-1]  # what is looked at now comes first
            pages = self._pages
            try:
                receipts = await self._book.page(self._stored_filter(), LocalZone(), number * PAGE, PAGE)
            except BaseException:
                self._wanted.clear()  # asked for again when it is next looked at
                raise
            if pages is not self._pages:
                continue
            if number in self._wanted:
                self._wanted.remove(number)
            while len(self._pages) >= KEPT_PAGES:
                self._pages.pop(next(iter(self._pages)))
            self._pages[number] = tuple(_row(each, names) for each in receipts)
            self.rows_arrived.emit(number * PAGE, number * PAGE + len(receipts) - 1)

    async def _export(self, path: Path) -> None:
        if self._book is None:
            raise NoHistory
        try:
            saved = await self._book.export(self._stored_filter(), LocalZone(), path, self._names())
        except (OSError, StorageError) as error:
            reason = (
                error.sentence
                if isinstance(error, StorageError)
                else (error.strerror or tr("the disk reported an error"))
            )
            self.notice.emit(tr("The receipts could not be saved: {reason}.", reason=reason).replace("..", "."))
            return
        self.notice.emit(
            SavedFile(path, tr_n("{n} receipt saved as {name}", "{n} receipts saved as {name}", saved, name=path.name))
        )

    async def _compare(self) -> None:
        account, service = self._current_account.account, self._current_account.service
        if self._book is None or account is None or service is None:
            return
        self.differences_changed.emit((), tr("Getting the service’s charges"))
        days = self.days()
        begin = midnight(days[0], LocalZone())
        try:
            theirs = await service_bookings(service, account, begin)
        except ServiceError as error:
            self.differences_changed.emit((), describe(error, subject="").sentence)
            return
        wanted = replace(
            self._stored_filter(),
            tab="",
            model="",
            outcome="",
            account_id=account.id,
            last_day=None,
            without_free=False,
        )
        ours = await self._book.page(replace(wanted, paid_only=True), LocalZone(), 0, COMPARED)
        begins_at = await self._books_since() if account.is_sandbox else None
        found: tuple[Difference, ...] = await asyncio.to_thread(compare, ours, theirs, begins_at)
        for line in found:
            if line.corrects and line.theirs is not None:
                await self._receipt_recorder.correct(line.corrects, line.theirs, "stated")
        self.differences_changed.emit(found, verdict_words(found, clock(begins_at) if begins_at is not None else ""))
        if self.has_service_records:
            self.sums_changed.emit(await self._sums(service, account.id))

    async def _sums(self, service: Service, account_id: str) -> UsageSums:
        """The service's own sums of the days that are shown, which it keeps by day in UTC."""
        if self._book is None:
            raise NoHistory
        days = self.days()[-MAX_LOOKBACK_DAYS:]
        try:
            theirs = await service.billing.analytics(days[0], days[-1])
        except ServiceError as error:
            return UsageSums(problem=describe(error, subject="").sentence)
        wanted = ReceiptFilter(first_day=days[0], last_day=days[-1], account_id=account_id, paid_only=True)
        ours = await self._book.page(wanted, UTC, 0, COMPARED)
        return compare_sums(ours, theirs)

    async def _export_bookings(self, path: Path) -> None:
        service = self._current_account.service
        if service is None:
            return
        days, zone = self.days(), LocalZone()
        wanted = UsageQuery(midnight(days[0], zone), midnight(days[-1] + timedelta(days=1), zone))
        try:
            await service.billing.export_usage(path, wanted)
        except ServiceError as error:
            self.notice.emit(describe(error, subject="").sentence)
            return
        self.notice.emit(SavedFile(path, tr("The service’s charges saved as {name}", name=path.name)))

    def _stored_filter(self) -> ReceiptFilter:
        wanted = self.filter
        whole = wanted.days == 0 and wanted.day is None
        return ReceiptFilter(
            first_day=None if whole else self.days()[0],
            last_day=None if whole else self.days()[-1],
            tab=wanted.tab,
            account_id=wanted.account_id,
            model=wanted.model,
            outcome=wanted.outcome,
            without_free=not wanted.free,
        )

    def _names(self) -> dict[str, str]:
        return {account.id: account.name for account in self._accounts.list()}

    def _today(self) -> date:
        return self._now().astimezone().date()


def _row(receipt: Receipt, names: dict[str, str]) -> BookRow:
    counted = [_counted(name, number) for name, number in receipt.units.items() if number]
    paid_in = receipt.units.get("paid_in_micros")
    what = tr("Top-up") if paid_in else receipt.model or call_words(receipt.endpoint)
    claim = receipt.units.get("claimed")
    claimed = tr("the service claimed {claim}, which is impossible", claim=claim) if isinstance(claim, str) else ""
    detail = ", ".join(filter(None, (what, *counted, claimed)))
    return BookRow(
        id=receipt.id,
        at=receipt.at,
        tab=receipt.tab,
        detail=detail,
        account=names.get(receipt.account_id, tr("A removed account")),
        outcome=receipt.outcome,
        cost=receipt.cost_usd,
        cost_source=receipt.cost_source,
        estimate=receipt.estimate_usd,
        balance=receipt.balance_after,
        is_play=not receipt.charged,
        reference=receipt.request_id,
        paid_in=Decimal(paid_in).scaleb(-6) if isinstance(paid_in, int) else None,
    )


def call_words(endpoint: str) -> str:
    """What a call was about, for people: `GET /models?type=all` becomes "Models"; the endpoint itself if unknown."""
    for beginning, words in CALL_WORDS:
        if endpoint.startswith(beginning):
            return words.replace("{network}", endpoint.removeprefix(beginning))
    return endpoint


def _counted(unit: str, number: Any) -> str:
    """`1,284 in`, `4.2 s`, "" for what has no words."""
    if unit == "seconds":
        return f"{number} s" if not isinstance(number, int) else f"{count(number)} s"
    if unit not in UNIT_WORDS:
        return ""
    return UNIT_WORDS[unit](number) if isinstance(number, int) else str(number)

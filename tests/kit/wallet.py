"""A Wallet tab with everything under it: real storage, the real Sandbox at the other end, a keyring in memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.bootstrap.wallet_tab import books_since
from app.core.account_switch import AccountSwitch
from app.core.current_account import CurrentAccount
from app.core.receipt_recorder import ReceiptRecorder
from app.core.spending_limits import Question, SpendingLimits, read_limit
from app.core.tabs import tab_of
from app.core.tasks import TaskScope
from app.credentials.accounts import SANDBOX_ADDRESS, Account, Accounts, new_account
from app.credentials.stores import SessionStore
from app.sandbox.server import RunningSandbox
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.receipts import Receipts
from app.storage.settings import SettingsStore
from app.storage.wallet.open_payments import OpenPayments
from app.ui.kit.theme import Theme
from app.ui.wallet.page import WalletPage
from app.ui.wallet.presenter import WalletPresenter
from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
from app.ui.wallet.presenter_receipts import ReceiptsPresenter
from app.ui.wallet.presenter_top_up import TopUpPresenter
from app.ui.wallet.session.holdings import SandboxHoldings
from app.ui.wallet.session.wallet_keys import WalletKeys
from app.ui.wallet.top_up_state import TopUpView
from app.wallet.payment import PreparedPayment
from tests.credentials.book_file import BookFile
from tests.kit.sandbox import OnSandbox, controls_of
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until
from tests.kit.windows import styled_at_the_end

SOLANA_KEY = hashlib.sha256(b"Rialto tests: Solana wallet").hexdigest()


class Place:
    """Where keys are: memory, one secret for each account."""

    def __init__(self) -> None:
        self.store = SessionStore()

    async def read(self, account_id: str) -> str | None:
        return await self.store.read(account_id, "api_key")

    async def api_key(self, account_id: str) -> str:
        return await self.read(account_id) or ""

    async def write(self, account_id: str, secret: str) -> None:
        await self.store.write(account_id, "api_key", secret)


@dataclass(frozen=True)
class RunsAlready:
    """The Sandbox of a test, as the account switch sees the program's own."""

    sandbox: RunningSandbox

    @property
    def key(self) -> str:
        return self.sandbox.api_key

    async def start_and_tell(self) -> str:
        return self.sandbox.base_url


@dataclass
class WalletHarness(OnSandbox):
    page: WalletPage
    presenter: WalletPresenter
    receipts: ReceiptsPresenter
    keys: WalletKeys
    top_ups: TopUpPresenter
    book: Accounts
    current_account: CurrentAccount
    switch: AccountSwitch
    spending_limits: SpendingLimits
    receipt_recorder: ReceiptRecorder
    database: Database
    intents: Intents
    settings: SettingsStore
    tasks: TaskScope
    sandbox: RunningSandbox
    home: Path
    place: Place
    toasts: list[tuple[object, ...]] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    answer: bool = False
    elsewhere: list[str] = field(default_factory=list)
    signature: str | None = None
    ask_elsewhere: Callable[[str, str], Awaitable[str | None]] | None = None  # instead of `signature`

    async def control(self, path: str, method: str = "GET", /, **body: object) -> Any:
        """Speak to the Sandbox's controls."""
        return await controls_of(self.sandbox).send(path, method, **body)

    async def faucet_wallet(self) -> Account:
        """Everybody's wallet, full of play money, as an account."""
        faucet = (await self.control("/faucet"))["wallet"]
        return await self.keys.add_from_key("Pocket wallet", faucet["private_key"], "evm", self.sandbox_account)

    async def solana_wallet(self, usd: str = "100") -> Account:
        """A wallet of the second rail with play money, as an account. Its key is the same each time."""
        account = await self.keys.add_from_key("Solana wallet", SOLANA_KEY, "solana", self.sandbox_account)
        await self.control("/faucet", "POST", address=account.address, amount=usd)
        return account

    async def wallet_state(self, account: Account) -> Any:
        """What the Sandbox itself knows about a wallet."""
        return await self.control(f"/wallets/{account.address}")

    @property
    def sandbox_account(self) -> Account:
        return next(each for each in self.book.list() if each.kind == "sandbox")

    async def use(self, account: Account) -> None:
        self.book.set_active(account.id)
        await self.switch.use(account)

    @property
    def dialog(self) -> Any:
        """The question about wallets that is open."""
        return self.page.dialogs.open

    # -- the list -------------------------------------------------------------------------------------------------

    @property
    def limit_fields(self) -> Any:
        return self.page.list.limits

    @property
    def new_button(self) -> QPushButton:
        return self.page.list.new

    @property
    def refresh_button(self) -> QPushButton:
        return self.page.list.refresh

    def card_of(self, account_id: str) -> QWidget:
        return self.page.list.view_of(account_id)

    def payment_cards(self) -> Any:
        """Of the top-ups whose end is not known."""
        return self.page.list.payment_cards()

    # -- the pages ------------------------------------------------------------------------------------------------

    @property
    def page_bar(self) -> Any:
        return self.page.main.header.bar

    @property
    def shown_page(self) -> str:
        return self.page.main.page

    def show_page(self, name: str) -> None:
        self.page.main.show_page(name)

    @property
    def overview(self) -> Any:
        return self.page.main.overview

    @property
    def latest(self) -> Any:
        """The newest receipts, on the overview."""
        return self.overview.latest

    def chart_axis(self) -> list[str]:
        return self.overview.chart.axis_words()

    @property
    def receipts_table(self) -> Any:
        return self.page.main.receipts.table

    @property
    def filter_fields(self) -> Any:
        return self.page.main.receipts.fields

    @property
    def pages_in_memory(self) -> dict[int, Any]:
        """The parts of the table that were read, by number."""
        return self.receipts._pages

    def forget_pages(self) -> None:
        self.receipts._pages.clear()

    def clear_filters(self) -> None:
        self.page.main.receipts.clear_requested.emit()

    def sums_text(self) -> str:
        return self.page.main.receipts.sums.text()

    @property
    def export_button(self) -> QPushButton:
        return self.page.main.export

    @property
    def compare_button(self) -> QPushButton:
        return self.page.main.compare.compare

    def press_compare(self) -> None:
        self.compare_button.click()

    def compare_by(self, part: str) -> None:
        """Choose requests, days, models or keys."""
        self.page.main.compare.part.changed.emit(part)

    def verdict_text(self) -> str:
        """What the comparison with the service's book found."""
        return self.page.main.compare.verdict.text()

    def compared_lines(self) -> Any:
        return self.page.main.compare.table.rows.lines

    @property
    def key_page(self) -> Any:
        return self.page.main.key

    def key_lines(self) -> Any:
        """The account's API keys, as their table shows them."""
        return self.key_page.keys.rows.lines

    def key_facts_text(self) -> str:
        return self.key_page.facts.text()

    def key_limits_count(self) -> int:
        return self.key_page.limits.rows.rowCount()

    @property
    def signed_document(self) -> Any:
        return self.page.main.signed.document

    # -- dialogs --------------------------------------------------------------------------------------------------

    @property
    def key_dialog(self) -> Any:
        """The question about API keys that is open."""
        return self.page.key_dialogs.open

    @property
    def top_up_dialog(self) -> Any:
        return self.page.top_up_dialog

    @property
    def top_up(self) -> TopUpView:
        """How far the top-up that is open has come."""
        return self.top_ups.view

    @property
    def prepared_payment(self) -> PreparedPayment | None:
        return self.top_ups._prepared

    @property
    def lock_timer(self) -> QTimer:
        """Locks the keys when it runs out."""
        found = self.keys.findChild(QTimer)
        assert found is not None
        return found

    # -- what a person does ---------------------------------------------------------------------------------------

    async def open_top_up(self, account: Account) -> Any:
        self.page.top_up(account.id)
        await until(lambda: self.top_up_dialog is not None)
        return self.top_up_dialog

    async def blocked_top_up(self, account: Account) -> str:
        """Press Top up… of a wallet that has an open payment; return what is said. No way leads to a second one."""
        told: list[object] = []
        self.page.toast_requested.connect(told.append)
        self.page.top_up(account.id)
        await until(lambda: bool(told))
        self.page.toast_requested.disconnect(told.append)
        assert self.top_up_dialog is None
        self.top_ups.begin(account)
        self.top_ups.ask_terms()
        await until(lambda: bool(self.top_up.problem))
        assert (self.top_up.step, self.top_up.problem) == ("amount", told[0])
        self.top_ups.leave()
        return str(told[0])

    async def leave(self, dialog: Any) -> None:
        """Close the top-up and let everything that it began come to an end."""
        dialog.reject()
        await self.tasks.idle()

    async def review(self, account: Account, amount: str = "7.25") -> Any:
        """Walk through the window to the page that signs."""
        dialog = await self.open_top_up(account)
        dialog.amount.setText(amount)
        self.top_ups.set_amount(amount)
        dialog.go.click()
        await until(lambda: self.top_up.step == "payment" or self.top_up.problem)
        if self.top_up.step == "payment" and dialog.go.isEnabled():
            dialog.go.click()
            await until(lambda: self.top_up.step == "review" or self.top_up.problem)
        return dialog


@asynccontextmanager
async def open_wallet(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[WalletHarness]:
    """A started tab on the data folder `home`, the Sandbox's account in use. Fails when any of its tasks crashed."""
    tasks = CheckedTasks()
    made: list[WalletHarness] = []
    current_account, settings, place = CurrentAccount(), SettingsStore(home / "settings.json"), Place()
    file = BookFile(home / "accounts.json")
    book = Accounts(file.load, file.save)
    if not any(each.kind == "sandbox" for each in book.list()):
        book.add(new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox"))

    async def ask(question: Question) -> bool:
        made[0].questions.append(question)
        return made[0].answer

    async def elsewhere(name: str, text: str) -> str | None:
        made[0].elsewhere.append(text)
        ask = made[0].ask_elsewhere
        return made[0].signature if ask is None else await ask(name, text)

    spending_limits = SpendingLimits(lambda: settings.value.budgets, lambda: current_account.models, ask, tab_of)
    receipt_recorder = ReceiptRecorder(current_account, tasks, spending_limits=spending_limits)
    keys = WalletKeys(book, lambda: place, settings, tasks, elsewhere)
    switch = AccountSwitch(current_account, receipt_recorder, lambda: place, RunsAlready(sandbox), keys.auth)
    database = await Database.open(home / "rialto.sqlite3")
    intents = Intents(database)
    await intents.settle_after_start()
    await receipt_recorder.start(Receipts(database))
    presenter = WalletPresenter(current_account, book, settings, tasks, receipt_recorder, switch.service_of)
    presenter.lock_state = lambda: keys.is_locked
    presenter.is_key_missing = keys.is_key_missing
    presenter.kept_in = lambda: "This session only"
    receipts = ReceiptsPresenter(
        current_account,
        book,
        receipt_recorder,
        tasks,
        books_since=lambda: books_since((sandbox.base_url, sandbox.api_key)),
    )
    top_ups = TopUpPresenter(
        book,
        keys,
        tasks,
        switch.service_of,
        lambda: read_limit(settings.value.budgets.get("hard top-up", "")),
        SandboxHoldings(lambda: (sandbox.base_url, sandbox.api_key)),
        file=OpenPayments(home / "open-payments.json"),
        settings=settings,
    )
    with styled_at_the_end():
        page = WalletPage(theme, presenter, receipts, keys, top_ups, ApiKeysPresenter(current_account, tasks), tasks)
    parts = (
        book,
        current_account,
        switch,
        spending_limits,
        receipt_recorder,
        database,
        intents,
        settings,
        tasks,
        sandbox,
        home,
        place,
    )
    wallet = WalletHarness(page, presenter, receipts, keys, top_ups, *parts)
    made.append(wallet)
    page.toast_requested.connect(lambda *words: wallet.toasts.append(words))
    page.wallet_needed.connect(wallet.needed.append)
    presenter.balance_low.connect(lambda *about: wallet.toasts.append(about))
    try:
        await keys.start(database)
        await presenter.start(database)
        await receipts.start(database)
        await top_ups.start(database)
        await switch.use(wallet.sandbox_account)
        page.main.resize(1080, 840)
        page.main.show()
        yield wallet
    finally:
        if page.top_up_dialog is not None:
            page.top_up_dialog.reject()
        keys.lock()  # else they lock themselves after a quarter of an hour, in the middle of another test
        await tasks.aclose()
        await switch.aclose()
        await database.close()
        for widget in (page.list, page.main):
            widget.deleteLater()
    tasks.check()


def wanted_words(dialog: Any) -> Iterator[tuple[int, QLineEdit]]:
    """The places of the words that a new wallet asks back, and the fields for them."""
    return zip(dialog._asked, dialog.answers, strict=True)


def phrase_words(dialog: Any) -> list[str]:
    """The words of the recovery phrase on screen."""
    return re.findall(r"\d+\.\s(\w+)", dialog.phrase.text())


def choose_way(dialog: Any, way: str) -> None:
    """Choose how to come by a wallet, as a click does."""
    dialog.way.set_current(way)
    dialog.way.changed.emit(way)

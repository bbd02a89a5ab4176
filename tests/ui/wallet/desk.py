"""A Wallet tab with everything under it: real storage, the real Sandbox at the other end, a keyring in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.core.account_switch import AccountSwitch
from app.core.budget import Budget, Question, read_limit
from app.core.caller import Caller
from app.core.ledger import Ledger
from app.core.tabs import tab_of
from app.core.tasks import TaskScope
from app.credentials.accounts import SANDBOX_ADDRESS, Account, AccountBook, new_account
from app.credentials.stores import SessionStore
from app.sandbox.server import RunningSandbox
from app.storage.database import Database
from app.storage.intents import Intents
from app.storage.receipts import Receipts
from app.storage.settings import SettingsStore
from app.ui.kit.theme import Theme
from app.ui.wallet.page import WalletPage
from app.ui.wallet.presenter import WalletPresenter
from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
from app.ui.wallet.presenter_holdings import SandboxPurses
from app.ui.wallet.presenter_keys import WalletKeys
from app.ui.wallet.presenter_receipts import ReceiptsPresenter
from app.ui.wallet.presenter_top_up import TopUpPresenter
from app.ui.wallet.sandbox_books import books_since
from tests.credentials.book_file import BookFile

WAIT_S = 60


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
class Desk:
    page: WalletPage
    presenter: WalletPresenter
    receipts: ReceiptsPresenter
    keys: WalletKeys
    top_ups: TopUpPresenter
    book: AccountBook
    caller: Caller
    switch: AccountSwitch
    budget: Budget
    ledger: Ledger
    database: Database
    intents: Intents
    settings: SettingsStore
    tasks: TaskScope
    sandbox: RunningSandbox
    home: Path
    place: Place
    toasts: list[tuple[str, str, str]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    answer: bool = False
    elsewhere: list[str] = field(default_factory=list)
    signature: str | None = None

    async def until(self, fact: Callable[[], Any]) -> None:
        """Wait for a thing; the limit is for tests that would never end."""
        async with asyncio.timeout(WAIT_S):
            while not fact():
                await asyncio.sleep(0.005)

    async def control(self, path: str, method: str = "GET", /, **body: object) -> Any:
        """Speak to the Sandbox's controls."""
        async with httpx.AsyncClient(timeout=60, headers={"Authorization": f"Bearer {self.sandbox.api_key}"}) as http:
            answer = await http.request(method, f"{self.sandbox.origin}/sandbox{path}", json=body or None)
            assert answer.status_code == 200, answer.text
            return answer.json()

    async def fault(self, name: str, **values: object) -> None:
        await self.control(f"/faults/{name}", "PUT", **values)

    async def faucet_wallet(self) -> Account:
        """Everybody's wallet, full of play money, as an account."""
        faucet = (await self.control("/faucet"))["wallet"]
        return await self.keys.add_from_key("Pocket wallet", faucet["private_key"], "evm", self.sandbox_account)

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

    async def open_top_up(self, account: Account) -> Any:
        self.page.top_up(account.id)
        await self.until(lambda: self.page.top_up_dialog is not None)
        return self.page.top_up_dialog

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
        await self.until(lambda: self.top_ups.view.step == "payment" or self.top_ups.view.problem)
        if self.top_ups.view.step == "payment" and dialog.go.isEnabled():
            dialog.go.click()
            await self.until(lambda: self.top_ups.view.step == "review" or self.top_ups.view.problem)
        return dialog


@asynccontextmanager
async def open_desk(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Desk]:
    """A started tab on the data folder `home`, the Sandbox's account in use. Fails when any of its tasks crashed."""
    crashes: list[Exception] = []
    tasks = TaskScope(crashes.append)
    made: list[Desk] = []
    caller, settings, place = Caller(), SettingsStore(home / "settings.json"), Place()
    file = BookFile(home / "accounts.json")
    book = AccountBook(file.load, file.save)
    if not any(each.kind == "sandbox" for each in book.list()):
        book.add(new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox"))

    async def ask(question: Question) -> bool:
        made[0].questions.append(question)
        return made[0].answer

    async def elsewhere(_name: str, text: str) -> str | None:
        made[0].elsewhere.append(text)
        return made[0].signature

    budget = Budget(lambda: settings.value.budgets, lambda: caller.models, ask, tab_of)
    ledger = Ledger(caller, tasks, budget=budget)
    keys = WalletKeys(book, lambda: place, settings, tasks, elsewhere)
    switch = AccountSwitch(caller, ledger, lambda: place, RunsAlready(sandbox), keys.auth)
    database = await Database.open(home / "rialto.sqlite3")
    intents = Intents(database)
    await intents.settle_after_start()
    await ledger.start(Receipts(database))
    presenter = WalletPresenter(caller, book, settings, tasks, ledger, switch.service_of)
    presenter.lock_state = lambda: keys.is_locked
    presenter.kept_in = lambda: "This session only"
    receipts = ReceiptsPresenter(
        caller, book, ledger, tasks, books_since=lambda: books_since((sandbox.base_url, sandbox.api_key))
    )
    top_ups = TopUpPresenter(
        book,
        keys,
        tasks,
        switch.service_of,
        lambda: read_limit(settings.value.budgets.get("hard top-up", "")),
        SandboxPurses(lambda: (sandbox.base_url, sandbox.api_key)),
    )
    page = WalletPage(theme, presenter, receipts, keys, top_ups, ApiKeysPresenter(caller, tasks), tasks)
    parts = (book, caller, switch, budget, ledger, database, intents, settings, tasks, sandbox, home, place)
    desk = Desk(page, presenter, receipts, keys, top_ups, *parts)
    made.append(desk)
    page.toast_wanted.connect(lambda *words: desk.toasts.append(words))
    try:
        await keys.start(database)
        await presenter.start(database)
        await receipts.start(database)
        await top_ups.start(database)
        await switch.use(desk.sandbox_account)
        page.main.resize(1080, 840)
        yield desk
    finally:
        if page.top_up_dialog is not None:
            page.top_up_dialog.reject()
        keys.lock()  # else they lock themselves after a quarter of an hour, in the middle of another test
        await tasks.aclose()
        await switch.aclose()
        await database.close()
        for widget in (page.list, page.main):
            widget.deleteLater()
    assert crashes == [], repr(crashes)

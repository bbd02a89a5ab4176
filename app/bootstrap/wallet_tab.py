"""The Wallet tab: its presenters, its page, and what it has to do with the rest of the window."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from app.core.spending_limits import read_limit
from app.service.errors import ServiceError
from app.service.sandbox_controls import SandboxControls
from app.storage.wallet.open_payments import OpenPayments
from app.translation import tr
from app.ui.settings.secrets.ask import ask_for_place
from app.ui.wallet.page import WalletPage
from app.ui.wallet.presenter import WalletPresenter
from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
from app.ui.wallet.presenter_receipts import ReceiptsPresenter
from app.ui.wallet.presenter_top_up import TopUpPresenter
from app.ui.wallet.session.holdings import SandboxHoldings
from app.ui.wallet.wallet_dialogs import WalletDialogs

if TYPE_CHECKING:
    from decimal import Decimal

    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces


def make_wallet_tab(rialto: Rialto) -> TabPieces:
    """Build the tab and let it begin as soon as the database is open."""
    account_services = rialto.account_services
    keys = account_services.wallet_keys
    places = account_services.places
    places.ask_place_with(partial(ask_for_place, rialto.theme, rialto.window, places))

    def own_cap() -> Decimal | None:
        return read_limit(rialto.settings.value.budgets.get("hard top-up", ""))

    service_of = account_services.switch.service_of
    presenter = WalletPresenter(
        rialto.current_account,
        account_services.accounts,
        rialto.settings,
        rialto.tasks,
        account_services.receipt_recorder,
        service_of,
    )
    presenter.lock_state = lambda: keys.is_locked
    presenter.is_key_missing = keys.is_key_missing
    presenter.kept_in = lambda: account_services.places.state.place

    async def sandbox_books_since() -> datetime | None:

        return await books_since(account_services.sandbox.address())

    receipts = ReceiptsPresenter(
        rialto.current_account,
        account_services.accounts,
        account_services.receipt_recorder,
        rialto.tasks,
        books_since=sandbox_books_since,
    )
    purses = SandboxHoldings(account_services.sandbox.address)
    file = OpenPayments(rialto.paths.open_payments)
    top_ups = TopUpPresenter(
        account_services.accounts,
        keys,
        rialto.tasks,
        service_of,
        own_cap,
        purses,
        file=file,
        settings=rialto.settings,
    )

    def open_payment_of(account_id: str) -> Decimal | None:
        account = keys.account(account_id)
        payment = top_ups.open.known_of(account) if account is not None else None
        return payment.amount if payment is not None else None

    account_services.open_payment_of = open_payment_of
    api_keys = ApiKeysPresenter(rialto.current_account, rialto.tasks)
    api_keys.note_secret = rialto.secrets.add
    page = WalletPage(rialto.theme, presenter, receipts, keys, top_ups, api_keys, rialto.tasks, whole=False)
    yield page
    yield from page.build()
    page.use_requested.connect(lambda account_id: rialto.accounts.use(account_id))
    page.toast_requested.connect(rialto.toast)
    page.handbook_requested.connect(rialto.window.overlays.show_handbook)
    page.wallet_needed.connect(lambda sentence: rialto.toast(sentence, tr("Add a wallet…"), page.new_wallet))
    presenter.balance_low.connect(
        lambda sentence, can_top_up: rialto.toast(sentence, tr("Top up…") if can_top_up else "", page.top_up)
    )
    keys.changed.connect(lambda: rialto.accounts.refresh())

    async def begin(database: Database) -> None:
        await presenter.start(database)
        await receipts.start(database)
        await top_ups.start(database)

    rialto.when_open("wallet", begin)
    return page


def top_up_and_go_on(rialto: Rialto, amount: Decimal | None = None) -> None:
    """A call was refused for lack of credits: offer the top-up, and do what was refused when it has arrived.

    `amount`: in USD, what the dialog begins with.
    """
    came_from = rialto.window.current_tab
    again = rialto.window.tab(came_from).retry_refused() if came_from else None
    rialto.window.show_tab("wallet")
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    account = rialto.current_account.account
    if account is not None and account.kind != "wallet":
        words = tr(
            "Credits for {name} are sold on the service’s own website. Here you can top up a wallet.", name=account.name
        )
        rialto.toast(words, tr("Top up…"), page.top_up)
        return

    def closed(credited: bool) -> None:
        page.top_up_closed.disconnect(closed)
        if not credited:
            return
        rialto.window.show_tab(came_from or "chat")
        if again is not None:
            again()

    if page.top_up(account.id if account is not None else "", amount):
        page.top_up_closed.connect(closed)


def show_keys(rialto: Rialto) -> None:
    """Show the account's keys, with the spending limit of each."""
    rialto.window.show_tab("wallet")
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    page.main.show_page("key")


async def add_wallet(rialto: Rialto, way: str) -> str:
    """Ask for a wallet over whatever is shown; return its account's id, "" when nothing was kept."""
    page = rialto.window.tab("wallet")
    assert isinstance(page, WalletPage)
    return await WalletDialogs(rialto.theme, rialto.window, rialto.account_services.wallet_keys).add(
        page.presenter.cards(), way
    )


async def books_since(running: tuple[str, str] | None) -> datetime | None:
    """Ask the Sandbox at an address, with its key, since when it keeps books: its first start or its last reset.

    None while none runs, or when it does not say.
    """
    if running is None:
        return None
    controls = SandboxControls(*running)
    try:
        return (await controls.status()).books_since
    except ServiceError:
        return None
    finally:
        await controls.aclose()

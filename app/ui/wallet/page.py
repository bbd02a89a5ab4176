"""The Wallet tab: its panes, and the wires between widgets and presenters. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.core.money import money
from app.core.tabs import TABS
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.wallet.canvas import SPANS, Canvas
from app.ui.wallet.key_dialogs import KeyDialogs
from app.ui.wallet.list_pane import WalletListPane
from app.ui.wallet.state import AccountCard, Filter, KeyRow
from app.ui.wallet.top_up_dialog import TopUpDialog
from app.ui.wallet.wallet_dialogs import WalletDialogs

if TYPE_CHECKING:
    from app.core.current_account import RateLimitRemaining
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme
    from app.ui.wallet.presenter import WalletPresenter
    from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
    from app.ui.wallet.presenter_receipts import ReceiptsPresenter
    from app.ui.wallet.presenter_top_up import TopUpPresenter
    from app.ui.wallet.session.wallet_keys import WalletKeys
    from app.ui.wallet.top_up_state import PendingTopUp

INFO = TABS["wallet"]
CHARGES_FILTER = f"{tr('Table')} (*.csv)"
FILE_FILTER = f"{tr('Table')} (*.csv);;JSON (*.json)"


class WalletPage(QObject):
    """A `TabPage`. Other parts of the window are reached by signals, which the composition root connects."""

    changed = Signal()
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written
    handbook_requested = Signal(str, str)  # a page of the handbook and a heading in it
    wallet_needed = Signal(str)  # the same, where a wallet has to be added first
    use_requested = Signal(str)  # the id of the account to call as
    top_up_closed = Signal(bool)  # whether it was credited

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self,
        theme: Theme,
        presenter: WalletPresenter,
        receipts: ReceiptsPresenter,
        keys: WalletKeys,
        top_ups: TopUpPresenter,
        api_keys: ApiKeysPresenter,
        tasks: TaskScope,
        *,
        whole: bool = True,
    ) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._tasks = tasks
        self.presenter, self.receipts, self.keys, self.top_ups = presenter, receipts, keys, top_ups
        self.api_keys = api_keys
        self.zones = Zones()
        self.toggle_list: Callable[[], None] = _nothing
        self.top_up_dialog: TopUpDialog | None = None
        self.list = WalletListPane(theme, presenter.limit_text)
        self.main = Canvas(theme, receipts.row, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        theme, presenter, receipts = self._theme, self.presenter, self.receipts
        yield from self.main.build()
        self.dialogs = WalletDialogs(theme, self.main, self.keys)
        self.dialogs.notice.connect(self.toast_requested)
        self.key_dialogs = KeyDialogs(theme, self.main, self.api_keys)
        self._connect_list()
        self._connect_canvas()
        yield
        self._show_accounts(presenter.cards())
        yield
        self.main.overview.gauges.show_gauges(presenter.gauges())
        yield
        self.main.overview.show_totals(receipts.totals)
        yield
        self.main.receipts.show_totals(receipts.totals)
        self._show_payments()

    # Wires

    def _connect_list(self) -> None:
        presenter, pane = self.presenter, self.list
        pane.action.connect(self.act)
        pane.payment_action.connect(self._act_on_payment)
        pane.refresh_requested.connect(presenter.refresh)
        pane.new_requested.connect(self.new_wallet)
        pane.limits.limit_requested.connect(self._set_limit)
        pane.limits.lock_requested.connect(self.keys.set_lock_minutes)
        presenter.accounts_changed.connect(self._show_accounts)
        presenter.gauges_changed.connect(self.main.overview.gauges.show_gauges)
        presenter.busy_changed.connect(pane.show_busy)
        presenter.notice.connect(self.toast_requested)
        self.keys.changed.connect(presenter.reload)
        self.top_ups.open.changed.connect(lambda _payments: self._show_payments())
        self.top_ups.open.notice.connect(self.toast_requested)
        self.top_ups.paid.connect(presenter.read_account)
        self.top_ups.changed.connect(lambda _view: self.changed.emit())

    def _connect_canvas(self) -> None:
        main, receipts = self.main, self.receipts
        main.list_requested.connect(lambda: self.toggle_list())
        main.export_requested.connect(self.export)
        main.days_requested.connect(lambda days: receipts.set_filter(days=days, day=None))
        main.page_shown.connect(self._page_shown)
        receipts.is_seen = main.isVisible
        main.seen.connect(receipts.catch_up)
        main.overview.all_requested.connect(lambda: main.show_page("receipts"))
        main.overview.chart.day_chosen.connect(self.show_day)
        main.receipts.filter_requested.connect(self._filter)
        main.receipts.clear_requested.connect(lambda: receipts.set_filter(**_cleared()))
        main.compare.compare_requested.connect(receipts.compare)
        receipts.count_changed.connect(main.receipts.set_count)
        receipts.rows_arrived.connect(main.receipts.table.rows.arrived)
        receipts.rows_arrived.connect(main.overview.latest.rows.arrived)
        receipts.totals_changed.connect(main.overview.show_totals)
        receipts.totals_changed.connect(main.receipts.show_totals)
        receipts.choices_changed.connect(lambda choices: main.receipts.show_choices(choices, receipts.filter))
        receipts.filter_changed.connect(self._show_filter)
        receipts.differences_changed.connect(main.compare.show_differences)
        receipts.sums_changed.connect(main.compare.show_sums)
        main.compare.export_requested.connect(self.export_bookings)
        self.presenter.current_account.account_changed.connect(self._show_records)
        self._show_records()
        receipts.notice.connect(self.toast_requested)
        self.api_keys.changed.connect(main.key.show_page)
        main.key.new_requested.connect(self.new_key)
        main.key.edit_requested.connect(
            lambda row: self._tasks.start_unless_running("wallet dialog", self._edit_key, row)
        )
        main.key.revoke_requested.connect(
            lambda row: self._tasks.start_unless_running("wallet dialog", self._revoke_key, row)
        )
        self.keys.signed.connect(lambda: self._page_shown(main.page) if main.page == "signed" else None)

    # What the presenters tell

    def _show_accounts(self, cards: tuple[AccountCard, ...]) -> None:
        self.list.show_accounts(cards)
        current = next((card for card in cards if card.in_use), None)
        self.list.limits.show_account(current.id if current is not None else "", self.keys.lock_minutes)
        self.main.overview.limits_of.set_text(tr("of {name}", name=current.name) if current is not None else "")
        self.changed.emit()

    def _show_payments(self) -> None:
        self.list.show_payments(self.top_ups.open.payments)
        self.changed.emit()

    def _show_filter(self, wanted: Filter) -> None:
        self.main.show_days(wanted.days)
        self.main.receipts.show_choices(self.receipts.choices, wanted)

    def _page_shown(self, name: str) -> None:
        if name == "signed":
            self._tasks.replace("wallet signatures", self._show_signatures)
        elif name == "key":
            self.api_keys.load()

    async def _show_signatures(self) -> None:
        self.main.signed.show_rows(await self.keys.signed_lately())

    # What the person does

    def change_limits(self, scope: str) -> None:
        """Bring the limits of a scope to the front, to be typed over."""
        self.list.limits.show_scope(scope)
        self.list.area.ensureWidgetVisible(self.list.limits)

    def act(self, what: str, account_id: str) -> None:
        """Carry out what was pressed on an account."""
        card = self.presenter.card(account_id)
        if card is None:
            return
        match what:
            case "top-up":
                self.top_up(account_id)
            case "use":
                self.use_requested.emit(account_id)
            case "lock":
                self.keys.lock()
            case "unlock":
                self.keys.unlock()
            case "signed":
                self.main.show_page("signed")
            case "about-credits":
                self.handbook_requested.emit("07-costs.md", "daily-credits")
            case "check":
                self.presenter.read_account(account_id)
            case "qr":
                self._tasks.start_unless_running("wallet dialog", self.dialogs.show_address, card)
            case "give-key":
                self._tasks.start_unless_running("wallet dialog", self._give_key, account_id)
            case "export":
                self._tasks.start_unless_running("wallet dialog", self.dialogs.export, account_id)

    def _act_on_payment(self, intent_id: str, what: str) -> None:
        payments = self.top_ups.open
        {
            "check": payments.check,
            "again": payments.send_again,
            "chain": payments.ask_chain,
            "close": payments.close,
        }[what](intent_id)

    def top_up(self, account_id: str = "", amount: Decimal | None = None) -> bool:
        """Ctrl+T: top up an account's wallet, the one in use if it has one, else the first that there is.

        False when there is none, or when a top-up is open already; `top_up_closed` comes only after True.
        """
        cards = [card for card in self.presenter.cards() if card.can_top_up]
        card = next((each for each in cards if each.id == account_id), cards[0] if cards and not account_id else None)
        if card is None:
            self.wallet_needed.emit(tr("No wallet can be topped up yet. Add one first."))
            return False
        return self._tasks.start_unless_running("wallet top-up", self._top_up, card, amount)

    async def _top_up(self, card: AccountCard, amount: Decimal | None) -> None:
        """Top up a wallet, or show what is open of it: no second payment begins before that is settled."""
        waiting = await self.top_ups.open_payment_of(card.id)
        if waiting is not None:
            self._show_open_payment(waiting)
            self.top_up_closed.emit(False)
            return
        self.top_ups.begin_for(card.id, amount, card.usd)
        self.top_up_dialog = TopUpDialog(self._theme, self.main, self.top_ups)
        try:
            await self.top_up_dialog.answer()
        finally:
            self.top_up_dialog = None
        view = self.top_ups.view
        if view.step == "done":
            arrived = (
                tr("{credited} arrived", credited=money(view.credited))
                if view.credited is not None
                else tr("The top-up arrived")
            )
            self.toast_requested.emit(
                tr(
                    "{arrived} in {name}{value}{problem}",
                    arrived=arrived,
                    name=card.name,
                    value=". " if view.problem else "",
                    problem=view.problem,
                )
            )
        self.top_up_closed.emit(view.step == "done")

    def _show_open_payment(self, payment: PendingTopUp) -> None:
        if not self.list.isVisible():
            self.toggle_list()
        self.list.focus_payment(payment.intent_id)
        words = tr(
            "A top-up of {amount} is still open. Settle it first, or you could pay twice.", amount=money(payment.amount)
        )
        self.toast_requested.emit(words)

    async def _give_key(self, account_id: str) -> None:
        if await self.dialogs.give_key(account_id):
            self.presenter.read_account(account_id)

    def new_wallet(self) -> None:
        self._tasks.start_unless_running("wallet dialog", self._new_wallet)

    async def _new_wallet(self) -> None:
        await self.dialogs.add(self.presenter.cards())

    def new_key(self) -> None:
        """Make an API key, where the key in use may."""
        self.main.show_page("key")
        self._tasks.start_unless_running("wallet dialog", self._new_key)

    async def _new_key(self) -> None:
        self._publish(await self.key_dialogs.make())

    async def _edit_key(self, row: KeyRow) -> None:
        self._publish(await self.key_dialogs.edit(row))

    async def _revoke_key(self, row: KeyRow) -> None:
        self._publish(await self.key_dialogs.revoke(row))

    def _publish(self, sentence: str) -> None:
        if sentence:
            self.toast_requested.emit(sentence)

    def show_day(self, day: object) -> None:
        """Show the receipts of one day."""
        self.receipts.set_filter(day=day)
        self.main.show_page("receipts")

    def export(self) -> None:
        """Ask where to save what the filter finds; opens without a nested loop."""
        title, suffixes = tr("Export receipts"), (".csv", ".json")
        ask_to_save(self.main, title, "receipts.csv", self.receipts.export, suffixes=suffixes, kinds=FILE_FILTER)

    def export_bookings(self) -> None:
        """Ask where to save the service's own charges."""
        title = tr("Save the service’s charges")
        ask_to_save(
            self.main, title, "charges.csv", self.receipts.export_bookings, suffixes=(".csv",), kinds=CHARGES_FILTER
        )

    def _show_records(self) -> None:
        self.main.compare.show_records(self.receipts.has_service_records)

    def _set_limit(self, key: str, text: str) -> None:
        problem = self.presenter.set_limit(key, text)
        if problem:
            self.list.limits.show_problem(key, problem)
        else:
            self.list.limits.reload()

    def _filter(self, name: str, value: object) -> None:
        if name == "days":
            is_day = not isinstance(value, int)
            self.receipts.set_filter(**({"day": value} if is_day else {"days": value, "day": None}))
        else:
            self.receipts.set_filter(**{name: value})

    # TabPage

    def list_pane(self) -> QWidget:
        return self.list

    def canvas(self) -> QWidget:
        return self.main

    def inspector(self) -> QWidget | None:
        return None

    def main_input(self) -> QWidget:
        return self.main.overview.chart if self.main.page == "overview" else self.main.receipts.table

    def filter_field(self) -> QWidget | None:
        return self.main.receipts.fields["tab"] if self.main.page == "receipts" else None

    def actions(self) -> Sequence[TabAction]:
        def page(name: str) -> Callable[[], None]:
            return lambda: self.main.show_page(name)

        def usage_of(days: str) -> Callable[[], None]:
            def show() -> None:
                self.main.show_page("overview")
                self.main.days_requested.emit(int(days))

            return show

        return (
            TabAction(
                "wallet.top_up",
                tr("Top up…"),
                lambda: _done(self.top_up()),
                "Ctrl+T",
                "credits",
                words=tr("faucet buy credits money balance fund deposit"),
            ),
            TabAction(
                "wallet.new",
                tr("Add a wallet…"),
                self.new_wallet,
                "Ctrl+N",
                "plus",
                "file",
                words=tr("account import private key recovery phrase"),
            ),
            TabAction(
                "wallet.export", tr("Export receipts…"), self.export, "Ctrl+E", "download", "file", also=("Ctrl+S",)
            ),
            TabAction("wallet.refresh", tr("Refresh all balances"), self.presenter.refresh, "", "refresh"),
            TabAction("wallet.lock", tr("Lock wallets"), self.keys.lock, "", "lock"),
            TabAction("wallet.unlock", tr("Unlock wallets"), self.keys.unlock, "", "unlock"),
            TabAction("wallet.overview", tr("Usage and limits"), page("overview"), "", "chart"),
            *(
                TabAction(f"wallet.days_{days}", tr("Usage for {days}", days=words), usage_of(days), "", "chart")
                for days, words in SPANS  # a header with large text has no room for this choice
            ),
            TabAction(
                "wallet.receipts",
                tr("All activity"),
                page("receipts"),
                "",
                "receipt",
                words=tr("history charges costs spending"),
            ),
            TabAction("wallet.compare", tr("Compare with the service’s charges"), page("compare"), "", "layers"),
            TabAction("wallet.signed", tr("Signatures"), page("signed"), "", "signature"),
            TabAction("wallet.key", tr("Current API key"), page("key"), "", "key"),
            TabAction("wallet.new_key", tr("Create API key…"), self.new_key, "", "plus"),
        )

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return ()

    def status_headroom(self) -> RateLimitRemaining | None:
        return None

    def running_work(self) -> Sequence[str]:
        return (tr("Pending payment"),) if self.top_ups.is_paying else ()

    def badge(self) -> int:
        return len(self.top_ups.open.payments)

    def retry_refused(self) -> Callable[[], object] | None:
        return None

    def handle_escape(self) -> bool:
        if self.main.page != "overview":
            self.main.show_page("overview")
            return True
        return False

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.main.list_button.setVisible(not zones.list_beside)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.toggle_list = toggle_list

    def activated(self) -> None:
        """The tab has come to the front: what is old is read again, and the signer is made ready."""
        self.presenter.activate()
        self.keys.warm_up()


def _cleared() -> dict[str, object]:
    empty = Filter()
    return {name: getattr(empty, name) for name in ("days", "day", "tab", "account_id", "model", "outcome", "free")}


def _done(_result: bool) -> None:
    """For actions whose answer nobody waits for."""


def _nothing() -> None:
    """Stands in until the window connects its panes."""

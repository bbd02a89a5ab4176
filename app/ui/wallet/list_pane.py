"""The left pane: accounts with their balances, payments whose end is not known, and what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QFrame, QScrollArea, QVBoxLayout, QWidget

from app.core import money, time_format
from app.translation import tr
from app.ui.kit.discard import WidgetList, discard
from app.ui.kit.lists.rows import build_rows
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import float_scroll_bar, zone
from app.ui.wallet.account_card import AccountView, age_words, column
from app.ui.wallet.limit_fields import LimitFields
from app.ui.wallet.state import AccountCard
from app.ui.wallet.top_up_state import PendingTopUp


class OpenPaymentCard(Card):
    """A payment that was sent and whose end nobody knows. `check` carries its id."""

    check = Signal(str)

    def __init__(self, theme: Theme, payment: PendingTopUp) -> None:
        super().__init__(theme, padding=(14, 12), fill="warn_tint", border="warn")
        self.setAccessibleName(tr("Pending payment of {amount}", amount=money.money(payment.amount)))
        title = tr(
            "{amount} from {account} is not settled", amount=money.money(payment.amount), account=payment.account
        )
        self.body.addWidget(Label(theme, title, weight=600, wrap=True))
        over = payment.until < datetime.now(UTC)
        until = time_format.clock(payment.until)
        words = (
            tr("Signed {sent_at}. It may have been processed.", sent_at=time_format.clock(payment.sent_at)),
            tr("It expired at {until}.", until=until) if over else tr("It is valid until {until}.", until=until),
            tr("Checking sends the identical payment, which is never charged twice."),
        )
        self.body.addWidget(Label(theme, " ".join(words), "small", "text2", wrap=True))
        self.button = Button(theme, tr("Checking…") if payment.busy else tr("Check now"), "refresh")
        self.button.setEnabled(not payment.busy)
        self.button.clicked.connect(lambda: self.check.emit(payment.intent_id))
        self.body.addWidget(self.button)


class WalletListPane(QWidget):
    """`action` tells what was pressed on an account and its id; `check` the id of an open payment."""

    action = Signal(str, str)
    check = Signal(str)
    refresh_requested = Signal()
    new_requested = Signal()

    def __init__(self, theme: Theme, limit_text: Callable[[str], str]) -> None:
        super().__init__()
        self._theme = theme
        zone(self, "pane")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.header = PaneHeader(theme, tr("Wallet"))
        self.updated = Label(theme, "", "small", "text2")
        self.refresh = IconButton(theme, "refresh", tr("Refresh all balances"), shortcut="F5")
        self.refresh.clicked.connect(self.refresh_requested)
        self.header.add(self.updated)
        self.header.add(self.refresh)
        outer.addWidget(self.header)
        holder, self._column = column(theme, 12, margin=16, wraps=True)
        zone(holder, "pane")
        self.area = QScrollArea()
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(tr("Accounts and limits"))
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        float_scroll_bar(self.area)
        self.area.setWidget(holder)
        outer.addWidget(self.area, 1)
        self._payments, payments = column(theme, wraps=True)
        self._payment_cards: WidgetList[OpenPaymentCard] = WidgetList(payments)
        self._accounts, self._accounts_column = column(theme, wraps=True)
        self.new = Button(theme, tr("Add a wallet…"), "plus")
        self.new.clicked.connect(self.new_requested)
        self.limits = LimitFields(theme, limit_text)
        for widget in (self._payments, self._accounts, self.new, self.limits):
            self._column.addWidget(widget)
        self._column.addStretch(1)
        self._views: dict[str, AccountView] = {}
        self._cards: tuple[AccountCard, ...] = ()
        Ticker(self, self._show_ages)

    def show_accounts(self, cards: tuple[AccountCard, ...]) -> None:
        """Show every account, the one in use first."""
        self._cards = cards
        if list(self._views) != [card.id for card in cards]:  # also where one could not be drawn the last time
            discard(*self._views.values())
            self._views = {}
            build_rows(cards, self._add_account)
        else:
            build_rows(cards, self._show_account)
        self._order()
        self._show_ages()

    def _add_account(self, card: AccountCard) -> None:
        view = AccountView(self._theme, card)
        view.action.connect(self.action)
        self._accounts_column.addWidget(view)
        self._views[card.id] = view

    def _show_account(self, card: AccountCard) -> None:
        """A card that fails half drawn is taken away; the next refresh makes all of them anew."""
        view = self._views.pop(card.id)
        if view.card != card:
            try:
                view.show_card(card)
            except BaseException:
                discard(view)
                raise
        self._views[card.id] = view

    def show_payments(self, payments: tuple[PendingTopUp, ...]) -> None:
        """Show what is not settled, above everything else."""
        self._payment_cards.clear()
        build_rows(payments, self._add_payment)
        self._payments.setVisible(bool(payments))
        self._order()

    def _add_payment(self, payment: PendingTopUp) -> None:
        card = OpenPaymentCard(self._theme, payment)
        card.check.connect(self.check)
        self._payment_cards.add(card)

    def _order(self) -> None:
        """Let Tab walk down the pane: cards that were drawn anew would else come last, or never."""
        before: QWidget = self.refresh
        for card in (*self._payment_cards, *self._views.values()):
            for button in card.findChildren(QAbstractButton):
                QWidget.setTabOrder(before, button)
                before = button
        QWidget.setTabOrder(before, self.new)

    def show_busy(self, busy: bool) -> None:
        self.refresh.setEnabled(not busy)
        if busy:
            self.updated.set_text(tr("Checking…"))
        else:
            self._show_ages()

    def view_of(self, account_id: str) -> AccountView:
        """The card of an account. Raises `KeyError`."""
        return self._views[account_id]

    def payment_cards(self) -> list[OpenPaymentCard]:
        return list(self._payment_cards)

    def _show_ages(self) -> None:
        current = next((card for card in self._cards if card.in_use), None)
        known = current is not None and current.checked_at is not None
        self.updated.set_text(age_words(current, datetime.now(UTC)) if current is not None and known else "")
        for view in self._views.values():
            view.show_age()

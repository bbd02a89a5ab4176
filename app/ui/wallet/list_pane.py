"""The left pane: accounts with their balances, payments whose end is not known, and what may be spent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.core import money, time_format
from app.translation import tr
from app.ui.kit.discard import WidgetList, discard
from app.ui.kit.lists.rows import build_rows
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import SECOND_MS, Ticker
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import float_scroll_bar, zone
from app.ui.wallet.account_card import AccountView, age_words, column
from app.ui.wallet.limit_fields import LimitFields
from app.ui.wallet.state import AccountCard
from app.ui.wallet.top_up_state import PendingTopUp


class OpenPaymentCard(Card):
    """A payment that was signed and is not settled.

    `wanted` carries its id and what to do: "check", "again", "chain" or "close".
    """

    wanted = Signal(str, str)

    def __init__(self, theme: Theme, payment: PendingTopUp) -> None:
        super().__init__(theme, padding=(14, 12), fill="warn_tint", border="warn")
        self._payment, self.intent_id = payment, payment.intent_id
        amount = money.money(payment.amount)
        self.setAccessibleName(tr("Open top-up of {amount}", amount=amount))
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        title = tr("Top-up of {amount} from {account} is still open", amount=amount, account=payment.account)
        head.addWidget(Label(theme, title, weight=600, wrap=True), 1)
        self.left = Label(theme, "", weight=600, tabular=True)
        head.addWidget(self.left, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(head)
        self.words = Label(theme, "", "small", "text2", wrap=True)
        self.body.addWidget(self.words)
        self.note = Label(theme, payment.note, "small", wrap=True)
        self.note.setVisible(bool(payment.note))
        self.body.addWidget(self.note)
        holder = QWidget()
        self._flow = FlowLayout(theme, parent=holder)
        self.button = self._add(tr("Checking…") if payment.busy else tr("Check now"), "check", "refresh")
        self.again = self._add(tr("Send the same again"), "again", "send")
        self.chain = self._add(money.priced(tr("Ask the chain"), payment.chain_price), "chain", "search")
        self.close_button = self._add(tr("Close"), "close", "close")
        self.body.addWidget(holder)
        self.show_time()
        Ticker(self, self.show_time, SECOND_MS, lambda: self._left_s() > 0)

    def _add(self, words: str, what: str, icon_name: str) -> Button:
        button = Button(self._theme, words, icon_name, size="small")
        button.setEnabled(not self._payment.busy)
        button.clicked.connect(lambda: self.wanted.emit(self._payment.intent_id, what))
        self._flow.addWidget(button)
        return button

    def _left_s(self) -> float:
        return (self._payment.until - datetime.now(UTC)).total_seconds()

    def show_time(self) -> None:
        """Say how long the payment can still be carried out, and offer what makes sense now."""
        payment, left = self._payment, self._left_s()
        signed, until = time_format.clock(payment.sent_at), time_format.clock(payment.until)
        self.left.set_text(time_format.countdown(left) if left > 0 else "")
        if left > 0:
            words = tr(
                "You signed it at {signed}. The service can take it until {until}. Sending the same payment again "
                "cannot charge you twice. A new top-up could.",
                signed=signed,
                until=until,
            )
        else:
            words = tr(
                "You signed it at {signed}. It expired at {until} and is not settled.", signed=signed, until=until
            )
        self.words.set_text(words)
        self.again.setVisible(not payment.is_over)
        self.chain.setVisible(payment.chain_price is not None)
        self.close_button.setVisible(payment.is_over)


class WalletListPane(QWidget):
    """`action` tells what was pressed on an account and its id; `payment_action` the id of an open payment and what."""

    action = Signal(str, str)
    payment_action = Signal(str, str)
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

    def focus_payment(self, intent_id: str) -> None:
        """Go to the card of an open payment."""
        for card in self._payment_cards:
            if card.intent_id == intent_id:
                self.area.ensureWidgetVisible(card)
                card.button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_payment(self, payment: PendingTopUp) -> None:
        card = OpenPaymentCard(self._theme, payment)
        card.wanted.connect(self.payment_action)
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

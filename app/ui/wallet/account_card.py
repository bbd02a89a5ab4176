"""One account of the left pane: what it holds, how old that figure is, and what a wallet can do."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core import money, time_format
from app.core.number_format import DASH
from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton, LinkButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.flow import DOWN, FlowLayout, ScaledBox
from app.ui.kit.widgets.label import Label
from app.ui.wallet.gauge_list import GaugeBar
from app.ui.wallet.state import CHAIN_NAMES, AccountCard

KIND_WORDS = {"sandbox": tr("Sandbox"), "api_key": tr("API key"), "wallet": tr("Wallet")}


def short_address(address: str) -> str:
    """For lists only; a page that signs shows all of it."""
    return f"{address[:6]}…{address[-4:]}" if len(address) > 14 else address


def age_words(card: AccountCard, now: datetime) -> str:
    if card.checked_at is None:
        return tr("Balance not checked yet")
    return tr("Updated {checked_at}", checked_at=time_format.when(card.checked_at, max(now, card.checked_at)))


class AccountView(Card):
    """`action` tells what was pressed and the account's id: "top-up", "give-key", "use", "export", "qr", …"""

    action = Signal(str, str)

    def __init__(self, theme: Theme, card: AccountCard) -> None:
        super().__init__(theme, padding=(14, 12), spacing=6)
        self.card = card
        self._content: WidgetList[QWidget] = WidgetList(self.body)
        self.show_card(card)

    def show_card(self, card: AccountCard) -> None:
        """Show the account as it is now. Built anew: it has a handful of widgets and changes seldom."""
        self.card = card
        theme = self._theme
        content, self._rows = column(theme, 6, wraps=True)
        self._content.clear()
        self._content.add(content)
        self.set_border("accent" if card.in_use else "line")
        self.setAccessibleName(f"{card.name}, {KIND_WORDS[card.kind]}")
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        head.addWidget(Label(theme, card.name, weight=600, elide=True), 1)
        tone = "warn" if card.is_locked else "ok" if card.in_use else "neutral"
        word = tr("Locked") if card.is_locked else tr("In use") if card.in_use else KIND_WORDS[card.kind]
        head.addWidget(Badge(theme, word, tone))
        self._rows.addLayout(head)
        if card.address:
            self._rows.addLayout(self._address_row(card))
        amount = Label(theme, money.money(card.usd) if card.usd is not None else "–", "display", tabular=True)
        amount.setAccessibleName(tr("Balance of {name}", name=card.name))
        self._rows.addWidget(amount)
        what = (
            tr("Play money")
            if card.is_play
            else tr("Prepaid credits")
            if card.kind == "wallet"
            else tr("Account credits")
        )
        self._what = what
        self._age = Label(theme, "", "small", "text2", wrap=True)
        self._rows.addWidget(self._age)
        self.show_age()
        if card.is_low and card.low is not None:
            self._rows.addWidget(
                Label(theme, tr("Below {low}.", low=money.money(card.low)), "small", "warn", weight=600)
            )
        if card.diem is not None:
            self._add_daily(card)
        if card.problem:
            self._rows.addWidget(Label(theme, card.problem, "small", "bad", wrap=True))
        self._add_buttons(card)
        if card.kind == "wallet":
            self._add_facts(card)

    def show_age(self) -> None:
        """Say how old the balance is now."""
        self._age.set_text(f"{self._what}. {age_words(self.card, datetime.now(UTC))}.")

    def _address_row(self, card: AccountCard) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(4))
        words = Label(self._theme, short_address(card.address), "small", "text2", mono=True)
        words.setToolTip(plain_tip(card.address))
        words.setAccessibleName(tr("Address {address}", address=card.address))
        row.addWidget(words)
        copy = IconButton(self._theme, "copy", tr("Copy address"), size="small", icon_size=14)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(card.address))
        show = IconButton(self._theme, "grid", tr("Show the full address and QR code"), size="small")
        show.clicked.connect(lambda: self.action.emit("qr", card.id))
        row.addWidget(copy)
        row.addWidget(show)
        row.addStretch(1)
        return row

    def _add_daily(self, card: AccountCard) -> None:
        assert card.diem is not None
        theme, total = self._theme, card.diem_daily
        if not card.diem and not total:
            return
        line = QHBoxLayout()
        line.addWidget(Label(theme, tr("Daily credits"), "small"), 1)
        line.addWidget(Label(theme, f"{card.diem:f}", "small", weight=600, tabular=True))
        if total:
            line.addWidget(Label(theme, tr("of {total}", total=f"{total:f}"), "small", "text2", tabular=True))
        self._rows.addLayout(line)
        if total:
            bar = GaugeBar(theme, tr("Daily credits"))
            bar.set_share(float(card.diem / total), tr("{diem} of {total}", diem=f"{card.diem:f}", total=f"{total:f}"))
            self._rows.addWidget(bar)
        left = (card.renews_at - datetime.now(UTC)).total_seconds() if card.renews_at is not None else 0.0
        if left > 0:
            words = tr("Renews in {left}. Used before account credits.", left=time_format.duration(left))
            self._rows.addWidget(Label(theme, words, "small", "text2", wrap=True))
            more = LinkButton(theme, tr("From staking, 1 credit pays for $1"))
            more.clicked.connect(lambda: self.action.emit("about-credits", card.id))
            self._rows.addWidget(more, 0, Qt.AlignmentFlag.AlignLeft)

    def _add_buttons(self, card: AccountCard) -> None:
        holder = QWidget()
        flow = FlowLayout(self._theme, parent=holder)
        for words, what, icon_name, kind, wanted in (
            (tr("Enter recovery phrase…"), "give-key", "key", "primary", card.is_key_missing),
            (tr("Top up…"), "top-up", "credits", "primary", card.can_top_up and not card.is_key_missing),
            (tr("Unlock"), "unlock", "unlock", "", card.is_locked),
            (tr("Use"), "use", "", "", not card.in_use),  # last, as it goes when it is pressed
        ):
            if wanted:
                button = Button(self._theme, words, icon_name, kind=kind)
                button.setAccessibleName(f"{words}: {card.name}")
                button.clicked.connect(lambda _=False, each=what: self.action.emit(each, card.id))
                flow.addWidget(button)
        self._rows.addWidget(holder)
        holder.setMinimumHeight(self._theme.height_px(32))

    def _add_facts(self, card: AccountCard) -> None:
        theme = self._theme
        kept = tr("not in Rialto (watch-only)") if card.watch_only else card.kept_in or DASH
        kept = tr("not on this computer") if card.is_key_missing else kept
        chain = CHAIN_NAMES[card.chain]
        for name, value in ((tr("Chain"), chain), (tr("Signs in to"), card.host), (tr("Key kept in"), kept)):
            line = QHBoxLayout()
            label = Label(theme, name, "small", "text2")
            label.setMinimumWidth(theme.type_px(70))
            line.addWidget(label)
            line.addWidget(Label(theme, value, "small", elide=True), 1)
            self._rows.addLayout(line)
        holder = QWidget()
        links = FlowLayout(theme, gap=12, parent=holder)
        for words, what, wanted in (
            (tr("Show signatures"), "signed", True),
            (tr("Refresh balance"), "check", card.watch_only),
            (tr("Export key…"), "export", card.chain == "evm" and not (card.watch_only or card.is_key_missing)),
            (tr("Lock"), "lock", not card.watch_only and not card.is_locked),
        ):
            if wanted:
                link = LinkButton(theme, words)
                link.setAccessibleName(f"{words}: {card.name}")
                link.clicked.connect(lambda _=False, each=what: self.action.emit(each, card.id))
                links.addWidget(link)
        self._rows.addWidget(holder)


def column(theme: Theme, spacing: int = 8, *, margin: int = 0, wraps: bool = False) -> tuple[QWidget, ScaledBox]:
    """A plain column with the same margin on all sides.

    `wraps`: what is in it grows in height with its words, so it is not pushed up.
    """
    holder = QWidget()
    layout = ScaledBox(theme, DOWN, margins=(margin, margin, margin, margin), gap=spacing, parent=holder)
    if not wraps:  # a layout that is aligned asks nothing for the height that its width needs
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
    return holder, layout

"""A transaction of the program's own wallet: a plain transfer or a contract's call, filled in, reviewed, signed, sent.

A module of its own: dialogs are loaded when they are opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.crypto_rpc.contract_dialog import ContractForm
from app.ui.crypto_rpc.send_dialog import ask_to_send
from app.ui.crypto_rpc.session.transacting import NotPossible, TransactionRequest, fault_of
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.segmented import SegmentedChoice

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.kit.theme import Theme

WIDTH = 640
TRANSFER, CONTRACT = "transfer", "contract"
MODES = ((TRANSFER, tr("Transfer")), (CONTRACT, tr("Contract call")))


class TransactionDialog(Dialog):
    """It stays open, with all that was typed, until a transaction is signed; then it closes and the answer is shown."""

    def __init__(self, theme: Theme, parent: QWidget, presenter: CryptoRpcPresenter, tasks: TaskScope) -> None:
        network = presenter.view().network
        super().__init__(theme, parent, tr("Send a transaction on {network}", network=network.title), width=WIDTH)
        self._presenter, self._tasks = presenter, tasks
        self._network = network.slug
        self._is_over = False
        self._wallets = presenter.transacting.offered()
        self.mode = SegmentedChoice(theme, tr("Transaction type"), MODES)
        self.body.addWidget(self.mode, 0, Qt.AlignmentFlag.AlignLeft)
        self.wallet = ChoiceField(theme, tr("From"))
        for each in self._wallets:
            self.wallet.addItem(f"{each.name} ({each.address})", each.id)
        self.to = TextField(theme, tr("To"), placeholder="0x…", mono=True)
        self.form = ContractForm(theme, presenter.contracts, tasks, changes=True)
        self.amount = TextField(theme, tr("Amount"), placeholder="0.05", mono=True)
        self._held(tr("From"), self.wallet)
        self._to_label = self._held(tr("To"), self.to)
        self.body.addWidget(self.form)
        self._held(tr("Amount"), self.amount)
        self.chain_id = TextField(theme, tr("Chain ID"), mono=True)
        self.asks_chain_id = presenter.network_list.chain_id(self._network) is None
        if self.asks_chain_id:
            self._held(tr("Chain ID"), self.chain_id)
            hint = tr(
                "Rialto does not know this network’s chain ID. Enter the one that the network itself publishes. "
                "Rialto remembers it for this service."
            )
            self.body.addWidget(Label(theme, hint, "small", "text2", wrap=True))
        words = tr(
            "Review reads nonce, fees, gas and balance from the network: {price}. Nothing is signed "
            "until you approve it.",
            price=presenter.transacting.price_words(),
        )
        self.body.addWidget(Label(theme, words, "small", "text2", wrap=True, tabular=True))
        self.fault = ProblemLabel(theme)
        self.fault.hide()
        self.body.addWidget(self.fault)
        self.add_button(tr("Cancel"), accepts=False)
        self.review = self.add_button(tr("Review…"), kind="primary")
        self._connect()
        self._turn(TRANSFER)
        self.to.setFocus()

    def _connect(self) -> None:
        self.mode.changed.connect(self._turn)
        for field in (self.to, self.amount, self.chain_id):
            field.textChanged.connect(self._check)
        self.form.changed.connect(self._check)
        self.form.grown.connect(self._fit)
        self.review.clicked.connect(
            lambda: self._tasks.start_unless_running("rpc send", self._review)  # as no other request may be on its way
        )

    def _held(self, words: str, field: QWidget) -> Label:
        """A field under its name."""
        label = Label(self._theme, words, "small", "text2", weight=500)
        bind_label(label, field)
        self.body.addWidget(label)
        self.body.addWidget(field)
        return label

    def _turn(self, mode: str) -> None:
        """Show the fields of a kind of transaction. An amount was meant for the other kind."""
        calls = mode == CONTRACT
        self._to_label.setVisible(not calls)
        self.to.setVisible(not calls)
        self.form.setVisible(calls)
        self.amount.clear()
        coin = self._presenter.view().network.coin
        self.amount.setPlaceholderText(
            tr("{coin} to send with the call, usually none", coin=coin) if calls else tr("0.05 {coin}", coin=coin)
        )
        self._check()
        self._fit()

    def _request(self) -> TransactionRequest | None:
        """What is filled in; None while a contract's call is not whole."""
        wallet = self._wallets[max(0, self.wallet.currentIndex())]
        if self.mode.current == TRANSFER:
            return TransactionRequest(
                wallet, self._network, self.to.text(), self.amount.text(), {}, chain_id=self.chain_id.text()
            )
        call = self.form.call
        if not call:
            return None
        interface = self.form.text.toPlainText()
        return TransactionRequest(
            wallet, self._network, call["to"], self.amount.text(), call, interface, self.chain_id.text()
        )

    def _check(self) -> None:
        """Say what is wrong with what is typed; nothing is, while a field is empty."""
        request = self._request()
        fault = fault_of(request) if request is not None else ""
        empty = request is None or not (request.to.strip() and (request.call or request.amount.strip()))
        empty |= self.asks_chain_id and not self.chain_id.text().strip()
        self.review.setEnabled(not empty and not fault)
        self.review.setToolTip(tr("Fill in every field first.") if empty else "")
        typed = bool(self.to.text().strip()) if request is not None and not request.call else bool(request)
        self._say(fault if typed and not empty else "")

    def _say(self, words: str) -> None:
        if words != self.fault.text():
            self.fault.set_text(words)
            self.fault.setVisible(bool(words))
            self._fit()

    async def _review(self) -> None:
        request = self._request()
        if request is None:
            return
        transacting = self._presenter.transacting
        self._say("")
        self.review.setEnabled(False)
        self.review.setText(tr("Reading the network…"))
        try:
            ready = await transacting.prepare(request)
            if await ask_to_send(self._theme, self, ready.question):
                await transacting.sign_and_send(ready, self.accept)
        except NotPossible as error:
            self._say(error.sentence)
        finally:
            if not self._is_over:
                self.review.setText(tr("Review…"))
                self.review.setEnabled(True)

    def done(self, result: int) -> None:
        """Closed by hand, it ends what it had begun; nothing was signed then."""
        self._is_over = True
        if result != int(self.DialogCode.Accepted):
            self._tasks.cancel("rpc send")
        super().done(result)

"""The one question before the private key of a wallet is removed or deleted."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.account_removal import WalletFacts
from app.core.money import money
from app.core.secret_storage import SecretsState
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

Answer = Literal["stay", "export", "go"]

LOST = tr("Without the recovery phrase or an exported key, its money is then lost.")


def balance_words(facts: WalletFacts) -> str:
    """What a wallet last had, as a sentence."""
    if facts.balance_usd is None:
        return tr("Its balance has not been checked.")
    return tr("Last known balance: {balance}.", balance=money(facts.balance_usd))


def open_words(facts: WalletFacts) -> str:
    """A sentence about a top-up that is not settled, "" if there is none."""
    if facts.open_usd is None:
        return ""
    return tr(
        "A top-up of {amount} is still open. You can check it in Wallet, also after the wallet is removed.",
        amount=money(facts.open_usd),
    )


def kept_words(place: SecretsState) -> str:
    """How long the key of a removed wallet is kept, and where."""
    if place.kind == "session":
        return tr("Its private key is in memory only and is deleted when Rialto quits.")
    if place.kind == "passphrase":
        return tr(
            "Its private key stays in your passphrase file for 30 days, under Removed wallets. Then it is deleted."
        )
    return tr("Its private key stays in your system keyring for 30 days, under Removed wallets. Then it is deleted.")


async def ask_about_key(theme: Theme, parent: QWidget, title: str, *sentences: str, action: str) -> Answer:
    """Ask before a private key goes. The default button does nothing; the key can be exported first."""
    dialog = Dialog(theme, parent, title, width=480)
    for sentence in filter(None, sentences):
        dialog.body.addWidget(Label(theme, sentence, role="text2", wrap=True))
    answer: list[Answer] = []
    stay = dialog.add_button(tr("Cancel"), accepts=False, default=True)
    export = dialog.add_button(tr("Export first…"), accepts=True)
    export.clicked.connect(lambda: answer.append("export"))
    go = dialog.add_button(action, kind="danger-fill", accepts=True)
    go.clicked.connect(lambda: answer.append("go"))
    stay.setFocus(Qt.FocusReason.OtherFocusReason)
    accepted = await dialog.answer()
    return answer[-1] if accepted and answer else "stay"

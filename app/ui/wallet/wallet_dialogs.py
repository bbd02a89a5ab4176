"""The questions about wallets: a new one, an export, an address in full, a signature made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.file_saving import SavedFile
from app.translation import tr
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import SecretField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.wallet.add_wallet_dialog import MEMORY_ONLY, AddWalletDialog
from app.ui.wallet.state import CHAIN_NAMES

if TYPE_CHECKING:
    from app.ui.wallet.session.wallet_keys import WalletKeys
    from app.ui.wallet.state import AccountCard


class WalletDialogs(QObject):
    """`notice` carries a sentence for a toast."""

    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(self, theme: Theme, parent: QWidget, keys: WalletKeys) -> None:
        super().__init__()
        self._theme = theme
        self._parent = parent
        self._keys = keys
        self.open: Dialog | None = None  # the one that is open now

    async def add(self, sites: tuple[AccountCard, ...], way: str = "new") -> str:
        """Make or import a wallet for a service, `way` first; return its account's id, "" when nothing was kept."""
        dialog = AddWalletDialog(self._theme, self._parent, self._keys, sites, way)
        self.open = dialog
        try:
            if await dialog.answer() and dialog.added:
                self.notice.emit(tr("{added} is ready. Top it up, then choose Use.", added=dialog.added))
        finally:
            self.open = None
        return dialog.added_id

    async def show_address(self, card: AccountCard) -> None:
        """The whole address, to be read, copied or scanned."""
        theme = self._theme
        dialog = self.open = Dialog(theme, self._parent, tr("Address for {name}", name=card.name))
        words = tr("Send only USDC on {chain} to this address.", chain=CHAIN_NAMES[card.chain])
        if card.is_play:
            words = tr("Play money only. The Sandbox cannot see real money sent to it.")
        dialog.body.addWidget(Label(theme, words, role="text2", wrap=True))
        dialog.body.addWidget(_code(theme, card.address), 0, Qt.AlignmentFlag.AlignHCenter)
        address = Label(theme, card.address, mono=True, wrap=True)
        address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        dialog.body.addWidget(address)
        copy = dialog.add_button(tr("Copy"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(card.address))
        dialog.add_button(tr("Close"), accepts=False, default=True)
        try:
            await dialog.answer()
        finally:
            self.open = None

    async def export(self, account_id: str) -> None:
        """Write a wallet's key as an encrypted key file, under a password that is entered twice."""
        account = self._keys.account(account_id)
        if account is None:
            return
        dialog = ExportDialog(self._theme, self._parent, account.name)
        self.open = dialog
        try:
            agreed = await dialog.answer()
        finally:
            self.open = None
        if not agreed or dialog.path is None:
            return
        password = dialog.password.text()
        problem = await self._keys.attempt(self._keys.export(account, password, dialog.path))
        self.notice.emit(
            problem
            or SavedFile(dialog.path, tr("The key is in {name}, encrypted with your password", name=dialog.path.name))
        )

    async def give_key(self, account_id: str) -> bool:
        """Ask for the key of a wallet whose key is not here any longer; True when it is kept."""
        account = self._keys.account(account_id)
        if account is None:
            return False
        dialog = GiveKeyDialog(self._theme, self._parent, self._keys, account_id, account.name)
        self.open = dialog
        try:
            return await dialog.answer()
        finally:
            self.open = None

    async def ask_elsewhere(self, name: str, text: str) -> str | None:
        """Show what is to be signed elsewhere; return the signature that came back, None when nobody signed."""
        theme = self._theme
        dialog = self.open = Dialog(theme, self._parent, tr("Sign in with another device"), width=620)
        words = tr(
            "The key for {name} is not on this computer. Sign this text with it and paste the signature.", name=name
        )
        dialog.body.addWidget(Label(theme, words, role="text2", wrap=True))
        document = TextArea(text)
        document.setReadOnly(True)
        document.setAccessibleName(tr("Text to sign"))
        document.setFont(theme.font("code", mono=True))
        document.setMinimumHeight(theme.type_px(210))
        dialog.body.addWidget(document)
        copy = Button(theme, tr("Copy text"), "copy", size="small")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        dialog.body.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        field = TextField(theme, tr("Signature"), placeholder=tr("Signature"), mono=True)
        dialog.body.addWidget(field)
        dialog.add_button(tr("Cancel"), accepts=False)
        use = dialog.add_button(tr("Use signature"), kind="primary", accepts=True)
        use.setEnabled(False)
        field.textChanged.connect(lambda now: use.setEnabled(bool(now.strip())))
        field.setFocus()
        try:
            return field.text().strip() if await dialog.answer() else None
        finally:
            self.open = None


class GiveKeyDialog(Dialog):
    """The recovery phrase or key of one wallet. What was typed is cleared at the end."""

    def __init__(self, theme: Theme, parent: QWidget, keys: WalletKeys, account_id: str, name: str) -> None:
        super().__init__(theme, parent, tr("Enter the key for {name}", name=name))
        self._keys = keys
        self._account_id = account_id
        text = tr("The key for {name} is not on this computer.", name=name)
        self.body.addWidget(Label(theme, text, role="text2", wrap=True))
        if keys.is_session_only():
            self.body.addWidget(Label(theme, MEMORY_ONLY, role="warn", wrap=True))
        label = Label(theme, tr("Private key or recovery phrase"), "small", "text2", weight=500)
        self.secret = SecretField(theme, "")
        bind_label(label, self.secret)
        self.body.addWidget(label)
        self.body.addWidget(self.secret)
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        self.keep = self.add_button(tr("Save key"), kind="primary", default=True)
        self.keep.setEnabled(False)
        self.keep.clicked.connect(lambda: self.tasks.start_unless_running("give key", self._give))
        self.secret.textChanged.connect(lambda now: self.keep.setEnabled(bool(now.strip())))
        self.finished.connect(lambda _result: self.secret.wipe())
        self.secret.setFocus()

    async def _give(self) -> None:
        self.problem.set_text("")
        if not await self._keys.has_place():
            return
        problem = await self._keys.attempt(self._keys.give_key(self._account_id, self.secret.text()))
        if problem:
            self.problem.show_field_error(self.secret, problem)
        else:
            self.accept()


class ExportDialog(Dialog):
    """A password, twice, and where to; there is no other way for a key to leave."""

    def __init__(self, theme: Theme, parent: QWidget, name: str) -> None:
        super().__init__(theme, parent, tr("Export the key for {name}", name=name))
        self.path: Path | None = None
        text = tr("The key is exported encrypted. Anyone with the file can keep guessing, so use a long password.")
        self.body.addWidget(Label(theme, text, role="text2", wrap=True))
        self.password = self._field(tr("Password"))
        self.again = self._field(tr("Repeat password"))
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        self.save = self.add_button(tr("Save key file as…"), kind="primary")
        self.save.clicked.connect(self._choose)
        for field in (self.password, self.again):
            field.textChanged.connect(lambda _text: self._check())
        self._check()
        self.password.setFocus()

    def _field(self, words: str) -> QLineEdit:
        label = Label(self._theme, words, "small", "text2", weight=500)
        field = QLineEdit()
        field.setEchoMode(QLineEdit.EchoMode.Password)
        bind_label(label, field)
        self.body.addWidget(label)
        self.body.addWidget(field)
        return field

    def _check(self) -> None:
        first, second = self.password.text(), self.again.text()
        problem = (
            tr("At least 8 characters.")
            if len(first) < 8
            else tr("The passwords do not match.")
            if first != second
            else ""
        )
        self.problem.set_text(problem if first else "")
        self.save.setEnabled(not problem)

    def _choose(self) -> None:
        ask_to_save(self, tr("Save key file"), "wallet-key.json", self.set_path)

    def set_path(self, path: Path) -> None:
        """Save there."""
        self.path = path
        self.accept()


def _code(theme: Theme, text: str) -> QWidget:
    from app.ui.wallet.qr_view import QrView

    return QrView(theme, text)

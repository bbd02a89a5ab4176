"""The wallets that were removed and whose keys are still kept, each with a way back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.money import money
from app.core.secret_storage import SecretsState
from app.translation import tr, tr_n
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.settings.accounts.state import RemovedRow
from app.ui.settings.rows import RowCard


class RemovedWallets(QWidget):
    """Hidden while there are none. `wanted` tells (account id, "restore", "export-key" or "delete-key")."""

    wanted = Signal(str, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[RemovedRow, ...] = ()
        self.rows: dict[str, RemovedWalletRow] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(8))
        column.addWidget(Label(theme, tr("Removed wallets"), "heading"))
        self._meaning = Label(theme, "", role="text2", wrap=True)
        column.addWidget(self._meaning)
        self._card = RowCard(theme)
        column.addWidget(self._card)
        self.setAccessibleName(tr("Removed wallets"))
        self.hide()

    def show_rows(self, rows: tuple[RemovedRow, ...], place: SecretsState) -> None:
        """Show these wallets; `place` is where their keys are."""
        self._meaning.set_text(_meaning(place))
        if rows != self._shown:
            self._shown = rows
            had_focus = self.isAncestorOf(self.focusWidget()) if self.focusWidget() is not None else False
            self._card.empty()
            self.rows = {row.id: RemovedWalletRow(self._theme, row) for row in rows}
            for widget in self.rows.values():
                widget.wanted.connect(self.wanted)
                self._card.add(widget)
            if had_focus and self.rows:
                next(iter(self.rows.values())).restore.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setVisible(bool(rows))


class RemovedWalletRow(QWidget):
    """`wanted` tells (account id, what): restore, export-key, delete-key."""

    wanted = Signal(str, str)

    def __init__(self, theme: Theme, row: RemovedRow) -> None:
        super().__init__()
        self._theme = theme
        self._id = row.id
        name = Label(theme, row.name, weight=500, elide=True)
        policy = name.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Maximum)
        name.setSizePolicy(policy)
        short = f"{row.address[:6]}…{row.address[-4:]}"
        address = Label(theme, short, "small", "text2", mono=True)
        address.setToolTip(plain_tip(row.address))
        address.setAccessibleName(tr("Address {address}", address=row.address))
        first = QHBoxLayout()
        first.setSpacing(theme.px(8))
        first.addWidget(name)
        first.addWidget(address)
        first.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addLayout(first)
        self.balance = Label(theme, _balance(row), "small", "text2", tabular=True)
        words.addWidget(self.balance)
        left = tr_n("{n} day left", "{n} days left", row.days_left) if row.days_left is not None else ""
        self.left = Label(theme, left, role="text2", tabular=True)
        self.restore = Button(theme, tr("Restore"), size="small")
        self.restore.setAccessibleName(tr("Restore {name}", name=row.name))
        self.restore.clicked.connect(lambda: self.wanted.emit(self._id, "restore"))
        self.more = IconButton(theme, "more", tr("More for {name}", name=row.name), size="small")
        self.more.clicked.connect(self.open_menu)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.px(16), theme.px(11), theme.px(16), theme.px(11))
        layout.setSpacing(theme.px(12))
        layout.addWidget(IconLabel(theme, "wallet", "text2", px=20), 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addLayout(words, 1)
        at_end: tuple[QWidget, ...] = (self.left, self.restore, self.more)
        for widget in at_end:
            layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setAccessibleName(", ".join(filter(None, (row.name, row.address, self.balance.text(), left))))

    def open_menu(self) -> Menu:
        menu = Menu(self._theme, self)
        export = menu.add(tr("Export key…"), "download")
        export.triggered.connect(lambda: self.wanted.emit(self._id, "export-key"))
        menu.addSeparator()
        delete = menu.add(tr("Delete permanently…"), "trash", role="bad")
        delete.triggered.connect(lambda: self.wanted.emit(self._id, "delete-key"))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))
        return menu


def _meaning(place: SecretsState) -> str:
    if place.kind == "session":
        return tr(
            "Their keys are in memory only and are deleted when Rialto quits. You can restore a wallet until then."
        )
    if place.kind == "passphrase":
        return tr(
            "Their keys stay in your passphrase file for 30 days. Until then, you can restore a wallet or export its "
            "key."
        )
    return tr(
        "Their keys stay in your system keyring for 30 days. Until then, you can restore a wallet or export its key."
    )


def _balance(row: RemovedRow) -> str:
    if row.balance_usd is None:
        return tr("Balance unknown when removed")
    if row.balance_usd == 0:
        return tr("Empty when removed")
    return tr("Last known balance {balance}", balance=money(row.balance_usd))

"""Dialogs to create an API key, show it once, and revoke one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.copy_secret import copy_secret
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog, confirm
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel

if TYPE_CHECKING:
    from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
    from app.ui.wallet.state import KeyRow

KINDS = (("INFERENCE", tr("Make requests only")), ("ADMIN", tr("Make requests and manage the account")))
MAX_NAME_CHARS = 64
DATE_FORM = "yyyy-MM-dd"


class NewKeyDialog(Dialog):
    """A name, what it may do, and its last day. `value` is what was entered."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, tr("Create API key"), width=520)
        text = tr("It can spend this account’s money. The service shows it only once.")
        self.body.addWidget(Label(theme, text, role="text2", wrap=True))
        self.name = TextField(theme, tr("Name"))
        self.name.setMaxLength(MAX_NAME_CHARS)
        self.kind = ChoiceField(theme, tr("Scope"))
        for key, words in KINDS:
            self.kind.addItem(words, key)
        self.expires = TextField(theme, tr("Expires on"), placeholder=tr("never, or a date such as 2027-01-31"))
        for words, field in ((tr("Name"), self.name), (tr("Scope"), self.kind), (tr("Expires on"), self.expires)):
            label = Label(theme, words, "small", "text2", weight=500)
            label.setMinimumWidth(theme.type_px(110))
            bind_label(label, field)
            row = QHBoxLayout()
            row.addWidget(label)
            row.addWidget(field, 1)
            self.body.addLayout(row)
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        self.make = self.add_button(tr("Create key"), kind="primary", accepts=True, default=True)
        for each in (self.name, self.expires):
            each.textChanged.connect(lambda _text: self._check())
        self._check()
        self.name.setFocus()

    @property
    def value(self) -> tuple[str, str, str]:
        """Name, kind, and the day or ""."""
        return self.name.text().strip(), str(self.kind.currentData()), self.expires.text().strip()

    def _check(self) -> None:
        name, _, day = self.value
        date = QDate.fromString(day, DATE_FORM)
        problem = ""
        if day and not date.isValid():
            problem = tr("Enter a date such as 2027-01-31.")
        elif day and date <= QDate.currentDate():
            problem = tr("Enter a date in the future.")
        self.problem.set_text(problem)
        self.make.setEnabled(bool(name) and not problem)


class KeyDialogs:
    """Asks, lets the presenter do it, and shows how it went."""

    def __init__(self, theme: Theme, parent: QWidget, presenter: ApiKeysPresenter) -> None:
        self._theme, self._parent, self._presenter = theme, parent, presenter
        self.open: Dialog | None = None  # the one that is open now

    async def make(self) -> str:
        """Make a key and show it once. Return a sentence about what went wrong, "" for nothing."""
        dialog = NewKeyDialog(self._theme, self._parent)
        if not await self._answer(dialog):
            return ""
        name, kind, day = dialog.value
        secret, problem = await self._presenter.make(name, kind, day)
        if secret:
            await self._answer(self._shown(secret, name))
        return problem

    async def revoke(self, row: KeyRow) -> str:
        """Ask, and revoke a key. Return a sentence about how it went, "" when nothing was done."""
        text = (
            tr(
                "Programs that use the key ending in {ends_in} lose access. This cannot be undone.",
                ends_in=row.ends_in,
            )
            if row.ends_in
            else tr("Programs that use the key lose access. This cannot be undone.")
        )
        if not await confirm(
            self._theme, self._parent, tr("Revoke {name}?", name=row.name), text, action=tr("Revoke"), danger=True
        ):
            return ""
        return await self._presenter.revoke(row.id) or tr("{name} revoked", name=row.name)

    async def _answer(self, dialog: Dialog) -> bool:
        self.open = dialog
        try:
            return await dialog.answer()
        finally:
            self.open = None

    def _shown(self, secret: str, name: str) -> Dialog:
        dialog = Dialog(self._theme, self._parent, tr("The key {name}", name=name), width=560)
        text = tr(
            "Save it now: neither the service nor Rialto can show it again. Rialto does not store it, and removes it "
            "from the clipboard a minute after you copy it."
        )
        dialog.body.addWidget(Label(self._theme, text, role="text2", wrap=True))
        words = Label(self._theme, secret, mono=True, wrap=True)
        words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        dialog.body.addWidget(words)
        copy = Button(self._theme, tr("Copy"), "copy", size="small")
        copy.clicked.connect(lambda: copy_secret(secret))
        dialog.body.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        dialog.add_button(tr("I saved it"), kind="primary", accepts=True)
        copy.setFocus()
        return dialog

"""Dialogs to create an API key, show it once, edit and revoke one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.spending_limits import read_limit
from app.service.api_keys import MAX_DESCRIPTION_CHARS, MOST_LIMIT, KeyTerms
from app.translation import tr
from app.ui.kit.copy_secret import copy_secret
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog, confirm
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel

if TYPE_CHECKING:
    from app.service.api_keys import KeyKind
    from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
    from app.ui.wallet.state import KeyRow

KINDS = (("INFERENCE", tr("Make requests only")), ("ADMIN", tr("Make requests and manage the account")))
PERIODS = (("EPOCH", tr("each day (UTC)")), ("MONTH", tr("each month (UTC)")), ("LIFETIME", tr("in total")))
PRIVACIES = (
    ("ALL", tr("All models")),
    ("PRIVATE_TEXT", tr("Private ones only for text")),
    ("PRIVATE_ONLY", tr("Private ones only")),
)
DATE_FORM = "yyyy-MM-dd"


class KeyDialog(Dialog):
    """What a new key may do, or the terms of one that is there. `kind` and `terms` are what was entered."""

    def __init__(self, theme: Theme, parent: QWidget, row: KeyRow | None = None) -> None:
        title = tr("Create API key") if row is None else tr("Edit {name}", name=row.name)
        super().__init__(theme, parent, title, width=520)
        self._before = row.key.terms if row is not None and row.key is not None else KeyTerms("")
        if row is None:
            text = tr("It can spend this account’s money. The service shows it only once.")
            self.body.addWidget(Label(theme, text, role="text2", wrap=True))
        self.name = TextField(theme, tr("Name"))
        self.name.setMaxLength(MAX_DESCRIPTION_CHARS)
        self._scope = _choice(theme, tr("Scope"), KINDS, "INFERENCE")
        self.expires = TextField(theme, tr("Expires on"), placeholder=tr("never, or a date such as 2027-01-31"))
        self.usd = TextField(theme, tr("Limit in USD"), placeholder=tr("none"))
        self.diem = TextField(theme, tr("Limit in daily credits"), placeholder=tr("none"))
        self._period = _choice(theme, tr("Limit applies"), PERIODS, self._before.period)
        self._privacy = _choice(theme, tr("Models"), PRIVACIES, self._before.privacy)
        fields: list[QWidget] = [self.name, self.expires, self.usd, self.diem, self._period, self._privacy]
        if row is None:
            fields.insert(1, self._scope)
        for field in fields:
            label = Label(theme, field.accessibleName(), "small", "text2", weight=500)
            label.setMinimumWidth(theme.type_px(150))
            bind_label(label, field)
            line = QHBoxLayout()
            line.addWidget(label)
            line.addWidget(field, 1)
            self.body.addLayout(line)
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        action = tr("Create key") if row is None else tr("Save")
        self.make = self.add_button(action, kind="primary", accepts=True, default=True)
        self.name.setText(self._before.description)
        self.expires.setText(self._before.expires_on)
        for field, most in ((self.usd, self._before.usd), (self.diem, self._before.diem)):
            field.setText("" if most is None else f"{most:f}")
        for field in (self.name, self.expires, self.usd, self.diem):
            field.textChanged.connect(lambda _text: self._check())
        self._check()
        self.name.setFocus()

    @property
    def kind(self) -> KeyKind:
        return "ADMIN" if self._scope.currentData() == "ADMIN" else "INFERENCE"

    @property
    def terms(self) -> KeyTerms:
        return KeyTerms(
            self.name.text().strip(),
            self.expires.text().strip(),
            read_limit(self.usd.text()),
            read_limit(self.diem.text()),
            self._period.currentData(),
            self._privacy.currentData(),
        )

    def _check(self) -> None:
        terms = self.terms
        date = QDate.fromString(terms.expires_on, DATE_FORM)
        problem = ""
        if terms.expires_on and not date.isValid():
            problem = tr("Enter a date such as 2027-01-31.")
        elif terms.expires_on != self._before.expires_on and terms.expires_on and date <= QDate.currentDate():
            problem = tr("Enter a date in the future.")
        for field, most in ((self.usd, terms.usd), (self.diem, terms.diem)):
            if field.text().strip() and (most is None or most > MOST_LIMIT):
                problem = tr("Enter an amount such as 1.50, or nothing for no limit.")
        self.problem.set_text(problem)
        self.make.setEnabled(bool(terms.description) and not problem)


def _choice(theme: Theme, name: str, choices: Sequence[tuple[str, str]], current: str) -> ChoiceField:
    field = ChoiceField(theme, name)
    for key, words in choices:
        field.addItem(words, key)
    field.setCurrentIndex(field.findData(current))
    return field


class KeyDialogs:
    """Asks, lets the presenter do it, and shows how it went."""

    def __init__(self, theme: Theme, parent: QWidget, presenter: ApiKeysPresenter) -> None:
        self._theme, self._parent, self._presenter = theme, parent, presenter
        self.open: Dialog | None = None  # the one that is open now

    async def make(self) -> str:
        """Make a key and show it once. Return a sentence about what went wrong, "" for nothing."""
        dialog = KeyDialog(self._theme, self._parent)
        if not await self._answer(dialog):
            return ""
        terms = dialog.terms
        secret, problem = await self._presenter.make(dialog.kind, terms)
        if secret:
            await self._answer(self._shown(secret, terms.description))
        return problem

    async def edit(self, row: KeyRow) -> str:
        """Change the terms of a key. Return a sentence about how it went, "" when nothing was changed."""
        dialog = KeyDialog(self._theme, self._parent, row)
        if not await self._answer(dialog):
            return ""
        terms = dialog.terms
        return await self._presenter.change(row, terms) or tr("{name} saved", name=terms.description)

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

"""The small dialogs about a passphrase: one unlocks keys, over whatever the person is doing, one changes it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.secret_storage import Secrets, SecretsState
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import SecretField, fields_before_eyes
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.fields import FieldBox

_WIDTH = 400


class UnlockDialog(Dialog):
    """Closes itself once the keys are unlocked. A passphrase file asks for its passphrase, a keyring in its own way."""

    def __init__(self, theme: Theme, parent: QWidget, secrets: Secrets, why: str) -> None:
        super().__init__(theme, parent, tr("Your keys are locked"), width=_WIDTH)
        self._secrets = secrets
        self._was_busy = False
        by_passphrase = secrets.state.ask == "passphrase"
        words = why if by_passphrase else tr("{why} Your system asks for its password.", why=why)
        self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        self.passphrase = SecretField(theme, "")
        self._box = FieldBox(theme, tr("Passphrase"), self.passphrase)
        self._box.setVisible(by_passphrase)
        self._said = ProblemLabel(theme)
        self._said.hide()
        self.body.addWidget(self._box)
        self.body.addWidget(self._said)
        self.body.addStretch(1)
        self.add_button(tr("Cancel"), accepts=False)
        self.unlock = self.add_button(tr("Unlock"), kind="primary", default=True)
        self.unlock.clicked.connect(self._unlock)
        self.passphrase.textEdited.connect(lambda _text: self._box.show_problem(""))
        self.finished.connect(self._end)
        secrets.state_changed.connect(self.show_state)
        (self.passphrase if by_passphrase else self.unlock).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_state(self, state: SecretsState) -> None:
        if not state.is_locked:
            self.accept()
            return
        self.passphrase.setReadOnly(state.busy)
        if state.ask == "passphrase":
            self._box.show_problem(state.problem)
        else:
            self._said.set_text(state.problem)
            self._said.setVisible(bool(state.problem))
        if self._was_busy and not state.busy and state.problem:
            self.passphrase.setFocus(Qt.FocusReason.OtherFocusReason)
            self.passphrase.selectAll()
        self._was_busy = state.busy
        self._fit()

    def _unlock(self) -> None:
        if self._secrets.state.busy:
            return
        if self._secrets.state.ask == "passphrase":
            self._secrets.open_file(self.passphrase.text())
        else:
            self._secrets.unlock_keyring()

    def _end(self) -> None:
        self._secrets.state_changed.disconnect(self.show_state)
        self.passphrase.wipe()


async def ask_to_unlock(theme: Theme, window: QWidget, secrets: Secrets, why: str) -> None:
    """Show the dialog until the keys are unlocked or the person closes it. `why`: "Unlock to send."."""
    await UnlockDialog(theme, window, secrets, why).answer()


class ChangePassphraseDialog(Dialog):
    """Closes itself once the file is protected by the new passphrase. A passphrase that is refused says why below."""

    def __init__(self, theme: Theme, parent: QWidget, secrets: Secrets) -> None:
        super().__init__(theme, parent, tr("Change passphrase"), width=_WIDTH)
        self._secrets = secrets
        words = tr("Your keys do not change. Only the new passphrase unlocks them.")
        self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        self.fields = {
            "old": SecretField(theme, ""),
            "new": SecretField(theme, tr("At least 8 characters")),
            "again": SecretField(theme, ""),
        }
        labels = (tr("Current passphrase"), tr("New passphrase"), tr("Repeat new passphrase"))
        self.boxes = {
            name: FieldBox(theme, label, field)
            for label, (name, field) in zip(labels, self.fields.items(), strict=True)
        }
        self._said = ProblemLabel(theme)
        self._said.hide()
        for widget in (*self.boxes.values(), self._said):
            self.body.addWidget(widget)
        fields_before_eyes(*self.fields.values())
        self.body.addStretch(1)
        self.add_button(tr("Cancel"), accepts=False)
        self.change = self.add_button(tr("Change passphrase"), kind="primary", default=True)
        self.change.clicked.connect(self._change)
        self.finished.connect(self._end)
        secrets.passphrase_answered.connect(self._show_answer)
        self.fields["old"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _change(self) -> None:
        self._show_problem("", "")
        self.change.setEnabled(False)  # until the answer, which takes a moment on purpose
        self._secrets.change_passphrase(*(field.text() for field in self.fields.values()))

    def _show_answer(self, field: str, sentence: str) -> None:
        self.change.setEnabled(True)
        if not sentence:
            self.accept()
            return
        self._show_problem(field, sentence)
        if field:
            self.fields[field].setFocus(Qt.FocusReason.OtherFocusReason)
            self.fields[field].selectAll()

    def _show_problem(self, field: str, sentence: str) -> None:
        for name, box in self.boxes.items():
            box.show_problem(sentence if name == field else "")
        self._said.set_text("" if field else sentence)
        self._said.setVisible(bool(sentence) and not field)
        self._fit()

    def _end(self) -> None:
        self._secrets.passphrase_answered.disconnect(self._show_answer)
        for field in self.fields.values():
            field.wipe()

"""Asks for a key in a dialog, to replace the one that an account has."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core.secrets import SecretsState
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.settings.accounts.form import keep_words
from app.ui.settings.fields import FieldBox, SecretField


async def ask_key(theme: Theme, parent: QWidget, account_name: str, place: SecretsState) -> str | None:
    """Return the new key, None when the person leaves. The field is emptied either way."""
    dialog = Dialog(theme, parent, f"Replace the key of {account_name}")
    field = SecretField(theme, "Paste a key")
    dialog.body.addWidget(FieldBox(theme, "API key", field))
    words = f"The old key is forgotten here; it is not revoked at the service. {keep_words(place)}"
    dialog.body.addWidget(Label(theme, words, "small", "text2", wrap=True))
    dialog.add_button("Cancel", accepts=False)
    save = dialog.add_button("Replace key", kind="primary", accepts=True, default=True)
    save.setEnabled(False)
    field.textChanged.connect(lambda text: save.setEnabled(bool(text.strip())))
    field.setFocus(Qt.FocusReason.OtherFocusReason)
    typed: list[str] = []
    dialog.accepted.connect(lambda: typed.append(field.text().strip()))
    accepted = await dialog.answer()
    return typed[0] if accepted and typed else None

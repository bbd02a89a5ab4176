"""Sandbox: what it is, whether it runs, and how other programs on this computer can use it."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow, value_label
from app.ui.settings.state import SandboxView, SettingsState
from app.ui.shared.badge import Badge
from app.ui.shared.buttons import Button
from app.ui.shared.card import Card
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.theme import Theme

_DOTS = "••••••••••••"
_SAID_MS = 2000


class SandboxPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._view = SandboxView()
        self._badge = Badge(theme, "Stopped", "outline")
        self.start_stop = Button(theme, "Start", size="small")
        self.start_stop.clicked.connect(
            lambda: presenter.stop_sandbox() if self._view.running else presenter.start_sandbox()
        )
        self._said = Label(theme, "", "small", "bad", wrap=True)
        self.group("", self._about())
        self._address = value_label(theme, mono=True)
        self.copy_address = Button(theme, "Copy", "copy", size="small")
        self.copy_address.clicked.connect(lambda: self._copy(self.copy_address, self._view.address))
        self._key = value_label(theme, mono=True)
        self.copy_key = Button(theme, "Copy", "copy", size="small")
        self.copy_key.clicked.connect(lambda: self._copy(self.copy_key, self._view.key))
        card = RowCard(theme)
        address = SettingRow(theme, "Address", self._address, meaning="For programs on this computer only.")
        address.add(self.copy_address)
        key = SettingRow(theme, "Key", self._key, meaning="New with every start. Worth nothing anywhere else.")
        key.add(self.copy_key)
        card.add(address)
        card.add(key)
        self.group("For your own programs", card)
        self.refill = Button(theme, "Fill up", "undo", size="small")
        self.refill.clicked.connect(presenter.refill_sandbox)
        money = RowCard(theme)
        self._money = SettingRow(
            theme, "Play money", self.refill, meaning="Counts down like a real balance, and back to $100.00 on request."
        )
        money.add(self._money)
        self.group("Balance", money)
        self.column.addWidget(self._said)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def _about(self) -> QWidget:
        theme = self.theme
        card = Card(theme, padding=(16, 14), spacing=0)
        row = QHBoxLayout()
        row.setSpacing(theme.px(12))
        row.addWidget(IconLabel(theme, "cube", "sandbox", px=20), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.px(2))
        words.addWidget(Label(theme, "A practice service inside Rialto", weight=600, wrap=True))
        text = (
            "It speaks on the same paths as a real service, with the same errors, limits and prices, for play money. "
            "Its reader answers from the handbook; it is not a language model. Models of a server that already runs on "
            "this computer appear beside it."
        )
        words.addWidget(Label(theme, text, "small", "text2", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.start_stop, 0, Qt.AlignmentFlag.AlignVCenter)
        card.body.addLayout(row)
        return card

    def show_state(self, state: SettingsState) -> None:
        view = self._view = state.sandbox
        word, tone = ("Running", "sandbox") if view.running else ("Stopped", "outline")
        self._badge.set_badge(f"{word}, in use" if view.in_use and view.running else word, tone)
        self.start_stop.setText("Stop" if view.running else "Start")
        # Stopping what is in use would break the chat that is open; choose another account first.
        may_stop = not (view.running and view.in_use)
        self.start_stop.setEnabled(not view.busy and may_stop)
        self.start_stop.setToolTip("" if may_stop else "It is the account in use. Use another account to stop it.")
        self._address.set_text(view.address or "Starts with the Sandbox")
        self._key.set_text(_DOTS if view.key else "–")
        for button in (self.copy_address, self.copy_key, self.refill):
            button.setEnabled(view.running and not view.busy)
        self._money.set_meaning(view.done or "Counts down like a real balance, and back to $100.00 on request.")
        self._said.set_text(view.problem)
        self._said.setVisible(bool(view.problem))

    def _copy(self, button: Button, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        button.setText("Copied")
        QTimer.singleShot(_SAID_MS, button, lambda: button.setText("Copy"))

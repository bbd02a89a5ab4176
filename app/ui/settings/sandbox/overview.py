"""What the Sandbox is, whether it runs, its address and key, its play money, and the engines that do its work."""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.money import money
from app.translation import tr
from app.ui.kit.focus import AwaitedFocus
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.fields import NumberField, TextField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.rows import RowCard, SettingRow, value_label
from app.ui.settings.sandbox.parts import CopyButton, Groups
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.state import EngineRow, SandboxState

_DOTS = "••••••••••••"
_MONEY_WORDS = tr("Counts down like a real balance. You can reset it to $100.00.")
_STATES = {"missing": (tr("Not installed"), "warn"), "idle": (tr("Ready"), "outline"), "loaded": (tr("Loaded"), "ok")}
_USUAL_GIFT = 100
_LARGEST_GIFT = 10_000


class OverviewPage(Groups):
    def __init__(self, theme: Theme, presenter: SandboxPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._awaited = AwaitedFocus(self)
        self._state = SandboxState()
        self._engine_rows: tuple[bool, tuple[EngineRow, ...]] | None = None
        self._badge = Badge(theme, tr("Stopped"), "outline")
        self.start_stop = Button(theme, tr("Start"), size="small")
        self.start_stop.clicked.connect(lambda: presenter.stop() if self._state.running else presenter.start())
        self._said = ProblemLabel(theme)
        self.group("", self._about(), self._said)
        self.group(tr("For your own programs"), self._connection())
        self.group(tr("Play money"), self._money())
        self._engines = RowCard(theme)
        self.group(tr("Engines"), self._engines)
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
        words.addWidget(Label(theme, tr("A practice service inside Rialto"), weight=600, wrap=True))
        text = tr(
            "It has the same API as a real service, with the same errors, limits and prices, paid with "
            "play money. It answers from the handbook and is not a language model. Models from a local "
            "server on this computer are also listed."
        )
        words.addWidget(Label(theme, text, "small", "text2", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.start_stop, 0, Qt.AlignmentFlag.AlignVCenter)
        card.body.addLayout(row)
        return card

    def _connection(self) -> QWidget:
        theme = self.theme
        self._address = value_label(theme, mono=True)
        self.copy_address = CopyButton(theme, tr("Copy address"), lambda: self._state.address)
        address = SettingRow(theme, tr("Address"), self._address, meaning=tr("For programs on this computer only."))
        address.add(self.copy_address)
        self._key = value_label(theme, mono=True)
        self.show_key = IconButton(theme, "eye", tr("Show key"), size="small", icon_size=16)
        self.show_key.setCheckable(True)
        self.show_key.toggled.connect(lambda _on: self._draw_key())
        self.copy_key = CopyButton(theme, tr("Copy key"), lambda: self._state.key)
        key = SettingRow(theme, tr("Key"), self._key, meaning=tr("Changes with every start. Worthless anywhere else."))
        key.add(self.show_key)
        key.add(self.copy_key)
        self.any_key = Switch(theme, tr("Accept any key"))
        self.any_key.clicked.connect(lambda on: self._presenter.behave(any_key=on))
        anybody = SettingRow(
            theme,
            tr("Accept any key"),
            self.any_key,
            meaning=tr("Each key gets its own $100.00 of play money, until the Sandbox stops."),
        )
        card = RowCard(theme)
        for row in (address, key, anybody):
            card.add(row)
        return card

    def _money(self) -> QWidget:
        theme = self.theme
        self._balance = value_label(theme)
        self.refill = Button(theme, tr("Reset balance"), "undo", size="small")
        self.refill.clicked.connect(self._presenter.fill_up)
        self._money_row = SettingRow(theme, tr("Key balance"), self._balance, meaning=_MONEY_WORDS)
        self._money_row.add(self.refill)
        self.wallet = TextField(theme, tr("Wallet address"), placeholder=tr("Address, 0x…"), mono=True, small=True)
        self.wallet.setMinimumWidth(theme.type_px(150))
        self.amount = NumberField(theme, tr("Play USDC to send"), low=1, high=_LARGEST_GIFT, value=_USUAL_GIFT)
        self.give = Button(theme, tr("Send"), size="small")
        self.give.clicked.connect(self._give)
        self.wallet.textChanged.connect(lambda _text: self._draw_buttons())
        self.wallet.returnPressed.connect(self._give)
        faucet = SettingRow(
            theme,
            tr("Faucet"),
            self.wallet,
            meaning=tr("Sends a wallet play USDC for a top-up and 1 play ether. They exist only in this Sandbox."),
        )
        faucet.add(self.amount)
        faucet.add(self.give)
        card = RowCard(theme)
        card.add(self._money_row)
        card.add(faucet)
        return card

    def show_state(self, state: SandboxState) -> None:
        """Make every widget agree with `state`."""
        self._state = state
        does = (self.start_stop, self.refill, self.any_key, self.wallet, self.amount, self.give)
        self._awaited.before(does, enabled=not state.busy)
        word, tone = (tr("Running"), "sandbox") if state.running else (tr("Stopped"), "outline")
        self._badge.set_badge(tr("{word}, in use", word=word) if state.in_use and state.running else word, tone)
        self.start_stop.setText(tr("Stop") if state.running else tr("Start"))
        # Stopping what is in use would break the chat that is open; choose another account first.
        may_stop = not (state.running and state.in_use)
        self.start_stop.setEnabled(not state.busy and may_stop)
        self.start_stop.setToolTip("" if may_stop else tr("This account is in use. Switch accounts to stop it."))
        self._address.set_text(state.address or tr("Starts with the Sandbox"))
        self._draw_key()
        self.any_key.setChecked(state.any_key)
        self._balance.set_text(money(state.balance_usd) if state.balance_usd is not None else "–")
        self._draw_buttons()
        said = state.problem or state.silent
        self._said.set_role("bad" if said else "ok")
        self._said.set_text(said or state.done)
        self._said.setVisible(bool(said or state.done))
        if (state.running, state.engines) != self._engine_rows:
            self._engine_rows = state.running, state.engines
            self._draw_engines(state.engines)
        self._awaited.after(enabled=not state.busy, otherwise=self.start_stop)

    def _draw_key(self) -> None:
        shown = self.show_key.isChecked()
        self.show_key.set_icon("eye-off" if shown else "eye")
        self.show_key.rename(tr("Hide key") if shown else tr("Show key"))
        key = self._state.key
        self._key.set_text(key if key and shown else _DOTS if key else "–")

    def _draw_buttons(self) -> None:
        usable = self._state.running and not self._state.busy
        for shows in (self.copy_address, self.copy_key, self.show_key):
            shows.setEnabled(self._state.running)
        for does in (self.refill, self.any_key, self.wallet, self.amount):
            does.setEnabled(usable)
        self.give.setEnabled(usable and bool(self.wallet.text().strip()))

    def _draw_engines(self, engines: tuple[EngineRow, ...]) -> None:
        self._engines.empty()
        if not engines:
            words = tr("Reading the list…") if self._state.running else tr("Start the Sandbox to see its engines.")
            self._engines.add(SettingRow(self.theme, tr("Engines"), meaning=words))
        for engine in engines:
            words, tone = _STATES.get(engine.state, (engine.state, "outline"))
            facts = " · ".join(
                part
                for part in (engine.version and tr("Version {version}", version=engine.version), engine.licence)
                if part
            )
            does = engine.does if engine.state != "missing" else f"{engine.does} {engine.remedy}"
            title = engine.title
            if title.partition(" ")[0].replace("-", "") not in engine.install.replace("-", ""):
                title = title[:1].upper() + title[1:]  # the names of packages keep their small letters
            row = SettingRow(self.theme, title, Badge(self.theme, words, tone), meaning=f"{does} {facts}")
            self._engines.add(row)

    def _give(self) -> None:
        if self.give.isEnabled():
            self._presenter.give(self.wallet.text(), Decimal(int(self.amount.value())))

"""The first page: three ways to start, and where secrets, history and telemetry live."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QButtonGroup,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.core.secret_storage import Secrets, SecretsState
from app.translation import tr
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.frames import dashed_frame, solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.settings.accounts.form import AccountForm
from app.ui.settings.accounts.presenter import AccountsPresenter
from app.ui.settings.accounts.public_models import show_models
from app.ui.settings.accounts.state import AccountsState
from app.ui.settings.secrets.ask import SecretsQuestion

_WIDTH = 1120  # of the column, at 100 % text
_SIDE_BY_SIDE_FROM = 840  # effective width of the page
_TOP = 76
_WALLET_WAYS = (
    ("new", tr("Create a new wallet for Rialto")),
    ("import", tr("Import a private key")),
    ("watch", tr("Use an address and sign elsewhere")),
)


class WelcomePage(QWidget):
    """`sandbox_chosen` and `connected` end it; the window then shows the first tab.

    `wallet_requested` asks for the dialog that adds a wallet, by one of its ways: "new", "import" or "watch".
    """

    sandbox_chosen = Signal()
    connected = Signal()
    wallet_requested = Signal(str)

    def __init__(self, theme: Theme, accounts: AccountsPresenter, secrets: Secrets, data_folder: Path) -> None:
        super().__init__()
        self._theme = theme
        self._accounts = accounts
        self._secrets = secrets
        self._done = accounts.state.form.done
        self.setAccessibleName(tr("Welcome to Rialto"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.start = Button(theme, tr("Start in the Sandbox"), kind="primary", size="large", hint="Enter")
        self.start.clicked.connect(self.sandbox_chosen)
        self.form = AccountForm(theme, with_name=False, large=True)
        self.form.submitted.connect(lambda draft, unchecked: accounts.add(draft, unchecked=unchecked))
        self.form.edited.connect(accounts.forget_waiting)
        self.form.models_requested.connect(
            lambda draft: accounts.look_at_models(draft, partial(show_models, theme, self))
        )
        self.wallet_ways = QButtonGroup(self)
        self.set_up = Button(theme, tr("Set up a wallet"), size="large")
        self.set_up.clicked.connect(self._set_up_wallet)
        self._form_waits = False
        self._wallet_waits = False  # until it is known where its key will be
        self.question = SecretsQuestion(theme, secrets)
        self.question.answered.connect(lambda: self.form.connect_button.setFocus(Qt.FocusReason.OtherFocusReason))
        self._secrets_fact = _Fact(theme, "lock", tr("Secrets"))
        self._history_fact = _Fact(theme, "drive", tr("History and media"))
        self._history_fact.set_words(tr("On this computer, in {short_path}", short_path=_short_path(data_folder)))
        self._history_fact.setToolTip(plain_tip(str(data_folder)))
        self._telemetry_fact = _Fact(theme, "telemetry-off", tr("Telemetry"))
        self._telemetry_fact.set_words(tr("None. Rialto contacts only the address you enter."))
        self._build()
        accounts.state_changed.connect(self._show_accounts)
        secrets.state_changed.connect(self._show_secrets)
        self._show_secrets(secrets.state)
        self.form.key.textChanged.connect(lambda _text: self._show_question())
        self._scroll.verticalScrollBar().rangeChanged.connect(self._show_whole_question)
        self._show_question()
        self.setFocusProxy(self.start)  # so that Enter starts; a screen reader is told of the button alone
        QApplication.instance().focusChanged.connect(self._show_enter)  # type: ignore[union-attr]
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        theme = self._theme
        self._column_frame = QWidget()
        self._sheet = _Sheet(theme, self._column_frame)
        self._column = QVBoxLayout(self._column_frame)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addLayout(self._head())
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._ways = (self._sandbox_card(), self._key_card(), self._wallet_card())
        for card in self._ways:
            self._cards.addWidget(card, 1)
        self._column.addLayout(self._cards)
        self._question_holder = QWidget()
        holder = QVBoxLayout(self._question_holder)
        holder.setContentsMargins(0, 0, 0, 0)
        holder.addWidget(self.question)
        self._column.addWidget(self._question_holder)
        self._column.addWidget(self._facts())
        outer = QHBoxLayout(self._sheet)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addStretch(1)
        outer.addWidget(self._column_frame, 0, Qt.AlignmentFlag.AlignTop)
        outer.addStretch(1)
        self._outer = outer
        self._scroll = ScrollPane()
        self._scroll.setWidget(self._sheet)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._scroll)

    def _head(self) -> QHBoxLayout:
        theme = self._theme
        row = QHBoxLayout()
        row.setSpacing(theme.px(16))
        row.addWidget(IconLabel(theme, "logo", "accent", px=52))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(theme, tr("Welcome to Rialto"), "display", wrap=True))
        line = tr(
            "Chat, speech, video and blockchain calls in one window. Choose how to start. You can add the others later."
        )
        words.addWidget(Label(theme, line, "reading", "text2", wrap=True))
        row.addLayout(words, 1)
        return row

    def _sandbox_card(self) -> QWidget:
        theme = self._theme
        card = _SandboxCard(theme, padding=(20, 20), spacing=14)
        self.start.ring_widget = card  # type: ignore[attr-defined]  # the focus ring reads it: the whole card is one choice
        card.body.addLayout(_card_head(theme, "cube", "sandbox", tr("Sandbox"), tr("No account, works offline"), "1"))
        words = tr(
            "A practice service built into Rialto. It behaves like the real service. Ask it how Rialto "
            "works: it has read the handbook."
        )
        card.body.addWidget(Label(theme, words, role="text2", wrap=True))
        ticks = QVBoxLayout()
        ticks.setSpacing(theme.px(8))
        for tick in (
            tr("Every tab works, including wallet top-ups"),
            tr("Nothing leaves this computer"),
            tr("Shows real costs, paid with play money"),
        ):
            row = QHBoxLayout()
            row.setSpacing(theme.px(8))
            row.addWidget(IconLabel(theme, "check", "ok", px=16))
            row.addWidget(Label(theme, tick, wrap=True), 1)
            ticks.addLayout(row)
        card.body.addLayout(ticks)
        card.body.addStretch(1)
        card.body.addWidget(self.start)
        return card

    def _key_card(self) -> QWidget:
        card = Card(self._theme, padding=(20, 20), spacing=14)
        card.body.addLayout(_card_head(self._theme, "key", "accent", tr("API key"), tr("For an existing account"), "2"))
        card.body.addWidget(self.form, 1)
        return card

    def _wallet_card(self) -> QWidget:
        theme = self._theme
        card = Card(theme, padding=(20, 20), spacing=14)
        card.body.addLayout(_card_head(theme, "wallet", "warn", tr("Wallet"), tr("Pay as you go, no account"), "3"))
        words = tr("Sign in with a wallet and buy credits with a USD stablecoin. The minimum top-up is $5.")
        card.body.addWidget(Label(theme, words, role="text2", wrap=True))
        ways = QVBoxLayout()
        ways.setSpacing(theme.px(6))
        for number, (_way, title) in enumerate(_WALLET_WAYS):
            button = QRadioButton(title)
            self.wallet_ways.addButton(button, number)
            ways.addWidget(button)
        self.wallet_ways.button(0).setChecked(True)
        card.body.addLayout(ways)
        note = QHBoxLayout()
        note.setSpacing(theme.px(5))
        note.addWidget(IconLabel(theme, "shield", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        promise = tr("You see every field before you sign. Features that need an API key say so.")
        note.addWidget(Label(theme, promise, "small", "text3", wrap=True), 1)
        card.body.addLayout(note)
        card.body.addStretch(1)
        card.body.addWidget(self.set_up)
        return card

    def _facts(self) -> QWidget:
        card = Card(self._theme, padding=(20, 14), spacing=0)
        self._facts_grid = QGridLayout()
        card.body.addLayout(self._facts_grid)
        return card

    # What the presenters tell

    def _show_accounts(self, state: AccountsState) -> None:
        self.form.show_form(state.form, self._secrets.state)
        if state.form.waits and not self._form_waits:
            self._ask_place()
        self._form_waits = state.form.waits
        if state.form.done > self._done:
            self._done = state.form.done
            self.connected.emit()

    def _show_question(self) -> None:
        """Where a key is kept is asked when there is a key; a start in the Sandbox needs no answer."""
        self._question_holder.setVisible(bool(self.form.key.text()) or self._wallet_waits)

    def _set_up_wallet(self) -> None:
        """Ask for the dialog; a wallet with a key waits until there is a place to keep it."""
        self._wallet_waits = self._wallet_way != "watch" and bool(self._secrets.state.ask)
        self._show_question()
        if self._wallet_waits:
            self._ask_place()
        else:
            self.wallet_requested.emit(self._wallet_way)

    def _ask_place(self) -> None:
        self.question.take_focus()
        self._show_whole_question()

    def _show_whole_question(self) -> None:
        """Keep the question in sight while somebody answers it: it grows with the answer."""
        focused = self.window().focusWidget()
        if focused is not None and self.question.isAncestorOf(focused):
            self._scroll.ensureWidgetVisible(self.question.do)
            self._scroll.ensureWidgetVisible(focused)

    @property
    def _wallet_way(self) -> str:
        return _WALLET_WAYS[self.wallet_ways.checkedId()][0]

    def _show_secrets(self, state: SecretsState) -> None:
        if self._wallet_waits and state.is_ready:
            self._set_up_wallet()
        self.form.show_form(self._accounts.state.form, state)
        tone = "text2" if state.ask == "choose" else state.tone or "text2"  # the question is the one warning
        self._secrets_fact.set_words(f"{_place_words(state)}:", state.short, tone)

    # Keys

    def _show_enter(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Print the key on the button that it presses now."""
        if now is None or not self.isAncestorOf(now):
            return
        self.start.set_hint("Enter" if now is self.start else "")
        self.form.connect_button.set_hint("Enter" if isinstance(now, QLineEdit) and self.form.isAncestorOf(now) else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        typing = isinstance(self.focusWidget(), QLineEdit)
        if event.key() == Qt.Key.Key_1 and not typing:
            self.start.setFocus(Qt.FocusReason.TabFocusReason)
        elif event.key() == Qt.Key.Key_2 and not typing:
            self.form.address.setFocus(Qt.FocusReason.TabFocusReason)
        elif event.key() == Qt.Key.Key_3 and not typing:
            self.wallet_ways.button(self.wallet_ways.checkedId()).setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().keyPressEvent(event)

    # Measures

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _apply_theme(self) -> None:
        theme = self._theme
        self._column.setSpacing(theme.px(28))
        self._cards.setSpacing(theme.px(16))
        self._facts_grid.setHorizontalSpacing(theme.px(28))
        self._facts_grid.setVerticalSpacing(theme.px(12))
        self._arrange()

    def _arrange(self) -> None:
        theme = self._theme
        side = theme.px(24)
        room = self.width() - 2 * side
        self._column_frame.setFixedWidth(max(1, min(theme.type_px(_WIDTH), room)))
        widest = max(card.minimumSizeHint().width() for card in self._ways)
        least = widest * len(self._ways) + 2 * self._cards.spacing()
        beside = room / theme.scale >= _SIDE_BY_SIDE_FROM and least <= self._column_frame.width()
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._cards.setDirection(direction)
        for index, fact in enumerate((self._secrets_fact, self._history_fact, self._telemetry_fact)):
            self._facts_grid.removeWidget(fact)
            self._facts_grid.addWidget(fact, 0 if beside else index, index if beside else 0)
            self._facts_grid.setColumnStretch(index, 1 if beside or index == 0 else 0)
        top = theme.px(_TOP) if self.height() > theme.type_px(760) else theme.px(24)
        self._outer.setContentsMargins(side, top, side, side)


class _Sheet(QWidget):
    """The page's ground; the bridge stands on its foot where there is room below the cards."""

    def __init__(self, theme: Theme, column: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self._column = column

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.color("canvas"))
        if self.height() - self._column.geometry().bottom() > _BRIDGE_HEIGHT * 3 // 4:
            paint_bridge(painter, self._theme, QRectF(self.rect()))


class _SandboxCard(Card):
    """Dashed and violet: a place of its own."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        radius = self._theme.px(8)
        dashed_frame(painter, self._theme, QRectF(self.rect()), radius, "surface", "sandbox")

    def ring_radius(self) -> float:
        return float(self._theme.px(8))


class _Fact(QWidget):
    """One sentence about where something lives."""

    def __init__(self, theme: Theme, icon: str, title: str) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(12))
        row.addWidget(IconLabel(theme, icon, "text2", px=18), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(Label(theme, title, weight=500))
        self._words = Label(theme, "", "small", "text2", wrap=True)
        self._state = Label(theme, "", "small", "text2", weight=500)
        words = QHBoxLayout()
        words.setSpacing(theme.px(4))
        words.addWidget(self._words, 1)
        words.addWidget(self._state)
        self._state.hide()
        self._row = words
        column.addLayout(words)
        column.addStretch(1)
        row.addLayout(column, 1)

    def set_words(self, text: str, state: str = "", role: str = "text2") -> None:
        """A sentence, or a few words and how it stands in the color of `role`."""
        self._words.set_text(text)
        self._state.set_text(state)
        self._state.set_role(role)
        self._state.setVisible(bool(state))
        self._words.setWordWrap(not state)
        self._row.setStretch(0, 0 if state else 1)
        self._row.setStretch(1, 1 if state else 0)


def _card_head(theme: Theme, icon: str, role: str, title: str, line: str, key: str) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(theme.px(12))
    row.addWidget(_Tile(theme, icon, role))
    words = QVBoxLayout()
    words.setSpacing(0)
    words.addWidget(Label(theme, title, "heading"))
    words.addWidget(Label(theme, line, "small", "text2"))
    row.addLayout(words, 1)
    row.addWidget(KeyHint(theme, key))
    return row


class _Tile(QWidget):
    """An icon on its tint, 36 px."""

    def __init__(self, theme: Theme, icon: str, role: str) -> None:
        super().__init__()
        self._theme = theme
        self._role = role
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(IconLabel(theme, icon, role, px=20), 0, Qt.AlignmentFlag.AlignCenter)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        side = self._theme.icon_px(36)
        self.setFixedSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), 8, f"{self._role}_tint", "")


def _place_words(state: SecretsState) -> str:
    return tr("System keyring") if state.kind == "keyring" or (not state.ask and not state.kind) else tr("Key storage")


def _short_path(folder: Path) -> str:
    """A folder as people write it: "~/.local/share/Rialto"."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except ValueError:
        return str(folder)


_BRIDGE_WIDTH, _BRIDGE_HEIGHT = 1364, 230  # the drawing's own coordinates
_WATER = 217
# Pieces of water that are visible: from, to.
_RIPPLES = ((40, 220), (260, 320), (420, 540), (600, 764), (810, 900), (980, 1180), (1230, 1320))


def paint_bridge(painter: QPainter, theme: Theme, area: QRectF) -> None:
    """Draw the bridge in the middle of `area`, standing on its lower edge; its road runs on to both sides."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(theme.color("line"), 1.5)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    scale = min(1.0, area.width() / _BRIDGE_WIDTH)
    painter.translate(area.left() + (area.width() - _BRIDGE_WIDTH * scale) / 2, area.bottom() - _BRIDGE_HEIGHT * scale)
    painter.scale(scale, scale)
    beyond = max(0.0, (area.width() / scale - _BRIDGE_WIDTH) / 2)
    painter.drawPath(_masonry(beyond))
    pen.setDashPattern([46 / 1.5, 14 / 1.5])
    painter.setPen(pen)
    for start, end in _RIPPLES:
        painter.drawLine(start, _WATER, end, _WATER)
    painter.restore()


def _masonry(beyond: float) -> QPainterPath:
    path = QPainterPath()
    for road, crown in ((150, 52), (163, 66)):  # the parapet's two lines
        path.moveTo(-beyond, road)
        path.lineTo(270, road)
        path.cubicTo(400, road, 520, crown, 682, crown)
        path.cubicTo(844, crown, 964, road, 1094, road)
        path.lineTo(_BRIDGE_WIDTH + beyond, road)
    _arch(path, 538, 826, 128)
    _arch(path, 550, 814, 116)
    for left, right, rise in ((392, 484, 42), (880, 972, 42), (290, 354, 26), (1010, 1074, 26)):
        _arch(path, left, right, rise)
    for start, end in ((-beyond, 290), (354, 392), (484, 538), (826, 880), (972, 1010), (1074, _BRIDGE_WIDTH + beyond)):
        path.moveTo(start, 205)
        path.lineTo(end, 205)
    return path


def _arch(path: QPainterPath, left: float, right: float, rise: float) -> None:
    """Half an ellipse standing on the water line."""
    box = QRectF(left, 205 - rise, right - left, 2 * rise)
    path.arcMoveTo(box, 180)
    path.arcTo(box, 180, -180)

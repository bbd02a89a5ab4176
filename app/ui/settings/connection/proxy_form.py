"""The proxy: the system's, a custom one, or none. Takes effect when it is applied."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.secret_storage import SecretsState
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.fields import CheckBox, SecretField, bind_label
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.settings.connection.state import ConnectionState, ProxyDraft
from app.ui.settings.fields import FieldBox

_MODES = (("system", tr("System")), ("manual", tr("Manual")), ("none", tr("None")))
_KINDS = (("http", "HTTP"), ("https", "HTTPS"), ("socks5", "SOCKS5"))
_WIDTH = 560
_PORT_WIDTH = 84


class ProxyForm(QWidget):
    """`taken` carries a `ProxyDraft` that is to come into use."""

    taken = Signal(object)

    def __init__(self, theme: Theme, question: QWidget) -> None:
        """`question` asks where secrets are kept, where nobody has answered that yet."""
        super().__init__()
        self._theme = theme
        self._state = ConnectionState()
        self._taken = 0
        self._place = SecretsState()
        self._question = question
        self.mode = SegmentedChoice(theme, tr("Proxy"), _MODES, stretch=True)
        self.mode.changed.connect(self._choose_mode)
        self._words = Label(theme, "", "small", "text2", wrap=True)
        self.kind = SegmentedChoice(theme, tr("Proxy type"), _KINDS)
        self.host = _line("proxy.example.net", mono=True)
        self.port = _line("8080")
        self.port.setMaxLength(5)
        self.has_login = CheckBox(tr("Requires a user name and password"))
        self.user = _line("")
        self.password = SecretField(theme, "")
        self.bypass = _line("example.net, 10.0.0.0/8", mono=True)
        self._boxes = {
            "host": FieldBox(theme, tr("Address"), self.host),
            "port": FieldBox(theme, tr("Port"), self.port),
            "user": FieldBox(theme, tr("User name"), self.user),
            "password": FieldBox(theme, tr("Password"), self.password),
            "bypass": FieldBox(theme, tr("Hosts that bypass the proxy"), self.bypass),
        }
        self._keep_icon = IconLabel(theme, "lock", "text3", px=14)
        self._keep = Label(theme, "", "small", "text3", wrap=True)
        self.use_button = Button(theme, tr("Use this proxy"), kind="primary")
        self.use_button.clicked.connect(self._take)
        self.discard_button = Button(theme, tr("Discard changes"), kind="quiet")
        self.discard_button.clicked.connect(self._discard)
        self._said_icon = IconLabel(theme, "check", "ok", px=14)
        self._said = Label(theme, "", "small", "text2", wrap=True)
        self._build()
        for field in (self.host, self.port, self.user, self.password, self.bypass):
            field.textEdited.connect(self._edited)
            field.returnPressed.connect(self._take)
        self.kind.changed.connect(self._edited)
        self.has_login.clicked.connect(self._edited)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        theme = self._theme
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        card = Card(theme, padding=(16, 14), spacing=12)
        outer.addWidget(card)
        self._held = QWidget()
        column = QVBoxLayout(self._held)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(12))
        column.addWidget(self.mode)
        column.addWidget(self._words)
        self._manual = QWidget()
        manual = QVBoxLayout(self._manual)
        manual.setContentsMargins(0, 0, 0, 0)
        manual.setSpacing(theme.px(12))
        manual.addLayout(self._kind_row())
        manual.addLayout(_beside(theme, self._boxes["host"], self._boxes["port"], first=1))
        manual.addWidget(self.has_login)
        self._login = QWidget()
        login = QVBoxLayout(self._login)
        login.setContentsMargins(0, 0, 0, 0)
        login.setSpacing(theme.px(8))
        login.addLayout(_beside(theme, self._boxes["user"], self._boxes["password"], first=1, second=1))
        keep = QHBoxLayout()
        keep.setSpacing(theme.px(5))
        keep.addWidget(self._keep_icon, 0, Qt.AlignmentFlag.AlignTop)
        keep.addWidget(self._keep, 1)
        login.addLayout(keep)
        login.addWidget(self._question)
        manual.addWidget(self._login)
        bypass = QVBoxLayout()
        bypass.setSpacing(theme.px(4))
        bypass.addWidget(self._boxes["bypass"])
        help_words = tr("Domains (with subdomains), IP addresses or ranges. This computer always bypasses the proxy.")
        bypass.addWidget(Label(theme, help_words, "small", "text3", wrap=True))
        manual.addLayout(bypass)
        column.addWidget(self._manual)
        self._buttons = QWidget()
        buttons = QHBoxLayout(self._buttons)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(theme.px(8))
        buttons.addWidget(self.use_button)
        buttons.addWidget(self.discard_button)
        buttons.addWidget(self._said_icon)
        buttons.addWidget(self._said, 1)
        column.addWidget(self._buttons)
        row = QHBoxLayout()
        row.addWidget(self._held, 1)
        row.addStretch(0)
        card.body.addLayout(row)

    def _kind_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(12))
        label = Label(self._theme, tr("Type"), "small", "text2", weight=500)
        bind_label(label, self.kind)
        row.addWidget(label)
        row.addWidget(self.kind)
        row.addStretch(1)
        return row

    # State

    def draft(self) -> ProxyDraft:
        """What stands in the form now."""
        return ProxyDraft(
            mode=self.mode.current,  # type: ignore[arg-type]  # one of _MODES
            kind=self.kind.current,  # type: ignore[arg-type]  # one of _KINDS
            host=self.host.text().strip(),
            port=self.port.text().strip(),
            has_login=self.has_login.isChecked(),
            user=self.user.text().strip(),
            password=self.password.text(),
            bypass=self.bypass.text().strip(),
        )

    def show_state(self, state: ConnectionState) -> None:
        """Make the form agree with what is kept, unless the person is typing something else."""
        before, self._state = self._state, state
        if state.taken > self._taken or before.kept != state.kept:
            self._taken = state.taken
            self._fill(state.kept)
        for name, box in self._boxes.items():
            box.show_problem(state.problems.get(name, ""))
        self._apply_state_theme()

    def show_place(self, place: SecretsState) -> None:
        """Say where the password will be kept."""
        self._place = place
        self._apply_state_theme()

    def focus_password(self) -> None:
        """The person came to replace it."""
        self.password.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill(self, kept: ProxyDraft) -> None:
        self.mode.set_current(kept.mode)
        self.kind.set_current(kept.kind)
        for field, text in ((self.host, kept.host), (self.port, kept.port), (self.user, kept.user)):
            field.setText(text)
        self.bypass.setText(kept.bypass)
        self.has_login.setChecked(kept.has_login)
        self.password.wipe()

    def _apply_state_theme(self) -> None:
        state, draft = self._state, self.draft()
        manual = draft.mode == "manual"
        self._manual.setVisible(manual)
        self._login.setVisible(draft.has_login)
        self._words.set_text(tr("All connections are direct.") if draft.mode == "none" else state.system)
        self._words.setVisible(not manual)
        kept = state.has_password_for(draft)
        self.password.setPlaceholderText(tr("Saved. Type to replace it.") if kept else "")
        self._keep.set_text(_keep_words(self._place))
        self._keep_icon.set_icon("warning" if self._place.ask else "lock", "warn" if self._place.ask else "text3")
        self._question.setVisible(bool(self._place.ask))
        changed = draft != state.kept
        in_use = manual and not changed
        self.use_button.setEnabled(changed and not state.busy)
        self.use_button.setVisible(manual and changed)
        self.discard_button.setVisible(manual and changed and state.kept.mode == "manual")
        other = state.problems.get("", "")
        self._said.set_text(other or (tr("This proxy is in use.") if in_use else tr("Not in use yet.")))
        self._said.set_role("bad" if other else "ok" if in_use else "text2")
        self._said_icon.setVisible(in_use and not other)
        self._buttons.setVisible(manual or bool(other))

    # What the person does

    def _choose_mode(self, mode: str) -> None:
        """System and None need nothing more; Manual does, unless everything is there from before."""
        draft = self.draft()
        is_whole = draft.host and draft.port and (not draft.has_login or self._state.has_password_for(draft))
        if mode != "manual" or is_whole:
            self.taken.emit(draft)
        self._apply_state_theme()

    def _take(self) -> None:
        if self.use_button.isEnabled():
            self.taken.emit(self.draft())

    def _discard(self) -> None:
        self._fill(self._state.kept)
        self._edited()

    def _edited(self, *_: object) -> None:
        for box in self._boxes.values():
            box.show_problem("")
        self._apply_state_theme()

    def _apply_theme(self) -> None:
        self._held.setMaximumWidth(self._theme.type_px(_WIDTH))
        self._boxes["port"].setFixedWidth(self._theme.type_px(_PORT_WIDTH))


def _line(placeholder: str, *, mono: bool = False) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(placeholder)
    if mono:
        field.setProperty("mono", True)
    return field


def _beside(theme: Theme, *boxes: FieldBox, first: int, second: int = 0) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(theme.px(8))
    for box, stretch in zip(boxes, (first, second), strict=True):
        row.addWidget(box, stretch, Qt.AlignmentFlag.AlignTop)
    return row


def _keep_words(place: SecretsState) -> str:
    """Where a password would be kept, before it is entered."""
    if place.ask == "choose":
        return tr("Rialto asks where to keep the password. It is never saved in plain text.")
    if place.is_locked:
        return tr("Rialto asks you to unlock your keys before it saves the password.")
    if place.kind == "session":
        return tr("Kept in memory for this session only, and forgotten when Rialto quits.")
    if place.kind == "passphrase":
        return tr("Kept in a file protected by your passphrase, and sent only to the proxy.")
    return tr("Kept in the system keyring, and sent only to the proxy.")

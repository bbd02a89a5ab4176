"""The inspector of Settings: where secrets are kept here, and how much room the data takes."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core.number_format import size
from app.core.secret_storage import Secrets, SecretsState
from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import rule
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.secrets.unlock import ChangePassphraseDialog
from app.ui.settings.state import SettingsState, UsageRow


class ThisComputer(QWidget):
    def __init__(self, theme: Theme, presenter: SettingsPresenter, secrets: Secrets) -> None:
        super().__init__()
        self._theme = theme
        self._presenter = presenter
        self._secrets = secrets
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        header = PaneHeader(theme, tr("This computer"))
        layout.addWidget(header)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        scroll = ScrollPane()
        scroll.setWidget(inner)
        for ground in (inner, scroll.viewport()):
            ground.setAutoFillBackground(False)
        layout.addWidget(scroll, 1)
        self._column.addWidget(self._place_card())
        self._column.addWidget(self._usage_group())
        self._without_keyring = self._missing_words()
        self._column.addWidget(self._without_keyring)
        self._column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        secrets.state_changed.connect(self.show_place)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_state(presenter.state)
        self.show_place(secrets.state)

    def _place_card(self) -> QWidget:
        theme = self._theme
        card = Card(theme, padding=(14, 14), spacing=12)
        row = QHBoxLayout()
        row.setSpacing(theme.px(12))
        self._place_icon = IconLabel(theme, "shield", "text2", px=20)
        row.addWidget(self._place_icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(0)
        self._place_title = Label(theme, "", weight=600, wrap=True)
        self._place_words = Label(theme, "", "small", "text2", wrap=True)
        words.addWidget(self._place_title)
        words.addWidget(self._place_words)
        row.addLayout(words, 1)
        card.body.addLayout(row)
        self._place_buttons = QWidget()
        buttons = FlowLayout(theme, parent=self._place_buttons)
        self.lock = Button(theme, tr("Lock now"), size="small")
        self.lock.clicked.connect(self._secrets.lock)
        self.unlock = Button(theme, tr("Unlock…"), size="small")
        self.unlock.clicked.connect(self._secrets.unlock)
        self.change = Button(theme, tr("Change passphrase…"), kind="quiet", size="small")
        self.change.clicked.connect(lambda: self._secrets.ask_new_passphrase(self._ask_new_passphrase))
        self.look = Button(theme, tr("Check again"), size="small")
        self.look.clicked.connect(self._secrets.refresh)
        for button in (self.lock, self.unlock, self.change, self.look):
            buttons.addWidget(button)
        card.body.addWidget(self._place_buttons)
        return card

    async def _ask_new_passphrase(self) -> None:
        if await ChangePassphraseDialog(self._theme, self, self._secrets).answer():
            announce(self.change, tr("The passphrase was changed."))

    def _missing_words(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(6))
        column.addWidget(rule())
        column.addWidget(Label(self._theme, tr("If the system keyring is missing"), "small", "text2", weight=600))
        words = tr(
            "Rialto keeps secrets in one file encrypted with your passphrase. It never saves a secret in plain text."
        )
        column.addWidget(Label(self._theme, words, "small", "text2", wrap=True))
        return holder

    def _usage_group(self) -> QWidget:
        theme = self._theme
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(6))
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("History and media"), "small", "text2", weight=600), 1)
        self._total = Label(theme, "", "small", weight=600, tabular=True)
        head.addWidget(self._total)
        column.addLayout(head)
        self._bar = _UsageBar(theme)
        column.addWidget(self._bar)
        parts = QVBoxLayout()
        parts.setSpacing(theme.px(6))
        column.addLayout(parts)
        self._parts: WidgetList[_UsageLine] = WidgetList(parts)
        self._shown: tuple[UsageRow, ...] = ()
        self.open_folder = Button(theme, tr("Open folder"), "folder", size="small")
        self.open_folder.clicked.connect(self._open)
        row = QHBoxLayout()
        row.setContentsMargins(0, theme.px(6), 0, 0)
        row.addWidget(self.open_folder)
        row.addStretch(1)
        column.addLayout(row)
        return holder

    def show_place(self, state: SecretsState) -> None:
        good = state.tone == "ok"
        self._place_icon.set_icon("shield" if good else "lock", state.tone or "text2")
        self._place_title.set_text(state.title)
        self._place_words.set_text(state.sentence)
        self._place_words.setVisible(bool(state.sentence))
        self.lock.setVisible(state.can_lock)
        self.change.setVisible(state.can_lock)
        self.unlock.setVisible(state.is_locked)
        self.unlock.setEnabled(not state.busy)
        known = bool(state.kind or state.ask)
        self.look.setVisible(known and not good)
        self._without_keyring.setVisible(state.kind == "keyring")  # else the card above speaks of it
        self._place_buttons.setVisible(known and (not good or state.can_lock))

    def show_state(self, state: SettingsState) -> None:
        if state.usage == self._shown and state.looked:
            return
        self._shown = state.usage
        self._total.set_text(size(sum(row.size_bytes for row in state.usage)) if state.looked else "")
        self._bar.set_rows(state.usage)
        self._parts.clear()
        for row in state.usage:
            if not row.size_bytes:
                continue
            self._parts.add(_UsageLine(self._theme, row))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._presenter.state.folder))

    def _apply_theme(self) -> None:
        side = self._theme.px(16)
        self._column.setContentsMargins(side, side, side, side)
        self._column.setSpacing(self._theme.px(18))


class _UsageBar(QWidget):
    """Parts of a whole, with a pixel of air between them; the lines below say the same in words."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._rows: tuple[UsageRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.px(12))
        self.setAccessibleName(tr("Disk usage"))

    def set_rows(self, rows: tuple[UsageRow, ...]) -> None:
        self._rows = rows
        self.setAccessibleDescription(", ".join(f"{row.title} {size(row.size_bytes)}" for row in rows))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole = sum(row.size_bytes for row in self._rows)
        area = QRectF(0, 2, self.width(), self.height() - 4)
        solid_frame(painter, self._theme, area, 3, "line", "")
        if not whole:
            return
        painter.setClipRect(area)
        at = 0.0
        for row in self._rows:
            width = area.width() * row.size_bytes / whole
            if width >= 1:
                painter.fillRect(QRectF(at, area.top(), width - 1, area.height()), self._theme.color(row.color))
            at += width


class _UsageLine(QWidget):
    def __init__(self, theme: Theme, row: UsageRow) -> None:
        super().__init__()
        self._theme = theme
        self._color = row.color
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.px(18), 0, 0, 0)
        layout.addWidget(Label(theme, row.title, "small", "text2", elide=True), 1)
        layout.addWidget(Label(theme, size(row.size_bytes), "small", tabular=True))

    def paintEvent(self, event: QPaintEvent) -> None:
        side = self._theme.px(10)
        at = self.width() - side if self.isRightToLeft() else 0
        box = QRectF(at, (self.height() - side) / 2, side, side)
        solid_frame(QPainter(self), self._theme, box, 2, self._color, "")

"""One account as a row: the choice, what it is, what its last test said, and what can be done with it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.spinner import Spinner
from app.ui.settings.accounts.state import AccountRow

_KIND_ROLE = {"sandbox": "sandbox", "api_key": "text2", "wallet": "text2"}
_KIND_WORDS = {"sandbox": tr("Built-in practice service, works offline")}
_CLASS_WORDS = {"paid": tr("Usual"), "partner": tr("Partner"), "staff": tr("Staff")}


class AccountRowWidget(QWidget):
    """`wanted` tells (account id, what): use, test, rename, replace-key, limits:CLASS, remove."""

    wanted = Signal(str, str)

    def __init__(self, theme: Theme, row: AccountRow) -> None:
        super().__init__()
        self._theme = theme
        self._row = row
        self.radio = QRadioButton()
        self.radio.clicked.connect(lambda: self._want("use"))
        self._icon = IconLabel(theme, row.icon, _KIND_ROLE[row.kind], px=20)
        self._name = Label(theme, row.name, elide=True)
        self._in_use = Badge(theme, tr("in use"), "outline")
        self._address = Label(theme, "", "small", "text2", elide=True)
        self._version = Label(theme, "", "small", "text3", elide=True)
        self._said = Label(theme, "", "small", "text2", tabular=True)
        self._detail = Label(theme, "", "small", "text2", tabular=True)
        for label in (self._said, self._detail):
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._spinner = Spinner(theme, px=14)
        self._no_secret = Badge(theme, tr("No secret"), "outline")
        self.do = Button(theme, tr("Use"), size="small")
        self.do.clicked.connect(lambda: self._want("test" if self._row.in_use else "use"))
        self.more = IconButton(theme, "more", tr("More for {name}", name=row.name), size="small")
        self.more.clicked.connect(self.open_menu)
        self._layout = QHBoxLayout(self)
        self._build()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_row(row)

    def _build(self) -> None:
        name = QHBoxLayout()
        name.setSpacing(self._theme.px(6))
        name.addWidget(self._name, 0)
        name.addWidget(self._in_use)
        name.addStretch(1)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addLayout(name)
        words.addWidget(self._address)
        words.addWidget(self._version)
        told = QVBoxLayout()
        told.setSpacing(0)
        told.addStretch(1)
        told.addWidget(self._said)
        told.addWidget(self._detail)
        told.addStretch(1)
        at_start: tuple[QWidget, ...] = (self.radio, self._icon)
        for widget in at_start:
            self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)
        self._layout.addLayout(words, 1)
        self._layout.addLayout(told)
        at_end: tuple[QWidget, ...] = (self._spinner, self._no_secret, self.do, self.more)
        for widget in at_end:
            self._layout.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def show_row(self, row: AccountRow) -> None:
        """Make every widget agree with `row`."""
        self._row = row
        policy = self._name.sizePolicy()
        policy.setHorizontalPolicy(policy.Policy.Maximum)
        self._name.setSizePolicy(policy)
        self._name.set_text(row.name)
        self._name.setFont(self._theme.font("body", 600 if row.in_use else 500))
        self._address.set_text(_KIND_WORDS.get(row.kind, row.address))
        self._version.set_text(row.version)
        self._version.setVisible(bool(row.version))
        self.radio.setChecked(row.in_use)
        self.radio.setAccessibleName(tr("Use {name}", name=row.name))
        self._in_use.setVisible(row.in_use)
        self._icon.set_icon(row.icon, "accent" if row.in_use and row.kind != "sandbox" else _KIND_ROLE[row.kind])
        running = row.test.outcome == "running"
        self._spinner.setVisible(running)
        role = {"ok": "ok", "bad": "bad", "warn": "warn"}.get(row.test.outcome, "text2")
        self._said.set_text(row.test.sentence)
        self._said.set_role(role)
        self._detail.set_text(row.test.detail)
        self._said.setVisible(bool(row.test.sentence))
        self._detail.setVisible(bool(row.test.detail))
        self._no_secret.setVisible(row.kind == "sandbox" and not row.test.sentence)
        self.do.setText(tr("Test") if row.in_use else tr("Use"))
        self.do.setAccessibleName(f"{tr('Test') if row.in_use else tr('Use')} {row.name}")
        self.do.setEnabled(not running)
        self.more.rename(tr("More for {name}", name=row.name))
        self.more.setVisible(row.can_be_removed)
        said = (row.name, self._address.text(), tr("in use") if row.in_use else "")
        self.setAccessibleName(", ".join(filter(None, said)))
        self.setProperty("tint", "accent_tint" if row.in_use else "")
        card = self.parentWidget()
        if card is not None:
            card.update()

    def open_menu(self) -> Menu:
        menu = Menu(self._theme, self)
        menu.add(tr("Test"), "refresh").triggered.connect(lambda: self._want("test"))
        menu.add(tr("Rename…"), "pencil").triggered.connect(lambda: self._want("rename"))
        if self._row.kind == "api_key":
            menu.add(tr("Replace key…"), "key").triggered.connect(lambda: self._want("replace-key"))
        limits = Menu(self._theme, menu)
        limits.setTitle(tr("Rate limits"))
        for limit_class, words in _CLASS_WORDS.items():
            entry = limits.add(words)
            entry.setCheckable(True)
            entry.setChecked(limit_class == self._row.limit_class)
            entry.triggered.connect(partial(self._want, f"limits:{limit_class}"))
        menu.addMenu(limits)
        menu.addSeparator()
        words = tr("Remove…") if self._row.has_private_key else tr("Remove")
        menu.add(words, "trash", role="bad").triggered.connect(lambda: self._want("remove"))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))
        return menu

    def _want(self, what: str) -> None:
        self.radio.setChecked(self._row.in_use)  # the dot moves when the account is really in use
        self.wanted.emit(self._row.id, what)

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(11)
        self._layout.setContentsMargins(across, down, across, down)
        self._layout.setSpacing(self._theme.px(12))
        self._name.setFont(self._theme.font("body", 600 if self._row.in_use else 500))

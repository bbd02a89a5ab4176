"""Keyboard: every action with its key, changed by pressing another one. A key that is taken is refused by name."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.ui.settings.key_capture import KeyCapture
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import SettingsState
from app.ui.shared.announce import announce
from app.ui.shared.buttons import Button, IconButton
from app.ui.shared.key_map import KeyMap, KeyRow, ShortcutRefused
from app.ui.shared.key_text import key_text
from app.ui.shared.label import Label
from app.ui.shared.search_field import SearchField
from app.ui.shared.switch import Switch
from app.ui.shared.theme import Theme


class KeyboardPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter, keys: KeyMap) -> None:
        super().__init__(theme)
        self._keys = keys
        self._by_id: dict[str, _KeyRowWidget] = {}
        self.enter_sends = Switch(theme, "Enter sends the message")
        self.enter_sends.clicked.connect(lambda on: presenter.choose(enter_sends=on))
        writing = RowCard(theme)
        writing.add(
            SettingRow(
                theme,
                "Enter sends the message",
                self.enter_sends,
                meaning="Off: Enter starts a new line, and Ctrl+Enter sends.",
            )
        )
        self.group("Writing", writing)
        self.reset = Button(theme, "Reset all keys", "undo")
        self.reset.clicked.connect(self._reset_all)
        self.filter = SearchField(theme, "Find an action or a key")
        self.filter.search_changed.connect(self._fill)
        self._card_holder = self.group("Shortcuts", self.filter)
        self._cards: list[QWidget] = []
        self.column.addStretch(1)
        keys.changed.connect(self._keys_changed)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)
        self._fill("")

    def header_widgets(self) -> tuple[QWidget, ...]:
        return (self.reset,)

    def show_state(self, state: SettingsState) -> None:
        self.enter_sends.setChecked(state.choices.enter_sends)

    def row(self, action_id: str) -> _KeyRowWidget:
        """The row of one action. Raises KeyError when the filter hides it."""
        return self._by_id[action_id]

    def _fill(self, text: str) -> None:
        layout = self._card_holder.layout()
        assert layout is not None
        for old in self._cards:
            layout.removeWidget(old)
            old.hide()
            old.deleteLater()
        self._cards.clear()
        self._by_id.clear()
        wanted = text.casefold().split()
        keys_typed = " ".join(text.casefold().replace("+", " ").split())
        groups: dict[str, RowCard] = {}
        for row in self._keys.rows():
            name = f"{row.text} {row.group}".casefold()
            in_key = keys_typed in key_text(row.shortcut).casefold() if keys_typed else True
            if not (in_key or all(word in name for word in wanted)):
                continue
            card = groups.get(row.group)
            if card is None:
                card = groups[row.group] = RowCard(self.theme)
                title = Label(self.theme, row.group, "small", "text3", weight=600)
                title.setContentsMargins(0, self.theme.px(8), 0, 0)
                for part in (title, card):
                    layout.addWidget(part)
                    self._cards.append(part)
            widget = _KeyRowWidget(self.theme, self._keys, row)
            self._by_id[row.action_id] = widget
            card.add(widget)
        self.reset.setEnabled(any(row.is_changed for row in self._keys.rows()))

    def _keys_changed(self) -> None:
        rows = {row.action_id: row for row in self._keys.rows()}
        for action_id, widget in self._by_id.items():
            if action_id in rows:
                widget.show_row(rows[action_id])
        self.reset.setEnabled(any(row.is_changed for row in rows.values()))
        if not self.filter.text() and set(rows) != set(self._by_id):
            self._fill("")

    def _reset_all(self) -> None:
        self._keys.reset_all()


class _KeyRowWidget(SettingRow):
    """One action: its key as a button; pressed, it waits for another key."""

    def __init__(self, theme: Theme, keys: KeyMap, row: KeyRow) -> None:
        holder = QWidget()
        line = QHBoxLayout(holder)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.px(4))
        super().__init__(theme, row.text, holder)
        self._theme_used = theme
        self._keys = keys
        self._shown = row
        self._line = line
        self._capture: KeyCapture | None = None
        self.undo = IconButton(theme, "undo", f"Usual key for {row.text}", size="small")
        self.undo.clicked.connect(self._undo)
        self.key = Button(theme, "", size="small")
        self.key.clicked.connect(self.start_capture)
        line.addWidget(self.undo)
        line.addWidget(self.key)
        holder.setAccessibleName("")
        self.show_row(row)

    def show_row(self, row: KeyRow) -> None:
        self._shown = row
        words = key_text(row.shortcut)
        self.key.setText(words or "None")
        self.key.setAccessibleName(f"Key for {row.text}: {words or 'none'}")
        self.undo.setVisible(row.is_changed)

    def start_capture(self) -> None:
        """Wait for a key."""
        if self._capture is not None:
            return
        self.set_meaning("Press the new key. Backspace takes the key away, Esc leaves it as it is.")
        capture = self._capture = KeyCapture(self._theme_used, f"New key for {self._shown.text}", "")
        capture.captured.connect(self._take)
        capture.left.connect(self._stop)
        capture.editingFinished.connect(self._stop)
        self._line.addWidget(capture)
        self.key.hide()
        capture.show()  # what is not on screen yet does not take the focus
        capture.setFocus(Qt.FocusReason.OtherFocusReason)

    def _take(self, shortcut: str) -> None:
        try:
            self._keys.set_shortcut(self._shown.action_id, shortcut)
        except ShortcutRefused as refused:
            self.set_meaning(str(refused), "bad")
            announce(self, str(refused), urgent=True)
            return
        self._stop()

    def _undo(self) -> None:
        try:
            self._keys.reset_shortcut(self._shown.action_id)
        except ShortcutRefused as refused:
            self.set_meaning(str(refused), "bad")
            announce(self, str(refused), urgent=True)
        else:
            self.set_meaning("")

    def _stop(self) -> None:
        capture, self._capture = self._capture, None
        if capture is None:
            return
        had_focus = capture.hasFocus()
        capture.hide()
        capture.deleteLater()
        self.set_meaning("")
        self.key.show()
        if had_focus:
            self.key.setFocus(Qt.FocusReason.OtherFocusReason)

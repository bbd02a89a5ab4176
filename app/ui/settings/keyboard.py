"""Keyboard: every action with its key, changed by pressing another one. A key that is taken is refused by name."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.key_text import key_text
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.shortcut_map import ShortcutMap
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.key_list import KeyListView
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import SettingsState


class KeyboardPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter, keys: ShortcutMap) -> None:
        super().__init__(theme)
        self._keys = keys
        self.enter_sends = Switch(theme, tr("Enter sends message"))
        self.enter_sends.clicked.connect(lambda on: presenter.choose(enter_sends=on))
        writing = RowCard(theme)
        writing.add(
            SettingRow(
                theme,
                tr("Enter sends message"),
                self.enter_sends,
                meaning=tr("When off, Enter starts a new line and Ctrl+Enter sends."),
            )
        )
        self.group(tr("Writing"), writing)
        self.reset = Button(theme, tr("Reset all shortcuts"), "undo")
        self.reset.clicked.connect(keys.reset_all)
        self.filter = SearchField(
            theme, tr("Search shortcuts"), results=lambda: results_words(self.list.rows.rowCount())
        )
        self.filter.search_changed.connect(self._fill)
        self.list = KeyListView(theme, keys)
        how = Label(
            theme, tr("Click a shortcut to change it. Backspace clears it, Esc cancels."), "small", "text2", wrap=True
        )
        self.filter.left.connect(self.list.setFocus)
        FilterKeys(self.list, self.filter, selects_first=True, is_quiet=True)
        self.group(tr("Shortcuts"), how, self.filter, self.list)
        self.column.addStretch(1)
        keys.changed.connect(self._fill)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)
        self._fill()

    def header_widgets(self) -> tuple[QWidget, ...]:
        return (self.reset,)

    def show_state(self, state: SettingsState) -> None:
        self.enter_sends.setChecked(state.choices.enter_sends)

    def _fill(self, _text: str = "") -> None:
        typed = " ".join(self.filter.text().casefold().replace("+", " ").split())
        words = SearchTerms(typed)
        rows = self._keys.rows()
        self.list.rows.set_rows(
            [
                row
                for row in rows
                if words.are_in(row.text, row.group) or (typed and typed in key_text(row.shortcut).casefold())
            ]
        )
        self.reset.setEnabled(any(row.is_changed for row in rows))

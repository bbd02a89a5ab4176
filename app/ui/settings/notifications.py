"""Notifications: whether Rialto notifies while it is in the background.

A module of its own, as each section of Settings is: it is built when it is first shown.
"""

from __future__ import annotations

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import SettingsState


class NotificationsPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self.tell = Switch(theme, "Tell me while I work elsewhere")
        self.tell.clicked.connect(lambda on: presenter.choose(notify=on))
        self.try_it = Button(theme, "Try it", "bell", size="small")
        self.try_it.clicked.connect(presenter.try_notification)
        self._said = SettingRow(
            theme, "Try it now", self.try_it, meaning="Shows one, also while this window is in front."
        )
        card = RowCard(theme)
        card.add(
            SettingRow(
                theme,
                "Tell me while I work elsewhere",
                self.tell,
                meaning="A film that is done, a transcript, a low balance: what is said in a corner of this window.",
            )
        )
        card.add(self._said)
        self.group("", card)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def show_state(self, state: SettingsState) -> None:
        self.tell.setChecked(state.choices.notify)
        if state.notification_problem:
            self._said.set_meaning(state.notification_problem, "bad")

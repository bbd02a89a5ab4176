"""Notifications: whether Rialto notifies while it is in the background.

A module of its own, as each section of Settings is: it is built when it is first shown.
"""

from __future__ import annotations

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import SettingsState


class NotificationsPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self.tell = Switch(theme, tr("Notify me when Rialto is in the background"))
        self.tell.clicked.connect(lambda on: presenter.choose(notify=on))
        self.try_it = Button(theme, tr("Test notification"), "bell", size="small")
        self.try_it.clicked.connect(presenter.try_notification)
        self._said = SettingRow(theme, tr("Test"), self.try_it, meaning=tr("Shown even while this window is in front."))
        seconds = [(each, tr("{n} s", n=each)) for each in ("6", "15", "30")]
        self.stay = SegmentedChoice(theme, tr("Notices in the window stay"), [*seconds, ("", tr("Until closed"))])
        self.stay.changed.connect(lambda stay: presenter.choose(notice_seconds=stay))
        card = RowCard(theme)
        card.add(
            SettingRow(
                theme,
                tr("Notify me when Rialto is in the background"),
                self.tell,
                meaning=tr("A finished video, a transcript, a low balance."),
            )
        )
        card.add(self._said)
        card.add(
            SettingRow(
                theme,
                tr("Notices in the window stay"),
                self.stay,
                meaning=tr("Longer while the pointer or keyboard focus is on one. Errors always stay until closed."),
            )
        )
        self.group("", card)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def show_state(self, state: SettingsState) -> None:
        self.tell.setChecked(state.choices.notify)
        self.stay.set_current(state.choices.notice_seconds)
        if state.notification_problem:
            self._said.set_meaning(state.notification_problem, "bad")

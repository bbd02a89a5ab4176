"""Privacy and data: what may load, where everything lies, what left this computer."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow, value_label
from app.ui.settings.state import SettingsState
from app.ui.shared.buttons import Button
from app.ui.shared.call_log import HostCalls
from app.ui.shared.label import Label
from app.ui.shared.money import count, when
from app.ui.shared.switch import Switch
from app.ui.shared.theme import Theme


class PrivacyPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self.pictures = Switch(theme, "Load pictures from other sites")
        self.pictures.clicked.connect(lambda on: presenter.choose(load_remote_pictures=on))
        self.links = Switch(theme, "Ask before opening links")
        self.links.clicked.connect(lambda on: presenter.choose(confirm_links=on))
        loading = RowCard(theme)
        loading.add(
            SettingRow(
                theme,
                "Load pictures from other sites",
                self.pictures,
                meaning="Off: nothing in an answer or a character makes this computer call another one.",
            )
        )
        loading.add(SettingRow(theme, "Ask before opening links", self.links, meaning="Shows the whole address first."))
        self.group("Loading", loading)

        self.open_folder = Button(theme, "Open folder", "folder", size="small")
        self.open_folder.clicked.connect(self._open_folder)
        self._folder = SettingRow(theme, "Data folder", self.open_folder)
        self._backup_value = value_label(theme)
        self._backup = SettingRow(
            theme, "Last good backup", self._backup_value, meaning="A copy counts only after it was opened and checked."
        )
        data = RowCard(theme)
        data.add(self._folder)
        data.add(self._backup)
        self.group("Data", data)

        self._hosts = RowCard(theme)
        words = "Rialto has no telemetry, sends no crash reports, and looks for new versions only when you ask it to."
        self.group(
            "What left this computer since Rialto was started",
            self._hosts,
            Label(theme, words, "small", "text2", wrap=True),
        )
        self.column.addStretch(1)
        self._shown_hosts: tuple[HostCalls, ...] | None = None
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def shown(self) -> None:
        self._presenter.look_at_data()

    def show_state(self, state: SettingsState) -> None:
        self.pictures.setChecked(state.choices.load_remote_pictures)
        self.links.setChecked(state.choices.confirm_links)
        self._folder.set_meaning(state.folder)
        if state.last_backup is not None:
            self._backup_value.set_text(when(state.last_backup, datetime.now(UTC)))
        else:
            self._backup_value.set_text("None yet" if state.looked else "")
        if state.hosts != self._shown_hosts:
            self._shown_hosts = state.hosts
            self._fill_hosts(state.hosts)

    def _fill_hosts(self, hosts: tuple[HostCalls, ...]) -> None:
        self._hosts.empty()
        if not hosts:
            self._hosts.add(SettingRow(self.theme, "Nothing yet", meaning="No host was called since the start."))
        for host in hosts:
            self._hosts.add(self._host_row(host))

    def _host_row(self, host: HostCalls) -> QWidget:
        calls = f"{count(host.calls)} {'call' if host.calls == 1 else 'calls'}"
        title = host.host or "The Sandbox"
        meaning = "On this computer: nothing left it." if host.is_here else "The address of your account."
        return SettingRow(self.theme, title, value_label(self.theme, calls), meaning=meaning)

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._presenter.state.folder))

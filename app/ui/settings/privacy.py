"""Privacy: what may load, and what left this computer."""

from __future__ import annotations

from uuid import uuid4

from PySide6.QtWidgets import QWidget

from app.core.call_log import HostCalls
from app.translation import tr, tr_n
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow, value_label
from app.ui.settings.state import SettingsState

PURPOSES = {
    "enclave": tr("Asked about an enclave’s processors."),
    "images": tr("Images that authors of characters put there."),
    "updates": tr("Asked for the latest version."),
}


class PrivacyPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self.pictures = Switch(theme, tr("Load images from other sites"))
        self.pictures.clicked.connect(lambda on: presenter.choose(load_remote_pictures=on))
        loading = RowCard(theme)
        loading.add(
            SettingRow(
                theme,
                tr("Load images from other sites"),
                self.pictures,
                meaning=tr("Off: answers and characters cannot contact other sites."),
            )
        )
        self.group(tr("Loading"), loading)

        words = tr("Keep me apart from others")
        self.apart = Switch(theme, words)
        self.apart.clicked.connect(lambda on: presenter.choose(anon_user_id=uuid4().hex if on else ""))
        shared = RowCard(theme)
        meaning = tr("On: chats carry a random ID, so the service can tell apart people who share a key.")
        shared.add(SettingRow(theme, words, self.apart, meaning=meaning))
        self.group(tr("Shared keys"), shared)

        words = tr("Ask Intel about enclaves")
        self.intel = Switch(theme, words)
        self.intel.clicked.connect(lambda on: presenter.choose(ask_intel=on))
        sealed = RowCard(theme)
        meaning = tr(
            "On: Intel’s servers say whether an enclave’s processor is up to date and not revoked. They learn your IP "
            "address and the processor type, but nothing about the chat."
        )
        sealed.add(SettingRow(theme, words, self.intel, meaning=meaning))
        words = tr("Ask NVIDIA about graphics processors")
        self.nvidia = Switch(theme, words)
        self.nvidia.clicked.connect(lambda on: presenter.choose(ask_nvidia=on))
        meaning = tr(
            "On: NVIDIA’s servers say whether an enclave’s graphics processors are genuine. They learn your IP address "
            "and which processors these are, but nothing about the chat."
        )
        sealed.add(SettingRow(theme, words, self.nvidia, meaning=meaning))
        self.group(tr("Sealed chats"), sealed)

        self.adult = Switch(theme, tr("Show adult characters"))
        self.adult.clicked.connect(lambda on: presenter.choose(show_adult=on))
        characters = RowCard(theme)
        characters.add(
            SettingRow(
                theme,
                tr("Show adult characters"),
                self.adult,
                meaning=tr("Off: characters marked as adult are never listed. On: the gallery has a filter."),
            )
        )
        self.group(tr("Characters"), characters)

        self._hosts = RowCard(theme)
        words = tr(
            "Rialto has no telemetry, sends no crash reports, and looks for new versions only when you ask it to."
        )
        self.group(
            tr("Requests sent since start"),
            self._hosts,
            Label(theme, words, "small", "text2", wrap=True),
        )
        self.column.addStretch(1)
        self._shown_hosts: tuple[HostCalls, ...] | None = None
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def show_state(self, state: SettingsState) -> None:
        self.pictures.setChecked(state.choices.load_remote_pictures)
        self.apart.setChecked(bool(state.choices.anon_user_id))
        self.intel.setChecked(state.choices.ask_intel)
        self.nvidia.setChecked(state.choices.ask_nvidia)
        self.adult.setChecked(state.choices.show_adult)
        if state.hosts != self._shown_hosts:
            self._shown_hosts = state.hosts
            self._fill_hosts(state.hosts)

    def _fill_hosts(self, hosts: tuple[HostCalls, ...]) -> None:
        self._hosts.empty()
        if not hosts:
            self._hosts.add(SettingRow(self.theme, tr("Nothing yet"), meaning=tr("No requests since start.")))
        for host in hosts:
            self._hosts.add(self._host_row(host))

    def _host_row(self, host: HostCalls) -> QWidget:
        calls = tr_n("{n} request", "{n} requests", host.calls)
        title = host.host or tr("The Sandbox")
        meaning = tr("On this computer. Nothing leaves it.") if host.is_here else tr("Your account’s address.")
        if host.purpose:
            meaning = PURPOSES[host.purpose]
        return SettingRow(self.theme, title, value_label(self.theme, calls), meaning=meaning)

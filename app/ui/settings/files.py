"""Files and folders: locations, sizes, backups, and removing everything."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout

from app.core.number_format import size
from app.core.time_format import when
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.label import Label
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow, value_label
from app.ui.settings.state import SettingsState, UsageRow


class FilesPage(SectionPage):
    """`removal_requested` asks for everything to be removed; the question comes after it."""

    removal_requested = Signal()

    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._kinds = RowCard(theme)
        words = tr("Only your user account can read these files. Items you delete go to the trash first.")
        self.group(tr("Storage"), self._kinds, Label(theme, words, "small", "text2", wrap=True))
        self._backup_value = value_label(theme)
        copies = RowCard(theme)
        copies.add(
            SettingRow(
                theme,
                tr("Last good backup"),
                self._backup_value,
                meaning=tr("Chats and receipts, once per day. Each backup is opened and checked."),
            )
        )
        self.group(tr("Backups"), copies)
        self.remove = Button(theme, tr("Remove everything…"), kind="danger")
        self.remove.clicked.connect(self.removal_requested)
        words = tr("Deletes all of the above, your settings, accounts and keys. Rialto then quits.")
        row = QHBoxLayout()
        row.addWidget(Label(theme, words, role="text2", wrap=True), 1)
        row.addSpacing(theme.px(12))
        row.addWidget(self.remove)
        holder = self.group(tr("Remove everything"))
        layout = holder.layout()
        assert layout is not None
        layout.addLayout(row)  # type: ignore[attr-defined]  # a group's layout is a box
        self.column.addStretch(1)
        self._shown: tuple[UsageRow, ...] = ()
        presenter.state_changed.connect(self.show_state)
        Ticker(self, lambda: self.show_state(presenter.state))
        self.show_state(presenter.state)

    def shown(self) -> None:
        self._presenter.measure_data()

    def show_state(self, state: SettingsState) -> None:
        if state.last_backup is not None:
            self._backup_value.set_text(when(state.last_backup, datetime.now(UTC)))
        else:
            self._backup_value.set_text(tr("None yet") if state.looked else "")
        if state.usage == self._shown:
            return
        self._shown = state.usage
        self._kinds.empty()
        for kind in state.usage:
            self._kinds.add(self._row(kind))

    def _row(self, kind: UsageRow) -> SettingRow:
        row = SettingRow(self.theme, kind.title, value_label(self.theme, size(kind.size_bytes)), meaning=kind.folder)
        open_folder = Button(self.theme, tr("Open"), "folder", size="small")
        open_folder.setAccessibleName(tr("Open folder: {title}", title=kind.title))
        open_folder.setEnabled(kind.exists)
        open_folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(kind.folder)))
        row.add(open_folder)
        return row

"""About Rialto: version, whether there is a newer one, what it is built with, and whose work that is."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.tasks import TaskScope
from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.links import LinkOpener
from app.ui.kit.widgets.nav_list import NavList, Place
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.about.presenter import AboutPresenter
from app.ui.settings.about.state import AboutState, Part
from app.ui.settings.fact_card import FactCard
from app.ui.settings.rows import RowCard, SectionPage, SettingRow

_NEVER = tr("Rialto checks only when you ask it to, and never installs anything automatically.")


class AboutPage(SectionPage):
    def __init__(self, theme: Theme, presenter: AboutPresenter, tasks: TaskScope, version: str) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._tasks = tasks
        self._version = version
        self._parts: tuple[Part, ...] = ()
        self._opener = LinkOpener(theme, self, tasks)
        card = Card(theme, padding=(20, 18), spacing=0)
        row = QHBoxLayout()
        row.setSpacing(theme.px(16))
        row.addWidget(IconLabel(theme, "logo", "accent", px=44))
        words = Label(
            theme,
            tr("Version {version}, MIT license. No telemetry, no Rialto account.", version=version),
            wrap=True,
            lead=tr("Rialto."),
        )
        row.addWidget(words, 1)
        self.copy = Button(theme, tr("Copy version details"), "copy", size="small")
        self.copy.clicked.connect(self._copy)
        row.addWidget(self.copy)
        card.body.addLayout(row)
        self.group("", card)
        self.group(tr("Updates"), self._updates())
        self.read = Button(theme, tr("Licenses…"), "document", size="small")
        self.read.clicked.connect(lambda: tasks.start_unless_running("licences", self._read))
        self.read.setEnabled(False)
        self.read.setToolTip(tr("The licenses are still loading."))
        beside = QHBoxLayout()
        beside.addWidget(self.read)
        beside.addStretch(1)
        holder = QWidget()
        self._shipped = QVBoxLayout(holder)
        self._shipped.setContentsMargins(0, 0, 0, 0)
        self._shipped.setSpacing(theme.px(12))
        self._shipped.addLayout(beside)  # over the list, which is long
        self.group(tr("Built with"), holder)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def _updates(self) -> QWidget:
        theme = self.theme
        self.look = Button(theme, tr("Check now"), "refresh", size="small")
        self.look.clicked.connect(self._presenter.look)
        self.open_page = Button(theme, tr("Release notes"), "external-link", size="small")
        self.open_page.clicked.connect(lambda: self._opener.ask(self._presenter.state.page))
        self._newest = SettingRow(theme, tr("Latest version"), self.look, meaning=_NEVER)
        self._newest.add(self.open_page)
        self.at_start = Switch(theme, tr("Check at start"))
        self.at_start.clicked.connect(lambda on: self._presenter.choose(looks_at_start=on))
        self._start = SettingRow(theme, tr("Check at start"), self.at_start)
        self._start.hide()
        self._rows = RowCard(theme)
        self._rows.add(self._newest)
        return self._rows

    def shown(self) -> None:
        self._presenter.begin()

    def show_state(self, state: AboutState) -> None:
        """Make every widget agree with `state`."""
        asks = bool(state.host)
        self._newest.set_meaning(tr("Checking…") if state.looking else state.sentence or _NEVER, state.tone or "text2")
        self.look.setVisible(asks)
        self.look.setEnabled(not state.looking)
        self.open_page.setVisible(bool(state.page))
        if asks and self._start.parent() is None:  # a row that is hidden would leave its line behind
            self._rows.add(self._start)
        self.at_start.setChecked(state.looks_at_start)
        self._start.set_meaning(
            tr(
                "Asks {host} for its signed list, at most once per day. It learns only your IP address and that you "
                "use Rialto.",
                host=state.host,
            )
        )
        if state.parts != self._parts:
            self._parts = state.parts
            facts = tuple((part.title, part.words, "") for part in state.parts)
            self._shipped.addWidget(FactCard(self.theme, tr("Built with"), facts))
            self.read.setEnabled(True)

    def details(self) -> str:
        """What support asks for first."""
        return (
            f"Rialto {self._version}\nPython {platform.python_version()}, Qt {qVersion()}\n"
            f"{platform.system()} {platform.release()} {platform.machine()}\n{QGuiApplication.platformName()}"
        )

    def _copy(self) -> None:
        """Put the details on the clipboard."""
        QGuiApplication.clipboard().setText(self.details())
        self.copy.setText(tr("Copied"))

    async def _read(self) -> None:
        await LicensesDialog(self.theme, self.window(), self._parts).answer()


_WIDTH, _HEIGHT = 1020, 460  # eighty letters beside the list
_LIST_WIDTH = 260
_NO_TEXT = tr("Its authors name the license above but do not include its text.")


class LicensesDialog(Dialog):
    def __init__(self, theme: Theme, parent: QWidget, parts: Sequence[Part]) -> None:
        super().__init__(theme, parent, tr("Licenses"), width=_WIDTH)
        self._parts = parts
        self.list = NavList(theme, tr("Components"))
        self.list.setFixedWidth(theme.type_px(_LIST_WIDTH))
        self.list.set_places([Place(str(index), part.title) for index, part in enumerate(parts)])
        self.list.chosen.connect(self._show)
        self.words = TextArea()
        self.words.setReadOnly(True)
        self.words.setAccessibleName(tr("License"))
        self.words.setFont(theme.font("code"))
        row = QHBoxLayout()
        row.setSpacing(theme.px(12))
        row.addWidget(self.list)
        row.addWidget(self.words, 1)
        for widget in (self.list, self.words):
            widget.setMinimumHeight(theme.px(_HEIGHT))
        self.body.addLayout(row, 1)
        self.add_button(tr("Close"), accepts=True, default=True)
        if parts:
            self.list.set_current("0")
            self._show("0")
        self.list.setFocus()

    def _show(self, key: str) -> None:
        part = self._parts[int(key)]
        self.words.setPlainText(f"{part.title}\n{part.words}\n\n{part.text.strip() or _NO_TEXT}\n")

"""What was checked: each check of an enclave with its value, what was not checked and why, and who was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core import time_format
from app.translation import tr
from app.ui.chat.chat_header import LOCK_ROLES
from app.ui.chat.session.seal import SealIndicator, SealState
from app.ui.kit.discard import WidgetList
from app.ui.kit.lists.read_lines import ReadLines
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from app.core.seal_report import Measurement, SealReport
    from app.ui.kit.theme import Theme

WIDTH = 640
NOT_CHECKED, FAILED = "not checked", "failed"
_SIGNS = {
    "passed": ("check-circle", "ok", tr("Passed")),
    "noted": ("info", "warn", tr("Note")),
    NOT_CHECKED: ("minus", "text3", tr("Not checked")),
    FAILED: ("error", "bad", tr("Failed")),
}
_STILL_SEEN = tr(
    "The service still sees your account, the model, roles, times, and how long each message is. One that "
    "tampers with your messages could put its own key in place of yours. Only a matching receipt rules that out. No "
    "one publishes which program an enclave should run, so no check can prove that it runs the right one."
)


class SealDialog(Dialog):
    """`show_reports` fills it; the newest check is shown, earlier ones of the same chat can be chosen."""

    check_requested = Signal()
    save_requested = Signal(object)  # the evidence of the check that is shown, bytes

    def __init__(self, theme: Theme, parent: QWidget, *, asks: tuple[bool, bool]) -> None:
        """`asks`: whether Intel's servers may be asked, and NVIDIA's; `intel` and `nvidia` are the switches."""
        super().__init__(theme, parent, tr("What was checked"), width=WIDTH)
        self._reports: tuple[SealReport, ...] = ()
        self._lock = SealIndicator()
        self._state = IconLabel(theme, "unlock", px=20)
        self._words = Label(theme, "", "reading", weight=600)
        self._detail = Label(theme, "", role="text2", wrap=True)
        self.checks = ChoiceField(theme, tr("Check"), small=True)
        self.checks.currentIndexChanged.connect(lambda _place: self._fill())
        head = QHBoxLayout()
        head.addWidget(self._state)
        head.addWidget(self._words, 1)
        head.addWidget(self.checks)
        self.body.addLayout(head)
        self.body.addWidget(self._detail)
        self._inside = QVBoxLayout()
        self._inside.setSpacing(theme.px(12))
        self.body.addLayout(self._inside)
        self._parts: WidgetList[QWidget] = WidgetList(self._inside)
        third_hosts = Card(theme, padding=(14, 10), spacing=4)
        self.intel = self._consent(
            third_hosts,
            tr("Ask Intel about enclaves"),
            tr(
                "Intel’s servers say whether the processor is up to date and not revoked. They learn your IP address "
                "and the processor type, but nothing about the chat."
            ),
            is_on=asks[0],
        )
        third_hosts.body.addSpacing(theme.px(6))
        self.nvidia = self._consent(
            third_hosts,
            tr("Ask NVIDIA about graphics processors"),
            tr(
                "NVIDIA’s servers say whether the graphics processors are genuine. They learn your IP address and "
                "which processors these are, but nothing about the chat."
            ),
            is_on=asks[1],
        )
        self.body.addWidget(third_hosts)
        self.body.addWidget(Label(theme, _STILL_SEEN, "small", "text2", wrap=True))
        self.save = self.add_button(tr("Save evidence…"))
        self.save.clicked.connect(self._save)
        self.check = self.add_button(tr("Check again"))
        self.check.clicked.connect(self.check_requested)
        self.add_button(tr("Close"), kind="primary", accepts=True, default=True).setFocus()

    def _consent(self, card: Card, title: str, words: str, *, is_on: bool) -> Switch:
        theme = self._theme
        switch = Switch(theme, title)
        switch.setChecked(is_on)
        switch.setAccessibleDescription(words)
        top = QHBoxLayout()
        top.addWidget(Label(theme, title, weight=500), 1)
        top.addWidget(switch)
        card.body.addLayout(top)
        card.body.addWidget(Label(theme, words, "small", "text2", wrap=True))
        return switch

    # Showing

    def show_reports(self, lock: SealIndicator, reports: tuple[SealReport, ...]) -> None:
        """Show the lock's state and the newest of the checks, or the one that is looked at."""
        self._lock = lock
        self._state.set_icon(lock.icon, LOCK_ROLES[lock.state])
        self._words.set_text(lock.words)
        self._detail.set_text(lock.detail)
        before, now = len(self._reports), len(reports)
        self._reports = reports
        place = self.checks.currentIndex() if before == now else 0
        self.checks.blockSignals(True)
        self.checks.clear()
        for report in reports:
            self.checks.addItem(time_format.moment(report.checked_at.astimezone()))
        self.checks.setCurrentIndex(max(0, place))
        self.checks.blockSignals(False)
        self.checks.setVisible(now > 1)
        self.save.setEnabled(bool(reports))
        self.save.setToolTip("" if reports else tr("Nothing has been checked yet."))
        self.check.setVisible(lock.is_on)
        self._fill()
        self._fit()

    @property
    def shown(self) -> SealReport | None:
        """The check that is shown."""
        place = self.checks.currentIndex()
        return self._reports[place] if 0 <= place < len(self._reports) else None

    def _save(self) -> None:
        if self.shown is not None:
            self.save_requested.emit(self.shown.evidence)

    def _fill(self) -> None:
        self._parts.clear()
        report = self.shown
        if report is None:
            words = tr("This chat’s enclave was not checked.") if self._lock.is_on else tr("Nothing was checked.")
            self._parts.add(Label(self._theme, words, role="text2", wrap=True))
            return
        checks = report.checks
        if self._lock.state is SealState.REFUSED and not any(each.outcome is FAILED for each in checks):
            broken = CheckLine(self._theme, tr("Last answer"), "", FAILED, self._lock.detail)
            self._section(tr("Refused"), [broken])
        done = [each for each in checks if each.outcome is not NOT_CHECKED]
        left = [each for each in checks if each.outcome is NOT_CHECKED]
        about = tr(
            "{model}, checked {time}", model=report.model, time=time_format.moment(report.checked_at.astimezone())
        )
        self._section(tr("Checked on this computer"), [CheckLine(self._theme, *each) for each in done], about)
        if left:
            self._section(tr("Not checked"), [CheckLine(self._theme, *each) for each in left])
        if report.measurements:
            since = tr("First seen {time}.", time=time_format.moment(report.first_seen)) if report.first_seen else ""
            lines = [MeasurementLine(self._theme, each) for each in report.measurements]
            self._section(tr("Measurements"), lines, since)
        asked = [Label(self._theme, host, "small", mono=True, wrap=True) for host in report.hosts]
        for label, host in zip(asked, report.hosts, strict=True):
            label.setAccessibleName(host)
        name = report.root_name
        root = tr("The certificates end at “{root}”.", root=name)
        if not report.is_intel:
            root = tr("The certificates end at “{root}”, not at Intel. They prove nothing about hardware.", root=name)
        self._section(tr("Hosts contacted"), asked, root if name else "")

    def _section(self, title: str, lines: Sequence[QWidget], about: str = "") -> None:
        theme = self._theme
        card = Card(theme, padding=(14, 10), spacing=8)
        card.body.addWidget(Label(theme, title, "small", "text2", weight=600))
        if about:
            card.body.addWidget(Label(theme, about, "small", "text2", wrap=True))
        walked = ReadLines(card)
        for line in lines:
            card.body.addWidget(line)
            walked.add(line)
        self._parts.add(card)


class CheckLine(QWidget):
    """One check: its outcome as a sign, its name, its value, and the sentence that goes with it."""

    def __init__(self, theme: Theme, title: str, value: str, outcome: str, reason: str) -> None:
        super().__init__()
        icon, role, word = _SIGNS[outcome]
        self.setAccessibleName(", ".join(filter(None, (tr("{word}: {title}", word=word, title=title), value, reason))))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(IconLabel(theme, icon, role, px=16), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(theme.px(1))
        top = QHBoxLayout()
        top.setSpacing(theme.px(12))
        top.addWidget(Label(theme, title, "small", weight=500))
        shown = Label(theme, value, "small", "text2", mono=True, elide=True)
        shown.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        top.addWidget(shown, 1)
        column.addLayout(top)
        if reason:
            column.addWidget(Label(theme, reason, "small", "bad" if role == "bad" else "text2", wrap=True))
        row.addLayout(column, 1)


class MeasurementLine(QWidget):
    """One measurement, and the one first seen where that was another."""

    def __init__(self, theme: Theme, measurement: Measurement) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(1))
        changed = bool(measurement.first)
        said = []
        for name, value in (
            (measurement.name, measurement.value),
            *(((tr("{name}, first seen", name=measurement.name), measurement.first),) if changed else ()),
        ):
            row = QHBoxLayout()
            row.setSpacing(theme.px(12))
            row.addWidget(Label(theme, name, "small", "warn" if changed else "text2", weight=500))
            row.addWidget(Label(theme, value, "small", "text2", mono=True, elide=True), 1)
            column.addLayout(row)
            said += [name, value]
        if changed:
            said.append(tr("Changed since first seen."))
            column.addWidget(Label(theme, said[-1], "small", "warn", wrap=True))
        self.setAccessibleName(", ".join(said))

"""The test of the way: an address, a button, and a row for each hop with its state, its time and a sentence."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Spinner
from app.ui.kit.widgets.surfaces import rule
from app.ui.settings.connection.state import ConnectionState, HopRow
from app.ui.settings.connection.words import STATES
from app.ui.settings.fields import FieldBox

_ICONS = {
    "ok": ("check-circle", "ok"),
    "bad": ("error", "bad"),
    "skipped": ("minus", "text3"),
    "waiting": ("clock", "text3"),
    "running": ("clock", "text2"),
}


class ConnectionTestCard(QWidget):
    """`wanted` carries the address that was typed, "" for the usual one; `stop_requested` ends a walk."""

    wanted = Signal(str)
    stop_requested = Signal()
    failed = Signal(object)  # the row (QWidget) of the hop that failed

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._told = ""
        self.rows: dict[str, _HopLine] = {}
        self.address = QLineEdit()
        self.address.setProperty("mono", True)
        self.address.returnPressed.connect(self._press)
        self._box = FieldBox(theme, tr("Service address"), self.address)
        self.button = Button(theme, tr("Test connection"))
        self.button.clicked.connect(self._press)
        self._running = False
        self._icon = IconLabel(theme, "check-circle", "ok", px=16)
        self._summary = Label(theme, "", weight=500, wrap=True)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.setSpacing(0)
        self._head = QWidget()
        self._head_column = QVBoxLayout(self._head)
        top = QHBoxLayout()
        top.setSpacing(theme.px(8))
        top.addWidget(self._box, 1, Qt.AlignmentFlag.AlignTop)
        aside = QVBoxLayout()
        aside.setSpacing(theme.px(5))
        self._level = Label(theme, " ", "small")  # as high as the field's label, so that button and field share a line
        aside.addWidget(self._level)
        aside.addWidget(self.button)
        aside.addStretch(1)
        top.addLayout(aside)
        self._head_column.addLayout(top)
        self._summary_row = QWidget()
        said = QHBoxLayout(self._summary_row)
        said.setContentsMargins(0, 0, 0, 0)
        said.setSpacing(theme.px(6))
        said.addWidget(self._icon)
        said.addWidget(self._summary, 1)
        self._head_column.addWidget(self._summary_row)
        outer.addWidget(self._head)
        lines = QVBoxLayout()
        lines.setSpacing(0)
        outer.addLayout(lines)
        self._lines: WidgetList[QWidget] = WidgetList(lines)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_state(self, state: ConnectionState) -> None:
        """Make every row agree with the test."""
        test = state.test
        self._running = test.outcome == "running"
        self.address.setPlaceholderText(state.address)
        self._box.show_problem(test.problem)
        self.button.setText(tr("Stop") if self._running else tr("Test connection"))
        self._summary_row.setVisible(bool(test.sentence))
        self._summary.set_text(test.sentence)
        role = {"ok": "ok", "bad": "bad"}.get(test.outcome, "text2")
        self._summary.set_role(role)
        self._icon.set_icon({"ok": "check-circle", "bad": "error"}.get(test.outcome, "clock"), role)
        if list(self.rows) != [row.name for row in test.hops]:
            self._fill(test.hops)
        for row in test.hops:
            self.rows[row.name].show_row(row)
        if test.sentence != self._told:
            self._told = test.sentence
            failed = next((f" {row.sentence}" for row in test.hops if row.state == "bad"), "")
            if failed:
                self.failed.emit(next(self.rows[row.name] for row in test.hops if row.state == "bad"))
            if test.sentence:
                announce(self.button, test.sentence + failed, urgent=test.outcome == "bad")

    def _fill(self, hops: tuple[HopRow, ...]) -> None:
        self._lines.clear()
        self.rows.clear()
        for hop in hops:
            self._lines.add(rule())
            line = _HopLine(self._theme)
            self.rows[hop.name] = line
            self._lines.add(line)
            line.show()

    def _press(self) -> None:
        if self._running:
            self.stop_requested.emit()
        else:
            self.wanted.emit(self.address.text())

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(14)
        self._head_column.setContentsMargins(across, down, across, down)
        self._head_column.setSpacing(self._theme.px(10))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), self._theme.px(8), "surface", "line")


class _HopLine(QWidget):
    """One hop: how it stands, what it is, what became of it, how long it took."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._icon = IconLabel(theme, "clock", "text3", px=16)
        self._spinner = Spinner(theme, px=16)
        self.title = Label(theme, "", weight=500, wrap=True)
        self.sentence = Label(theme, "", "small", "text2", wrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._took = Label(theme, "", "small", "text2", tabular=True)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(self._spinner, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.title)
        words.addWidget(self.sentence)
        self._row.addLayout(words, 1)
        self._row.addWidget(self._took, 0, Qt.AlignmentFlag.AlignTop)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_row(self, row: HopRow) -> None:
        running = row.state == "running"
        self._spinner.setVisible(running)
        self._icon.setVisible(not running)
        self._icon.set_icon(*_ICONS[row.state])
        self.title.set_text(row.title)
        self.title.set_role({"bad": "bad", "skipped": "text2", "waiting": "text2"}.get(row.state, "text"))
        self.sentence.set_text(row.sentence)
        self.sentence.set_role("text" if row.state == "bad" else "text2")
        self.sentence.setVisible(bool(row.sentence))
        self._took.set_text(row.took)
        self.setAccessibleName(f"{row.title}: {STATES[row.state]}")
        self.setAccessibleDescription(" ".join(part for part in (row.sentence, row.took) if part))

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(8)
        self._row.setContentsMargins(across, down, across, down)
        self._row.setSpacing(self._theme.px(10))

"""Rows of a form: a label above its field or beside it, two fields side by side, and below each why it is off."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import TextField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import set_property, zone
from app.ui.kit.widgets.switch import Switch


class Reason(QWidget):
    """One line that says why a field is off, or what is wrong with what stands in it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(5))
        self._icon = IconLabel(theme, "info", "text3", px=14)
        self.label = Label(theme, "", "small", "text2", wrap=True)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.label, 1)
        self.hide()

    def say(self, sentence: str, *, bad: bool = False) -> None:
        self._icon.set_icon("warning" if bad else "info", "bad" if bad else "text3")
        self.label.set_role("bad" if bad else "text2")
        self.label.set_text(sentence)
        self.setVisible(bool(sentence))


class FormRows(QWidget):
    """The rows, by the name of the field they set."""

    def __init__(self, theme: Theme, *, margins: bool = True) -> None:
        super().__init__()
        self._theme = theme
        self._has_margins = margins
        zone(self, "pane")
        self._column = QVBoxLayout(self)
        self._column.addStretch(1)  # not an alignment: that goes by the size of texts that are not wrapped
        self._labels: dict[str, Label] = {}
        self._fields: dict[str, QWidget] = {}
        self._reasons: dict[str, Reason] = {}
        self._holders: dict[str, QWidget] = {}
        self._notes: dict[str, str] = {}
        self._roles: dict[str, str] = {}
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        px = self._theme.px
        side, top = (px(16), px(14)) if self._has_margins else (0, 0)
        self._column.setContentsMargins(side, top, side, top)
        self._column.setSpacing(px(12))

    def add(
        self, name: str, title: str, field: QWidget, *, counter: bool = False, beside: QWidget | None = None
    ) -> Label:
        """A label above its field, perhaps with something `beside` it; returns what counts at the right of that."""
        holder, count = self._above(name, title, field, beside=beside)
        self._put(holder)
        count.setVisible(counter)
        return count

    def add_pair(self, *fields: tuple[str, str, QWidget]) -> None:
        """Two fields side by side, each with its label above."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(4))
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(12))
        column.addLayout(row)
        for name, title, field in fields:
            holder, count = self._above(name, title, field, with_reason=False)
            count.hide()
            row.addWidget(holder, 1, Qt.AlignmentFlag.AlignTop)
            column.addWidget(self._reasons[name])  # across both: a sentence needs the room
        self._put(whole)

    def add_beside(self, name: str, title: str, field: QWidget) -> None:
        """A label at the left of its field."""
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(4))
        row = QHBoxLayout()
        label = Label(self._theme, title)
        label.setBuddy(field)
        label.setMinimumWidth(self._theme.type_px(76))
        row.addWidget(label)
        row.addWidget(field, 1)
        column.addLayout(row)
        self._note(name, holder, label, field)
        column.addWidget(self._reasons[name])
        self._put(holder)

    def add_switch(self, name: str, title: str, switch: Switch) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(4))
        row = QHBoxLayout()
        label = Label(self._theme, title, wrap=True)
        label.setBuddy(switch)
        row.addWidget(label, 1)
        row.addWidget(switch)
        column.addLayout(row)
        self._note(name, holder, label, switch)
        column.addWidget(self._reasons[name])
        self._put(holder)

    def _put(self, widget: QWidget) -> None:
        self._column.insertWidget(self._column.count() - 1, widget)

    def add_whole(self, widget: QWidget) -> None:
        self._put(widget)

    def _above(
        self, name: str, title: str, field: QWidget, *, with_reason: bool = True, beside: QWidget | None = None
    ) -> tuple[QWidget, Label]:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(5))
        head = QHBoxLayout()
        label = Label(self._theme, title, "small", "text2", weight=500)
        label.setBuddy(field)
        count = Label(self._theme, "", "small", "text3", tabular=True)
        head.addWidget(label, 1)
        if beside is not None:
            head.addWidget(beside)
        head.addWidget(count)
        column.addLayout(head)
        column.addWidget(field)
        self._note(name, holder, label, field, "text2")
        if with_reason:
            column.addWidget(self._reasons[name])
        return holder, count

    def _note(self, name: str, holder: QWidget, label: Label, field: QWidget, role: str = "text") -> None:
        self._roles[name] = role
        self._labels[name], self._fields[name], self._holders[name] = label, field, holder
        self._reasons[name] = Reason(self._theme)

    def set_used(self, name: str, used: bool, note: str = "") -> None:
        """Turn a field off where the model does not use it; `note` says why, or what to know of it."""
        self._fields[name].setEnabled(used)
        self._labels[name].set_role(self._roles[name] if used else "text3")
        self._notes[name] = note
        self._fields[name].setAccessibleDescription(note)
        self._reasons[name].say(note)

    def set_shown(self, name: str, shown: bool) -> None:
        self._holders[name].setVisible(shown)
        if not shown:
            self._reasons[name].hide()

    def set_problem(self, name: str, sentence: str) -> None:
        """Mark a field, or unmark it with ""."""
        field = self._fields[name]
        if isinstance(field, TextField):
            field.set_problem(sentence)
        else:
            set_property(field, "state", "error" if sentence else "")
            field.setAccessibleDescription(sentence or self._notes.get(name, ""))
        self._reasons[name].say(sentence or self._notes.get(name, ""), bad=bool(sentence))

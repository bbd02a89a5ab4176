"""One option in the inspector: its name above or next to its control, and a help line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class FieldRow(QWidget):
    """`beside` puts the control at the end of the name's line. A control that is not used is dashed, and says why."""

    def __init__(self, theme: Theme, text: str, control: QWidget, *, beside: bool = False, note: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.control = control
        self.label = Label(theme, text, wrap=beside)
        self.label.setBuddy(control)
        self.value = Label(theme, "", role="text2", tabular=True)
        self._sign = IconLabel(theme, "info", "text3", px=13)
        self.note = Label(theme, "", "small", "text2", wrap=True)
        self._column = QVBoxLayout(self)
        self._row = QHBoxLayout()
        self._row.addWidget(self.label, 1)
        self._row.addWidget(control if beside else self.value)
        self._column.addLayout(self._row)
        if not beside:
            self._column.addWidget(control)
        self._line = QHBoxLayout()
        self._line.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self._line.addWidget(self.note, 1)
        self._column.addLayout(self._line)
        self.set_note(note)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def set_note(self, note: str, *, used: bool = True) -> None:
        """Say what the option means, or with `used` False why it is off."""
        self.control.setEnabled(used)
        self.label.set_role("text" if used else "text3")
        self.note.set_text(note)
        self.note.setVisible(bool(note))
        self._sign.setVisible(bool(note) and not used)
        self.control.setAccessibleDescription(note)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(0, px(5), 0, px(5))
        self._column.setSpacing(px(4))
        self._row.setSpacing(px(8))
        self._line.setSpacing(px(5))

"""One parameter in the inspector: its name, its control, and a line below that says what it means or why it is off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.chat.session.chat_options import Control
    from app.ui.kit.theme import Theme


class ParameterRow(QWidget):
    """`note` stands below while the control works; the reason takes its place while the model ignores it.

    `wide` gives the room of the row to the control; `unit` is a quiet word between name and control.
    """

    def __init__(
        self, theme: Theme, text: str, control: QWidget, *, note: str = "", wide: bool = False, unit: str = ""
    ) -> None:
        super().__init__()
        self._theme = theme
        self._note = note
        self._shown: tuple[bool, str] | None = None
        self.control = control
        self.label = Label(theme, text, wrap=not (wide or unit))
        self.label.setBuddy(control)
        self._sign = IconLabel(theme, "info", "text3", px=13)
        self._why = Label(theme, note, "small", "text3", wrap=True)
        self._row = QHBoxLayout()
        self._wide = wide or bool(unit)
        self._row.addWidget(self.label, 0 if self._wide else 1)
        if unit:
            self._row.addWidget(Label(theme, unit, "small", "text3"), 1)
        self._row.addWidget(control, 1 if wide else 0)
        self._line = QHBoxLayout()
        self._line.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self._line.addWidget(self._why, 1)
        self._column = QVBoxLayout(self)
        self._column.addLayout(self._row)
        self._column.addLayout(self._line)
        self.show_control_state(True, "")
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_control(self, control: Control) -> None:
        """Follow what the model does with this parameter."""
        self.show_control_state(control.usable, control.why)

    def show_control_state(self, usable: bool, why: str) -> None:
        text = self._note if usable else why
        if self._shown == (usable, text):
            return
        self._shown = (usable, text)
        self.control.setEnabled(usable)
        self.label.set_role("text" if usable else "text3")
        self._why.set_text(text)
        self._why.setVisible(bool(text))
        self._sign.setVisible(bool(text) and not usable)
        self.control.setAccessibleDescription(text)

    def set_note(self, note: str) -> None:
        """Say something else below, while the control works."""
        self._note = note
        if self.control.isEnabled():
            self.show_control_state(True, "")

    def _apply_theme(self) -> None:
        theme = self._theme
        self._column.setContentsMargins(0, theme.px(5), 0, theme.px(5))
        self._column.setSpacing(theme.px(1))
        self._row.setSpacing(theme.px(12 if self._wide else 8))
        self._line.setSpacing(theme.px(5))
        if self._wide:
            self.label.setMinimumWidth(theme.type_px(84))
        self.control.setMinimumHeight(min(theme.height_px(26), self.control.sizeHint().height()))

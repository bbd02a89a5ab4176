"""The question before a longer piece of work: its fields, and the most that it can cost, said before it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.crypto_rpc.session.job_plans import NoPlan, Plan
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH, LINES_HEIGHT = 560, 110  # px at 100 %


class ToolDialog(Dialog):
    """Add fields, then `begin` with what makes a plan of them. The button that pays is not the default one."""

    def __init__(self, theme: Theme, parent: QWidget, title: str, words: str, action: str) -> None:
        super().__init__(theme, parent, title, width=WIDTH)
        self._make: Callable[[], Plan] | None = None
        self._is_edited = False
        self.plan: Plan | None = None
        self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        self.price = Label(theme, "", "small", wrap=True, tabular=True)
        self.fault = Label(theme, "", "small", "text2", wrap=True)
        beside = QWidget()  # of the button that begins: nobody presses it without the price in sight
        column = QVBoxLayout(beside)
        column.setContentsMargins(theme.px(8), 0, theme.px(8), 0)
        column.addWidget(self.price)
        column.addWidget(self.fault)
        beside.setMinimumHeight(2 * theme.line_px("small"))  # a price takes two lines: nothing grows when it is known
        self.add_beside_buttons(beside)
        self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(action, kind="primary", accepts=True)

    def line(self, name: str, text: str = "", placeholder: str = "") -> QLineEdit:
        field = TextField(self._theme, name, text=text, placeholder=placeholder, mono=True)
        self._add(name, field)
        field.textChanged.connect(self.edited)
        return field

    def lines(self, name: str, text: str = "") -> TextArea:
        field = TextArea(text, name=name)
        field.setFont(self._theme.font("code"))
        field.setFixedHeight(self._theme.type_px(LINES_HEIGHT))
        self._add(name, field)
        field.edited.connect(self.edited)
        return field

    def _add(self, name: str, field: QWidget) -> None:
        words = Label(self._theme, name, "small", "text2", weight=500)
        bind_label(words, field)
        field.setAccessibleName(name)
        self.body.addWidget(words)
        self.body.addWidget(field)

    def begin(self, make: Callable[[], Plan]) -> None:
        """From now on the fields make a plan, or a sentence that says what is missing."""
        self._make = make
        self.read()

    def edited(self) -> None:
        """A hand changed something: what is missing is a fault from now on, and no hint any more."""
        self._is_edited = True
        self.read()

    def read(self) -> None:
        if self._make is None:
            return
        try:
            self.plan, fault = self._make(), ""
        except NoPlan as error:
            self.plan, fault = None, str(error)
        self.price.set_text(self.plan.price if self.plan is not None else "")
        self.price.setVisible(self.plan is not None)
        self.fault.set_role("bad" if self._is_edited else "text2")
        self.fault.set_text(fault)
        self.fault.setVisible(bool(fault))
        self.go.setEnabled(self.plan is not None)

"""The question that a computer without a keyring asks: a passphrase file, or this session only.

What is locked is asked for in a dialog: `unlock.py`.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from app.core.secret_storage import Secrets, SecretsState
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import SecretField, fields_before_eyes
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.fields import FieldBox, held_to


class SecretsQuestion(Card):
    """Hidden while there is nothing to ask. `answered`: it goes, and whoever shows it gives the focus to something."""

    answered = Signal()

    def __init__(self, theme: Theme, presenter: Secrets) -> None:
        super().__init__(theme, padding=(14, 12), spacing=10, fill="warn_tint", border="warn")
        self._presenter = presenter
        head = QHBoxLayout()
        head.addWidget(IconLabel(theme, "lock", "warn"), 0, Qt.AlignmentFlag.AlignTop)
        self._words = Label(theme, "", wrap=True, lead=" ")
        head.addWidget(self._words, 1)
        self.body.addLayout(head)
        self._ways = QWidget()
        ways = QVBoxLayout(self._ways)
        ways.setContentsMargins(0, 0, 0, 0)
        ways.setSpacing(theme.px(4))
        self.in_file = QRadioButton(tr("In a file protected by a passphrase"))
        self.for_session = QRadioButton(tr("In memory, for this session only"))
        group = QButtonGroup(self)
        for way in (self.in_file, self.for_session):
            group.addButton(way)
            ways.addWidget(way)
            way.toggled.connect(self._show_fields)
        self.body.addWidget(self._ways)
        self.passphrase = SecretField(theme, tr("At least 8 characters"))
        self.in_file.clicked.connect(lambda: self.passphrase.setFocus(Qt.FocusReason.OtherFocusReason))
        self.again = SecretField(theme, tr("Repeat the passphrase"))
        self._passphrase_box = FieldBox(theme, tr("Passphrase"), self.passphrase)
        self._again_box = FieldBox(theme, tr("Repeat passphrase"), self.again)
        for box in (self._passphrase_box, self._again_box):
            self.body.addLayout(held_to(box, theme.type_px(360)))
        fields_before_eyes(self.passphrase, self.again)
        self._said = ProblemLabel(theme)
        self.body.addWidget(self._said)
        buttons = QHBoxLayout()
        self.do = Button(theme, tr("Continue"), kind="primary", size="small")
        self.do.clicked.connect(self._answer)
        self.look_again = Button(theme, tr("Check again"), kind="quiet", size="small")
        self.look_again.clicked.connect(presenter.refresh)
        buttons.addWidget(self.do)
        buttons.addWidget(self.look_again)
        buttons.addStretch(1)
        self.body.addLayout(buttons)
        self.passphrase.returnPressed.connect(self._answer)
        self.again.returnPressed.connect(self._answer)
        self._state = presenter.state
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def show_state(self, state: SecretsState) -> None:
        """Ask what has to be asked, or nothing."""
        had_focus = self._state.ask == "choose" and state.is_ready and self._has_focus()
        self._state = state
        asks = state.ask == "choose"
        if not asks or self.parentWidget() is not None:  # without a parent it would be a window for a moment
            self.setVisible(asks)
        if not asks:
            self.passphrase.wipe()
            self.again.wipe()
            if had_focus:
                self.answered.emit()
            return
        self._words.set_text(state.sentence, f"{state.title}.")
        self.setAccessibleName(f"{state.title}. {state.sentence}")
        self._show_fields()

    def _has_focus(self) -> bool:
        focused = self.window().focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    def take_focus(self) -> None:
        """The person has to answer before anything goes on."""
        self.in_file.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_fields(self) -> None:
        state = self._state
        in_file = self.in_file.isChecked()
        self._passphrase_box.setVisible(in_file)
        self._again_box.setVisible(in_file)
        self._passphrase_box.show_problem(state.problem if in_file else "")
        in_line = "" if in_file else state.problem
        self._said.set_text(in_line)
        self._said.setVisible(bool(in_line))
        self.do.setEnabled(in_file or self.for_session.isChecked())

    def _answer(self) -> None:
        if self._state.busy:
            return  # the button stays on meanwhile: the focus would jump away from it
        if self.in_file.isChecked():
            self._presenter.keep_in_file(self.passphrase.text(), self.again.text())
        elif self.for_session.isChecked():
            self._presenter.keep_for_session()


class PlaceDialog(Dialog):
    """The same question over whatever the person is doing. Closes itself once there is a place for keys."""

    def __init__(self, theme: Theme, parent: QWidget, secrets: Secrets) -> None:
        super().__init__(theme, parent, tr("Where to keep your keys"))
        self._secrets = secrets
        self.question = SecretsQuestion(theme, secrets)
        self.body.addWidget(self.question)
        self.add_button(tr("Cancel"), accepts=False)
        for way in (self.question.in_file, self.question.for_session):
            way.toggled.connect(lambda _on: self._fit())
        secrets.state_changed.connect(self._show_state)
        self.finished.connect(self._end)
        self.question.take_focus()

    def _show_state(self, state: SecretsState) -> None:
        if state.ask == "choose":
            self._fit()
        else:
            self.accept()

    def _end(self) -> None:
        self._secrets.state_changed.disconnect(self._show_state)
        self._secrets.state_changed.disconnect(self.question.show_state)
        self.question.passphrase.wipe()
        self.question.again.wipe()


async def ask_for_place(theme: Theme, window: QWidget, secrets: Secrets) -> None:
    """Show the dialog until there is a place for keys or the person closes it."""
    await PlaceDialog(theme, window, secrets).answer()

"""The form that adds an account: on the first page, and in Settings."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from app.core.secret_storage import SecretsState
from app.translation import tr
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.fields import SecretField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.accounts.presenter import AUTOMATIC, AccountDraft
from app.ui.settings.accounts.state import FormState
from app.ui.settings.fields import FieldBox

EXAMPLE_ADDRESS = "https://api.example.com/v1"
_NAMES = {AUTOMATIC: tr("detect automatically"), "service": "standard", "venice": "Venice"}


class AccountForm(QWidget):
    """Address and key, and where the key will be kept. `submitted` carries an `AccountDraft` and "unchecked"."""

    submitted = Signal(object, bool)
    models_requested = Signal(object)  # an `AccountDraft` without a key
    edited = Signal()  # what was submitted before is not what is asked for any more
    cancelled = Signal()

    def __init__(self, theme: Theme, *, with_name: bool, large: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._done = 0
        self._problems: Mapping[str, str] = {}
        self._dialect = AUTOMATIC
        self.address = QLineEdit()
        self.address.setProperty("mono", True)
        self.address.setPlaceholderText(EXAMPLE_ADDRESS)
        self.key = SecretField(theme, tr("Paste a key"))
        hint = tr("Create a key in your account’s API settings on the service’s website.")
        self.key.setToolTip(plain_tip(hint))
        self.key.setAccessibleDescription(hint)
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Same as the address"))
        self.name.setMaxLength(80)
        self._boxes = {
            "base_url": FieldBox(theme, tr("Service address"), self.address, keeps_room=True),
            "key": FieldBox(theme, tr("API key"), self.key, keeps_room=True),
            "name": FieldBox(theme, tr("Name"), self.name),
        }
        if not with_name:  # shown with its form: a part made visible without a parent is a window for a moment
            self._boxes["name"].hide()
        self._names = Button(theme, "", kind="link", size="small")
        self._names.setToolTip(tr("API style"))
        self._names.clicked.connect(self._choose_names)
        self.models = Button(theme, tr("Models and prices…"), kind="link", size="small")
        self.models.clicked.connect(
            lambda: self.models_requested.emit(AccountDraft(self.address.text(), "", "", self._dialect))
        )
        self._keep_row = QWidget()
        self._keep = Label(theme, "", "small", "text3", wrap=True)
        self._sentence = ProblemLabel(theme)
        self._sentence.hide()
        kind = "" if large else "primary"  # beside other ways to start none of them is the first
        self.connect_button = Button(theme, tr("Check and connect"), kind=kind, size="large" if large else "")
        self.connect_button.clicked.connect(lambda: self._submit(unchecked=False))
        self.anyway_button = Button(theme, tr("Save without checking"), kind="quiet")
        self.anyway_button.clicked.connect(lambda: self._submit(unchecked=True))
        self.anyway_button.hide()
        for field in (self.address, self.key, self.name):
            field.returnPressed.connect(lambda: self._submit(unchecked=False))
            field.textEdited.connect(lambda _text: self.edited.emit())
        self.address.textEdited.connect(lambda: self._boxes["base_url"].show_problem(""))
        self.key.textEdited.connect(lambda: self._boxes["key"].show_problem(""))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._upper = QVBoxLayout()
        self._room = QSpacerItem(0, 0, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.MinimumExpanding)
        self._calm_px = 0  # the height of what is above the room while nothing is wrong
        self._is_calm = True
        self._build(large)
        self._set_dialect(AUTOMATIC)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self, large: bool) -> None:
        keep = QHBoxLayout(self._keep_row)
        keep.setContentsMargins(0, 0, 0, 0)
        keep.setSpacing(self._theme.px(5))
        keep.addWidget(IconLabel(self._theme, "lock", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        keep.addWidget(self._keep, 1)
        names = QHBoxLayout()
        names.setContentsMargins(0, 0, 0, 0)
        names.addWidget(self._names)
        names.addStretch(1)
        names.addWidget(self.models)
        for box in (self._boxes["name"], self._boxes["base_url"], self._boxes["key"]):
            self._upper.addWidget(box)
        self._upper.addLayout(names)
        self._upper.addWidget(self._keep_row)
        self._upper.addWidget(self._sentence)
        self._column.addLayout(self._upper)
        if large:
            self._column.addSpacerItem(self._room)
            self._column.addWidget(self.connect_button)
            self._column.addWidget(self.anyway_button)
        else:
            row = QHBoxLayout()
            row.addWidget(self.connect_button)
            row.addWidget(self.anyway_button)
            row.addStretch(1)
            self._column.addLayout(row)

    def show_form(self, state: FormState, place: SecretsState) -> None:
        """Make the form agree with what the presenter knows."""
        self._is_calm = self._is_calm and not (state.problems or state.sentence)
        if state.problems is not self._problems:  # a verdict is shown once: what is typed after it stays
            self._problems = state.problems
            for name, box in self._boxes.items():
                box.show_problem(state.problems.get(name, ""))
            self._focus_first_problem()
        if state.sentence:  # it takes the room of what was wrong with a field before
            self._forget_problems()
        self._sentence.set_text(state.sentence)
        self._sentence.setVisible(bool(state.sentence))
        self.anyway_button.setVisible(state.can_save_unchecked and not state.busy)
        for button in (self.connect_button, self.models):
            button.setEnabled(not state.busy)
        self.connect_button.setText(tr("Checking") if state.busy else tr("Check and connect"))
        for field in (self.address, self.key, self.name):
            field.setReadOnly(state.busy)
        self._keep.set_text(keep_words(place))
        if not (state.problems or state.sentence):
            self._keep_row.show()
        self._keep_room()
        if state.done > self._done:
            self._done = state.done
            self.clear()

    def clear(self) -> None:
        """Forget everything typed, the key first."""
        self.key.wipe()
        self.address.clear()
        self.name.clear()
        self._forget_problems()
        self._is_calm = True
        self._set_dialect(AUTOMATIC)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._keep_room()

    def _keep_room(self) -> None:
        """Let the button stay where it is: a long sentence about what is wrong takes the place of the note above it."""
        if self._is_calm:
            self._keep_row.show()
            self._calm_px = self._height_above()
        elif self._height_above() > self._calm_px:
            self._keep_row.hide()
        self._room.changeSize(0, max(0, self._theme.px(8) + self._calm_px - self._height_above()))
        self._column.invalidate()

    def _height_above(self) -> int:
        for box in self._boxes.values():
            box.updateGeometry()
        self._upper.invalidate()
        return self._upper.heightForWidth(self.width())

    def _forget_problems(self) -> None:
        for box in self._boxes.values():
            box.forget_problem()

    def _focus_first_problem(self) -> None:
        for box in self._boxes.values():
            if box.problem:
                box.field.setFocus(Qt.FocusReason.OtherFocusReason)
                box.field.selectAll()  # what is typed or pasted now takes its place
                return

    def _submit(self, *, unchecked: bool) -> None:
        draft = AccountDraft(self.address.text(), self.key.text(), self.name.text(), self._dialect)
        self.submitted.emit(draft, unchecked)

    def _choose_names(self) -> None:
        menu = Menu(self._theme, self)
        for dialect, words in _NAMES.items():
            action = menu.add(words[0].upper() + words[1:])
            action.setCheckable(True)
            action.setChecked(dialect == self._dialect)
            action.triggered.connect(lambda _checked=False, dialect=dialect: self._set_dialect(dialect))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._names.mapToGlobal(self._names.rect().bottomLeft()))

    def _set_dialect(self, dialect: str) -> None:
        self._dialect = dialect
        self._names.setText(tr("API style: {names}", names=_NAMES[dialect]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        super().keyPressEvent(event)

    def _apply_theme(self) -> None:
        self._column.setSpacing(self._theme.px(10))
        self._upper.setSpacing(self._theme.px(10))
        self._keep_room()


def keep_words(place: SecretsState) -> str:
    """Where a key would be kept, before it is entered."""
    if place.kind == "keyring" and not place.ask:
        return tr(
            "Kept in the system keyring ({backend}). It is never written to a file or shown again in full.",
            backend=place.backend,
        )
    if place.kind == "passphrase" and not place.ask:
        return tr("Kept in a file protected by your passphrase. It is never shown again in full.")
    if place.kind == "session":
        return tr("Kept in memory for this session only, and forgotten when Rialto quits.")
    if place.ask == "choose":
        return tr("Rialto asks where to keep the key. It is never saved in plain text.")
    if place.is_locked:
        return tr("Rialto asks you to unlock your keys before it saves this one.")
    return tr("Rialto keeps keys in the system keyring, never in plain text.")

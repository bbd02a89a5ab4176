"""What may be spent a day, a call, in a tab, by an account: a soft limit that asks, a hard one that stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.core.tabs import tab_title
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField, TextField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.wallet.state import CHART_TABS

LOCK_CHOICES = (
    ("5", tr("after 5 minutes")),
    ("15", tr("after 15 minutes")),
    ("60", tr("after an hour")),
    ("", tr("never")),
)


class LimitField(QWidget):
    """One amount in USD, empty for none. `wanted` carries what was typed; `show_problem` answers."""

    wanted = Signal(str, str)  # key and text

    def __init__(self, theme: Theme, words: str) -> None:
        super().__init__()
        self.key = ""
        self.field = TextField(theme, words, placeholder=tr("none"), small=True)
        self.field.setMaximumWidth(theme.type_px(92))
        self.field.editingFinished.connect(lambda: self.wanted.emit(self.key, self.field.text()))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.field)

    def bind(self, key: str, text: str) -> None:
        """Be the field of another limit."""
        self.key = key
        if not self.field.hasFocus():
            self.field.setText(f"${text}" if text else "")
        self.field.set_problem("")


class LimitFields(QWidget):
    """`limit_requested` carries the limit's key and what was typed; the answer comes by `show_problem`."""

    limit_requested = Signal(str, str)
    lock_requested = Signal(str)

    def __init__(self, theme: Theme, limit_text: Callable[[str], str]) -> None:
        super().__init__()
        self._limit_text = limit_text
        self._account = ""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(8))
        column.addWidget(Label(theme, tr("Spending limits"), weight=600))
        self.scope = ChoiceField(theme, tr("Limit scope"), small=True)
        for key, words in (
            ("day", tr("Per day, all accounts")),
            ("call", tr("Per request")),
            ("account", tr("Per day, this account")),
            *((f"tab {tab}", tr("Per day, {tab_title}", tab_title=tab_title(tab))) for tab in CHART_TABS),
        ):
            self.scope.addItem(words, key)
        self.scope.currentIndexChanged.connect(lambda _index: self.reload())
        column.addWidget(self.scope)
        self.soft, self.hard = LimitField(theme, tr("Ask above")), LimitField(theme, tr("Stop at"))
        self.low, self.top_up = (
            LimitField(theme, tr("Warn when the balance is below")),
            LimitField(theme, tr("Maximum top-up")),
        )
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.px(8))
        grid.setVerticalSpacing(theme.px(6))
        words_of = (tr("Ask above"), tr("Stop at"), tr("Warn below"), tr("Maximum top-up"))
        for place, (words, field) in enumerate(zip(words_of, self._fields(), strict=True)):
            grid.addWidget(Label(theme, words), place, 0)
            grid.addWidget(field, place, 1)
            field.wanted.connect(self.limit_requested)
        grid.setColumnStretch(0, 1)
        column.addLayout(grid)
        self.problem = ProblemLabel(theme)
        self.problem.hide()
        column.addWidget(self.problem)
        note = tr("Checked on this computer before anything is sent, in every tab. Play money is counted separately.")
        column.addWidget(Label(theme, note, "small", "text2", wrap=True))
        line = QHBoxLayout()
        line.addWidget(Label(theme, tr("Lock wallets")), 1)
        self.lock = ChoiceField(theme, tr("Lock wallets"), small=True)
        for key, words in LOCK_CHOICES:
            self.lock.addItem(words, key)
        self.lock.activated.connect(lambda index: self.lock_requested.emit(self.lock.itemData(index)))
        line.addWidget(self.lock)
        column.addLayout(line)

    def show_account(self, account_id: str, lock_minutes: str) -> None:
        """The account that the limits of an account are for."""
        self._account = account_id
        place = next((at for at, (key, _) in enumerate(LOCK_CHOICES) if key == lock_minutes), 1)
        self.lock.setCurrentIndex(place)
        self.reload()

    def reload(self) -> None:
        """Show the limits as they are kept."""
        scope = str(self.scope.currentData())
        scope = f"account {self._account}" if scope == "account" else scope
        for field, key in (
            (self.soft, f"soft {scope}"),
            (self.hard, f"hard {scope}"),
            (self.low, f"low {self._account}"),
            (self.top_up, "hard top-up"),
        ):
            field.bind(key, self._limit_text(key))
        self.show_problem("", "")

    def show_scope(self, scope: str) -> None:
        """Show the limits of a scope, the one that stops under the cursor."""
        place = self.scope.findData(scope.partition(" ")[0] if scope.startswith("account ") else scope)
        self.scope.setCurrentIndex(max(0, place))
        self.hard.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hard.field.selectAll()

    def show_problem(self, key: str, sentence: str) -> None:
        """Say under the fields what is wrong with one of them."""
        for field in self._fields():
            if field.key == key:
                field.field.set_problem(sentence)
        self.problem.set_text(sentence)
        self.problem.setVisible(bool(sentence))

    def _fields(self) -> Sequence[LimitField]:
        return self.soft, self.hard, self.low, self.top_up

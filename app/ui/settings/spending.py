"""Spending limits: from where on Rialto asks, and where it stops, for a day, a call and each tab."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import SectionPage
from app.ui.settings.state import LIMIT_SCOPES, SettingsState

_HARDNESSES = (("soft", tr("Ask above")), ("hard", tr("Stop at")))


class SpendingPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self.fields: dict[str, TextField] = {}
        self._grid = QGridLayout()
        card = Card(theme, padding=(16, 14), spacing=10)
        card.body.addLayout(self._grid)
        self._fill()
        self.problem = ProblemLabel(theme)
        self.problem.hide()
        card.body.addWidget(self.problem)
        words = tr(
            "In USD. Leave empty for no limit. Checked on this computer before anything is sent, in "
            "every tab. Limits for a single account and low-balance warnings are in Wallet. Play money "
            "is counted separately."
        )
        self.group("", card, Label(theme, words, "small", "text2", wrap=True))
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        theme.changed.connect(self._apply_grid_theme)
        self._apply_grid_theme()
        self.show_state(presenter.state)

    def _fill(self) -> None:
        for column, (_, words) in enumerate(_HARDNESSES, 1):
            self._grid.addWidget(Label(self.theme, words, "small", "text2", weight=500), 0, column)
        for row, (scope, title) in enumerate(LIMIT_SCOPES, 1):
            name = Label(self.theme, title)
            self._grid.addWidget(name, row, 0)
            for column, (hardness, words) in enumerate(_HARDNESSES, 1):
                field = self._field(f"{hardness} {scope}", f"{title}: {words.lower()}")
                self._grid.addWidget(field, row, column)
                if column == 1:
                    bind_label(name, field)
                    field.setAccessibleName(f"{title}: {words.lower()}")
        self._grid.setColumnStretch(0, 1)

    def _field(self, key: str, name: str) -> TextField:
        field = TextField(self.theme, name, placeholder=tr("none"), small=True)
        field.editingFinished.connect(lambda: self._take(key))
        self.fields[key] = field
        return field

    def _take(self, key: str) -> None:
        field = self.fields[key]
        sentence = self._presenter.set_limit(key, field.text())
        field.set_problem(sentence)
        self.problem.set_text(sentence)
        self.problem.setVisible(bool(sentence))

    def show_state(self, state: SettingsState) -> None:
        for key, field in self.fields.items():
            if not field.hasFocus() and not field.property("state"):
                amount = state.choices.budgets.get(key, "")
                field.setText(f"${amount}" if amount else "")

    def header_widgets(self) -> tuple[QWidget, ...]:
        return ()

    def _apply_grid_theme(self) -> None:
        self._grid.setHorizontalSpacing(self.theme.px(12))
        self._grid.setVerticalSpacing(self.theme.px(8))
        for field in self.fields.values():
            field.setFixedWidth(self.theme.type_px(110))

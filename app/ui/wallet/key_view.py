"""The pages of the API key in use: the account's keys, the limits of this one, and the limits that were hit."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.lists.plain_table import PlainTable
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.flow import DOWN, FlowLayout, ScaledBox
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.wallet.state import KeyPage, KeyRow

PARTS = (("keys", tr("Keys")), ("limits", tr("Limits by model")), ("hits", tr("Limits reached")))
KEY_TITLES = (
    tr("Name"),
    tr("Scope"),
    tr("Ends in"),
    tr("Expires"),
    tr("Last used"),
    tr("Limit"),
    tr("7 days"),
)
KEY_WIDTHS = (0, 84, 84, 100, 122, 170, 72)


class KeyView(QWidget):
    """`new_requested`: make a key. The others carry the `KeyRow` that is to change or to end."""

    new_requested = Signal()
    edit_requested = Signal(object)
    revoke_requested = Signal(object)

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._keys: tuple[KeyRow, ...] = ()
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the facts and the three parts, one at each step."""
        theme = self._theme
        column = ScaledBox(theme, DOWN, margins=(24, 16, 24, 12), gap=10, parent=self)
        self.facts = Label(theme, "", wrap=True, tabular=True)
        self.problem = Label(theme, "", role="warn", wrap=True)
        column.addWidget(self.facts)
        column.addWidget(self.problem)
        self.part = SegmentedChoice(theme, tr("Key details"), PARTS)
        head = QHBoxLayout()
        head.addWidget(self.part, 0, Qt.AlignmentFlag.AlignLeft)
        head.addStretch(1)
        column.addLayout(head)
        self.parts = QStackedWidget()
        column.addWidget(self.parts, 1)
        yield
        self.keys = PlainTable(theme, tr("Account API keys"), KEY_TITLES, KEY_WIDTHS)
        self.keys_words = Label(theme, "", role="text2", wrap=True)
        self.parts.addWidget(self._make_keys(theme))
        yield
        self.limits = PlainTable(
            theme, *_table(tr("Limits by model"), (tr("Model"), tr("Requests per minute"), tr("Tokens per minute")))
        )
        self.parts.addWidget(self.limits)
        yield
        self.hits = PlainTable(theme, *_table(tr("Limits reached"), (tr("When"), tr("Model"), tr("Limit"))))
        self.hits_words = Label(theme, "", role="text2")
        self.parts.addWidget(_under(theme, self.hits_words, self.hits))
        self.part.changed.connect(self.show_part)
        self.show_page(KeyPage())

    def _make_keys(self, theme: Theme) -> QWidget:
        holder = _under(theme, self.keys_words, self.keys)
        buttons = QWidget()
        row = FlowLayout(theme, parent=buttons)
        self.new = Button(theme, tr("New key…"), "plus")
        self.new.clicked.connect(self.new_requested)
        self.revoke = Button(theme, tr("Revoke…"), "trash")
        self.revoke.clicked.connect(lambda: self.revoke_requested.emit(self._chosen()))
        self.edit = Button(theme, tr("Edit…"), "pencil")
        self.edit.clicked.connect(lambda: self.edit_requested.emit(self._chosen()))
        row.addWidget(self.new)
        row.addWidget(self.edit)
        row.addWidget(self.revoke)
        layout = holder.layout()
        assert layout is not None
        layout.addWidget(buttons)
        self.keys.selectionModel().selectionChanged.connect(lambda *_: self._fit_buttons())
        return holder

    def show_part(self, key: str) -> None:
        """Show the keys, the limits or the log."""
        self.part.set_current(key)
        self.parts.setCurrentIndex([each for each, _ in PARTS].index(key))

    def show_page(self, page: KeyPage) -> None:
        self.facts.set_text(" · ".join(f"{name}: {value}" for name, value in page.facts))
        self.facts.setVisible(bool(page.facts))
        self.problem.set_text(tr("Contacting the service") if page.busy else page.problem)
        self.problem.setVisible(page.busy or bool(page.problem))
        self.limits.rows.set_lines(page.limits)
        self.hits.rows.set_lines(page.hits)
        none = tr("No limits were reached.") if page.facts and not page.hits else ""
        self.hits_words.set_text(page.hits_problem or none)
        self.hits_words.setVisible(bool(self.hits_words.text()))
        self.hits.setVisible(bool(page.hits))
        if self._keys != page.keys:
            self._keys = page.keys
            self.keys.rows.set_lines([each.cells for each in page.keys])
        self.keys_words.set_text(page.keys_problem)
        self.keys_words.setVisible(bool(page.keys_problem))
        self.keys.setVisible(not page.keys_problem)
        self.new.setEnabled(bool(page.keys))
        self._fit_buttons()

    def _chosen(self) -> KeyRow | None:
        rows = self.keys.selectionModel().selectedRows()
        return self._keys[rows[0].row()] if rows and rows[0].row() < len(self._keys) else None

    def _fit_buttons(self) -> None:
        for button in (self.edit, self.revoke):
            button.setEnabled(self._chosen() is not None)


def _table(name: str, titles: tuple[str, str, str]) -> tuple[str, tuple[str, ...], tuple[int, ...]]:
    return name, titles, (150, 0, 200) if titles[0] == tr("When") else (0, 150, 150)


def _under(theme: Theme, words: Label, table: PlainTable) -> QWidget:
    holder = QWidget()
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(theme.px(8))
    layout.addWidget(words)
    layout.addWidget(table, 1)
    layout.addStretch(0)
    return holder

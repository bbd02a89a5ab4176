"""Chooses the two to four models that are asked the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.chat.models.model_picker import ModelListHeader, ModelView
from app.ui.chat.models.model_picker_list import ROW_ROLE, ModelDelegate, ModelListModel, filter_pill
from app.ui.chat.session.inspector_state import ModelList, ModelRow
from app.ui.chat.session.seal import PROMISES
from app.ui.kit.forms.other_model_dialog import OTHER_MODEL
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.widgets.buttons import PrimaryButton, QuietButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

FEWEST, MOST = 2, 4
WIDTH = 620
LIST_HEIGHT = 320


class ComparePicker(Popover):
    """Enter marks a model, Ctrl+Enter asks those that are marked. `chosen` tells their ids, in the order of marking."""

    chosen = Signal(object)  # tuple[str, ...]
    marked = Signal(object)  # the same while choosing, for the price
    other_requested = Signal(object)  # the same, for a model that is not in the list to join them

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, name=tr("Compare models"), padding=0)
        self._models = ModelList()
        self._marked: tuple[str, ...] = ()
        self.search = SearchField(theme, tr("Models to compare"), results=None)
        self.search.textChanged.connect(self._filter)
        self.model = ModelListModel(self, current_word=tr("marked"))
        self.view = ModelView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(ModelDelegate(theme, self.view, many=True))
        self.view.setAccessibleName(tr("Models to compare"))
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.note = Label(theme, "", "small", "text2", wrap=True)
        self.go = PrimaryButton(theme, "", "send", size="small", hint="Ctrl+Enter")
        top = QVBoxLayout()
        top.setContentsMargins(theme.px(12), theme.px(12), theme.px(12), theme.px(10))
        top.setSpacing(theme.px(10))
        top.addWidget(self.search)
        self.pills = {name: filter_pill(theme, name) for name in PROMISES}
        pills = QHBoxLayout()
        pills.setSpacing(theme.px(6))
        for pill in self.pills.values():
            pill.toggled.connect(self._filter)
            pills.addWidget(pill)
        pills.addStretch(1)
        top.addLayout(pills)
        footer = QFrame()
        zone(footer, "pane")
        self.other = QuietButton(theme, OTHER_MODEL, size="small")
        self.other.clicked.connect(self._leave_for_other)
        column = QVBoxLayout(footer)
        column.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(8))
        column.setSpacing(theme.px(6))
        column.addWidget(self.other, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout()
        column.addLayout(row)
        row.addWidget(self.note, 1)
        row.addWidget(self.go)
        self.body.setSpacing(0)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        self.body.addWidget(ModelListHeader(theme, self.view))
        self.body.addWidget(self.view)
        self.set_list(self.view)
        self.body.addWidget(rule())
        self.body.addWidget(footer)
        self.set_first_focus(self.search)
        FilterKeys(
            self.view,
            self.search,
            take=self._take,
            nothing=lambda: tr("No results for “{text}”.", text=self.search.text()),
        )
        self.view.row_clicked.connect(self._toggle)
        self.view.star_clicked.connect(self._toggle)
        self.go.clicked.connect(self._ask)
        theme.changed.connect(self._apply_list_theme)
        self._apply_list_theme()

    def _apply_list_theme(self) -> None:
        self.view.setFixedHeight(self._theme.type_px(LIST_HEIGHT))
        self.view.doItemsLayout()

    def _apply_theme(self) -> None:
        super()._apply_theme()
        self.body.setSpacing(0)

    @property
    def marks(self) -> tuple[str, ...]:
        return self._marked

    def open_over(self, opener: QWidget) -> None:
        """Open above the box, as wide as the window allows."""
        room = round(opener.window().width() / self._theme.scale) - 32
        self._apply_list_theme()  # whole again, if the screen was too small for it
        self.open_at(opener, above=True, width=min(WIDTH, room))

    def offer(self, models: ModelList, marked: Sequence[str]) -> None:
        """Show the models, with these marked."""
        self._models = models
        known = {row.id for row in models.rows}
        self._marked = tuple(each for each in dict.fromkeys(marked) if each in known)[:MOST]
        self.search.clear()
        for pill in self.pills.values():
            pill.setChecked(False)
        self._show()
        self.view.setCurrentIndex(self.model.first())

    def show_cost(self, text: str) -> None:
        """What asking the marked ones can cost at most, "" when nobody knows."""
        number = len(self._marked)
        words = tr("Ask {number} models", number=number) if number >= FEWEST else tr("Ask")
        self.go.setText(f"{words} {text}".strip())
        self.go.setEnabled(FEWEST <= number <= MOST)
        self.note.set_text(
            tr("Select two to four models with Enter or a click.")
            if number < FEWEST
            else tr("You pay for each answer and all are saved. Then choose the one to continue from.")
        )

    def _show(self) -> None:
        before = self.view.currentIndex().data(ROW_ROLE)
        self.model.set_models(tuple(replace(row, is_current=row.id in self._marked) for row in self._models.rows))
        index = self.model.index_of(before.id) if isinstance(before, ModelRow) else QModelIndex()
        self.view.setCurrentIndex(index if index.isValid() else self.model.first())
        self.marked.emit(self._marked)
        self.show_cost("")
        self.marked.emit(self._marked)

    def _filter(self) -> None:
        wanted = [name for name, pill in self.pills.items() if pill.isChecked()]
        self.model.set_filter(self.search.text(), wanted)
        self.view.setCurrentIndex(self.model.first())

    def _toggle(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, ModelRow):
            return
        if row.id in self._marked:
            self._marked = tuple(each for each in self._marked if each != row.id)
        elif len(self._marked) < MOST:
            self._marked = (*self._marked, row.id)
        self._show()

    def _leave_for_other(self) -> None:
        self.close()
        self.other_requested.emit(self._marked)

    def _ask(self) -> None:
        if FEWEST <= len(self._marked) <= MOST:
            marked = self._marked
            self.close()
            self.chosen.emit(marked)

    def _take(self, event: QKeyEvent) -> None:
        """Enter marks the row, Ctrl+Enter asks those that are marked."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._ask()
        else:
            self._toggle(self.view.currentIndex())

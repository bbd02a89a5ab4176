"""The left pane of the character browser: search, order and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.characters.state import MAX_MODELS, MAX_SEARCH_CHARS, MAX_TAGS, SORTS, CharactersState, categories_of
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.fields import CheckBox, ChoiceField, TextField
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.multi_select import MultiSelectField
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class FiltersPane(QWidget):
    """`changed` tells the name of a field of `Filters` and its new value."""

    changed = Signal(str, object)
    search_changed = Signal(str)
    tag_toggled = Signal(str)
    back_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tags_shown: tuple[str, ...] = ()
        self._results = ""
        zone(self, "pane")
        self.header = PaneHeader(theme, tr("Characters"))
        back = IconButton(theme, "chevron-left", tr("Back to the chat"), shortcut="Esc", size="small")
        back.clicked.connect(self.back_requested)
        self.header.add_before_title(back)
        preview = Badge(theme, tr("Preview"), "outline")
        preview.setToolTip(tr("Beta: this part of the service may change."))
        self.header.add(preview)
        self.search = SearchField(theme, tr("Search, or #tag"), results=lambda: self._results, shortcut="Ctrl+F")
        self.search.setProperty("sizing", "small")
        self.search.setMaxLength(MAX_SEARCH_CHARS)
        self.sort = ChoiceField(theme, tr("Sort by"), small=True)
        for key, words in SORTS.items():
            self.sort.addItem(words, key)
        self.order = IconButton(theme, "sort", tr("Highest first"), framed=True, checkable=True)
        self.model = MultiSelectField(
            theme,
            tr("Model"),
            any_words=tr("Any model"),
            many_words=tr("{number} models"),
            most=MAX_MODELS,
        )
        for field in (self.sort, self.model):  # a long name must not make the pane wider
            field.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            field.setMinimumContentsLength(6)
        self.adult = SegmentedChoice(
            theme,
            tr("Adult characters"),
            (("hide", tr("Hide")), ("show", tr("Show")), ("only", tr("Only"))),
            stretch=True,
        )
        self._adult_why = Label(
            theme,
            tr("Adult characters are turned off in Settings, under Privacy and data."),
            "small",
            "text3",
            wrap=True,
        )
        self.categories = TextField(theme, tr("Categories"), placeholder=tr("Names, separated by commas"), small=True)
        self.web = CheckBox(tr("Web access"))
        self.pro = CheckBox(tr("Pro model"))
        self._tag_box = QWidget()
        self._pills: WidgetList[PillButton] = WidgetList(FlowLayout(theme, gap=6, line_gap=6, parent=self._tag_box))
        self._tags_title = Label(theme, tr("Tags"), "small", "text2", weight=500)
        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        theme = self._theme
        scroll = ScrollPane()
        self._column = scroll.fill(theme, "pane", (16, 14, 16, 14), 16)
        self._column.addWidget(self.search)
        sort_row = QHBoxLayout()
        sort_row.addWidget(self.sort, 1)
        sort_row.addWidget(self.order)
        self._sort_row = sort_row
        self._fields: list[QVBoxLayout] = []
        self._field(tr("Sort by"), sort_row, self.sort)
        self._field(tr("Model"), self.model, self.model)
        self._field(tr("Adult characters"), self.adult, self.adult, self._adult_why)
        self._field(tr("Categories"), self.categories, self.categories)
        checks = QVBoxLayout()
        for box in (self.web, self.pro):
            checks.addWidget(box)
        self._checks = checks
        self._column.addLayout(checks)
        tags = QVBoxLayout()
        tags.addWidget(self._tags_title)
        tags.addWidget(self._tag_box)
        self._fields.append(tags)
        self._column.addLayout(tags)
        note = QHBoxLayout()
        note.addWidget(IconLabel(theme, "info", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        words = tr("Up to {most} tags. Search also reads names and descriptions.", most=MAX_TAGS)
        note.addWidget(Label(theme, words, "small", "text3", wrap=True), 1)
        self._note = note
        self._column.addLayout(note)
        self._column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(scroll, 1)

    def _field(self, title: str, content: QWidget | QHBoxLayout, buddy: QWidget, below: QWidget | None = None) -> None:
        column = QVBoxLayout()
        label = Label(self._theme, title, "small", "text2", weight=500)
        label.setBuddy(buddy)
        column.addWidget(label)
        if isinstance(content, QWidget):
            column.addWidget(content)
        else:
            column.addLayout(content)
        if below is not None:
            column.addWidget(below)
        self._fields.append(column)
        self._column.addLayout(column)

    def _connect(self) -> None:
        self.search.search_changed.connect(self.search_changed)
        self.search.left.connect(self.back_requested)
        self.sort.activated.connect(lambda _place: self.changed.emit("sort", self.sort.currentData()))
        self.order.clicked.connect(lambda on: self.changed.emit("ascending", on))
        self.model.picked.connect(lambda keys: self.changed.emit("model_ids", keys))
        self.adult.changed.connect(lambda choice: self.changed.emit("adult", choice))
        self.categories.editingFinished.connect(self._categories_typed)
        self.web.clicked.connect(lambda on: self.changed.emit("web_only", on))
        self.pro.clicked.connect(lambda on: self.changed.emit("pro_only", on))

    def _apply_theme(self) -> None:
        theme = self._theme
        self._sort_row.setSpacing(theme.px(6))
        self._checks.setSpacing(theme.px(4))
        self._note.setSpacing(theme.px(5))
        for column in self._fields:
            column.setSpacing(theme.px(5))

    def show_state(self, state: CharactersState) -> None:
        """Make every control agree with the filters in force."""
        filters = state.filters
        self._results = "" if state.loading or state.problem else results_words(len(state.rows))
        self.search.say_results()
        if self.search.text() != filters.search and not self.search.hasFocus():
            self.search.setText(filters.search)
        self.sort.setCurrentIndex(max(0, self.sort.findData(filters.sort)))
        self.order.setChecked(filters.ascending)
        self.order.rename(tr("Lowest first") if filters.ascending else tr("Highest first"))
        self.model.set_options(state.models)
        self.model.set_keys(filters.model_ids)
        self.adult.set_current(filters.adult)
        self.adult.setEnabled(state.adult_allowed)
        self._adult_why.setVisible(not state.adult_allowed)
        if categories_of(self.categories.text()) != filters.categories:
            self.categories.setText(", ".join(filters.categories))
        self.web.setChecked(filters.web_only)
        self.pro.setChecked(filters.pro_only)
        self._show_tags(state)

    def _categories_typed(self) -> None:
        self.changed.emit("categories", categories_of(self.categories.text()))

    def clear_search(self) -> None:
        """Empty the field as well; the state only follows what is typed."""
        self.search.clear()

    def _show_tags(self, state: CharactersState) -> None:
        self._tags_title.setVisible(bool(state.tags))
        if state.tags != self._tags_shown:
            self._tags_shown = state.tags
            focused = next((pill.text() for pill in self._pills if pill.hasFocus()), "")
            self._pills.clear()
            for tag in state.tags:
                pill = PillButton(self._theme, tag)
                pill.clicked.connect(lambda _on, tag=tag: self.tag_toggled.emit(tag))
                self._pills.add(pill)
                if tag == focused:
                    pill.setFocus()
        for pill in self._pills:
            pill.setChecked(pill.text() in state.filters.tags)

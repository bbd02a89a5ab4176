"""The left pane while all chats are searched: a field, and what was found as one types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_line
from app.translation import tr, tr_n
from app.ui.chat.sidebar.chat_delegate import HitDelegate
from app.ui.chat.state import MOST_HITS, Hit
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.grouped_list import GroupedModel
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme


class SearchPane(QWidget):
    """`search_requested` tells what was typed, `hit_chosen` chat, message and what was searched for."""

    search_requested = Signal(str)
    hit_chosen = Signal(str, str, str)
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        zone(self, "pane")
        self.back = IconButton(theme, "chevron-left", tr("Back to chats"))
        self.header = PaneHeader(theme, tr("Search all chats"))
        self.header.add_before_title(self.back)
        self.field = SearchField(theme, tr("Search all chats"), results=None, shortcut="Ctrl+Shift+F")
        self.field.setProperty("sizing", "small")
        self.where = ChoiceField(theme, tr("Where to search"), small=True)
        self.where.hide()
        self.view = GroupedView(theme, tr("Search results"), has_start_sign=False)
        self.view.setItemDelegate(HitDelegate(theme, self.view))
        self.view.setUniformItemSizes(True)
        self.nothing = Label(theme, "", "body", "text2", wrap=True)
        self.clear = QuietButton(theme, tr("Clear search"), size="small")
        empty = QWidget()
        self._empty = QVBoxLayout(empty)
        self._empty.addWidget(self.nothing)
        self._empty.addWidget(self.clear, 0, Qt.AlignmentFlag.AlignLeft)
        self._empty.addStretch(1)
        self._places = QStackedWidget()
        self._places.addWidget(self.view)
        self._places.addWidget(empty)
        self.stops = (self.back, self.field, self.where, self.view, self.clear)  # as Tab reaches them
        self.note = Label(theme, "", "small", "text3", wrap=True)
        self._above = QVBoxLayout()
        self._above.addWidget(self.field)
        self._above.addWidget(self.where)
        self._below = QHBoxLayout()
        self._below.addWidget(self.note)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addLayout(self._above)
        layout.addWidget(self._places, 1)
        layout.addWidget(rule())
        layout.addLayout(self._below)
        self.back.clicked.connect(self.left)
        self.clear.clicked.connect(self._start_over)
        self.field.textChanged.connect(self._typed)
        self.where.currentIndexChanged.connect(lambda _place: self._typed(self.field.text()))
        self.field.left.connect(self.left)
        self.view.installEventFilter(self)
        self._spoken = FilterKeys(
            self.view,
            self.field,
            take=lambda _event: self._choose(self.view.current_key),
            nothing=self.nothing.text,
        )
        self.view.chosen.connect(self._choose)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_hits("", ())

    def _apply_theme(self) -> None:
        theme = self._theme
        self._empty.setContentsMargins(theme.px(16), theme.px(10), theme.px(16), theme.px(16))
        self._empty.setSpacing(theme.px(8))
        self._above.setSpacing(theme.px(6))
        self._above.setContentsMargins(theme.px(12), theme.px(10), theme.px(12), theme.px(6))
        self._below.setContentsMargins(theme.px(16), theme.px(9), theme.px(16), theme.px(9))

    @property
    def model(self) -> GroupedModel:
        """What was found, newest first."""
        return self.view.rows

    def offer_projects(self, projects: Sequence[tuple[str, str]], project_id: str = "") -> None:
        """Let all chats be searched or those of one project, which begins with `project_id`: its id and its name."""
        self.where.blockSignals(True)
        self.where.clear()
        self.where.addItem(tr("All chats"), "")
        for each, name in projects:
            self.where.addItem(sanitize_line(name), each)
        self.where.setCurrentIndex(max(0, self.where.findData(project_id)))
        self.where.blockSignals(False)
        self.where.setVisible(bool(projects))

    @property
    def project_id(self) -> str:
        """The project that is searched, "" for all chats."""
        return str(self.where.currentData() or "")

    def open(self, text: str = "") -> None:
        """Begin to search, with what stood in the filter."""
        if text:
            self.field.setText(text)
        self.field.selectAll()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._typed(self.field.text())

    def show_hits(self, text: str, hits: Sequence[Hit]) -> None:
        """Show what was found for `text`; an answer to an older text is not shown."""
        if text != self.field.text():
            return
        rows = [((hit.chat_id, hit.message_id), hit) for hit in hits]
        self.view.show_groups([("", rows)])
        if rows:
            self.view.show_current(rows[0][0])
        number = len(hits)
        is_vain = bool(text.strip()) and not number
        self.nothing.set_text(tr("No results for “{text}”.", text=text.strip()) if is_vain else "")
        self._places.setCurrentIndex(1 if is_vain else 0)
        self._spoken.look_again()
        if not number:
            words = tr("Searches titles and messages for every word. Use quotes for a phrase.")
        elif number >= MOST_HITS:
            words = tr("Showing the newest {number} results. Add words to narrow the search.", number=number)
        else:
            words = tr_n("{n} match", "{n} matches", number)
        self.note.set_text(words)

    def _start_over(self) -> None:
        self.field.clear()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _typed(self, text: str) -> None:
        self.search_requested.emit(text)

    def _choose(self, key: object) -> None:
        """`key`: chat and message of the place."""
        hit = self.model.row_of(key) if isinstance(key, tuple) else None
        if isinstance(hit, Hit):
            self.hit_chosen.emit(hit.chat_id, hit.message_id, self.field.text().strip())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if watched is self.view and key == Qt.Key.Key_Escape:
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().eventFilter(watched, event)

"""All shortcuts on one sheet (Ctrl+/), as they are now: a changed key is shown changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.accessible_role import show_as
from app.ui.kit.key_text import key_text
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.shortcut_map import ShortcutRow
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.kit.widgets.surfaces import rule
from app.ui.shell.actions import key_parts
from app.ui.shell.modal_layer import ModalLayer

_WIDTH = 760
_TWO_COLUMNS_FROM = 700  # effective width


class ShortcutSheet(ModalLayer):
    """Two columns of actions and keys, grouped by where they work."""

    def __init__(
        self,
        theme: Theme,
        window: QWidget,
        rows: Callable[[], Sequence[ShortcutRow]],
        change: Callable[[], None] | None,
        place: Callable[[], str] = lambda: "",
    ) -> None:
        """`change` opens where keys can be changed, None while there is none. `place` is the title of the open tab."""
        super().__init__(theme, window, tr("All shortcuts"))
        self._rows, self._place = rows, place
        self.sheet_pane = QScrollArea()
        self.sheet_pane.setWidgetResizable(True)
        self.sheet_pane.setFrameShape(QFrame.Shape.NoFrame)
        self.sheet_pane.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sheet_pane.setAccessibleName(tr("Shortcuts"))
        show_as(self.sheet_pane, "Document")
        self.sheet_pane.ring_widget = None  # type: ignore[attr-defined]  # the whole sheet scrolls; it shows where one is
        self.search = SearchField(theme, tr("Search shortcuts"), results=lambda: results_words(self._fitting))
        self.search.search_changed.connect(lambda _text: self._fill())
        self.search.left.connect(self.close_layer)
        self._content_px = 0
        self._fitting = 0  # rows on the sheet
        self._close = IconButton(theme, "close", tr("Close"), shortcut="Esc")
        self._close.clicked.connect(self.close_layer)
        self._head = QHBoxLayout()
        self._head.addWidget(Label(theme, tr("All shortcuts"), "heading"))
        self._head.addWidget(self.search, 1)
        if change is not None:
            button = Button(theme, tr("Change shortcuts"), "keyboard", size="small")
            button.clicked.connect(lambda: (self.close_layer(), change()))
            self._head.addWidget(button)
        self._head.addWidget(self._close)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addLayout(self._head)
        layout.addWidget(rule())
        layout.addWidget(self.sheet_pane)

    def open(self) -> None:
        """Show the sheet with the keys of this moment."""
        self.cover_window()
        self.search.setText("")
        self.restyle()
        self._fill()
        self.open_layer()

    def first_focus(self) -> QWidget:
        return self.search

    def restyle(self) -> None:
        theme = self.theme
        self._head.setContentsMargins(theme.px(20), theme.px(10), theme.px(12), theme.px(10))
        self._head.setSpacing(theme.px(12))
        if self.isVisible():  # else it is made when it is opened
            self._fill()

    def _fill(self) -> None:
        sheet = self._sheet()
        if not self.search.text().strip():
            self._content_px = sheet.sizeHint().height()  # the panel keeps its size while rows are filtered out
        self.sheet_pane.setWidget(sheet)
        for ground in (sheet, self.sheet_pane.viewport()):
            ground.setAutoFillBackground(False)  # the panel's own surface shows through, with its corners

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys that a line of text has no use for scroll the sheet."""
        bar = self.sheet_pane.verticalScrollBar()
        steps = {
            Qt.Key.Key_Up: -bar.singleStep(),
            Qt.Key.Key_Down: bar.singleStep(),
            Qt.Key.Key_PageUp: -bar.pageStep(),
            Qt.Key.Key_PageDown: bar.pageStep(),
        }
        if event.key() in steps:
            bar.setValue(bar.value() + steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _sheet(self) -> QWidget:
        theme = self.theme
        sheet = QWidget()
        columns = QHBoxLayout(sheet)
        columns.setContentsMargins(theme.px(20), theme.px(12), theme.px(20), theme.px(20))
        columns.setSpacing(theme.px(32))
        for part in self.columns():
            grid = self._column(columns)
            for group, row in part:
                if row is None:
                    self._group_title(grid, group)
                else:
                    self._shortcut(grid, row)
        return sheet

    def columns(self) -> list[list[tuple[str, ShortcutRow | None]]]:
        """Titles (row None) and rows, cut in two where the sheet is wide; a cut group says its title again."""
        items: list[tuple[str, ShortcutRow | None]] = []
        typed = self.search.text()
        words = SearchTerms(typed.replace("+", " "))
        here = self._place()
        for row in sorted(self._rows(), key=lambda row: row.group != here):  # those of the open tab first
            if row.shortcut and words.are_in(row.text, row.group, key_text(row.shortcut).replace("+", " ")):
                if not items or items[-1][0] != row.group:
                    items.append((row.group, None))
                items.append((row.group, row))
        self._fitting = sum(row is not None for _, row in items)
        if self.width() / self.theme.scale < _TWO_COLUMNS_FROM:
            return [items]
        cut = (len(items) + 1) // 2
        if cut and items[cut - 1][1] is None:
            cut -= 1
        left, right = items[:cut], items[cut:]
        if right and right[0][1] is not None:
            right.insert(0, (right[0][0], None))
        return [left, right]

    def _column(self, columns: QHBoxLayout) -> QGridLayout:
        holder = QVBoxLayout()
        grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        grid.setVerticalSpacing(self.theme.px(6))
        holder.addLayout(grid)
        holder.addStretch(1)
        columns.addLayout(holder, 1)
        return grid

    def _group_title(self, grid: QGridLayout, group: str) -> None:
        title = Label(self.theme, group, "small", "text3", weight=600)
        title.setContentsMargins(0, self.theme.px(8 if grid.rowCount() > 1 else 0), 0, self.theme.px(2))
        grid.addWidget(title, grid.rowCount(), 0, 1, 2)

    def _shortcut(self, grid: QGridLayout, row: ShortcutRow) -> None:
        at = grid.rowCount()
        grid.addWidget(Label(self.theme, row.text, wrap=True), at, 0)
        keys = QWidget()
        keys.setAccessibleName(f"{row.text}: {row.shortcut}")
        line = QHBoxLayout(keys)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(self.theme.px(4))
        for part in key_parts(row.shortcut):
            line.addWidget(KeyHint(self.theme, part))
        grid.addWidget(keys, at, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def panel_rect(self) -> QRect:
        theme = self.theme
        side = theme.px(24)
        width = min(theme.type_px(_WIDTH), self.width() - 2 * side)
        head = self._head.sizeHint().height() + 3
        height = min(self._content_px + head, self.height() - 2 * side)
        return QRect((self.width() - width) // 2, (self.height() - height) // 2, width, height)

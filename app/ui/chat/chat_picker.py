"""Asks which chat a message is copied or moved to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView

from app.translation import tr
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.preset_popover import DETAIL_ROLE, ID_ROLE, TwoLines
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.search_field import SearchField

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.ui.chat.session.message_moves import Target
    from app.ui.kit.theme import Theme

LIST_HIGH = 300
WHY_NOT_ROLE = DETAIL_ROLE + 1


class ChatPickerDialog(Dialog):
    """`targets` finds chats for what was typed. `chat_id` is the chosen one, "" for a new chat, once accepted.

    A chat that cannot be chosen says why in its row, and below the list when it is chosen anyway.
    """

    def __init__(
        self, theme: Theme, parent: QWidget, targets: Callable[[str], tuple[Target, ...]], *, move: bool
    ) -> None:
        super().__init__(theme, parent, tr("Move to chat") if move else tr("Copy to chat"))
        self._targets = targets
        words = tr("The question goes to the end of the chat, with all its answers and attachments.")
        self.body.addWidget(Label(theme, words, role="text2", wrap=True))
        self.search = SearchField(theme, tr("Search all chats by title"), results=None)
        self.body.addWidget(self.search)
        self._items = QStandardItemModel(self)
        self.list = QListView()
        self.list.setModel(self._items)
        self.list.setItemDelegate(TwoLines(theme, self.list))
        self.list.setAccessibleName(tr("Chats"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setFixedHeight(theme.height_px(LIST_HIGH))
        self.body.addWidget(self.list)
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(tr("Move") if move else tr("Copy"), kind="primary", default=True)
        self.go.clicked.connect(self._choose)
        self.list.doubleClicked.connect(lambda _index: self._choose())
        self.search.textChanged.connect(lambda _text: self._fill())
        self.list.selectionModel().currentChanged.connect(lambda *_: self.problem.set_text(""))
        FilterKeys(self.list, self.search, take=lambda _event: self._choose())
        self._fill()
        self.search.setFocus()

    @property
    def chat_id(self) -> str:
        return str(self.list.currentIndex().data(ID_ROLE) or "")

    def _fill(self) -> None:
        self._items.clear()
        for target in self._targets(self.search.text()):
            item = QStandardItem(target.title)
            detail = target.why_not or target.when
            item.setData(target.id, ID_ROLE)
            item.setData(detail, DETAIL_ROLE)
            item.setData(target.why_not, WHY_NOT_ROLE)
            item.setData(f"{target.title}, {detail}" if detail else target.title, Qt.ItemDataRole.AccessibleTextRole)
            item.setToolTip(plain_tip(detail))
            self._items.appendRow(item)
        # Who typed means the first chat that was found, not a new one.
        first = 1 if self.search.text().strip() and self._items.rowCount() > 1 else 0
        self.list.setCurrentIndex(self._items.index(first, 0))

    def _choose(self) -> None:
        why_not = str(self.list.currentIndex().data(WHY_NOT_ROLE) or "")
        if why_not:
            self.problem.show_field_error(self.search, why_not)
        else:
            self.accept()

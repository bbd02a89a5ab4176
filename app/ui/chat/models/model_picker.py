"""The popover under the model button: search, abilities, every model with its price. Works from the saved list too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from app.core.leaving_models import LEAVING
from app.translation import tr
from app.ui.chat.models.model_picker_list import (
    ROW_ROLE,
    ModelDelegate,
    ModelListModel,
    column_rects,
    columns_in,
    filter_pill,
)
from app.ui.chat.session.inspector_state import ModelList, ModelRow
from app.ui.chat.session.seal import ENCLAVE, SEALED
from app.ui.kit.forms.other_model_dialog import OTHER_MODEL
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.widgets.buttons import QuietButton
from app.ui.kit.widgets.empty_state import Skeleton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.key_hint import KeyHint, key_words
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH = 660
LIST_HEIGHT = 380
FILTERS = (
    SEALED,
    ENCLAVE,
    tr("Vision"),
    tr("Reasoning"),
    tr("Functions"),
    tr("Web"),
    tr("Audio in"),
    tr("Video in"),
    tr("Code"),
    tr("Caching"),
    LEAVING,
)
SORT_WORDS = {"name": tr("name"), "price": tr("price"), "context": tr("context"), "newest": tr("newest")}


class ModelView(QListView):
    """The list. A click on the star makes a favorite, anywhere else chooses."""

    star_clicked = Signal(QModelIndex)
    row_clicked = Signal(QModelIndex)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        delegate = self.itemDelegate()
        if not index.isValid() or event.button() != Qt.MouseButton.LeftButton:
            return
        if isinstance(delegate, ModelDelegate):
            on_star = delegate.star_rect(self.visualRect(index)).contains(event.position().toPoint())
            (self.star_clicked if on_star else self.row_clicked).emit(index)


class ModelPicker(Popover):
    """`chosen` names the model and whether later chats are to use it too."""

    chosen = Signal(str, bool)
    favorite_toggled = Signal(str)
    sort_chosen = Signal(str)
    reload_requested = Signal()
    other_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent, name=tr("Choose a model"), padding=0)
        self.search = SearchField(theme, tr("Filter models by name or id"), results=None)
        self.search.textChanged.connect(self._filter)  # at once: Enter right after the last letter means what is typed
        self.search.installEventFilter(self)
        self.sort = QuietButton(theme, "", "sort", size="small")
        self.sort.clicked.connect(self.open_sorts)
        self._sort = ""
        self.pills = {name: filter_pill(theme, name) for name in FILTERS}
        self.model = ModelListModel(self)
        self.view = ModelView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(ModelDelegate(theme, self.view))
        self.view.setAccessibleName(tr("Models"))
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # arrows in the field above move in it
        self._header = ModelListHeader(theme, self.view)
        self._nothing = Label(theme, "", role="text2", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._moves = QWidget()  # the arrows go first where there is little room: everybody knows them
        self.other = QuietButton(theme, OTHER_MODEL, size="small")
        self._places = QStackedWidget()
        self._note = Label(theme, "", "small", "text2")
        self._saved_note = ""
        self._build(theme)
        self.set_first_focus(self.search)
        FilterKeys(self.view, self.search, take=self._take, nothing=self._nothing.text)
        self.view.selectionModel().currentChanged.connect(lambda index: self._publish(index))
        self.view.row_clicked.connect(lambda index: self._choose(index, for_new_chats=False))
        self.view.star_clicked.connect(self._toggle_favorite)
        self.other.clicked.connect(self._leave_for_other)
        self._theme_of_list = theme
        theme.changed.connect(self._apply_list_theme)
        self._apply_list_theme()

    def _build(self, theme: Theme) -> None:
        top = QVBoxLayout()
        top.setContentsMargins(theme.px(12), theme.px(12), theme.px(12), theme.px(10))
        top.setSpacing(theme.px(10))
        first = QHBoxLayout()
        first.setSpacing(theme.px(6))
        first.addWidget(self.search, 1)
        first.addWidget(self.sort)
        top.addLayout(first)
        holder = QWidget()
        flow = FlowLayout(theme, gap=6, line_gap=6, parent=holder)
        for pill in self.pills.values():
            pill.toggled.connect(self._filter)
            flow.addWidget(pill)
        top.addWidget(holder)
        self._places.addWidget(self.view)
        self._places.addWidget(self._nothing)
        loading = QWidget()
        inside = QVBoxLayout(loading)
        inside.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(8))
        inside.addWidget(Skeleton(theme))
        self._places.addWidget(loading)
        self.body.setSpacing(0)
        self.body.addLayout(top)
        self.body.addWidget(rule())
        self.body.addWidget(self._header)
        self.body.addWidget(self._places)
        self.set_list(self._places)
        self.body.addWidget(rule())
        self.body.addWidget(self._footer(theme))

    def _footer(self, theme: Theme) -> QWidget:
        footer = QFrame()
        zone(footer, "pane")
        column = QVBoxLayout(footer)
        column.setContentsMargins(theme.px(14), theme.px(8), theme.px(14), theme.px(8))
        column.setSpacing(theme.px(6))
        first = QHBoxLayout()
        first.addWidget(self.other)
        first.addStretch(1)
        first.addWidget(self._note)
        column.addLayout(first)
        row = QHBoxLayout()
        column.addLayout(row)
        row.setSpacing(theme.px(4))
        moves = QHBoxLayout(self._moves)
        moves.setContentsMargins(0, 0, theme.px(8), 0)
        moves.setSpacing(theme.px(4))
        for key in ("↑", "↓"):
            moves.addWidget(KeyHint(theme, key))
        moves.addWidget(key_words(theme, "↓", tr("Move")))
        row.addWidget(self._moves)
        for key, words in (("Enter", tr("Use in this chat")), ("Ctrl+D", tr("Favorite"))):
            row.addWidget(KeyHint(theme, key))
            row.addWidget(key_words(theme, key, words))
            row.addSpacing(theme.px(8))
        row.addStretch(1)
        row.addWidget(KeyHint(theme, "Ctrl+Enter"))
        row.addWidget(key_words(theme, "Ctrl+Enter", tr("Use for new chats")))
        return footer

    def _apply_list_theme(self) -> None:
        self._places.setFixedHeight(self._theme_of_list.type_px(LIST_HEIGHT))
        self.view.doItemsLayout()

    def _apply_theme(self) -> None:
        """The footer's tone reaches the card's edge, so this popover has no padding of its own."""
        super()._apply_theme()
        self.body.setSpacing(0)

    # What the page tells

    def show_models(self, models: ModelList) -> None:
        """Show the list; the row under the keyboard stays where it is."""
        before = self._current_id()
        self._show_sort(models.sort)
        self.model.set_models(models.rows)
        number = len(models.rows)
        words = (
            tr("Filter {number} models by name or id", number=number)
            if number > 1
            else tr("Filter models by name or id")
        )
        self.search.setPlaceholderText(words)
        self._saved_note = models.saved_note
        self._select(self.model.index_of(before) if before else QModelIndex())
        self._publish(self.view.currentIndex())
        if models.loading and not number:
            self._places.setCurrentIndex(2)
        else:
            self._agree(str(models.problem) if models.problem is not None else tr("No models yet."))

    def open_under(self, button: QWidget) -> None:
        """Open below the button, with the model in use under the keyboard."""
        self.search.clear()
        for pill in self.pills.values():
            pill.setChecked(False)
        self.reload_requested.emit()
        self._select(QModelIndex())
        window = button.window()
        room = round(window.width() / self._theme_of_list.scale) - 32
        self._apply_list_theme()  # whole again, if the screen was too small for it
        self._moves.setVisible(room >= WIDTH)
        self.open_at(button, width=min(WIDTH, room))

    # Inside

    def _show_sort(self, sort: str) -> None:
        if sort == self._sort:
            return
        self._sort = sort
        self.sort.setText(tr("Sort: {order}", order=SORT_WORDS[sort]))
        self.model.set_sort(sort)

    def open_sorts(self) -> Menu:
        """Show the orders under their button; what is chosen is kept for the next time."""
        menu = Menu(self._theme_of_list, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for sort, words in SORT_WORDS.items():
            action = menu.addAction(words.capitalize())
            action.setCheckable(True)
            action.setChecked(sort == self._sort)
            action.triggered.connect(lambda _on=False, sort=sort: self._choose_sort(sort))
        menu.popup(self.sort.mapToGlobal(QPoint(0, self.sort.height())))
        return menu

    def _choose_sort(self, sort: str) -> None:
        before = self._current_id()
        self._show_sort(sort)
        self._select(self.model.index_of(before))
        self.search.setFocus()
        self.sort_chosen.emit(sort)

    def _publish(self, index: QModelIndex) -> None:
        """What comes instead of the model under the keyboard, else how old the list is."""
        row = index.data(ROW_ROLE)
        next_id = row.replacement if isinstance(row, ModelRow) else ""
        then = tr("Replacement: {name}", name=self.model.name_of(next_id))
        self._note.set_text(then if next_id else self._saved_note)

    def _filter(self) -> None:
        wanted = [name for name, pill in self.pills.items() if pill.isChecked()]
        self.model.set_filter(self.search.text(), wanted)
        self._select(QModelIndex())
        self._agree(tr("No models match. Clear the search or a filter."))

    def _agree(self, nothing: str) -> None:
        self._nothing.set_text(nothing)
        self._places.setCurrentIndex(0 if self.model.matches() else 1)

    def _select(self, index: QModelIndex) -> None:
        """This row, else the model in use, else the first."""
        if not index.isValid():
            in_use = next((row.id for row in self._models() if row.is_current), "")
            index = self.model.index_of(in_use)
        self.view.setCurrentIndex(index if index.isValid() else self.model.first())

    def _models(self) -> list[ModelRow]:
        rows = (self.model.index(place, 0).data(ROW_ROLE) for place in range(self.model.rowCount()))
        return [row for row in rows if isinstance(row, ModelRow)]

    def _current_id(self) -> str:
        row = self.view.currentIndex().data(ROW_ROLE)
        return row.id if isinstance(row, ModelRow) else ""

    def _choose(self, index: QModelIndex, *, for_new_chats: bool) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, ModelRow):
            self.close()
            self.chosen.emit(row.id, for_new_chats)

    def _leave_for_other(self) -> None:
        self.close()
        self.other_requested.emit()

    def _toggle_favorite(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, ModelRow):
            self.favorite_toggled.emit(row.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _take(self, event: QKeyEvent) -> None:
        """Enter chooses for this chat, Ctrl+Enter for new ones too."""
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        self._choose(self.view.currentIndex(), for_new_chats=control)

    def _key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_D and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._toggle_favorite(self.view.currentIndex())
            return True
        return False


class ModelListHeader(QWidget):
    """Names of the columns, over the list."""

    def __init__(self, theme: Theme, view: ModelView) -> None:
        super().__init__()
        self._theme = theme
        self._view = view
        view.verticalScrollBar().rangeChanged.connect(lambda: self.update())
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFixedHeight(self._theme.height_px(26, 16))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setFont(theme.font("caption"))
        painter.setPen(theme.color("text3"))
        bar = self._view.verticalScrollBar()
        taken = bar.width() if bar.maximum() > 0 else 0
        inside = QRect(QPoint(theme.px(10), 0), self.rect().bottomRight() - QPoint(theme.px(14) + taken, 0))
        left = inside.left() + theme.icon_px(22) + theme.px(8)
        painter.drawText(
            inside.adjusted(left - inside.left(), 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), tr("Model")
        )
        end = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        for (name, _), rect in zip(columns_in(theme, inside), column_rects(theme, inside), strict=True):
            painter.drawText(rect, end, name)

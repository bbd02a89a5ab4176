"""The line on top of the conversation: title, model, panes; and below it the character, when there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core import number_format
from app.translation import tr, tr_n
from app.ui.chat.models.model_button import ModelButton
from app.ui.chat.session.estimate import context_text
from app.ui.chat.session.seal import SealIndicator, SealState
from app.ui.kit.focus import leave_focus
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.avatar import Avatar
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton, QuietButton
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule
from app.ui.kit.widgets.title_edit import TitleEdit

if TYPE_CHECKING:
    from app.ui.chat.state import CharacterHead, ChatHead
    from app.ui.kit.theme import Theme


LOCK_ROLES = {
    SealState.SEALED: "ok",
    SealState.ENCLAVE: "text2",
    SealState.OPEN: "text3",
    SealState.REFUSED: "bad",
}
ROOM_FOR_PARTNER = 620  # px at 100 %; below, the image alone says who it is
ROOM_FOR_WORDS = 700  # beside a lock; in less they would cut the title, and the lock next to Send has them too


class ChatHeader(QFrame):
    """Title with inline renaming at the left, model and panes at the right."""

    renamed = Signal(str)
    model_requested = Signal()
    new_requested = Signal()
    menu_requested = Signal()
    export_requested = Signal()
    list_requested = Signal()
    inspector_requested = Signal()
    seal_requested = Signal()  # see what was checked

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._narrow = False
        self._title = ""
        self._has_character = False
        self._stored = False
        self.setProperty("part", "header")
        self.list_button = IconButton(theme, "panel-left", tr("Show chats"), shortcut="Ctrl+B")
        self.picture = Avatar(theme, "", px=24)
        self.title = Label(theme, "", "reading", weight=600, elide=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.partner = Label(theme, "", role="text2", elide=True)
        self.partner.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.edit = TitleEdit(theme, tr("Chat title"))
        self.edit.renamed.connect(self.renamed)
        self.edit.toggled.connect(self._arrange)
        self.rename_button = IconButton(theme, "pencil", tr("Rename"), shortcut="F2", size="small")
        self.lock = QuietButton(theme, "", "unlock", size="small")
        self._lock = SealIndicator()
        self.model = ModelButton(theme)
        self.new_button = IconButton(theme, "plus", tr("New chat"), shortcut="Ctrl+N")
        self.more_button = IconButton(theme, "more", tr("More actions"))
        self.export_button = IconButton(theme, "download", tr("Export chat"), shortcut="Ctrl+E")
        self.inspector_button = IconButton(theme, "panel-right", tr("Parameters"), shortcut="Ctrl+I", checkable=True)
        self._layout = QHBoxLayout(self)
        for widget in (self.list_button, self.picture, self.title, self.partner, self.rename_button):
            self._layout.addWidget(widget)
        self._layout.addWidget(self.edit, 1)
        self._layout.addStretch()
        for button in (
            self.lock,
            self.model,
            self.new_button,
            self.export_button,
            self.more_button,
            self.inspector_button,
        ):
            self._layout.addWidget(button)
        leave_focus(self.list_button, self.rename_button, self.lock, self.model, self.new_button)
        leave_focus(self.export_button, self.more_button, self.inspector_button)
        self.rename_button.clicked.connect(self.begin_rename)
        self.lock.clicked.connect(self.seal_requested)
        self.model.clicked.connect(self.model_requested)
        self.new_button.clicked.connect(self.new_requested)
        self.more_button.clicked.connect(self.menu_requested)
        self.export_button.clicked.connect(self.export_requested)
        self.list_button.clicked.connect(self.list_requested)
        self.inspector_button.clicked.connect(self.inspector_requested)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        theme = self._theme
        left = 16 if self.list_button.isVisibleTo(self) else 24
        self._layout.setContentsMargins(theme.px(left), 0, theme.px(16), 0)
        self._layout.setSpacing(theme.px(8))

    def show_head(self, head: ChatHead) -> None:
        """Name the open chat and its model."""
        self._title = head.title
        self.title.set_text(head.title)
        self.model.show_model(head.model_name, context_text(head.context_tokens), missing=head.model_missing)
        self._lock = head.lock
        character = head.character
        self.picture.set_name(character.name if character is not None else "")
        self.partner.set_text(tr("with {name}", name=character.name) if character is not None else "")
        self._has_character = character is not None
        self._stored = head.chat_id is not None
        self._arrange()

    def set_places(self, *, narrow: bool, list_button: bool, inspector_open: bool) -> None:
        """Follow the window: what folds into the header and which panes its buttons open."""
        self._narrow = narrow
        self.list_button.setVisible(list_button)
        self.inspector_button.setChecked(inspector_open)
        self.model.set_compact(narrow)
        self._arrange()
        self._apply_theme()

    def _arrange(self) -> None:
        editing = self.edit.is_open
        folded = self._narrow and self._has_character and not editing
        self.picture.setVisible(folded)
        self.partner.setVisible(folded and self.width() > self._theme.type_px(ROOM_FOR_PARTNER))
        self.title.setVisible(not editing)
        self.rename_button.setVisible(self._stored and not editing and not self._narrow)
        has_room = self.width() > self._theme.type_px(ROOM_FOR_WORDS)
        show_lock(self.lock, self._lock, with_words=has_room and not self._narrow)
        self.new_button.setVisible(self._narrow)
        policy = self.export_button.sizePolicy()
        policy.setRetainSizeWhenHidden(not self._narrow)  # nothing beside it moves when the chat is stored
        self.export_button.setSizePolicy(policy)
        self.export_button.setVisible(self._stored and not self._narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def begin_rename(self) -> None:
        """Turn the title into a field."""
        self.edit.begin(self._title)


def show_lock(button: Button, lock: SealIndicator, *, with_words: bool) -> None:
    """Show the state of a lock; words beside its icon only where there is room and a model that has an enclave."""
    button.set_icon(lock.icon, LOCK_ROLES[lock.state])
    button.setText(lock.words if with_words and not lock.is_quiet else "")
    button.setAccessibleName(lock.words)
    button.setAccessibleDescription(lock.detail)
    button.setToolTip(plain_tip(f"{lock.words}\n{lock.detail}"))


class CharacterBar(QFrame):
    """Who the chat speaks with: image, name, rating, one line about them; change or leave them."""

    change_requested = Signal()
    remove_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("part", "character")
        self.picture = Avatar(theme, "", px=40)
        self.name = Label(theme, "", "reading", weight=600)
        self.kind = Badge(theme, tr("Character"))
        self._star = IconLabel(theme, "star-filled", "warn", px=12)
        self.rating = Label(theme, "", "small", "text3", tabular=True)
        self.about = Label(theme, "", "small", "text2", elide=True)
        self.change = Button(theme, tr("Change"), size="small")
        self.change.setAccessibleName(tr("Change character"))
        self.remove = IconButton(theme, "close", tr("Remove character"), size="small")
        self._first = QHBoxLayout()
        for widget in (self.name, self.kind, self._star, self.rating):
            self._first.addWidget(widget)
        self._first.addStretch(1)
        self._words = QVBoxLayout()
        self._words.addLayout(self._first)
        self._words.addWidget(self.about)
        self._layout = QHBoxLayout()
        self._layout.addWidget(self.picture)
        self._layout.addLayout(self._words, 1)
        self._layout.addWidget(self.change)
        self._layout.addWidget(self.remove)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(self._layout)
        outer.addWidget(rule())
        self.change.clicked.connect(self.change_requested)
        self.remove.clicked.connect(self.remove_requested)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        theme = self._theme
        self._layout.setContentsMargins(theme.px(24), theme.px(10), theme.px(24), theme.px(10))
        self._layout.setSpacing(theme.px(12))
        self._first.setSpacing(theme.px(8))
        self._words.setSpacing(0)

    def show_character(self, character: CharacterHead) -> None:
        """Introduce somebody."""
        self.picture.set_name(character.name)
        self.name.set_text(character.name)
        rated = character.rating_count > 0
        self._star.setVisible(rated)
        self.rating.setVisible(rated)
        self.rating.set_text(
            f"{number_format.rating(character.rating)} ({number_format.count(character.rating_count)})"
        )
        self.rating.setAccessibleName(
            tr_n(
                "Rated {rating} by {rating_count} person",
                "Rated {rating} by {rating_count} people",
                character.rating_count,
                rating=number_format.rating(character.rating),
                rating_count=number_format.count(character.rating_count),
            )
        )
        self.about.set_text(" ".join(character.description.split()))

"""The line on top of the canvas: title, model, what can be done at once, and the panes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.translation import tr
from app.ui.kit.forms.other_model_dialog import OTHER_MODEL
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.title_edit import TitleEdit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.kit.theme import Theme
    from app.ui.transcription.state import Head, ModelChoice

PRIVACY = {"private": tr("private"), "anonymized": tr("anonymous")}


class TranscriptHeader(QFrame):
    """Title with renaming in place at the left, model and panes at the right."""

    renamed = Signal(str)
    model_chosen = Signal(str)
    again_requested = Signal(str)  # with this model
    other_requested = Signal(bool)  # another model than those of the list; True to transcribe again with it
    copy_requested = Signal()
    list_requested = Signal()
    inspector_requested = Signal()
    new_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._narrow = False
        self._head: Head | None = None
        self._models: Sequence[ModelChoice] = ()
        self._model = ""
        self.setProperty("part", "header")
        self.list_button = IconButton(theme, "panel-left", tr("Show the list"), shortcut="Ctrl+B")
        self.title = Label(theme, "", "reading", weight=600, elide=True)
        self.title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.edit = TitleEdit(theme, tr("Title"))
        self.edit.renamed.connect(self.renamed)
        self.edit.toggled.connect(self._arrange)
        self.rename_button = IconButton(theme, "pencil", tr("Rename"), shortcut="F2", size="small")
        self.model = Button(theme, "", "sparkle", icon_role="accent", opens_menu=True)
        self.again = Button(theme, tr("Transcribe again"), "refresh")
        self.copy = Button(theme, tr("Copy text"), "copy")
        self.new_button = IconButton(theme, "plus", tr("New recording"), shortcut="Ctrl+N")
        self.inspector_button = IconButton(
            theme, "panel-right", tr("Options and export"), shortcut="Ctrl+I", checkable=True
        )
        self._layout = QHBoxLayout(self)
        for widget in (self.list_button, self.title, self.rename_button):
            self._layout.addWidget(widget)
        self._layout.addWidget(self.edit, 1)
        self._layout.addStretch(1)
        for button in (self.again, self.copy, self.model, self.new_button, self.inspector_button):
            self._layout.addWidget(button)
        self.rename_button.clicked.connect(self.begin_rename)
        self.model.clicked.connect(self.open_models)
        self.again.clicked.connect(self.open_again)
        self.copy.clicked.connect(self.copy_requested)
        self.new_button.clicked.connect(self.new_requested)
        self.list_button.clicked.connect(self.list_requested)
        self.inspector_button.clicked.connect(self.inspector_requested)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        px = self._theme.px
        left = 16 if self.list_button.isVisibleTo(self) else 24
        self._layout.setContentsMargins(px(left), 0, px(16), 0)
        self._layout.setSpacing(px(8))

    def show_head(self, head: Head) -> None:
        """Name the open row, and offer what can be done with it."""
        self._head = head
        self.title.set_text(head.title or tr("New recording"))
        self._arrange()

    def show_models(self, models: Sequence[ModelChoice], chosen: str) -> None:
        self._models, self._model = models, chosen
        name = next((model.name for model in models if model.id == chosen), "") or tr("Choose a model")
        self.model.setText(name)
        self.model.setAccessibleName(tr("Model: {name}", name=name))
        self.model.setToolTip(tr("Choose a model (Ctrl+Shift+M)"))

    def set_places(self, *, narrow: bool, list_button: bool, inspector_open: bool) -> None:
        """Follow the window: what folds away and which panes the buttons open."""
        self._narrow = narrow
        self.list_button.setVisible(list_button)
        self.inspector_button.setChecked(inspector_open)
        self._arrange()
        self._apply_theme()

    def _arrange(self) -> None:
        head = self._head
        editing = self.edit.is_open
        done = head is not None and head.view == "result"
        self.title.setVisible(not editing)
        self.rename_button.setVisible(head is not None and head.id is not None and not editing and not self._narrow)
        self.again.setVisible(done and not self._narrow)
        self.copy.setVisible(done and not self._narrow)
        self.model.setVisible(not done)
        self.new_button.setVisible(self._narrow)

    def open_again(self) -> Menu:
        """The models to transcribe this sound with once more; the price stands beside each."""
        menu = self._menu(again=True)
        menu.triggered.connect(lambda action: self.again_requested.emit(str(action.data())) if action.data() else None)
        menu.popup(self.again.mapToGlobal(self.again.rect().bottomLeft()))
        return menu

    def open_models(self) -> Menu:
        """Every transcription model with its price."""
        menu = self._menu(again=False)
        menu.triggered.connect(lambda action: self.model_chosen.emit(str(action.data())) if action.data() else None)
        button = self.model if self.model.isVisibleTo(self) else self.inspector_button
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
        return menu

    def _menu(self, *, again: bool) -> Menu:
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if not self._models:
            menu.add(tr("The model list has not loaded yet"), enabled=False)
        for model in self._models:
            more = " · ".join(part for part in (model.price, PRIVACY.get(model.privacy, model.privacy)) if part)
            action = menu.add(f"{model.name}   {more}" if more else model.name)
            action.setCheckable(True)
            action.setChecked(model.id == self._model)
            action.setData(model.id)
        menu.addSeparator()
        menu.add(OTHER_MODEL).triggered.connect(lambda: self.other_requested.emit(again))
        return menu

    def begin_rename(self) -> None:
        """Turn the title of a stored row into a field."""
        if self._head is not None and self._head.id is not None:
            self.edit.begin(self._head.title)

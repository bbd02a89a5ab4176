"""What belongs to the message box of the chat tab: attachments, presets, commands. Made when first used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject

Kind = Literal["prompt", "preset"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.chat.attachment_saving import CopySaver
    from app.ui.chat.page import ChatPage
    from app.ui.chat.presenter_presets import PresetShelf
    from app.ui.chat.preset_popover import PresetPopover
    from app.ui.chat.state import AttachmentView
    from app.ui.shared.tasks import TaskScope
    from app.ui.shared.theme import Theme


class BoxDesk(QObject):
    """Connects the parts with the page and its presenter; decides nothing itself."""

    def __init__(self, page: ChatPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks
        self._strip_is_connected = False

    # Prompts and presets

    @cached_property
    def prompts(self) -> PresetPopover:
        """The library of system prompts."""
        return self._library("prompt", self.tr("Prompts"), self.tr("Save a system prompt here to use it again."))

    @cached_property
    def presets(self) -> PresetPopover:
        """Model, character and parameters under a name."""
        words = self.tr("Save model, character and parameters of this chat here to begin others with them.")
        return self._library("preset", self.tr("Presets"), words)

    def _library(self, kind: Kind, title: str, empty: str) -> PresetPopover:
        from app.ui.chat.preset_popover import PresetPopover

        made = PresetPopover(self._theme, self._page.main, title=title, empty=empty)
        shelf = self._shelf
        if shelf is not None:
            made.show_rows(shelf.rows(kind))
            shelf.changed.connect(lambda _rows: made.show_rows(shelf.rows(kind)))
            made.used.connect(shelf.use)
            made.remove_wanted.connect(shelf.remove)
            made.file_chosen.connect(shelf.take_file)
            made.target_chosen.connect(shelf.export)
            made.rename_wanted.connect(lambda key, name: self._tasks.start("rename-preset", self._rename, key, name))
            made.save_wanted.connect(lambda: self._tasks.start("save-preset", self._save, kind))
        return made

    @cached_property
    def _shelf(self) -> PresetShelf | None:
        shelf = self._page.presenter.presets
        if shelf is not None:
            shelf.told.connect(self._told)
        return shelf

    def _told(self, sentence: str, can_undo: bool) -> None:
        undo = ("undo-preset", self.tr("Undo")) if can_undo else ("", "")
        self._page.toast_wanted.emit(sentence, *undo)

    def undo_preset(self) -> None:
        """Bring back the prompt or preset that was removed last."""
        if self._shelf is not None:
            self._shelf.undo()

    def open_prompts(self) -> None:
        self._open(self.prompts, "prompts")

    def open_presets(self) -> None:
        self._open(self.presets, "presets")

    def _open(self, popover: PresetPopover, opener: str) -> None:
        """Open under its link among the parameters, or over the box while those are not to be seen."""
        self._page.show_chat()
        side = self._page.side
        link = getattr(side.parameters, opener) if self._page.zones.inspector_open and side.is_made(0) else None
        shown = link is not None and link.isVisible() and not link.visibleRegion().isEmpty()
        popover.open_under(link if shown and link is not None else self._page.main.composer.attach)

    async def _save(self, kind: Kind) -> None:
        from app.ui.shared.dialogs import ask_text

        opened = self._page.presenter.opened
        if kind == "prompt":
            title, value = self.tr("Save this prompt"), " ".join(opened.options.system_prompt.split()[:6])
        else:
            title, value = self.tr("Save this preset"), self._page.presenter.head().partner
        self._page.flush_parameters()
        name = await ask_text(self._theme, self._page.main, title, self.tr("Name"), value=value, max_chars=80)
        if name and self._shelf is not None:
            self._shelf.save(kind, name)

    async def _rename(self, preset_id: str, name: str) -> None:
        from app.ui.shared.dialogs import ask_text

        words = self.tr("Rename")
        wanted = await ask_text(
            self._theme, self._page.main, words, self.tr("Name"), value=name, action=words, max_chars=80
        )
        if wanted and self._shelf is not None:
            self._shelf.rename(preset_id, wanted)

    # Attachments

    def show_attachments(self, views: Sequence[AttachmentView]) -> None:
        """Show the chips over the box."""
        composer, attaching = self._page.main.composer, self._page.presenter.attaching
        if views and not self._strip_is_connected:
            self._strip_is_connected = True
            composer.strip.remove_wanted.connect(attaching.remove)
            composer.strip.shrink_wanted.connect(attaching.shrink)
        composer.show_attachments(views)

    def attach(self) -> None:
        """Ask for files to attach; opens without a nested loop."""
        from app.ui.chat.attachment_saving import ask_for_files

        self._page.show_chat()
        ask_for_files(self._page.main, self._page.presenter.attaching.add_files)

    @cached_property
    def _copies(self) -> CopySaver:
        from app.ui.chat.attachment_saving import CopySaver

        saver = CopySaver(self._page.main, self._tasks)
        saver.told.connect(lambda sentence: self._page.toast_wanted.emit(sentence, "", ""))
        return saver

    def save_attachment(self, row_id: str, index: int) -> None:
        """Offer a copy of what was attached. Nothing of it is opened: it may be a program in disguise."""
        row = self._page.main.view.row(row_id)
        if index < len(row.attachments):
            self._copies.ask(Path(row.attachments[index].path), row.attachments[index].name)

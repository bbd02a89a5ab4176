"""What belongs to the message box of the chat tab: attachments, presets, commands. Made when first used."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.chat.attachment_saving import CopySaver
    from app.ui.chat.page import ChatPage
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

"""Looks for characters while somebody types a slash and a name: free of charge, adult ones left out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.service.characters import CharactersQuery
from app.service.errors import ServiceError
from app.ui.chat.state import CharacterHead

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope

PAUSE_S = 0.25
FEWEST_CHARS = 2
MOST_FOUND = 8


class CharacterFinder(QObject):
    """`found` carries what was typed and the characters that match it; the newest search wins."""

    found = Signal(str, object)  # text, tuple[CharacterHead, ...]

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current_account = current_account
        self._tasks = tasks

    def search_for(self, text: str) -> None:
        """Search soon; too short a text finds nobody at once."""
        if len(text) < FEWEST_CHARS or self._current_account.service is None:
            self._tasks.cancel("complete-characters")
            self.found.emit(text, ())
        else:
            self._tasks.replace("complete-characters", self._search, text)

    async def _search(self, text: str) -> None:
        await asyncio.sleep(PAUSE_S)

        service = self._current_account.service
        if service is None:
            return
        try:
            wanted = CharactersQuery(search=text[:100], limit=MOST_FOUND)
            characters = await service.characters.search(wanted, background=True)
        except ServiceError:
            self.found.emit(text, ())  # a help while typing: the gallery is where a failure is explained
            return
        self.found.emit(text, tuple(CharacterHead.of(each) for each in characters))

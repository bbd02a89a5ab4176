"""Searches every chat and says in words what was found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from app.core import money
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.state import MOST_HITS, Hit

if TYPE_CHECKING:
    from app.storage.conversations import SearchHit
    from app.storage.history import History

_SPEAKERS = {"user": "You", "assistant": "Answer", "tool": "Your answer for a function"}


class Search:
    """Over all chats outside the trash. Raises `StorageError`."""

    def __init__(self, history: History, name_of: Callable[[str], str], now: Callable[[], datetime]) -> None:
        self._history = history
        self._name_of = name_of
        self._now = now

    async def hits(self, text: str) -> tuple[Hit, ...]:
        """Titles, then messages, that hold every word of `text`, newest first; at most fifty."""
        found = await self._history.search(text, MOST_HITS)
        now = self._now()
        return tuple(_hit(each, now) for each in found)


def _hit(found: SearchHit, now: datetime) -> Hit:
    when = money.when(found.created_at, now)
    said = "Title" if found.message_id is None else _SPEAKERS.get(found.role, found.role.capitalize())
    return Hit(
        chat_id=found.chat_id,
        chat_title=found.chat_title or NEW_CHAT,
        message_id=found.message_id or "",
        note=f"{said} · {when}",
        text=found.snippet.text,
        marks=found.snippet.marks,
    )

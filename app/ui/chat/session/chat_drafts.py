"""What was typed into the boxes of chats, and the rows that chats get by it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from app.storage.errors import NoHistory

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from PySide6.QtCore import QObject

    from app.storage.chat_rows import Chat
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.chat_library import ChatLibrary
    from app.ui.chat.session.open_chat import Draft, OpenChat, UnsavedDraft

DRAFT_PAUSE_MS = 250


class ChatDrafts:
    """The draft of the open chat, and those of chats that were left before the disk had them."""

    def __init__(
        self,
        opened: OpenChat,
        settings: SettingsStore,
        do: Callable[..., None],
        remember_chat: Callable[[str], None],
        publish_list: Callable[[], None],
        parent: QObject,
    ) -> None:
        """`do` starts a piece of work of its own; `remember_chat` notes which chat to open at the next start."""
        self._opened = opened
        self._settings = settings
        self._do = do
        self._remember_chat = remember_chat
        self._publish_list = publish_list
        self._library: ChatLibrary | None = None
        self._left: list[UnsavedDraft] = []  # oldest first
        self._rows: dict[int, str] = {}  # the chats that got a row while they were open, by `OpenChat.opening`
        self.timer = QTimer(parent)
        self.timer.setSingleShot(True)
        self.timer.setInterval(DRAFT_PAUSE_MS)
        self.timer.timeout.connect(self._save_soon)

    def start(self, library: ChatLibrary) -> None:
        self._library = library

    async def aclose(self) -> None:
        self.timer.stop()
        if self._library is not None:
            self._left.append(self._opened.left())
            await self._write_left()
            await self._save_settings()  # which chat to open again, if that draft has made one

    async def _save_settings(self) -> None:
        import asyncio  # not before the window is painted

        await asyncio.to_thread(self._settings.save)

    @cached_property
    def _creating(self) -> asyncio.Lock:
        """Held while the open chat gets its row, so that it gets one."""
        return _lock()

    @cached_property
    def _storing(self) -> asyncio.Lock:
        """Held while a draft is written: who comes second finds it on the disk, not under way to it."""
        return _lock()

    def leave(self) -> None:
        """In the moment in which another chat takes the box: note the draft. The disk is not waited for."""
        self.timer.stop()
        self._left.append(self._opened.left())
        if self._library is not None:
            self._do(self.keep_left)

    def left_in(self, chat_id: str) -> UnsavedDraft | None:
        """The draft of a chat that is not on the disk yet."""
        return next(
            (left for left in reversed(self._left) if (left.chat_id or self._rows.get(left.opening)) == chat_id), None
        )

    async def keep_left(self) -> None:
        if await self._write_left():
            self._publish_list()

    async def _write_left(self) -> bool:
        """Bring the drafts of chats that were left to the disk; what the disk refuses is tried with the next.

        True when that changed the list of chats.
        """
        changed = False
        async with self._storing:
            while self._left:
                changed |= await self._write(self._left[0])
                del self._left[0]
        return changed

    async def _write(self, left: UnsavedDraft) -> bool:
        """Keep a draft that was left, and forget a chat that nothing was ever said in; True when that changed one."""
        if self._library is None:
            raise NoHistory
        chat_id = left.chat_id or self._rows.get(left.opening)
        is_new = chat_id is None and not left.draft.is_empty
        if is_new:
            chat_id = (await self._made_row(left.opening, left.values)).id
        chat = self._library.get(chat_id)
        if chat is None or (chat.id == self._opened.chat_id and left.opening != self._opened.opening):
            return is_new  # thrown away, or opened again: the box has it
        if left.is_empty and left.draft.is_empty and not chat.title and not chat.pinned:
            await self._library.purge(chat.id)
            return True
        return await self._put(chat, left.draft) or is_new

    def _save_soon(self) -> None:
        if self._library is not None:
            self._do(self.keep)

    async def keep(self) -> None:
        if self._library is None:
            return
        if self._opened.chat_id is None and not self._opened.kept_draft().is_empty:
            await self.ensure_chat()
            await self._save_settings()  # which chat to open again
        await self.store()
        self._publish_list()

    async def store(self, text: str | None = None) -> None:
        """Keep the draft of the chat that is open, as it is once it is its turn, or with another text."""
        async with self._storing:
            chat = self._library.get(self._opened.chat_id) if self._library is not None else None
            if chat is not None:
                draft = self._opened.kept_draft()
                await self._put(chat, draft if text is None else draft._replace(text=text))

    async def _put(self, chat: Chat, draft: Draft) -> bool:
        """Keep the draft of a chat; False when the disk has it already."""
        from dataclasses import replace

        if self._library is None:
            raise NoHistory
        values = draft.values()
        changed = replace(chat, **values)
        if changed == chat and not self._library.is_unwritten(chat.id):
            return False
        self._library.put(changed)  # so that the list agrees before the disk answers
        await self._library.change(chat.id, **values)
        return True

    async def ensure_chat(self) -> Chat:
        """The open chat's row, made when there is none yet."""
        if self._library is None:
            raise NoHistory
        known = self._library.get(self._opened.chat_id)
        return known or await self._made_row(self._opened.opening, self._opened.stored_values())

    async def _made_row(self, opening: int, values: Mapping[str, object]) -> Chat:
        """The row of a chat that was opened as a new one, whether it is still open or not; there is one for each."""
        if self._library is None:
            raise NoHistory
        async with self._creating:
            known = self._library.get(self._rows.get(opening))
            if known is not None:
                return known
            chat = await self._library.create(**values)
            self._rows[opening] = chat.id
            if opening == self._opened.opening:
                self._opened.chat_id = chat.id
                self._remember_chat(chat.id)
                now = self._opened.stored_values()  # the lock may have been pressed meanwhile
                names = ("model", "character_slug", "character_name", "options")
                changes = {name: now[name] for name in names if now[name] != values[name]}
                if changes:
                    chat = await self._library.change(chat.id, **changes)
            return chat


def _lock() -> asyncio.Lock:
    import asyncio  # not before the window is painted

    return asyncio.Lock()

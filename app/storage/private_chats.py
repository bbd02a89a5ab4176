"""The history, and beside it private chats, which are in the memory of this program and nowhere else.

A private chat has the tables of the history in a database without a file. Whoever has its id, or one of its messages,
works with it as with any other chat; lists, searches, backups and the trash know nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from app.storage.chat_file import chat_to_json, import_chat
from app.storage.chat_rows import Chat, Message, SearchHit
from app.storage.chat_store import ChatStore
from app.storage.database import Database


class PrivateChatStore(ChatStore):
    """Attachments are files, so private chats have none. Raises as `ChatStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._disk = ChatStore(database)
        self._memory: ChatStore | None = None
        self._chat_ids: set[str] = set()
        self._message_ids: set[str] = set()

    def is_private(self, chat_id: str | None) -> bool:
        return chat_id in self._chat_ids

    def private_ids(self) -> frozenset[str]:
        return frozenset(self._chat_ids)

    def _of_chat(self, chat_id: str) -> ChatStore:
        return self._memory if self._memory is not None and chat_id in self._chat_ids else self._disk

    def _of_message(self, message_id: str | None) -> ChatStore:
        return self._memory if self._memory is not None and message_id in self._message_ids else self._disk

    async def create_chat(self, *, private: bool = False, **values: Any) -> Chat:
        """Return a new chat. A `private` one is in no project."""
        if not private:
            return await self._disk.create_chat(**values)
        if self._memory is None:
            self._memory = ChatStore(await self.database.in_memory())
        chat = await self._memory.create_chat(**{**values, "project_id": None})
        self._chat_ids.add(chat.id)
        return chat

    async def keep(self, chat_id: str) -> Chat:
        memory = self._of_chat(chat_id)
        chat, messages = await memory.chat(chat_id), await memory.messages(chat_id)
        kept = await import_chat(self.database, chat_to_json(chat, messages), chat.account_id, own=True)
        typed = {name: getattr(chat, name) for name in ("draft", "edited_id", "edit_text", "edit_attachments")}
        if any(typed.values()):
            kept = await self._disk.change_chat(kept.id, **typed)
        await self.purge(chat_id)
        return kept

    async def purge(self, chat_id: str) -> None:
        store = self._of_chat(chat_id)
        if self.is_private(chat_id):
            self._message_ids -= {each.id for each in await store.messages(chat_id)}
        await store.purge(chat_id)
        self._chat_ids.discard(chat_id)

    async def chat(self, chat_id: str) -> Chat:
        return await self._of_chat(chat_id).chat(chat_id)

    async def chats_of_possible_costs(self, chat_id: str = "") -> frozenset[str]:
        return await self._of_chat(chat_id).chats_of_possible_costs(chat_id)

    async def change_chat(self, chat_id: str, **changes: Any) -> Chat:
        return await self._of_chat(chat_id).change_chat(chat_id, **changes)

    async def messages(self, chat_id: str) -> tuple[Message, ...]:
        return await self._of_chat(chat_id).messages(chat_id)

    async def newest_messages(self, chat_id: str, count: int) -> tuple[Message, ...]:
        return await self._of_chat(chat_id).newest_messages(chat_id, count)

    async def message(self, message_id: str) -> Message:
        return await self._of_message(message_id).message(message_id)

    async def path_to(self, leaf_id: str | None, last: int | None = None) -> tuple[Message, ...]:
        return await self._of_message(leaf_id).path_to(leaf_id, last)

    async def siblings(self, message_id: str) -> tuple[str, ...]:
        return await self._of_message(message_id).siblings(message_id)

    async def select(self, message_id: str) -> Message:
        return await self._of_message(message_id).select(message_id)

    async def add_message(self, chat_id: str, role: str, content: str = "", **more: Any) -> Message:
        message = await self._of_chat(chat_id).add_message(chat_id, role, content, **more)
        if self.is_private(chat_id):
            self._message_ids.add(message.id)
        return message

    async def save_progress(self, message_id: str, content: str, reasoning: str = "") -> bool:
        return await self._of_message(message_id).save_progress(message_id, content, reasoning)

    async def sending(self, message_id: str, exchange_id: str) -> None:
        await self._of_message(message_id).sending(message_id, exchange_id)

    async def correct_cost(self, exchange_id: str, change_usd: Decimal, source: str) -> Message | None:
        found = await self._disk.correct_cost(exchange_id, change_usd, source)
        if found is None and self._memory is not None:
            found = await self._memory.correct_cost(exchange_id, change_usd, source)
        return found

    async def finish_message(self, message_id: str, **changes: Any) -> Message:
        return await self._of_message(message_id).finish_message(message_id, **changes)

    async def copy_messages(self, message_ids: Sequence[str], chat_id: str, shown_id: str) -> tuple[Message, ...]:
        """As in the history. Turns never go from memory to the disk or back: there they are not stored."""
        copies = await self._of_chat(chat_id).copy_messages(message_ids, chat_id, shown_id)
        if self.is_private(chat_id):
            self._message_ids |= {each.id for each in copies}
        return copies

    async def delete_messages(self, messages: Sequence[Message], head_id: str | None) -> None:
        for each in messages[:1]:
            await self._of_message(each.id).delete_messages(messages, head_id)

    async def restore_messages(self, messages: Sequence[Message], head_id: str | None) -> None:
        for each in messages[:1]:
            await self._of_message(each.id).restore_messages(messages, head_id)

    async def search(
        self, text: str, limit: int = 50, chat_id: str | None = None, project_id: str | None = None
    ) -> tuple[SearchHit, ...]:
        store = self._disk if chat_id is None else self._of_chat(chat_id)
        return await store.search(text, limit, chat_id, project_id)

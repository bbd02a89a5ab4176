"""Copies a question with its answers to the end of another chat, or moves them there; both can be undone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from app.core import time_format
from app.core.undo import UndoCommand, UndoStack
from app.storage.errors import NoHistory, NotStored
from app.translation import tr
from app.ui.chat.session.stored_chat import SEALED_KEY
from app.ui.chat.session.titles import NEW_CHAT, title_from

if TYPE_CHECKING:
    from app.storage.chat_rows import Chat, Message
    from app.storage.chat_store import ChatStore
    from app.ui.chat.presenter import ChatPresenter
    from app.ui.chat.session.conversation import DeletedTurns

MOST_TARGETS = 100  # listed at once; what is typed finds the others
STILL_WRITING = tr("An answer in this chat is still being written. Try again once it is complete.")
STILL_OPENING = tr("The chat is still opening.")
FROM_PRIVATE = tr("Messages from a private chat can go only to another private chat. A copy elsewhere would be saved.")
TO_PRIVATE = tr("This chat is private. It accepts messages from private chats only.")
FROM_SEALED = tr(
    "Messages from a sealed chat can go only to another sealed chat. Elsewhere they would be sent unsealed."
)
TO_SEALED = tr("This chat is sealed. It accepts messages from sealed chats only.")


class Target(NamedTuple):
    """A chat that messages could go to. `why_not` says why they cannot, "" when they can; `id` is "" for a new chat."""

    id: str
    title: str
    when: str  # "" for a new chat
    why_not: str = ""


class MessageMoves:
    """For the messages of the open chat. There is one from `ChatPresenter.start` on."""

    def __init__(self, presenter: ChatPresenter, history: ChatStore, undo_stack: UndoStack) -> None:
        self._presenter = presenter
        self._history = history
        self._undo_stack = undo_stack

    def targets(self, typed: str) -> tuple[Target, ...]:
        """A new chat, then the latest chats that have the typed words in their titles; at most `MOST_TARGETS`."""
        library, opened = self._presenter.library, self._presenter.opened
        if library is None:
            raise NoHistory
        now = datetime.now(UTC)
        return (
            Target("", NEW_CHAT, ""),
            *(
                Target(chat.id, chat.title or NEW_CHAT, time_format.when(chat.updated_at, now), self._why_not(chat))
                for chat in library.recent(typed, MOST_TARGETS)
                if chat.id != opened.chat_id
            ),
        )

    def _why_not(self, chat: Chat) -> str:
        """Why messages of the open chat cannot go to this one, "" when they can."""
        opened = self._presenter.opened
        private, sealed = self._presenter.is_private(chat.id), chat.options.get(SEALED_KEY) is True
        if opened.private != private:
            return FROM_PRIVATE if opened.private else TO_PRIVATE
        if opened.sealed != sealed:
            return FROM_SEALED if opened.sealed else TO_SEALED
        return STILL_WRITING if chat.id in self._presenter.writing() else ""

    def put(self, message_id: str, chat_id: str, *, move: bool) -> None:
        """Copy the turn of a message, its question with all answers, to the end of a chat; "" makes a new one.

        With `move` it is deleted here then. A chat of another kind or with an answer under way is refused in a notice.
        """
        self._presenter.do(self._put, message_id, chat_id, move)

    async def _put(self, message_id: str, chat_id: str, move: bool) -> None:
        presenter, opened, library = self._presenter, self._presenter.opened, self._presenter.library
        if library is None:
            raise NoHistory
        thread, chat = opened.thread, library.get(chat_id)
        if thread.get(message_id) is None:
            raise NotStored(tr("This message is no longer in the history."))
        if chat is None and chat_id:
            raise NotStored(tr("This chat is no longer in the history."))
        why_not = STILL_WRITING if opened.chat_id in presenter.writing() else "" if opened.is_whole else STILL_OPENING
        why_not = why_not or (self._why_not(chat) if chat is not None else "")
        if why_not:
            presenter.notice.emit(why_not)
            return
        turn = thread.turn_of(message_id)
        ids = tuple(each.id for each in turn)
        shown_id = next((each.id for each in reversed(thread.shown()) if each.id in ids), ids[-1])
        is_new = chat is None
        if chat is None:
            words = next((each.content for each in turn if each.content.strip()), "")
            names = [str(each["name"]) for each in turn[0].attachments if each.get("name")]
            chat = await library.create(title=title_from(words or "".join(names[:1])), **opened.stored_values())
        copies = await self._history.copy_messages(ids, chat.id, shown_id)
        chat = await library.reread(chat.id)
        deleted: DeletedTurns | None = None
        try:
            if move:
                deleted = await presenter.message_actions.delete(ids[0])
        finally:  # a disk that refuses to delete leaves a copy, which can be undone
            self._offer_undo(copies, deleted, chat.title or NEW_CHAT, is_new)
            presenter.publish_all()

    def _offer_undo(self, copies: tuple[Message, ...], deleted: DeletedTurns | None, title: str, is_new: bool) -> None:
        presenter = self._presenter

        def undo(_ids: tuple[str, ...]) -> None:
            if copies[0].chat_id in presenter.writing():
                presenter.notice.emit(STILL_WRITING)
                self._offer_undo(copies, deleted, title, is_new)
            else:
                presenter.do(self._undo, copies, deleted, is_new)

        moved = tr("Message moved to “{title}”", title=title)
        text = moved if deleted is not None else tr("Message copied to “{title}”", title=title)
        self._undo_stack.push(UndoCommand("chat", text, undo, [each.id for each in copies]))

    async def _undo(self, copies: tuple[Message, ...], deleted: DeletedTurns | None, is_new: bool) -> None:
        """Bring back what was deleted, then take back the copies, and the chat that was made for nothing else."""
        presenter, library = self._presenter, self._presenter.library
        conversation = presenter.conversation
        if library is None or conversation is None:
            raise NoHistory
        if deleted is not None:
            await conversation.restore(deleted)
        chat_id = copies[0].chat_id
        chat = await self._history.chat(chat_id)
        is_typed_in = bool(chat.draft.strip() or chat.draft_attachments or chat.edited_id)
        is_unused = chat.message_count == len(copies) and not is_typed_in
        if is_new and is_unused and chat_id != presenter.opened.chat_id:
            await library.purge(chat_id)
        else:
            presenter.message_actions.leave(each.id for each in copies)
            await conversation.take_back(copies)
        presenter.publish_all()

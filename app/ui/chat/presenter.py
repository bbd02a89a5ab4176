"""What the chat tab shows and what its controls mean. QtCore only, no widgets.

The open chat may be one that is not on disk yet (`chat_id` None): it is stored with the first text typed into it.
Everything a person types is on disk before it is shown as sent; an answer's row is there before its first word.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.ui.chat.composer.attachment import attachments_of
from app.ui.chat.session.answer_notes import USE_SUGGESTION
from app.ui.chat.session.chat_options import next_web_search
from app.ui.chat.session.message_tree import MessageTree
from app.ui.chat.session.open_chat import UnsavedDraft, typed_since
from app.ui.chat.session.presenter_chats import USE_MODEL, ChatPresenterChats, Work
from app.ui.chat.state import CharacterHead

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtCore import QObject

    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.catalogue import Catalogue
    from app.storage.conversations import Chat
    from app.storage.history import History
    from app.storage.settings import SettingsStore
    from app.ui.chat.composer.attachment import Attachment
    from app.ui.chat.session.chat_options import ChatOptions
    from app.ui.chat.session.structured_output import Structure


LONG_CHAT = 400  # messages; more are shown from their end first
SHOWN_FIRST = 60  # more than any screen holds


class ChatPresenter(ChatPresenterChats):
    """One for the whole tab. `start` gives it the disk; until then it takes text, but nothing is sent."""

    def __init__(
        self,
        current_account: CurrentAccount,
        settings: SettingsStore,
        tasks: TaskScope,
        undo_stack: UndoStack,
        *,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(current_account, settings, tasks, undo_stack, parent=parent)
        self._draft_timer.timeout.connect(self._save_draft_soon)
        self.opened.options = self.opened.fresh_options()
        self.opened.is_coming = bool(settings.value.last_chat)

    # Beginning and end

    async def start(self, history: History, catalogue: Catalogue | None = None) -> None:
        """Take the opened history: mark what was cut off, list the chats, open the last one. Raises `StorageError`.

        Text typed before this stays in the box, and then no old chat is opened over it.
        """
        # Imported here: the window is painted before the history is opened.
        from app.core.trash import TrashKind
        from app.ui.chat.session.answer_queue import AnswerQueue
        from app.ui.chat.session.chat_library import ChatLibrary
        from app.ui.chat.session.open_conversation import Conversation

        await history.mark_interrupted()
        self._history = history
        self.attaching.start(history)
        self.library = ChatLibrary(history)
        await self.library.load()
        self.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        self.account_models.catalogue = catalogue
        self._answers = AnswerQueue(self.current_account, self._tasks, self._cheaper_model, self._clock, self)
        self.answers.start(history, catalogue)
        self.conversation = Conversation(
            self.opened, self.library, self.answers, history, catalogue, self._ensure_chat, self
        )
        self.conversation.head_changed.connect(self._conversation_changed)
        self.answers.changed.connect(lambda _row: self.publish_list())
        self.started.emit()
        last = self.library.get(self._settings.value.last_chat)
        if last is None or not await self._open_chat(last.id, unless_typed=True):
            self.opened.is_coming = False
            self.conversation.show()
            self._all_changed()
            if self.opened.draft.strip():
                self._draft_timer.start()
        self._do(self._keep_left)  # of chats that were begun and left before this
        await self.account_models.load_saved()
        self._models_changed()
        await self.account_models.save()
        self._do(self._sweep, history)
        from app.ui.chat.session.chat_presets import ChatPresets

        self.presets = ChatPresets(
            self.opened, self._do, self._undo_stack, self.set_options, self.use_model, self.use_character, self
        )
        self.trash.add_kind(self.presets.trash_kind)
        await self.presets.start(history.presets)

    async def _sweep(self, history: History) -> None:
        """Remove the files of attachments that no message and no draft names any more."""
        import asyncio  # not before the window is painted

        used = await history.used_attachments()
        await asyncio.to_thread(history.files.sweep, used)

    async def aclose(self) -> None:
        """Keep the draft. Call before the tasks are closed; answers under way are then kept as interrupted."""
        import asyncio  # not before the window is painted

        self._draft_timer.stop()
        if self._history is not None:
            self._left.append(self.opened.left())
            await self._write_left()
            await asyncio.to_thread(self._settings.save)  # which chat to open again, if that draft has made one

    # The list

    def new_chat(self, character: CharacterHead | None = None) -> None:
        """An empty chat, with a character or without; the box is its own at once."""
        self._tasks.cancel("open-chat")
        self._leave()
        self.opened.open_new(character=character)
        self._remember_chat("")
        self._shown()

    def open_chat(self, chat_id: str) -> None:
        """Show a chat; the newest call wins."""
        if chat_id != self.opened.chat_id:
            self._tasks.replace("open-chat", self._guarded, self._open_chat, (chat_id, self.opened.draft))

    async def _open_chat(self, chat_id: str, before: str | None = None, unless_typed: bool = False) -> bool:
        """Show a chat; what was added since to the draft `before` goes into its box.

        `unless_typed`: False, and nothing happens, when there is something in the box.
        """
        assert self._history is not None and self.library is not None
        before = self.opened.draft if before is None else before
        left = self._left_in(chat_id)
        chat = await self._history.chat(chat_id)
        is_long = chat.message_count > LONG_CHAT and self.answers.live_in(chat_id) is None
        if is_long:
            messages = await self._history.newest_messages(chat_id, SHOWN_FIRST)
        else:
            messages = await self._history.messages(chat_id)
        if unless_typed and (self.opened.draft.strip() or self.opened.attachments):
            return False
        typed = typed_since(before, self.opened.draft)
        if typed and self.opened.editing is None:
            self.opened.draft = before
        self._leave()
        self.library.put(chat)
        self.opened.open(chat, messages, whole=not is_long)
        left = self._left_in(chat_id) or left
        if left is not None:
            self.opened.draft, self.opened.attachments = left.draft, left.attachments
        self.opened.draft += typed or ""
        self._remember_chat(chat_id)
        self._shown()
        if typed:
            self._draft_timer.start()
        if is_long:
            await self._open_rest(chat_id)
        return True

    async def _open_rest(self, chat_id: str) -> None:
        """Bring in what stands above the screen of a long chat, in pieces that nobody notices."""
        import asyncio  # not before the window is painted

        assert self._history is not None and self.conversation is not None
        messages = await self._history.messages(chat_id)
        thread = await asyncio.to_thread(MessageTree.whole, messages, self.opened.thread.head_id)
        if self.opened.chat_id == chat_id:
            self.opened.complete(thread)
            await asyncio.sleep(0)
            await self.conversation.show_in_pieces()
            await asyncio.sleep(0)  # each of the three holds the window for some milliseconds
            if self.opened.chat_id == chat_id:
                self._all_changed()

    def _leave(self) -> None:
        """In the moment in which another chat takes the box: note the draft. The disk is not waited for."""
        self._draft_timer.stop()
        self._left.append(self.opened.left())
        if self._history is not None:
            self._do(self._keep_left)

    def _left_in(self, chat_id: str) -> UnsavedDraft | None:
        """The draft of a chat that is not on the disk yet."""
        return next(
            (left for left in reversed(self._left) if (left.chat_id or self._rows.get(left.opening)) == chat_id), None
        )

    async def _keep_left(self) -> None:
        await self._write_left()
        self.publish_list()

    async def _write_left(self) -> None:
        """Bring the drafts of chats that were left to the disk; what the disk refuses is tried with the next."""
        async with self._storing:
            while self._left:
                await self._write_draft(self._left[0])
                del self._left[0]

    async def _write_draft(self, left: UnsavedDraft) -> None:
        """Keep a draft that was left, and forget a chat that nothing was ever said in."""
        assert self.library is not None
        chat_id = left.chat_id or self._rows.get(left.opening)
        has_draft = bool(left.draft.strip() or left.attachments)
        if chat_id is None and has_draft:
            chat_id = (await self._made_row(left.opening, left.values)).id
        chat = self.library.get(chat_id)
        if chat is None or (chat.id == self.opened.chat_id and left.opening != self.opened.opening):
            return  # thrown away, or opened again: the box has it
        if left.is_empty and not has_draft and not chat.title and not chat.pinned:
            await self.library.purge(chat.id)
        else:
            await self._put_draft(chat, left.draft, left.attachments)

    def _remember_chat(self, chat_id: str) -> None:
        """Which chat to open at the next start; on disk soon, because the program may be killed."""
        import asyncio  # not before the window is painted

        self._settings.remember(last_chat=chat_id)
        self._tasks.replace("save-last-chat", self._guarded, asyncio.to_thread, (self._settings.save,))

    def _shown(self) -> None:
        self.draft_replaced.emit(self.opened.draft)
        self.attaching.show_chat()
        if self.conversation is not None:
            self.conversation.show()
        self._all_changed()

    async def _keep_draft_now(self, draft: str) -> None:
        await self._store_draft(draft if self.opened.editing is None else None)

    async def _stored_chat_id(self) -> str:
        return (await self._ensure_chat()).id

    # The box

    def set_draft(self, text: str) -> None:
        """The box holds another text now: kept on disk after each pause."""
        self.opened.draft = text
        if self.opened.editing is None:
            self._draft_timer.start()
        self.cost_changed.emit(self.opened.cost())

    def _save_draft_soon(self) -> None:
        if self._history is not None:
            self._do(self._keep_draft)

    async def _keep_draft(self) -> None:
        opened = self.opened
        if opened.editing is not None or self._history is None:
            return
        if opened.chat_id is None and (opened.draft.strip() or opened.attachments):
            import asyncio  # not before the window is painted

            await self._ensure_chat()
            await asyncio.to_thread(self._settings.save)  # which chat to open again
        await self._store_draft()
        self.publish_list()

    async def _store_draft(self, text: str | None = None) -> None:
        """Keep the draft of the chat that is open, as it is once it is its turn, or with another text."""
        async with self._storing:
            chat = self.library.get(self.opened.chat_id) if self.library is not None else None
            if chat is not None:
                draft, attachments = self.opened.kept_draft()
                await self._put_draft(chat, draft if text is None else text, attachments)

    async def _put_draft(self, chat: Chat, draft: str, attachments: tuple[Attachment, ...]) -> None:
        assert self.library is not None
        kept = tuple(each.to_dict() for each in attachments)
        if chat.draft != draft or chat.draft_attachments != kept or self.library.is_unwritten(chat.id):
            # so that the list agrees before the disk answers
            self.library.put(replace(chat, draft=draft, draft_attachments=kept))
            await self.library.change(chat.id, draft=draft, draft_attachments=kept)

    async def _ensure_chat(self) -> Chat:
        """The open chat's row, made when there is none yet."""
        assert self.library is not None
        known = self.library.get(self.opened.chat_id)
        return known or await self._made_row(self.opened.opening, self.opened.stored_values())

    async def _made_row(self, opening: int, values: Mapping[str, object]) -> Chat:
        """The row of a chat that was opened as a new one, whether it is still open or not; there is one for each."""
        assert self.library is not None
        async with self._creating:
            known = self.library.get(self._rows.get(opening))
            if known is not None:
                return known
            chat = await self.library.create(**values)
            self._rows[opening] = chat.id
            if opening == self.opened.opening:
                self.opened.chat_id = chat.id
                self._remember_chat(chat.id)
            return chat

    def send(self, text: str) -> None:
        """Send what the box holds. The text leaves the box only when it is on disk."""
        if not (text.strip() or self.opened.attachments) or self.conversation is None or not self.head().can_send:
            return
        if self.answers.live_in(self.opened.chat_id) is None:
            self._tasks.start("send", self._guarded, self._send, (text,))

    async def _send(self, text: str, model_ids: tuple[str, ...] = ()) -> None:
        assert self.conversation is not None
        self._draft_timer.stop()
        if await self.conversation.send(text.strip("\n"), model_ids, box=text):
            self.draft_replaced.emit(self.opened.draft)
            self.attaching.show_chat()
            if self.opened.draft:
                self._draft_timer.start()
        self._all_changed()

    def stop(self) -> None:
        """Stop the open chat's answer; what came stays."""
        if self.opened.chat_id is not None and self._answers is not None:
            self._answers.stop(self.opened.chat_id)

    def recall(self) -> None:
        """Take the last own turn into the box to edit it."""
        message = self.opened.thread.last_of("user")
        if message is not None:
            self.begin_edit(message.id)

    def begin_edit(self, message_id: str) -> None:
        """Put an earlier turn into the box; sending it makes a branch."""
        message = self.opened.thread.get(message_id)
        if message is None or message.role not in ("user", "assistant"):
            return
        if self.opened.editing is None:
            self.opened.set_aside, self.opened.attachments_aside = self.opened.draft, self.opened.attachments
        self.opened.editing, self.opened.draft = message_id, message.content
        self.opened.attachments = attachments_of(message.attachments)
        self.draft_replaced.emit(message.content)
        self.attaching.show_chat()
        self._head_changed()

    def cancel_edit(self) -> bool:
        """Give the box back its draft. False when no turn was being edited."""
        opened = self.opened
        if opened.editing is None:
            return False
        opened.editing, opened.draft, opened.set_aside = None, opened.set_aside, ""
        opened.attachments, opened.attachments_aside = opened.attachments_aside, ()
        self.draft_replaced.emit(opened.draft)
        self.attaching.show_chat()
        self._head_changed()
        return True

    # One message

    def act(self, message_id: str, action: str) -> None:
        """A button beside a message or in its error card. Unknown ones go to the window."""
        conversation = self.conversation
        if conversation is None:
            return
        works: dict[str, tuple[Work, tuple[object, ...]]] = {
            "retry": (conversation.retry, (message_id,)),
            "start-over": (conversation.retry, (message_id,)),
            "continue": (conversation.continue_answer, (message_id,)),
            "previous": (conversation.show_sibling, (message_id, -1)),
            "next": (conversation.show_sibling, (message_id, 1)),
        }
        if action in works:
            work, args = works[action]
            self._do(work, *args)
        elif action == "branch":
            self.branch_off(message_id)
        elif action == "edit":
            self._edit_question_of(message_id)
        elif action == "edit-answer":
            self.begin_edit(message_id)
        elif action in ("keep", "stop-row"):
            self._act_on_compared(message_id, action)
        elif action == "stop":
            self.stop()
        elif action.startswith(USE_MODEL):
            self.use_model(action.removeprefix(USE_MODEL))
            self._do(conversation.retry, message_id)
        elif action == "dismiss":
            self.answers.dismiss(message_id)
        elif action == USE_SUGGESTION:
            self._edit_question_of(message_id)
            self.set_draft(self.answers.suggestion_for(message_id) or self.opened.draft)
            self.draft_replaced.emit(self.opened.draft)
        else:
            self.help_wanted.emit(action)

    def _edit_question_of(self, message_id: str) -> None:
        message = self.opened.thread.get(message_id)
        if message is not None and message.role == "tool":
            self.calls_wanted.emit(self.opened.thread.asked_by(message.id))
        elif message is not None:
            self.begin_edit(message.id if message.role == "user" else message.parent_id or "")

    def _act_on_compared(self, message_id: str, action: str) -> None:
        """Answers that stand side by side: one is stopped, or the chat goes on from it."""
        message = self.opened.thread.get(message_id)
        if action == "stop-row":
            self.answers.stop_row(message_id)
        elif message is not None and self.conversation is not None:
            self.use_model(self.conversation.asked_model(message))
            self._do(self.conversation.keep, message_id)

    def compare(self, text: str, model_ids: tuple[str, ...]) -> None:
        """Ask several models the same at once: what the box holds, or the last question again when it is empty."""
        ready = self.head().can_send and self.answers.live_in(self.opened.chat_id) is None
        if self.conversation is None or not ready:
            return
        if text.strip():
            self._tasks.start("send", self._guarded, self._send, (text, model_ids))
        else:
            self._tasks.start("send", self._guarded, self.conversation.ask_for_comparison, (model_ids,))

    def answer_calls(self, message_id: str, answers: Mapping[str, str]) -> None:
        """Send what the person answered for the functions that a message asks for: call id → text."""
        if self.conversation is not None and self.answers.live_in(self.opened.chat_id) is None:
            self._tasks.start("send", self._guarded, self.conversation.answer_calls, (message_id, answers))

    def retry_last(self) -> None:
        """Ask for the newest answer again."""
        message = self.opened.thread.get(self.opened.thread.head_id)
        if message is not None:
            self.act(message.id, "retry")

    def show_request(self, message_id: str | None = None) -> None:
        """Show on the Request page what was sent for an answer."""
        if self.conversation is not None:
            self._tasks.replace("request", self._guarded, self.conversation.show_request, (message_id,))

    # Options, model, character

    def set_option(self, name: str, value: object) -> None:
        """Change one of `ChatOptions` for the open chat. Raises `TypeError` for a name that is none."""
        self.opened.options = replace(self.opened.options, **{name: value})  # type: ignore[arg-type]  # by name
        self._options_changed({"options": self.opened.stored_options()})

    def set_structure(self, structure: Structure) -> None:
        """Ask for answers in a schema, or offer functions, in the open chat from now on."""
        self.opened.structure = structure
        self._options_changed({"options": self.opened.stored_options()})

    def set_options(self, options: ChatOptions) -> None:
        """Ask for all of this in the open chat."""
        self.opened.options = options
        self._options_changed({"options": self.opened.stored_options()})

    def cycle_web_search(self) -> None:
        self.set_option("web_search", next_web_search(self.opened.options.web_search))

    def toggle(self, name: str) -> None:
        self.set_option(name, not getattr(self.opened.options, name))

    def use_model(self, model_id: str, *, for_new_chats: bool = False) -> None:
        """Ask this model from now on in the open chat; with `for_new_chats` in every later one too."""
        if for_new_chats:
            self.account_models.set_default(model_id)
        self.opened.chosen_model = model_id
        self._options_changed({"model": model_id})

    def use_character(self, character: CharacterHead | None) -> None:
        """Speak with a character in the open chat, or with the model alone."""
        self.opened.character = character
        if character is not None and self.account_models.get(character.model_id) is not None:
            self.opened.chosen_model = character.model_id
        values = self.opened.stored_values()
        self._options_changed({name: values[name] for name in ("model", "character_slug", "character_name", "options")})

    def _options_changed(self, changes: dict[str, object]) -> None:
        self.opened.changed()
        self._head_changed()
        self._models_changed()
        if self.opened.chat_id is not None:
            self._do(self._change, self.opened.chat_id, changes)

    def toggle_favorite(self, model_id: str) -> None:
        self.account_models.toggle_favorite(model_id)
        self._models_changed()

    def refresh_models(self) -> None:
        """Ask for the list again when it is old; the picker calls this when it opens."""
        if self.account_models.is_stale and self.current_account.service is not None:
            # the newest call wins: one that began for the account before this one brings nothing
            self._tasks.replace("models", self._guarded, self._fetch_models, ())

    async def _fetch_models(self) -> None:
        self.account_models.loading = True
        self._models_changed()
        await self.account_models.fetch()
        self._models_changed()
        self._all_changed()

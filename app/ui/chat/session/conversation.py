"""The messages of the open chat and everything that can be done with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.translation import tr
from app.ui.chat.session.answer_queue import Job, note_kind
from app.ui.chat.session.inspector_state import RequestView
from app.ui.chat.session.message_rows import EDITED, row_of
from app.ui.chat.session.open_chat import Draft, typed_since
from app.ui.chat.session.requests import build_request, turns_sent, view_from_note, view_of
from app.ui.chat.session.seal import NO_SPEECH, NO_SPEECH_IN_PRIVATE
from app.ui.chat.session.titles import title_from
from app.ui.chat.session.tool_calls import answers_after, calls_in
from app.ui.chat.session.view_values import count_links, learn_from, likely_prompt
from app.ui.kit.lists.rows import build_rows
from app.ui.kit.markdown.citations import from_numbers

if TYPE_CHECKING:
    from app.storage.chat_rows import Chat, Message
    from app.storage.chat_store import ChatStore
    from app.storage.service_cache import ServiceCache
    from app.ui.chat.session.answer_queue import AnswerQueue
    from app.ui.chat.session.chat_library import ChatLibrary
    from app.ui.chat.session.live_answer import AnswerDelta
    from app.ui.chat.session.open_chat import OpenChat
    from app.ui.conversation.rows import MessageRow

ROWS_AT_ONCE = 50
RECEIPT_EVERY_MS = 500  # the line under an answer that is being written


@dataclass(frozen=True, slots=True)
class DeletedTurns:
    """Turns as they were, and the leaf that was shown: what undoing a deletion needs."""

    messages: tuple[Message, ...]
    head_id: str | None
    head_without: str | None


class Conversation(QObject):
    """Reports rows of the open chat only; answers of other chats go on by themselves.

    `compared` are the answers that are shown in columns; their rows are told whether they are on the branch or not.
    """

    rows_reset = Signal(object)  # tuple[MessageRow, ...]
    rows_appended = Signal(object)  # tuple[MessageRow, ...]
    row_changed = Signal(object)  # MessageRow
    stream_began = Signal(str)
    text_arrived = Signal(str, str)
    reasoning_arrived = Signal(str, str)
    texts_replaced = Signal(str, str, str)  # row id, text, thoughts: not what was shown with something added
    stream_ended = Signal(str)
    request_changed = Signal(object)  # RequestView
    head_changed = Signal(str)  # chat id; something that header, list or totals show is another one
    comparison_changed = Signal(object)  # tuple[MessageRow, ...]; () when the conversation is shown again
    compared_row_changed = Signal(object)  # MessageRow
    compared_text_arrived = Signal(str, str, str)  # row id, text, thoughts
    compared_texts_replaced = Signal(str, str, str)  # the same of a compared answer
    compared_ended = Signal(str)

    def __init__(
        self,
        open_chat: OpenChat,
        library: ChatLibrary,
        answers: AnswerQueue,
        history: ChatStore,
        service_cache: ServiceCache | None,
        ensure_chat: Callable[[], Any],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open = open_chat
        self._library = library
        self._answers = answers
        self._history = history
        self._service_cache = service_cache
        self._ensure_chat = ensure_chat
        self._receipt_timer = QTimer(self)
        self._receipt_timer.setSingleShot(True)
        self._receipt_timer.setInterval(RECEIPT_EVERY_MS)
        self._receipt_timer.timeout.connect(self._publish_receipt)
        self._request_of: str | None = None
        self.compared: tuple[str, ...] = ()
        self.lacks_rows = False  # those of a long chat that stand above its end
        self._names: dict[str, str] = {}  # of the models on screen, as their rows say them
        self._asked: dict[str, str] = {}  # row id → the model that was asked; another one may have answered
        answers.began.connect(self._began)
        answers.arrived.connect(self._arrived)
        answers.changed.connect(self._row_changed)
        answers.ended.connect(self._ended)
        answers.receipt_came.connect(self._receipt_came)

    # Showing

    def rows(self) -> tuple[MessageRow, ...]:
        """The branch that is chosen, as the message view shows it."""
        return tuple(build_rows(self._open.thread.shown(), self._row))

    def show(self) -> None:
        """Show the branch from its first turn, and go on streaming into it where an answer is being written.

        Columns of another chat, or of another place in it, are left.
        """
        self._open.changed()
        self._request_of = None
        self._names = self._names_shown()
        self.lacks_rows = False
        self.rows_reset.emit(self.rows())
        live = self._answers.live_in(self._open.chat_id)
        if live is not None and self._is_shown(live.message_id):
            self.stream_began.emit(live.message_id)
        if self.compared and not all(self._open.thread.get(each) is not None for each in self.compared):
            self.leave_comparison()

    def names_changed(self) -> None:
        """Repaint the rows that name a model, when the model list knows it by another name than a moment ago."""
        names = self._names_shown()
        if names == self._names:
            return
        old, self._names = self._names, names
        for message in self._open.thread.shown():
            if message.model in names and names[message.model] != old.get(message.model):
                before = self._open.thread.answer_before(message.id)
                if before is None or before.model != message.model:
                    self.row_changed.emit(self._row(message))

    def _names_shown(self) -> dict[str, str]:
        models = {message.model for message in self._open.thread.shown() if message.model}
        return {model: self._open.account_models.name_of(model) for model in models}

    async def show_in_pieces(self) -> None:
        """Show the whole branch, with what is sent meanwhile; some rows at a time, so that the window stays awake."""
        chat_id, shown = self._open.chat_id, self._open.thread.shown()
        rows: list[MessageRow] = []
        done = 0
        while shown:
            await asyncio.sleep(0)
            before, shown = shown, self._open.thread.shown()
            goes_on = len(shown) >= len(before) and shown[len(before) - 1].id == before[-1].id
            if self._open.chat_id != chat_id or not goes_on:
                return  # another chat, or another branch of this one, which is shown whole already
            if done >= len(shown):  # to show them is a turn of its own
                break
            rows += build_rows(shown[done : done + ROWS_AT_ONCE], self._row)
            done += ROWS_AT_ONCE
        self.lacks_rows = False
        self.rows_reset.emit(tuple(rows))

    def _row(self, message: Message) -> MessageRow:
        row = row_of(
            message,
            self._open.thread,
            sandbox=self._open.current_account.is_sandbox,
            live=self._answers.live_of(message.id),
            problem=self._answers.problem_of(message.id),
            is_last=message.id == self._open.thread.head_id,
            files=self._history.files,
            name_of=self._open.account_models.name_of,
        )
        if self._open.private:
            return replace(row, no_speech=NO_SPEECH_IN_PRIVATE)
        return replace(row, no_speech=NO_SPEECH) if self._open.sealed else row

    def _is_shown(self, message_id: str) -> bool:
        return self._open.thread.is_shown(message_id)

    def _row_changed(self, message_id: str) -> None:
        message = self._open.thread.get(message_id)
        if message is not None and self._is_shown(message_id):
            self.row_changed.emit(self._row(message))
        self.head_changed.emit(self._open.chat_id or "")
        self._publish_compared_row(message_id)

    # Sending

    async def send(self, text: str, model_ids: Sequence[str] = (), *, box: str) -> bool:
        """Store a person's turn and an empty answer below it, then show both and begin. Raises `StorageError`.

        While an earlier turn is in the box, the new text becomes its sibling: nothing is overwritten. With several
        models each writes an answer of its own beside the others, and they are shown in columns. `box` is what was in
        the box when it was sent: what came in since then stays there.
        """
        opened = self._open
        aside = Draft(opened.set_aside, opened.attachments_aside)
        edited = opened.thread.get(opened.editing)
        if edited is not None and edited.role == "assistant":
            return await self._rewrite(edited, text, box, aside)
        parent_id = edited.parent_id if edited is not None else opened.thread.head_id
        for each in opened.thread.exchange_of(edited.id) if edited is not None else ():
            self._answers.stop_row(each.id)  # what waits in the old wording is not sent beside the new one
        chat: Chat = await self._ensure_chat()
        attached = opened.attachments
        user = await self._history.add_message(
            chat.id, "user", text, parent_id=parent_id, attachments=[each.to_dict() for each in attached]
        )
        answers = [await self._add_answer(chat.id, user.id, model_id) for model_id in model_ids or ("",)]
        answer = answers[0]
        stored = opened.stored_values()
        changes: dict[str, Any] = {**aside.values(), **{name: stored[name] for name in ("account_id", "options")}}
        if len(answers) > 1:
            changes["head_id"] = answer.id
        if not chat.title:
            changes["title"] = title_from(text if text.strip() or not attached else attached[0].name)
        if not opened.chosen_model:
            changes["model"] = opened.chosen_model = opened.model_id
        changed = await self._library.change(chat.id, **changes)
        if opened.chat_id != chat.id:  # another chat was opened in these milliseconds; this one waits to be asked again
            for each in answers:
                await self._history.finish_message(each.id, state="interrupted")
            return False
        opened.title, opened.account_id = changed.title, changed.account_id
        opened.end_edit(_typed_meanwhile(box, opened.draft))
        opened.thread.put(user)
        for each in answers:
            opened.thread.put(each)
        opened.thread.head_id = answer.id
        opened.changed()
        begun = [self._begin(each, comparing=len(answers) > 1) for each in answers]
        if edited is not None:
            self.show()
        else:
            self.rows_appended.emit((self._row(user), self._row(answer)))
            if begun[0]:
                self.stream_began.emit(answer.id)
        self.head_changed.emit(chat.id)
        if len(model_ids) > 1:
            self.show_comparison(opened.thread.head_id or "")
        return True

    async def _rewrite(self, answer: Message, text: str, box: str, aside: Draft) -> bool:
        """Put an answer in other words, beside the one that was given. Nobody is asked. `aside` is the chat's draft."""
        opened = self._open
        own = await self._history.add_message(
            answer.chat_id,
            "assistant",
            from_numbers(text, len(answer.sources)),
            parent_id=answer.parent_id,
            sources=answer.sources,
            model=answer.model,
            extra={EDITED: True},
        )
        await self._library.change(answer.chat_id, **aside.values())
        if opened.chat_id == answer.chat_id:
            opened.end_edit(_typed_meanwhile(box, opened.draft))
            opened.thread.put(own)
            opened.thread.head_id = own.id
            self.show()
        self.head_changed.emit(answer.chat_id)
        return True

    async def _add_answer(self, chat_id: str, parent_id: str | None, model_id: str = "") -> Message:
        return await self._history.add_message(
            chat_id, "assistant", parent_id=parent_id, state="streaming", model=model_id or self._open.model_id
        )

    def _begin(self, answer: Message, *, continues: bool = False, comparing: bool = False) -> bool:
        if comparing:
            self._asked.setdefault(answer.id, answer.model)
        asked = self._asked.get(answer.id)
        if asked:  # also when one of several is tried again: by the model that it was asked of
            answer, comparing = replace(answer, model=asked), True
        opened = self._open
        branch = opened.thread.path(answer.parent_id)
        model_id = (answer.model if comparing else "") or opened.model_id
        model = opened.account_models.get(model_id)
        request = build_request(
            chat_id=answer.chat_id,
            model_id=model_id,
            model=model,
            options=opened.sent_options,
            character_slug=opened.character_slug,
            branch=branch,
            continues=answer if continues else None,
            structure=opened.asked_structure,
            anon_user_id="" if opened.sealed else opened.account_models.settings.value.anon_user_id,
        )
        parameters = request.parameters
        estimated = likely_prompt(opened.counter, opened.sent_options, model_id, branch)
        job = Job(
            chat_id=answer.chat_id,
            message=answer,
            request=request,
            model=model,
            turns=turns_sent(branch),
            prompt_tokens=min(estimated, model.context_tokens) if model and model.context_tokens else estimated,
            searched=parameters.enable_web_search != "off" or parameters.enable_x_search,
            links=count_links(branch[-1].content) if branch and parameters.enable_web_scraping else 0,
            comparing=comparing,
            project_id=opened.project.id if opened.project is not None else None,
            sealed=opened.sealed,
        )
        return self._answers.begin(job, comparing=comparing)

    # One message

    async def retry(self, message_id: str) -> None:
        """Ask again. An answer with words stays as a branch beside the new one; an empty one is written anew."""
        message = self._open.thread.get(message_id)
        if message is None or self._busy():
            return
        if message.role == "user":
            await self._answer_again(message.chat_id, message.id)
        elif message.content or message.reasoning or message.extra:
            await self._answer_again(message.chat_id, message.parent_id)
        else:
            self._restart(message)

    async def continue_answer(self, message_id: str) -> None:
        """Have a cut or stopped answer finished in its own row."""
        message = self._open.thread.get(message_id)
        if message is None or message.role != "assistant" or self._busy():
            return
        if message.content:
            self._restart(message, continues=True)
        else:
            await self.retry(message_id)

    def _restart(self, message: Message, *, continues: bool = False) -> None:
        if self._begin(message, continues=continues):
            self._row_changed(message.id)
            self.stream_began.emit(message.id)

    async def _answer_again(self, chat_id: str, parent_id: str | None) -> None:
        answer = await self._add_answer(chat_id, parent_id)
        if self._open.chat_id != chat_id:
            return
        self._open.thread.put(answer)
        self._open.thread.head_id = answer.id
        self._begin(answer)
        self.show()
        self.head_changed.emit(chat_id)

    def _busy(self) -> bool:
        return self._answers.live_in(self._open.chat_id) is not None

    async def show_sibling(self, message_id: str, step: int) -> None:
        """Show the branch of the turn beside this one."""
        opened = self._open
        other = opened.thread.sibling(message_id, step) if opened.thread.get(message_id) else None
        if other is None or opened.chat_id is None:
            return
        opened.thread.head_id = opened.thread.newest_leaf(other)
        self._library.put(await self._history.change_chat(opened.chat_id, head_id=opened.thread.head_id))
        self.show()
        self.head_changed.emit(opened.chat_id)

    async def delete(self, message_id: str) -> DeletedTurns | None:
        """Delete an answer, or a question with its answers. Returns what brings them back; None for nothing done."""
        opened = self._open
        if opened.thread.get(message_id) is None or self._busy():
            return None
        going = opened.thread.exchange_of(message_id)
        deleted = DeletedTurns(going, opened.thread.head_id, opened.thread.head_without(going))
        await self._history.delete_messages(going, deleted.head_without)
        await self._read_again(going)
        return deleted

    async def restore(self, deleted: DeletedTurns) -> None:
        """Bring deleted turns back. The branch that was shown is shown again, unless another one is by now."""
        head_id = (await self._history.chat(deleted.messages[0].chat_id)).head_id
        head_id = deleted.head_id if head_id == deleted.head_without else head_id
        await self._history.restore_messages(deleted.messages, head_id)
        await self._read_again(deleted.messages)

    async def take_back(self, copies: Sequence[Message]) -> None:
        """Delete copies of turns. The branch that was shown before them is shown, unless another one is by now."""
        chat = await self._history.chat(copies[0].chat_id)
        is_shown = any(each.id == chat.head_id for each in copies)
        await self._history.delete_messages(copies, copies[0].parent_id if is_shown else chat.head_id)
        await self._read_again(copies)

    async def _read_again(self, messages: Sequence[Message]) -> None:
        """Show turns as they are on the disk now, and the branch that is chosen there."""
        chat = await self._history.chat(messages[0].chat_id)
        if chat.trashed_at is None:
            self._library.put(chat)
        if self._open.chat_id == chat.id:
            for each in messages:
                self._open.thread.put(await self._history.message(each.id))
            self._open.thread.head_id = chat.head_id
            self.show()
        self.head_changed.emit(chat.id)

    # Side by side

    async def ask_for_comparison(self, model_ids: Sequence[str]) -> None:
        """Ask several models the last question again; what was answered before stays as a branch."""
        opened = self._open
        question = opened.thread.last_of("user")
        if question is None:
            return
        answers = [await self._add_answer(question.chat_id, question.id, model_id) for model_id in model_ids]
        changed = await self._history.change_chat(question.chat_id, head_id=answers[0].id)
        if opened.chat_id != question.chat_id:
            for answer in answers:
                await self._history.finish_message(answer.id, state="interrupted")
            return
        self._library.put(changed)
        for answer in answers:
            opened.thread.put(answer)
        opened.thread.head_id = answers[0].id
        opened.changed()
        for answer in answers:
            self._begin(answer, comparing=True)
        self.show()
        self.compared = tuple(answer.id for answer in answers)
        self._publish_comparison()
        self.head_changed.emit(question.chat_id)

    def asked_model(self, message: Message) -> str:
        """The model to go on with from an answer."""
        return self._asked.get(message.id, message.model)

    def show_comparison(self, message_id: str) -> None:
        """Show all answers to the question that this one answers, up to the newest four."""
        thread = self._open.thread
        if thread.get(message_id) is None:
            return
        siblings = [each for each in thread.siblings(message_id) if each.role == "assistant"]
        self.compared = tuple(each.id for each in siblings[-4:])
        self._publish_comparison()

    def leave_comparison(self) -> bool:
        """Show the conversation again; False when it is shown already."""
        if not self.compared:
            return False
        self.compared = ()
        self._publish_comparison()
        return True

    async def keep(self, message_id: str) -> None:
        """Go on from one of several answers; the others stay beside it."""
        self.leave_comparison()
        await self.show_branch_of(message_id)

    def _publish_comparison(self) -> None:
        messages = [self._open.thread.get(each) for each in self.compared]
        self.comparison_changed.emit(tuple(self._row(message) for message in messages if message is not None))

    def _publish_compared_row(self, message_id: str) -> None:
        message = self._open.thread.get(message_id)
        if message_id in self.compared and message is not None:
            self.compared_row_changed.emit(self._row(message))

    # Places in the tree

    async def show_branch_of(self, message_id: str) -> None:
        """Show the branch that a message stands on, when another one is shown."""
        opened = self._open
        if opened.chat_id is None or opened.thread.get(message_id) is None:
            return
        if not opened.thread.is_shown(message_id):
            opened.thread.head_id = opened.thread.newest_leaf(message_id)
            self._library.put(await self._history.change_chat(opened.chat_id, head_id=opened.thread.head_id))
            self.show()
            self.head_changed.emit(opened.chat_id)

    # Functions

    def calls_of(self, message_id: str) -> tuple[tuple[str, str, str, str], ...]:
        """The calls of an answer, as (id, name, arguments, what was answered on this branch)."""
        branch = self._open.thread.shown()
        place = next((number for number, each in enumerate(branch) if each.id == message_id), None)
        if place is None:
            return ()
        given = answers_after(branch, place)
        return tuple((call.id, call.name, call.arguments, given.get(call.id, "")) for call in calls_in(branch[place]))

    async def answer_calls(self, message_id: str, answers: Mapping[str, str]) -> None:
        """Keep what the person answered for the functions, below the message that asked, and have it gone on from.

        Answering again makes a branch: what was answered before stays.
        """
        opened = self._open
        asked = opened.thread.get(message_id)
        if asked is None:
            return
        parent = asked.id
        for call in calls_in(asked):
            turn = await self._history.add_message(
                asked.chat_id,
                "tool",
                answers.get(call.id, ""),
                parent_id=parent,
                extra={"tool_call_id": call.id, "name": call.name},
            )
            parent = turn.id
            if opened.chat_id == asked.chat_id:
                opened.thread.put(turn)
        await self._answer_again(asked.chat_id, parent)

    # The Request page

    async def show_request(self, message_id: str | None = None) -> None:
        """Show what was sent for an answer; without an id for the newest one on screen."""
        thread = self._open.thread
        message = thread.get(message_id) or thread.last_of("assistant")
        self._request_of = message_id if thread.get(message_id) is not None else None
        if message is None or message.role != "assistant":
            self.request_changed.emit(RequestView())
            return
        exchange = self._answers.exchange_of(message.id)
        if exchange is not None:
            self.request_changed.emit(view_of(exchange, self._answers.written_in(message.id)))
            return
        view: RequestView | None = None
        if self._service_cache is not None:
            saved = await self._service_cache.load("", note_kind(message.chat_id), message.id)
            if saved is not None and isinstance(saved.value, dict):
                view = view_from_note(saved.value, thread.path(message.parent_id))
        self.request_changed.emit(view or RequestView(note=tr("The request for this answer was not saved.")))

    # What the answers tell

    def _began(self, message_id: str) -> None:
        self._publish_request(message_id)

    def _arrived(self, message_id: str, arrived: AnswerDelta) -> None:
        message = self._open.thread.get(message_id)
        is_shown = message is not None and self._is_shown(message_id)
        if is_shown and arrived.reasoning:
            self.reasoning_arrived.emit(message_id, arrived.reasoning)
        if is_shown and arrived.text:
            self.text_arrived.emit(message_id, arrived.text)
        if message is not None and is_shown and arrived.sources_changed:
            self.row_changed.emit(self._row(message))
        is_compared = message_id in self.compared
        if message is not None and arrived.moved:
            row = self._row(message)
            if is_shown:
                self.texts_replaced.emit(row.id, row.text, row.reasoning)
            if is_compared:
                self.compared_texts_replaced.emit(row.id, row.text, row.reasoning)
        if is_compared and (arrived.text or arrived.reasoning):
            self.compared_text_arrived.emit(message_id, arrived.text, arrived.reasoning)
        if (is_compared or (is_shown and not arrived.sources_changed)) and not self._receipt_timer.isActive():
            self._receipt_timer.start()

    def _publish_receipt(self) -> None:
        """Tokens and speed so far, also for the last words before a pause."""
        live = self._answers.live_in(self._open.chat_id)
        message = self._open.thread.get(live.message_id) if live is not None else None
        if message is not None and self._is_shown(message.id):
            self.row_changed.emit(self._row(message))
        for message_id in self.compared:
            if self._answers.live_of(message_id) is not None:
                self._publish_compared_row(message_id)

    def _ended(self, stored: Message) -> None:
        if stored.chat_id == self._open.chat_id:
            self._open.thread.put(stored)
            self._open.changed()
            learn_from(self._open.counter, self._open.sent_options, self._open.thread.path(stored.id))
            if self._is_shown(stored.id):
                self.row_changed.emit(self._row(stored))
                self.stream_ended.emit(stored.id)
            self._publish_request(stored.id)
        self.head_changed.emit(stored.chat_id)
        if stored.id in self.compared:
            self._publish_compared_row(stored.id)
            self.compared_ended.emit(stored.id)

    def _receipt_came(self, stored: Message) -> None:
        if self._open.thread.get(stored.id) is not None:
            self._open.thread.put(stored)
            self._row_changed(stored.id)

    def _publish_request(self, message_id: str) -> None:
        """The page follows the newest answer unless an older one was asked for."""
        newest = self._open.thread.last_of("assistant")
        wanted = self._request_of or (newest.id if newest is not None else None)
        exchange = self._answers.exchange_of(message_id)
        if exchange is not None and wanted == message_id:
            self.request_changed.emit(view_of(exchange, self._answers.written_in(message_id)))


def _typed_meanwhile(before: str, now: str) -> str:
    """What came into the box while the disk was waited for; all of it where that cannot be told from what was sent."""
    typed = typed_since(before, now)
    return now if typed is None else typed

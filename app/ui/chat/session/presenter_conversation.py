"""The messages of the open chat and everything that can be done with one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.ui.chat.session.presenter_answers import Job, note_kind
from app.ui.chat.session.presenter_open import typed_since
from app.ui.chat.session.presenter_requests import build_request, turns_sent, view_from_note, view_of
from app.ui.chat.session.presenter_rows import row_of
from app.ui.chat.session.presenter_views import count_links, estimate_branch, learn_from
from app.ui.chat.session.state_pages import RequestView
from app.ui.chat.session.titles import title_from
from app.ui.kit.lists.rows import build_rows

if TYPE_CHECKING:
    from app.storage.catalogue import Catalogue
    from app.storage.conversations import Chat, Message
    from app.storage.history import History
    from app.ui.chat.session.live_answer import AnswerDelta
    from app.ui.chat.session.presenter_answers import Answers
    from app.ui.chat.session.presenter_library import Library
    from app.ui.chat.session.presenter_open import OpenChat
    from app.ui.conversation.message_rows import MessageRow

ROWS_AT_ONCE = 100
RECEIPT_EVERY_MS = 500  # the line under an answer that is being written


class Conversation(QObject):
    """Reports rows of the open chat only; answers of other chats go on by themselves."""

    rows_reset = Signal(object)  # tuple[MessageRow, ...]
    rows_appended = Signal(object)  # tuple[MessageRow, ...]
    row_changed = Signal(object)  # MessageRow
    stream_began = Signal(str)
    text_arrived = Signal(str, str)
    reasoning_arrived = Signal(str, str)
    stream_ended = Signal(str)
    request_changed = Signal(object)  # RequestView
    head_changed = Signal(str)  # chat id; something that header, list or totals show is another one

    def __init__(
        self,
        open_chat: OpenChat,
        library: Library,
        answers: Answers,
        history: History,
        catalogue: Catalogue | None,
        ensure_chat: Callable[[], Any],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open = open_chat
        self._library = library
        self._answers = answers
        self._history = history
        self._catalogue = catalogue
        self._ensure_chat = ensure_chat
        self._receipt_timer = QTimer(self)
        self._receipt_timer.setSingleShot(True)
        self._receipt_timer.setInterval(RECEIPT_EVERY_MS)
        self._receipt_timer.timeout.connect(self._publish_receipt)
        self._request_of: str | None = None
        answers.began.connect(self._began)
        answers.arrived.connect(self._arrived)
        answers.changed.connect(self._row_changed)
        answers.ended.connect(self._ended)

    # Showing

    def rows(self) -> tuple[MessageRow, ...]:
        """The branch that is chosen, as the message view shows it."""
        return tuple(build_rows(self._open.thread.shown(), self._row))

    def show(self) -> None:
        """Show the branch from its first turn, and go on streaming into it where an answer is being written."""
        self._open.changed()
        self._request_of = None
        self.rows_reset.emit(self.rows())
        live = self._answers.live_in(self._open.chat_id)
        if live is not None and self._is_shown(live.message_id):
            self.stream_began.emit(live.message_id)

    async def show_in_pieces(self) -> None:
        """Show the whole branch, made a hundred rows at a time so that the window stays awake."""
        chat_id, shown = self._open.chat_id, self._open.thread.shown()
        rows: list[MessageRow] = []
        for start in range(0, len(shown), ROWS_AT_ONCE):
            rows += build_rows(shown[start : start + ROWS_AT_ONCE], self._row)
            await asyncio.sleep(0)
            if self._open.chat_id != chat_id or self._open.thread.shown() is not shown:
                return  # another chat, or another branch of this one, which is shown whole already
        self.rows_reset.emit(tuple(rows))

    def _row(self, message: Message) -> MessageRow:
        return row_of(
            message,
            self._open.thread,
            sandbox=self._open.current_account.is_sandbox,
            live=self._answers.live_of(message.id),
            problem=self._answers.problem_of(message.id),
            is_last=message.id == self._open.thread.head_id,
            files=self._history.files,
        )

    def _is_shown(self, message_id: str) -> bool:
        return self._open.thread.is_shown(message_id)

    def _row_changed(self, message_id: str) -> None:
        message = self._open.thread.get(message_id)
        if message is not None and self._is_shown(message_id):
            self.row_changed.emit(self._row(message))
        self.head_changed.emit(self._open.chat_id or "")

    # Sending

    async def send(self, text: str, model_ids: Sequence[str] = (), *, box: str) -> bool:
        """Store a person's turn and an empty answer below it, then show both and begin. Raises `StorageError`.

        While an earlier turn is in the box, the new text becomes its sibling: nothing is overwritten. With several
        models each writes an answer of its own beside the others. `box` is what was in the box when it was sent: what
        came in since then stays there.
        """
        opened = self._open
        edited = opened.thread.get(opened.editing)
        if edited is not None and edited.role == "assistant":
            return await self._rewrite(edited, text, box)
        parent_id = edited.parent_id if edited is not None else opened.thread.head_id
        chat: Chat = await self._ensure_chat()
        attached = opened.attachments
        user = await self._history.add_message(
            chat.id, "user", text, parent_id=parent_id, attachments=[each.to_dict() for each in attached]
        )
        answers = [await self._add_answer(chat.id, user.id, model_id) for model_id in model_ids or ("",)]
        answer = answers[0]
        changes: dict[str, Any] = {"draft": "", "account_id": opened.stored_values()["account_id"]}
        changes["draft_attachments"] = ()
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
        opened.title = changed.title
        opened.draft, opened.editing, opened.set_aside = _typed_meanwhile(box, opened.draft), None, ""
        opened.attachments, opened.attachments_aside = (), ()
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
        return True

    async def _rewrite(self, answer: Message, text: str, box: str) -> bool:
        """Put an answer in other words, beside the one that was given. Nobody is asked."""
        opened = self._open
        own = await self._history.add_message(
            answer.chat_id, "assistant", text, parent_id=answer.parent_id, model=answer.model
        )
        if opened.chat_id == answer.chat_id:
            opened.draft = opened.set_aside + _typed_meanwhile(box, opened.draft)
            opened.editing, opened.set_aside = None, ""
            opened.attachments, opened.attachments_aside = opened.attachments_aside, ()
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
        opened = self._open
        branch = opened.thread.path(answer.parent_id)
        model_id = (answer.model if comparing else "") or opened.model_id
        model = opened.account_models.get(model_id)
        request = build_request(
            chat_id=answer.chat_id,
            model_id=model_id,
            model=model,
            options=opened.options,
            character_slug=opened.character_slug,
            branch=branch,
            continues=answer if continues else None,
            structure=opened.structure,
        )
        parameters = request.parameters
        job = Job(
            chat_id=answer.chat_id,
            message=answer,
            request=request,
            model=model,
            turns=turns_sent(branch),
            prompt_tokens=opened.counter.corrected(model_id, estimate_branch(opened.options, branch)),
            searched=parameters.enable_web_search != "off" or parameters.enable_x_search,
            links=count_links(branch[-1].content) if branch and parameters.enable_web_scraping else 0,
            comparing=comparing,
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
            self.request_changed.emit(view_of(exchange))
            return
        view: RequestView | None = None
        if self._catalogue is not None:
            saved = await self._catalogue.load("", note_kind(message.chat_id), message.id)
            if saved is not None and isinstance(saved.value, dict):
                view = view_from_note(saved.value, thread.path(message.parent_id))
        self.request_changed.emit(view or RequestView(note="The request of this answer was not kept."))

    # What the answers tell

    def _began(self, message_id: str) -> None:
        self._publish_request(message_id)

    def _arrived(self, message_id: str, arrived: AnswerDelta) -> None:
        message = self._open.thread.get(message_id)
        if message is None or not self._is_shown(message_id):
            return
        if arrived.reasoning:
            self.reasoning_arrived.emit(message_id, arrived.reasoning)
        if arrived.text:
            self.text_arrived.emit(message_id, arrived.text)
        if arrived.sources_changed:
            self.row_changed.emit(self._row(message))
        elif not self._receipt_timer.isActive():
            self._receipt_timer.start()

    def _publish_receipt(self) -> None:
        """Tokens and speed so far, also for the last words before a pause."""
        live = self._answers.live_in(self._open.chat_id)
        message = self._open.thread.get(live.message_id) if live is not None else None
        if message is not None and self._is_shown(message.id):
            self.row_changed.emit(self._row(message))

    def _ended(self, stored: Message) -> None:
        if stored.chat_id == self._open.chat_id:
            self._open.thread.put(stored)
            self._open.changed()
            learn_from(self._open.counter, self._open.options, self._open.thread.path(stored.id))
            if self._is_shown(stored.id):
                self.row_changed.emit(self._row(stored))
                self.stream_ended.emit(stored.id)
            self._publish_request(stored.id)
        self.head_changed.emit(stored.chat_id)

    def _publish_request(self, message_id: str) -> None:
        """The page follows the newest answer unless an older one was asked for."""
        newest = self._open.thread.last_of("assistant")
        wanted = self._request_of or (newest.id if newest is not None else None)
        exchange = self._answers.exchange_of(message_id)
        if exchange is not None and wanted == message_id:
            self.request_changed.emit(view_of(exchange))


def _typed_meanwhile(before: str, now: str) -> str:
    """What came into the box while the disk was waited for; all of it where that cannot be told from what was sent."""
    typed = typed_since(before, now)
    return now if typed is None else typed

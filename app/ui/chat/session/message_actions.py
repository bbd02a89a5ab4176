"""What the buttons and menus of a message do: ask again, continue, edit, keep, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.undo import UndoCommand, UndoStack
from app.storage.errors import NoHistory
from app.translation import tr
from app.ui.chat.session.answer_notes import USE_SUGGESTION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from app.ui.chat.presenter import ChatPresenter
    from app.ui.chat.session.conversation import DeletedTurns

USE_MODEL = "use-model:"  # an action with a model's id behind it


class MessageActions:
    """Every method returns at once; the presenter's signals tell what came of it. Before `start` nothing happens."""

    def __init__(self, presenter: ChatPresenter, undo_stack: UndoStack) -> None:
        self._presenter = presenter
        self._opened = presenter.opened
        self._undo_stack = undo_stack

    def has_no_answer(self, message_id: str) -> bool:
        """Whether a question, or an answer that failed, waits for somebody to ask again."""
        message = self._opened.thread.get(message_id)
        is_open = message is not None and (message.role == "user" or message.state == "failed")
        return is_open and (self._presenter.conversation is None or self._presenter.answers.live_of(message_id) is None)

    def act(self, message_id: str, action: str) -> None:
        """A button beside a message or in its error card. Unknown ones go to the window."""
        presenter, conversation = self._presenter, self._presenter.conversation
        if conversation is None:
            return
        works: dict[str, tuple[Callable[..., Awaitable[object]], tuple[object, ...]]] = {
            "retry": (conversation.retry, (message_id,)),
            "start-over": (conversation.retry, (message_id,)),
            "continue": (conversation.continue_answer, (message_id,)),
            "previous": (conversation.show_sibling, (message_id, -1)),
            "next": (conversation.show_sibling, (message_id, 1)),
            "accept-enclave": (presenter.seal_actions.accept_enclave, (message_id,)),
            "send-packed": (presenter.seal_actions.send_packed, (message_id,)),
        }
        if action in ("retry", "start-over", "continue", "accept-enclave", "send-packed"):
            why_not = self._opened.why_not_account() or self._opened.why_not_sealed()
            if why_not:
                presenter.notice.emit(why_not)
                return
            self._leave_taken_back(message_id)
        if action in works:
            work, args = works[action]
            presenter.do(work, *args)
        elif action == "branch":
            presenter.branch_off(message_id)
        elif action == "edit":
            self._edit_question_of(message_id)
        elif action == "edit-answer":
            presenter.begin_edit(message_id)
        elif action == "keep":
            self._keep(message_id)
        elif action == "stop-row":
            presenter.answers.stop_row(message_id)
        elif action == "delete":
            presenter.do(self._delete, message_id)
        elif action == "stop":
            presenter.stop()
        elif action.startswith(USE_MODEL):
            presenter.use_model(action.removeprefix(USE_MODEL))
            self.act(message_id, "retry")
        elif action == "dismiss":
            presenter.answers.dismiss(message_id)
        elif action == "send-when-back":
            presenter.answers.send_when_back(message_id)
        elif action == USE_SUGGESTION:
            self._edit_question_of(message_id)
            presenter.set_draft(presenter.answers.suggestion_for(message_id) or self._opened.draft)
            presenter.draft_replaced.emit(self._opened.draft)
        else:
            presenter.help_requested.emit(action)

    def _leave_taken_back(self, message_id: str) -> None:
        """The message that is sent again is not in the box as well, unless it was changed there."""
        opened = self._opened
        answer = opened.thread.get(message_id)
        question = opened.thread.get(answer.parent_id) if answer is not None else None
        if question is not None and question.id == opened.editing and question.content == opened.draft:
            self._presenter.cancel_edit()

    def _edit_question_of(self, message_id: str) -> None:
        thread = self._opened.thread
        message = thread.get(message_id)
        if message is not None and message.role == "tool":
            self._presenter.calls_requested.emit(thread.asked_by(message.id))
        elif message is not None:
            self._presenter.begin_edit(message.id if message.role == "user" else message.parent_id or "")

    def _keep(self, message_id: str) -> None:
        """Continue the chat from one of the answers that are shown in columns."""
        message, conversation = self._opened.thread.get(message_id), self._presenter.conversation
        if message is not None and conversation is not None:
            self._presenter.use_model(conversation.asked_model(message))
            self._presenter.do(conversation.keep, message_id)

    async def delete(self, message_id: str) -> DeletedTurns | None:
        """Delete an answer, or a question with its answers, in the open chat; what brings them back, None for nothing.

        Raises `StorageError`.
        """
        conversation = self._presenter.conversation
        if conversation is None:
            raise NoHistory
        deleted = await conversation.delete(message_id)
        if deleted is not None:
            self.leave(each.id for each in deleted.messages)
        return deleted

    def leave(self, ids: Iterable[str]) -> None:
        """These messages are gone: nothing waits for them, and none of them is in the box."""
        gone = set(ids)
        for message_id in gone:
            self._presenter.answers.stop_row(message_id)
        if self._opened.editing in gone:
            self._presenter.cancel_edit()

    async def _delete(self, message_id: str) -> None:
        presenter, conversation = self._presenter, self._presenter.conversation
        if conversation is None:
            raise NoHistory
        deleted = await self.delete(message_id)
        if deleted is None:
            return
        ids = tuple(each.id for each in deleted.messages)
        said = tr("Answer deleted") if deleted.messages[0].role == "assistant" else tr("Message deleted")
        text = tr("Message and answer deleted") if len(ids) > 1 else said
        self._undo_stack.push(UndoCommand("chat", text, lambda _ids: presenter.do(conversation.restore, deleted), ids))

    # The newest message

    def retry_last(self) -> None:
        """Ask for the newest answer again."""
        message = self._opened.thread.get(self._opened.thread.head_id)
        if message is not None:
            self.act(message.id, "retry")

    def continue_last(self) -> None:
        """Go on with the newest answer, when it was cut or stopped."""
        message = self._opened.thread.last_of("assistant")
        if message is not None and message.state in ("stopped", "interrupted"):
            self.act(message.id, "continue")

    def edit_last_answer(self) -> None:
        message = self._opened.thread.last_of("assistant")
        if message is not None:
            self.act(message.id, "edit-answer")

    def show_sibling(self, message_id: str, step: int) -> None:
        """Another version of a turn; without an id of the last one that has several."""
        thread = self._opened.thread
        if thread.get(message_id) is None:
            several = (each.id for each in reversed(thread.shown()) if len(thread.siblings(each.id)) > 1)
            message_id = next(several, "")
        if message_id:
            self.act(message_id, "next" if step > 0 else "previous")

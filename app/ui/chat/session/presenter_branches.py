"""Ways through the tree beyond the next turn: answers side by side, function calls answered by hand, found messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from app.ui.chat.session.presenter_calls import answers_after, calls_in
from app.ui.chat.session.presenter_conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.storage.conversations import Message
    from app.ui.chat.session.live_answer import AnswerDelta


class Branches(Conversation):
    """`comparing` are the answers that are shown in columns; their rows are told whether they are on the branch or
    not."""

    comparison_changed = Signal(object)  # tuple[MessageRow, ...]; () when the conversation is shown again
    compared_row_changed = Signal(object)  # MessageRow
    compared_text_arrived = Signal(str, str, str)  # row id, text, thoughts
    compared_ended = Signal(str)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.compared: tuple[str, ...] = ()
        self._asked: dict[str, str] = {}  # row id → the model that was asked; another one may have answered

    # Side by side

    async def send(self, text: str, model_ids: Sequence[str] = (), *, box: str) -> bool:
        """As below; with several models their answers are then shown in columns."""
        sent = await super().send(text, model_ids, box=box)
        if sent and len(model_ids) > 1:
            self._show_comparison_header()
        return sent

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

    def _begin(self, answer: Message, *, continues: bool = False, comparing: bool = False) -> bool:
        if comparing:
            self._asked.setdefault(answer.id, answer.model)
        asked = self._asked.get(answer.id)
        if asked:  # also when one of several is tried again: by the model that it was asked of
            answer, comparing = replace(answer, model=asked), True
        return super()._begin(answer, continues=continues, comparing=comparing)

    def asked_model(self, message: Message) -> str:
        """The model to go on with from an answer."""
        return self._asked.get(message.id, message.model)

    def _show_comparison_header(self) -> None:
        self.show_comparison(self._open.thread.head_id or "")

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

    def show(self) -> None:
        """As below; columns of another chat, or of another place in it, are left."""
        super().show()
        if self.compared and not all(self._open.thread.get(each) is not None for each in self.compared):
            self.leave_comparison()

    def _publish_comparison(self) -> None:
        messages = [self._open.thread.get(each) for each in self.compared]
        self.comparison_changed.emit(tuple(self._row(message) for message in messages if message is not None))

    def _row_changed(self, message_id: str) -> None:
        super()._row_changed(message_id)
        self._publish_compared_row(message_id)

    def _publish_compared_row(self, message_id: str) -> None:
        message = self._open.thread.get(message_id)
        if message_id in self.compared and message is not None:
            self.compared_row_changed.emit(self._row(message))

    def _arrived(self, message_id: str, arrived: AnswerDelta) -> None:
        super()._arrived(message_id, arrived)
        if message_id in self.compared:
            if arrived.text or arrived.reasoning:
                self.compared_text_arrived.emit(message_id, arrived.text, arrived.reasoning)
            if not self._receipt_timer.isActive():
                self._receipt_timer.start()

    def _publish_receipt(self) -> None:
        super()._publish_receipt()
        for message_id in self.compared:
            if self._answers.live_of(message_id) is not None:
                self._publish_compared_row(message_id)

    def _ended(self, stored: Message) -> None:
        super()._ended(stored)
        if stored.id in self.compared:
            self._publish_compared_row(stored.id)
            self.compared_ended.emit(stored.id)

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

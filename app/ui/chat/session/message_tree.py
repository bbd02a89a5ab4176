"""One chat's messages as a tree. Only the tree: what its rows look like is `message_rows`."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.storage.chat_rows import Message


class MessageTree:
    """The messages of the open chat. `head_id` is the leaf whose branch is on screen."""

    def __init__(self, head_id: str | None = None) -> None:
        self.head_id = head_id
        self._by_id: dict[str, Message] = {}
        self._children: dict[str | None, list[str]] = {}
        self._shown_from: str | None = None  # the head that the next two were made for
        self._shown: tuple[Message, ...] | None = None
        self._shown_ids: frozenset[str] = frozenset()

    @classmethod
    def of(cls, messages: Iterable[Message], head_id: str | None) -> MessageTree:
        thread = cls(head_id)
        for message in messages:
            thread.put(message)
        if head_id not in thread._by_id:
            thread.head_id = next((each.id for each in reversed(thread._by_id.values()) if not each.is_deleted), None)
        return thread

    def put(self, message: Message) -> None:
        """Add a message, or replace the one with its id."""
        if message.id not in self._by_id:
            self._children.setdefault(message.parent_id, []).append(message.id)
        self._by_id[message.id] = message
        self._shown = None

    def get(self, message_id: str | None) -> Message | None:
        return self._by_id.get(message_id) if message_id is not None else None

    def all(self) -> tuple[Message, ...]:
        """Every message of every branch, oldest first."""
        return tuple(self._by_id.values())

    def path(self, leaf_id: str | None) -> tuple[Message, ...]:
        """From the first turn down to `leaf_id`, without what was deleted; () for None."""
        found: list[Message] = []
        message = self.get(leaf_id)
        while message is not None:
            if not message.is_deleted:
                found.append(message)
            message = self.get(message.parent_id)
        return tuple(reversed(found))

    def shown(self) -> tuple[Message, ...]:
        """The branch on screen. Asked for with every piece of text that comes, so it is kept."""
        if self._shown is None or self._shown_from != self.head_id:
            self._shown = self.path(self.head_id)
            self._shown_from = self.head_id
            self._shown_ids = frozenset(message.id for message in self._shown)
        return self._shown

    def is_shown(self, message_id: str) -> bool:
        self.shown()
        return message_id in self._shown_ids

    def place(self, message_id: str) -> tuple[int, int]:
        """Which of how many turns at its place a message is: (2, 3) is the second of three."""
        siblings = self._living(message_id)
        return (1, 1) if len(siblings) == 1 else (siblings.index(message_id) + 1, len(siblings))

    def sibling(self, message_id: str, step: int) -> str | None:
        """The turn `step` places to the right among those at the same place, or None at an end."""
        siblings = self._living(message_id)
        wanted = siblings.index(message_id) + step
        return siblings[wanted] if 0 <= wanted < len(siblings) else None

    def siblings(self, message_id: str) -> tuple[Message, ...]:
        """The turns at the place of a message, itself among them, in the order they were made."""
        return tuple(self._by_id[each] for each in self._living(message_id))

    def _living(self, message_id: str) -> list[str]:
        """The ids at the place of a message that were not deleted, and its own."""
        at_place = self._children[self._by_id[message_id].parent_id]
        return [each for each in at_place if each == message_id or not self._by_id[each].is_deleted]

    def answer_before(self, message_id: str) -> Message | None:
        """The answer that is read before a message on its branch."""
        message = self.get(self._by_id[message_id].parent_id)
        while message is not None and (message.role != "assistant" or message.is_deleted):
            message = self.get(message.parent_id)
        return message

    def exchange_of(self, message_id: str) -> tuple[Message, ...]:
        """What goes when a turn is deleted: an answer alone, a question with the answers that were given to it."""
        message = self._by_id[message_id]
        if message.role != "user":
            return (message,)
        going = {message_id: message}
        for each in self._by_id.values():  # parents come before children
            if each.parent_id in going and each.role != "user" and not each.is_deleted:
                going[each.id] = each
        return tuple(going.values())

    def turn_of(self, message_id: str) -> tuple[Message, ...]:
        """The question that a message is or answers, with all answers to it; the message alone where there is none."""
        message: Message | None = self._by_id[message_id]
        while message is not None and message.role != "user":
            message = self.get(message.parent_id)
        return self.exchange_of(message_id if message is None or message.is_deleted else message.id)

    def head_without(self, going: Iterable[Message]) -> str | None:
        """The leaf to show when these turns are deleted: another version of the last of them, else what is above it."""
        gone = {each.id for each in going}
        message = self.get(self.head_id)
        while message is not None and (message.id in gone or message.is_deleted):
            others = [each for each in self._living(message.id) if each not in gone]
            if message.id in gone and others:
                return self.newest_leaf(others[-1], gone)
            message = self.get(message.parent_id)
        return message.id if message is not None else None

    def newest_leaf(self, message_id: str, without: Container[str] = ()) -> str:
        """The newest turn below `message_id`, itself when it has none: what choosing its branch shows.

        Deleted turns and those `without` are passed over.
        """
        below = {message_id}
        newest = message_id
        for message in self._by_id.values():  # in the order they were made: parents come before children
            if message.parent_id in below:
                below.add(message.id)
                if not message.is_deleted and message.id not in without:
                    newest = message.id
        return newest

    def asked_by(self, message_id: str) -> str:
        """The answer that asked for the function that `message_id` answers; "" for none."""
        message = self.get(message_id)
        while message is not None and message.role == "tool":
            message = self.get(message.parent_id)
        return message.id if message is not None else ""

    def last_of(self, role: str) -> Message | None:
        """The last turn of a role on the branch that is shown."""
        return next((message for message in reversed(self.shown()) if message.role == role), None)

"""One chat's messages as a tree. Only the tree: what its rows look like is `message_rows`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.storage.conversations import Message


@dataclass(slots=True)
class MessageTree:
    """The messages of the open chat. `head_id` is the leaf whose branch is on screen."""

    head_id: str | None = None
    _by_id: dict[str, Message] = field(default_factory=dict)
    _children: dict[str | None, list[str]] = field(default_factory=dict)
    _shown_from: str | None = None  # the head that the next three were made for
    _shown: tuple[Message, ...] | None = None
    _shown_ids: frozenset[str] = frozenset()

    @classmethod
    def of(cls, messages: Iterable[Message], head_id: str | None) -> MessageTree:
        thread = cls(head_id)
        for message in messages:
            thread.put(message)
        if head_id not in thread._by_id:
            thread.head_id = next(reversed(thread._by_id), None)
        return thread

    @classmethod
    def whole(cls, messages: Iterable[Message], head_id: str | None) -> MessageTree:
        """The same with the branch on screen looked up already: a long chat's takes some milliseconds, in a thread."""
        thread = cls.of(messages, head_id)
        thread.shown()
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
        """From the first turn down to `leaf_id`; () for None."""
        found: list[Message] = []
        message = self.get(leaf_id)
        while message is not None:
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
        siblings = self._children[self._by_id[message_id].parent_id]
        return (1, 1) if len(siblings) == 1 else (siblings.index(message_id) + 1, len(siblings))

    def sibling(self, message_id: str, step: int) -> str | None:
        """The turn `step` places to the right among those at the same place, or None at an end."""
        message = self._by_id[message_id]
        siblings = self._children[message.parent_id]
        wanted = siblings.index(message_id) + step
        return siblings[wanted] if 0 <= wanted < len(siblings) else None

    def siblings(self, message_id: str) -> tuple[Message, ...]:
        """The turns at the place of a message, itself among them, in the order they were made."""
        return tuple(self._by_id[each] for each in self._children[self._by_id[message_id].parent_id])

    def newest_leaf(self, message_id: str) -> str:
        """The newest turn below `message_id`, itself when it has none: what choosing its branch shows."""
        below = {message_id}
        newest = message_id
        for message in self._by_id.values():  # in the order they were made: parents come before children
            if message.parent_id in below:
                below.add(message.id)
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

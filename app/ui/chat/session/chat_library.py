"""All chats on this computer as the list shows them: create, rename, trash, restore, duplicate, search. No Qt."""

from __future__ import annotations

from bisect import bisect_left, insort_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from app.core import money, time_format
from app.core.trash import TrashEntry
from app.storage.chat_file import duplicate_chat
from app.storage.errors import NotStored
from app.translation import tr, tr_n
from app.ui.chat.session.chat_documents import ChatDocuments
from app.ui.chat.session.chat_projects import ChatProjects
from app.ui.chat.session.titles import NEW_CHAT, group_of, title_from
from app.ui.chat.state import MOST_HITS, ChatEntry, Hit
from app.ui.kit.lists.rows import LazyRows
from app.ui.kit.lists.search_terms import SearchTerms

if TYPE_CHECKING:
    from app.storage.chat_rows import Chat, SearchHit
    from app.storage.chat_store import ChatStore


MOST_REGROUPED = 3  # projects; with more of them at once all chats are sorted anew


class ChatLibrary:
    """The chats in memory, in step with the disk. Every method that writes raises `StorageError`."""

    def __init__(self, history: ChatStore) -> None:
        self._history = history
        self._chats: dict[str, Chat] = {}
        self.projects = ChatProjects(self, history.database)
        self.documents = ChatDocuments(history.database, history.files)
        self._shown: frozenset[str] = frozenset()  # the projects outside the trash
        self._orders: dict[str, list[Chat]] = {"": []}  # by project, "" for none: as in the list, the last row first
        self._models: Counter[str] = Counter()  # how many chats use each
        self._possible: set[str] = set()  # the chats with an answer that may not have been charged
        self._unwritten: dict[str, dict[str, Any]] = {}  # by chat: changes under way, and what the disk refused

    async def load(self) -> None:
        """Read the chats anew. Private ones and those that change or go while the disk is asked stay so."""
        before = dict(self._chats)
        private = self._possible & self._history.private_ids()
        self._possible = {*private, *await self._history.chats_of_possible_costs()}
        read = await self._history.chats()
        chats = {chat.id: chat for chat in read if chat.id in self._chats or chat.id not in before}
        for chat in self._chats.values():
            if before.get(chat.id) is not chat or self._history.is_private(chat.id):
                chats[chat.id] = chat
        self._chats = chats
        self._models = Counter(chat.model for chat in chats.values())
        self._sort()

    def show_projects(self, project_ids: Iterable[str]) -> None:
        """These projects are outside the trash: the chats of others stand in the list as if they were in none."""
        shown = frozenset(project_ids)
        changed, self._shown = shown ^ self._shown, shown
        if len(changed) > MOST_REGROUPED:
            self._sort()
            return
        for project_id in changed:  # one project after the other: sorting 20,000 chats takes longer than a frame
            others = self._orders[""]
            if project_id in shown:
                self._orders[project_id] = [chat for chat in others if chat.project_id == project_id]
                self._orders[""] = [chat for chat in others if chat.project_id != project_id]
            elif self._orders.get(project_id):
                self._orders[""] = sorted([*self._orders.pop(project_id), *others], key=_rank)

    def _sort(self) -> None:
        self._orders = {"": []}
        for chat in self._chats.values():
            self._orders.setdefault(self._home(chat), []).append(chat)
        for chats in self._orders.values():
            chats.sort(key=_rank, reverse=True)
            chats.reverse()  # of chats of one moment the order of the disk

    def _home(self, chat: Chat) -> str:
        return chat.project_id if chat.project_id in self._shown and chat.project_id is not None else ""

    def get(self, chat_id: str | None) -> Chat | None:
        return self._chats.get(chat_id) if chat_id is not None else None

    def newest(self) -> Chat | None:
        return max(self._chats.values(), key=lambda chat: chat.updated_at, default=None)

    def put(self, chat: Chat) -> None:
        """Take a chat as it now is on disk."""
        before = self._chats.get(chat.id)
        home = self._home(chat)
        if before is not None and _rank(before) == _rank(chat) and self._home(before) == home:
            self._orders[home][self._place(before)] = self._chats[chat.id] = chat
            self._models[before.model] -= 1
            self._models[chat.model] += 1
            return
        self._drop(chat.id)
        self._chats[chat.id] = chat
        self._models[chat.model] += 1
        insort_left(self._orders.setdefault(home, []), chat, key=_rank)

    def _drop(self, chat_id: str) -> None:
        before = self._chats.pop(chat_id, None)
        if before is not None:
            self._models[before.model] -= 1
            del self._orders[self._home(before)][self._place(before)]

    def _place(self, chat: Chat) -> int:
        order = self._orders[self._home(chat)]
        place = bisect_left(order, _rank(chat), key=_rank)
        while order[place] is not chat:  # chats of one moment
            place += 1
        return place

    def moved(self, places: Mapping[str, str | None]) -> None:
        """These chats are in other projects now, on the disk too."""
        for chat_id, project_id in places.items():
            chat = self._chats.get(chat_id)
            if chat is not None:
                self.put(replace(chat, project_id=project_id))

    def forget_project(self, project_id: str) -> None:
        """A project was deleted for good: its chats are in none, on the disk too."""
        self.moved({chat.id: None for chat in self._chats.values() if chat.project_id == project_id})

    def recent(self, typed: str, most: int) -> list[Chat]:
        """The chats whose title has every word that was typed, the latest first; at most `most`."""
        words = SearchTerms(typed)
        found = (chat for chat in self._chats.values() if not words or words.are_in(chat.title or NEW_CHAT))
        return nlargest(most, found, key=lambda chat: chat.updated_at)

    def in_project(self, project_id: str) -> tuple[Chat, ...]:
        """The chats of a project, the first row of the list first."""
        return tuple(reversed(self._orders.get(project_id, ())))

    def models_in_use(self) -> Mapping[str, int]:
        """How many chats use each model."""
        return +self._models

    def using(self, model_id: str) -> tuple[str, ...]:
        """The chats that use a model."""
        return tuple(chat.id for chat in self._chats.values() if chat.model == model_id)

    async def create(self, **values: Any) -> Chat:
        if values.get("project_id") is not None and self.projects.one(str(values["project_id"])) is None:
            values["project_id"] = None  # deleted for good since the chat was begun
        chat = await self._history.create_chat(**values)
        self.put(chat)
        return chat

    async def change(self, chat_id: str, **changes: Any) -> Chat:
        """Change a chat. What the disk refuses is written with the chat's next change."""
        unwritten = self._unwritten.setdefault(chat_id, {})
        unwritten.update(changes)
        writing = dict(unwritten)
        try:
            chat = await self._history.change_chat(chat_id, **writing)
        except NotStored:
            self._unwritten.pop(chat_id, None)
            raise
        for name in [name for name, value in writing.items() if unwritten.get(name) is value]:
            del unwritten[name]
        self.put(chat)
        return chat

    def replace(self, chat_id: str, chat: Chat) -> None:
        """A private chat is an ordinary one now, under another id."""
        self._drop(chat_id)
        self.put(chat)

    def is_unwritten(self, chat_id: str) -> bool:
        """Whether the disk refused a change that was not written since."""
        return bool(self._unwritten.get(chat_id))

    async def reread(self, chat_id: str) -> Chat:
        """After messages were added: their number, the cost and the time of the chat have changed."""
        chat = await self._history.chat(chat_id)
        self._possible -= {chat_id}
        self._possible |= await self._history.chats_of_possible_costs(chat_id)
        self.put(chat)
        return chat

    async def trash(self, chat_id: str) -> None:
        await self._history.trash(chat_id)
        self._drop(chat_id)

    async def restore(self, chat_id: str) -> Chat:
        await self._history.restore(chat_id)
        return await self.reread(chat_id)

    async def purge(self, chat_id: str) -> None:
        """Delete for good: chats in the trash, and such that nothing was ever typed into."""
        self._drop(chat_id)
        await self._history.purge(chat_id)

    async def duplicate(self, chat_id: str, leaf_id: str | None = None) -> Chat:
        """Copy a chat, or its branch that ends at `leaf_id`. What it cost stays with the original."""
        original = await self._history.chat(chat_id)
        name = original.title or NEW_CHAT
        title = tr("{title} (copy)", title=name) if leaf_id is None else tr("{title} (branch)", title=name)
        copy = await duplicate_chat(self._history.database, chat_id, leaf_id, title=title)
        return await self.reread(copy.id)

    async def trashed(self, now: datetime) -> tuple[TrashEntry, ...]:
        """What is in the trash."""
        chats = await self._history.chats(trashed=True)
        return tuple(_trash_entry(chat, chat.trashed_at, now) for chat in chats if chat.trashed_at is not None)

    def entries(
        self,
        writing: Collection[str],
        waiting: Mapping[str, datetime | None],
        now: datetime,
        name_of: Callable[[str], str],
        *,
        only: Iterable[str] | None = None,
        project: str | None = "",
    ) -> LazyRows[Chat, ChatEntry]:
        """The rows of one project, "" for chats in none, None for all: pinned ones first, then by time.

        `name_of` gives a model's name for its id. `writing` are chats with an answer under way; `waiting` says of some
        of them until when they wait, None for the service. With `only` the rows of these chats, in that order.
        """
        today = now.astimezone().date()
        name_of = cache(name_of)  # of a few models for thousands of chats

        def entry(chat: Chat) -> ChatEntry:
            return ChatEntry(
                id=chat.id,
                title=chat.title or title_from(chat.draft.strip() or _attached_name(chat)),
                partner=chat.character_name or name_of(chat.model),
                cost=_cost_words(chat, "possible" if chat.id in self._possible else "stated"),
                group=group_of(chat.updated_at, chat.pinned, today),
                pinned=chat.pinned,
                writing=chat.id in writing,
                waits=chat.id in waiting,
                waits_until=waiting.get(chat.id),
                has_draft=bool(chat.draft.strip() or chat.draft_attachments),
                in_project=chat.project_id in self._shown,
                private=self._history.is_private(chat.id),
            )

        def texts(chats: Sequence[Chat]) -> list[str]:
            partners = {model: f"\n{name_of(model)}".casefold() for model in self._models}
            busy = self._history.private_ids().union(writing, waiting)

            def words(chat: Chat) -> str:
                row = entry(chat)
                return f"{row.title}\n{row.second_line}".casefold()

            return [
                words(chat)  # the row says what it is busy with
                if chat.draft or chat.draft_attachments or not chat.title or chat.id in busy
                else chat.title.casefold()
                + (f"\n{chat.character_name}".casefold() if chat.character_name else partners[chat.model])
                for chat in chats
            ]

        if only is not None:
            chats = [self._chats[each] for each in only if each in self._chats]
        elif project is not None or len(self._orders) == 1:
            chats = self._orders.get(project or "", [])[::-1]
        else:
            chats = sorted(self._chats.values(), key=_rank, reverse=True)
        return LazyRows(chats, entry, texts)

    def __len__(self) -> int:
        return len(self._chats)


def _rank(chat: Chat) -> tuple[bool, datetime]:
    return chat.pinned, chat.updated_at


def _trash_entry(chat: Chat, moment: datetime, now: datetime) -> TrashEntry:
    number = tr_n("{n} message", "{n} messages", chat.message_count)
    return TrashEntry(chat.id, chat.title or NEW_CHAT, f"{number} · {time_format.when(moment, now)}", moment)


_SPEAKERS = {"user": tr("You"), "assistant": tr("Answer"), "tool": tr("Your function result")}


class Search:
    """Over all chats outside the trash. Raises `StorageError`."""

    def __init__(self, history: ChatStore, name_of: Callable[[str], str], now: Callable[[], datetime]) -> None:
        self._history = history
        self._name_of = name_of
        self._now = now

    async def hits(self, text: str, project_id: str | None = None) -> tuple[Hit, ...]:
        """Titles, then messages, that hold every word of `text`, newest first; at most fifty. Of one project or all."""
        found = await self._history.search(text, MOST_HITS, project_id=project_id)
        now = self._now()
        return tuple(_hit(each, now) for each in found)


def _hit(found: SearchHit, now: datetime) -> Hit:
    when = time_format.when(found.created_at, now)
    said = tr("Title") if found.message_id is None else _SPEAKERS.get(found.role, found.role.capitalize())
    return Hit(
        chat_id=found.chat_id,
        chat_title=found.chat_title or NEW_CHAT,
        message_id=found.message_id or "",
        note=f"{said} · {when}",
        text=found.snippet.text,
        marks=found.snippet.marks,
    )


def _cost_words(chat: Chat, source: str) -> str:
    """What a chat has cost; real money and play money each for itself."""
    real, play = chat.cost_usd - chat.play_usd, chat.play_usd
    if real and play:
        return tr("{real} and {play} play money", real=money.cost(real, source), play=money.cost(play, source))
    return money.cost(chat.cost_usd, source) if chat.cost_usd else ""


def _attached_name(chat: Chat) -> str:
    """Return the name of the first file in a draft, "" for none."""
    return str(chat.draft_attachments[0].get("name") or "") if chat.draft_attachments else ""

"""What the chat page shows at once, as frozen values. The presenter makes them; widgets only draw them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from app.core.time_format import clock, countdown
from app.translation import tr
from app.ui.chat.session.chat_options import ChatOptions, Controls
from app.ui.chat.session.seal import SealIndicator
from app.ui.chat.session.titles import NEW_CHAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.core.problems import Problem
    from app.service.characters import Character


class ChatEntry(NamedTuple):
    """One row of the list of chats."""

    id: str
    title: str
    partner: str  # the character's or the model's name
    cost: str  # "" while nothing was paid
    group: str
    pinned: bool = False
    writing: bool = False
    waits: bool = False  # what is being written was not sent yet
    waits_until: datetime | None = None  # until when; None until the service can be reached
    has_draft: bool = False
    in_project: bool = False
    private: bool = False  # it is in memory alone

    @property
    def second_line(self) -> str:
        """The partner, and what the chat is busy with."""
        until = self.waits_until
        if until is not None:
            return self._line(tr("waiting until {until}", until=clock(until)))
        if self.waits:
            return self._line(tr("waiting for the service"))
        state = tr("writing…") if self.writing else tr("draft") if self.has_draft else ""
        return self._line(state, self.partner)

    @property
    def work(self) -> str:
        """What is under way in the chat, for the status bar."""
        until = self.waits_until
        if until is not None:
            return tr("An answer in “{title}”, waiting until {until}", title=self.title, until=clock(until))
        if self.waits:
            return tr("An answer in “{title}”, waiting for the service", title=self.title)
        return tr("An answer in “{title}”", title=self.title)

    def counting_line(self, now: datetime) -> str:
        """The same while it can be painted once a second: a wait is counted down."""
        until = self.waits_until
        if until is None:
            return self.second_line
        if until <= now:  # the next try is under way
            return self._line(tr("writing…"), self.partner)
        return self._line(tr("waiting {until}", until=countdown((until - now).total_seconds())))

    def _line(self, state: str, partner: str = "") -> str:
        """What the chat is busy with; a wait is given no partner, whose name would leave no room for its time."""
        if self.private:
            state = tr("private, {state}", state=state) if state else tr("private")
        return f"{partner} · {state}" if partner and state else partner or state.capitalize()

    @property
    def spoken(self) -> str:
        """The row as a screen reader says it."""
        parts = [self.title, self.second_line]
        parts += [self.cost] if self.cost else []
        parts += [tr("pinned")] if self.pinned else []
        parts += [tr("has a draft")] if self.has_draft else []
        return ", ".join(part for part in parts if part)


MAX_PROJECT_NAME_CHARS = 80  # as the disk keeps them


class ProjectKey(NamedTuple):
    """Under which a project's row stands in the list of chats, beside the ids of chats; "" for the archived ones."""

    project_id: str


class ProjectEntry(NamedTuple):
    """The row of a project in the list of chats, or of all archived ones together (`id` "")."""

    id: str
    title: str
    color: str = ""
    folded: bool = False
    archived: bool = False
    number: str = ""  # of its chats, or of the archived projects
    words: str = ""  # the same in words

    @property
    def key(self) -> ProjectKey:
        return ProjectKey(self.id)

    @property
    def spoken(self) -> str:
        """The row as a screen reader says it."""
        kind = tr("project") if self.id else ""
        parts = (self.title, kind, self.words, tr("collapsed") if self.folded else tr("expanded"))
        return ", ".join(part for part in parts if part)


class ProjectSection(NamedTuple):
    """A project and its chats, in the order of the list."""

    head: ProjectEntry
    chats: Sequence[ChatEntry]


class CharacterHead(NamedTuple):
    """The character a chat speaks with, as much as its header shows."""

    slug: str
    name: str
    description: str = ""
    rating: float = 0.0
    rating_count: int = 0
    model_id: str = ""

    @classmethod
    def of(cls, character: Character) -> CharacterHead:
        """What the header keeps of a character that the service told about."""
        return cls(
            slug=character.slug,
            name=character.name or character.slug,
            description=character.description or "",
            rating=float(character.stats.average_rating),
            rating_count=int(character.stats.rating_count),
            model_id=character.model_id,
        )


class ProjectForm(NamedTuple):
    """What can be set of a project, as a person fills it in."""

    name: str
    color: str = ""
    instructions: str = ""
    model: str = ""  # "" for the one that new chats have elsewhere
    character: CharacterHead | None = None
    parameters: Mapping[str, object] | None = None  # None for those that new chats have elsewhere
    limit: str = ""  # in USD, "" for none


class ChatHead(NamedTuple):
    """The open chat: its header, its parameters and what the composer says."""

    chat_id: str | None = None  # None: a chat that nothing was typed into yet
    title: str = NEW_CHAT
    model_id: str = ""
    model_name: str = ""
    model_missing: bool = False  # the account's service does not list it
    context_tokens: int | None = None
    price_line: str = ""  # "131K context, $0.70 in and $2.80 out per million tokens"
    retires: str = ""
    character: CharacterHead | None = None
    options: ChatOptions = ChatOptions()
    instructing: str = ""  # the project whose instructions stand before the system prompt
    structure: str = ""  # what the answers are asked to be: "JSON", "2 functions"
    controls: Controls = Controls()
    has_documents: bool = False  # its project follows files
    lock: SealIndicator = SealIndicator()
    default_temperature: float | None = None
    default_top_p: float | None = None
    efforts: tuple[str, ...] = ()  # how hard the model can be told to think, in its own words
    default_effort: str = ""
    max_reply_tokens: int | None = None
    prompt_tokens: int = 0  # of the system prompt, estimated
    cache_key: str = ""
    cached_tokens: int = 0
    writing: bool = False
    is_empty: bool = True
    is_coming: bool = False  # an earlier chat is about to be opened in place of this one: nothing is said about it yet
    editing: bool = False  # the box holds an earlier turn; sending it makes a branch
    edits_answer: bool = False  # that turn is an answer: the box is saved and nobody is asked
    is_taken_back: bool = False  # that turn is the question whose seal failed
    queued: bool = False  # what is in the box is sent as soon as the answer under way is complete
    is_sandbox: bool = False
    has_account: bool = True
    private: bool = False  # it is in memory alone
    can_send: bool = True
    why_not: str = ""  # one line beside Send when nothing can be sent
    says_why_not: bool = False  # it is about what the person put in, and stands over Send
    problem: Problem | None = None  # of the page as a whole, such as a full disk

    @property
    def partner(self) -> str:
        """Who the composer says the message goes to."""
        return self.character.name if self.character is not None else self.model_name

    @property
    def placeholder(self) -> str:
        if not self.partner or self.edits_answer:
            return tr("Message")
        return tr("Message {partner}, / for commands", partner=self.partner)


class CostNote(NamedTuple):
    """What stands left of Send: the most a turn can cost."""

    text: str = ""
    detail: str = ""  # the tooltip: how it was reckoned
    tokens: str = ""  # of what is in the box, "" while that is empty
    links: tuple[str, ...] = ()  # in the box, while links are to be read; the first five are
    warns: bool = False  # the text says what may go wrong, not what it costs


class AttachmentView(NamedTuple):
    """One chip over the box. `refusal` is why it cannot go along; `path` the bytes of an image, for its thumbnail."""

    key: str
    kind: str
    name: str
    detail: str = ""
    refusal: str = ""
    busy: bool = False
    path: str = ""
    can_shrink: bool = False
    model_id: str = ""  # of a model that takes everything that is attached, where this one refuses it
    model_name: str = ""
    other: str = ""  # what a button offers to send instead
    other_tip: str = ""  # why it is offered
    can_open: bool = False  # it is text of a document, which can be shown around it


MOST_HITS = 50  # of one search; more are never read through, and fifty are there at once


class Hit(NamedTuple):
    """A place in the history that a search found. `message_id` is "" when it is the chat's title."""

    chat_id: str
    chat_title: str
    message_id: str
    note: str  # who said it, and when
    text: str  # one line around the first place
    marks: tuple[tuple[int, int], ...] = ()  # where in `text` the found words are

    @property
    def title(self) -> str:
        """The excerpt: what the pointer is told of a row that has no room for all of it."""
        return self.text

    @property
    def spoken(self) -> str:
        """The row as a screen reader says it."""
        return ", ".join(part for part in (self.chat_title, self.note, self.text) if part)

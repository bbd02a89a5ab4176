"""An answer while it is being written: what came so far, and how fast. Plain values, no Qt, no network."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from app.service.chat_types import (
    Finished,
    ModelNamed,
    ModelRefused,
    ReasoningDelta,
    Source,
    SourcesFound,
    TextDelta,
    TextWasReasoning,
    ToolCall,
    ToolCallsFound,
    Usage,
    UsageReported,
)
from app.service.pricing import chat_cost
from app.ui.chat.session.continuation import RepeatFilter
from app.ui.chat.session.estimate import count_tokens

if TYPE_CHECKING:
    from app.service.chat_types import ChatEvent
    from app.service.models import Model


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """What one read of the stream added: to be drawn at once, in one go."""

    text: str = ""
    reasoning: str = ""
    sources_changed: bool = False
    moved: bool = False  # what was shown as text is reasoning, and the row is shown again as a whole


SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？]|\S\n\n")
SENTENCE_END = 32  # characters before a place that its end may begin with


class TextBuffer:
    """A text that grows by small pieces; joined only when somebody reads it, so that a long one costs no more."""

    __slots__ = ("_joined", "_new")

    def __init__(self, text: str) -> None:
        self._joined = text
        self._new: list[str] = []

    def add(self, piece: str) -> None:
        if piece:
            self._new.append(piece)

    def joined(self) -> str:
        if self._new:
            self._joined = "".join((self._joined, *self._new))
            self._new.clear()
        return self._joined


@dataclass(slots=True)
class LiveAnswer:
    """One row that is being written. Times are seconds of `clock`, which only ever grows.

    A continuation starts with the kept text and reasoning of the same row.
    """

    chat_id: str
    message_id: str
    model_id: str
    clock: Callable[[], float]
    kept_text: str = ""  # of the row before this call: a continuation adds to it
    kept_reasoning: str = ""
    sources: tuple[Source, ...] = ()
    prompt_tokens: int = 0  # estimated, until the service reports it
    model: Model | None = None  # for its price
    searched: bool = False  # web search was asked for, so marks in the text are citations
    links: int = 0  # pages that the service may have read
    usage: Usage | None = None
    cost_usd: Decimal | None = None  # as stated by the service
    finish_reason: str = ""
    refused: bool = False  # the model said, in the service's own way, that it will not answer
    tool_calls: tuple[ToolCall, ...] = ()
    schema: Mapping[str, object] | None = None  # that the answer is to fit
    extra: dict[str, object] = field(default_factory=dict)  # what later requests must carry back unchanged
    started_at: float = field(init=False)
    first_event_at: float | None = None
    first_token_at: float | None = None
    reasoning_began_at: float | None = None
    thinking_s: float | None = None
    _repeat: RepeatFilter = field(init=False)
    _text: TextBuffer = field(init=False)
    _reasoning: TextBuffer = field(init=False)
    _billed: TextBuffer = field(init=False)  # everything that this call brought, for counting tokens
    _has_sentence: bool = False
    _looked_to: int = 0  # up to here the text has no sentence

    def __post_init__(self) -> None:
        self.started_at = self.clock()
        self._repeat = RepeatFilter(self.kept_text)
        self._text, self._reasoning, self._billed = (
            TextBuffer(self.kept_text),
            TextBuffer(self.kept_reasoning),
            TextBuffer(""),
        )

    @property
    def text(self) -> str:
        return self._text.joined()

    @property
    def has_sentence(self) -> bool:
        """Whether a sentence of the text has ended; each part of the text is looked at once."""
        if not self._has_sentence:
            text = self.text
            self._has_sentence = SENTENCE.search(text, max(0, self._looked_to - SENTENCE_END)) is not None
            self._looked_to = len(text)
        return self._has_sentence

    @property
    def reasoning(self) -> str:
        return self._reasoning.joined()

    def begin(self, elapsed_s: float) -> None:
        """The first of the answer comes, so many seconds after it was asked for: what was waited before is no part."""
        self.first_event_at = self.clock()
        self.started_at = max(self.started_at, self.first_event_at - elapsed_s)

    def append(self, events: Iterable[ChatEvent]) -> AnswerDelta:
        """Add what one read brought; returns the parts that are new on the screen."""
        text: list[str] = []
        reasoning: list[str] = []
        sources_changed = moved = False
        for event in events:
            if isinstance(event, TextDelta):
                self._begin_text()
                text.append(self._repeat.feed(event.text))
                self._billed.add(event.text)
            elif isinstance(event, ReasoningDelta):
                self._begin_reasoning()
                reasoning.append(event.text)
                self._billed.add(event.text)
            elif isinstance(event, TextWasReasoning):
                self._move_text("".join(text), "".join(reasoning))
                text, reasoning, moved = [], [], True
            elif isinstance(event, SourcesFound):
                self.sources = event.sources
                sources_changed = True
            elif isinstance(event, ToolCallsFound):
                self.tool_calls = event.calls
                for each in event.calls:
                    self._billed.add(f"{each.name}{each.arguments}")
            elif isinstance(event, UsageReported):
                self.usage = event.usage
                self.cost_usd = event.cost_usd if event.cost_usd is not None else self.cost_usd
            elif isinstance(event, ModelNamed):
                self.model_id = event.model or self.model_id
            elif isinstance(event, ModelRefused):
                self.refused = True
            elif isinstance(event, Finished):
                self.finish_reason = event.reason
        added = self._add("".join(text), "".join(reasoning), sources_changed)
        return AnswerDelta(sources_changed=sources_changed, moved=True) if moved else added

    def _move_text(self, text: str, reasoning: str) -> None:
        """Make reasoning of all text of this call: what is there, what came with this read, and what is held back."""
        self._add(text + self._repeat.finish(), reasoning, False)
        if self.reasoning_began_at is None:
            self.reasoning_began_at = self.first_token_at
        self._reasoning.add(self.text[len(self.kept_text) :].rstrip())
        self._text, self._repeat = TextBuffer(self.kept_text), RepeatFilter(self.kept_text)
        self._has_sentence, self._looked_to = False, 0

    def finish(self) -> AnswerDelta:
        """Let go of what was held back as a possible repetition; call once, when the stream has ended."""
        if self.reasoning_began_at is not None and self.thinking_s is None:
            self.thinking_s = self.clock() - self.reasoning_began_at
        return self._add(self._repeat.finish(), "", False)

    def _add(self, text: str, reasoning: str, sources_changed: bool) -> AnswerDelta:
        self._text.add(text)
        self._reasoning.add(reasoning)
        return AnswerDelta(text, reasoning, sources_changed)

    def _begin_text(self) -> None:
        now = self.clock()
        if self.first_token_at is None:
            self.first_token_at = now
        if self.reasoning_began_at is not None and self.thinking_s is None:
            self.thinking_s = now - self.reasoning_began_at

    def _begin_reasoning(self) -> None:
        now = self.clock()
        if self.first_token_at is None:
            self.first_token_at = now
        if self.reasoning_began_at is None:
            self.reasoning_began_at = now

    @property
    def is_thinking(self) -> bool:
        """Whether thoughts come and the answer has not begun."""
        return self.reasoning_began_at is not None and self.thinking_s is None

    @property
    def output_tokens(self) -> int:
        """Reported, or estimated from what came in this call."""
        if self.usage is not None and self.usage.completion:
            return self.usage.completion
        return count_tokens(self._billed.joined())

    @property
    def input_tokens(self) -> int:
        return self.usage.prompt if self.usage is not None and self.usage.prompt else self.prompt_tokens

    @property
    def cached_tokens(self) -> int:
        return self.usage.cached if self.usage is not None else 0

    def price(self, usage: Usage | None) -> Decimal | None:
        """The list price of an answer whose own cost the service does not state; None: of what came before a cut.

        A search that was asked for is charged, unless a whole answer shows that there was none.
        """
        if self.model is None:
            return None
        searched = self.searched and (usage is None or bool(self.sources))
        usage = usage or Usage(prompt=self.prompt_tokens, completion=self.output_tokens)
        return chat_cost(self.model.model_spec.pricing, usage, searched=searched, scraped_urls=self.links)

    @property
    def cost_so_far(self) -> Decimal | None:
        """As stated by the service, else by the list price; None without either."""
        if self.cost_usd is not None:
            return self.cost_usd
        return self.price(self.usage)

    @property
    def first_token_s(self) -> float | None:
        return None if self.first_token_at is None else self.first_token_at - self.started_at

    @property
    def elapsed_s(self) -> float:
        return self.clock() - self.started_at

    @property
    def tokens_per_s(self) -> float | None:
        """Since the first token; None in the first quarter of a second, when it says nothing."""
        if self.first_token_at is None:
            return None
        writing_s = self.clock() - self.first_token_at
        return self.output_tokens / writing_s if writing_s > 0.25 else None

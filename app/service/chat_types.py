"""What goes into a chat request and what comes out of its stream, as plain values.

Standard library only: the chat tab imports this before the first paint. Source: service specification, chat
completions and `service_parameters` (R-CHAT-*, R-EXT-*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from app.service.http.base64_text import Base64Text

WEB_SEARCH_MODES = ("off", "on", "auto")
REASONING_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
AUDIO_FORMATS = ("wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24")


@dataclass(frozen=True, slots=True)
class ServiceParameters:
    """The ten options that chat adds to the OpenAI shape; the defaults are the service's own."""

    character_slug: str | None = None
    strip_thinking_response: bool = False
    disable_thinking: bool = False
    enable_web_search: str = "off"  # "off", "on" or "auto": a string, never a boolean
    enable_web_scraping: bool = False  # reads up to five addresses of the message instead of searching
    enable_x_search: bool = False  # a third party's search; replaces the service's own
    enable_web_citations: bool = False  # no effect without a search
    include_search_results_in_stream: bool = False
    return_search_results_as_documents: bool = False
    include_venice_system_prompt: bool = True  # the service's own prompts in front of ours; named so in every dialect

    def to_wire(self) -> dict[str, object]:
        """Only what differs from the default, so that equal settings give equal bytes and prompt caches hit."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}


@dataclass(frozen=True, slots=True)
class ContentPart:
    """One part of a message: text, image, sound, video or file.

    `value` is what stands under the key named like `type`. `cache` marks the end of a piece worth caching
    (`cache_control`).
    """

    type: Literal["text", "image_url", "input_audio", "video_url", "file"]
    value: str | Mapping[str, object]
    cache: bool = False

    @classmethod
    def of_text(cls, text: str, *, cache: bool = False) -> ContentPart:
        return cls("text", text, cache)

    @classmethod
    def of_image(cls, url: str | Base64Text, *, cache: bool = False) -> ContentPart:
        """`url` is a data URL or a public http(s) address."""
        return cls("image_url", {"url": url}, cache)

    @classmethod
    def of_audio(cls, data_base64: str | Base64Text, audio_format: str = "wav", *, cache: bool = False) -> ContentPart:
        """Bare base64, without the head of a data URL; `audio_format` is one of `AUDIO_FORMATS`."""
        return cls("input_audio", {"data": data_base64, "format": audio_format}, cache)

    @classmethod
    def of_video(cls, url: str | Base64Text, *, cache: bool = False) -> ContentPart:
        return cls("video_url", {"url": url}, cache)

    @classmethod
    def of_file(cls, url: str | Base64Text, file_name: str | None = None, *, cache: bool = False) -> ContentPart:
        """A document whose text the service extracts; `url` is a data URL or a public address."""
        value: dict[str, object] = {"file_data": url}
        if file_name:
            value["filename"] = file_name
        return cls("file", value, cache)

    def to_wire(self) -> dict[str, object]:
        value = self.value if isinstance(self.value, str) else dict(self.value)
        wire: dict[str, object] = {"type": self.type, self.type: value}
        if self.cache:
            wire["cache_control"] = {"type": "ephemeral"}
        return wire


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One turn. `extra` holds what an assistant message must carry back unchanged: `reasoning_content`,
    `reasoning_details`, `thought_signature`, `tool_calls`, and for a tool's answer `tool_call_id`."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[ContentPart, ...] | None
    extra: Mapping[str, object] = field(default_factory=dict)

    def to_wire(self) -> dict[str, object]:
        content: object = self.content
        if isinstance(self.content, tuple):
            content = [part.to_wire() for part in self.content]
        return {"role": self.role, "content": content, **self.extra}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Everything one chat call says. None and empty mean: leave it to the model.

    `prompt_cache_key` is the chat's own id: the same for every turn of one chat. `extra` is typed as JSON, merged
    into the body last; the service neither checks nor promises it.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    parameters: ServiceParameters = field(default_factory=ServiceParameters)
    temperature: float | None = None  # 0 to 2
    top_p: float | None = None  # 0 to 1
    max_completion_tokens: int | None = None  # seen and reasoning tokens together
    reasoning_effort: str | None = None  # one of REASONING_EFFORTS
    seed: int | None = None  # above 0
    stop: tuple[str, ...] = ()  # up to four
    prompt_cache_key: str | None = None
    anon_user_id: str | None = None  # tells apart people who share a key
    prompt_cache_retention: str | None = None  # "24h": the service is to keep what it has cached for a day
    response_format: Mapping[str, object] | None = None  # `{"type": "json_schema", …}`; needs a model that can
    tools: tuple[Mapping[str, object], ...] = ()  # functions that the model may ask for, in the OpenAI shape
    tool_choice: str | None = None  # "auto", "none" or "required"; only with tools
    extra: Mapping[str, object] = field(default_factory=dict)
    results_in_stream: bool = True  # False: a streamed search does not ask for its results


@dataclass(frozen=True, slots=True)
class Source:
    """One search result. `index` counts from 0, as `[REF]0[/REF]` does. All text is a stranger's."""

    index: int
    title: str = ""
    url: str = ""
    content: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer. `completion` includes `reasoning`; `prompt` includes `cached` and `cache_created`."""

    prompt: int = 0
    completion: int = 0
    total: int = 0
    cached: int = 0
    reasoning: int = 0
    cache_created: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function the model wants called. `arguments` is JSON text, whole."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """All text before this was reasoning: only the end of the block was marked."""


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """All sources of the answer, complete: it replaces an earlier one."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class ToolCallsFound:
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ModelRefused:
    """The model declines; its words come as text beside this."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of the answer: "stop", "length", "tool_calls", "content_filter" or a word we do not know."""

    reason: str


@dataclass(frozen=True, slots=True)
class UsageReported:
    """`cost_usd` as the service states it, DIEM included at par; None when it does not say."""

    usage: Usage
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ModelNamed:
    """The model that really answers; may differ from the one asked for."""

    model: str


ChatEvent = (
    TextDelta
    | ReasoningDelta
    | TextWasReasoning
    | SourcesFound
    | ToolCallsFound
    | ModelRefused
    | Finished
    | UsageReported
    | ModelNamed
)


@dataclass(frozen=True, slots=True)
class RetryWait:
    """A call waits before its next try: show it, with a way to give up (cancel the task)."""

    reason: str  # "rate_limit", "server", "connection", "held" (failure budget), "pace" (calls per minute)
    wait_s: float
    attempt: int  # tries made so far
    message: str = ""

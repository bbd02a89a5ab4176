"""What one chat asks of its model, and which of it the model honors.

A control whose value the model ignores stays in its place, says why, and is not sent: `judge` decides that once, the
inspector, the pills under the box and the request all follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from app.translation import tr

if TYPE_CHECKING:
    from app.service.chat_types import ServiceParameters
    from app.service.models import Model
    from app.ui.chat.session.cached_model import CachedModel

WebSearch = Literal["off", "auto", "on"]
WEB_SEARCH: tuple[WebSearch, ...] = ("off", "auto", "on")
MAX_TEMPERATURE = 2.0
MAX_LINKS_READ = 5  # pages of one message that the service reads
MAX_STOPS = 4
MAX_SEED = 2**53 - 1  # whole numbers beyond this are not exact in every JSON reader


class ChatOptions(NamedTuple):
    """The parameters of one chat as the person set them; None leaves a number to the model.

    `citations` starts on because it only says how search results are marked; nothing is searched while
    `web_search` is off.
    """

    system_prompt: str = ""
    service_prompt: bool = True
    web_search: WebSearch = "off"
    citations: bool = True
    read_links: bool = False
    social_posts: bool = False
    thinking: bool = True
    remove_think_tags: bool = False
    temperature: float | None = None
    top_p: float | None = None
    reply_limit: int | None = None
    results_in_stream: bool = True  # without them the marks in a streamed text have no sources
    results_as_documents: bool = False
    effort: str = ""  # how hard the model thinks; "" leaves it to the model
    seed: int | None = None
    stop: tuple[str, ...] = ()  # texts that end the answer
    cache_attachments: bool = True
    keep_cache: bool = False  # ask the service to keep what it has cached for a day
    extra_json: str = ""  # an object as typed, merged into the request last
    documents: bool = True  # look for passages in the project's documents before a message is sent

    @classmethod
    def from_dict(cls, stored: Mapping[str, object]) -> ChatOptions:
        """Read stored options; what is unknown, missing or of the wrong type falls back to its default."""
        kept: dict[str, object] = {}
        for name, default in cls._field_defaults.items():
            value = stored.get(name)
            if name == "web_search":
                fits = value in WEB_SEARCH
            elif name == "stop":
                value = (
                    tuple(each for each in value if isinstance(each, str)) if isinstance(value, list | tuple) else ()
                )
                fits = True
            elif default is None:
                fits = isinstance(value, (int, float)) and not isinstance(value, bool)
            else:
                fits = type(value) is type(default)
            if fits:
                kept[name] = int(cast(float, value)) if name in ("reply_limit", "seed") else value
        return cls(**kept)  # type: ignore[arg-type]  # each value was compared with its default's type above

    def to_dict(self) -> dict[str, object]:
        """Only what differs from the defaults, so that a later default reaches old chats."""
        return {name: value for name, value in self._asdict().items() if value != self._field_defaults[name]}


# What the parameters of a model's suffix set (R-EXT-27).
_PARAMETERS = {
    "strip_thinking_response": "remove_think_tags",
    "enable_web_search": "web_search",
    "enable_web_scraping": "read_links",
    "enable_x_search": "social_posts",
    "enable_web_citations": "citations",
    "include_search_results_in_stream": "results_in_stream",
    "return_search_results_as_documents": "results_as_documents",
    "include_venice_system_prompt": "service_prompt",
}


def options_with(options: ChatOptions, parameters: Mapping[str, object]) -> ChatOptions:
    """Return the options with what parameters of the extension object set, by wire name; the character is none."""
    values = {_PARAMETERS[name]: value for name, value in parameters.items() if name in _PARAMETERS}
    if "disable_thinking" in parameters:
        values["thinking"] = not parameters["disable_thinking"]
    return options._replace(**values)  # type: ignore[arg-type]  # `read_suffix` checks each value's type


# What a sealed request cannot carry → the wire name of its reason.
_SEALED_OFF = {
    "web_search": "enable_web_search",
    "citations": "enable_web_search",
    "read_links": "enable_web_scraping",
    "social_posts": "enable_x_search",
    "thinking": "parameters",
    "remove_think_tags": "parameters",
    "results_in_stream": "enable_web_search",
    "results_as_documents": "enable_web_search",
    "effort": "reasoning_effort",
    "keep_cache": "prompt_cache_key",
    "cache_attachments": "files",
    "documents": "files",
    "structure": "response_format",
    "stop": "stop",
    "extra_json": "extra",
    "service_prompt": "include_venice_system_prompt",
}


class Control(NamedTuple):
    """Whether a control has an effect on this model, and the line under it when it has none."""

    usable: bool = True
    why: str = ""


class Controls(NamedTuple):
    """One `Control` for each option that a model can ignore."""

    web_search: Control = Control()
    citations: Control = Control()
    read_links: Control = Control()
    social_posts: Control = Control()
    thinking: Control = Control()
    remove_think_tags: Control = Control()
    results_in_stream: Control = Control()
    results_as_documents: Control = Control()
    effort: Control = Control()
    keep_cache: Control = Control()
    cache_attachments: Control = Control()
    documents: Control = Control()
    structure: Control = Control()
    stop: Control = Control()
    extra_json: Control = Control()
    service_prompt: Control = Control()


def sealed_options(options: ChatOptions) -> ChatOptions:
    """The same without what a sealed request cannot carry."""
    return options._replace(
        service_prompt=False,
        web_search="off",
        read_links=False,
        social_posts=False,
        thinking=True,
        remove_think_tags=False,
        results_as_documents=False,
        effort="",
        stop=(),
        cache_attachments=False,
        keep_cache=False,
        extra_json="",
    )


def sealed_controls() -> Controls:
    """All that is off while a chat is sealed, each with its reason (R-TEE-10)."""
    from app.service.sealed.reasons import REASONS  # the first frame is of a chat that is not sealed

    return Controls(**{name: Control(False, REASONS[reason]) for name, reason in _SEALED_OFF.items()})


def judge(options: ChatOptions, model: Model | CachedModel | None) -> Controls:
    """Decide what has an effect. A model that is not in the list is believed to do everything."""
    name = model.name if model is not None else ""
    can = model.capabilities if model is not None else None
    searches = can is None or can.supports_web_search
    thinks = can is None or can.supports_reasoning

    native = options.social_posts and (can is None or can.supports_x_search)
    web = Control()
    if not searches:
        web = Control(False, tr("{name} cannot search the web.", name=name))
    elif options.read_links:
        web = Control(False, tr("Reading links replaces web search."))
    elif native:
        web = Control(False, tr("The model’s own search replaces web search."))
    looks_up = (web.usable and options.web_search != "off") or native or options.read_links

    citations = Control()
    if not web.usable:
        citations = Control(False, web.why)
    elif options.web_search == "off":
        citations = Control(False, tr("Needs web search."))

    social = Control()
    if can is not None and not can.supports_x_search:
        social = Control(False, tr("{name} has no search of its own.", name=name))

    tags = Control()
    if not thinks:
        tags = Control(False, tr("{name} does not show its reasoning.", name=name))
    elif not options.thinking:
        tags = Control(False, tr("Reasoning is off."))

    documents = Control() if looks_up else Control(False, tr("Needs web search or links to read."))
    results = documents
    if looks_up and options.results_as_documents:
        results = Control(False, tr("Returned as documents."))
    effort = Control()
    if can is not None and not can.supports_reasoning_effort:
        effort = Control(False, tr("{name} has no effort setting.", name=name))
    elif thinks and not options.thinking:
        effort = Control(False, tr("Reasoning is off."))

    keeps = Control()
    if model is not None and not model.keeps_turns:
        keeps = Control(False, tr("{name} does not cache earlier messages.", name=name))

    return Controls(
        keep_cache=keeps,
        results_in_stream=results,
        results_as_documents=documents,
        effort=effort,
        web_search=web,
        citations=citations,
        social_posts=social,
        thinking=Control() if thinks else Control(False, tr("{name} does not show its reasoning.", name=name)),
        remove_think_tags=tags,
    )


def service_parameters(options: ChatOptions, model: Model | None, character_slug: str | None) -> ServiceParameters:
    """The extension object of a request: what the model ignores is left at its default, and so is not sent.

    Search results are asked for inside the stream whenever something is looked up, unless the person switched that
    off: the marks in the text would have no sources otherwise.
    """
    from app.service.chat_types import ServiceParameters

    controls = judge(options, model)
    searching = controls.web_search.usable and options.web_search != "off"
    social = controls.social_posts.usable and options.social_posts
    documents = controls.results_as_documents.usable and options.results_as_documents
    return ServiceParameters(
        character_slug=character_slug,
        strip_thinking_response=controls.remove_think_tags.usable and options.remove_think_tags,
        disable_thinking=controls.thinking.usable and not options.thinking,
        enable_web_search=options.web_search if searching else "off",
        enable_web_scraping=options.read_links,
        enable_x_search=social,
        enable_web_citations=searching and controls.citations.usable and options.citations,
        include_search_results_in_stream=controls.results_in_stream.usable and options.results_in_stream,
        return_search_results_as_documents=documents,
        include_venice_system_prompt=options.service_prompt,
    )


def effort_of(options: ChatOptions, model: Model | None) -> str | None:
    """The reasoning effort to send: None for the model's own, and for one that the model does not know."""
    if not options.effort or not judge(options, model).effort.usable:
        return None
    known = model.capabilities.reasoning_efforts if model is not None else ()
    return options.effort if not known or options.effort in known else None


def next_web_search(current: WebSearch) -> WebSearch:
    """What a press on the Web pill changes to: off, auto, on, and round again."""
    return WEB_SEARCH[(WEB_SEARCH.index(current) + 1) % len(WEB_SEARCH)]

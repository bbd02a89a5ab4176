"""The Sandbox's models: capabilities, prices and rate-limit tier of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.sandbox.http.errors import Json

if TYPE_CHECKING:
    from app.sandbox.chat.local_servers import LocalServers
    from app.sandbox.media.media_models import MediaModel

TYPES = ("text", "image", "video", "inpaint", "upscale", "tts", "asr", "embedding", "music")
MILLION = Decimal(1_000_000)
DEPRECATION_NOTICE_DAYS = 14

BOOLEAN_CAPABILITIES = (
    "optimizedForCode", "supportsFunctionCalling", "supportsAudioInput", "supportsReasoning", "supportsReasoningEffort",
    "supportsResponseSchema", "supportsMultipleImages", "supportsVision", "supportsVideoInput", "supportsWebSearch",
    "supportsLogProbs", "supportsTeeAttestation", "supportsE2EE", "supportsXSearch",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per 1 000 000 tokens. Above `threshold` prompt tokens the extended rates hold for the whole request."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cache_input: Decimal | None = None
    cache_write: Decimal | None = None
    threshold: int | None = None
    extended: Prices | None = None

    def cost(self, prompt: int, completion: int, cached: int, created: int) -> Decimal:
        """Return USD of one request. `cached` and `created` are parts of `prompt`, reasoning of `completion`."""
        if self.threshold is not None and self.extended is not None and prompt > self.threshold:
            return self.extended.cost(prompt, completion, cached, created)
        read = self.input if self.cache_input is None else self.cache_input
        write = self.input if self.cache_write is None else self.cache_write
        fresh = prompt - cached - created
        return (fresh * self.input + cached * read + created * write + completion * self.output) / MILLION

    def as_json(self) -> Json:
        rates: Json = {"input": _price(self.input), "output": _price(self.output)}
        if self.cache_input is not None:
            rates["cache_input"] = _price(self.cache_input)
        if self.cache_write is not None:
            rates["cache_write"] = _price(self.cache_write)
        if self.extended is not None:
            rates["extended"] = {"context_token_threshold": self.threshold, **self.extended.as_json()}
        return rates


@dataclass(frozen=True, slots=True)
class ModelEntry:
    id: str
    name: str
    description: str
    engine: str  # "reader", "vision" or "local"
    tier: str
    prices: Prices
    capabilities: frozenset[str] = frozenset()
    thinking: str = "none"  # how thoughts are shown: "none", "tags" or "field"
    efforts: tuple[str, ...] = ()
    context_tokens: int | None = 131_072
    max_completion_tokens: int | None = 8_192
    traits: tuple[str, ...] = ()
    caches_prompts: bool = False
    offline: bool = False
    replaced_by: str = ""  # set on the deprecated one
    pro: bool = False  # what the characters' `isPro` filter means
    type: str = "text"
    created: int = 1_764_547_200
    source: str = ""
    extra: Json = field(default_factory=dict)

    def has(self, capability: str) -> bool:
        return capability in self.capabilities

    def as_json(self, now: datetime, owner: str) -> Json:
        capabilities: Json = {name: name in self.capabilities for name in BOOLEAN_CAPABILITIES}
        capabilities["quantization"] = "not-available"
        if self.efforts:
            capabilities["reasoningEffortOptions"] = list(self.efforts)
            capabilities["defaultReasoningEffort"] = "medium"
        if self.has("supportsVision"):
            capabilities["maxImages"] = 10
        if self.has("supportsVideoInput"):
            capabilities["maxVideos"] = 3
        spec: Json = {
            "name": self.name,
            "description": self.description,
            "privacy": "private",
            "offline": self.offline,
            "traits": list(self.traits),
            "capabilities": capabilities,
            "constraints": {"temperature": {"default": 0.7}, "top_p": {"default": 0.95}},
            "pricing": self.prices.as_json(),
        }
        if self.source:
            spec["modelSource"] = self.source
        record: Json = {
            "id": self.id,
            "object": "model",
            "type": self.type,
            "created": self.created,
            "owned_by": owner,
            "model_spec": spec,
        }
        if self.context_tokens is not None:
            spec["availableContextTokens"] = record["context_length"] = self.context_tokens
        if self.max_completion_tokens is not None:
            spec["maxCompletionTokens"] = self.max_completion_tokens
        if self.replaced_by:
            spec["deprecation"] = deprecation(now, self.replaced_by)
        return record


def removal_date(now: datetime) -> datetime:
    """A deprecated model is always within its notice, so that its warning can be seen on any day."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=DEPRECATION_NOTICE_DAYS)


def deprecation(now: datetime, replaced_by: str) -> Json:
    """Return the `deprecation` of a model's record."""
    removed_at = removal_date(now)
    return {
        "date": removed_at.date().isoformat(),
        "startsAt": (removed_at - timedelta(days=DEPRECATION_NOTICE_DAYS)).isoformat().replace("+00:00", "Z"),
        "removesAt": removed_at.isoformat().replace("+00:00", "Z"),
        "autoRemap": True,
        "replacementModelId": replaced_by,
    }


def _price(usd: Decimal) -> Json:
    return {"usd": usd, "diem": usd}


def _usd(text: str) -> Decimal:
    return Decimal(text)


_SEARCHES = "supportsWebSearch"
_CALLS = "supportsFunctionCalling"
_SCHEMA = "supportsResponseSchema"

OWN_MODELS = (
    ModelEntry(
        "rialto-handbook",
        "Handbook reader",
        "Finds the passages in Rialto’s handbook that answer a question and quotes them. Not a language model.",
        "reader",
        "XS",
        Prices(_usd("0.10"), _usd("0.15"), _usd("0.01"), _usd("0.125")),
        frozenset({_SEARCHES, _CALLS, _SCHEMA}),
        traits=("default", "function_calling_default"),
        caches_prompts=True,
    ),
    ModelEntry(
        "rialto-think-tags",
        "Handbook reader, think tags",
        "The handbook reader. First lists the pages it searched, in legacy think tags.",
        "reader",
        "S",
        Prices(_usd("0.20"), _usd("0.90")),
        frozenset({_SEARCHES, "supportsReasoning"}),
        thinking="tags",
    ),
    ModelEntry(
        "rialto-reasoning",
        "Handbook reader, reasoning",
        "The handbook reader. First lists the pages it searched, as separate reasoning text.",
        "reader",
        "M",
        Prices(_usd("0.75"), _usd("3.50"), _usd("0.16")),
        frozenset({_SEARCHES, _CALLS, _SCHEMA, "supportsReasoning", "supportsReasoningEffort"}),
        thinking="field",
        efforts=("low", "medium", "high"),
        traits=("default_reasoning",),
        caches_prompts=True,
        pro=True,
    ),
    ModelEntry(
        "rialto-vision",
        "Attachment meter",
        "Measures attached images, audio, videos and files: format, size, length. It does not understand them.",
        "vision",
        "S",
        Prices(_usd("0.45"), _usd("3.20")),
        frozenset({"supportsVision", "supportsMultipleImages", "supportsAudioInput", "supportsVideoInput"}),
        traits=("default_vision",),
    ),
    ModelEntry(
        "rialto-search",
        "Handbook reader with notice board",
        "Searches the handbook, or the notice board when native search is on.",
        "reader",
        "L",
        Prices(
            _usd("2.27"),
            _usd("6.80"),
            _usd("0.57"),
            None,
            20_000,
            Prices(_usd("4.53"), _usd("13.60"), _usd("1.13")),
        ),
        frozenset({_SEARCHES, "supportsXSearch", _CALLS}),
        context_tokens=500_000,
        caches_prompts=True,
        pro=True,
    ),
    ModelEntry(
        "rialto-plain",
        "Handbook reader, plain",
        "Answers from the handbook only: no search, no tools, no reasoning.",
        "reader",
        "XS",
        Prices(_usd("0.05"), _usd("0.08")),
        context_tokens=8_192,
        max_completion_tokens=1_024,
    ),
    ModelEntry(
        "rialto-sealed",
        "Handbook reader, sealed",
        "The handbook reader in a simulated enclave: messages and answers are sealed. Its root "
        "certificate says Sandbox.",
        "reader",
        "S",
        Prices(_usd("0.13"), _usd("0.65")),
        frozenset({"supportsTeeAttestation", "supportsE2EE", "supportsReasoning"}),
        thinking="field",
    ),
    ModelEntry(
        "rialto-sealed-gateway",
        "Handbook reader, sealed by a gateway",
        "The sealed handbook reader behind a gateway that holds the key, with evidence in the other format.",
        "reader",
        "S",
        Prices(_usd("0.13"), _usd("0.65")),
        frozenset({"supportsTeeAttestation", "supportsE2EE"}),
        extra={"gateway": True},
    ),
    ModelEntry(
        "rialto-enclave",
        "Handbook reader, enclave",
        "The handbook reader in a simulated enclave that does not accept sealed messages.",
        "reader",
        "S",
        Prices(_usd("0.05"), _usd("0.19")),
        frozenset({"supportsTeeAttestation"}),
    ),
    ModelEntry(
        "rialto-handbook-2025",
        "Handbook reader 2025",
        "The previous reader. It will be removed soon.",
        "reader",
        "XS",
        Prices(_usd("0.15"), _usd("0.25")),
        frozenset({_SEARCHES}),
        replaced_by="rialto-handbook",
        created=1_735_689_600,
    ),
    ModelEntry(
        "rialto-night-shift",
        "Night shift",
        "Turned off, to show what a listed but unavailable model looks like.",
        "reader",
        "S",
        Prices(_usd("0.10"), _usd("0.15")),
        offline=True,
    ),
)

# Names that programs have hard-coded; the answer always carries the id of what really served it.
ALIASES = {
    "gpt-4o-mini": "rialto-handbook",
    "gpt-4.1-mini": "rialto-handbook",
    "o4-mini": "rialto-reasoning",
    "e2ee-rialto": "rialto-sealed",  # programs that seal for names with this beginning only
}
# OpenAI's names by type, where they were asked for: a program with its defaults untouched then finds a model.
DEFAULT_MODELS: Mapping[str, Mapping[str, str]] = {
    "text": {
        "gpt-3.5-turbo": "rialto-handbook",
        "gpt-4": "rialto-handbook",
        "gpt-4-turbo": "rialto-handbook",
        "gpt-4o": "rialto-handbook",
        "gpt-4.1": "rialto-handbook",
        "gpt-4.1-nano": "rialto-handbook",
        "gpt-5": "rialto-reasoning",
        "gpt-5-mini": "rialto-reasoning",
        "gpt-5-nano": "rialto-reasoning",
        "o1": "rialto-reasoning",
        "o3": "rialto-reasoning",
        "o3-mini": "rialto-reasoning",
    },
    "tts": dict.fromkeys(("tts-1", "tts-1-hd", "gpt-4o-mini-tts"), "tts-kokoro"),
    "asr": dict.fromkeys(("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"), "openai/whisper-large-v3"),
    "image": dict.fromkeys(("dall-e-2", "dall-e-3", "gpt-image-1", "gpt-image-1-mini"), "rialto-canvas"),
    "inpaint": dict.fromkeys(("dall-e-2", "gpt-image-1", "gpt-image-1-mini"), "firered-image-edit"),
}


class ModelCatalog:
    """The Sandbox's own models, and those of model servers found on this computer."""

    def __init__(
        self,
        local_servers: LocalServers,
        media: Callable[[], tuple[MediaModel, ...]] = tuple,
        has_defaults: Callable[[], bool] = lambda: False,
    ) -> None:
        """`media` gives the records of models that are no text models; it is asked when one is first wanted.

        `has_defaults` says whether the names of `DEFAULT_MODELS` count.
        """
        self._has_defaults = has_defaults
        self._local_servers = local_servers
        self._media = media

    async def listed(self, wanted_type: str) -> Sequence[ModelEntry | MediaModel]:
        """Return the records of one type; `all` and `code` are selections of their own."""
        if wanted_type not in ("text", "code", "all"):
            return [model for model in self._media() if model.type == wanted_type]
        entries = [*OWN_MODELS, *await self._local_servers.models()]
        if wanted_type == "all":
            return [*entries, *self._media()]
        if wanted_type == "code":
            return [entry for entry in entries if entry.has("optimizedForCode")]
        return entries

    def media_model(self, name: str, wanted_type: str) -> MediaModel | None:
        """Return the model of an id, if it is of that type."""
        name = self._default(name, wanted_type)
        return next((model for model in self._media() if (model.id, model.type) == (name, wanted_type)), None)

    async def find(self, name: str) -> ModelEntry | None:
        """Return the model of an id, a trait or an alias."""
        wanted = self.traits("text").get(name) or ALIASES.get(name) or self._default(name, "text")
        for entry in OWN_MODELS:
            if entry.id == wanted:
                return entry
        if "/" not in wanted:
            return None  # ids of passed-on models start with their server's name
        return next((entry for entry in await self._local_servers.models() if entry.id == wanted), None)

    def replacement_of(self, model_id: str, leaving: str) -> str | None:
        """Return what takes the place of a model that is announced as leaving, "" for nothing; None where it stays."""
        if model_id != leaving:
            return None
        every: tuple[ModelEntry | MediaModel, ...] = (*OWN_MODELS, *self._media())
        kind = next((each.type for each in every if each.id == model_id), "")
        others = (each.id for each in every if each.type == kind and each.id != model_id)
        return next(others, "")

    def stand_in(self, name: str) -> ModelEntry:
        """Return a record under any name, for a scripted answer: it is no engine that answers."""
        return replace(OWN_MODELS[0], id=name, name=name, context_tokens=None, max_completion_tokens=None)

    def traits(self, wanted_type: str) -> dict[str, str]:
        return {trait: entry.id for entry in OWN_MODELS if entry.type == wanted_type for trait in entry.traits}

    def aliases(self, wanted_type: str) -> dict[str, str]:
        own = ALIASES if wanted_type == "text" else {}
        return {**own, **(DEFAULT_MODELS.get(wanted_type, {}) if self._has_defaults() else {})}

    def listed_id(self, name: str) -> str:
        """Return the id under which a name of `DEFAULT_MODELS` is listed; any other name is itself."""
        return next((known for kind in DEFAULT_MODELS if (known := self._default(name, kind)) != name), name)

    def _default(self, name: str, wanted_type: str) -> str:
        return DEFAULT_MODELS.get(wanted_type, {}).get(name, name) if self._has_defaults() else name


def local_entry(model_id: str, name: str, server: str, port: int) -> ModelEntry:
    """Return the record of a model that another program on this computer runs."""
    extra: dict[str, Any] = {"server": server, "name": name, "port": port}
    return ModelEntry(
        model_id,
        name,
        f"Runs on this computer in the model server on port {port}. Rialto forwards the chat. Free.",
        "local",
        "XS",
        Prices(),
        frozenset({_SEARCHES, _CALLS, _SCHEMA}),
        context_tokens=None,
        max_completion_tokens=None,
        source=f"http://127.0.0.1:{port}",
        extra=extra,
    )

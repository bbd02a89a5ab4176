"""Models: `GET /models`, `GET /models/{id}`, traits and aliases. The shapes are public, not specified: read tolerantly.

A model's prices mean different things by its type: tokens for text, characters for speech, seconds for transcription.
Source: service specification, models.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from urllib.parse import quote

from pydantic import Field

from app.service.calls import Call, limit, query
from app.service.chat_types import Usage
from app.service.client import ServiceClient
from app.service.errors import BadResponse, NotFound
from app.service.http.bodies import MAX_MODEL_LIST_BYTES
from app.service.pricing import chat_cost, usd
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, Name, WireModel, read_model
from app.translation import tr

MODEL_TYPES = ("text", "image", "video", "inpaint", "upscale", "tts", "asr", "embedding", "music", "all", "code")


class Capabilities(WireModel):
    """What a text model can do. Anything not mentioned it cannot."""

    supports_vision: bool = Field(default=False, alias="supportsVision")
    supports_multiple_images: bool = Field(default=False, alias="supportsMultipleImages")
    supports_audio_input: bool = Field(default=False, alias="supportsAudioInput")
    supports_video_input: bool = Field(default=False, alias="supportsVideoInput")
    supports_function_calling: bool = Field(default=False, alias="supportsFunctionCalling")
    supports_response_schema: bool = Field(default=False, alias="supportsResponseSchema")
    supports_log_probs: bool = Field(default=False, alias="supportsLogProbs")
    supports_reasoning: bool = Field(default=False, alias="supportsReasoning")
    supports_reasoning_effort: bool = Field(default=False, alias="supportsReasoningEffort")
    supports_web_search: bool = Field(default=False, alias="supportsWebSearch")
    supports_x_search: bool = Field(default=False, alias="supportsXSearch")
    # Both decide about sealed chats, never the model's id (R-TEE-01).
    supports_tee_attestation: bool = Field(default=False, alias="supportsTeeAttestation")
    supports_e2ee: bool = Field(default=False, alias="supportsE2EE")
    supports_prompt: bool = Field(default=False, alias="supportsPromptParam")
    supports_temperature: bool = Field(default=False, alias="supportsTemperatureParam")
    supports_top_p: bool = Field(default=False, alias="supportsTopPParam")
    optimized_for_code: bool = Field(default=False, alias="optimizedForCode")
    quantization: str = ""
    reasoning_efforts: tuple[str, ...] = Field(default=(), alias="reasoningEffortOptions")
    default_reasoning_effort: str = Field(default="", alias="defaultReasoningEffort")
    max_images: int | None = Field(default=None, alias="maxImages")
    max_videos: int | None = Field(default=None, alias="maxVideos")


class Deprecation(WireModel):
    """When a model goes, and what comes instead. Dates are ISO 8601 as sent."""

    date: str = ""
    starts_at: str = Field(default="", alias="startsAt")
    removes_at: str = Field(default="", alias="removesAt")
    replacement_model_id: str = Field(default="", alias="replacementModelId")
    auto_remap: bool = Field(default=False, alias="autoRemap")

    @property
    def ends(self) -> str:
        return self.removes_at or self.date


class ModelSpec(WireModel):
    name: Name = ""
    description: str = ""
    source: str = Field(default="", alias="modelSource")
    privacy: str = ""  # "private", "anonymized"
    beta: bool = False
    beta_model: bool = Field(default=False, alias="betaModel")
    offline: bool = False
    uncensored: bool = False
    traits: tuple[str, ...] = ()
    deprecation: Deprecation | None = None
    pricing: dict[str, object] | None = None
    constraints: dict[str, object] = Field(default_factory=dict)
    capabilities: Capabilities = Field(default_factory=Capabilities)
    context_tokens: int | None = Field(default=None, alias="availableContextTokens")
    max_completion_tokens: int | None = Field(default=None, alias="maxCompletionTokens")
    voices: tuple[str, ...] = ()
    supported_formats: tuple[str, ...] = ()
    default_format: str = ""
    default_voice: str = ""
    supports_custom_voice_id: bool = False
    voice_cloning: object = None  # present means supported; an object with details, or only `true`
    supports_prompt: bool | None = Field(default=None, alias="supportsPromptParam")
    supports_temperature: bool | None = Field(default=None, alias="supportsTemperatureParam")
    supports_top_p: bool | None = Field(default=None, alias="supportsTopPParam")
    embedding_dimensions: int | None = Field(default=None, alias="embeddingDimensions")
    max_input_tokens: int | None = Field(default=None, alias="maxInputTokens")
    supports_custom_dimensions: bool = Field(default=False, alias="supportsCustomDimensions")
    supports_style_references: bool | None = Field(default=None, alias="supportsStyleReferences")
    supports_web_search: bool | None = Field(default=None, alias="supportsWebSearch")  # of an image model
    supports_prompt_thinking: bool | None = Field(default=None, alias="supportsOptimizePromptThinking")


class Model(WireModel):
    """One model as the list shows it."""

    id: str = Field(min_length=1)
    type: str = "text"
    created: int | None = None
    owned_by: str = ""
    context_length: int | None = None
    model_spec: ModelSpec = Field(default_factory=ModelSpec)

    @property
    def name(self) -> str:
        return self.model_spec.name or self.id

    @property
    def context_tokens(self) -> int | None:
        return self.model_spec.context_tokens or self.context_length

    @property
    def capabilities(self) -> Capabilities:
        return self.model_spec.capabilities

    @property
    def price_input(self) -> Decimal | None:
        """USD for a million tokens in (text, embeddings) or a million characters (speech)."""
        return usd(self.model_spec.pricing, "input")

    @property
    def price_output(self) -> Decimal | None:
        """USD for a million tokens out."""
        return usd(self.model_spec.pricing, "output")

    @property
    def price_cached_input(self) -> Decimal | None:
        """USD for a million tokens in that the service still has from an earlier turn; None: it keeps none."""
        return usd(self.model_spec.pricing, "cache_input")

    @property
    def keeps_turns(self) -> bool:
        """False for a model whose prices are stated and name none for tokens that it still has."""
        return self.price_cached_input is not None or self.price_input is None

    @property
    def deprecation(self) -> Deprecation | None:
        return self.model_spec.deprecation

    @property
    def privacy(self) -> str:
        return self.model_spec.privacy

    @property
    def offline(self) -> bool:
        return self.model_spec.offline

    @property
    def voice_cloning(self) -> Mapping[str, object] | None:
        """What voice cloning asks for, {} when the model says only that it can, None when it cannot (R-VOI-05)."""
        told = self.model_spec.voice_cloning
        if isinstance(told, Mapping):
            return told
        capability = (self.capabilities.model_extra or {}).get("voice_cloning")
        if isinstance(capability, Mapping):
            return capability
        return {} if told is True or capability is True else None

    def chat_cost(self, usage: Usage | None) -> Decimal | None:
        """The estimate to give `chat.stream(price=…)`; None where nothing was counted."""
        return chat_cost(self.model_spec.pricing, usage) if usage is not None else None


class ModelsResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def list(
        self, model_type: str = "text", *, background: bool = False, authenticated: bool = True
    ) -> tuple[Model, ...]:
        """Return the models of a type (one of `MODEL_TYPES`) in the service's order. Raises `ServiceError`.

        Some services list their models for everybody: without `authenticated` no credentials are sent.
        """
        _check_type(model_type, MODEL_TYPES)
        return ListEnvelope.read(Model, await self._get("/models", model_type, background, authenticated)).data

    async def one(self, model_id: str) -> Model:
        """Return one model. Raises `NotFound` when there is none, and other `ServiceError`s.

        Where the dialect has no such path, or the path is not there after all, the list is searched (R-EP-13).
        """
        limit(bool(model_id.strip()), "model", "1", tr("Name a model."))
        if self._client.dialect.model_by_id:
            try:
                content = await self._client.get(f"/models/{quote(model_id, safe='')}", resource="models")
            except NotFound:
                pass  # the path may be missing rather than the model
            else:
                inner = content.get("data") if isinstance(content, Mapping) else None
                return read_model(Model, inner if isinstance(inner, Mapping) else content)
        for model in await self.list("all"):
            if model.id == model_id:
                return model
        raise NotFound(tr("There is no model “{model_id}”.", model_id=model_id), status=404)

    async def _get(self, path: str, model_type: str, background: bool, authenticated: bool = True) -> object:
        call = Call(
            "GET",
            path,
            CallKind.READ,
            "models",
            query({"type": model_type}),
            max_bytes=MAX_MODEL_LIST_BYTES,
            background=background,
            authenticated=authenticated,
        )
        async with self._client.fetch(call) as answer:
            return answer.json()


def _check_type(model_type: str, allowed: tuple[str, ...]) -> None:
    limit(
        model_type in allowed,
        "type",
        ", ".join(allowed),
        tr("There is no model type “{model_type}”.", model_type=model_type),
    )


def _names(content: object) -> dict[str, str]:
    data = content.get("data") if isinstance(content, Mapping) else None
    if not isinstance(data, Mapping):
        raise BadResponse(tr("The service’s response is not a list of names."))
    return {str(name): model_id for name, model_id in data.items() if isinstance(model_id, str)}

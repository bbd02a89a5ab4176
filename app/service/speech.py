"""Text to sound: `POST /audio/speech`, whole or sentence by sentence, and voices cloned from a sample.

Beta. Source: service specification, speech synthesis and voice cloning (R-TTS-*, R-VOI-*).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from types import TracebackType

from pydantic import Field

from app.media_types import HEAD_BYTES, MEDIA_TYPES, looks_like_program, looks_like_text, sniff
from app.service.calls import Call, CallRecord, JsonContent, limit
from app.service.client import OnWait, ServiceClient, ServiceResponse
from app.service.errors import BadResponse, WrongMedia
from app.service.exchange import Exchange
from app.service.http.multipart import FormContent, FormFile, OnProgress
from app.service.http.time_limits import SPEECH_S
from app.service.http.upload_check import check_upload, sound_kind
from app.service.models import Model
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.service.wire import WireModel, read_model
from app.translation import tr

PATH = "/audio/speech"
FORMATS = ("mp3", "opus", "aac", "flac", "wav", "pcm")
MAX_TEXT_CHARS = 4096
MAX_STYLE_CHARS = 500
MAX_VOICE_CHARS = 512
LANGUAGE_CHARS = (2, 32)
SPEEDS = (0.25, 4.0)
MAX_SOUND_BYTES = 256 * 1024 * 1024
NOT_SOUND = tr("The service’s response is not audio.")
VOICE_PREFIX = "vv_"
CLONE_KINDS = frozenset({"mp3", "wav", "flac", "m4a", "mp4"})

Price = Callable[[int], Decimal | None]  # characters → USD


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """What to say and how. None leaves it to the model. A cloned voice (`vv_…`) belongs to the model that made it."""

    text: str  # 1 to 4096 characters
    model: str
    voice: str  # case counts
    format: str | None = None  # one of FORMATS
    speed: float = 1.0  # 0.25 to 4
    streaming: bool = False  # sentence by sentence
    language: str | None = None  # in the form the model knows; None: it listens for itself
    style: str | None = None  # mood and delivery, for models that take it
    temperature: float | None = None  # 0 to 2
    top_p: float | None = None  # 0 to 1
    extra: Mapping[str, object] = field(default_factory=dict)  # by wire name, merged last

    def to_body(self) -> dict[str, object]:
        """The body as the wire names it. Raises `LimitExceeded`."""
        self._check()
        body: dict[str, object] = {"model": self.model, "voice": self.voice, "input": self.text}
        if self.speed != 1.0:
            body["speed"] = self.speed
        if self.streaming:
            body["streaming"] = True
        for name, value in (
            ("response_format", self.format),
            ("language", self.language),
            ("prompt", self.style),
            ("temperature", self.temperature),
            ("top_p", self.top_p),
        ):
            if value is not None:
                body[name] = value
        return {**body, **self.extra}

    def _check(self) -> None:
        limit(bool(self.model.strip()), "model", "1", tr("Choose a model."))
        limit(
            0 < len(self.voice) <= MAX_VOICE_CHARS,
            "voice",
            tr("1 to {max_voice_chars}", max_voice_chars=MAX_VOICE_CHARS),
            tr("Choose a voice."),
        )
        limit(bool(self.text.strip()), "input", "1", tr("Type something to speak."))
        limit(
            len(self.text) <= MAX_TEXT_CHARS,
            "input",
            str(MAX_TEXT_CHARS),
            tr(
                "Up to {max_text_chars} characters. This text has {count}.",
                max_text_chars=MAX_TEXT_CHARS,
                count=len(self.text),
            ),
        )
        limit(
            self.format is None or self.format in FORMATS,
            "response_format",
            ", ".join(FORMATS),
            tr("Unknown audio format “{format}”.", format=self.format),
        )
        low, high = SPEEDS
        limit(
            low <= self.speed <= high,
            "speed",
            tr("{low} to {high}", low=f"{low:g}", high=f"{high:g}"),
            tr("Speed must be between {low} and {high}.", low=f"{low:g}", high=f"{high:g}"),
        )
        shortest, longest = LANGUAGE_CHARS
        limit(
            self.language is None or shortest <= len(self.language) <= longest,
            "language",
            tr("{shortest} to {longest}", shortest=shortest, longest=longest),
            tr("A language has {shortest} to {longest} characters.", shortest=shortest, longest=longest),
        )
        limit(
            self.style is None or len(self.style) <= MAX_STYLE_CHARS,
            "prompt",
            str(MAX_STYLE_CHARS),
            tr(
                "Up to {max_style_chars} characters. This style has {count}.",
                max_style_chars=MAX_STYLE_CHARS,
                count=len(self.style or ""),
            ),
        )
        hot = self.temperature
        limit(hot is None or 0 <= hot <= 2, "temperature", "0 to 2", tr("Temperature must be between 0 and 2."))
        limit(self.top_p is None or 0 <= self.top_p <= 1, "top_p", "0 to 1", tr("top_p must be between 0 and 1."))


@dataclass(frozen=True, slots=True)
class Sound:
    """A whole piece of sound. `format` is what the bytes are, which need not be what was asked for."""

    data: bytes
    format: str
    media_type: str
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class SpeechTraits:
    """What one speech model takes. `language_form`: "names" (English), "codes" (en), "locales" (English (US)) or
    "none". `speeds` is what it honors of 0.25 to 4, None when it ignores the speed."""

    style: bool = False
    temperature: bool = False
    top_p: bool = False
    language_form: str = "none"
    speeds: tuple[float, float] | None = SPEEDS


# For deployments whose model list does not say which parameters a model honors.
KNOWN_TRAITS: Mapping[str, SpeechTraits] = {
    "tts-kokoro": SpeechTraits(),
    "tts-qwen3-0-6b": SpeechTraits(style=True, temperature=True, top_p=True, language_form="names", speeds=None),
    "tts-qwen3-1-7b": SpeechTraits(style=True, temperature=True, top_p=True, language_form="names", speeds=None),
    "tts-xai-v1": SpeechTraits(language_form="codes", speeds=(0.7, 1.5)),
    "tts-inworld-1-5-max": SpeechTraits(speeds=None),
    "tts-chatterbox-hd": SpeechTraits(temperature=True, speeds=None),
    "tts-orpheus": SpeechTraits(temperature=True, speeds=None),
    "tts-elevenlabs-turbo-v2-5": SpeechTraits(language_form="codes", speeds=(0.7, 1.2)),
    "tts-minimax-speech-02-hd": SpeechTraits(language_form="names", speeds=(0.5, 2.0)),
    "tts-gemini-3-1-flash": SpeechTraits(style=True, temperature=True, language_form="locales", speeds=None),
    "tts-gradium-v1": SpeechTraits(speeds=None),
}


def traits_of(model: Model) -> SpeechTraits:
    """What `model` takes: as the list advertises it, else as it is known to be (R-TTS-11, -17, -19)."""
    known = KNOWN_TRAITS.get(model.id, SpeechTraits())
    spec, able = model.model_spec, model.capabilities
    told = able.model_fields_set

    def advertised(in_spec: bool | None, name: str, in_capabilities: bool, otherwise: bool) -> bool:
        if in_spec is not None:
            return in_spec
        return in_capabilities if name in told else otherwise

    return SpeechTraits(
        style=advertised(spec.supports_prompt, "supports_prompt", able.supports_prompt, known.style),
        temperature=advertised(
            spec.supports_temperature, "supports_temperature", able.supports_temperature, known.temperature
        ),
        top_p=advertised(spec.supports_top_p, "supports_top_p", able.supports_top_p, known.top_p),
        language_form=known.language_form,
        speeds=known.speeds,
    )


class SpeechStream:
    """Sound while it is made. Enter it, iterate once; leaving closes the connection.

    Gives bytes as they arrive; raw `pcm` in whole 16-bit samples. Raises `ServiceError`; `StreamCut` when the sound
    ends too early.
    """

    def __init__(
        self, client: ServiceClient, request: SpeechRequest, price: Price | None, on_wait: OnWait | None
    ) -> None:
        call = _speech_call(request, price)
        self._client = client
        self._call = call
        self._raw = request.format == "pcm"
        self._characters = len(request.text)
        self._on_wait = on_wait
        self._record: CallRecord = client.record(call)
        self._steps: AsyncGenerator[bytes, None] = self._run()
        self.format: str | None = None  # what the bytes are, once the first have come

    @property
    def exchange(self) -> Exchange:
        return self._record.exchange

    @property
    def info(self) -> ResponseInfo | None:
        return self._record.exchange.info

    async def __aenter__(self) -> SpeechStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._steps

    async def aclose(self) -> None:
        await self._steps.aclose()

    async def _run(self) -> AsyncGenerator[bytes, None]:
        async with (
            self._client.open(self._call, record=self._record, on_wait=self._on_wait) as answer,
            aclosing(answer.pieces()) as pieces,
        ):
            self._record.report(units={"characters": self._characters})
            held = b""
            async for piece in pieces:
                held += piece
                if self.format is None:
                    if len(held) < HEAD_BYTES:
                        continue
                    self.format = _format_of(held, answer)
                whole = len(held) - len(held) % 2 if self._raw else len(held)
                if whole:
                    yield held[:whole]
                    held = held[whole:]
            if self.format is None:
                self.format = _format_of(held, answer)
            if held:
                yield held


class SpeechResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def stream(
        self, request: SpeechRequest, *, price: Price | None = None, on_wait: OnWait | None = None
    ) -> SpeechStream:
        """Prepare sound that is given out while it arrives. Raises `LimitExceeded` at once."""
        return SpeechStream(self._client, request, price, on_wait)

    async def synthesize(
        self, request: SpeechRequest, *, price: Price | None = None, on_wait: OnWait | None = None
    ) -> Sound:
        """Return the whole sound. Raises `ServiceError`; a wrong voice is a `BadRequest` that names the right ones."""
        call = _speech_call(request, price)
        record = self._client.record(call)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            kind = _format_of(answer.body, answer)
            record.report(units={"characters": len(request.text)})
        data = whole_wav(answer.body) if kind == "wav" else answer.body
        return Sound(data, kind, MEDIA_TYPES.get(kind, "application/octet-stream"), record.exchange)


class ClonedVoice(WireModel):
    """A handle for a voice of one's own. It works with `model` alone and expires after about a week."""

    id: str = Field(min_length=4)
    model: str = ""


class VoicesResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def clone(
        self, sample: Path, model: str, *, price_usd: Decimal | None = None, on_progress: OnProgress | None = None
    ) -> ClonedVoice:
        """Upload a sample of a voice and return its handle. Raises `LimitExceeded` for a file that cannot do."""
        limit(bool(model.strip()), "model", "1", tr("Choose a model."))
        await check_upload(sample, CLONE_KINDS, tr("MP3, WAV, FLAC and M4A samples can be used."))
        kind = await sound_kind(sample)
        media_type = "audio/mp4" if kind in ("m4a", "mp4") else MEDIA_TYPES[kind or "wav"]
        file = FormFile("file", sample, sample.name, media_type)
        call = Call(
            "POST",
            "/audio/voices",
            CallKind.UPLOAD,
            "voices",
            content=FormContent((("model", model),), (file,), on_progress),
            answer_s=SPEECH_S,
            model=model,
            pace="audio",
            expected_usd=price_usd,
        )
        record = self._client.record(call)
        async with self._client.fetch(call, record=record) as answer:
            record.report(units={"voices": 1})
            voice = read_model(ClonedVoice, answer.json())
            if not voice.id.startswith(VOICE_PREFIX):
                raise BadResponse(tr("The service’s response is not a voice."), info=answer.info)
        return voice if voice.model else voice.model_copy(update={"model": model})


def whole_wav(data: bytes) -> bytes:
    """Write the real sizes into a WAV whose maker did not know them when it began; others pass unchanged."""
    at = data.find(b"data", 12, 4096)
    if at < 0 or not data.startswith(b"RIFF"):
        return data
    told, real = int.from_bytes(data[at + 4 : at + 8], "little"), len(data) - at - 8
    if 0 < told <= real:
        return data
    riff_size = (len(data) - 8).to_bytes(4, "little")
    return data[:4] + riff_size + data[8 : at + 4] + real.to_bytes(4, "little") + data[at + 8 :]


def _speech_call(request: SpeechRequest, price: Price | None) -> Call:
    return Call(
        "POST",
        PATH,
        CallKind.PAID,
        "speech",
        content=JsonContent(request.to_body()),
        accept="audio/*, application/json",
        max_bytes=MAX_SOUND_BYTES,
        answer_s=SPEECH_S,
        model=request.model,
        pace="audio",
        expected_usd=price(len(request.text)) if price is not None else None,
    )


def _format_of(head: bytes, answer: ServiceResponse) -> str:
    """What the bytes are: by how they begin, else by what the answer says. Raises `BadResponse` for what is no
    sound."""
    kind = sniff(head[:HEAD_BYTES])
    told = answer.info.content_type or "application/octet-stream"
    if told == MEDIA_TYPES["pcm"] and head[:1] == b"\xff":
        kind = None  # a first sample just below zero begins like a frame of MP3
    if kind in ("mp3", "wav", "flac", "ogg", "opus", "aac", "m4a", "mp4") and not looks_like_text(head):
        return kind
    # Raw samples have no beginning of their own, so the header decides; nothing that is plainly else may be played.
    sound = told.startswith("audio/") or told == "application/octet-stream"
    if not head or not sound or kind is not None or looks_like_text(head) or looks_like_program(head):
        raise WrongMedia(NOT_SOUND, info=answer.info)
    by_type = {media_type: name for name, media_type in MEDIA_TYPES.items()}
    return by_type.get(told, "pcm")

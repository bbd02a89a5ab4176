"""Sound to text: `POST /audio/transcriptions`, uploaded from disk. Beta.

Source: service specification, transcription (R-STT-01..19).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from pydantic import Field

from app.media_types import MEDIA_TYPES
from app.service import amounts
from app.service.calls import Call, limit
from app.service.client import OnWait, ServiceClient, ServiceResponse
from app.service.errors import WrongMedia
from app.service.exchange import Exchange
from app.service.http.bodies import MAX_JSON_BYTES
from app.service.http.error_bodies import plain_text
from app.service.http.multipart import FormContent, FormFile, OnProgress
from app.service.http.time_limits import TRANSCRIPTION_S
from app.service.http.upload_check import check_upload, sound_kind
from app.service.retry import CallKind
from app.service.wire import WireModel, read_model
from app.translation import tr

PATH = "/audio/transcriptions"
FILE_SUFFIXES = (".aac", ".flac", ".m4a", ".mp3", ".mp4", ".oga", ".ogg", ".wav", ".wave", ".webm")
FILE_KINDS = frozenset({"aac", "flac", "m4a", "mp3", "mp4", "ogg", "opus", "wav", "webm"})
RESPONSE_FORMATS = ("json", "text")

Price = Callable[[Decimal], Decimal | None]  # seconds of sound → USD
_LANGUAGE = re.compile(r"[a-z]{2}")


class Word(WireModel):
    """One word and when it is said, in seconds."""

    word: str = ""
    start: float = 0
    end: float = 0


class Segment(WireModel):
    """A stretch of speech; its text may begin with a space."""

    text: str = ""
    start: float = 0
    end: float = 0


class Letter(WireModel):
    char: str = ""
    start: float = 0
    end: float = 0


class Timestamps(WireModel):
    """Times as the model gives them; any of the lists may be missing."""

    word: tuple[Word, ...] = ()
    segment: tuple[Segment, ...] = ()
    char: tuple[Letter, ...] = ()


class _TranscriptBody(WireModel):
    text: str = Field()
    timestamps: Timestamps = Field(default_factory=Timestamps)


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """Which file, by which model. `language` is two letters and only a hint; None: the model listens for itself."""

    path: Path
    model: str
    response_format: str = "json"  # "text" loses times and length
    timestamps: bool = False
    language: str | None = None
    file_name: str = ""  # what the file is called on the wire, where its own name does not say what it holds
    extra: Mapping[str, object] = field(default_factory=dict)  # further form fields; what is no text is sent as JSON


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model is known to do beyond text. `kinds` are the lists of times it fills; None: nobody knows."""

    kinds: tuple[str, ...] | None
    takes_hints: bool | None


# The model list does not say; the documentation does, family by family. The first that occurs in a model's id counts.
_FAMILIES: tuple[tuple[str, Abilities], ...] = (
    ("parakeet", Abilities(None, False)),  # one guide says none, another all three
    ("whisper", Abilities(("segment", "word"), True)),
    ("wizper", Abilities(("segment",), True)),
    ("scribe", Abilities(("word",), True)),
    ("stt-", Abilities(("word",), True)),
)


def abilities_of(model_id: str) -> Abilities:
    """Return what the documentation says of a model's times and language hints (R-STT-12, R-STT-15..17)."""
    low = model_id.casefold()
    return next((known for name, known in _FAMILIES if name in low), Abilities(None, None))


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, in the language it was said in. `duration_s` is None when the service did not tell."""

    text: str
    duration_s: Decimal | None
    words: tuple[Word, ...]
    segments: tuple[Segment, ...]
    letters: tuple[Letter, ...]
    exchange: Exchange


class TranscriptionResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def transcribe(
        self,
        request: TranscriptionRequest,
        *,
        price: Price | None = None,
        seconds: Decimal | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
    ) -> Transcript:
        """Upload the file and return its text. Raises `LimitExceeded` before uploading, and other `ServiceError`s.

        `seconds`: how long the sound is, where that is known before.
        """
        kind = await _check(request)
        fields = [("model", request.model), ("response_format", request.response_format)]
        fields.append(("timestamps", "true" if request.timestamps else "false"))
        if request.language is not None:
            fields.append(("language", request.language))
        for name, value in request.extra.items():
            fields.append((name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
        file = FormFile("file", request.path, request.file_name or request.path.name, MEDIA_TYPES[kind])
        call = Call(
            "POST",
            PATH,
            CallKind.UPLOAD,
            "transcription",
            content=FormContent(tuple(fields), (file,), on_progress),
            accept="application/json, text/plain",
            max_bytes=MAX_JSON_BYTES,
            answer_s=TRANSCRIPTION_S,
            model=request.model,
            pace="audio",
            expected_usd=price(seconds) if price is not None and seconds is not None else None,
        )
        record = self._client.record(call)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            told: object = None
            if answer.info.content_type == "text/plain":
                body = _TranscriptBody(text=_text(answer))
            else:
                content = answer.json()
                body = read_model(_TranscriptBody, content)
                told = content.get("duration") if isinstance(content, Mapping) else None
            duration_s = amounts.seconds(told)
            if duration_s is not None:
                estimate = price(duration_s) if price is not None else None
                units = {"audio_seconds": round(duration_s)}
                record.report(units=units, cost_usd=estimate, cost_source="estimated")
            elif told is not None:
                record.report(claimed=tr("{seconds} s", seconds=plain_text(str(told), 40)))
        times = body.timestamps
        return Transcript(body.text, duration_s, times.word, times.segment, times.char, record.exchange)


def _text(answer: ServiceResponse) -> str:
    """What was said, as plain words. Raises `WrongMedia` for a page of the web or bytes that are no text."""
    try:
        text = answer.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or text.lstrip()[:15].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise WrongMedia(tr("The service’s response is not a transcript."), info=answer.info)
    return text


async def _check(request: TranscriptionRequest) -> str:
    limit(bool(request.model.strip()), "model", "1", tr("Choose a model."))
    limit(
        request.response_format in RESPONSE_FORMATS,
        "response_format",
        ", ".join(RESPONSE_FORMATS),
        tr("A transcript comes as json or text."),
    )
    limit(
        request.language is None or _LANGUAGE.fullmatch(request.language) is not None,
        "language",
        tr("two letters"),
        tr("A language is two letters, like “en”."),
    )
    names = ", ".join(suffix[1:].upper() for suffix in FILE_SUFFIXES)
    name = request.file_name or request.path.name
    limit(
        Path(name).suffix.lower() in FILE_SUFFIXES,
        "file",
        names,
        tr("{name} cannot be used. Supported: {names}.", name=name, names=names),
    )
    await check_upload(
        request.path, FILE_KINDS, tr("It must contain audio in one of these formats: {names}.", names=names)
    )
    return await sound_kind(request.path) or "wav"

"""`POST /audio/transcriptions`: a recording to text, with the times each model gives."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.http.call import Call, json_answer, text_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.form import Upload, check_size, read_form
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.installed_engines import need

if TYPE_CHECKING:
    from app.sandbox.media.transcription_engine import Segment

SUFFIXES = ("aac", "flac", "m4a", "mp3", "mp4", "oga", "ogg", "wav", "wave", "webm")
# Which lists a model fills when times are asked for, and whether it honors a language hint.
KINDS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "nvidia/parakeet-tdt-0.6b-v3": (("word", "segment", "char"), False),
    "openai/whisper-large-v3": (("word", "segment"), True),
    "fal-ai/wizper": (("segment",), True),
    "elevenlabs/scribe-v2": (("word",), True),
    "stt-xai-v1": (("word",), True),
}


async def transcribe(call: Call) -> Response:
    form = read_form(call, otherwise=400)
    check = Checker(flat_list=call.names.issues_in_errors)
    upload = form.file(check, "file")
    model_id = form.fields.get("model")
    if not model_id:
        check.complain(("model",), REQUIRED)
    response_format = check.choice(("response_format",), form.fields.get("response_format") or None, ("json", "text"))
    with_times = form.boolean(check, "timestamps")
    if upload is not None:
        check_size(upload)
        if upload.data and container(upload) is None:
            check.complain(("file",), f"Expected a sound file of type {', '.join(SUFFIXES)}")
    check.finish()
    assert upload is not None
    model = find_model(call, model_id or "", "asr")
    if not upload.data:
        raise HttpError(422, "The file is empty")
    need("transcription")
    refuse_unpaid(call)
    duration_s, segments = await asyncio.to_thread(_heard, upload)
    seconds = Decimal(f"{duration_s:.2f}")
    charge(call, f"{model.id}-audio-seconds", seconds, model.price_usd)
    text = " ".join(segment.text for segment in segments)
    if response_format == "text":
        return text_answer(text)
    kinds, takes_hints = KINDS[model.id]
    body: Json = {"text": text, "duration": float(seconds)}
    if takes_hints and form.fields.get("language"):
        body["language"] = form.fields["language"]
    if with_times:
        lists = times(segments)
        body["timestamps"] = {kind: lists[kind] for kind in kinds}
    return json_answer(body)


def container(upload: Upload) -> str | None:
    """Return what the first bytes say the file is; None when that, or its name, is not one of the ten formats."""
    if upload.suffix and upload.suffix not in SUFFIXES:
        return None
    head = upload.data[:16]
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "wav"
    if head[4:8] == b"ftyp":
        return "mp4"
    if head[:2] in (b"\xff\xf1", b"\xff\xf9"):
        return "aac"
    if head[:3] == b"ID3" or (head[:1] == b"\xff" and len(head) > 1 and head[1] & 0xE0 == 0xE0):
        return "mp3"
    known = {b"fLaC": "flac", b"OggS": "ogg", b"\x1a\x45\xdf\xa3": "webm"}
    return known.get(head[:4])


def _heard(upload: Upload) -> tuple[float, tuple[Segment, ...]]:
    """Return the length in seconds and what was said. Raises `HttpError` 422."""
    from app.sandbox.media.sound import NotSound, decode
    from app.sandbox.media.transcription_engine import Silent, recognize

    try:
        sound = decode(upload.data)
        return sound.duration_s, recognize(sound)
    except NotSound as error:
        raise HttpError(422, f"The file cannot be decoded: {error}") from None
    except Silent:
        raise HttpError(422, "Nothing can be heard in this file") from None


def times(segments: tuple[Segment, ...]) -> dict[str, list[Json]]:
    """Return the three lists of times, in seconds. A letter's time is its share of its word's."""
    lists: dict[str, list[Json]] = {"word": [], "segment": [], "char": []}
    for segment in segments:
        first, last = segment.words[0], segment.words[-1]
        lists["segment"].append({"text": f" {segment.text}", "start": first.start_s, "end": last.end_s})
        for word in segment.words:
            lists["word"].append({"word": word.text, "start": word.start_s, "end": word.end_s})
            each = (word.end_s - word.start_s) / len(word.text)
            lists["char"] += [
                {
                    "char": char,
                    "start": round(word.start_s + each * n, 3),
                    "end": round(word.start_s + each * (n + 1), 3),
                }
                for n, char in enumerate(word.text)
            ]
    return lists

"""Media files of a video request: checked before anything is sent, and read for sending. All of it blocks."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.audio.duration import length_of as length_of_sound
from app.files import open_regular, read_regular
from app.formats import format_number
from app.media_types import MEDIA_TYPES, sniff_file
from app.service.errors import LimitExceeded
from app.storage.video_check import NotAVideo, check_video
from app.translation import tr
from app.ui.video.model_constraints import (
    DOCUMENTS,
    MAX_DOCUMENT_BYTES,
    MAX_IMAGE_BYTES,
    MAX_SOUND_BYTES,
    MAX_SOUND_S,
    MAX_VIDEO_BYTES,
    PICTURES,
    SOUNDS,
    VIDEOS,
)
from app.ui.video.reference_media import WIRE

_FILM = (VIDEOS, MAX_VIDEO_BYTES, tr("MP4, MOV or WebM"))
_SOUND = (SOUNDS, MAX_SOUND_BYTES, tr("WAV or MP3"))
_LIMITS = {
    "video_url": _FILM,
    "reference_video_urls": _FILM,
    "audio_url": _SOUND,
    "reference_audio_urls": _SOUND,
    "reference_document_urls": (DOCUMENTS, MAX_DOCUMENT_BYTES, tr("a PDF")),
}
_IMAGE = (PICTURES, MAX_IMAGE_BYTES, tr("PNG, JPEG or WebP"))
_FIELD_OF = {"image_url": "start", "end_image_url": "end", "video_url": "film", "audio_url": "sound"} | {
    wire: name for name, (wire, _) in WIRE.items()
}


def problems_of(media: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with files, by the field of the form that holds them; `media` as `sent_media` makes it."""
    wrong: dict[str, str] = {}
    for wire, value in media.items():
        for name, path in _files(wire, value):
            try:
                check(Path(path), name)
            except LimitExceeded as error:
                wrong.setdefault(_FIELD_OF.get(wire, wire), error.message)
    return wrong


def _files(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Every path in it with the field that holds it; that of an element or a keyframe is its own."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _files(str(key), inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _files(name, inner)
    elif isinstance(value, str):
        yield name, value


def check(path: Path, name: str) -> str:
    """Return the kind of a file by its content. Raises `LimitExceeded` for one that the service would not take."""
    kinds, largest, words = _LIMITS.get(name, _IMAGE)
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            kind = sniff_file(file)
    except OSError as error:
        raise LimitExceeded(
            tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror), field=name
        ) from None
    if kind is None or kind not in kinds:
        raise LimitExceeded(
            tr("{name} cannot be used. It must be {words}.", name=path.name, words=words), field=name, limit=words
        )
    if size > largest:
        mega = f"{largest // 1_000_000} MB"
        raise LimitExceeded(
            tr(
                "Up to {mega}. {name} is {size} MB.",
                mega=mega,
                name=path.name,
                size=format_number(size / 1_000_000, 1),
            ),
            field=name,
            limit=mega,
        )
    if kinds is SOUNDS:
        seconds = length_of_sound(path, kind)
        if seconds is not None and seconds > MAX_SOUND_S + 0.05:
            most = f"{MAX_SOUND_S:g} s"
            raise LimitExceeded(
                tr(
                    "Up to {most}. {name} lasts {seconds} s.",
                    most=most,
                    name=path.name,
                    seconds=format_number(seconds, 1),
                ),
                field=name,
                limit=most,
            )
    return kind


def data_url(path: Path, name: str) -> str:
    """Return a file as a data URL. Raises `LimitExceeded` for one that is missing, too large or of another kind."""
    kind = check(path, name)
    try:
        data = read_regular(path)
    except OSError as error:
        raise LimitExceeded(
            tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror), field=name
        ) from None
    return f"data:{MEDIA_TYPES[kind]};base64,{base64.b64encode(data).decode()}"


def media_of(kept: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the same with a data URL in the place of each file's name. Raises `LimitExceeded`."""

    def read(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: read(key, inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [read(name, inner) for inner in value]
        return data_url(folder / value, name) if isinstance(value, str) else value

    return {name: read(name, value) for name, value in kept.items()}


def length_of(videos: Sequence[str | Path]) -> float:
    """Return the length in seconds of videos that can be read."""
    seconds = 0.0
    for video in videos:
        with contextlib.suppress(NotAVideo, OSError):
            seconds += check_video(Path(video)).duration_s
    return seconds

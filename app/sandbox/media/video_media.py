"""Reference media of a video request: read from data URLs, counted and checked.

Everything that can be seen is seen in the video that comes of it, one thing after the other; what only can be heard or
read is named in its caption. Source: service specification, video (`/video/queue`).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from app.sandbox.http.errors import Json
from app.sandbox.http.validation import REQUIRED, Checker, Path
from app.sandbox.media.image_options import DATA_URL

FRAMES_PER_S = 24  # what a keyframe's place is counted in
MAX_VIEWS = 3
FACTORS = (1, 2, 4)
TASKS = ("auto", "reference", "edit", "extend")
LISTS = {
    "reference_image_urls": 30,
    "reference_video_urls": 10,
    "reference_audio_urls": 10,
    "reference_document_urls": 1,
    "scene_image_urls": 4,
}


@dataclass(frozen=True, slots=True)
class ReferenceMedia:
    """`pictures` and `films` in the order in which they are shown; `keyframes` are (frame, image) pairs.

    `told` names in words what can be heard or read: "2 sounds, 1 document".
    """

    pictures: tuple[bytes, ...] = ()
    films: tuple[bytes, ...] = ()
    keyframes: tuple[tuple[int, bytes], ...] = ()
    told: str = ""

    def __bool__(self) -> bool:
        return bool(self.pictures or self.films or self.keyframes or self.told)


def read_media(check: Checker, path: Path, value: object, *, required: bool = False) -> bytes | None:
    """Return the bytes of a data URL; complaints are noted."""
    text = check.text(path, value)
    if text is None:
        if required and value is None:
            check.complain(path, REQUIRED)
        return None
    if text.startswith(("http://", "https://")):
        check.complain(path, "The Sandbox opens no addresses: send a data URL")
        return None
    try:
        return base64.b64decode(DATA_URL.sub("", text, count=1), validate=True)
    except (binascii.Error, ValueError):
        check.complain(path, "Expected a data URL or an address")
        return None


def read_reference_media(check: Checker, body: Json, seconds: int, *, needs_image: bool = False) -> ReferenceMedia:
    """Return all that goes along, the first image first and the last one last; complaints are noted."""
    start = read_media(check, ("image_url",), body.get("image_url"), required=needs_image)
    read = {name: _listed(check, (name,), body.get(name), most) for name, most in LISTS.items()}
    elements = [
        _element(check, ("elements", place), one)
        for place, one in enumerate(_counted(check, ("elements",), body.get("elements"), 4))
    ]
    keyframes = _keyframes(check, body.get("keyframes"), seconds)
    sound = read_media(check, ("audio_url",), body.get("audio_url"))
    end = read_media(check, ("end_image_url",), body.get("end_image_url"))
    seen = [*read["reference_image_urls"], *read["scene_image_urls"], *(one for each, _ in elements for one in each)]
    heard = len(read["reference_audio_urls"]) + (sound is not None)
    numbers = ((heard, "sound"), (len(read["reference_document_urls"]), "document"))
    return ReferenceMedia(
        pictures=tuple(one for one in (start, *seen, end) if one is not None),
        films=(*read["reference_video_urls"], *(one for _, each in elements for one in each)),
        keyframes=keyframes,
        told=", ".join(f"{number} {word}{'s' if number > 1 else ''}" for number, word in numbers if number),
    )


def _counted(check: Checker, path: Path, value: object, most: int) -> list[Any]:
    items = check.items(path, value) or []
    if len(items) > most:
        check.complain(path, f"Array must contain at most {most} element(s)")
    return items[:most]


def _listed(check: Checker, path: Path, value: object, most: int) -> list[bytes]:
    found = []
    for place, one in enumerate(_counted(check, path, value, most)):
        data = read_media(check, (*path, place), one, required=True)
        if data is not None:
            found.append(data)
    return found


def _element(check: Checker, path: Path, value: object) -> tuple[list[bytes], list[bytes]]:
    """Return the images of an element and its videos."""
    element = check.record(path, value) or {}
    front, video = (read_media(check, (*path, name), element.get(name)) for name in ("frontal_image_url", "video_url"))
    views = _listed(check, (*path, "reference_image_urls"), element.get("reference_image_urls"), MAX_VIEWS)
    return [one for one in (front, *views) if one is not None], [one for one in (video,) if one is not None]


def _keyframes(check: Checker, value: object, seconds: int) -> tuple[tuple[int, bytes], ...]:
    seen: dict[int, bytes] = {}
    for place, one in enumerate(_counted(check, ("keyframes",), value, 10)):
        path: Path = ("keyframes", place)
        frame = check.record(path, one) or {}
        image = read_media(check, (*path, "image_url"), frame.get("image_url"), required=True)
        at = check.integer((*path, "frame_index"), frame.get("frame_index"), 0, seconds * FRAMES_PER_S or None)
        if frame.get("frame_index") is None:
            check.complain((*path, "frame_index"), REQUIRED)
        elif at in seen:
            check.complain((*path, "frame_index"), "Each keyframe needs a place of its own")
        elif at is not None and image is not None:
            seen[at] = image
    return tuple(seen.items())


def check_factor(check: Checker, value: object, *, enlarges: bool) -> int:
    """Return how many times a video grows; 2 where nothing is said, 1 for a model that enlarges none."""
    factor = check.integer(("upscale_factor",), value)
    if value is None:
        return 2 if enlarges else 1
    if not enlarges:
        check.complain(("upscale_factor",), "Only models that enlarge films take this")
    elif factor is not None and factor not in FACTORS:
        check.complain(("upscale_factor",), "Invalid input: expected 1 | 2 | 4")
    return factor if factor in FACTORS else 1

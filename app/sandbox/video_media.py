"""What goes along with a film: read from data URLs, counted and checked.

References, scenes, elements and keyframes are checked alone: the Sandbox draws its films and looks at none of them but
the first picture. Source: service specification, video (`/video/queue`).
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from app.sandbox.errors import Json
from app.sandbox.image_options import DATA_URL
from app.sandbox.validation import REQUIRED, Checker, Path

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


def check_references(check: Checker, body: Json, seconds: int) -> dict[str, list[bytes]]:
    """Note what is wrong with all that goes along; return the bytes of what is listed by its field."""
    read = {name: _listed(check, (name,), body.get(name), most) for name, most in LISTS.items()}
    for place, one in enumerate(_counted(check, ("elements",), body.get("elements"), 4)):
        _check_element(check, ("elements", place), one)
    _check_keyframes(check, body.get("keyframes"), seconds)
    for name in ("audio_url", "end_image_url"):
        read_media(check, (name,), body.get(name))
    return read


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


def _check_element(check: Checker, path: Path, value: object) -> None:
    element = check.record(path, value) or {}
    for name in ("frontal_image_url", "video_url"):
        read_media(check, (*path, name), element.get(name))
    _listed(check, (*path, "reference_image_urls"), element.get("reference_image_urls"), MAX_VIEWS)


def _check_keyframes(check: Checker, value: object, seconds: int) -> None:
    seen: set[int] = set()
    for place, one in enumerate(_counted(check, ("keyframes",), value, 10)):
        path: Path = ("keyframes", place)
        frame = check.record(path, one) or {}
        read_media(check, (*path, "image_url"), frame.get("image_url"), required=True)
        at = check.integer((*path, "frame_index"), frame.get("frame_index"), 0, seconds * FRAMES_PER_S or None)
        if frame.get("frame_index") is None:
            check.complain((*path, "frame_index"), REQUIRED)
        elif at in seen:
            check.complain((*path, "frame_index"), "Each keyframe needs a place of its own")
        elif at is not None:
            seen.add(at)


def check_factor(check: Checker, value: object, *, enlarges: bool) -> int:
    """Return how many times a film grows; 2 where nothing is said, 1 for a model that enlarges none."""
    factor = check.integer(("upscale_factor",), value)
    if value is None:
        return 2 if enlarges else 1
    if not enlarges:
        check.complain(("upscale_factor",), "Only models that enlarge films take this")
    elif factor is not None and factor not in FACTORS:
        check.complain(("upscale_factor",), "Invalid input: expected 1 | 2 | 4")
    return factor if factor in FACTORS else 1

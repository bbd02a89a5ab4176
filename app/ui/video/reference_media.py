"""What may go along with a video beside its first image: references, scenes, elements and keyframes.

Paths are of files on this computer. How many a model takes stands in its record where the record says so at all; else
the service's own limits hold. Source: service specification, video (`/video/queue`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from app.translation import tr

FRAMES_PER_S = 24  # what a keyframe's place is counted in
MAX_VIEWS = 3  # of one element
# name: the field of the queue call, how many at most where the record does not say
WIRE: Mapping[str, tuple[str, int]] = {
    "references": ("reference_image_urls", 9),
    "films": ("reference_video_urls", 3),
    "sounds": ("reference_audio_urls", 3),
    "documents": ("reference_document_urls", 1),
    "scenes": ("scene_image_urls", 4),
    "elements": ("elements", 4),
    "keyframes": ("keyframes", 10),
}
LISTS = ("references", "films", "sounds", "documents", "scenes")
TITLES = {
    "references": tr("Reference images"),
    "films": tr("Reference videos"),
    "sounds": tr("Reference audio"),
    "documents": tr("Reference document"),
    "scenes": tr("Scene images"),
    "elements": tr("Elements"),
    "keyframes": tr("Keyframes"),
}


@dataclass(frozen=True, slots=True)
class Element:
    """A person or a thing that the prompt calls `@Element1`: its front, up to three more views, a video of it."""

    front: str = ""
    views: tuple[str, ...] = ()
    film: str = ""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """An image that the video shows at a moment, in seconds from its beginning."""

    picture: str = ""
    at_s: float = 0.0

    @property
    def frame(self) -> int:
        return round(self.at_s * FRAMES_PER_S)


@dataclass(frozen=True, slots=True)
class ReferenceMedia:
    references: tuple[str, ...] = ()
    films: tuple[str, ...] = ()
    sounds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    scenes: tuple[str, ...] = ()
    elements: tuple[Element, ...] = ()
    keyframes: tuple[Keyframe, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: list(getattr(self, name)) for name in LISTS},
            "elements": [{"front": one.front, "views": list(one.views), "film": one.film} for one in self.elements],
            "keyframes": [{"picture": one.picture, "at_s": one.at_s} for one in self.keyframes],
        }

    @property
    def count(self) -> int:
        return sum(len(getattr(self, item.name)) for item in fields(self))


def reference_media_from(body: object) -> ReferenceMedia:
    """Return what was kept; what is of another type is left out."""
    if not isinstance(body, Mapping):
        return ReferenceMedia()
    elements = [one for one in _list(body.get("elements")) if isinstance(one, Mapping)]
    frames = [one for one in _list(body.get("keyframes")) if isinstance(one, Mapping)]
    return ReferenceMedia(
        **{name: _texts(body.get(name)) for name in LISTS},
        elements=tuple(
            Element(_text(one.get("front")), _texts(one.get("views"))[:MAX_VIEWS], _text(one.get("film")))
            for one in elements
        ),
        keyframes=tuple(Keyframe(_text(one.get("picture")), _seconds(one.get("at_s"))) for one in frames),
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """How many of each a model takes; 0 for what it does not. `told`: its record says so itself."""

    most: Mapping[str, int] = field(default_factory=dict)
    told: bool = False

    def of(self, name: str) -> int:
        return self.most.get(name, 0)


def limits_of(constraints: Mapping[str, Any], kind: str) -> Limits:
    """Read a video model's constraints. A record that names any of these takes those alone that it names."""
    told = {name: _most(constraints, wire, most) for name, (wire, most) in WIRE.items()}
    if any(most is not None for most in told.values()):
        return Limits({name: most or 0 for name, most in told.items()}, told=True)
    return Limits({} if kind == "text" else {name: most for name, (_, most) in WIRE.items()})


def _most(constraints: Mapping[str, Any], wire: str, most: int) -> int | None:
    """A number, or a yes or no, under the field's own name or with `max_` before it; None where nothing is said."""
    for name in (wire, f"max_{wire}", wire.removesuffix("_urls"), f"max_{wire.removesuffix('_urls')}s"):
        value = constraints.get(name)
        if isinstance(value, bool):
            return most if value else 0
        if isinstance(value, int) and value >= 0:
            return value
    return None


def sent_reference_media(along: ReferenceMedia, limits: Limits) -> dict[str, Any]:
    """What goes to the service, by its own names, with paths where addresses will stand."""
    sent: dict[str, Any] = {}
    for name in LISTS:
        paths = [path for path in getattr(along, name) if path]
        if paths and limits.of(name):
            sent[WIRE[name][0]] = paths
    if limits.of("elements"):
        elements = [_element(one) for one in along.elements if one.front or one.views or one.film]
        sent |= {"elements": elements} if elements else {}
    if limits.of("keyframes"):
        frames = [{"image_url": one.picture, "frame_index": one.frame} for one in along.keyframes if one.picture]
        sent |= {"keyframes": frames} if frames else {}
    return sent


def _element(one: Element) -> dict[str, Any]:
    body = {"frontal_image_url": one.front, "reference_image_urls": list(one.views), "video_url": one.film}
    return {name: value for name, value in body.items() if value}


def refusals_of(along: ReferenceMedia, limits: Limits, length_s: float | None) -> dict[str, str]:
    """What is too much or wrong, with the limit named; `length_s` is the video's, where it is known."""
    wrong: dict[str, str] = {}
    for name, title in TITLES.items():
        count, most = len(getattr(along, name)), limits.of(name)
        if most and count > most:
            wrong[name] = tr(
                "{title}: {count} selected, the model accepts up to {most}.", title=title, count=count, most=most
            )
    if limits.of("keyframes"):
        frames = [one.frame for one in along.keyframes]
        if any(not one.picture for one in along.keyframes):
            wrong["keyframes"] = tr("A keyframe has no image. Choose one, or remove it.")
        elif len(set(frames)) < len(frames):
            wrong["keyframes"] = tr("Two keyframes have the same time.")
        elif length_s is not None and any(one.at_s > length_s for one in along.keyframes):
            wrong["keyframes"] = tr(
                "A keyframe is after the end of the video at {length_s} s.", length_s=f"{length_s:g}"
            )
    if limits.of("elements") and any(not (one.front or one.film) for one in along.elements):
        wrong["elements"] = tr("An element needs a front view or a video. Choose one, or remove it.")
    return wrong


def from_media(media: Mapping[str, Any], place: Any) -> ReferenceMedia:
    """Return what a job was made with; `place` makes a path of the name of a file that is kept."""

    def paths(names: object) -> tuple[str, ...]:
        return tuple(place(name) for name in _texts(names))

    elements = [one for one in _list(media.get("elements")) if isinstance(one, Mapping)]
    frames = [one for one in _list(media.get("keyframes")) if isinstance(one, Mapping)]
    return ReferenceMedia(
        **{name: paths(media.get(WIRE[name][0])) for name in LISTS},
        elements=tuple(
            Element(
                next(iter(paths([one.get("frontal_image_url")])), ""),
                paths(one.get("reference_image_urls")),
                next(iter(paths([one.get("video_url")])), ""),
            )
            for one in elements
        ),
        keyframes=tuple(
            Keyframe(next(iter(paths([one.get("image_url")])), ""), _seconds(one.get("frame_index")) / FRAMES_PER_S)
            for one in frames
        ),
    )


def with_element(along: ReferenceMedia, place: int, **changes: Any) -> ReferenceMedia:
    """Return it with one element changed."""
    elements = list(along.elements)
    elements[place] = replace(elements[place], **changes)
    return replace(along, elements=tuple(elements))


def with_keyframe(along: ReferenceMedia, place: int, **changes: Any) -> ReferenceMedia:
    """Return it with one keyframe changed."""
    frames = list(along.keyframes)
    frames[place] = replace(frames[place], **changes)
    return replace(along, keyframes=tuple(frames))


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in _list(value) if isinstance(text, str) and text)


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e6 else 0.0

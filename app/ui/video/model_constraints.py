"""What a video model takes, read from the constraints in its record, and what of a form goes to it.

Source: service specification, models (video `constraints`) and video (`/video/queue`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from app.core.extra_json import extra_json_fault
from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.video.reference_media import (
    TITLES,
    WIRE,
    Limits,
    ReferenceMedia,
    limits_of,
    reference_media_from,
    refusals_of,
    sent_reference_media,
)

if TYPE_CHECKING:
    from app.service.models import Model

DEFAULT_PROMPT_CHARS = 2500
MAX_IMAGE_BYTES = 20_000_000
MAX_VIDEO_BYTES = 25_000_000
MAX_DOCUMENT_BYTES = 20_000_000
MAX_SOUND_BYTES = 15_000_000
MAX_SOUND_S = 30.0
KINDS = (("text", tr("From text")), ("image", tr("From image")), ("video", tr("From video")))
PICTURES = frozenset({"png", "jpeg", "webp"})
VIDEOS = frozenset({"mp4", "mov", "webm"})
SOUNDS = frozenset({"wav", "mp3"})
DOCUMENTS = frozenset({"pdf"})
FACTORS = ("1", "2", "4")  # how many times wider and higher a video becomes
TASKS = (("auto", tr("Automatic")), ("reference", tr("Reference")), ("edit", tr("Edit")), ("extend", tr("Extend")))
# Wire names that extra JSON cannot set, with the field that does.
OWN_FIELDS: Mapping[str, str] = {
    "model": tr("Model"),
    "prompt": tr("Prompt"),
    "negative_prompt": tr("Negative prompt"),
    "image_url": tr("Start image"),
    "end_image_url": tr("End image"),
    "video_url": tr("Source video"),
    "audio_url": tr("Source audio"),
    "upscale_factor": tr("Upscale"),
    "duration": tr("Length"),
    "resolution": tr("Resolution"),
    "aspect_ratio": tr("Aspect ratio"),
    "audio": tr("Audio"),
    "omni_reference_task_type": tr("Reference type"),
    **{wire: TITLES[name] for name, (wire, _) in WIRE.items()},
}


@dataclass(frozen=True, slots=True)
class ModelConstraints:
    """What one model takes. Empty tuples: the model has no such choice, and nothing of it is sent.

    `sound` is "chosen", "always" or "never".
    """

    kind: str = "text"
    durations: tuple[str, ...] = ()
    resolutions: tuple[str, ...] = ()
    aspect_ratios: tuple[str, ...] = ()
    sound: str = "never"
    prompt_limit: int = DEFAULT_PROMPT_CHARS
    limits: Limits = field(default_factory=Limits)
    factors: tuple[str, ...] = ()  # of a model that enlarges a video
    tasks: tuple[str, ...] = ()  # of a model that asks what the references are for

    @property
    def needs_image(self) -> bool:
        return self.kind == "image" and not self.tasks

    @property
    def needs_video(self) -> bool:
        return self.kind == "video"

    @property
    def takes_sound(self) -> bool:
        return self.kind != "text" and not self.factors

    @property
    def needs_words(self) -> bool:
        return not self.factors


@dataclass(frozen=True, slots=True)
class Form:
    """What is filled in. Media are paths of files on this computer, "" for none."""

    kind: str = "text"
    model: str = ""
    prompt: str = ""
    negative: str = ""
    duration: str = ""
    resolution: str = ""
    aspect_ratio: str = ""
    audio: bool = True
    factor: str = "2"
    task: str = "auto"
    start: str = ""
    end: str = ""
    film: str = ""
    sound: str = ""
    along: ReferenceMedia = field(default_factory=ReferenceMedia)
    clean_after: bool = False
    extra_json: str = ""  # further parameters as typed, an object

    def to_json(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"along": self.along.to_json()}


MEDIA = ("start", "end", "film", "sound")
_NAMES = frozenset(item.name for item in fields(Form))


def form_from(body: Mapping[str, Any]) -> Form:
    """Return the form that was kept; what is missing or of another type is as in an empty one."""
    empty = Form()
    values: dict[str, Any] = {}
    for name, value in body.items():
        if name == "along":
            values[name] = reference_media_from(value)
        elif name in _NAMES and type(value) is type(getattr(empty, name)):
            values[name] = value
    return replace(empty, **values)


def constraints_of(model: Model) -> ModelConstraints:
    """Read a model's constraints, whatever their shape."""
    told = model.model_spec.constraints
    kind = str(told.get("model_type", "text-to-video"))
    limit = told.get("prompt_character_limit")
    has_sound = told.get("audio") is True
    kind = "image" if kind.startswith("image") else "text" if kind.startswith("text") else "video"
    factors = _offered(told, "upscale_factor", FACTORS, kind == "video" and "upscale" in model.id.casefold())
    return ModelConstraints(
        kind=kind,
        durations=_texts(told.get("durations")),
        resolutions=_texts(told.get("resolutions")),
        aspect_ratios=_texts(told.get("aspect_ratios")),
        sound="chosen" if told.get("audio_configurable") is True else "always" if has_sound else "never",
        prompt_limit=limit if isinstance(limit, int) and 0 < limit <= 20_000 else DEFAULT_PROMPT_CHARS,
        limits=limits_of(told, "text" if factors else kind),  # to a video that is made larger nothing is added
        factors=factors,
        tasks=_offered(told, "omni_reference_task_type", tuple(dict(TASKS)), "omni" in model.id.casefold()),
    )


def _offered(told: Mapping[str, Any], name: str, every: tuple[str, ...], is_known: bool) -> tuple[str, ...]:
    """Return which of `every` a model takes: those that its record names, all where it only says yes.

    Most records are silent; `is_known` then says what the model's name gives away.
    """
    for key in (name, f"{name}s"):
        value = told.get(key)
        if isinstance(value, bool):
            return every if value else ()
        if named := tuple(one for one in every if one in _texts(value)):
            return named
    return every if is_known else ()


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(str(item) for item in value if isinstance(item, str | int))


def fitted(form: Form, takes: ModelConstraints) -> Form:
    """Return the form with choices that the model has; what it does not take stays as it was for the next model."""

    def one_of(value: str, allowed: tuple[str, ...]) -> str:
        return value if not allowed or value in allowed else allowed[0]

    return replace(
        form,
        kind=takes.kind,
        duration=one_of(form.duration, takes.durations),
        resolution=one_of(form.resolution, takes.resolutions),
        aspect_ratio=one_of(form.aspect_ratio, takes.aspect_ratios),
        factor=one_of(form.factor, takes.factors),
        task=one_of(form.task, takes.tasks),
    )


def sent_values(form: Form, takes: ModelConstraints) -> dict[str, Any]:
    """The plain fields that go to the service, by the names of `VideoRequest`; media come later."""
    return {
        "model": form.model,
        "prompt": form.prompt.strip(),
        "duration": form.duration if takes.durations else "auto",
        "negative_prompt": form.negative.strip() or None,
        "aspect_ratio": form.aspect_ratio if takes.aspect_ratios else None,
        "resolution": form.resolution if takes.resolutions else None,
        "audio": form.audio if takes.sound == "chosen" else None,
        "upscale_factor": int(form.factor) if takes.factors else None,
        "omni_reference_task_type": form.task if takes.tasks else None,
        "prompt_limit": takes.prompt_limit,
    }


def sent_media(form: Form, takes: ModelConstraints) -> dict[str, Any]:
    """The paths of what goes along, by the names of `VideoRequest`."""
    media: dict[str, Any] = {}
    if takes.kind == "image":
        media = {"image_url": form.start, "end_image_url": form.end}
    elif takes.kind == "video":
        media = {"video_url": form.film}
    if takes.takes_sound:
        media["audio_url"] = form.sound
    media |= sent_reference_media(form.along, takes.limits)
    return {name: value for name, value in media.items() if value}


@dataclass(frozen=True, slots=True)
class FormErrors:
    """Why a form cannot be sent: a sentence for each field, the first of them under the button."""

    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        return next(iter(self.fields.values()), "")

    def __bool__(self) -> bool:
        return bool(self.fields)


def refusal_of(form: Form, takes: ModelConstraints | None) -> FormErrors:
    """What is missing or too long, with the limit named."""
    wrong: dict[str, str] = {}
    if takes is None:
        return FormErrors({"model": tr("Choose a model first.")})
    words = form.prompt.strip()
    for name, text, title in (
        ("prompt", words, tr("The prompt")),
        ("negative", form.negative.strip(), tr("The negative prompt")),
    ):
        if len(text) > takes.prompt_limit:
            over = len(text) - takes.prompt_limit
            signs = tr_n("{n} character", "{n} characters", over)
            wrong[name] = tr(
                "{title} is {signs} over the limit of {prompt_limit}.",
                title=title,
                signs=signs,
                prompt_limit=format_number(takes.prompt_limit),
            )
    if takes.needs_image and not form.start:
        wrong["start"] = tr("This model needs a start image. Choose one.")
    if takes.needs_video and not form.film:
        wrong["film"] = tr("This model needs a source video. Choose one.")
    wrong |= refusals_of(form.along, takes.limits, seconds_of(form.duration))
    if takes.tasks and not (form.start or any(getattr(form.along, name) for name in ("references", "films", "sounds"))):
        wrong["start"] = tr("This model needs references. Choose an image, a video or an audio file.")
    if not words and takes.needs_words and not wrong:
        wrong["prompt"] = tr("Describe the video.")
    if fault := extra_json_fault(form.extra_json, OWN_FIELDS):
        wrong["extra_json"] = fault
    return FormErrors(wrong)


def seconds_of(duration: str) -> float | None:
    """Return the length that was asked for in seconds, None where the model decides."""
    try:
        seconds = float(duration.removesuffix("s"))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def length_words(duration: str) -> str:
    seconds = seconds_of(duration)
    return f"{seconds:g} s" if seconds is not None else {"auto": tr("Automatic")}.get(duration.lower(), duration)

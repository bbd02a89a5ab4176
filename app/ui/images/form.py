"""The form's values, what a model supports of them, their price, and the requests made from them. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

from app.core.extra_json import extra_json_fault, parse_extra_json
from app.formats import format_number
from app.service.images import FORMATS, MAX_PROMPT_CHARS, MAX_SEED, MAX_SIDE, ImageRequest
from app.service.models import Model
from app.service.pricing import image_cost
from app.translation import tr, tr_n

MAX_COUNT = 4
MAX_GUIDANCE = 20.0
DEFAULT_SIDE = 1024
MIN_STRENGTH, DEFAULT_STRENGTH = 0.1, 0.5
MAX_REFERENCE_BYTES = 8 * 1024 * 1024
SWITCHES = (
    ("enhance_prompt", tr("Let the service improve the prompt"), tr("May cost $0.04 more.")),
    ("disable_prompt_optimization_thinking", tr("Improve without reasoning"), ""),
    ("enable_web_search", tr("Let the model search the web"), ""),
    ("hide_watermark", tr("Hide the watermark"), ""),
    ("embed_exif_metadata", tr("Let the service write EXIF"), tr("Rialto always writes the prompt, model and seed.")),
    ("in_one_call", tr("Request all images at once"), tr("One receipt. Only the first image’s seed is known.")),
)
# Wire names that extra JSON cannot set, with the field that does. `n` is the count of the OpenAI form of the call.
OWN_FIELDS: Mapping[str, str] = {
    "model": tr("Model"),
    "prompt": tr("Prompt"),
    "negative_prompt": tr("Negative prompt"),
    "style_preset": tr("Style"),
    "aspect_ratio": tr("Aspect ratio"),
    "variants": tr("Number of images"),
    "n": tr("Number of images"),
    "width": tr("Width"),
    "height": tr("Height"),
    "cfg_scale": tr("Guidance"),
    "steps": tr("Steps"),
    "safe_mode": tr("Blur adult images"),
    "resolution": tr("Resolution"),
    "quality": tr("Quality"),
    "format": tr("Format"),
    "seed": tr("Seed"),
    "lora_strength": tr("Adapter"),
    "style_references": tr("Style references"),
    **{name: title for name, title, _ in SWITCHES if name != "in_one_call"},
}
FORMAT_TITLES: Mapping[str, str] = {"webp": "WebP", "png": "PNG", "jpeg": "JPEG"}


@dataclass(frozen=True, slots=True)
class ImageForm:
    """What the person set. None and "" leave a thing to the model; a `seed` of None is chosen by chance."""

    model: str = ""
    prompt: str = ""
    negative_prompt: str = ""
    style: str = ""
    aspect_ratio: str = ""
    resolution: str = ""
    quality: str = ""
    width: int = DEFAULT_SIDE  # pixels; only for models that count in pixels
    height: int = DEFAULT_SIDE
    count: int = 1  # 1 to 4
    in_one_call: bool = False
    cfg_scale: float | None = None  # above 0, up to 20
    steps: int | None = None
    lora_strength: int | None = None  # 0 to 100
    seed: int | None = None
    format: str = "webp"
    safe_mode: bool = True
    hide_watermark: bool = False
    embed_exif_metadata: bool = False
    enhance_prompt: bool = False
    enable_web_search: bool = False
    disable_prompt_optimization_thinking: bool = False
    references: tuple[str, ...] = ()  # ids of images in the library whose style is taken
    strengths: tuple[float, ...] = ()  # of each of them, 0.1 to 1
    extra_json: str = ""  # further parameters as typed, an object

    def to_json(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}


# Sent by their own names, and only where they are on.
SENT_FLAGS = ("hide_watermark", "embed_exif_metadata", "enable_web_search", "disable_prompt_optimization_thinking")
_FLAGS = (*SENT_FLAGS, "in_one_call", "enhance_prompt")


def form_from(value: object) -> ImageForm:
    """Return the form that was saved; anything odd in it is as if it were not there."""
    if not isinstance(value, Mapping):
        return ImageForm()
    plain: dict[str, Any] = {
        name: str(value.get(name) or "")
        for name in (
            "model",
            "prompt",
            "negative_prompt",
            "style",
            "aspect_ratio",
            "resolution",
            "quality",
            "extra_json",
        )
    }
    plain |= {name: value.get(name) is True for name in _FLAGS}
    written = str(value.get("format") or "")
    references = _listed(value.get("references"))
    strengths = [_number(one, MIN_STRENGTH, 1.0) or DEFAULT_STRENGTH for one in _listed(value.get("strengths"))]
    strengths += [DEFAULT_STRENGTH] * (len(references) - len(strengths))
    return ImageForm(
        **plain,
        width=_whole(value.get("width"), 1, MAX_SIDE) or DEFAULT_SIDE,
        height=_whole(value.get("height"), 1, MAX_SIDE) or DEFAULT_SIDE,
        count=_whole(value.get("count"), 1, MAX_COUNT) or 1,
        cfg_scale=_number(value.get("cfg_scale"), 0.01, MAX_GUIDANCE),
        steps=_whole(value.get("steps"), 1, 1000),
        lora_strength=_whole(value.get("lora_strength"), 0, 100),
        seed=_whole(value.get("seed"), -MAX_SEED, MAX_SEED),
        format=written if written in FORMATS else "webp",
        safe_mode=value.get("safe_mode") is not False,
        references=tuple(map(str, references)),
        strengths=tuple(strengths[: len(references)]),
    )


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _whole(value: object, low: int, high: int) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else None


def _number(value: object, low: float, high: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if low <= value <= high else None


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model takes, as its record says. An empty tuple: it does not know the thing."""

    name: str = tr("This model")
    prompt_chars: int = MAX_PROMPT_CHARS
    ratios: tuple[str, ...] = ()
    default_ratio: str = ""
    resolutions: tuple[str, ...] = ()
    default_resolution: str = ""
    qualities: tuple[str, ...] = ()
    default_quality: str = ""
    divisor: int = 1
    max_steps: int = 0  # 0: it sets its own number of steps
    max_references: int = 0
    has_strength: bool = False
    takes_pixels: bool = True
    unused: tuple[str, ...] = ()  # of SENT_FLAGS: what the record says the model does not do

    @classmethod
    def of(cls, model: Model | None) -> ModelLimits:
        """Read a model's record; what it does not say is not offered."""
        if model is None:
            return cls()
        told = model.model_spec.constraints
        steps = told.get("steps")
        steps = steps if isinstance(steps, Mapping) else {}
        ratios, resolutions = _texts(told.get("aspectRatios")), _texts(told.get("resolutions"))
        qualities = _texts(told.get("qualities"))
        spec = model.model_spec
        references = _whole(told.get("maxStyleReferences"), 1, 16)
        if spec.supports_style_references is not None:  # the record says it twice, and may say how many only once
            references = (references or 1) if spec.supports_style_references else 0
        said = (
            ("enable_web_search", spec.supports_web_search),
            ("disable_prompt_optimization_thinking", spec.supports_prompt_thinking),
        )
        return cls(
            name=model.name,
            prompt_chars=_whole(told.get("promptCharacterLimit"), 1, MAX_PROMPT_CHARS) or MAX_PROMPT_CHARS,
            ratios=ratios,
            default_ratio=_of(told.get("defaultAspectRatio"), ratios),
            resolutions=resolutions,
            default_resolution=_of(told.get("defaultResolution"), resolutions),
            qualities=qualities,
            default_quality=_of(told.get("defaultQuality"), qualities),
            divisor=_whole(told.get("widthHeightDivisor"), 1, MAX_SIDE) or 1,
            max_steps=_whole(steps.get("max"), 1, 1000) or 0,
            max_references=references or 0,
            has_strength=told.get("supportsStyleReferenceStrength") is True,
            takes_pixels=not ratios and not resolutions,
            unused=tuple(name for name, does in said if does is False),
        )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _of(value: object, allowed: tuple[str, ...]) -> str:
    return value if isinstance(value, str) and value in allowed else (allowed[0] if allowed else "")


@dataclass(frozen=True, slots=True)
class Reference:
    """An image whose style is taken. `size_bytes` is None where its file is gone."""

    id: str
    title: str = tr("An image")
    strength: float = DEFAULT_STRENGTH
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class FormView:
    """How the form looks for one model. `refusals` are (field, sentence) pairs: nothing is sent while there are any."""

    form: ImageForm
    limits: ModelLimits
    price_each: Decimal | None = None
    price: Decimal | None = None
    refusals: tuple[tuple[str, str], ...] = ()
    why_not: str = ""  # why the button is off although nothing is wrong
    has_model: bool = True
    notes: Mapping[str, str] = field(default_factory=dict)  # field → why it is not used
    references: tuple[Reference, ...] = ()

    @property
    def ratio(self) -> str:
        return self.form.aspect_ratio if self.form.aspect_ratio in self.limits.ratios else self.limits.default_ratio

    @property
    def resolution(self) -> str:
        known = self.form.resolution in self.limits.resolutions
        return self.form.resolution if known else self.limits.default_resolution


def view_of(
    form: ImageForm,
    model: Model | None,
    styles: tuple[str, ...] = (),
    references: tuple[Reference, ...] = (),
    *,
    asked: bool = False,
) -> FormView:
    """Return what a model makes of the form: what it costs, what it refuses, what it does not use.

    `asked`: the service has said which models it has.
    """
    limits = ModelLimits.of(model)
    view = FormView(form, limits)
    each = None
    if model is not None:
        quality = form.quality if form.quality in limits.qualities else limits.default_quality or None
        each = image_cost(model.model_spec.pricing, resolution=view.resolution or None, quality=quality)
    why_not = "" if form.prompt.strip() else tr("Describe the image.")
    if model is None:
        why_not = tr("The service has no image models.") if asked else tr("No image models yet.")
    return replace(
        view,
        price_each=each,
        price=None if each is None else each * form.count,
        refusals=(*_refusals(form, limits, styles), *_wrong_references(references, limits)),
        why_not=why_not,
        has_model=model is not None,
        notes=_notes(limits) if model is not None else {},
        references=references,
    )


def _notes(limits: ModelLimits) -> dict[str, str]:
    notes = {}
    if not limits.max_steps:
        notes["steps"] = tr("{name} sets its own number of steps.", name=limits.name)
    if not limits.takes_pixels:
        notes["size"] = tr("{name} uses an aspect ratio instead of width and height.", name=limits.name)
    elif not limits.ratios:
        notes["aspect_ratio"] = tr("{name} uses width and height instead.", name=limits.name)
    if not limits.resolutions:
        notes["resolution"] = tr("{name} has one resolution.", name=limits.name)
    if not limits.qualities:
        notes["quality"] = tr("{name} has one quality.", name=limits.name)
    if not limits.max_references:
        notes["references"] = tr("{name} does not support style references.", name=limits.name)
    elif not limits.has_strength:
        notes["strength"] = tr("{name} has no strength setting.", name=limits.name)
    if "enable_web_search" in limits.unused:
        notes["enable_web_search"] = tr("{name} does not search the web.", name=limits.name)
    if "disable_prompt_optimization_thinking" in limits.unused:
        notes["disable_prompt_optimization_thinking"] = tr("{name} cannot reason about prompts.", name=limits.name)
    return notes


def _wrong_references(references: tuple[Reference, ...], limits: ModelLimits) -> list[tuple[str, str]]:
    """What is wrong with images whose style is taken, where the model takes any."""
    if not limits.max_references:
        return []
    found = []
    if len(references) > limits.max_references:
        most = tr_n("{n} image", "{n} images", limits.max_references)
        found.append(
            (
                "references",
                tr(
                    "{name} accepts up to {most}. You selected {count}.",
                    name=limits.name,
                    most=most,
                    count=len(references),
                ),
            )
        )
    for one in references:
        if one.size_bytes is None:
            found.append(
                ("references", tr("The file for “{title}” no longer exists. Remove it from the list.", title=one.title))
            )
        elif one.size_bytes >= MAX_REFERENCE_BYTES:
            size = f"{format_number(one.size_bytes / 1024**2, 1)} MB"
            found.append(
                (
                    "references",
                    tr("“{title}” is {size}. Style images must be smaller than 8 MB.", title=one.title, size=size),
                )
            )
    return found


def _refusals(form: ImageForm, limits: ModelLimits, styles: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = []
    allowed = limits.prompt_chars
    for name, text in (("prompt", form.prompt), ("negative_prompt", form.negative_prompt)):
        if len(text) > allowed:
            found.append(
                (
                    name,
                    tr(
                        "{name} takes up to {allowed} characters. This is {count}.",
                        name=limits.name,
                        allowed=format_number(allowed),
                        count=format_number(len(text)),
                    ),
                )
            )
    if limits.takes_pixels:
        for name, side in (("width", form.width), ("height", form.height)):
            if not 0 < side <= MAX_SIDE:
                found.append(
                    (name, tr("Width and height can be up to {max_side} pixels.", max_side=format_number(MAX_SIDE)))
                )
            elif side % limits.divisor:
                found.append(
                    (name, tr("{name} needs multiples of {divisor} pixels.", name=limits.name, divisor=limits.divisor))
                )
    if limits.max_steps and form.steps is not None and form.steps > limits.max_steps:
        found.append(
            ("steps", tr("{name} takes up to {max_steps} steps.", name=limits.name, max_steps=limits.max_steps))
        )
    if form.style and styles and form.style not in styles:
        found.append(("style", tr("The service no longer has the style “{style}”.", style=form.style)))
    if fault := extra_json_fault(form.extra_json, OWN_FIELDS):
        found.append(("extra_json", fault))
    return tuple(found)


def requests_of(
    form: ImageForm, model: Model, first_seed: int, references: tuple[tuple[str, float], ...] = ()
) -> tuple[ImageRequest, ...]:
    """Return the calls for one press of the button: one for each image, or one for all of them.

    Images in calls of their own get seeds of their own, counted up from `first_seed`, so that each can be made again.
    `references` are (base64, strength) pairs. What the model does not use is not in them.
    """
    limits = ModelLimits.of(model)
    view = FormView(form, limits)
    extra: dict[str, object] = {name: True for name in SENT_FLAGS if getattr(form, name) and name not in limits.unused}
    if form.lora_strength is not None:
        extra["lora_strength"] = form.lora_strength
    if references and limits.max_references:
        extra["style_references"] = [
            {"image": data, **({"strength": strength} if limits.has_strength else {})} for data, strength in references
        ]
    extra |= parse_extra_json(form.extra_json, OWN_FIELDS)[0]
    together = form.in_one_call and form.count > 1
    plain = ImageRequest(
        model=model.id,
        prompt=form.prompt,
        negative_prompt=form.negative_prompt.strip() or None,
        width=form.width if limits.takes_pixels else None,
        height=form.height if limits.takes_pixels else None,
        aspect_ratio=view.ratio or None,
        resolution=view.resolution or None,
        quality=form.quality if form.quality in limits.qualities else None,
        format=form.format,
        variants=form.count if together else 1,
        cfg_scale=form.cfg_scale,
        steps=form.steps if limits.max_steps else None,
        style_preset=form.style or None,
        safe_mode=form.safe_mode,
        enhance_prompt=form.enhance_prompt,
        prompt_limit=limits.prompt_chars,
        extra=extra if together else {"return_binary": True, **extra},
    )
    calls = 1 if together else form.count
    seeds = [first_seed + number if first_seed + number <= MAX_SEED else first_seed - number for number in range(calls)]
    return tuple(replace(plain, seed=seed) for seed in seeds)

"""The bodies of the image endpoints: what each field may be, and the images inside them."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.sandbox.http.call import Call
from app.sandbox.http.errors import Json
from app.sandbox.http.form import is_form, read_form
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.media.media_models import MediaModel

FORMATS = ("jpeg", "png", "webp")
STYLES = (
    "3D Model", "Analog Film", "Anime", "Cinematic", "Comic Book", "Craft Clay", "Digital Art", "Enhance",
    "Fantasy Art", "Isometric Style", "Line Art", "Lowpoly", "Neon Punk", "Origami", "Photographic", "Pixel Art",
    "Texture", "Watercolor",
)  # fmt: skip
EDGES = {"1K": 1024, "2K": 2048, "4K": 4096}
FLAGS = ("hide_watermark", "embed_exif_metadata", "enable_web_search", "disable_prompt_optimization_thinking")
MAX_STYLE_BYTES = 8 * 1024**2
SIZES = ("auto", "256x256", "512x512", "1024x1024", "1536x1024", "1024x1536", "1792x1024", "1024x1792")
MAX_EDGE = 1280
SEEDS = 999_999_999
DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,")


@dataclass(frozen=True, slots=True)
class Drawing:
    """What `POST /image/generate` asks for. `seed` None: by chance."""

    prompt: str
    width: int
    height: int
    format: str
    seed: int | None
    variants: int
    binary: bool
    safe_mode: bool
    style: str
    tier: str  # of the resolution, "" for pixel-sized models
    enhanced: bool


def checker(call: Call) -> Checker:
    return Checker(flat_list=call.names.issues_in_errors)


def prompt_in(check: Checker, body: Mapping[str, object], longest: int) -> str:
    prompt = check.text(("prompt",), body.get("prompt"), longest=longest)
    if body.get("prompt") is None:
        check.complain(("prompt",), REQUIRED)
    elif prompt == "":
        check.complain(("prompt",), "String must contain at least 1 character(s)")
    return prompt or ""


def read_drawing(check: Checker, body: Json, model: MediaModel | None) -> Drawing:
    """Check every field of a generation; the caller finishes the check. `model` None: it is unknown, checked later."""
    constraints: Json = model.facts["constraints"] if model else {}
    ratios, tiers = constraints.get("aspectRatios"), constraints.get("resolutions")
    divisor = int(constraints.get("widthHeightDivisor", 1))
    ratio = check.choice(("aspect_ratio",), body.get("aspect_ratio"), ratios) if ratios else None
    tier = check.choice(("resolution",), body.get("resolution"), tiers) if tiers else None
    sides = []
    for name in ("width", "height"):
        side = check.integer((name,), body.get(name), 1, MAX_EDGE)
        if side is not None and not ratios and side % divisor:
            check.complain((name,), f"Number must be a multiple of {divisor}")
        sides.append(1024 if side is None else side)
    if ratios:
        tier = tier or str(constraints["defaultResolution"])
        sides = list(sized(ratio or str(constraints["defaultAspectRatio"]), EDGES[tier]))
    check.number(("cfg_scale",), body.get("cfg_scale"), 0, 20)
    check.integer(("steps",), body.get("steps"), 1, constraints.get("steps", {}).get("max", 50))
    check.integer(("lora_strength",), body.get("lora_strength"), 0, 100)
    check.text(("negative_prompt",), body.get("negative_prompt"), longest=7500)
    binary = bool(check.boolean(("return_binary",), body.get("return_binary")))
    variants = check.integer(("variants",), body.get("variants"), 1, 4) or 1
    if binary and variants > 1:
        check.complain(("variants",), "Only 1 variant can be returned as a binary answer")
    for name in FLAGS:
        check.boolean((name,), body.get(name))
    _check_styles(check, body.get("style_references"), int(constraints.get("maxStyleReferences", 0)))
    safe = check.boolean(("safe_mode",), body.get("safe_mode"))
    return Drawing(
        prompt=prompt_in(check, body, constraints.get("promptCharacterLimit", 7500)),
        width=sides[0],
        height=sides[1],
        format=check.choice(("format",), body.get("format"), FORMATS) or "webp",
        seed=check.integer(("seed",), body.get("seed"), -SEEDS, SEEDS),
        variants=variants,
        binary=binary,
        safe_mode=True if safe is None else safe,
        style=check.choice(("style_preset",), body.get("style_preset"), STYLES) or "",
        tier=tier or "",
        enhanced=bool(check.boolean(("enhance_prompt",), body.get("enhance_prompt"))),
    )


def _check_styles(check: Checker, value: object, most: int) -> None:
    """Images whose style is taken; the Sandbox draws without it."""
    found = check.items(("style_references",), value) or []
    if len(found) > most:
        check.complain(("style_references",), f"Array must contain at most {most} element(s)")
    for place, one in enumerate(found[:most]):
        path = ("style_references", place)
        record = check.record(path, one) or {}
        check.number((*path, "strength"), record.get("strength"), 0.1, 1)
        text = check.text((*path, "image"), record.get("image"))
        if text is None:
            check.complain((*path, "image"), REQUIRED)
        elif len(text) * 3 // 4 >= MAX_STYLE_BYTES:
            check.complain((*path, "image"), "The picture exceeds the limit of 8 MB")


def sized(ratio: str, edge: int) -> tuple[int, int]:
    """Return width and height of a ratio such as 16:9, with about `edge` × `edge` pixels, multiples of 8."""
    wide, high = (int(part) for part in ratio.split(":"))
    width = edge * (wide / high) ** 0.5
    return max(8, round(width / 8) * 8), max(8, round(edge * edge / width / 8) * 8)


@dataclass(slots=True)
class ImageRequestBody:
    """A body that may come as JSON or as a form: text fields, and the images in it by field."""

    fields: Json
    pictures: dict[str, list[bytes]]
    links: dict[str, list[str]]  # addresses instead of images; the Sandbox opens none


def read_sent(call: Call, check: Checker, *image_fields: str) -> ImageRequestBody:
    """Return the fields and images of an edit. Raises `Refusal` for bodies that cannot be read."""
    sent = ImageRequestBody({}, {}, {})
    if is_form(call):
        form = read_form(call)
        sent.fields = dict(form.fields)
        for name, uploads in form.files.items():
            sent.pictures[name] = [upload.data for upload in uploads]
        texts: Json = {name: form.fields[name] for name in image_fields if name in form.fields}
    else:
        sent.fields = call.json_object()
        texts = {name: sent.fields[name] for name in image_fields if sent.fields.get(name) is not None}
    for name, value in texts.items():
        many = isinstance(value, list)
        for index, one in enumerate(value if many else [value]):
            path = (name, index) if many else (name,)
            if not isinstance(one, str):
                check.complain(path, "Expected base64 text, a data URL or an address")
            elif one.startswith(("http://", "https://")):
                sent.links.setdefault(name, []).append(one)
            else:
                _add_base64(check, sent, name, path, one)
    return sent


def _add_base64(check: Checker, sent: ImageRequestBody, name: str, path: tuple[str | int, ...], text: str) -> None:
    try:
        data = base64.b64decode(DATA_URL.sub("", text, count=1), validate=True)
    except (binascii.Error, ValueError):
        check.complain(path, "This is not base64")
        return
    sent.pictures.setdefault(name, []).append(data)


def form_number(check: Checker, fields: Json, name: str) -> object:
    """Return a number that a form sends as text."""
    value = fields.get(name)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            check.complain((name,), "Expected number, received string")
            return None
    return value

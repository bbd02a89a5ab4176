"""Images: made from words, changed, enlarged, freed from their background.

An image that policy blocks is an answer with status 200 and a header: look at `GeneratedImage.violation` before
keeping it.
Source: service specification, images.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from app.media_types import HEAD_BYTES, MEDIA_TYPES, sniff
from app.service.calls import Call, CallRecord, Content, JsonContent, limit
from app.service.client import OnWait, ServiceClient, ServiceResponse
from app.service.errors import BadResponse, WrongMedia
from app.service.exchange import Exchange
from app.service.http.bodies import MIB
from app.service.http.multipart import FormContent, FormFile, OnProgress
from app.service.http.size_limits import LIMIT_WORDS, MAX_UPLOAD_BYTES
from app.service.http.time_limits import IMAGE_S
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.translation import tr

FORMATS = ("jpeg", "png", "webp")
QUALITIES = ("low", "medium", "high")
MAX_PROMPT_CHARS = 7500
MAX_EDIT_PROMPT_CHARS = 32_768
MAX_SIDE = 1280
MAX_VARIANTS = 4
MAX_SEED = 999_999_999
MAX_CREATIVITY = 0.02
MAX_INPUT_BYTES = MAX_UPLOAD_BYTES
MAX_IMAGE_BYTES = 96 * MIB
IMAGE_KINDS = frozenset({"png", "jpeg", "webp", "gif"})


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """One image. `kind` is what the bytes are ("png", "jpeg", "webp"), whatever was asked for."""

    data: bytes
    kind: str
    blurred: bool = False
    violation: bool = False  # blocked by policy: a stand-in image, not a result
    adult_violation: bool = False
    contains_minor: bool = False

    @property
    def media_type(self) -> str:
        return MEDIA_TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class GeneratedImages:
    pictures: tuple[GeneratedImage, ...]
    enhanced_prompt: str | None  # what the service made of the prompt, if it did
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """An image to make. What a model takes stands in its constraints; None is not sent.

    `extra` holds what only some models know (`style_references`, `embed_exif_metadata`, …), by wire name.
    """

    model: str
    prompt: str
    negative_prompt: str | None = None
    width: int | None = None  # pixels, up to 1280, for models that count in pixels
    height: int | None = None
    aspect_ratio: str | None = None
    resolution: str | None = None
    quality: str | None = None  # one of QUALITIES
    format: str | None = None  # one of FORMATS
    variants: int = 1  # 1 to 4
    cfg_scale: float | None = None  # above 0, up to 20
    steps: int | None = None
    seed: int | None = None
    style_preset: str | None = None
    safe_mode: bool = True  # blurs adult content
    enhance_prompt: bool = False
    prompt_limit: int = MAX_PROMPT_CHARS
    extra: Mapping[str, object] = field(default_factory=dict)

    def to_body(self) -> dict[str, object]:
        """Raises `LimitExceeded`."""
        self._check()
        body: dict[str, object] = {"model": self.model, "prompt": self.prompt}
        for name in (
            "negative_prompt",
            "width",
            "height",
            "aspect_ratio",
            "resolution",
            "quality",
            "format",
            "cfg_scale",
            "steps",
            "seed",
            "style_preset",
        ):
            value = getattr(self, name)
            if value is not None:
                body[name] = value
        if self.variants != 1:
            body["variants"] = self.variants
        if not self.safe_mode:
            body["safe_mode"] = False
        if self.enhance_prompt:
            body["enhance_prompt"] = True
        return {**body, **self.extra}

    def _check(self) -> None:
        limit(bool(self.model.strip()), "model", "1", tr("Choose a model."))
        _check_prompt(self.prompt, min(self.prompt_limit, MAX_PROMPT_CHARS))
        for name, side in (("width", self.width), ("height", self.height)):
            limit(
                side is None or 0 < side <= MAX_SIDE,
                name,
                tr("1 to {max_side}", max_side=MAX_SIDE),
                tr("1 to {max_side} pixels.", max_side=MAX_SIDE),
            )
        limit(
            self.quality in (None, *QUALITIES), "quality", ", ".join(QUALITIES), tr("Quality is low, medium or high.")
        )
        _check_format(self.format)
        limit(
            1 <= self.variants <= MAX_VARIANTS,
            "variants",
            tr("1 to {max_variants}", max_variants=MAX_VARIANTS),
            tr("1 to 4 images per request."),
        )
        scale = self.cfg_scale
        limit(scale is None or 0 < scale <= 20, "cfg_scale", "0 to 20", tr("cfg_scale must be above 0 and up to 20."))
        limit(self.steps is None or self.steps >= 1, "steps", "1", tr("An image needs at least one step."))
        limit(self.seed is None or abs(self.seed) <= MAX_SEED, "seed", str(MAX_SEED), f"±{MAX_SEED}.")


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A change of one image, or of several at once. Images are the bytes of files, the first one the base."""

    model: str
    prompt: str
    pictures: tuple[bytes, ...]
    aspect_ratio: str | None = None
    resolution: str | None = None
    quality: str | None = None
    output_format: str | None = None
    safe_mode: bool = True
    enhance_prompt: bool = False
    prompt_limit: int = MAX_EDIT_PROMPT_CHARS


class ImagesResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def generate(
        self, request: ImageRequest, *, price_usd: Decimal | None = None, on_wait: OnWait | None = None
    ) -> GeneratedImages:
        """Make images. `price_usd` is the estimate for all of them. Raises `ServiceError`."""
        return await self._pictures(
            "/image/generate", JsonContent(request.to_body()), request.model, price_usd, on_wait
        )

    async def styles(self) -> tuple[str, ...]:
        """Return the names that `style_preset` takes."""
        content = await self._client.get("/image/styles", resource="images")
        names = content.get("data") if isinstance(content, Mapping) else content
        if not isinstance(names, list):
            raise BadResponse(tr("The service’s response is not a list of styles."))
        return tuple(name for name in names if isinstance(name, str))

    async def edit(
        self,
        request: EditRequest,
        *,
        price_usd: Decimal | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
    ) -> GeneratedImages:
        """Change an image by words; several images go to the endpoint for several. Raises `ServiceError`."""
        limit(bool(request.model.strip()), "model", "1", tr("Choose a model."))
        _check_prompt(request.prompt, min(request.prompt_limit, MAX_EDIT_PROMPT_CHARS))
        limit(bool(request.pictures), "image", "1", tr("No image to edit."))
        _check_format(request.output_format)
        several = len(request.pictures) > 1
        fields = [("prompt", request.prompt), ("modelId" if several else "model", request.model)]
        for name in ("aspect_ratio", "resolution", "output_format", *(("quality",) if several else ())):
            value = getattr(request, name)
            if value is not None:
                fields.append((name, value))
        if not request.safe_mode:
            fields.append(("safe_mode", "false"))
        if request.enhance_prompt:
            fields.append(("enhance_prompt", "true"))
        files = tuple(_file("images" if several else "image", image) for image in request.pictures)
        content = FormContent(tuple(fields), files, on_progress)
        path = "/image/multi-edit" if several else "/image/edit"
        return await self._pictures(path, content, request.model, price_usd, on_wait)

    async def upscale(
        self,
        image: bytes,
        *,
        scale: int = 2,
        creativity: float | None = None,
        price_usd: Decimal | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
    ) -> GeneratedImages:
        """Enlarge 2 or 4 times; the service shrinks the factor where the result would grow too large."""
        limit(scale in (2, 4), "scale", "2, 4", tr("Images can be upscaled 2× or 4×."))
        allowed = tr("0 to {max_creativity}", max_creativity=MAX_CREATIVITY)
        limit(
            creativity is None or 0 <= creativity <= MAX_CREATIVITY,
            "creativity",
            allowed,
            tr("Creativity must be {allowed}.", allowed=allowed),
        )
        fields = [("scale", str(scale))]
        if creativity is not None:
            fields.append(("creativity", f"{creativity:g}"))
        content = FormContent(tuple(fields), (_file("image", image),), on_progress)
        return await self._pictures("/image/upscale", content, "", price_usd, on_wait)

    async def remove_background(
        self,
        image: bytes,
        *,
        price_usd: Decimal | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait | None = None,
    ) -> GeneratedImages:
        """Return the image as PNG with what is behind its subject made clear."""
        content = FormContent((), (_file("image", image),), on_progress)
        return await self._pictures("/image/background-remove", content, "", price_usd, on_wait)

    async def _pictures(
        self, path: str, content: Content, model: str, price_usd: Decimal | None, on_wait: OnWait | None
    ) -> GeneratedImages:
        call = Call(
            "POST",
            path,
            CallKind.PAID,
            "images",
            content=content,
            accept="application/json, image/*",
            max_bytes=MAX_IMAGE_BYTES,
            answer_s=IMAGE_S,
            model=model,
            pace="image",
            expected_usd=price_usd,
        )
        record: CallRecord = self._client.record(call)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            images = await asyncio.to_thread(_read_images, answer)
            record.report(units={"images": len(images)})
            enhanced = answer.info.enhanced_prompt
        return GeneratedImages(images, enhanced, record.exchange)


def _check_prompt(prompt: str, allowed: int) -> None:
    limit(bool(prompt.strip()), "prompt", "1", tr("An image needs a prompt."))
    limit(
        len(prompt) <= allowed,
        "prompt",
        str(allowed),
        tr("Up to {allowed} characters. This text has {count}.", allowed=allowed, count=len(prompt)),
    )


def _check_format(name: str | None) -> None:
    limit(name in (None, *FORMATS), "format", ", ".join(FORMATS), tr("Image formats are jpeg, png and webp."))


def _file(name: str, image: bytes) -> FormFile:
    kind = sniff(image[:HEAD_BYTES])
    limit(kind in IMAGE_KINDS, "image", tr("PNG, JPEG, WebP"), tr("Use PNG, JPEG or WebP images."))
    limit(
        len(image) < MAX_INPUT_BYTES,
        "image",
        "25 MB",
        tr("An image must be smaller than {limit_words}.", limit_words=LIMIT_WORDS),
    )
    return FormFile(name, image, f"image.{kind}", MEDIA_TYPES[kind or "png"])


def _read_images(answer: ServiceResponse) -> tuple[GeneratedImage, ...]:
    """The images of an answer, which holds one as it is or several as base64 in JSON."""
    info = answer.info
    if sniff(answer.body[:HEAD_BYTES]) is not None:
        return (_picture(answer.body, info),)
    content = answer.json(exact=False)
    listed = (content.get("images") or content.get("data")) if isinstance(content, Mapping) else None
    images = [_picture(_decoded(item), info) for item in listed] if isinstance(listed, list) else []
    if not images:
        raise WrongMedia(tr("The service sent no image."), info=info)
    return tuple(images)


def _decoded(item: object) -> bytes:
    """Base64, with or without the head of a data URL, bare or under the names the OpenAI form uses."""
    if isinstance(item, Mapping):
        item = item.get("b64_json") or item.get("url")
    if not isinstance(item, str):
        raise WrongMedia(tr("The service’s response is not an image."))
    text = item.partition(",")[2] if item.startswith("data:") else item
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise WrongMedia(tr("The service’s response is not an image.")) from None


def _picture(data: bytes, info: ResponseInfo) -> GeneratedImage:
    kind = sniff(data[:HEAD_BYTES])
    if kind not in IMAGE_KINDS or kind is None:
        raise WrongMedia(tr("The service’s response is not an image."), info=info)
    return GeneratedImage(
        data,
        kind,
        blurred=info.is_blurred is True,
        violation=info.is_content_violation is True,
        adult_violation=info.is_adult_content_violation is True,
        contains_minor=info.contains_minor is True,
    )

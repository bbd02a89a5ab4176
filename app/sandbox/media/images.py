"""The image endpoints: generate, the OpenAI form, edit, multi-edit, upscale, background removal, styles.

An image that the content policy blocks is a 200 with a header; words in the prompt switch each verdict on, so that a
client can be tried: see `VERDICTS`.
"""

from __future__ import annotations

import asyncio
import base64
import random
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import quote

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import Json, too_large
from app.sandbox.http.form import MAX_UPLOAD_BYTES
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.installed_engines import need
from app.sandbox.media.image_options import (
    EDGES,
    FORMATS,
    SIZES,
    STYLES,
    Drawing,
    ImageRequestBody,
    checker,
    form_number,
    prompt_in,
    read_drawing,
    read_sent,
    sized,
)
from app.sandbox.media.media_models import MediaModel
from app.sandbox.policy_words import BLOCKING, add_verdicts, refuse_content

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT_MODEL = "rialto-canvas"
EDIT_MODEL = "firered-image-edit"
MIN_EDIT_PIXELS = 65_536


async def styles(_: Call) -> Response:
    return json_answer({"object": "list", "data": list(STYLES)})


async def generate(call: Call) -> Response:
    body = call.json_object()
    check = checker(call)
    name = check.text(("model",), body.get("model"))
    if body.get("model") is None:
        check.complain(("model",), REQUIRED)
    known = call.site.models.media_model(name or "", "image")
    drawing = read_drawing(check, body, known)
    check.finish()
    model = find_model(call, name or "", "image")
    need("images")
    refuse_unpaid(call)
    started = time.perf_counter()
    files = await asyncio.to_thread(
        _drawn, drawing, add_verdicts(call, drawing.prompt, can_blur=drawing.safe_mode), call.world.dice
    )
    charge(call, f"{model.id}-images", len(files), _price(model, drawing.tier))
    if drawing.enhanced:
        call.headers[f"{call.names.header_prefix}enhanced-prompt"] = quote(f"{drawing.prompt}, drawn with care")
    if drawing.binary:
        return Response(200, {"Content-Type": f"image/{drawing.format}"}, files[0])
    milliseconds = round((time.perf_counter() - started) * 1000)
    timing = {
        "inferenceDuration": milliseconds,
        "inferencePreprocessingTime": 0,
        "inferenceQueueTime": 0,
        "total": milliseconds,
    }
    images = [base64.b64encode(file).decode() for file in files]
    return json_answer(
        {"id": f"generate-image-{call.world.token(8)}", "images": images, "timing": timing, "request": body}
    )


async def generations(call: Call) -> Response:
    """The OpenAI form. An unknown model silently becomes the default one."""
    body = call.json_object()
    check = checker(call)
    prompt = prompt_in(check, body, 1500)
    name = check.text(("model",), body.get("model"))
    count = check.integer(("n",), body.get("n"), 1, 1) or 1
    size = check.choice(("size",), body.get("size"), SIZES) or "auto"
    file_format = check.choice(("output_format",), body.get("output_format"), FORMATS) or "png"
    shape = check.choice(("response_format",), body.get("response_format"), ("b64_json", "url")) or "b64_json"
    moderation = check.choice(("moderation",), body.get("moderation"), ("auto", "low")) or "auto"
    check.finish()
    models = call.site.models
    model = find_model(call, name if name and models.media_model(name, "image") else DEFAULT_MODEL, "image")
    need("images")
    refuse_unpaid(call)
    width, height = (1024, 1024) if size == "auto" else (int(side) for side in size.split("x"))
    safe = moderation == "auto"
    drawing = Drawing(prompt, width, height, file_format, None, count, False, safe, "", "", False)
    files = await asyncio.to_thread(_drawn, drawing, add_verdicts(call, prompt, can_blur=safe), call.world.dice)
    charge(call, f"{model.id}-images", len(files), _price(model, ""))
    data = []
    for file in files:
        text = base64.b64encode(file).decode()
        data.append({"b64_json": text} if shape == "b64_json" else {"url": f"data:image/{file_format};base64,{text}"})
    return json_answer({"created": int(call.world.clock.now()), "data": data})


async def edit(call: Call) -> Response:
    check = checker(call)
    sent = read_sent(call, check, "image")
    fields = sent.fields
    return await _edited(call, check, sent, "image", str(fields.get("model") or fields.get("modelId") or EDIT_MODEL))


async def multi_edit(call: Call) -> Response:
    check = checker(call)
    sent = read_sent(call, check, "images")
    return await _edited(call, check, sent, "images", str(sent.fields.get("modelId") or EDIT_MODEL))


async def _edited(call: Call, check: Checker, sent: ImageRequestBody, field: str, model_id: str) -> Response:
    prompt = prompt_in(check, sent.fields, 32_768)
    known = call.site.models.media_model(model_id, "inpaint")
    limits: Json = known.facts["constraints"] if known else {}
    ratio = check.choice(("aspect_ratio",), sent.fields.get("aspect_ratio"), limits.get("aspectRatios", ("auto",)))
    tier = check.choice(("resolution",), sent.fields.get("resolution"), limits.get("resolutions", ("1K",))) or "1K"
    file_format = check.choice(("output_format",), sent.fields.get("output_format"), FORMATS)
    check.choice(("quality",), sent.fields.get("quality"), ("low", "medium", "high"))
    data = _pictures(check, sent, field, int(limits.get("maxInputImages", 3)) if field == "images" else 1)
    check.finish()
    model = find_model(call, model_id, "inpaint")
    need("images")
    refuse_unpaid(call)
    if str(sent.fields.get("enhance_prompt")).lower() == "true":
        call.headers[f"{call.names.header_prefix}enhanced-prompt"] = quote(f"{prompt}, changed with care")
    refuse_content(prompt, "A quiet harbour")
    from app.sandbox.media import image_engine

    images = await _decoded(call, field, data)
    pixels = images[0].width * images[0].height
    if pixels < MIN_EDIT_PIXELS:
        check.complain((field,), f"The picture has {pixels} pixels; at least {MIN_EDIT_PIXELS} are needed")
    check.finish()
    if ratio in (None, "auto"):
        size = sized(f"{images[0].width}:{images[0].height}", EDGES[tier])
    else:
        size = sized(str(ratio), EDGES[tier])
    result = await asyncio.to_thread(image_engine.edit, images, prompt, size)
    add_verdicts(call, prompt)
    extra: Decimal = model.pricing["inputImages"]["additional"]["usd"]
    charge(call, f"{model.id}-edits", 1, model.price_usd + extra * (len(images) - 1))
    return await _picture(result, file_format or ("png" if tier == "1K" else "jpeg"))


async def upscale(call: Call) -> Response:
    check = checker(call)
    sent = read_sent(call, check, "image")
    scale = check.number(("scale",), form_number(check, sent.fields, "scale"), 1, 4) or 2
    if scale not in (2, 4):
        check.complain(("scale",), "Expected 2 or 4")
    check.number(("creativity",), form_number(check, sent.fields, "creativity"))  # out of range: clamped
    data = _pictures(check, sent, "image", 1)
    check.finish()
    model = find_model(call, "upscaler", "upscale")
    need("images")
    refuse_unpaid(call)
    from app.sandbox.media import image_engine

    image = (await _decoded(call, "image", data))[0]
    result = await asyncio.to_thread(image_engine.upscale, image, int(scale))
    charge(call, f"{model.id}-{int(scale)}x", 1, model.pricing["upscale"][f"{int(scale)}x"]["usd"])
    return await _picture(result, "png")


async def remove_background(call: Call) -> Response:
    check = checker(call)
    sent = read_sent(call, check, "image", "image_url")
    if ("image" in sent.pictures) == ("image_url" in sent.links or "image_url" in sent.pictures):
        check.complain((), "Send exactly one of image and image_url")
    data = _pictures(check, sent, "image_url" if "image_url" in sent.fields else "image", 1)
    check.finish()
    find_model(call, "upscaler", "upscale")
    need("images")
    refuse_unpaid(call)
    from app.sandbox.media import image_engine

    image = (await _decoded(call, "image", data))[0]
    result = await asyncio.to_thread(image_engine.without_background, image)
    charge(call, "background-remove", 1, Decimal("0.02"))
    return await _picture(result, "png")


def _pictures(check: Checker, sent: ImageRequestBody, field: str, most: int) -> list[bytes]:
    found = sent.pictures.get(field, [])
    if sent.links.get(field):
        check.complain((field,), "The Sandbox opens no addresses: send the picture itself")
    elif not found:
        check.complain((field,), REQUIRED)
    elif len(found) > most:
        check.complain((field,), f"Array must contain at most {most} element(s)")
    if any(len(data) > MAX_UPLOAD_BYTES for data in found):
        raise too_large("The picture exceeds the limit of 25 MB")
    return found


async def _decoded(call: Call, field: str, data: list[bytes]) -> list[Image]:
    from app.sandbox.media.image_engine import NotAnImage, decode

    try:
        return await asyncio.to_thread(lambda: [decode(one) for one in data])
    except NotAnImage as error:
        check = checker(call)
        check.complain((field,), f"The picture cannot be read: {error}")
        check.finish()
        raise  # never reached: finish() raises


async def _picture(image: Image, file_format: str) -> Response:
    from app.sandbox.media.image_engine import encode

    data = await asyncio.to_thread(encode, image, file_format)
    return Response(200, {"Content-Type": f"image/{file_format}"}, data)


def _drawn(drawing: Drawing, verdicts: frozenset[str], dice: random.Random) -> list[bytes]:
    from app.sandbox.media import image_engine

    files = []
    for variant in range(drawing.variants):
        if any(verdict in BLOCKING for verdict in verdicts):
            image = image_engine.placeholder(drawing.width, drawing.height)
        else:
            seed = dice.randrange(10**9) if drawing.seed is None else drawing.seed + variant
            image = image_engine.draw(drawing.prompt, drawing.width, drawing.height, seed, drawing.style)
            if "is-blurred" in verdicts:
                image = image_engine.blurred(image)
        files.append(image_engine.encode(image, drawing.format))
    return files


def _price(model: MediaModel, tier: str) -> Decimal:
    tiers: Mapping[str, Json] = model.pricing.get("resolutions", {})
    price: Decimal = tiers[tier]["usd"] if tier in tiers else model.price_usd
    return price

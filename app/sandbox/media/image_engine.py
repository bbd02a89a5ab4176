"""Draws images from words with Pillow, and changes images that were sent. The only file that knows Pillow.

Nothing here understands a prompt: words pick a scene and colors, a hash of the prompt and the seed does the rest.
Equal prompt, size and seed give equal pixels.
"""

from __future__ import annotations

import hashlib
import io
import math
import random
from collections.abc import Sequence

from PIL import (
    ExifTags,
    Image,
    ImageChops,
    ImageDraw,
    ImageEnhance,
    ImageFilter,
    ImageFont,
    ImageOps,
    UnidentifiedImageError,
)
from PIL.PngImagePlugin import PngInfo

Rgb = tuple[int, int, int]
LABEL = "Sandbox drawing"
MADE_BY = "Rialto Sandbox; no image model"  # in the file itself: it may be passed on without its label
MAX_PIXELS = 33_177_600
MAX_RESULT_PIXELS = 16_777_216
_WORK = 1024  # the longer edge at which a scene is drawn, before it is brought to its size

# words of a prompt -> sky above, sky below, ground, light
_MOODS: tuple[tuple[tuple[str, ...], tuple[Rgb, Rgb, Rgb, Rgb]], ...] = (
    (("night", "moon", "star", "dark"), ((12, 16, 44), (46, 54, 104), (18, 24, 40), (240, 236, 200))),
    (("sunset", "dusk", "evening", "red", "fire"), ((70, 40, 92), (244, 142, 92), (58, 34, 54), (255, 220, 150))),
    (("dawn", "morning", "pink"), ((140, 168, 214), (250, 206, 186), (84, 96, 110), (255, 244, 214))),
    (("winter", "snow", "ice", "cold"), ((152, 178, 204), (232, 240, 246), (222, 232, 240), (255, 255, 250))),
    (
        ("forest", "green", "grass", "spring", "tree"),
        ((150, 198, 210), (226, 238, 214), (58, 108, 66), (255, 250, 214)),
    ),
    (("desert", "sand", "yellow", "summer"), ((116, 176, 214), (250, 226, 176), (206, 156, 92), (255, 246, 206))),
)
_DAY: tuple[Rgb, Rgb, Rgb, Rgb] = ((84, 150, 206), (214, 232, 240), (88, 120, 104), (255, 248, 220))
_SCENES = {
    "lighthouse": ("lighthouse",),
    "sea": ("sea", "ocean", "harbour", "harbor", "boat", "ship", "lake", "water", "tide"),
    "city": ("city", "street", "house", "tower", "building", "bridge", "town"),
    "hills": ("mountain", "hill", "valley", "forest", "field", "desert", "tree"),
    "shapes": ("abstract", "pattern", "shape", "logo", "icon"),
}


class NotAnImage(Exception):
    """The bytes hold no image that can be read."""


def draw(prompt: str, width: int, height: int, seed: int, style: str = "", *, label: bool = True) -> Image.Image:
    """Return a composition for a prompt, labeled as what it is."""
    dice = random.Random(hashlib.sha256(f"{prompt}\0{seed}".encode()).digest())  # noqa: S311  # an image, no secret
    scale = min(2.0, _WORK / max(width, height))
    small = (max(1, round(width * scale)), max(1, round(height * scale)))
    image = _styled(_scene(prompt.lower(), small, dice), style)
    kernel = Image.Resampling.NEAREST if style == "Pixel Art" else Image.Resampling.LANCZOS
    image = image.resize((width, height), kernel)
    if label:
        _label(image, f"{LABEL} · {prompt}")
    return image


def _scene(words: str, size: tuple[int, int], dice: random.Random) -> Image.Image:
    sky, low, ground, light = next((mood for signs, mood in _MOODS if any(sign in words for sign in signs)), _DAY)
    width, height = size
    image = Image.new("RGB", size)
    pen = ImageDraw.Draw(image)
    for row in range(height):
        pen.line((0, row, width, row), fill=_mix(sky, low, row / max(1, height - 1)))
    kind = next((name for name, signs in _SCENES.items() if any(sign in words for sign in signs)), "")
    kind = kind or dice.choice(("city", "hills", "sea", "shapes"))
    x, y, radius = dice.uniform(0.15, 0.85) * width, dice.uniform(0.12, 0.35) * height, 0.07 * max(size)
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=light)
    scenes = {"lighthouse": _lighthouse, "sea": _sea, "city": _city, "hills": _hills, "shapes": _shapes}
    scenes[kind](pen, size, dice, (low, ground, light))
    return image.filter(ImageFilter.GaussianBlur(0.6))


def _mix(one: Rgb, other: Rgb, share: float) -> Rgb:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _ridge(width: int, height: float, rise: float, dice: random.Random) -> list[tuple[float, float]]:
    waves = [(dice.uniform(0.5, 3.5), dice.uniform(0, math.tau), dice.uniform(0.3, 1)) for _ in range(4)]
    return [
        (x, height - rise * sum(math.sin(x / max(1, width) * math.tau * f + p) * a for f, p, a in waves) / 3)
        for x in range(width + 1)
    ]


Colors = tuple[Rgb, Rgb, Rgb]


def _hills(pen: ImageDraw.ImageDraw, size: tuple[int, int], dice: random.Random, colors: Colors) -> None:
    width, height = size
    low, ground, _ = colors
    for layer in range(4):
        line = _ridge(width, height * (0.5 + 0.13 * layer), height * 0.16 / (1 + layer * 0.4), dice)
        pen.polygon([*line, (width, height), (0, height)], fill=_mix(low, ground, 0.35 + 0.2 * layer))


def _sea(pen: ImageDraw.ImageDraw, size: tuple[int, int], dice: random.Random, colors: Colors) -> None:
    width, height = size
    low, ground, light = colors
    horizon = int(height * dice.uniform(0.5, 0.62))
    water = _mix(ground, (30, 84, 120), 0.6)
    for row in range(horizon, height):
        depth = (row - horizon) / max(1, height - horizon)
        pen.line((0, row, width, row), fill=_mix(_mix(low, water, 0.5), water, depth))
    for _ in range(60):
        y = dice.uniform(horizon, height)
        x, length = dice.uniform(0, width), dice.uniform(0.01, 0.06) * width
        pen.line((x, y, x + length, y), fill=_mix(water, light, dice.uniform(0.1, 0.5)))
    x, base = dice.uniform(0.2, 0.8) * width, horizon + height * 0.12
    sail, hull = height * dice.uniform(0.18, 0.3), height * 0.05
    pen.polygon([(x, base - sail), (x, base), (x + sail * 0.55, base)], fill=light)
    pen.polygon([(x - sail * 0.06, base - sail * 0.8), (x - sail * 0.06, base), (x - sail * 0.35, base)], fill=low)
    pen.polygon([(x - hull * 3, base + 2), (x + hull * 3.4, base + 2), (x + hull * 2.2, base + hull)], fill=ground)


def _lighthouse(pen: ImageDraw.ImageDraw, size: tuple[int, int], dice: random.Random, colors: Colors) -> None:
    _sea(pen, size, dice, colors)
    width, height = size
    low, ground, light = colors
    x, base, top, half = width * 0.26, height * 0.72, height * 0.3, min(size) * 0.045
    rock = _mix(ground, (40, 44, 48), 0.6)
    pen.polygon(
        [(0, height * 0.7), (x, base - half), (x + half * 4, height * 0.76), (x + half * 6, height), (0, height)], rock
    )
    for stripe in range(5):
        upper, lower = (top + (base - top) * part / 5 for part in (stripe, stripe + 1))
        narrow, wide = (half * (0.6 + 0.4 * (y - top) / (base - top)) for y in (upper, lower))
        shade = (186, 60, 48) if stripe % 2 else _mix(low, (255, 255, 255), 0.7)
        pen.polygon([(x - narrow, upper), (x + narrow, upper), (x + wide, lower), (x - wide, lower)], shade)
    pen.rectangle((x - half * 0.5, top - half * 1.2, x + half * 0.5, top), light)
    pen.polygon([(x - half * 0.8, top - half * 1.2), (x + half * 0.8, top - half * 1.2), (x, top - half * 2)], rock)


def _city(pen: ImageDraw.ImageDraw, size: tuple[int, int], dice: random.Random, colors: Colors) -> None:
    width, height = size
    low, ground, light = colors
    for layer in range(3):
        x, shade = 0.0, _mix(low, ground, 0.4 + 0.3 * layer)
        while x < width:
            wide, top = dice.uniform(0.04, 0.11) * width, height * (dice.uniform(0.3, 0.65) + 0.08 * layer)
            pen.rectangle((x, top, x + wide, height), fill=shade)
            for _ in range(8 if layer == 2 else 0):
                wx, wy = dice.uniform(x, x + wide), dice.uniform(top, height)
                pen.rectangle((wx, wy, wx + width * 0.006, wy + height * 0.012), fill=light)
            x += wide


def _shapes(pen: ImageDraw.ImageDraw, size: tuple[int, int], dice: random.Random, colors: Colors) -> None:
    width, height = size
    for _ in range(14):
        x, y, radius = dice.uniform(0, width), dice.uniform(0, height), dice.uniform(0.04, 0.2) * max(size)
        color = _mix(dice.choice(colors), dice.choice(colors), dice.random())
        corners = dice.choice((3, 4, 6, 64))
        pen.regular_polygon((x, y, radius), corners, rotation=dice.uniform(0, 360), fill=color)


def _styled(image: Image.Image, style: str) -> Image.Image:
    if style in ("Line Art", "Comic Book"):
        edges = ImageOps.invert(image.convert("L").filter(ImageFilter.FIND_EDGES)).convert("RGB")
        return edges if style == "Line Art" else ImageChops.multiply(ImageOps.posterize(image, 3), edges)
    if style == "Pixel Art":
        small = image.resize((max(1, image.width // 8), max(1, image.height // 8)), Image.Resampling.BOX)
        return small.resize(image.size, Image.Resampling.NEAREST)
    if style == "Analog Film":
        return ImageEnhance.Color(image).enhance(0.55)
    if style == "Watercolor":
        return image.filter(ImageFilter.ModeFilter(7))
    if style == "Neon Punk":
        return ImageEnhance.Color(ImageOps.solarize(image, 140)).enhance(1.8)
    return ImageEnhance.Contrast(image).enhance(1.15) if style else image


def _label(image: Image.Image, text: str) -> None:
    size = _letter_px(image.size)
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(image, "RGBA")
    shown = text = " ".join(text.split())  # on one line
    room = image.width - 2 * size
    while len(text) > 12 and (wide := pen.textlength(shown, font=font)) > room:
        text = text[: int(len(text) * min(0.9, max(0.1, room / wide)))].rstrip()
        shown = f"{text}…"
    top = image.height - 2 * size
    pen.rectangle((0, top, image.width, image.height), fill=(0, 0, 0, 150))
    pen.text((size, top + size * 0.4), shown, font=font, fill=(255, 255, 255, 235))


def caption(size: tuple[int, int], text: str) -> Image.Image:
    """Return the label alone: a strip as wide as an image of that size, with transparency."""
    height = 2 * _letter_px(size)
    strip = Image.new("RGBA", size)
    _label(strip, text)
    return strip.crop((0, size[1] - height, size[0], size[1]))


def fitted(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return the middle of an image that fills a size."""
    return ImageOps.fit(image.convert("RGB"), size, Image.Resampling.LANCZOS)


def _letter_px(size: tuple[int, int]) -> int:
    return max(10, min(size) // 40)


def placeholder(width: int, height: int) -> Image.Image:
    """What a policy-blocked image looks like."""
    return Image.new("RGB", (width, height))


def blurred(image: Image.Image) -> Image.Image:
    return image.filter(ImageFilter.GaussianBlur(max(image.size) / 24))


def encode(image: Image.Image, image_format: str) -> bytes:
    """Return a file: `jpeg`, `png` or `webp`. It says in itself who made it."""
    buffer = io.BytesIO()
    if image_format == "png":
        told = PngInfo()
        told.add_text("Software", MADE_BY)
        image.save(buffer, "PNG", compress_level=4, pnginfo=told)
        return buffer.getvalue()
    facts = Image.Exif()
    facts[ExifTags.Base.Software] = MADE_BY
    if image_format == "jpeg":
        image.convert("RGB").save(buffer, "JPEG", quality=90, exif=facts)
    else:
        image.save(buffer, "WEBP", quality=88, method=2, exif=facts)
    return buffer.getvalue()


def decode(data: bytes) -> Image.Image:
    """Return an image the right way up. Raises `NotAnImage`, also for one with too many pixels to be harmless."""
    try:
        image = Image.open(io.BytesIO(data))
        if image.width * image.height > MAX_PIXELS:
            raise NotAnImage(f"it has more than {MAX_PIXELS} pixels")
        return ImageOps.exif_transpose(image).convert("RGBA" if "A" in image.getbands() else "RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NotAnImage(str(error)) from None


def edit(images: Sequence[Image.Image], prompt: str, size: tuple[int, int]) -> Image.Image:
    """Return the first image at a size, tinted and sharpened as words of the prompt ask, the others laid into it."""
    words = prompt.lower()
    base = fitted(images[0], size)
    if any(sign in words for sign in ("black and white", "grey", "gray", "monochrome")):
        base = ImageOps.grayscale(base).convert("RGB")
    if any(sign in words for sign in ("blur", "soft")):
        base = base.filter(ImageFilter.GaussianBlur(max(size) / 160))
    if "mirror" in words or "flip" in words:
        base = ImageOps.mirror(base)
    mood = next((mood for signs, mood in _MOODS if any(sign in words for sign in signs)), None)
    if mood is not None:
        base = Image.blend(base, Image.new("RGB", size, mood[1]), 0.35)
    for number, other in enumerate(images[1:]):
        inset = ImageOps.contain(other.convert("RGB"), (size[0] // 3, size[1] // 3))
        base.paste(inset, (size[0] - inset.width - 8, 8 + number * (size[1] // 3 + 8)))
    _label(base, f"Sandbox edit · {prompt}")
    return base


def upscale(image: Image.Image, factor: int) -> Image.Image:
    """Return the image `factor` times as wide and high, less when the result would have too many pixels."""
    fitting = (MAX_RESULT_PIXELS / (image.width * image.height)) ** 0.5
    scale = min(float(factor), fitting)
    size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def without_background(image: Image.Image) -> Image.Image:
    """Return the image with everything transparent that has the colors of its edge."""
    rgb = image.convert("RGB")
    border = [rgb.crop(box) for box in ((0, 0, rgb.width, 1), (0, rgb.height - 1, rgb.width, rgb.height))]
    averages = [strip.resize((1, 1), Image.Resampling.BOX) for strip in border]
    frame = Image.blend(averages[0], averages[1], 0.5)
    difference = ImageChops.difference(rgb, frame.resize(rgb.size))
    mask = difference.convert("L").point(lambda level: 0 if level < 24 else 255)
    result = rgb.convert("RGBA")
    result.putalpha(mask.filter(ImageFilter.MedianFilter(5)))
    return result

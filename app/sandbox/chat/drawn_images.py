"""A small geometric image for every character, drawn from its slug; PNG without any imaging library."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from functools import lru_cache

SIDE = 256
Color = tuple[int, int, int]

# Ground, two middle tones, one light: each row one mood.
PALETTES: tuple[tuple[Color, Color, Color, Color], ...] = (
    ((233, 216, 190), (196, 118, 84), (91, 66, 79), (250, 240, 220)),
    ((206, 226, 224), (74, 134, 140), (28, 66, 82), (245, 250, 246)),
    ((229, 221, 238), (138, 118, 178), (70, 56, 108), (250, 246, 253)),
    ((222, 230, 205), (126, 154, 84), (64, 84, 52), (250, 250, 236)),
    ((246, 218, 206), (222, 128, 112), (128, 58, 70), (255, 244, 238)),
    ((40, 52, 74), (92, 118, 158), (222, 178, 108), (244, 234, 214)),
    ((250, 228, 170), (226, 158, 62), (122, 78, 44), (255, 248, 226)),
    ((214, 222, 232), (120, 140, 166), (54, 68, 92), (250, 250, 252)),
    ((58, 46, 60), (150, 80, 92), (236, 168, 120), (250, 226, 200)),
    ((198, 224, 212), (94, 158, 134), (38, 84, 84), (248, 252, 244)),
)


@lru_cache(maxsize=64)
def draw(slug: str) -> bytes:
    """Return a PNG of 256 × 256 pixels; the same slug always gives the same bytes."""
    dice = hashlib.sha256(f"picture of {slug}".encode()).digest()
    palette = PALETTES[dice[0] % len(PALETTES)]
    canvas = _Canvas(palette[0])
    (_hills, _sails, _rings, _leaves, _arches, _steps)[dice[1] % 6](canvas, palette, dice)
    return canvas.png()


class _Canvas:
    """Rows of RGB bytes. Shapes are filled span by span; the ends of a span are blended, so edges look smooth."""

    def __init__(self, ground: Color) -> None:
        self._rows = [bytearray(bytes(ground) * SIDE) for _ in range(SIDE)]

    def span(self, y: int, left: float, right: float, color: Color) -> None:
        if not 0 <= y < SIDE:
            return
        left, right = max(0.0, left), min(float(SIDE), right)
        if right <= left:
            return
        row = self._rows[y]
        first, last = int(left), int(right)
        if first == last:
            self._blend(row, first, color, right - left)
            return
        whole = first if left == first else first + 1
        if whole != first:
            self._blend(row, first, color, whole - left)
        row[3 * whole : 3 * last] = bytes(color) * (last - whole)
        if last < SIDE and right > last:
            self._blend(row, last, color, right - last)

    def circle(self, x: float, y: float, radius: float, color: Color) -> None:
        for row in range(int(y - radius), int(y + radius) + 2):
            inside = radius**2 - (row + 0.5 - y) ** 2
            if inside > 0:
                self.span(row, x - inside**0.5, x + inside**0.5, color)

    def below(self, heights: list[float], color: Color) -> None:
        """Fill everything under a line given as one height per pixel column."""
        for y in range(SIDE):
            start: int | None = None
            for x in range(SIDE + 1):
                under = x < SIDE and heights[x] <= y
                if under and start is None:
                    start = x
                elif not under and start is not None:
                    self.span(y, start, x, color)
                    start = None

    def triangle(self, top: tuple[float, float], left: float, right: float, bottom: float, color: Color) -> None:
        for y in range(int(top[1]), int(bottom)):
            share = (y - top[1]) / (bottom - top[1])
            self.span(y, top[0] + (left - top[0]) * share, top[0] + (right - top[0]) * share, color)

    def box(self, left: float, top: float, right: float, bottom: float, color: Color) -> None:
        for y in range(int(top), int(bottom)):
            self.span(y, left, right, color)

    def png(self) -> bytes:
        def chunk(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in self._rows), 6)
        head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")

    @staticmethod
    def _blend(row: bytearray, x: int, color: Color, share: float) -> None:
        for channel in range(3):
            at = 3 * x + channel
            row[at] = round(row[at] + (color[channel] - row[at]) * share)


Palette = tuple[Color, Color, Color, Color]


def _hills(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    canvas.circle(60 + dice[2] % 140, 60 + dice[3] % 40, 22 + dice[4] % 20, palette[3])
    for layer, color in enumerate((palette[1], palette[2])):
        wave, shift, base = 34 + dice[5 + layer] % 30, dice[7 + layer], 140 + layer * 46
        canvas.below(
            [base + 20 * math.sin((x + shift) / wave) + 8 * math.sin((x + shift) / 17) for x in range(SIDE)], color
        )


def _sails(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    canvas.box(0, 188, SIDE, SIDE, palette[1])
    middle = 110 + dice[2] % 40
    canvas.triangle((middle, 40 + dice[3] % 20), middle - 62 - dice[4] % 20, middle - 2, 176, palette[3])
    canvas.triangle((middle + 8, 62 + dice[5] % 20), middle + 8, middle + 66 + dice[6] % 18, 176, palette[2])
    for step in range(18):
        canvas.span(182 + step, middle - 74 + step * 1.6, middle + 78 - step * 1.6, palette[2])


def _rings(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    x, y = 96 + dice[2] % 64, 96 + dice[3] % 64
    for number, radius in enumerate(range(112, 12, -(14 + dice[4] % 8))):
        canvas.circle(x, y, radius, palette[1 + number % 3])


def _leaves(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    canvas.box(124, 70, 130, SIDE, palette[2])
    for number in range(4):
        y, size = 76 + number * 40, 26 + dice[2 + number] % 16
        for side in (-1, 1):
            middle = 127 + side * (size + 2)
            for row in range(-size, size):
                half = size * (1 - (row / size) ** 2)
                canvas.span(int(y + row * 0.6), middle - half, middle + half, palette[1 if side < 0 else 3])


def _arches(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    canvas.box(0, 84 + dice[2] % 20, SIDE, SIDE, palette[1])
    count = 2 + dice[3] % 2
    width = SIDE / count
    for number in range(count):
        middle = width * (number + 0.5)
        canvas.circle(middle, 170, width * 0.32, palette[2])
        canvas.box(middle - width * 0.32, 170, middle + width * 0.32, SIDE, palette[2])
    canvas.circle(40 + dice[4] % 176, 46, 18, palette[3])


def _steps(canvas: _Canvas, palette: Palette, dice: bytes) -> None:
    count = 5 + dice[2] % 3
    rise = 190 / count
    for number in range(count):
        top = 230 - rise * (number + 1)
        canvas.box(SIDE / count * number, top, SIDE, SIDE, palette[1 + number % 2])
    canvas.circle(60 + dice[3] % 40, 66, 20 + dice[4] % 14, palette[3])

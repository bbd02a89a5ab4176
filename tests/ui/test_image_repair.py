"""Images whose headers Qt reads otherwise than they are meant: the pixels are those that were written."""

from __future__ import annotations

import struct
import zlib

import pytest
from PySide6.QtGui import QImage

from app.ui.chat.composer.attachment_check import NotAttached, check
from app.ui.kit.image_decoding import OWN_FORMS, decoded
from app.ui.kit.image_repair import is_bitmap, repaired

SIDE = 64
Pixels = list[list[tuple[int, ...]]]


def bitmap(head: int, bits: int, colors: int, *, counted: bool = False, stated: int | None = None) -> bytes:
    """A bitmap with a palette of `colors`; `counted` writes their number into its header."""
    palette = b"".join(bytes(color_of(number)[2::-1]) + (b"" if head == 12 else b"\0") for number in range(colors))
    rows = []
    for y in reversed(range(SIDE)):
        row = 0
        for x in range(SIDE):
            row = row << bits | (x * 3 + y * 5) % colors
        rows.append(row.to_bytes(SIDE * bits // 8, "big"))
    body = b"".join(rows)
    if head == 12:
        header = struct.pack("<IHHHH", 12, SIDE, SIDE, 1, bits)
    else:
        fields = (head, SIDE, SIDE, 1, bits, 0, len(body), 0, 0, colors if counted else 0, 0)
        header = struct.pack("<IiiHHIIIIII", *fields)[:head].ljust(head, b"\0")
    begin = 14 + head + len(palette)
    size = begin + len(body) if stated is None else stated
    return b"BM" + struct.pack("<IHHI", size, 0, 0, begin) + header + palette + body


def color_of(number: int) -> tuple[int, int, int]:
    return number * 37 % 256, (number * 91 + 5) % 256, 255 - number


def pixels_of(image: QImage) -> Pixels:
    return [[image.pixelColor(x, y).getRgb() for x in range(image.width())] for y in range(image.height())]


@pytest.mark.parametrize("head", [12, 16, 40, 52, 56, 64, 108, 124])
@pytest.mark.parametrize(("bits", "colors"), [(8, 256), (8, 252), (8, 4), (4, 16), (4, 3), (1, 2)])
@pytest.mark.parametrize("counted", [False, True])
def test_a_bitmap_has_the_colors_of_its_palette(head: int, bits: int, colors: int, counted: bool) -> None:
    data = bitmap(head, bits, colors, counted=counted and head > 16)
    meant = [[(*color_of((x * 3 + y * 5) % colors), 255) for x in range(SIDE)] for y in range(SIDE)]
    assert pixels_of(decoded(data, forms=OWN_FORMS)) == meant


def test_a_bitmap_that_states_another_length_is_attached() -> None:
    found = check("old.bmp", bitmap(12, 8, 252, stated=26)).attachment
    assert (found.kind, found.media_type, found.width) == ("image", "image/png", SIDE)


@pytest.mark.parametrize("text", [b"BM is what it begins with, and words follow.", b"BM", b"BM" * 40])
def test_text_that_begins_like_a_bitmap_is_text(text: bytes) -> None:
    assert not is_bitmap(text)
    assert check("a.txt", text).attachment.kind == "text"


def png(depth: int, kind: int, transparent: bytes, row: bytes, width: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, 1, depth, kind, 0, 0, 0))
    image = chunk(b"IDAT", zlib.compress(b"\0" + row)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"tRNS", transparent) + image


@pytest.mark.parametrize(
    ("data", "alphas"),
    [
        (png(1, 0, b"\x00\xff", b"\xb0", 4), [0, 255, 0, 0]),  # white, as some programs write it
        (png(1, 0, b"\xff\xfe", b"\xb0", 4), [255, 0, 255, 255]),
        (png(1, 0, b"\x00\x01", b"\xb0", 4), [0, 255, 0, 0]),
        (png(2, 0, b"\x01\x02", b"\x1b", 4), [255, 255, 0, 255]),
        (png(4, 0, b"\x00\x15", b"\x15\xf0", 4), [255, 0, 255, 255]),
        (png(8, 0, b"\x01\x15", b"\x05\x15", 2), [255, 0]),
        (png(8, 2, b"\x01\x01\x00\x02\xff\x03", bytes(range(1, 7)), 2), [0, 255]),
        (png(16, 0, b"\x12\x34", b"\x12\x34\x12\x35", 2), [0, 255]),
    ],
)
def test_a_transparent_color_is_the_one_that_its_pixels_can_have(data: bytes, alphas: list[int]) -> None:
    assert [pixel[3] for pixel in pixels_of(decoded(data))[0]] == alphas


@pytest.mark.parametrize("cut", [20, 30, 54, 60, 200, 2000, 1 << 20])
def test_a_beginning_alone_is_refused_and_breaks_nothing(cut: int) -> None:
    for data in (bitmap(16, 8, 252), bitmap(12, 4, 3), bitmap(40, 8, 256), png(1, 0, b"\x00\xff", b"\xb0", 4)):
        repaired(data[:cut])
        with pytest.raises(NotAttached):
            check("a.bmp", data[: min(cut, len(data) - 1)])

"""What is written into an image's own file: prompt, model, seed. Its pixels are not touched, only blocks beside them.

PNG carries text in iTXt chunks, JPEG and WebP carry EXIF; all three the same facts as JSON. Also says whether a file is
whole, by its own account of its length: an image cut short is no image. Standard library only.
Sources: PNG (third edition) 11.3.3, EXIF 2.32 section 4, the RIFF container of WebP.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from app.translation import tr

SOFTWARE = "Rialto"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_TEXT_BYTES = 60_000  # a block of a JPEG holds 65,533 bytes
_COMMENT, _DESCRIPTION = "Comment", "Description"
_EXIF_HEAD = b"Exif\x00\x00"
_ASCII_HEAD = b"ASCII\x00\x00\x00"
_DESCRIPTION_TAG, _ORIENTATION_TAG, _SOFTWARE_TAG, _EXIF_TAG, _COMMENT_TAG = 0x010E, 0x0112, 0x0131, 0x8769, 0x9286
_ASCII, _SHORT, _LONG, _UNDEFINED = 2, 3, 4, 7
_MAX_ENTRIES = 200  # of a directory that is looked through for the orientation
_VP8X_EXIF, _VP8X_ALPHA = 0x08, 0x10


class NotWhole(ValueError):
    """The bytes are no image of that form, or they end before it does."""


def check_whole(data: bytes, form: str) -> None:
    """Raise `NotWhole` unless `data` is a complete file of `form` ("png", "jpeg", "webp") by its own account."""
    if form == "png":
        names = [name for name, _ in _png_chunks(data)]
        if not names or names[0] != b"IHDR" or b"IDAT" not in names or names[-1] != b"IEND":
            raise NotWhole(tr("an incomplete PNG"))
    elif form == "webp":
        names = [name for name, _ in _riff_chunks(data)]
        if not any(name in (b"VP8 ", b"VP8L", b"ANMF") for name in names):
            raise NotWhole(tr("a WebP without an image"))
    elif form == "jpeg":
        _check_jpeg(data)
    else:
        raise NotWhole(tr("no image"))


def with_metadata(data: bytes, form: str, facts: Mapping[str, Any]) -> bytes:
    """Return the file with `facts` in it; `facts["prompt"]` also stands where other programs show a description.

    Raises `NotWhole`. Facts of an earlier writing are replaced.
    """
    text = json.dumps(facts, ensure_ascii=True, separators=(",", ":"))
    if len(text) > MAX_TEXT_BYTES:
        short = {**facts, "prompt": str(facts.get("prompt", ""))[:2_000], "negative_prompt": ""}
        text = json.dumps(short, ensure_ascii=True, separators=(",", ":"))[:MAX_TEXT_BYTES]
    described = str(facts.get("prompt", ""))[:2_000]
    if form == "png":
        return _png_with(data, text, described)
    if form == "webp":
        return _webp_with(data, _exif(text, described, _orientation(_exif_of(data, form))))
    if form == "jpeg":
        return _jpeg_with(data, _exif(text, described, _orientation(_exif_of(data, form))))
    raise NotWhole(tr("no image"))


def metadata_of(data: bytes, form: str) -> dict[str, Any]:
    """Return the facts that a file of ours carries, {} where there are none."""
    try:
        text = _text_of(data, form)
        found = json.loads(text) if text else None
    except (NotWhole, ValueError, struct.error, IndexError):
        return {}
    return found if isinstance(found, dict) else {}


def orientation_of(data: bytes, form: str) -> int:
    """How the camera of a PNG, WebP or JPEG was held, 1 to 8; 1 (upright) where the file does not say."""
    try:
        if form == "png":
            return _orientation(next((body for name, body in _png_chunks(data) if name == b"eXIf"), b""))
        return _orientation(_exif_of(data, form))
    except (NotWhole, struct.error):
        return 1


def _text_of(data: bytes, form: str) -> str:
    if form == "png":
        for name, body in _png_chunks(data):
            if name == b"iTXt" and body.startswith(_COMMENT.encode() + b"\x00"):
                return body[len(_COMMENT) + 5 :].decode()
        return ""
    exif = _exif_of(data, form)
    head = exif.find(_ASCII_HEAD)
    return exif[head + len(_ASCII_HEAD) :].rstrip(b"\x00").decode() if head >= 0 else ""


def _exif_of(data: bytes, form: str) -> bytes:
    """The TIFF block of a WebP or JPEG, b"" for none."""
    if form == "webp":
        found = next((body for name, body in _riff_chunks(data) if name == b"EXIF"), b"")
        return found.removeprefix(_EXIF_HEAD)  # some programs write the head of a JPEG's
    return next((body[6:] for marker, body in _jpeg_blocks(data) if marker == 0xE1 and body[:6] == _EXIF_HEAD), b"")


# -- PNG ----------------------------------------------------------------------------------------------------------


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and body of each chunk. Raises `NotWhole` where one is cut short or damaged."""
    if not data.startswith(PNG_SIGNATURE):
        raise NotWhole(tr("no PNG"))
    at = len(PNG_SIGNATURE)
    while at < len(data):
        if at + 12 > len(data):
            raise NotWhole(tr("a PNG cut short"))
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 12 + length
        if end > len(data):
            raise NotWhole(tr("a PNG cut short"))
        name, body = data[at + 4 : at + 8], data[at + 8 : end - 4]
        if name[:1].isupper() and zlib.crc32(body, zlib.crc32(name)) != struct.unpack_from(">I", data, end - 4)[0]:
            raise NotWhole(tr("a damaged PNG"))
        yield name, body
        at = end
        if name == b"IEND":
            return


def _png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(name)))


def _png_with(data: bytes, text: str, described: str) -> bytes:
    texts = ((_DESCRIPTION, described), ("Software", SOFTWARE), (_COMMENT, text))
    ours = tuple(keyword.encode() + b"\x00" for keyword, _ in texts)
    chunks = list(_png_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR":
        raise NotWhole(tr("no PNG"))
    added = [(b"iTXt", keyword.encode() + b"\x00\x00\x00\x00\x00" + value.encode()) for keyword, value in texts]
    kept = [(name, body) for name, body in chunks[1:] if not (name == b"iTXt" and body.startswith(ours))]
    return PNG_SIGNATURE + b"".join(_png_chunk(name, body) for name, body in (chunks[0], *added, *kept))


# -- EXIF ---------------------------------------------------------------------------------------------------------


def _orientation(exif: bytes) -> int:
    """How the camera was held, 1 to 8; 1 (upright) where the block does not say."""
    order = {b"II*\x00": "<", b"MM\x00*": ">"}.get(exif[:4])
    if order is None:
        return 1
    try:
        (at,) = struct.unpack_from(f"{order}I", exif, 4)
        (entries,) = struct.unpack_from(f"{order}H", exif, at)
        for number in range(min(entries, _MAX_ENTRIES)):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, at + 2 + 12 * number)
            if tag == _ORIENTATION_TAG and kind == _SHORT:
                return int(value) if 1 <= value <= 8 else 1
    except struct.error:
        pass
    return 1


def _exif(text: str, described: str, orientation: int) -> bytes:
    """Return a TIFF block, little-endian: description, orientation, software, and the facts as the user's comment."""
    values = {
        _DESCRIPTION_TAG: (_ASCII, described.encode() + b"\x00"),
        **({_ORIENTATION_TAG: (_SHORT, struct.pack("<H", orientation))} if orientation > 1 else {}),
        _SOFTWARE_TAG: (_ASCII, SOFTWARE.encode() + b"\x00"),
    }
    entries = len(values) + 1
    after = 8 + 2 + 12 * entries + 4  # where the values of the first directory begin
    first, tail = b"", b""
    for tag, (kind, value) in values.items():
        first += _entry(tag, kind, value, after + len(tail))
        if len(value) > 4:
            tail += value + b"\x00" * (len(value) % 2)
    second_at = after + len(tail)
    first += struct.pack("<HHII", _EXIF_TAG, _LONG, 1, second_at)
    comment = _ASCII_HEAD + text.encode("ascii")
    second = struct.pack("<H", 1) + _entry(_COMMENT_TAG, _UNDEFINED, comment, second_at + 2 + 12 + 4) + b"\x00" * 4
    directory = struct.pack("<H", entries) + first + b"\x00" * 4
    return b"II*\x00\x08\x00\x00\x00" + directory + tail + second + comment


def _entry(tag: int, kind: int, value: bytes, place: int) -> bytes:
    """One entry of a directory; up to four bytes stand in it, more at `place`."""
    where = value.ljust(4, b"\x00") if len(value) <= 4 else struct.pack("<I", place)
    return struct.pack("<HHI", tag, kind, len(value) // (2 if kind == _SHORT else 1)) + where


# -- WebP ---------------------------------------------------------------------------------------------------------


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        raise NotWhole(tr("no WebP"))
    whole = struct.unpack_from("<I", data, 4)[0] + 8
    if whole > len(data) + 1:
        raise NotWhole(tr("a WebP cut short"))
    at = 12
    while at + 8 <= min(whole, len(data)):
        (length,) = struct.unpack_from("<I", data, at + 4)
        if at + 8 + length > len(data):
            raise NotWhole(tr("a WebP cut short"))
        yield data[at : at + 4], data[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def _webp_with(data: bytes, exif: bytes) -> bytes:
    chunks = [(name, body) for name, body in _riff_chunks(data) if name != b"EXIF"]
    if not chunks:
        raise NotWhole(tr("a WebP without an image"))
    if chunks[0][0] == b"VP8X":
        head = bytearray(chunks.pop(0)[1])
        head[0] |= _VP8X_EXIF
    else:
        head = bytearray(_webp_head(*chunks[0]))
    at = next((place for place, (name, _) in enumerate(chunks) if name == b"XMP "), len(chunks))
    ordered = [(b"VP8X", bytes(head)), *chunks[:at], (b"EXIF", exif), *chunks[at:]]
    body = b"".join(
        name + struct.pack("<I", len(inner)) + inner + b"\x00" * (len(inner) % 2) for name, inner in ordered
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def _webp_head(name: bytes, body: bytes) -> bytes:
    """Return the extended header of a plain WebP: which extras there are, and the size of its canvas."""
    flags = _VP8X_EXIF
    if name == b"VP8L" and len(body) >= 5 and body[0] == 0x2F:
        bits = int.from_bytes(body[1:5], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        flags |= _VP8X_ALPHA if bits >> 28 & 1 else 0
    elif name == b"VP8 " and body[3:6] == b"\x9d\x01\x2a" and len(body) >= 10:
        wide, high = struct.unpack_from("<HH", body, 6)
        width, height = wide & 0x3FFF, high & 0x3FFF
    else:
        raise NotWhole(tr("a WebP without an image"))
    return bytes([flags, 0, 0, 0]) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


# -- JPEG ---------------------------------------------------------------------------------------------------------


def _jpeg_blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield marker and body of each block before the image itself."""
    if data[:2] != b"\xff\xd8":
        raise NotWhole(tr("no JPEG"))
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at + 1] not in (0xDA, 0xD9):
        (length,) = struct.unpack_from(">H", data, at + 2)
        if length < 2 or at + 2 + length > len(data):
            raise NotWhole(tr("a JPEG cut short"))
        yield data[at + 1], data[at + 4 : at + 2 + length]
        at += 2 + length


_SCAN_MARK = re.compile(rb"\xff+[^\xff\x00\xd0-\xd7]")  # in the data of a scan: not stuffed, no restart


def _check_jpeg(data: bytes) -> None:
    """Raise `NotWhole` unless the image comes to its end mark; phones put more images and notes behind it."""
    at = 2 + sum(4 + len(body) for _, body in _jpeg_blocks(data))
    while True:
        found = _SCAN_MARK.match(data, at)
        if found is None:
            raise NotWhole(tr("an incomplete JPEG"))
        marker = found[0][-1]
        if marker == 0xD9:
            return
        at = found.end()
        if at + 2 > len(data):
            raise NotWhole(tr("an incomplete JPEG"))
        at += struct.unpack_from(">H", data, at)[0]
        if marker == 0xDA:
            following = _SCAN_MARK.search(data, at)
            at = following.start() if following is not None else len(data)


def _jpeg_with(data: bytes, exif: bytes) -> bytes:
    block = _EXIF_HEAD + exif
    kept, rest = b"", 2
    for marker, body in _jpeg_blocks(data):
        whole = data[rest : rest + 4 + len(body)]
        rest += len(whole)
        if not (marker == 0xE1 and body[:6] == _EXIF_HEAD):
            kept += whole
    first = b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block
    return b"\xff\xd8" + first + kept + data[rest:]

"""Rewrites headers that Qt reads otherwise than other programs do. Pixels stay as they are.

Sources: the structures BITMAPCOREHEADER to BITMAPV5HEADER of Windows and the bitmap headers of OS/2; PNG (third
edition) 11.3.1.1.
"""

from __future__ import annotations

import struct
import zlib

_FILE_HEAD = 14
_OLD_HEAD, _USUAL_HEAD, _LONG_HEAD = 12, 40, 108  # with palette entries of three bytes; and the two that Qt extends
_HEADS_OF_QT = (_OLD_HEAD, _USUAL_HEAD, 64, _LONG_HEAD, 124)
_HEADS = (16, 52, 56, *_HEADS_OF_QT)
_COLORS_AT = 46  # of the file: how many colors there are, in heads that are not old
_PNG_HEAD = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_PNG_CHUNKS_AT = 33
_GRAY, _RGB = 0, 2
_RUN_LENGTHS = (1, 2)  # ways to pack pixels, whose size only the head knows


def is_bitmap(data: bytes) -> bool:
    """Whether the bytes begin like a bitmap of Windows or OS/2. The length that these state is often wrong."""
    if len(data) < 30 or not data.startswith(b"BM"):
        return False
    head = _head_bytes(data)
    planes_at = 22 if head == _OLD_HEAD else 26
    return head in _HEADS and data[planes_at : planes_at + 2] == b"\1\0"


def is_whole_bitmap(data: bytes) -> bool:
    """Whether a bitmap has all of its pixels; Qt shows anything for those that are missing."""
    if _head_bytes(data) == _OLD_HEAD:
        width, height, _, bits = struct.unpack_from("<HHHH", data, _FILE_HEAD + 4)
    else:
        width, height, _, bits = struct.unpack_from("<iiHH", data, _FILE_HEAD + 4)
    size: int = (width * bits + 31) // 32 * 4 * abs(height)
    if _head_bytes(data) >= _USUAL_HEAD and len(data) >= _COLORS_AT:
        packing, stated = struct.unpack_from("<II", data, 30)
        size = stated if packing in _RUN_LENGTHS else size
    return int.from_bytes(data[10:14], "little") + size <= len(data)


def repaired(data: bytes) -> bytes:
    """Return the image with a header that Qt reads as it is meant; the same bytes for any other image."""
    if is_bitmap(data):
        return _with_whole_palette(_with_known_head(data))
    if data.startswith(_PNG_HEAD) and len(data) > _PNG_CHUNKS_AT:
        return _with_masked_transparency(data)
    return data


def _head_bytes(data: bytes) -> int:
    return int.from_bytes(data[_FILE_HEAD : _FILE_HEAD + 4], "little")


def _with_known_head(data: bytes) -> bytes:
    """Extend a head by zeros to the next one that Qt knows; they stand for what it leaves out."""
    head = _head_bytes(data)
    if head in _HEADS_OF_QT:
        return data
    wanted = _USUAL_HEAD if head < _USUAL_HEAD else _LONG_HEAD
    end = _FILE_HEAD + head
    begin = data[:_FILE_HEAD] + struct.pack("<I", wanted) + data[_FILE_HEAD + 4 : end] + bytes(wanted - head)
    return _moved(begin + data[end:], wanted - head)


def _with_whole_palette(data: bytes) -> bytes:
    """Fill up a palette with fewer colors than its pixels could name: Qt would take the rest from the pixels."""
    head = _head_bytes(data)
    bits = int.from_bytes(data[24:26] if head == _OLD_HEAD else data[28:30], "little")
    entry = 3 if head == _OLD_HEAD else 4
    counted = 0 if head == _OLD_HEAD else int.from_bytes(data[_COLORS_AT : _COLORS_AT + 4], "little")
    begin = _FILE_HEAD + head
    end = int.from_bytes(data[10:14], "little")
    if bits not in (1, 2, 4, 8) or counted or not begin <= end <= len(data):
        return data
    missing = (entry << bits) - (end - begin)
    return _moved(data[:end] + bytes(missing) + data[end:], missing) if missing > 0 else data


def _moved(data: bytes, by: int) -> bytes:
    """Change the place at which a bitmap says that its pixels begin."""
    begin = int.from_bytes(data[10:14], "little") + by
    return data[:10] + struct.pack("<I", begin & 0xFFFF_FFFF) + data[14:]


def _with_masked_transparency(data: bytes) -> bytes:
    """Drop the bits of a transparent color that its pixels do not have: decoders are to ignore them."""
    depth, kind = data[24], data[25]
    if kind not in (_GRAY, _RGB) or depth >= 16:
        return data
    at = _PNG_CHUNKS_AT
    while at + 12 <= len(data):
        size, name = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if name == b"tRNS" and size in (2, 6):
            values = struct.unpack(f">{size // 2}H", data[at + 8 : at + 8 + size])
            body = name + struct.pack(f">{size // 2}H", *(value & (1 << depth) - 1 for value in values))
            if body == data[at + 4 : at + 8 + size]:
                return data
            return data[: at + 4] + body + struct.pack(">I", zlib.crc32(body)) + data[at + 12 + size :]
        if name == b"IDAT":
            return data
        at += 12 + size
    return data

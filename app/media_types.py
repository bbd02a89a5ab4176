"""What bytes really are, by how they begin; a name or a header can say anything."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import BinaryIO

HEAD_BYTES = 64
FEWEST_LETTERS = 16  # fewer could be a sample or two of very quiet sound

MEDIA_TYPES: Mapping[str, str] = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "m4a": "audio/mp4",
    "pcm": "audio/pcm",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "webm": "video/webm",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
    "pdf": "application/pdf",
}
AUDIO_ONLY_BRANDS = (b"M4A ", b"M4B ", b"M4P ")
OPUS_MARK = b"OpusHead"
_ANIMATION_MARKS = (b"\x11\xaf", b"\x12\xaf")  # FLI and FLC, behind a length that may look like a frame of MP3


ID3_BYTES = 10


def sniff_file(file: BinaryIO) -> str | None:
    """Return the kind of media in an open file; of sound behind an ID3 tag, its own kind. Leaves it anywhere."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    at = 0
    while head.startswith(b"ID3") and len(head) >= ID3_BYTES:
        at += id3_bytes(head)
        file.seek(at)
        head = file.read(HEAD_BYTES)
    found = sniff(head)
    return found if not at or found in ("flac", "aac", "wav", "ogg", "opus") else "mp3"


def id3_bytes(head: bytes) -> int:
    """Return the length of the ID3 tag that `head` begins with."""
    size = sum((byte & 0x7F) << shift for byte, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
    return ID3_BYTES + size + (ID3_BYTES if head[5] & 0x10 else 0)


def sniff(head: bytes) -> str | None:
    """Return the kind of media (a key of `MEDIA_TYPES`) that begins with `head`; 64 bytes are enough. None: unknown."""
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return "wav"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if head.startswith(b"OggS"):
        return "opus" if OPUS_MARK in head else "ogg"
    if head[4:6] in _ANIMATION_MARKS and head[14:16] in (b"\0\0", b"\3\0"):
        return None
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in AUDIO_ONLY_BRANDS:
            return "m4a"
        return "mov" if brand == b"qt  " else "mp4"
    for mark, kind in (
        (b"fLaC", "flac"),
        (b"ID3", "mp3"),
        (b"\x1aE\xdf\xa3", "webm"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff", "jpeg"),
        (b"GIF8", "gif"),
        (b"ADIF", "aac"),
        (b"%PDF-", "pdf"),
    ):
        if head.startswith(mark):
            return kind
    return _mpeg_audio(head)


def _mpeg_audio(head: bytes) -> str | None:
    """MP3 and AAC frames begin with eleven or twelve set bits; the layer bits tell them apart."""
    if len(head) < 3 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    if head[1] & 0xF6 == 0xF0:
        return "aac"
    is_reserved = head[1] & 0x18 == 0x08 or head[2] & 0xF0 in (0x00, 0xF0) or head[2] & 0x0C == 0x0C
    return "mp3" if head[1] & 0x06 and not is_reserved else None


def looks_like_text(head: bytes) -> bool:
    """True for the beginning of JSON, of a web page or of words where sound or images were promised."""
    if head.lstrip()[:1] in (b"{", b"[", b"<"):
        return True
    head = head[:HEAD_BYTES]
    utf_16 = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if len(head) < FEWEST_LETTERS:
        return False
    # of a character that the end of `head` cuts in two, an incremental decoder says nothing
    decoder = codecs.getincrementaldecoder("utf-16" if utf_16 else "utf-8")()
    try:
        text = decoder.decode(head)
    except UnicodeDecodeError:
        return False
    return all(char.isprintable() or char in "\t\r\n\ufeff" for char in text)


def looks_like_program(head: bytes) -> bool:
    """True for the beginning of a program or an archive."""
    return head.startswith((b"MZ", b"\x7fELF", b"PK\x03\x04", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x1f\x8b"))

"""Whether a file is a whole video, read from its own tables: what came under `video/mp4` can be anything.

An MP4 (or MOV) names the place and size of each of its images; all of them must lie inside the file, there must be at
least one image track, and a length. A WebM must have its header, a size that fits, and tracks. Nothing is decoded, so
a video in a codec that this computer cannot show passes, and so it should: it is what was paid for.
Standard library only; reads a few kilobytes of a file of any size. Source: ISO/IEC 14496-12; RFC 8794, RFC 9559.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.translation import tr

MAX_TABLE_BYTES = 64 * 1024 * 1024  # of `moov`: hours of video need a few
_EBML = b"\x1aE\xdf\xa3"


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What a video says of itself. Length in seconds, 0 where it does not say; size in pixels."""

    kind: str  # "mp4" or "webm"
    size_bytes: int
    duration_s: float
    width: int
    height: int


class NotAVideo(Exception):
    """The sentence says what is wrong with the file."""


def check_video(path: Path) -> VideoFacts:
    """Read the tables of a video; blocks, so use a thread. Raises `NotAVideo`, and `OSError` for an unreadable file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(16)
        if not head:
            raise NotAVideo(tr("The file is empty."))
        file.seek(0)
        if head.startswith(_EBML):
            return _check_webm(file, size)
        if head[4:8] != b"ftyp":
            raise NotAVideo(tr("The file is not a video."))
        return _check_mp4(file, size)


# MP4


def _check_mp4(file: BinaryIO, size: int) -> VideoFacts:
    moov = None
    has_data = False
    position = 0
    while position < size:
        kind, start, end = _box(file, position, size)
        if end > size:
            raise NotAVideo(tr("The file ends {end} bytes early.", end=end - size))
        if kind == b"moov":
            if end - start > MAX_TABLE_BYTES:
                raise NotAVideo(tr("The video is damaged: its index is too large."))
            file.seek(start)
            moov = file.read(end - start)
        has_data = has_data or kind in (b"mdat", b"moof")
        position = end
    if moov is None:
        raise NotAVideo(tr("The video is incomplete: its index is missing."))
    if not has_data:
        raise NotAVideo(tr("The video has no frames."))
    return _read_moov(moov, size)


def _box(file: BinaryIO, position: int, size: int) -> tuple[bytes, int, int]:
    """Return kind, first byte of the content and the end of the box at `position`."""
    file.seek(position)
    head = file.read(16)
    if len(head) < 8:
        raise NotAVideo(tr("The video is incomplete: the file ends in its index."))
    length, kind = struct.unpack(">I4s", head[:8])
    start = position + 8
    if length == 1 and len(head) == 16:
        length, start = struct.unpack(">Q", head[8:])[0], position + 16
    elif length == 0:
        length = size - position
    if length < start - position:
        raise NotAVideo(tr("The video is damaged: its index cannot be read."))
    return kind, start, position + length


def _read_moov(moov: bytes, size: int) -> VideoFacts:
    try:
        tracks = [track for kind, track in _inside(moov) if kind == b"trak"]
        header = next(content for kind, content in _inside(moov) if kind == b"mvhd")
        duration_s = _length(header)
        videos = [track for track in tracks if _find(track, b"mdia", b"hdlr")[8:12] == b"vide"]
        if not videos:
            raise NotAVideo(tr("The video has no frames."))
        fragmented = any(kind == b"mvex" for kind, _ in _inside(moov))
        samples = sum(_samples_inside(track, size) for track in tracks)
        if not samples and not fragmented:
            raise NotAVideo(tr("The video has no frames."))
        width, height = struct.unpack(">II", _find(videos[0], b"tkhd")[-8:])
    except (struct.error, StopIteration, LookupError, ValueError):
        raise NotAVideo(tr("The video is damaged: its index cannot be read.")) from None
    if duration_s <= 0 and not fragmented:
        raise NotAVideo(tr("The video has no duration."))
    return VideoFacts("mp4", size, duration_s, width >> 16, height >> 16)


def _inside(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = 0
    while position + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, position)
        if length < 8 or position + length > len(content):
            raise ValueError
        yield kind, content[position + 8 : position + length]
        position += length


def _find(content: bytes, *path: bytes) -> bytes:
    for name in path:
        content = next((inner for kind, inner in _inside(content) if kind == name), b"")
    if not content:
        raise ValueError
    return content


def _length(mvhd: bytes) -> float:
    scale, length = struct.unpack_from(">IQ", mvhd, 20) if mvhd[0] == 1 else struct.unpack_from(">II", mvhd, 12)
    return float(length) / scale if scale else 0.0


def _samples_inside(track: bytes, size: int) -> int:
    """Return how many samples a track has. Raises `NotAVideo` when one of them lies outside the file."""
    table = _find(track, b"mdia", b"minf", b"stbl")
    parts = dict(_inside(table))
    each: int
    count: int
    each, count = struct.unpack_from(">II", parts[b"stsz"], 4) if b"stsz" in parts else (0, 0)
    if not count:
        return 0
    sizes = () if each else struct.unpack_from(f">{count}I", parts[b"stsz"], 12)
    wide = b"co64" in parts
    offsets_box = parts.get(b"co64") or parts.get(b"stco") or b""
    (chunks,) = struct.unpack_from(">I", offsets_box, 4)
    offsets = struct.unpack_from(f">{chunks}{'Q' if wide else 'I'}", offsets_box, 8)
    if not chunks:
        raise ValueError
    last = max(range(chunks), key=offsets.__getitem__)
    begin, end = _chunk_samples(parts[b"stsc"], last, chunks)
    length = each * max(0, min(end, count) - begin) if each else sum(sizes[begin:end])
    if offsets[last] + length > size:
        raise NotAVideo(tr("The file ends before the last frame."))
    return count


def _chunk_samples(stsc: bytes, wanted: int, chunks: int) -> tuple[int, int]:
    """Return the first sample of chunk `wanted`, both from 0, and the one behind its last, by the table of runs."""
    (runs,) = struct.unpack_from(">I", stsc, 4)
    sample = 0
    for number in range(runs):
        first, per_chunk = struct.unpack_from(">II", stsc, 8 + 12 * number)
        end = struct.unpack_from(">I", stsc, 20 + 12 * number)[0] - 1 if number + 1 < runs else chunks
        if first - 1 <= wanted < end:
            begin = sample + (wanted - (first - 1)) * per_chunk
            return begin, begin + per_chunk
        sample += (end - (first - 1)) * per_chunk
    raise ValueError


# WebM


def _check_webm(file: BinaryIO, size: int) -> VideoFacts:
    head = file.read(min(size, 1024 * 1024))
    try:
        _, _, end = _element(head, 0)
        name, start, end = _element(head, end)
        if name != 0x18538067:
            raise ValueError
        if end is not None and end > size:
            raise NotAVideo(tr("The file ends {end} bytes early.", end=end - size))
        duration_s, width, height, has_cluster = _read_segment(head, start)
    except (ValueError, IndexError, struct.error, TypeError):
        raise NotAVideo(tr("The video is damaged: its index cannot be read.")) from None
    if not width or not has_cluster:
        raise NotAVideo(tr("The video has no frames."))
    return VideoFacts("webm", size, duration_s, width, height)


def _element(data: bytes, position: int) -> tuple[int, int, int]:
    """Return id, first byte of the content and its end of the element at `position`."""
    width = 9 - data[position].bit_length()
    name = int.from_bytes(data[position : position + width], "big")
    position += width
    width = 9 - data[position].bit_length()
    length = int.from_bytes(data[position : position + width], "big") & ((1 << 7 * width) - 1)
    start = position + width
    unknown = length == (1 << 7 * width) - 1
    return name, start, len(data) if unknown else start + length


def _read_segment(data: bytes, position: int) -> tuple[float, int, int, bool]:
    duration, scale, width, height = 0.0, 1_000_000, 0, 0
    while position < len(data) - 12:
        name, start, end = _element(data, position)
        if name in (0x1549A966, 0x1654AE6B, 0xAE, 0xE0):  # Info, Tracks, TrackEntry, Video: look inside
            position = start
            continue
        content = data[start:end]
        if name == 0x1F43B675:  # Cluster
            return duration * scale / 1e9, width, height, True
        if name == 0x4489:
            duration = struct.unpack(">f" if len(content) == 4 else ">d", content)[0]
        elif name == 0x2AD7B1:
            scale = int.from_bytes(content, "big")
        elif name == 0xB0:
            width = int.from_bytes(content, "big")
        elif name == 0xBA:
            height = int.from_bytes(content, "big")
        position = end
    return duration * scale / 1e9, width, height, False

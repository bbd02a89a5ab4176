"""What a sound file is by its data, and how long it lasts, without decoding it.

Headers are compared with the data: they may be absent, count another length, or be those of the first of several
files that were joined. Frames of MP3 and AAC, pages of Ogg and the last frame of FLAC are counted; everything that is
played, priced, split or sent takes its length and its links from here.
"""

from __future__ import annotations

import io
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.files import open_regular
from app.media_types import ID3_BYTES, id3_bytes

_UNKNOWN = (0, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000)  # sizes that programs write before they know one
_MP3_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_MP3_KBPS = {  # (is MPEG 1, layer) → by index
    (True, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
_DECODER_DELAY = 529  # samples that every MP3 decoder adds, which the tag of LAME counts on
_AAC_RATES = (96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350)
_FLAC_BLOCKS = {1: 192, **{2 + n: 576 << n for n in range(4)}, **{8 + n: 256 << n for n in range(8)}}
_OPUS_HZ = 48_000
_STREAM_STARTS_AT_S = 5  # an Ogg stream whose first page is later than this was cut out of a longer one

Memory = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Link:
    """A piece of a file that libsndfile decodes by itself: `prefix`, then the bytes from `begin` to `end`."""

    begin: int
    end: int
    prefix: bytes = b""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a file is. `seconds` is None where only decoding can tell; `links` follow one another."""

    kind: str = ""  # "wav", "mp3", "aac", "flac", "ogg" or "opus"; "" for anything else
    seconds: float | None = None
    links: tuple[Link, ...] = ()


def probe(path: Path) -> Probe:
    """Return what a file is by its data. Raises `OSError`."""
    with open_regular(path) as file:
        return probe_file(file)


def probe_file(file: BinaryIO) -> Probe:
    """Return what an open file is by its data; leaves it anywhere."""
    try:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _probe(data)
    except (ValueError, io.UnsupportedOperation):  # empty, or no file of a disk
        file.seek(0)
        return _probe(file.read())


def _probe(data: Memory) -> Probe:
    begin = after_tags(data, 0)
    mark = data[begin : begin + 4]
    if mark == b"RIFF":
        return _wav(data, begin)
    if mark == b"fLaC":
        return _flac(data, begin)
    if mark == b"OggS":
        return _ogg(data, begin)
    if mark[:1] == b"\xff":
        return _aac(data, begin) if len(mark) > 1 and mark[1] & 0xF6 == 0xF0 else _mp3(data, begin)
    return _mp3(data, begin) if data[:3] == b"ID3" else Probe()


def after_tags(data: Memory, at: int) -> int:
    """Return the place behind the ID3 tags that begin at `at`."""
    while data[at : at + 3] == b"ID3" and len(data) >= at + ID3_BYTES:
        at += id3_bytes(data[at : at + ID3_BYTES])
    return at


# WAV


def _wav(data: Memory, begin: int) -> Probe:
    """The chunk of samples is as long as it says, or as the file where it says nothing that can be."""
    at, form = begin + 12, b""
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        body = at + 8
        if name == b"data":
            end = len(data) if size in _UNKNOWN else min(len(data), body + size)
            # the sizes of a stream are written as they turned out
            prefix = data[begin:at] + b"data" + struct.pack("<I", min(end - body, 0xFFFF_FFFF))
            prefix = prefix[:4] + struct.pack("<I", min(len(prefix) - 8 + end - body, 0xFFFF_FFFF)) + prefix[8:]
            return Probe("wav", _wav_seconds(form, end - body), (Link(body, end, prefix),))
        if name == b"fmt ":
            form = data[body : body + min(size, 64)]
        at = body + size + size % 2
    return Probe("wav")


def _wav_seconds(form: bytes, size: int) -> float | None:
    """Return the length of samples of one size each; None for codecs that pack them."""
    if len(form) < 16:
        return None
    code, channels, rate_hz, _, frame, bits = struct.unpack("<HHIIHH", form[:16])
    if code == 0xFFFE and len(form) >= 26:
        code = int.from_bytes(form[24:26], "little")
    is_plain = code in (1, 3, 6, 7) and rate_hz and frame and frame == channels * ((bits + 7) // 8)
    return size // frame / rate_hz if is_plain else None


# MP3 and AAC


def _mp3_frame(data: Memory, at: int) -> tuple[int, int, int, int] | None:
    """Return a frame's length in bytes, its samples, its rate, and where an information frame has its mark."""
    head = data[at : at + 4]
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    version, layer = head[1] >> 3 & 3, 4 - (head[1] >> 1 & 3)
    rate_index, kbps_index = head[2] >> 2 & 3, head[2] >> 4
    if version == 1 or layer == 4 or rate_index == 3 or kbps_index in (0, 15):
        return None
    is_first = version == 3
    rate_hz = _MP3_RATES[version][rate_index]
    bits_per_s = _MP3_KBPS[is_first, layer][kbps_index] * 1000
    padding = head[2] >> 1 & 1
    samples = 384 if layer == 1 else 1152 if layer == 2 or is_first else 576
    length = (
        (12 * bits_per_s // rate_hz + padding) * 4 if layer == 1 else samples // 8 * bits_per_s // rate_hz + padding
    )
    is_mono = head[3] >> 6 == 3
    side = (17 if is_mono else 32) if is_first else (9 if is_mono else 17)
    return length, samples, rate_hz, at + 4 + side


def _aac_frame(data: Memory, at: int) -> tuple[int, int, int, int] | None:
    head = data[at : at + 7]
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xF6 != 0xF0 or head[2] >> 2 & 15 >= len(_AAC_RATES):
        return None
    length = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    return (length, 1024 * ((head[6] & 3) + 1), _AAC_RATES[head[2] >> 2 & 15], 0) if length >= 7 else None


def _aac(data: Memory, begin: int) -> Probe:
    at, seconds = begin, 0.0
    while (found := _aac_frame(data, at)) is not None:
        if at + found[0] > len(data):
            break
        seconds += found[1] / found[2]
        at = after_tags(data, at + found[0])
    return Probe("aac", seconds or None)


@dataclass(slots=True)
class _Stream:
    """Frames of MP3 that follow one another, at one rate and under one header."""

    begin: int
    sound_begin: int  # behind its header
    first: bytes  # the four bytes that the first frame begins with
    rate_hz: int
    stated: int | None = None  # frames that its header counts
    delay: int = -1  # samples at the beginning that are no sound; -1 where its header does not say
    padding: int = 0  # and at the end
    counted: int = 0
    samples: int = 0
    end: int = 0

    @property
    def is_counted(self) -> bool:
        """Whether its header counts the frames that follow."""
        return self.stated == self.counted

    @property
    def seconds(self) -> float:
        silent = self.delay + _DECODER_DELAY if self.delay >= 0 else 0
        if self.is_counted:
            silent += max(0, self.padding - _DECODER_DELAY)
        return max(0, self.samples - silent) / self.rate_hz


def _mp3(data: Memory, begin: int) -> Probe:
    streams: list[_Stream] = []
    at, is_broken = begin, True
    while at < len(data):
        found = _mp3_frame(data, at)
        if found is None or (at + found[0] < len(data) and not _follows(data, at + found[0], found[2], at)):
            at, is_broken = _next_mp3(data, at), True  # libsndfile ends at tags and at anything else
            continue
        length, samples, rate_hz, mark_at = found
        if at + length > len(data):
            break  # cut off: decoders leave it out
        mark = data[mark_at : mark_at + 4]
        is_header = mark in (b"Xing", b"Info") or data[at + 36 : at + 40] == b"VBRI"
        if is_header or is_broken or streams[-1].rate_hz != rate_hz:
            streams.append(_Stream(at, at, data[at : at + 4], rate_hz))
        stream, is_broken = streams[-1], False
        if is_header:
            stream.stated, stream.delay, stream.padding = _mp3_header(data, mark_at, mark)
            stream.sound_begin = at + length
        else:
            stream.counted += 1
            stream.samples += samples
        at += length
        stream.end = at
    streams = [each for each in streams if each.counted]
    seconds = sum(each.seconds for each in streams)
    return Probe("mp3", seconds or None, tuple(_mp3_link(each) for each in streams))


def _follows(data: Memory, at: int, rate_hz: int, before: int) -> bool:
    """Whether a frame or a tag begins where the one before ends: four bytes alone look like a frame by chance."""
    if data[at : at + 3] in (b"ID3", b"TAG") or data[at : at + 8] == b"APETAGEX":
        return True
    found = _mp3_frame(data, at)
    return found is not None or len(data) - at < 4 or before == 0


def _next_mp3(data: Memory, at: int) -> int:
    """Return where to go on after something that is no frame: behind a tag, else at the next sign of a frame."""
    if data[at : at + 3] == b"ID3":
        return max(at + 1, after_tags(data, at))
    if data[at : at + 3] == b"TAG":
        return at + 128
    if data[at : at + 8] == b"APETAGEX" and len(data) >= at + 16:
        size = int.from_bytes(data[at + 12 : at + 16], "little")
        has_header = at + 24 <= len(data) and data[at + 23] & 0x20
        return at + 32 + (size if has_header else 0)
    found = data.find(b"\xff", at + 1)
    return found if found >= 0 else len(data)


def _mp3_header(data: Memory, at: int, mark: bytes) -> tuple[int | None, int, int]:
    """Return how many frames an information frame counts, and how many samples at both ends are no sound."""
    if mark not in (b"Xing", b"Info"):
        return None, -1, 0
    flags = int.from_bytes(data[at + 4 : at + 8], "big")
    frames = int.from_bytes(data[at + 8 : at + 12], "big") if flags & 1 else None
    tag = at + 8 + 4 * (flags & 1) + 4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1)
    if data[tag : tag + 4] not in (b"LAME", b"Lavf", b"Lavc"):
        return frames, -1, 0
    delays = int.from_bytes(data[tag + 21 : tag + 24], "big")
    return frames, delays >> 12, delays & 0xFFF


def _mp3_link(stream: _Stream) -> Link:
    """The stream as it is where its header counts its frames; else behind a header that does.

    libsndfile reads no further than a header says, and guesses a length where there is none.
    """
    if stream.is_counted:
        return Link(stream.begin, stream.end)
    found = _mp3_frame(stream.first, 0)
    assert found is not None
    # Of a higher bit rate, so that the mark fits into it.
    head = bytearray(stream.first)
    head[1] |= 1  # without a checksum
    head[2] = head[2] & 0x0F | 0x90
    length, _, _, mark_at = _mp3_frame(bytes(head), 0) or found
    made = bytearray(length)
    made[:4] = head
    made[mark_at : mark_at + 12] = b"Xing" + struct.pack(">II", 1, stream.counted)
    if stream.delay >= 0:
        delays = (stream.delay << 12 | _DECODER_DELAY).to_bytes(3, "big")
        made[mark_at + 12 : mark_at + 36] = b"LAME".ljust(21, b"\0") + delays
    return Link(stream.sound_begin, stream.end, bytes(made))


# Ogg


def _pages(data: Memory, at: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield each page's place, end, flags, position and serial number; what is no page is passed over."""
    while (at := data.find(b"OggS", at)) >= 0 and at + 27 <= len(data):
        flags, position, serial = struct.unpack_from("<BqI", data, at + 5)
        segments = data[at + 26]
        end = at + 27 + segments + sum(data[at + 27 : at + 27 + segments])
        if end > len(data):
            return
        yield at, end, flags, position, serial
        at = end


@dataclass(slots=True)
class _Chain:
    begin: int
    serial: int | None = None  # of the first stream of sound
    kind: str = "ogg"
    rate_hz: int = 0
    skipped: int = 0
    first: int | None = None
    last: int = 0
    has_data: bool = False
    end: int = 0

    @property
    def seconds(self) -> float:
        if not self.rate_hz:
            return 0.0
        began = self.first if self.first is not None and self.first > _STREAM_STARTS_AT_S * self.rate_hz else 0
        return max(0, self.last - (began or self.skipped)) / self.rate_hz


def _ogg(data: Memory, begin: int) -> Probe:
    chains: list[_Chain] = []
    for at, end, flags, position, serial in _pages(data, begin):
        if flags & 2 and (not chains or chains[-1].has_data):
            chains.append(_Chain(at))
        if not chains:
            continue
        chain = chains[-1]
        chain.end = end
        if flags & 2:
            _begin_stream(chain, serial, data[at + 27 + data[at + 26] : end])
            continue
        chain.has_data = True
        if serial == chain.serial and position > 0:
            chain.first = position if chain.first is None else chain.first
            chain.last = max(chain.last, position)
    seconds = sum(chain.seconds for chain in chains)
    kind = chains[0].kind if chains else "ogg"
    return Probe(kind, seconds or None, tuple(Link(chain.begin, chain.end) for chain in chains))


def _begin_stream(chain: _Chain, serial: int, packet: bytes) -> None:
    if chain.serial is not None:
        return
    if packet.startswith(b"\x01vorbis") and len(packet) >= 16:
        chain.serial, chain.rate_hz = serial, int.from_bytes(packet[12:16], "little")
    elif packet.startswith(b"OpusHead") and len(packet) >= 12:
        chain.serial, chain.kind, chain.rate_hz = serial, "opus", _OPUS_HZ
        chain.skipped = int.from_bytes(packet[10:12], "little")
    elif packet.startswith(b"\x7fFLAC") and len(packet) >= 30:
        chain.serial, chain.rate_hz = serial, int.from_bytes(packet[27:30], "big") >> 4
    elif packet.startswith(b"Speex   ") and len(packet) >= 40:
        chain.serial, chain.rate_hz = serial, int.from_bytes(packet[36:40], "little")


# FLAC


def _flac(data: Memory, begin: int) -> Probe:
    """A FLAC has its number of samples in its header, which is compared with its last frame."""
    at, about_at = begin + 4, 0
    while at + 4 <= len(data):
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 4], "big")
        if not about_at and kind & 0x7F == 0 and size >= 34:
            about_at = at + 4
        at += 4 + size
        if kind & 0x80:
            break
    if not about_at or about_at + 18 > len(data):
        return Probe("flac")
    blocksize = int.from_bytes(data[about_at : about_at + 2], "big")
    packed = int.from_bytes(data[about_at + 10 : about_at + 18], "big")
    rate_hz, stated = packed >> 44, packed & 0xF_FFFF_FFFF
    counted, end = _flac_end(data, at, blocksize, stated)
    if not rate_hz or not counted:
        return Probe("flac", None, (Link(begin, len(data)),))
    if stated == counted:
        return Probe("flac", counted / rate_hz, (Link(begin, end),))
    prefix = bytearray(data[begin : about_at + 18])
    prefix[-8:] = ((packed & ~0xF_FFFF_FFFF) | counted).to_bytes(8, "big")
    return Probe("flac", counted / rate_hz, (Link(about_at + 18, end, bytes(prefix)),))


def _flac_end(data: Memory, first: int, blocksize: int, stated: int) -> tuple[int, int]:
    """Return the number of samples up to the end of the last whole frame, and that end; 0 samples for no frame."""
    end = len(data) - (128 if data[-128:-125] == b"TAG" else 0)
    at = end
    while (at := data.rfind(b"\xff", first, at)) >= 0:
        if data[at + 1 : at + 2] in (b"\xf8", b"\xf9") and (found := _flac_frame(data, at, blocksize)) is not None:
            number, size = found
            is_whole = number + size == stated or _crc16(data[at:end]) == 0
            return (number + size, len(data)) if is_whole else (number, at)
    return 0, len(data)


def _flac_frame(data: Memory, at: int, blocksize: int) -> tuple[int, int] | None:
    """Return a frame's first sample and how many it has; None where its checksum shows that none begins here."""
    head = data[at : at + 16]
    if len(head) < 6:
        return None
    size_code, rate_code, coded = head[2] >> 4, head[2] & 15, head[4]
    ones = 8 - (~coded & 0xFF).bit_length()  # of a number written as UTF-8 writes one: how many bytes it has
    if ones in (1, 8):
        return None
    number, following = coded & (0x7F >> ones), 5
    for byte in head[5 : 5 + max(0, ones - 1)]:
        if byte & 0xC0 != 0x80:
            return None
        number = number << 6 | byte & 0x3F
        following += 1
    size = _FLAC_BLOCKS.get(size_code, 0)
    if size_code in (6, 7):
        width = size_code - 5
        size = int.from_bytes(head[following : following + width], "big") + 1
        following += width
    following += {12: 1, 13: 2, 14: 2}.get(rate_code, 0)
    if not size or following >= len(head) or _crc8(head[:following]) != head[following]:
        return None
    return number if head[1] & 1 else number * blocksize, size


def _crc8(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
    return crc


def _crc16(data: bytes) -> int:
    crc = 0
    for byte in data:
        crc = (crc << 8 & 0xFFFF) ^ _CRC16[crc >> 8 ^ byte]
    return crc


def _crc16_of(byte: int) -> int:
    crc = byte << 8
    for _ in range(8):
        crc = (crc << 1 ^ 0x8005 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


_CRC16 = tuple(map(_crc16_of, range(256)))

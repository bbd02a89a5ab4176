"""The attachment meter: describes attached images, sounds, videos and files by what can be measured."""

from __future__ import annotations

import base64
import binascii
import struct

from app.sandbox.chat.chat_request import ChatRequest
from app.sandbox.http.errors import Json
from app.sandbox.http.validation import Checker

MIN_SIDE_PX = 64
MAX_IMAGES = 10
MAX_SOUNDS = 5
MAX_VIDEOS = 3
NOTHING_ATTACHED = (
    "Nothing is attached. I am the Sandbox’s attachment meter: attach an image, audio or a video, and I measure it."
)
SOUND_FORMATS = ("wav", "mp3", "aiff", "aac", "ogg", "flac", "m4a", "pcm16", "pcm24")


def check_parts(check: Checker, request: ChatRequest) -> None:
    """Complain about attachments that a model of this kind refuses."""
    for kind, most in (("image_url", MAX_IMAGES), ("input_audio", MAX_SOUNDS), ("video_url", MAX_VIDEOS)):
        if len(request.parts(kind)) > most:
            check.complain(("messages",), f"At most {most} {kind} parts are accepted")
    for part in request.parts("image_url"):
        found = _decoded(str(part["image_url"]["url"]))
        size = image_size(found) if found else None
        if size is not None and min(size[1:]) < MIN_SIDE_PX:
            check.complain(("messages",), f"Images must have at least {MIN_SIDE_PX} pixels per side")
    for part in request.parts("input_audio"):
        check.choice(("messages",), part["input_audio"].get("format", "wav"), SOUND_FORMATS)
        if _base64(str(part["input_audio"]["data"])) is None:
            check.complain(("messages",), "input_audio.data must be base64 without a data: prefix")


def describe(request: ChatRequest) -> str:
    """Return a Markdown list of what was attached to the conversation."""
    lines = [_picture(part["image_url"]["url"]) for part in request.parts("image_url")]
    lines += [_sound(part["input_audio"]) for part in request.parts("input_audio")]
    lines += [_other("Video", part["video_url"]["url"]) for part in request.parts("video_url")]
    lines += [
        _other(f"File “{part['file'].get('filename', '')}”", part["file"]["file_data"])
        for part in request.parts("file")
    ]
    if not lines:
        return NOTHING_ATTACHED
    closing = "I measure attachments; I do not see or hear what is in them."
    return "This is what is attached:\n\n" + "\n".join(f"- {line}" for line in lines) + f"\n\n{closing}"


def image_size(data: bytes) -> tuple[str, int, int] | None:
    """Return (format, width, height) in pixels of a PNG, GIF, JPEG or lossy WebP; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return ("PNG", *struct.unpack(">II", data[16:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return ("GIF", *struct.unpack("<HH", data[6:10]))
    if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8 " and len(data) >= 30:
        width, height = struct.unpack("<HH", data[26:30])
        return ("WebP", width & 0x3FFF, height & 0x3FFF)
    return _jpeg_size(data) if data[:2] == b"\xff\xd8" else None


def _jpeg_size(data: bytes) -> tuple[str, int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return ("JPEG", width, height)
        at += 2 + length
    return None


def _picture(url: str) -> str:
    data = _decoded(url)
    if data is None:
        return f"Image at {url[:80]}: not read, the Sandbox fetches nothing from other computers"
    found = image_size(data)
    if found is None:
        return f"Image, {_amount(data)}, in a format that I cannot measure"
    kind, width, height = found
    return f"Image, {kind}, {width} × {height} pixels, {_amount(data)}"


def _sound(audio: Json) -> str:
    data = _base64(str(audio["data"])) or b""
    kind = str(audio.get("format", "wav"))
    if kind == "wav":
        found = _wav_facts(data)
        if found is None:
            return f"Audio labeled WAV that is not WAV, {_amount(data)}"
        seconds, channels, rate = found
        return f"Audio, WAV, {seconds:.1f} s, {channels} channel(s), {rate} Hz, {_amount(data)}"
    return f"Audio, {kind}, {_amount(data)}"


def _wav_facts(data: bytes) -> tuple[float, int, int] | None:
    """Return seconds, channels and Hz of a WAV in any encoding: `wave` reads no floating point and no extensible form.

    A file that was streamed says 0 or more than there is as the length of its sound; what is there counts.
    """
    if data[:4] not in (b"RIFF", b"RF64") or data[8:12] != b"WAVE":
        return None
    at, form = 12, None
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt " and size >= 16:
            form = data[at + 8 : at + 24]
        elif name == b"data" and form is not None:
            _, channels, rate, bytes_a_second, _, _ = struct.unpack("<HHIIHH", form.ljust(16, b"\0"))
            left = len(data) - at - 8
            sounding = min(size, left) or left
            return (sounding / bytes_a_second, channels, rate) if channels and rate and bytes_a_second else None
        at += 8 + size + size % 2
    return None


def _other(what: str, url: str) -> str:
    data = _decoded(url)
    if data is None:
        return f"{what} at {url[:80]}: not read, the Sandbox fetches nothing from other computers"
    return f"{what}, {url.partition(';')[0].removeprefix('data:')}, {_amount(data)}"


def _decoded(url: str) -> bytes | None:
    """Return what a data URL holds; None for any other address."""
    head, comma, data = url.partition(",")
    return _base64(data) if comma and head.startswith("data:") and head.endswith(";base64") else None


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _amount(data: bytes) -> str:
    return f"{len(data):,} bytes" if len(data) < 10_000 else f"{len(data) / 1000:,.0f} kB"

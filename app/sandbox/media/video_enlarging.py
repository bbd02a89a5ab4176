"""Enlarges a video image by image with Lanczos resampling; its sound comes along as it is. No video model."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import av

from app.sandbox.media.video_engine import CODECS, MADE_BY

MAX_SIDE = 2560  # px of what comes out
MAX_SECONDS = 30.0
LANCZOS = "LANCZOS"


class NotAVideo(Exception):
    """The bytes cannot be shown; the message says why, for the person who sent them."""


@dataclass(frozen=True, slots=True)
class VideoFacts:
    seconds: float
    width: int
    height: int


def facts_of(data: bytes) -> VideoFacts:
    """Return length and size of a video; blocks. Raises `NotAVideo`."""
    try:
        with av.open(io.BytesIO(data), "r") as film:
            if not film.streams.video:
                raise NotAVideo("it has no pictures")
            video = film.streams.video[0]
            return VideoFacts(float(film.duration or 0) / av.time_base, video.width, video.height)
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise NotAVideo("it is no film, or broken") from error


def enlarge(data: bytes, factor: int) -> bytes:
    """Return an MP4 that is `factor` times as wide and high; blocks. Raises `NotAVideo`."""
    buffer = io.BytesIO()
    try:
        with av.open(io.BytesIO(data), "r") as old, av.open(buffer, "w", format="mp4") as new:
            _copy(old, new, factor)
    except (av.FFmpegError, ValueError) as error:
        raise NotAVideo("it cannot be read to its end") from error
    return buffer.getvalue()


def _copy(old: Any, new: Any, factor: int) -> None:
    new.metadata["comment"] = MADE_BY
    shown = old.streams.video[0]
    codec, options = next(one for one in CODECS if one[0] in av.codecs_available)
    video = new.add_stream(codec, rate=shown.average_rate or 24, options=options)
    video.width, video.height = shown.width * factor // 2 * 2, shown.height * factor // 2 * 2
    video.pix_fmt = "yuv420p"
    heard = next((one for one in old.streams.audio if one.codec_context.name == "aac"), None)
    audio = new.add_stream_from_template(heard) if heard is not None else None
    for packet in old.demux([one for one in (shown, heard) if one is not None]):
        if packet.stream is shown:
            for frame in packet.decode():
                larger = frame.reformat(video.width, video.height, "yuv420p", interpolation=LANCZOS)
                new.mux(video.encode(larger))
        elif audio is not None and packet.dts is not None:
            packet.stream = audio
            new.mux(packet)
    new.mux(video.encode(None))

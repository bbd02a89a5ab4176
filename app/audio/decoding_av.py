"""FFmpeg through PyAV: what libsndfile does not read, and compressed sound while it arrives.

A module of its own: PyAV may be missing.

PyAV is one of the Sandbox's engines, so it may be missing; nobody imports this file then.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from typing import Any

import av
import numpy as np

from app.audio.decoding import Block, NotSound
from app.translation import tr

# Little is read ahead, so that the first sound is given out as early as can be.
_EARLY = {"probesize": "4096", "analyzeduration": "0"}
_READ_BYTES = 1024
_CONTAINERS = {"opus": "ogg", "ogg": "ogg", "mp3": "mp3", "flac": "flac", "aac": "aac"}


def container_of(kind: str) -> str | None:
    """Return FFmpeg's name of a container that can be read without going back in it."""
    return _CONTAINERS.get(kind)


def decode(source: Any, container: str | None) -> Iterator[Block]:
    """Give the first sound stream of an object with `read`, mixed to one channel. Raises `NotSound`."""
    given = 0
    options = _EARLY if container is not None else {}
    size = _READ_BYTES if container is not None else 32768
    try:
        with av.open(source, "r", format=container, buffer_size=size, options=options) as opened:
            if not opened.streams.audio:
                raise NotSound(tr("This file has no audio."))
            stream = opened.streams.audio[0]
            for block in _mixed(_frames(opened, stream)):
                given += len(block.samples)
                yield block
    except (av.FFmpegError, ValueError) as error:
        if not given:
            raise NotSound(tr("This file has no audio that Rialto can play.")) from error


def _frames(opened: Any, stream: Any) -> Iterator[Any]:
    """Decode packet by packet: a damaged one costs itself, not the rest."""
    for packet in opened.demux(stream):
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            continue


def _mixed(frames: Iterator[Any]) -> Iterator[Block]:
    resampler = av.AudioResampler(format="s16", layout="mono")
    for frame in itertools.chain(frames, (None,)):
        for one in resampler.resample(frame):
            yield Block(one.to_ndarray()[0].astype(np.int16), int(one.sample_rate))


def is_unframed_aac(header: bytes) -> bool:
    """Whether a WAV header announces AAC without anything that says where a frame ends."""
    at = header.find(b"fmt ")
    return at >= 0 and header[at + 8 : at + 10] == b"\xff\x00"


def decode_unframed_aac(data: bytes, begin: int) -> Iterator[Block]:
    """Give the AAC of a whole WAV whose samples begin at `begin`. Raises `NotSound`.

    FFmpeg cuts it into pieces that are no frames; as one packet, the decoder finds the next frame itself.
    """
    at = data.find(b"fmt ")
    channels, rate_hz = struct.unpack_from("<HI", data, at + 10)
    extra = int.from_bytes(data[at + 24 : at + 26], "little")
    decoder = av.CodecContext.create("aac", "r")
    decoder.extradata = data[at + 26 : at + 26 + extra]
    decoder.sample_rate = rate_hz
    decoder.layout = "mono" if channels == 1 else "stereo"
    try:
        frames = [*decoder.decode(av.Packet(data[begin:])), *decoder.decode(None)]
    except (av.FFmpegError, ValueError) as error:
        raise NotSound(tr("This file has no audio that Rialto can play.")) from error
    yield from _mixed(iter(frames))

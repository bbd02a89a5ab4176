"""FFmpeg through PyAV: what libsndfile does not read, and compressed sound while it arrives.

A module of its own: PyAV may be missing.

PyAV is one of the Sandbox's engines, so it may be missing; nobody imports this file then.
"""

from __future__ import annotations

import itertools
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
            resampler = av.AudioResampler(format="s16", layout="mono")
            for frame in itertools.chain(opened.decode(stream), (None,)):
                for one in resampler.resample(frame):
                    samples = one.to_ndarray()[0].astype(np.int16)
                    given += len(samples)
                    yield Block(samples, int(one.sample_rate))
    except (av.FFmpegError, ValueError) as error:
        if not given:
            raise NotSound(tr("This file has no audio that Rialto can play.")) from error

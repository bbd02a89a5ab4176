"""AAC and M4A through PyAV, which may be missing. A module of its own: nobody imports it then."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np

from app.audio.encoding import CannotWrite, id3
from app.translation import tr

if TYPE_CHECKING:
    from app.audio.encoding import AudioTags

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

FRAME = 1024  # samples of an AAC frame


def encode(target: Path, kind: str, blocks: Iterable[Samples], rate_hz: int, tags: AudioTags) -> None:
    """Write one channel. Raises `CannotWrite`."""
    try:
        with target.open("wb") as file:
            if kind == "aac":
                file.write(id3(tags))
            with av.open(file, "w", format="adts" if kind == "aac" else "ipod") as container:
                if kind != "aac":
                    container.metadata.update({"title": tags.title, "artist": tags.artist, "comment": tags.comment})
                stream = container.add_stream("aac", rate=rate_hz, layout="mono")
                at = 0
                for samples in _frames(blocks):
                    frame = av.AudioFrame.from_ndarray(samples[np.newaxis, :], format="s16", layout="mono")
                    frame.sample_rate, frame.pts = rate_hz, at
                    at += len(samples)
                    container.mux(stream.encode(frame))
                container.mux(stream.encode(None))
    except (av.FFmpegError, ValueError) as error:
        raise CannotWrite(
            tr("The audio could not be saved as {kind}: {error}", kind=kind.upper(), error=error)
        ) from error


def _frames(blocks: Iterable[Samples]) -> Iterable[Samples]:
    held = np.zeros(0, np.int16)
    for block in blocks:
        held = np.concatenate((held, block))
        whole = len(held) - len(held) % FRAME
        for at in range(0, whole, FRAME):
            yield held[at : at + FRAME]
        held = held[whole:]
    if len(held):
        yield held

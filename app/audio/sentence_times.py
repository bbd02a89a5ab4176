"""When each sentence is heard. The service does not say, so it is worked out from lengths and pauses.

A sentence lasts about as long as its share of the letters; its end is moved to the nearest pause in the sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.audio.waveform import PER_SECOND

if TYPE_CHECKING:
    from app.audio.waveform import Pairs

CHARS_PER_S = 14.5  # at normal speed; only until the sound is there
QUIET = 5  # of 127: below it nothing is said
SHORTEST_PAUSE_S = 0.08
REACH_S = 1.2  # how far from where it should be a pause is looked for, at most
REACH_SHARE = 0.4  # of the sentence's own length


def sentence_starts(
    lengths: Sequence[int], pairs: Pairs, begin_s: float, end_s: float | None, *, speed: float = 1.0
) -> list[float]:
    """Return when each sentence of a part begins, in seconds of the clip.

    `lengths` are their characters; `end_s` is where the part ends, None while it still arrives.
    """
    if not lengths:
        return []
    total = sum(lengths) or 1
    whole = (end_s - begin_s) if end_s is not None else total / (CHARS_PER_S * speed)
    pauses = _pauses(pairs, begin_s, end_s)
    starts = [begin_s]
    left_chars, left_s = float(total), max(whole, 0.01)
    for length in lengths[:-1]:
        share = left_s * length / left_chars
        expected = starts[-1] + share
        reach = min(REACH_S, max(0.3, share * REACH_SHARE))
        near = [pause for pause in pauses if abs(pause[0] - expected) <= reach and pause[0] > starts[-1] + 0.1]
        found = min(near, key=lambda pause: abs(pause[0] - expected) - pause[1], default=None)
        at = found[0] if found is not None else expected
        left_s = max(0.01, left_s - (at - starts[-1]))
        left_chars = max(1.0, left_chars - length)
        starts.append(at)
    return starts


def _pauses(pairs: Pairs, begin_s: float, end_s: float | None) -> list[tuple[float, float]]:
    """Return (where the next sound begins, how long the pause was) in seconds."""
    import numpy as np

    first = int(begin_s * PER_SECOND)
    last = len(pairs) if end_s is None else min(len(pairs), int(end_s * PER_SECOND))
    part = pairs[first:last]
    if not len(part):
        return []
    loud = np.maximum(part[:, 1].astype(np.int16), -part[:, 0].astype(np.int16)) > QUIET
    edges = np.flatnonzero(np.diff(np.concatenate(([True], loud, [True])).astype(np.int8)))
    found = []
    for start, stop in zip(edges[::2], edges[1::2], strict=False):
        length = (stop - start) / PER_SECOND
        if length >= SHORTEST_PAUSE_S and stop < len(part):
            found.append(((first + int(stop)) / PER_SECOND, float(length)))
    return found

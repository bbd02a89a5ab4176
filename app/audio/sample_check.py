"""Checks a voice sample for cloning: duration, level, clipping, and how much of it is speech."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from app.audio.decoding import NotSound, blocks_of
from app.formats import format_number
from app.translation import tr

BEST_S = (5.0, 30.0)
LONGEST_S = 300.0
TOO_QUIET_DB = -38.0
CLIPPED_SHARE = 0.001
SPEECH_SHARE = 0.4
FRAME_S = 0.02


@dataclass(frozen=True, slots=True)
class SampleReport:
    """What was found. `problem` is a sentence why it cannot be used, `advice` one that makes the next one better."""

    seconds: float = 0.0
    level_db: float = -90.0
    problem: str = ""
    advice: str = ""

    @property
    def can_be_used(self) -> bool:
        return not self.problem


def check_sample(path: Path, shortest_s: float = BEST_S[0]) -> SampleReport:
    """Measure a sample. Call it in a thread; it stops reading after five minutes."""
    import numpy as np

    frames = clipped = loud_windows = windows = 0
    squares = 0.0
    rate_hz = 1
    try:
        for block in blocks_of(path):
            rate_hz = block.rate_hz
            samples = block.samples.astype(np.float64) / 32768
            frames += len(samples)
            squares += float(np.square(samples).sum())
            clipped += int((np.abs(samples) > 0.99).sum())
            size = max(1, int(rate_hz * FRAME_S))
            whole = len(samples) // size
            if whole:
                levels = np.sqrt(np.square(samples[: whole * size].reshape(whole, size)).mean(axis=1))
                loud_windows += int((levels > 0.008).sum())
                windows += whole
            if frames / rate_hz > LONGEST_S:
                break
    except NotSound as error:
        return SampleReport(problem=error.sentence)
    seconds = frames / rate_hz
    level_db = 10 * math.log10(squares / frames) if frames and squares else -90.0
    share = loud_windows / windows if windows else 0.0
    return SampleReport(seconds, level_db, *_judged(seconds, level_db, share, clipped / max(1, frames), shortest_s))


def _judged(seconds: float, level_db: float, share: float, clipped: float, shortest_s: float) -> tuple[str, str]:
    """Return the problem and the advice, "" for none."""
    if seconds < shortest_s:
        return tr(
            "The sample is {seconds} s long. It needs at least {shortest_s} s.",
            seconds=format_number(seconds, 1),
            shortest_s=f"{shortest_s:g}",
        ), ""
    if share < 0.02 or level_db < -60:
        return tr("The sample contains no voice."), ""
    if level_db < TOO_QUIET_DB:
        return "", tr("The voice is quiet. Move closer to the microphone for a better likeness.")
    if clipped > CLIPPED_SHARE:
        return "", tr("The sample is too loud in places and distorted. Move a little farther from the microphone.")
    if share < SPEECH_SHARE:
        return "", tr("Much of the sample is silence. Speak throughout for a better likeness.")
    if seconds > BEST_S[1]:
        return "", tr("A sample longer than {best_s} s does not improve the voice.", best_s=f"{BEST_S[1]:g}")
    return "", ""

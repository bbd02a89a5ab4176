"""How loud a recording is, and when that is worth saying: silence, and sound that is cut off at full scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

FLOOR_DB = -90.0  # what is shown for nothing at all
FULL_SCALE = 32768.0
SILENT_DB = -55.0
SILENT_AFTER_S = 4.0
CLIPPED_AT = 32_700  # of 32,767; some drivers stop a little below the end
CLIPPED_FOR_S = 3.0  # how long it is said after the last time
CLIPPED_SAMPLES = 4  # one full-scale sample can be chance
PEAK_HOLD_S = 2.0


@dataclass(frozen=True, slots=True)
class Level:
    """One block: root mean square and peak in dB below full scale, never under `FLOOR_DB`; how many samples clipped."""

    rms_db: float
    peak_db: float
    clipped: int
    is_zero: bool  # not one sample differs from nothing: muted, rather than quiet


def decibels(amplitude: float) -> float:
    """Return dB of full scale (1.0) for an amplitude."""
    return max(FLOOR_DB, 20 * math.log10(amplitude)) if amplitude > 0 else FLOOR_DB


def level_of(samples: Samples) -> Level:
    """Measure 16-bit samples."""
    import numpy as np

    if not len(samples):
        return Level(FLOOR_DB, FLOOR_DB, 0, True)
    wide = samples.astype(np.float32)
    peak = float(np.max(np.abs(wide)))
    rms = float(np.sqrt(np.mean(wide * wide)))
    clipped = int(np.count_nonzero(np.abs(wide) >= CLIPPED_AT)) if peak >= CLIPPED_AT else 0
    return Level(decibels(rms / FULL_SCALE), decibels(peak / FULL_SCALE), clipped, peak == 0)


class LevelWatch:
    """Follows a recording block by block; `warning` is "", "silent", "muted" or "clipping"."""

    def __init__(self) -> None:
        self.level = Level(FLOOR_DB, FLOOR_DB, 0, True)
        self.held_peak_db = FLOOR_DB
        self.warning = ""
        self._quiet_s = 0.0
        self._zero_s = 0.0
        self._since_take_s = CLIPPED_FOR_S
        self._since_peak_s = 0.0

    def observe(self, level: Level, seconds: float) -> None:
        """Take the next block, which lasted `seconds`."""
        self.level = level
        self._since_peak_s += seconds
        if level.peak_db >= self.held_peak_db or self._since_peak_s > PEAK_HOLD_S:
            self.held_peak_db, self._since_peak_s = level.peak_db, 0.0
        self._quiet_s = self._quiet_s + seconds if level.peak_db < SILENT_DB else 0.0
        self._zero_s = self._zero_s + seconds if level.is_zero else 0.0
        self._since_take_s = 0.0 if level.clipped >= CLIPPED_SAMPLES else self._since_take_s + seconds
        if self._since_take_s < CLIPPED_FOR_S:
            self.warning = "clipping"
        elif self._zero_s >= SILENT_AFTER_S:
            self.warning = "muted"
        elif self._quiet_s >= SILENT_AFTER_S:
            self.warning = "silent"
        else:
            self.warning = ""

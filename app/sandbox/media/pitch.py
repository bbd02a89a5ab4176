"""How high a voice is: the median of the repetition rates of its loud moments.

A module of its own: numpy is loaded by the first cloned voice.
"""

from __future__ import annotations

import numpy as np

from app.sandbox.media.sound import Sound, resample

RATE_HZ = 8000
WINDOW = 400  # 50 ms
LOWEST_HZ, HIGHEST_HZ = 60, 400
MIN_LEVEL = 200.0  # of 32768; quieter moments are pauses
MIN_LIKENESS = 0.5  # between a window and itself one period later
MAX_SECONDS = 30


def pitch_of(sound: Sound) -> float:
    """Return Hz, or 0 when nothing in the sound repeats itself as a voice does."""
    start = sound.samples[: MAX_SECONDS * sound.rate_hz]
    wave = resample(start, sound.rate_hz, RATE_HZ).astype(np.float64)
    found: list[float] = []
    for at in range(0, len(wave) - WINDOW, WINDOW):
        window = wave[at : at + WINDOW] - wave[at : at + WINDOW].mean()
        if np.sqrt(np.mean(window**2)) < MIN_LEVEL:
            continue
        likeness = np.correlate(window, window, "full")[WINDOW - 1 :]
        low, high = RATE_HZ // HIGHEST_HZ, RATE_HZ // LOWEST_HZ
        lag = low + int(np.argmax(likeness[low:high]))
        if likeness[lag] > MIN_LIKENESS * likeness[0]:
            found.append(RATE_HZ / lag)
    return float(np.median(found)) if found else 0.0

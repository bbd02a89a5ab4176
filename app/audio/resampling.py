"""Another sample rate, block by block, so that hours of sound need no memory. Windowed sinc, in numpy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Signal = np.ndarray[tuple[int], np.dtype[np.float32]]

ZERO_CROSSINGS = 16
ROLL_OFF = 0.95  # of the lower of both Nyquist frequencies


class Resampler:
    """Feed it mono blocks of any length at `from_hz`; each call returns what is ready at `to_hz`. End with `flush`."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        import numpy as np

        common = math.gcd(from_hz, to_hz)
        self._up, self._down = to_hz // common, from_hz // common
        self.is_needed = from_hz != to_hz
        cutoff = ROLL_OFF * min(1.0, self._up / self._down)
        self._half = math.ceil(ZERO_CROSSINGS / cutoff)
        taps = np.arange(-self._half + 1, self._half + 1, dtype=np.float64)
        # one row of taps for each of the `up` places that an output sample can have between two input samples
        shift = np.arange(self._up, dtype=np.float64)[:, None] / self._up
        distance = taps[None, :] - shift
        window = np.cos(np.pi * np.clip(distance / self._half, -1, 1) / 2) ** 2
        bank = cutoff * np.sinc(cutoff * distance) * window
        self._bank = (bank / bank.sum(axis=1, keepdims=True)).astype(np.float32)
        self._kept = np.zeros(self._half - 1, dtype=np.float32)  # input not used up yet; begins with silence
        self._place = 0  # of the next output, in 1/up of input samples, counted from the first kept sample's window

    def feed(self, samples: Signal) -> Signal:
        """Return the output that the input so far allows."""
        import numpy as np

        if not self.is_needed:
            return samples
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        width = 2 * self._half
        room = (len(self._kept) - width) * self._up
        if room < self._place:
            return np.zeros(0, dtype=np.float32)
        places = np.arange(self._place, room + 1, self._down, dtype=np.int64)
        starts, phases = places // self._up, places % self._up
        windows = np.lib.stride_tricks.sliding_window_view(self._kept, width)[starts]
        out = np.einsum("ij,ij->i", windows, self._bank[phases])
        following = int(places[-1]) + self._down
        used = min(following // self._up, len(self._kept))
        self._kept = self._kept[used:]
        self._place = following - used * self._up
        return np.asarray(out, dtype=np.float32)

    def flush(self) -> Signal:
        """Return what the end of the input still gives."""
        import numpy as np

        return self.feed(np.zeros(self._half, dtype=np.float32)) if self.is_needed else np.zeros(0, dtype=np.float32)

"""Where nobody speaks: the loudness of a file in steps of 20 ms, and the best places to cut it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    Levels = np.ndarray[tuple[int], np.dtype[np.float32]]

STEP_S = 0.02
PAUSE_S = 0.3  # the silence that a cut should lie in
COMFORTABLE_SHARE = 0.85  # of the longest part that parts are planned with, so that there is room to look for a pause
SEARCHED_SHARE = 0.4  # of the longest part: how far before its end a pause is looked for


class LevelCounter:
    """Takes one channel of samples (-1 to 1) as they come and gives their loudness. Two hours are 1.4 MB."""

    def __init__(self, rate_hz: int) -> None:
        self._step = max(1, int(rate_hz * STEP_S))
        self._pieces: list[Levels] = []
        self._rest: Levels | None = None

    def add(self, samples: Levels) -> None:
        import numpy as np

        if self._rest is not None:
            samples = np.concatenate((self._rest, samples))
        whole = len(samples) // self._step * self._step
        self._rest = samples[whole:]
        self._pieces.append(np.sqrt(np.mean(samples[:whole].reshape(-1, self._step) ** 2, axis=1)))

    def levels(self) -> Levels:
        """Return the root mean square (0 to 1) of every 20 ms so far."""
        import numpy as np

        last = [] if self._rest is None or not len(self._rest) else [np.sqrt(np.mean(self._rest**2, keepdims=True))]
        return np.concatenate([*self._pieces, *last, np.zeros(0)]).astype(np.float32)


def cuts(levels: Levels, longest_s: float) -> list[float]:
    """Return the times, in seconds, at which to cut so that no part is longer than `longest_s`.

    Each cut is the middle of the quietest third of a second in the last part of what is allowed; two parts of nearly
    the same length are better than a long and a tiny one, so the parts are made about equal first.
    """
    import numpy as np

    total = len(levels) * STEP_S
    width = max(1, round(PAUSE_S / STEP_S))
    power = np.concatenate(([0.0], np.cumsum(levels.astype(np.float64) ** 2)))
    found: list[float] = []
    begin = 0.0
    while total - begin > longest_s:
        left = max(2, int(np.ceil((total - begin) / (longest_s * COMFORTABLE_SHARE) - 1e-9)))
        aim = begin + (total - begin) / left
        latest = begin + longest_s
        reach = longest_s * SEARCHED_SHARE / 2
        low = max(begin + longest_s * 0.25, aim - reach)
        high = min(latest, aim + reach)
        # what is left after the cut must still fit into the parts that remain
        low = max(low, total - (left - 1) * longest_s)
        first = int(np.ceil(low / STEP_S))
        last = max(first + 1, int(high / STEP_S) - width)
        first, last = min(first, len(levels) - width - 1), min(last, len(levels) - width)
        quiet = power[first + width : last + width] - power[first:last]
        place = first + int(np.argmin(quiet)) if len(quiet) else first
        cut = min((place + width / 2) * STEP_S, latest)
        found.append(round(cut, 3))
        begin = cut
    return found

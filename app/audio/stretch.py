"""Faster and slower without another pitch: short overlapping pieces are laid closer together or further apart.

WSOLA (Verhelst and Roelands, 1993): each piece begins where it best continues the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from app.audio.spool import Spool

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]
    Floats = np.ndarray[tuple[int], np.dtype[np.float32]]

HOP_S = 0.012
SEARCH_S = 0.006


class Stretcher:
    """Reads a spool from frame `at` at `speed` (0.25 to 4). Speed 1 passes the samples through untouched."""

    def __init__(self, spool: Spool, at: int, speed: float) -> None:
        self._spool = spool
        self._hop = max(16, int(spool.rate_hz * HOP_S))
        self._search = max(8, int(spool.rate_hz * SEARCH_S))
        self.speed = speed
        self._at = float(at)
        self._natural = -1  # where the piece before would go on; -1 for none
        self._tail: Floats | None = None

    @property
    def at(self) -> int:
        """The frame that comes next."""
        return int(self._at)

    def next(self, count: int) -> Samples:
        """Return about `count` frames of output (whole hops); fewer when the spool has no more for now, none at all
        when less than a hop is left."""
        import numpy as np

        if self.speed == 1.0 and self._tail is None:
            samples = self._spool.read(self.at, count)
            self._at += len(samples)
            return samples
        pieces = []
        while count > 0:
            piece = self._step()
            if piece is None:
                break
            pieces.append(piece)
            count -= len(piece)
        if not pieces:
            return np.zeros(0, np.int16)
        return np.clip(np.concatenate(pieces), -32768, 32767).astype(np.int16)

    def rest(self) -> Samples:
        """Return what is left when no more will come."""
        samples = self._spool.read(self.at, self._spool.frames)
        self._at += len(samples)
        return samples

    def _step(self) -> Floats | None:
        import numpy as np

        hop, search = self._hop, self._search
        low = max(0, self.at - search)
        window = self._spool.read(low, 2 * hop + 2 * search).astype(np.float32)
        if len(window) < 2 * hop + 2 * search:
            return None
        best = self.at - low
        if self._natural >= 0:
            wanted = self._spool.read(self._natural, hop).astype(np.float32)
            if len(wanted) == hop:
                room = window[: 2 * search + hop]
                likeness = np.correlate(room, wanted, "valid")
                energy = np.convolve(room * room, np.ones(hop, np.float32), "valid") + 1.0
                best = int(np.argmax(likeness / np.sqrt(energy)))
        piece = window[best : best + 2 * hop]
        rise = np.linspace(0.0, 1.0, hop, endpoint=False, dtype=np.float32)
        head: Floats = piece[:hop] if self._tail is None else piece[:hop] * rise + self._tail * (1.0 - rise)
        self._tail = piece[hop:]
        self._natural = low + best + hop
        self._at += hop * self.speed
        return head

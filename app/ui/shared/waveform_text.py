"""How places in a sound are written."""

from __future__ import annotations


def clock(seconds: float) -> str:
    """Return a length or place as people write it: "0:06", "4:47", "1:02:09"."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

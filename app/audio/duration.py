"""Duration of a sound file: counted from its data where its format can be counted, else by decoding it."""

from __future__ import annotations

from pathlib import Path

from app.audio.decoding import NotSound, duration_s
from app.audio.probe import probe


def length_of(path: Path, kind: str) -> float | None:
    """Return the seconds of a sound file; None when nothing here can tell. For a worker thread."""
    try:
        counted = probe(path).seconds
        return counted if counted is not None else duration_s(path, kind=kind) or None
    except (NotSound, OSError):
        return None

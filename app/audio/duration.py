"""Duration of a sound file, from its header where it has one, without decoding it."""

from __future__ import annotations

from pathlib import Path

from app.audio.decoding import NotSound, duration_s
from app.audio.formats import can_decode


def length_of(path: Path, kind: str) -> float | None:
    """Return the seconds of a sound file, from its header where it has one, else by decoding it.

    None when nothing here can tell. For a worker thread.
    """
    import soundfile

    try:
        info = soundfile.info(str(path))
        if info.frames > 0 and info.samplerate > 0:
            return float(info.frames / info.samplerate)
    except (RuntimeError, OSError, TypeError):  # soundfile's own errors are RuntimeErrors
        pass
    if not can_decode(kind):
        return None

    try:
        return duration_s(path, kind=kind) or None
    except (NotSound, OSError):
        return None

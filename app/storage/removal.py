"""Removes everything that Rialto wrote and nothing else: with RIALTO_HOME its folders may hold other files."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from app.storage.paths import Paths

# Patterns of names, folder by folder. Whoever writes something new below one of these folders adds it here; the journey
# that removes everything finds what was forgotten.
_DATA = (
    *(
        "rialto.db*",
        "rialto-damaged-*",
        "rialto.lock",
        "open-payments.json*",
        "secrets.vault*",
        "backups",
        "attachments",
        "videos",
        "recordings",
        "speech",
    ),
    *("voices", "voice-samples", "images", "documents", "answers", "collections", "interfaces", "sandbox", "updates"),
)
_CONFIG = ("settings.json*", "accounts.json*")
_LOGS = ("rialto.jsonl*", "crashes")
_CACHE = ("characters", "pictures", "speech", "voices", "uploads", "peaks", "*.peaks", "microphone-test.wav")


def remove_all(paths: Paths) -> tuple[Path, ...]:
    """Delete it; return what could not be deleted. The database must be closed and the folder's lock given back."""
    for path in _ours(paths):
        _remove(path)
    left = tuple(_ours(paths))
    for folder in (paths.crashes, paths.logs, paths.cache, paths.config, paths.data, paths.data.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()  # only where nothing of anybody's is in it
    return left


def _ours(paths: Paths) -> list[Path]:
    found = [
        path
        for folder, patterns in (
            (paths.data, _DATA),
            (paths.config, _CONFIG),
            (paths.logs, _LOGS),
            (paths.cache, _CACHE),
        )
        for pattern in patterns
        for path in folder.glob(pattern)
    ]
    return list(dict.fromkeys(found))  # on some systems two of them are one folder


def _remove(path: Path) -> None:
    """A link goes, what it points to stays."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()

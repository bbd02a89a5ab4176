"""How much of the disk Rialto's data takes, kind by kind, and where: `rialto --uninstall-info` prints that.

Reads folders: not on the UI thread.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.formats import format_number
from app.storage.paths import Paths
from app.translation import tr

MB = 1_000_000
Kind = Literal["videos", "recordings", "speech", "images", "documents", "chats", "backups", "cache"]

# What lies where in the data folder; whatever else is in there counts as part of the chats and their receipts.
_FOLDERS: dict[Kind, tuple[str, ...]] = {
    "videos": ("videos",),
    "recordings": ("recordings",),
    "speech": ("speech", "voices", "voice-samples"),
    "images": ("images",),
    "documents": ("documents",),
}


@dataclass(frozen=True, slots=True)
class Share:
    """One kind of data. `folder` is where a person finds it; it may not be there yet."""

    kind: Kind
    folder: Path
    size_bytes: int


def shares(paths: Paths) -> tuple[Share, ...]:
    """Return every kind with its size, the same kinds in the same order always."""
    media = {kind: sum(_size(paths.data / name) for name in names) for kind, names in _FOLDERS.items()}
    backups = _size(paths.backups)
    chats = _size(paths.data) + _size(paths.logs) - sum(media.values()) - backups
    return (
        *(Share(kind, paths.data / names[0], media[kind]) for kind, names in _FOLDERS.items()),
        Share("chats", paths.data, max(0, chats)),
        Share("backups", paths.backups, backups),
        Share("cache", paths.cache, _size(paths.cache)),
    )


def written_folders(paths: Paths) -> tuple[tuple[Path, str], ...]:
    """Every folder that Rialto writes to, with what is in it; one that lies in another is not named twice."""
    every = (
        (paths.data, tr("chats, receipts, recordings, clips, images, videos")),
        (paths.config, tr("settings and accounts, without keys")),
        (paths.logs, tr("logs and crash reports, without what you wrote")),
        (paths.cache, tr("images and lists that can be downloaded again")),
    )
    places = [path for path, _ in every]
    return tuple(
        (path, what)
        for index, (path, what) in enumerate(every)
        if path not in places[:index] and not any(other in path.parents for other in places)
    )


def uninstall_info(paths: Paths) -> str:
    """Say where everything is and how much room it takes; blocks while it is measured."""
    lines = [tr("Removing Rialto leaves your files in place:"), ""]
    for path, what in written_folders(paths):
        size = f"{format_number(_size(path) / MB, 1)} MB" if path.is_dir() else tr("not found")
        lines.append(f"  {path}\n      {size}: {what}")
    lines += [
        "",
        tr("Account keys are in your system keyring under the name “Rialto”, or in the file secrets.vault in"),
        tr("the first folder. Removing an account in Settings removes its key."),
        "",
        tr("To delete everything, remove your accounts in Rialto, quit Rialto, then delete these folders."),
    ]
    return "\n".join(lines)


def _size(folder: Path | str) -> int:
    """Return the bytes of the files below a folder; links count nothing. One entry is held at a time."""
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # gone between listing and looking
                if entry.is_dir(follow_symlinks=False):
                    total += _size(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    total += entry.stat(follow_symlinks=False).st_size
    return total

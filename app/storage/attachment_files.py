"""The bytes of attachments: one file for each content, named by its SHA-256, so that nothing is kept twice.

Which message or draft uses which file is in the database. Files that nothing names any more are removed by `sweep`.
Every call here reads or writes a file: not on the UI thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable
from pathlib import Path

from app.storage.atomic_files import make_folder, read_or_none, write_atomically
from app.storage.database import Database
from app.storage.errors import NotStored
from app.translation import tr

FOLDER = "attachments"
YOUNG_S = 24 * 3600.0  # a file younger than this may belong to a draft that is being saved right now
_NAME = re.compile(r"[0-9a-f]{64}")


class AttachmentFiles:
    """`folder` is made with the first file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Return where the content with that hash is. Raises `NotStored` for what is no hash: a file may lie."""
        if not _NAME.fullmatch(sha256):
            raise NotStored(tr("This attachment is not on this computer."))
        return self.folder / sha256

    def keep(self, data: bytes) -> str:
        """Put `data` on the disk and return its hash. Raises `StorageUnavailable`."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.path(sha256)
        try:
            os.utime(path)  # one that nothing names any more is young again
        except OSError:
            make_folder(self.folder)
            write_atomically(path, data)
        return sha256

    def read(self, sha256: str) -> bytes:
        """Return the bytes. Raises `NotStored` when they are not there (any more)."""
        data = read_or_none(self.path(sha256))
        if data is None:
            raise NotStored(tr("An attachment in this chat is no longer on this computer."))
        return data

    def sweep(self, used: Iterable[str], young_s: float = YOUNG_S) -> int:
        """Remove files that are not in `used` and not young; return how many went."""
        if not self.folder.is_dir():
            return 0
        kept, before, gone = set(used), time.time() - young_s, 0
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                if path.name not in kept and path.stat().st_mtime < before:
                    path.unlink()
                    gone += 1
        return gone


async def used_attachments(database: Database) -> frozenset[str]:
    """Return the hashes that any message or draft names, chats in the trash included."""
    rows = await database.fetch(
        "SELECT attachments FROM messages WHERE attachments <> '[]'"
        " UNION ALL SELECT draft_attachments FROM chats WHERE draft_attachments <> '[]'"
        " UNION ALL SELECT edit_attachments FROM chats WHERE edit_attachments <> '[]'"
    )
    found: set[str] = set()
    for (text,) in rows:
        with contextlib.suppress(ValueError, TypeError):
            found.update(
                str(each["sha256"]) for each in json.loads(text) if isinstance(each, dict) and "sha256" in each
            )
    return frozenset(found)

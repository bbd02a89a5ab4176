"""Small files that must never be half written. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from app import files
from app.storage.errors import StorageUnavailable, unavailable
from app.translation import tr

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def make_folder(path: Path) -> None:
    """Make `path` and its parents; the last one readable by its owner only. Raises `StorageUnavailable`."""
    try:
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise unavailable(error, path, tr("Creating a folder")) from error


def write_atomically(path: Path, data: bytes, mode: int = PRIVATE_FILE) -> None:
    """Replace `path` by `data`: a reader, or a power cut, sees the old bytes or the new ones and nothing between.

    The bytes are flushed to the disk before the name moves, and on POSIX the folder after it. Raises
    `StorageUnavailable`; the old file is then untouched and no temporary file stays.
    """
    make_folder(path.parent)
    temporary = path.with_name(f".{os.urandom(8).hex()}.new")  # not of its name, which may be as long as a disk takes
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        files.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise unavailable(error, path, tr("Saving {name}", name=path.name)) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Let the block write the file that it is given; that takes the place of `path` once it is whole.

    What was at `path` before stays where the block fails. Raises `OSError`.
    """
    temporary = path.with_name(f".{os.urandom(8).hex()}.new")
    try:
        yield temporary
        files.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_or_none(path: Path) -> bytes | None:
    """Return the file's bytes, None when there is no file. Raises `StorageUnavailable` for everything else."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unavailable(error, path, tr("Reading {name}", name=path.name)) from error


def set_aside(path: Path, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Path | None:
    """Rename a file that cannot be understood, so that nothing of it is lost. Return its new name, None if it stays."""
    stamp = now().strftime("%Y%m%d-%H%M%S")
    for count in range(100):
        target = path.with_name(f"{path.name}.broken-{stamp}" + (f"-{count}" if count else ""))
        if target.exists():
            continue
        try:
            path.rename(target)
        except OSError:
            return None
        return target
    return None


class StoredFile:
    """One small file behind the two or three plain calls that other layers take as arguments.

    With `keeps_copy` it holds one JSON object, and what was saved last is also beside it, so that it can be brought
    back where the file itself was damaged. While that is offered nothing replaces the copy.
    """

    def __init__(self, path: Path, *, keeps_copy: bool = False) -> None:
        self.path = path
        self.copy_path = path.with_name(f"{path.name}.copy")
        self._keeps_copy = keeps_copy
        self._is_offered = False

    def load(self) -> bytes | None:
        return read_or_none(self.path)

    def save(self, data: bytes) -> None:
        write_atomically(self.path, data)
        if self._keeps_copy and not self._is_offered:
            with contextlib.suppress(StorageUnavailable):  # the file itself is whole
                write_atomically(self.copy_path, data)

    def set_aside(self) -> str:
        """Return the new name of the broken file, or "" when it could not be renamed."""
        self._is_offered = self.good_copy() is not None
        target = set_aside(self.path)
        return target.name if target else ""

    def copied_at(self) -> datetime | None:
        """When the copy was made that can be put in the place of a broken file; None when there is none to offer."""
        with contextlib.suppress(OSError):
            if self._is_offered:
                return datetime.fromtimestamp(self.copy_path.stat().st_mtime, UTC)
        return None

    def good_copy(self) -> bytes | None:
        """What was saved last, where that can be understood."""
        with contextlib.suppress(OSError, ValueError, RecursionError):
            data = self.copy_path.read_bytes()
            if isinstance(json.loads(data), dict):
                return data
        return None

    def end_offer(self) -> None:
        """The copy is in use again: from now on it follows the file."""
        self._is_offered = False


__all__ = [
    "StorageUnavailable",
    "StoredFile",
    "make_folder",
    "read_or_none",
    "replacing",
    "set_aside",
    "sync_folder",
    "write_atomically",
]

"""Errors of the disk and the database. Each carries one sentence that a person can act on.

StorageError
├── StorageUnavailable      the disk is full, the folder is read-only or missing; trying again later may work
├── DatabaseTooNew          written by a later Rialto; the file has not been touched
├── DatabaseNotOurs         a database, but another program's; the file has not been touched
├── DatabaseDamaged         SQLite cannot read it; nothing was deleted, the last good backup is named
├── BackupFailed            a copy could not be made or did not pass its check; older copies stay
└── NotStored               the chat or message asked for is not (or no longer) there

Standard library only: the window imports this before its first paint.
"""

from __future__ import annotations

import errno
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from app.translation import tr

Again = Callable[[], Awaitable[object]]


class UnsavedResult(NamedTuple):
    """What was paid for or recorded and could not be kept: from now on it is in memory alone.

    `name` is of the file to propose; no `data` means that there is nothing to save elsewhere. `again` keeps it where it
    belongs once there is room, and raises `StorageError` where there is none.
    """

    name: str
    data: bytes
    again: Again | None = None


class StorageError(Exception):
    """Base of everything that leaves `app.storage`. `sentence` is ready to be shown."""

    def __init__(self, sentence: str, path: Path | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.path = path
        self.unsaved: tuple[UnsavedResult, ...] = ()

    def keep_again_with(self, keep: Callable[[Again], Awaitable[None]]) -> None:
        """Let `keep` keep what is unsaved: it awaits the work that it is given, and does what belongs after it."""
        self.unsaved = tuple(
            each._replace(again=partial(keep, each.again)) if each.again is not None else each for each in self.unsaved
        )


@contextmanager
def carrying(name: str, data: bytes, again: Again | None = None) -> Iterator[None]:
    """Let a `StorageError` of the block carry what could not be kept, so that it can be saved elsewhere or again."""
    try:
        yield
    except StorageError as error:
        error.unsaved = (*error.unsaved, UnsavedResult(name, data, again))
        raise


class StorageUnavailable(StorageError):
    """Nothing is damaged; the place itself refuses."""


class NoHistory(StorageError):
    """A person went on without the history, which could not be opened, and asked for something that needs it."""

    def __init__(self) -> None:
        super().__init__(tr("Nothing is saved until Rialto can open its history."))


class DatabaseTooNew(StorageError):
    """`found` and `known` are schema numbers."""

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            tr(
                "Your history was last opened by a newer version of Rialto. "
                "Nothing was changed. Install that version, or choose another data folder."
            ),
            path,
        )
        self.found = found
        self.known = known


class DatabaseNotOurs(StorageError):
    def __init__(self, path: Path) -> None:
        super().__init__(
            tr(
                "{name} belongs to another program, so Rialto left it alone. Move it elsewhere, or choose "
                "another data folder.",
                name=path.name,
            ),
            path,
        )


class DatabaseDamaged(StorageError):
    """`backup` is the newest copy that passed its integrity check, or None."""

    def __init__(self, path: Path, backup: Path | None, detail: str = "") -> None:
        rest = (
            tr(
                "The last good backup is {name}, next to it in the folder {name2}.",
                name=backup.name,
                name2=backup.parent.name,
            )
            if backup
            else tr("There is no backup of it yet.")
        )
        super().__init__(
            tr("The history file {name} is damaged and was not changed. {rest}", name=path.name, rest=rest), path
        )
        self.backup = backup
        self.detail = detail


class BackupFailed(StorageError):
    pass


class NotStored(StorageError):
    pass


_LONGEST_ON_WINDOWS = 259  # characters of a path; a longer one is said to be missing
_REASONS = {
    errno.ENOSPC: tr("The disk is full"),
    errno.EDQUOT: tr("Your disk quota is used up"),
    errno.EFBIG: tr("The file is too large for this disk"),
    errno.EACCES: tr("Rialto has no permission to write there"),
    errno.EPERM: tr("Rialto has no permission to write there"),
    errno.EROFS: tr("The disk is read-only"),
    errno.ENOENT: tr("The folder does not exist"),
    errno.ENOTDIR: tr("The folder does not exist"),
    errno.ENAMETOOLONG: tr("The path is too long"),
    errno.EIO: tr("The disk reports an error"),
}


def refusal_of(error: BaseException) -> StorageError | None:
    """What the disk refused, when that is what `error` comes down to; None for every other failure."""
    if isinstance(error, StorageError):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = [refusal_of(each) for each in error.exceptions]
        refused = [each for each in found if each is not None]
        if len(refused) < len(found):
            return None
        refused[0].unsaved = tuple(unsaved for each in refused for unsaved in each.unsaved)
        return refused[0]
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
        return unavailable(error, Path(error.filename or "."), tr("Saving"))
    return None


def unavailable(error: OSError, path: Path, what: str) -> StorageUnavailable:
    """Return the error to raise for a failed `what` ("Saving settings.json"), with the system's reason in words."""
    code = error.errno or 0
    if code == errno.ENOENT and len(str(path)) > _LONGEST_ON_WINDOWS and path.parent.is_dir():
        code = errno.ENAMETOOLONG
    reason = _REASONS.get(code, error.strerror or type(error).__name__)
    return StorageUnavailable(tr("{what} failed. {reason}: {path}", what=what, reason=reason, path=path), path)

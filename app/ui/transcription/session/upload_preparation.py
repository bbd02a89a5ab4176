"""From a row to the files that are uploaded for it: as it is, without loss, down to a size, or in parts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.audio.upload_conversion import (
    CannotPrepare,
    compress,
    longest_part_s,
    split,
    to_flac,
)
from app.storage.errors import unavailable
from app.storage.transcripts import PartRow, TranscriptRow
from app.translation import tr
from app.ui.transcription.session.file_probe import MAX_UPLOAD_BYTES, SURE_UPLOAD_BYTES, FileProbe, look
from app.ui.transcription.state import BYTES_PER_S

DEFAULT_TARGET_BYTES = 20_000_000
OGG_BYTES_PER_S = BYTES_PER_S["ogg"]


@dataclass(frozen=True, slots=True)
class Folders:
    """`recordings` is the person's; `cache` may be emptied at any time."""

    recordings: Path
    cache: Path

    def sound_of(self, row: TranscriptRow) -> Path:
        """Where a row's sound lies: recordings are named within their folder, files by their whole path."""
        return self.recordings / Path(row.sound_path).name if row.origin == "recording" else Path(row.sound_path)

    def upload_of(self, row: TranscriptRow, suffix: str) -> Path:
        return self.cache / "uploads" / f"{row.id}{suffix}"

    def parts_of(self, row: TranscriptRow) -> Path:
        return self.cache / "uploads" / row.id


@dataclass(frozen=True, slots=True)
class Upload:
    """One file to send. `number` 0 is the whole; parts count from 1. Times in seconds of the whole."""

    path: Path
    name: str
    number: int = 0
    start_s: float = 0.0
    end_s: float | None = None


def treatment_of(row: TranscriptRow) -> tuple[str, int]:
    """Return ("", 0) for a file that is sent as it is, ("flac", 0), ("split", 0) or ("compress", bytes)."""
    kind, _, size = row.treatment.partition(":")
    if kind == "compress":
        return kind, int(size) if size.isdigit() else DEFAULT_TARGET_BYTES
    if kind in ("flac", "split"):
        return kind, 0
    return ("flac" if is_over_limit(row) else ""), 0


def is_over_limit(row: TranscriptRow) -> bool:
    """Return whether the service refuses the file as it is."""
    return row.origin == "file" and row.size_bytes > MAX_UPLOAD_BYTES


class Preparer:
    """Makes the files for one row. All of it is for a worker thread; `is_wanted` is asked between blocks.

    Raises `CannotPrepare` and `app.audio.upload_conversion.Stopped`.
    """

    def __init__(
        self,
        folders: Folders,
        row: TranscriptRow,
        record_as: str,
        on_share: Callable[[float], None],
        is_wanted: Callable[[], bool],
        *,
        longest_s: float | None = None,
    ) -> None:
        self._folders = folders
        self._row = row
        self._record_as = record_as
        self._on_share = on_share
        self._stop = lambda: not is_wanted()
        self._longest_s = longest_s

    def uploads(self, parts: tuple[PartRow, ...] = ()) -> tuple[Upload, ...]:
        """Return what to send, in order. `parts` are those that were cut before: they are used again where possible."""
        looked = look(self._folders.sound_of(self._row), with_length=False)
        if looked.problem:
            raise CannotPrepare(looked.problem)
        kind, target_bytes = treatment_of(self._row)
        if not kind and self._row.origin != "recording":
            return (Upload(looked.path, looked.wire_name),)
        folder = self._folders.cache / "uploads"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if kind == "split":
                return self._parts(looked, parts)
            if kind == "compress":
                return (self._compressed(looked, target_bytes),)
            if kind == "flac":
                return self._as_flac(looked, parts)
            return self._recording(looked, parts)
        except OSError as error:
            refused = unavailable(error, Path(error.filename or folder), tr("Preparing audio"))
            raise CannotPrepare(refused.sentence) from error

    def _recording(self, looked: FileProbe, parts: tuple[PartRow, ...]) -> tuple[Upload, ...]:
        """A recording is sent as the person chose; one that does not fit is cut at silences."""
        if self._record_as == "wav":
            if looked.size_bytes > SURE_UPLOAD_BYTES:
                return self._parts(looked, parts)
            return (Upload(looked.path, f"{looked.path.stem}.wav"),)
        if self._record_as == "ogg":
            length = self._row.duration_s or looked.size_bytes / BYTES_PER_S["wav"]
            target = min(SURE_UPLOAD_BYTES, max(20_000, round(length * OGG_BYTES_PER_S)))
            return (self._compressed(looked, target),)
        return self._as_flac(looked, parts)

    def _as_flac(self, looked: FileProbe, parts: tuple[PartRow, ...]) -> tuple[Upload, ...]:
        """Without loss where that fits, cut at silences where it does not."""
        if parts or (self._row.duration_s or 0) > 3 * longest_part_s(SURE_UPLOAD_BYTES):  # surely too long for one
            return self._parts(looked, parts)
        target_path = self._folders.upload_of(self._row, ".flac")
        to_flac(looked.path, target_path, self._on_share, self._stop)
        if target_path.stat().st_size > SURE_UPLOAD_BYTES:
            target_path.unlink()
            return self._parts(looked, parts)
        return (Upload(target_path, f"{looked.path.stem}.flac"),)

    def _compressed(self, looked: FileProbe, target_bytes: int) -> Upload:
        target = self._folders.upload_of(self._row, ".ogg")
        compress(looked.path, target, min(target_bytes, SURE_UPLOAD_BYTES), self._on_share, self._stop)
        return Upload(target, f"{looked.path.stem}.ogg")

    def _parts(self, looked: FileProbe, parts: tuple[PartRow, ...]) -> tuple[Upload, ...]:
        if parts and all(part.received or Path(part.path).is_file() for part in parts):
            return tuple(_upload(part.number, Path(part.path), part.start_s, part.end_s) for part in parts)
        cut = split(
            looked.path,
            self._folders.parts_of(self._row),
            SURE_UPLOAD_BYTES,
            self._on_share,
            self._stop,
            longest_s=min(self._longest_s or longest_part_s(SURE_UPLOAD_BYTES), longest_part_s(SURE_UPLOAD_BYTES)),
        )
        return tuple(_upload(number, one.path, one.start_s, one.end_s) for number, one in enumerate(cut, 1))


def _upload(number: int, path: Path, start_s: float, end_s: float) -> Upload:
    return Upload(path, path.name, number, start_s, end_s)


def clean_up(folders: Folders, row: TranscriptRow) -> None:
    """Delete what was made for an upload that is over, where the disk lets; the person's own sound stays."""
    with contextlib.suppress(OSError):
        for suffix in (".flac", ".ogg"):
            folders.upload_of(row, suffix).unlink(missing_ok=True)
        folder = folders.parts_of(row)
        if folder.is_dir():
            for path in folder.iterdir():
                path.unlink(missing_ok=True)
            folder.rmdir()

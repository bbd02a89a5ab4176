"""Probes sound files: format, duration, and which of a folder can be used. For worker threads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.audio.duration import length_of
from app.audio.formats import format_title
from app.files import open_regular
from app.media_types import sniff_file
from app.service.http.size_limits import MAX_UPLOAD_BYTES, SURE_UPLOAD_BYTES
from app.service.transcription import FILE_KINDS, FILE_SUFFIXES
from app.translation import tr

MOST_FILES = 2_000  # of one drop; a whole disk was hardly meant
FORMAT_NAMES = tr("WAV, WAVE, FLAC, M4A, AAC, MP4, MP3, OGG, OGA or WEBM")
_SUFFIX_OF_KIND = {"opus": ".ogg"}  # what an OGG file with Opus inside is called on the wire
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileProbe:
    """What a file is. `problem` is a sentence when it cannot be used at all."""

    path: Path
    name: str
    kind: str = ""
    size_bytes: int = 0
    duration_s: float | None = None
    problem: str = ""

    @property
    def title(self) -> str:
        return format_title(self.kind)

    @property
    def too_large(self) -> bool:
        """Over what the service surely takes."""
        return self.size_bytes > SURE_UPLOAD_BYTES

    @property
    def wire_name(self) -> str:
        """A file name whose ending says what is inside."""
        suffix = self.path.suffix.lower()
        if suffix in FILE_SUFFIXES and _agrees(suffix, self.kind):
            return self.path.name
        return f"{self.path.stem or 'sound'}{_SUFFIX_OF_KIND.get(self.kind, '.' + self.kind)}"


def _agrees(suffix: str, kind: str) -> bool:
    families = ({"wav", "wave"}, {"ogg", "oga", "opus"}, {"mp4", "m4a"})
    name = suffix.removeprefix(".")
    return name == kind or any(name in family and kind in family for family in families)


def look(path: Path, *, with_length: bool = True) -> FileProbe:
    """Return what a file is, told from its bytes; never raises."""
    try:
        with open_regular(path) as file:
            kind = sniff_file(file) or ""
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        return FileProbe(
            path,
            path.name,
            problem=tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror or error),
        )
    if not size:
        return FileProbe(path, path.name, problem=tr("{name} is empty.", name=path.name))
    if kind not in FILE_KINDS:
        return FileProbe(
            path,
            path.name,
            size_bytes=size,
            problem=tr(
                "{name} cannot be used. Its content is not {format_names}.", name=path.name, format_names=FORMAT_NAMES
            ),
        )
    return FileProbe(path, path.name, kind, size, length_of(path, kind) if with_length else None)


def collect(paths: Iterable[Path]) -> tuple[list[FileProbe], list[str]]:
    """Return the usable files among files and folders, in order of their names, and a sentence for each that is not.

    Of a folder, only what is sound is taken, without a word about the rest. Hidden files are left alone.
    """
    found: list[FileProbe] = []
    problems: list[str] = []
    for path in paths:
        if path.is_dir():
            before = len(found)
            for each in _files_below(path):
                if len(found) >= MOST_FILES:
                    break
                looked = look(each, with_length=False)
                if not looked.problem:
                    found.append(_with_length(looked))
            if len(found) == before:
                problems.append(tr("The folder {name} has no audio files.", name=path.name))
        else:
            looked = look(path, with_length=False)
            if looked.problem:
                problems.append(looked.problem)
            elif len(found) < MOST_FILES:
                found.append(_with_length(looked))
    return found, problems


def _with_length(looked: FileProbe) -> FileProbe:
    return FileProbe(looked.path, looked.name, looked.kind, looked.size_bytes, length_of(looked.path, looked.kind))


def _files_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for root, folders, names in os.walk(folder):  # does not follow links: no circles
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(root) / name for name in sorted(names) if not name.startswith(".")]
        if len(found) >= MOST_FILES * 5:
            break
    return found


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's content. Raises `OSError`."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


__all__ = ["MAX_UPLOAD_BYTES", "SURE_UPLOAD_BYTES", "FileProbe", "collect", "hash_of", "look"]

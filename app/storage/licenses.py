"""Whose work is in this program: a list that the packages carry as one text, and that a checkout reads for itself.

Standard library only: packaging writes the text with the same functions.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app.translation import tr

FILE_NAME = "LICENCES.txt"
LINE = "=" * 100
_SEPARATOR = f"\n{LINE}\n\n"
_FILES = ("licen", "copying", "notice", "authors")
_TOLD = 120  # characters of a license's name


@dataclass(frozen=True, slots=True)
class License:
    """One part: its name with its version, its license in a few words, and the whole text ("" where it has none)."""

    title: str
    words: str
    text: str = ""


def to_text(licenses: Iterable[License]) -> str:
    return _SEPARATOR.join(f"{one.title}: {one.words}\n\n{one.text}" for one in licenses)


def from_text(text: str) -> tuple[License, ...]:
    """Read what `to_text` wrote. A part without a first line of that form is left out."""
    found = []
    for part in text.split(_SEPARATOR):
        head, _, body = part.partition("\n\n")
        title, colon, words = head.partition(": ")
        if colon and "\n" not in head:
            found.append(License(title, words, body))
    return tuple(found)


def shipped(root: Path) -> tuple[License, ...]:
    """Return everything that this program consists of; blocks. `root` is the folder that `resources` lies in.

    Raises `OSError` when the text of a built program cannot be read.
    """
    if getattr(sys, "frozen", False):
        folders = (root, root.parent, Path(sys.executable).parent, Path(sys.executable).parent.parent / "Resources")
        path = next((folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()), root / FILE_NAME)
        return from_text(path.read_text(encoding="utf-8"))
    return (*own(root), *of_packages(sys.path))


def own(root: Path) -> tuple[License, ...]:
    """Rialto itself and its fonts."""
    found = [License("Rialto", "MIT", (root / "LICENSE").read_text(encoding="utf-8"))]
    for path in sorted((root / "resources" / "fonts").glob("*-OFL.txt")):
        text = path.read_text(encoding="utf-8")
        found.append(License(tr("{name}, a font", name=path.name.partition("-")[0]), "SIL Open Font License 1.1", text))
    return tuple(found)


def of_packages(folders: Iterable[str], wanted: Container[str] | None = None) -> tuple[License, ...]:
    """Every Python package below `folders`, or those whose plain names are `wanted`, in the order of their names."""
    found: dict[str, License] = {}
    for package in metadata.distributions(path=list(folders)):
        name = package.metadata["Name"] or ""
        plain = name.lower().replace("_", "-")
        if name and plain != "rialto" and plain not in found and (wanted is None or plain in wanted):
            found[plain] = License(f"{name} {package.version}", words_of(package), _text_of(package))
    return tuple(found[plain] for plain in sorted(found))


def words_of(package: metadata.Distribution) -> str:
    """The license as the authors name it, in one line."""
    said = package.metadata
    words = _first(said, "License-Expression") or _first(said, "License").strip().partition("\n")[0]
    trove = [value.rpartition(" :: ")[2] for value in said.get_all("Classifier") or [] if value.startswith("License")]
    return words[:_TOLD] or ", ".join(trove) or tr("see the project")


def _first(said: metadata.PackageMetadata, key: str) -> str:
    return str(next(iter(said.get_all(key) or [""])))


def _text_of(package: metadata.Distribution) -> str:
    texts = []
    for entry in package.files or []:
        is_program = entry.suffix in (".py", ".pyc")  # one package lists its authors in a script
        is_named = entry.name.lower().startswith(_FILES) or ".dist-info/licenses/" in entry.as_posix()
        if ".dist-info" in str(entry) and is_named and not is_program:
            texts.append(Path(str(package.locate_file(entry))).read_text(encoding="utf-8", errors="replace"))
    return "\n".join(texts)

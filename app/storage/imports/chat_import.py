"""Reads exports of chats, ours and other programs', into chats as `chat_file.import_chat` takes them.

One file holds one chat or many; what each shape looks like is in `chat_import_shapes`. A chat that cannot be read costs
itself, never the others, and everything left out is counted with its reason.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.storage.chat_file import FORMAT
from app.storage.errors import StorageError
from app.storage.imports.chat_import_shapes import SHAPES, Left, chat_of
from app.storage.projects.project_file import FORMAT as PROJECT
from app.translation import tr

MAX_FILE_BYTES = 1024 * 1024 * 1024
MAX_CHATS = 50_000


class NotAnExport(StorageError):
    """The file holds nothing that could be taken; the sentence says why."""


@dataclass(slots=True)
class Export:
    """What a file holds. `chats` are bodies for `import_chat`; `left` counts what stays behind, by reason."""

    source: str = ""  # the program that wrote it, in words
    chats: list[dict[str, Any]] = field(default_factory=list)
    projects: list[dict[str, Any]] = field(default_factory=list)  # for `import_project`
    left: Counter[str] = field(default_factory=Counter)

    @property
    def messages(self) -> int:
        return sum(len(chat["messages"]) for chat in self.chats)


def read_export(path: Path) -> Export:
    """Read a .json, .jsonl or .zip file. Blocks: call it in a thread. Raises `NotAnExport`."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise NotAnExport(tr("{name} is larger than 1 GB.", name=path.name))
        texts = list(_texts(path))
    except (OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or tr("it is damaged")
        raise NotAnExport(tr("{name} could not be read: {reason}.", name=path.name, reason=reason)) from error
    export = Export()
    sources: set[str] = set()
    for text in texts:
        for entry in _entries(text, export.left):
            _take(entry, export, sources)
    if not export.chats and not export.projects:
        raise NotAnExport(tr("{name} contains no chat in a format that Rialto knows.", name=path.name))
    export.source = " and ".join(sorted(sources))
    return export


def _take(entry: object, export: Export, sources: set[str]) -> None:
    if isinstance(entry, Mapping) and entry.get("format") == PROJECT:
        listed = entry.get("chats")
        number = len(listed) if isinstance(listed, list) else 0
        if number > MAX_CHATS:
            export.left[tr("projects with more than 50,000 chats")] += 1
            return
        export.projects.append(dict(entry))
        sources.add("Rialto")
        return
    if len(export.chats) >= MAX_CHATS:
        export.left[tr("chats beyond the first 50,000")] += 1
        return
    if isinstance(entry, Mapping) and entry.get("format") == FORMAT:
        export.chats.append(dict(entry))
        sources.add("Rialto")
        return
    shape = next((shape for shape in SHAPES if isinstance(entry, Mapping) and shape.fits(entry)), None)
    if shape is None or not isinstance(entry, Mapping):
        export.left[tr("entries that are not chats in a known format")] += 1
        return
    left: Left = Counter()
    try:
        chat = chat_of(entry, shape, left)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        export.left[tr("damaged chats")] += 1
        return
    export.left.update(left)
    if chat is None:
        export.left[tr("chats without a message")] += 1
        return
    export.chats.append(chat)
    sources.add(shape.name)


def _texts(path: Path) -> Iterator[str]:
    """The JSON texts in a file; of an archive the files named conversations.json and their numbered parts."""
    if not zipfile.is_zipfile(path):
        yield path.read_bytes().decode("utf-8-sig", "replace")
        return
    with zipfile.ZipFile(path) as archive:
        size = 0
        for member in archive.infolist():
            name = member.filename.rsplit("/", 1)[-1].lower()
            if not (name.startswith("conversations") and name.endswith(".json")):
                continue
            size += member.file_size
            if size > MAX_FILE_BYTES:
                raise NotAnExport(tr("The conversations in {name} are larger than 1 GB.", name=path.name))
            with archive.open(member) as file:
                yield file.read(MAX_FILE_BYTES).decode("utf-8-sig", "replace")


def _entries(text: str, left: Counter[str]) -> Iterator[object]:
    """The chats of one JSON text: a list, an object around a list, a single chat, or one chat for each line."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text, left)
        return
    is_project = isinstance(content, Mapping) and content.get("format") == PROJECT
    if isinstance(content, Mapping) and not is_project and not any(shape.fits(content) for shape in SHAPES):
        inner = next(
            (content[name] for name in ("conversations", "chats", "data") if _is_list(content.get(name))), None
        )
        content = inner if inner is not None else content
    if isinstance(content, list) and content and all(_is_turn(each) for each in content):
        yield {"messages": content}
    elif isinstance(content, list):
        yield from content
    else:
        yield content


def _lines(text: str, left: Counter[str]) -> Iterator[object]:
    for line in text.splitlines():
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                left[tr("lines that are not JSON")] += 1


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value[:3])


def _is_turn(value: object) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value

"""Reads exports of chats, ours and other programs', into chats as `chat_file.import_chat` takes them.

One file holds one chat or many; what each shape looks like is in `chat_import_shapes` and `chat_app_shapes`. A chat
that cannot be read costs itself, never the others, and everything left out is counted with its reason. The file was
written by others, so only the reading process of `export_reading` runs this.
"""

from __future__ import annotations

import json
import mmap
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from app.documents.archives import Archive
from app.documents.reading import MB, Reason, Unreadable, sentence
from app.files import open_regular
from app.storage.chat_file import FORMAT
from app.storage.chat_file_bytes import FILES
from app.storage.errors import StorageError
from app.storage.imports.chat_app_shapes import ALL_SHAPES, entries_within, refused_program
from app.storage.imports.chat_import_shapes import Left, chat_of
from app.storage.projects.project_file import FORMAT as PROJECT
from app.text_encoding import NotText, encoding_of
from app.translation import tr

MAX_FILE_BYTES = 1024 * MB  # a chat of ours may carry its attachments; it is mapped, not held
MAX_UNPACKED_BYTES = 512 * MB  # of one member of an archive, which is held
MAX_MEMBERS = 200_000  # an export has a file for each image
MAX_CHATS = 50_000
MAX_CHAT_BYTES = 64 * MB  # without attachments
MAX_PROJECT_BYTES = 256 * MB  # with its embeddings
MAX_UNKNOWN = 1_000  # a file that begins with so many entries that are not chats is no export

_members_of_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_members_of_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode

Data = bytes | bytearray | mmap.mmap


class NotAnExport(StorageError):
    """The file holds nothing that could be taken; the sentence says why."""


class Piece(NamedTuple):
    """Part of an export. A file comes before the chat or project that names it, as `{"files": {hash: base64}}`."""

    kind: Literal["chat", "project", "file"]
    body: Mapping[str, Any]  # for `import_chat`, `import_project` or `keep_files`


@dataclass(slots=True)
class Summary:
    """What was found in an export so far. `left` counts what stays behind, by reason."""

    sources: set[str] = field(default_factory=set)  # the programs that wrote it, in words
    left: Counter[str] = field(default_factory=Counter)
    chats: int = 0
    projects: int = 0
    refused: str = ""  # a program whose exports cannot be imported

    @property
    def is_empty(self) -> bool:
        return not self.chats and not self.projects


def export_pieces(path: Path, summary: Summary) -> Iterator[Piece]:
    """Read a .json, .jsonl or .zip file, filling `summary`. Raises `NotAnExport` and `MemoryError`."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise NotAnExport(tr("{name} is larger than 1 GB.", name=path.name))
        for data in _contents(path):
            for entry in _entries(data, summary.left):
                yield from _pieces(entry, summary)
                if summary.is_empty and summary.left.total() >= MAX_UNKNOWN:
                    break
    except Unreadable as error:
        if error.reason is Reason.BOMB:
            text = tr("{name} unpacks to far more than an export contains. It was not read.", name=path.name)
            raise NotAnExport(text) from None
        raise NotAnExport(f"{path.name}: {sentence(error.reason)}") from None
    except (OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or tr("it is damaged")
        raise NotAnExport(tr("{name} could not be read: {reason}.", name=path.name, reason=reason)) from error
    if summary.is_empty and summary.refused:
        text = tr(
            "{name} is an export of {program}, which Rialto cannot import.", name=path.name, program=summary.refused
        )
        raise NotAnExport(text)
    if summary.is_empty:
        raise NotAnExport(tr("{name} contains no chat in a format that Rialto knows.", name=path.name))


def _pieces(entry: object, summary: Summary) -> Iterator[Piece]:
    """Yield the pieces of one entry, decoded or not, or count why there are none."""
    if isinstance(entry, msgspec.Raw):
        members = _members(entry)
        kind = _format(members)
        files = _members(members.pop(FILES)) if kind and FILES in members else {}
        size = sum(len(memoryview(each)) for each in members.values())
        if size > (MAX_PROJECT_BYTES if kind == PROJECT else MAX_CHAT_BYTES):
            summary.left[tr("chats and projects that are too large")] += 1
            return
        try:
            for name, text in files.items():
                yield Piece("file", {FILES: {name: _decoded(text)}})
            entry = {name: _decoded(each) for name, each in members.items()}
        except (ValueError, RecursionError):
            summary.left[tr("damaged chats")] += 1
            return
    if not isinstance(entry, Mapping):
        summary.left[tr("entries that are not chats in a known format")] += 1
        return
    found = entry.get("format")
    if found == PROJECT:
        listed = entry.get("chats")
        if isinstance(listed, list) and len(listed) > MAX_CHATS:
            summary.left[tr("projects with more than 50,000 chats")] += 1
            return
        yield Piece("project", entry)
        summary.projects += 1
        summary.sources.add("Rialto")
        return
    if summary.chats >= MAX_CHATS:
        summary.left[tr("chats beyond the first 50,000")] += 1
        return
    if found == FORMAT:
        yield Piece("chat", entry)
        summary.chats += 1
        summary.sources.add("Rialto")
        return
    shape = next((shape for shape in ALL_SHAPES if shape.fits(entry)), None)
    if shape is None:
        summary.refused = summary.refused or refused_program(entry)
        summary.left[tr("entries that are not chats in a known format")] += 1
        return
    left: Left = Counter()
    try:
        chat = chat_of(entry, shape, left)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        summary.left[tr("damaged chats")] += 1
        return
    summary.left += left
    if chat is None:
        summary.left[tr("chats without a message")] += 1
        return
    yield Piece("chat", chat)
    summary.chats += 1
    summary.sources.add(shape.name)


def _contents(path: Path) -> Iterator[Data]:
    """The JSON texts in a file; of an archive conversations.json and its numbered parts, else every JSON file."""
    with open_regular(path) as file:
        is_archive = zipfile.is_zipfile(file)
    if not is_archive:
        with open_regular(path) as file:
            # Never closed: the entries are views of it, and the process ends with the file.
            yield mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
        return
    with open_regular(path) as file:
        archive = Archive(file, MAX_MEMBERS, MAX_UNPACKED_BYTES, MAX_FILE_BYTES)
        members = [member for member in sorted(archive.parts()) if member.lower().endswith(".json")]
        named = [each for each in members if each.rpartition("/")[2].lower().startswith("conversations")]
        for member in named or members:
            data = bytearray()
            for piece in archive.pieces(member):
                data += piece
            yield data


def _entries(data: Data, left: Counter[str]) -> Iterator[object]:
    """The chats of one JSON text: a list, an object around a list, a single chat, or one chat for each line."""
    view = _in_utf8(data)
    try:  # finds where each entry begins and ends, and decodes none
        entries = _members_of_list(view)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        entries = []
    if entries and not _is_turn(_members(entries[0])):
        yield from entries
    elif _format(_members(msgspec.Raw(view))):
        yield msgspec.Raw(view)
    else:
        yield from _decoded_entries(bytes(view).decode("utf-8", "replace"), left)


def _in_utf8(data: Data) -> memoryview:
    """Return text as UTF-8 without a mark; a copy only of what is in another encoding."""
    try:
        found = encoding_of(data if isinstance(data, mmap.mmap) else bytes(data[:MB]))
    except NotText:
        return memoryview(data)
    view = memoryview(data)[found.mark :]
    if "utf-8" in (found.codec, *found.others):  # in ASCII, JSON has escapes of its own
        return view
    return memoryview(bytes(view).decode(found.codec, "replace").encode())


def _members(raw: msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, not decoded; none of anything else."""
    try:
        return _members_of_object(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def _format(members: Mapping[str, msgspec.Raw]) -> str:
    """Which of our own formats an object is in; "" for others."""
    found = bytes(members.get("format", b""))
    return next((name for name in (FORMAT, PROJECT) if found == b'"%s"' % name.encode()), "")


def _decoded(raw: msgspec.Raw) -> Any:
    """Decode as Python does, which takes lone surrogates and NaN. Raises `ValueError` and `RecursionError`."""
    return json.loads(bytes(raw).decode("utf-8", "replace"))


def _decoded_entries(text: str, left: Counter[str]) -> Iterator[object]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        yield from _lines(text, left)
        return
    is_project = isinstance(content, Mapping) and content.get("format") == PROJECT
    if isinstance(content, Mapping) and not is_project and not any(shape.fits(content) for shape in ALL_SHAPES):
        inner = entries_within(content)
        content = inner if inner is not None else content
    if isinstance(content, list) and content and all(_is_turn(each) for each in content):
        yield {"messages": content}
    elif isinstance(content, list):
        yield from content
    else:
        yield content


def _lines(text: str, left: Counter[str]) -> Iterator[object]:
    """The entries of lines of JSON; lines that are messages make one chat."""
    turns: list[object] = []
    for line in text.splitlines():
        if line.strip():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):
                left[tr("lines that are not JSON")] += 1
                continue
            if _is_turn(entry):
                turns.append(entry)
            else:
                yield entry
    if turns:
        yield {"messages": turns}


def _is_turn(value: object) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value

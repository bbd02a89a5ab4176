"""Untrusted ZIP files: office documents and e-books. Nothing goes to a disk, and no more than is allowed unpacks."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO
from urllib.parse import unquote
from xml.parsers import expat

from app.documents.reading import MB, Reason, Unreadable

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 64 * MB
MAX_UNPACKED_BYTES = 256 * MB
MAX_TIMES = 400  # how often a member may be as large as it was packed; text of an honest file is seldom 50
_FREE_BYTES = 4 * MB  # a small one may be packed as tightly as it likes
MAX_DEPTH = 500
_PIECE = 1024 * 1024
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

Start = Callable[[str, dict[str, str]], None]


class Archive:
    """The members of one file. Every method raises `Unreadable`."""

    def __init__(
        self,
        file: BinaryIO,
        most_members: int = MAX_MEMBERS,
        most_member_bytes: int = MAX_MEMBER_BYTES,
        most_bytes: int = MAX_UNPACKED_BYTES,
    ) -> None:
        self._most_member_bytes, self._most_bytes = most_member_bytes, most_bytes
        start = file.read(65_536)
        if start.startswith(OLE):  # how Office keeps what has a password, and everything before 2007
            raise Unreadable(Reason.PASSWORD if is_encrypted(file) else Reason.OLD_OFFICE)
        if not start.startswith(b"PK"):
            raise Unreadable(Reason.KIND)
        file.seek(0)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError):
            raise Unreadable(Reason.DAMAGED) from None
        members = self._zip.infolist()
        if len(members) > most_members:
            raise Unreadable(Reason.BOMB)
        # Some programs write other cases or backslashes than the names by which parts refer to one another.
        self._names = {folded(member.filename): member.filename for member in reversed(members)}
        self._unpacked = 0

    def __contains__(self, name: str) -> bool:
        return folded(name) in self._names

    def parts(self) -> tuple[str, ...]:
        """Return the names of all members."""
        return tuple(self._names.values())

    def read(self, name: str) -> bytes:
        """Return a member. One that is not there, as a file with its content cut off would have it, is damage."""
        return b"".join(self.pieces(name))

    def parse(self, name: str, start: Start, end: Callable[[str], None], text: Callable[[str], None]) -> None:
        """Go through a member as XML: names without namespace, but `relation` for r:id; own entities are refused."""
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        depth = 0

        def begin(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable(Reason.BOMB)
            start(tag.rpartition("}")[2], {_short(key): value for key, value in attributes.items()})

        def finish(tag: str) -> None:
            nonlocal depth
            depth -= 1
            end(tag.rpartition("}")[2])

        def refuse(*_: object) -> None:
            raise Unreadable(Reason.BOMB)

        parser.StartElementHandler = begin
        parser.EndElementHandler = finish
        parser.CharacterDataHandler = text
        parser.EntityDeclHandler = refuse
        try:
            for piece in self.pieces(name):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError):
            raise Unreadable(Reason.DAMAGED) from None

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return what a member of an office file points at: id → (kind, member)."""
        folder, _, file = name.rpartition("/")
        found: dict[str, tuple[str, str]] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                kind = attributes.get("Type", "").rpartition("/")[2]
                found[attributes.get("Id", "")] = (kind, joined(folder, attributes.get("Target", "")))

        beside = f"{folder}/_rels/{file}.rels".lstrip("/")
        if beside in self:
            self.parse(beside, start, _ignore, _ignore)
        return found

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield a member as it unpacks, counted and compared with its packed size."""
        try:
            member = self._zip.getinfo(self._names[folded(name)])
            if member.flag_bits & 1:
                raise Unreadable(Reason.PASSWORD)
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Unreadable(Reason.DAMAGED)
            size = 0
            with self._zip.open(member) as stream:
                while piece := stream.read(_PIECE):  # what the directory says of its size is not believed
                    size += len(piece)
                    self._unpacked += len(piece)
                    tight = size > _FREE_BYTES and size > MAX_TIMES * max(1, member.compress_size)
                    if tight or size > self._most_member_bytes or self._unpacked > self._most_bytes:
                        raise Unreadable(Reason.BOMB)
                    yield piece
        except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, OSError, ValueError, NotImplementedError):
            raise Unreadable(Reason.DAMAGED) from None


def is_encrypted(file: BinaryIO) -> bool:
    """Whether a file in the old container of Office holds one of the new kind that is locked by a password."""
    file.seek(0)
    return "EncryptedPackage".encode("utf-16-le") in file.read(4 * MB)


def folded(name: str) -> str:
    """Return a member's name as names are compared: without case, with slashes, without one in front."""
    return name.replace("\\", "/").lstrip("/").casefold()


def _short(name: str) -> str:
    return "relation" if name.endswith("/relationships}id") else name.rpartition("}")[2]


def _ignore(*_: str) -> None:
    pass


def joined(folder: str, target: str) -> str:
    """Return the member that `target` names, seen from `folder`."""
    path = unquote(target.partition("#")[0]).replace("\\", "/")
    return posixpath.normpath(path[1:] if path.startswith("/") else posixpath.join(folder, path))

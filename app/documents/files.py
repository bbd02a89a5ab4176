"""Opens files and looks through folders, and trusts neither: what names say, where links lead, how much there is."""

from __future__ import annotations

import io
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from app.documents.archives import OLE, Archive, is_encrypted
from app.documents.markup import html_text, read_html
from app.documents.office import WORKBOOK, read_docx, read_epub, read_odt, read_pptx, read_xlsx
from app.documents.plain_text import read_text
from app.documents.reading import MAX_FILE_BYTES, MAX_TEXT_CHARS, PLAIN, Entry, Kind, Notes, Reason, Section, Unreadable
from app.files import NotRegular, TooLarge, open_regular
from app.text_encoding import NotText, encoding_of

MAX_FILES = 50_000  # of one project
HELD_BYTES = 1 << 20  # a file up to this size is read at once: most are small, and each read takes its time
MAX_ENTRIES = 250_000  # looked at in one folder with all that is below
_CODE = """
    py js ts jsx tsx c h cc cpp hpp cs java kt go rs rb php swift scala sh bash ps1 bat sql r lua pl hs ml ex erl clj
    dart vue svelte css scss less json jsonl yaml yml toml xml svg cmake gradle proto tf nix zig v vhdl asm m mm f90 jl
    ipynb dockerfile makefile
"""
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("txt", "text", "log", "rst", "adoc", "org", "tex", "srt", "vtt", "eml", "ini", "cfg"), Kind.TEXT),
    **dict.fromkeys(("md", "markdown", "mdown", "mkd"), Kind.MARKDOWN),
    **dict.fromkeys(("html", "htm", "xhtml"), Kind.HTML),
    **dict.fromkeys(("csv", "tsv"), Kind.CSV),
    **dict.fromkeys(_CODE.split(), Kind.CODE),
    "pdf": Kind.PDF,
    "docx": Kind.DOCX,
    "docm": Kind.DOCX,
    "dotx": Kind.DOCX,
    "pptx": Kind.PPTX,
    "pptm": Kind.PPTX,
    "ppsx": Kind.PPTX,
    "xlsx": Kind.XLSX,
    **dict.fromkeys(("xlsm", "xltx", "xltm", "xls", "xlt", "xlsb", "ods", "ots"), Kind.XLSX),
    "odt": Kind.ODT,
    "ott": Kind.ODT,
    "epub": Kind.EPUB,
}
_OLD_OFFICE = frozenset(("doc", "ppt", "dot", "pps"))
_ARCHIVES = {
    Kind.DOCX: read_docx,
    Kind.PPTX: read_pptx,
    Kind.ODT: read_odt,
    Kind.EPUB: read_epub,
}


_LOOKED_AT_BYTES = 4096
_TABLE_OF_A_PAGE = re.compile(rb"<(?:html|table)\b", re.IGNORECASE)


def kind_of(path: str) -> Kind | None:
    """Return how a file of this name is read; None for a name that says nothing of it."""
    name = Path(path).name.lower()
    return _KINDS.get(name.rpartition(".")[2])


def has_harmless_name(path: str) -> bool:
    """Whether a path can be shown as it is: no control characters, nothing that turns text around, all of it text."""
    return not any(unicodedata.category(sign) in ("Cc", "Cf", "Cs") and sign not in "\u200c\u200d" for sign in path)


def found_files(roots: tuple[str, ...]) -> Iterator[Entry]:
    """Look through files and folders. Hidden ones below a folder are passed over; links are named and not followed."""
    seen_folders: set[tuple[int, int]] = set()
    seen_files: set[str] = set()
    count = 0
    for root in roots:
        for entry in _found(root, seen_folders):
            if entry.path in seen_files:
                continue
            if count >= MAX_FILES:
                yield Entry(root, root, reason=Reason.MANY)
                return
            count += 1
            seen_files.add(entry.path)
            yield entry


def _found(root: str, seen: set[tuple[int, int]]) -> Iterator[Entry]:
    try:
        about = Path(root).stat()
    except OSError as error:
        yield Entry(root, root, reason=_reason(error))
        return
    if not stat.S_ISDIR(about.st_mode):
        yield _entry(root, root, about)
        return
    waiting, looked_at = [root], 0
    while waiting:
        folder = waiting.pop()
        below: list[str] = []
        try:
            about = Path(folder).stat()
            identity = (about.st_dev, about.st_ino)
            if about.st_ino and identity in seen:  # a mount or a junction that leads back
                yield Entry(folder, root, reason=Reason.CIRCLE)
                continue
            seen.add(identity)
            with os.scandir(folder) as entries:
                for each in entries:
                    looked_at += 1
                    if looked_at > MAX_ENTRIES:
                        yield Entry(root, root, reason=Reason.MANY)
                        return
                    if each.name.startswith((".", "~$")):
                        continue
                    if not has_harmless_name(each.name):
                        yield Entry(each.path, root, reason=Reason.NAME)
                    elif each.is_symlink():
                        yield Entry(each.path, root, reason=Reason.LINK)
                    elif each.is_dir(follow_symlinks=False):
                        below.append(each.path)
                    else:
                        try:
                            yield _entry(each.path, root, each.stat(follow_symlinks=False))
                        except OSError:
                            continue  # gone between listing and looking
        except OSError as error:
            yield Entry(folder, root, reason=_reason(error))
        waiting += sorted(below, reverse=True)


def _entry(path: str, root: str, about: os.stat_result) -> Entry:
    if not stat.S_ISREG(about.st_mode):
        return Entry(path, root, reason=Reason.SPECIAL)
    return Entry(path, root, about.st_size, about.st_mtime_ns)


def _reason(error: OSError) -> Reason:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Reason.VANISHED
    return Reason.LOCKED if isinstance(error, PermissionError | BlockingIOError) else Reason.DAMAGED


def opened(path: str) -> io.BytesIO | io.BufferedReader:
    """Open a regular file for reading; never waits for a pipe. Raises `Unreadable`."""
    try:
        file = open_regular(path, MAX_FILE_BYTES)
    except TooLarge:
        raise Unreadable(Reason.LARGE) from None
    except NotRegular:
        raise Unreadable(Reason.SPECIAL) from None
    except OSError as error:
        raise Unreadable(_reason(error)) from None
    size = os.fstat(file.fileno()).st_size
    if size > HELD_BYTES:
        return file
    with file:
        if not size:
            raise Unreadable(Reason.EMPTY)
        return io.BytesIO(file.read(size))


def read_file(file: BinaryIO, path: str, notes: Notes | None = None) -> tuple[Kind, Iterator[Section]]:
    """Return how a file is read and its sections, lazily; they fill `notes`. Raises `Unreadable`, then or later."""
    notes = notes if notes is not None else Notes()
    kind = kind_of(path)
    if kind is None:
        if Path(path).suffix.lower().lstrip(".") in _OLD_OFFICE:
            raise Unreadable(Reason.OLD_OFFICE)
        try:
            if encoding_of(file).is_guess:  # bytes that could be anything
                raise Unreadable(Reason.UNKNOWN)
        except NotText:
            raise Unreadable(Reason.UNKNOWN) from None
        file.seek(0)
        kind = Kind.TEXT
    if kind in PLAIN:
        return kind, read_text(file, kind, notes)
    if kind is Kind.XLSX:
        return kind, _read_workbook(file, notes)
    if kind is Kind.HTML:
        return kind, _read_page(file, notes)
    if kind is Kind.PDF:
        from app.documents.pdf import read_pdf

        return kind, read_pdf(file, notes)
    return kind, _ARCHIVES[kind](Archive(file), notes)


def _read_page(file: BinaryIO, notes: Notes) -> Iterator[Section]:
    data = file.read(MAX_TEXT_CHARS // 2 + 1)
    if len(data) > MAX_TEXT_CHARS // 2:
        raise Unreadable(Reason.LARGE)
    return read_html(html_text(data, notes))


def _read_workbook(file: BinaryIO, notes: Notes) -> Iterator[Section]:
    """Read a workbook by its content: many programs export another form than the name says."""
    start = file.read(_LOOKED_AT_BYTES)
    file.seek(0)
    if start.startswith(b"PK"):
        archive = Archive(file)
        if WORKBOOK in archive:
            return read_xlsx(archive, notes)
    elif not start.startswith(OLE):
        if _TABLE_OF_A_PAGE.search(start) is None:
            raise Unreadable(Reason.KIND)
        return _read_page(file, notes)
    elif is_encrypted(file):
        raise Unreadable(Reason.PASSWORD)
    from app.documents.spreadsheets import read_spreadsheet

    file.seek(0)
    return read_spreadsheet(file, notes)

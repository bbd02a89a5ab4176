"""Reads one file whole, in a process of its own that ends with it: for what is attached to a message."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from app.documents.files import opened, read_file
from app.documents.limits import ENDED_FOR_MEMORY, limit_this_process
from app.documents.passages import Passage, passages_of
from app.documents.reading import Kind, Notes, Reason, Unreadable
from app.documents.watcher import PATIENCE_S, start_process

WHOLE = "whole"  # asks the process that reads for one file: this, its name, and where it is
_UNREADABLE = 4  # what the process ends with; the reason is on its output


def text_of(path: Path, name: str, patience_s: float = PATIENCE_S) -> tuple[str, Notes]:
    """Return the text of a file that is called `name`, wherever it is, and its notes. Blocks. Raises `Unreadable`."""
    try:
        process = start_process(WHOLE, name, str(path.absolute()))
    except OSError:
        raise Unreadable(Reason.TIME) from None
    with process:
        try:
            said, _ = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Unreadable(Reason.TIME) from None
    if process.returncode == _UNREADABLE:
        raise Unreadable(Reason(said.decode()))
    if process.returncode:
        raise Unreadable(Reason.MEMORY if process.returncode == ENDED_FOR_MEMORY else Reason.TIME)
    note, _, text = said.partition(b"\n")
    return text.decode("utf-8", "replace"), Notes.from_text(note.decode())


def serve(name: str, path: str) -> int:
    """Write a line of notes and the text of a file to standard output, in the process that reads."""
    limit_this_process()
    notes = Notes()
    try:
        text = _whole(name, path, notes)
    except Unreadable as error:
        reason = error.reason
    except MemoryError:
        reason = Reason.MEMORY
    except Exception:  # anything else that a reader of an untrusted file raises is that file's fault
        reason = Reason.DAMAGED
    else:
        sys.stdout.buffer.write(notes.to_text().encode() + b"\n" + text.encode("utf-8", "replace"))
        sys.stdout.flush()
        return 0
    sys.stdout.write(reason.value)
    sys.stdout.flush()
    return _UNREADABLE


def _whole(name: str, path: str, notes: Notes) -> str:
    with opened(path) as file:
        kind, sections = read_file(file, name, notes)
        text = "".join(_pieces(kind, passages_of(sections)))
    if not text:
        raise Unreadable(Reason.EMPTY)
    return text


def _pieces(kind: Kind, passages: Iterator[Passage]) -> Iterator[str]:
    """Put passages together again; a new sheet of a workbook begins with its name."""
    last, sheet = 0, ""
    for number, passage in enumerate(passages):
        if number:
            yield "\n" if passage.first <= last + 1 and kind is not Kind.PDF else "\n\n"
        if kind is Kind.XLSX and passage.heading != sheet:
            sheet = passage.heading
            yield f"{sheet}\n"
        yield passage.text
        last = passage.last

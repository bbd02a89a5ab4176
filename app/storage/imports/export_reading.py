"""Reads an export of chats in a process of its own, which is bounded in memory and time; both ends of it.

Lines of JSON, from the process to the window: `{"kind": "file" | "chat" | "project", "body": {…}}` for each piece, then
`{"kind": "end", "sources": […], "left": {…}}` or `{"kind": "refused", "sentence": "…"}`. The window decodes one piece
at a time, and none that the process could not hold.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from app.documents.limits import limit_this_process
from app.documents.reading import MB
from app.documents.watcher import start_process
from app.storage.imports.chat_import import NotAnExport, Piece, Summary, export_pieces
from app.translation import tr

READ_EXPORT = "--read-export"  # how the program's own command line asks for this process
MEMORY_BYTES = 1_000 * MB  # a member of an archive may take half of it
PATIENCE_S = 60.0  # for one piece


class ExportReading:
    """One file, read piece by piece. Its methods block: call them in a thread. Leaving the context ends the process."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self.sources: tuple[str, ...] = ()  # known at the end, as `left` is
        self.left: Counter[str] = Counter()
        self._name = path.name
        self._path = path.absolute()
        self._patience_s = patience_s
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ExportReading:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.__exit__(None, None, None)

    def next(self) -> Piece | None:
        """Return the next piece; None after the last. Raises `NotAnExport`."""
        said = self._line()
        match said.get("kind"):
            case "chat" | "project" | "file" as kind:
                return Piece(kind, said["body"])
            case "end":
                self.sources, self.left = tuple(said["sources"]), Counter(said["left"])
                return None
            case "refused":
                raise NotAnExport(said["sentence"])
        raise NotAnExport(tr("Reading {name} took too long or failed.", name=self._name))

    def _line(self) -> dict[str, Any]:
        """Return what the process says next; nothing if it ended or takes too long."""
        try:
            if self._process is None:
                self._process = start_process(str(self._path), command=READ_EXPORT)
            process = self._process
        except OSError:
            return {}
        watch = threading.Timer(self._patience_s, process.kill)
        watch.daemon = True
        watch.start()
        try:
            line = process.stdout.readline() if process.stdout is not None else b""
            found: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
        except (OSError, ValueError):
            return {}
        finally:
            watch.cancel()
        return found


def serve(path: str) -> int:
    """Write the pieces of an export to standard output, in the process that reads."""
    limit_this_process(MEMORY_BYTES)
    gc.disable()  # there are no circles in JSON, and millions of entries to look through for some
    file, summary = Path(path), Summary()
    try:
        for piece in export_pieces(file, summary):
            _say({"kind": piece.kind, "body": piece.body})
    except NotAnExport as error:
        _say({"kind": "refused", "sentence": error.sentence})
    except MemoryError:
        _say({"kind": "refused", "sentence": tr("Reading {name} takes too much memory.", name=file.name)})
    else:
        _say({"kind": "end", "sources": sorted(summary.sources), "left": summary.left})
    return 0


def _say(line: dict[str, object]) -> None:
    sys.stdout.buffer.write(json.dumps(line).encode() + b"\n")
    sys.stdout.buffer.flush()

"""Reads documents into the index, in a process of its own: an untrusted file may take its time and memory, and end it.

Lines of JSON both ways. In: `{"roots": [...], "paused": bool, "given_up": {path: reason}}`, again with each change, and
`{}` to look at everything once more. Out: `{"state": "looking" | "reading" | "paused" | "idle", "path", "done", "of"}`;
the reader of these lines ends this process when one takes too long. The open input is the lifeline.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from app.documents.files import found_files, opened, read_file
from app.documents.index import Writer
from app.documents.limits import ENDED_FOR_MEMORY, limit_this_process, memory_used
from app.documents.one_file import WHOLE, serve
from app.documents.passages import passages_of
from app.documents.reading import MB, Entry, Notes, Reason, Unreadable

COMMIT_BYTES = 48 * MB  # few and large: each commit is a part of the index that has to be merged
COMMIT_S = 5.0
SAY_S = 0.1
GATHER_MS = 800  # changes that come within this are looked at together
TOLD_OF_NOTHING_MS = 2000  # how often a watch says that nothing changed
WITHOUT_WATCH_S = 60.0  # how often everything is looked at where the system does not tell of changes
MOST_MEMORY = 280 * MB


class Worker:
    """One project's reading."""

    def __init__(self, index: Path) -> None:
        self._writer = Writer(index)
        self._orders: queue.Queue[dict[str, object] | None] = queue.Queue()
        self._roots: tuple[str, ...] = ()
        self._paused = False
        self._given_up: dict[str, Reason] = {}
        self._ended = False
        self._said_at = 0.0
        self._watching = threading.Event()  # set to end the watch
        self._watched: tuple[str, ...] | None = None

    def serve(self) -> int:
        """Work until the input closes."""
        threading.Thread(target=self._listen, name="orders", daemon=True).start()
        while not self._input_closed():
            self._take_orders(wait=True)
            self._watch()
            if self._paused:
                self._say("paused")
            elif not self._input_closed():
                self._work()
        self._watching.set()
        self._writer.close()
        return 0

    def _input_closed(self) -> bool:
        return self._ended

    def _listen(self) -> None:
        with os.fdopen(0, "rb", closefd=False) as lines:
            for line in lines:
                self._orders.put(json.loads(line))
        self._orders.put(None)

    def _take_orders(self, wait: bool) -> bool:
        """Take what waits. Return whether there was anything."""
        any_taken = False
        while True:
            try:
                order = self._orders.get(block=wait, timeout=None if self._watched is not None else WITHOUT_WATCH_S)
            except queue.Empty:
                return any_taken
            wait, any_taken = False, True
            if order is None:
                self._ended = True
                return True
            roots, given_up = order.get("roots"), order.get("given_up")
            if isinstance(roots, list):
                self._roots = tuple(map(str, roots))
            if isinstance(given_up, dict):
                self._given_up |= {str(path): Reason(str(reason)) for path, reason in given_up.items()}
            self._paused = bool(order.get("paused", self._paused))

    def _interrupted(self) -> bool:
        """Whether to stop for now: orders that came are taken, and what is left is looked at again."""
        return self._take_orders(wait=False)

    def _work(self) -> None:
        self._say("looking")
        known = self._writer.known()
        wanted: list[Entry] = []
        seen: set[str] = set()
        for number, entry in enumerate(found_files(self._roots)):
            path = entry.path.encode("utf-8", "backslashreplace").decode()
            seen.add(path)
            row = known.get(path)
            if row is None or row[1:3] != (entry.size, entry.changed_ns) or entry.reason or path in self._given_up:
                wanted.append(entry)
            if not number % 1000 and self._soon("looking", "", number, 0) and self._interrupted():
                self._orders.put({})
                return
        self._writer.forget(row[0] for path, row in known.items() if path not in seen)
        if not self._read_all(wanted, known):
            self._orders.put({})
            return
        self._writer.commit()
        self._say("idle")

    def _read_all(self, wanted: list[Entry], known: dict[str, tuple[int, int, int, bytes]]) -> bool:
        """Read what is new or changed. Return False when orders came in between."""
        bytes_open, opened_at = 0, time.monotonic()
        for done, entry in enumerate(wanted):
            self._soon("reading", entry.path, done, len(wanted), always=entry.size > MB or _takes_time(entry.path))
            self._read(entry, known.get(entry.path))
            bytes_open += entry.size
            if bytes_open > COMMIT_BYTES or time.monotonic() - opened_at > COMMIT_S:
                self._writer.commit()
                bytes_open, opened_at = 0, time.monotonic()
            # What Python does not give back is given back by ending.
            if (entry.size > MB or not done % 32) and memory_used() > MOST_MEMORY:
                self._writer.commit()
                os._exit(ENDED_FOR_MEMORY)
            if not self._orders.empty() and self._interrupted():
                self._writer.commit()
                return False
        return True

    def _read(self, entry: Entry, row: tuple[int, int, int, bytes] | None) -> None:
        reason = entry.reason or self._given_up.pop(entry.path, None)
        if reason is not None:
            if row is None or row[3] or row[1:3] != (entry.size, entry.changed_ns):
                self._writer.skip(entry, reason)
            return
        digest = b""
        try:
            with opened(entry.path) as file:
                digest = _digest(file)
                if row is not None and row[3] == digest:
                    self._writer.touch(row[0], entry)
                    return
                file.seek(0)
                notes = Notes()
                kind, sections = read_file(file, entry.path, notes)
                passages = list(passages_of(sections))  # before anything is written: it may turn out to be damaged
                if passages:
                    self._writer.put(entry, kind, digest, passages, notes.to_text())
                else:
                    self._writer.skip(entry, Reason.EMPTY, digest)
        except Unreadable as error:
            self._writer.skip(entry, error.reason, digest)
        except MemoryError:
            self._writer.skip(entry, Reason.MEMORY, digest)
        except sqlite3.Error:
            raise
        except OSError:
            self._writer.skip(entry, Reason.LOCKED)
        except Exception:  # anything else that a reader of an untrusted file raises is that file's fault
            self._writer.skip(entry, Reason.DAMAGED, digest)

    def _watch(self) -> None:
        """Be told of changes below the roots; where the system cannot, everything is looked at now and then."""
        if self._watched == self._roots:
            return
        self._watching.set()
        self._watching = threading.Event()
        self._watched = self._roots
        folders = [root for root in self._roots if Path(root).is_dir()]
        files = {root for root in self._roots if Path(root).is_file()}
        around = sorted({str(Path(file).parent) for file in files})
        for paths, recursive, only in ((folders, True, None), (around, False, files)):
            if paths:
                threading.Thread(
                    target=self._follow, args=(paths, recursive, only, self._watching), name="watch", daemon=True
                ).start()

    def _follow(self, paths: list[str], recursive: bool, only: set[str] | None, ended: threading.Event) -> None:
        import watchfiles

        is_first = True
        try:
            for changes in watchfiles.watch(
                *paths,
                watch_filter=None,
                debounce=GATHER_MS,
                step=100,
                stop_event=ended,
                recursive=recursive,
                raise_interrupt=False,
                ignore_permission_denied=True,
                rust_timeout=TOLD_OF_NOTHING_MS,
                yield_on_timeout=True,
            ):
                # Once more for what changed after it was looked at and before the system was asked to tell.
                if is_first or (changes and (only is None or any(path in only for _, path in changes))):
                    self._orders.put({})
                is_first = False
        except (OSError, RuntimeError):  # too many folders for this system, or one that went
            while not ended.wait(WITHOUT_WATCH_S):
                self._orders.put({})

    def _soon(self, state: str, path: str, done: int, of: int, always: bool = False) -> bool:
        """Say where the work is, a few times a second. Return whether it was said."""
        if not always and time.monotonic() - self._said_at < SAY_S:
            return False
        self._say(state, path, done, of)
        return True

    def _say(self, state: str, path: str = "", done: int = 0, of: int = 0) -> None:
        self._said_at = time.monotonic()
        line = json.dumps({"state": state, "path": path, "done": done, "of": of})
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def _digest(file: io.BytesIO | io.BufferedReader) -> bytes:
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()


def _takes_time(path: str) -> bool:
    return path.lower().endswith((".pdf", ".docx", ".pptx", ".xlsx", ".odt", ".epub", ".html", ".htm"))


def main(arguments: Iterable[str]) -> int:
    """Read into the index named by the one argument until standard input closes; or one file whole."""
    index, *rest = arguments
    if index == WHOLE and rest:
        return serve(*rest)
    limit_this_process()
    gc.set_threshold(20_000)  # passages are many, and seldom in a circle
    try:
        return Worker(Path(index)).serve()
    except (BrokenPipeError, sqlite3.Error, OSError) as error:
        print(f"documents: {type(error).__name__}: {error}", file=sys.stderr)
        return 1

"""Keeps one project's index in step with its files: starts the process that reads, watches over it, starts it again."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.documents.limits import ENDED_FOR_MEMORY, READ_DOCUMENTS
from app.documents.reading import Reason

PATIENCE_S = 60.0  # for one file
MOST_FAILURES = 5  # without a file to blame, one after another: the disk is full, or nothing can be started
_ROOT = Path(__file__).resolve().parents[2]

State = Literal["stopped", "looking", "reading", "paused", "idle", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the reading is: `done` of `of` files that are new or changed."""

    state: State = "stopped"
    path: str = ""
    done: int = 0
    of: int = 0
    trouble: str = ""  # of a state "failed": what the process said last


def start_process(*arguments: str, command: str = READ_DOCUMENTS) -> subprocess.Popen[bytes]:
    """Start this program again as a process that reads, with pipes to all its streams. Raises `OSError`."""
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    # Words are added all over the memory that holds them: in large pages of Linux that takes a sixth less time.
    tuned = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} | os.environ
    own = [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "app"]
    return subprocess.Popen(  # noqa: S603 - our own program
        [*own, command, *arguments],
        cwd=_ROOT,
        env=tuned,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        creationflags=flags,
    )


class DocumentWatcher:
    """One for each project that is followed. `changed` is called in a thread of its own, some times a second."""

    def __init__(self, index: Path, changed: Callable[[Progress], None], patience_s: float = PATIENCE_S) -> None:
        self.index = index
        self.progress = Progress()
        self._changed = changed
        self._patience_s = patience_s
        self._roots: tuple[str, ...] = ()
        self._paused = False
        self._given_up: dict[str, str] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._ended = False

    def follow(self, roots: tuple[str, ...], paused: bool = False) -> None:
        """Read these files and folders from now on, and nothing else; what the index has of others is removed."""
        with self._lock:
            self._roots, self._paused = roots, paused
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="documents", daemon=True)
                self._thread.start()
            else:
                self._tell({"roots": list(roots), "paused": paused})

    def pause(self, paused: bool) -> None:
        """Stop reading after the file at hand, or go on."""
        with self._lock:
            self._paused = paused
            self._tell({"paused": paused})

    def look_again(self) -> None:
        """Look at everything once more, for changes that were not announced."""
        with self._lock:
            self._tell({})

    def close(self) -> None:
        """End the process and wait for it; what it was reading is read at the next start."""
        with self._lock:
            self._ended = True
            process, thread = self._process, self._thread
            if process is not None:
                with contextlib.suppress(OSError):
                    process.kill()
        if thread is not None:
            thread.join()

    def _tell(self, order: Mapping[str, object]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(OSError, ValueError):  # it ended: the next one is told everything
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()

    def _run(self) -> None:
        failures = 0
        while not self._ended and failures < MOST_FAILURES:
            path, code, trouble = self._one_process()
            if self._ended or code == 0:
                break
            if path:
                self._given_up[path] = (Reason.MEMORY if code == ENDED_FOR_MEMORY else Reason.TIME).value
                failures = 0
            elif code == ENDED_FOR_MEMORY:
                failures = 0
            else:
                failures += 1
        if not self._ended and failures:
            self._report(Progress("failed", trouble=trouble))

    def _one_process(self) -> tuple[str, int, str]:
        """Run one process to its end. Return the file that it ended over, what it ended with, and its last words."""
        with self._lock:
            if self._ended:
                return "", 0, ""
            try:
                process = start_process(str(self.index.absolute()))
            except OSError as error:
                return "", 1, str(error)
            self._process = process
            self._tell({"roots": list(self._roots), "paused": self._paused, "given_up": self._given_up})
        words: list[bytes] = []
        listener = threading.Thread(target=lambda: words.extend(process.stderr or ()), name="documents errors")
        listener.start()
        path = self._listen(process)
        with self._lock:
            self._process = None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        code = process.wait()
        listener.join()
        if process.stderr is not None:
            process.stderr.close()
        return path, code, b"".join(words[-1:]).decode("utf-8", "replace").strip()

    def _listen(self, process: subprocess.Popen[bytes]) -> str:
        """Report what the process says until it ends; end it when one file takes too long. Return that file."""
        path = ""
        while True:
            watch = threading.Timer(self._patience_s, process.kill)
            watch.daemon = True
            if path:
                watch.start()
            try:
                line = process.stdout.readline() if process.stdout is not None else b""
            except (OSError, ValueError):
                line = b""
            finally:
                watch.cancel()
            if not line:
                return path
            with contextlib.suppress(ValueError, KeyError, TypeError):
                said = json.loads(line)
                progress = Progress(said["state"], str(said["path"]), int(said["done"]), int(said["of"]))
                path = progress.path if progress.state == "reading" else ""
                self._report(progress)

    def _report(self, progress: Progress) -> None:
        self.progress = replace(progress)
        self._changed(progress)

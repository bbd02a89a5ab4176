"""What is written down when Rialto itself fails. Files on this computer only; nothing is ever sent.

Four ways lead here: an exception in a slot or on another thread, one in a task, a fatal message of Qt, and a crash of
the interpreter, for which `faulthandler` writes names of functions and lines, never values. Every text passes through
`redact` before it reaches the disk.

The interpreter's own crash leaves no time to say what was being done. So that stands at the head of the file from the
beginning, and is overwritten in place: tab, last action, and names of the functions whose work is under way.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from PySide6.QtCore import QMessageLogContext, QObject, QtMsgType, Signal, qInstallMessageHandler, qVersion

from app.storage.errors import refusal_of

if TYPE_CHECKING:
    import asyncio

_log = logging.getLogger(__name__)

_KEPT_REPORTS = 20
_HARD_PREFIX = "interpreter-"
_REPORT_PREFIX = "crash-"
_SEEN_SUFFIX = ".seen.txt"
_TIME = "%Y-%m-%d %H:%M:%S %z"
# `faulthandler` on Windows also writes at errors of COM (0x8…) that file dialogs, for one, handle; crashes are 0xc….
_HANDLED = re.compile(r"^Windows fatal exception: code 0x8.*\n(?:(?!Windows fatal|Fatal Py).*(?:\n|$))*", re.MULTILINE)
_HEAD_BYTES = 512  # room for what is being done, before what `faulthandler` writes


class CrashReport(NamedTuple):
    """One report as it lies on disk, already redacted."""

    path: Path
    text: str
    title: str  # the last line of the traceback, for the dialog


class CrashReporter(QObject):
    """Catches what nobody else caught. `crashed` comes once for each different traceback, on the UI thread."""

    crashed = Signal(object)  # CrashReport
    refused = Signal(object)  # StorageError: the disk took something not, which is no failure of Rialto's

    def __init__(self, folder: Path, *, redact: Callable[[str], str], version: str) -> None:
        super().__init__()
        self._folder = folder
        self._redact = redact
        self._version = version
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._hard_file: TextIO | None = None
        self._tab = self._action = self._work = ""
        self._is_over = False

    def install(self) -> None:
        """Take over Python's and Qt's last resorts. Cheap: no heavy import, one small file."""
        with contextlib.suppress(OSError):  # a full disk: Rialto starts without it
            self._folder.mkdir(parents=True, exist_ok=True)
            self._hard_file = (self._folder / f"{_HARD_PREFIX}{os.getpid()}.txt").open("w", encoding="utf-8")
            self._write_head()
            # On Windows this also writes at exceptions that others handle, while the other threads run on: their stacks
            # must not be read then.
            faulthandler.enable(self._hard_file, all_threads=sys.platform != "win32")
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(self._on_qt_message)

    def install_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hear of tasks that failed with nobody waiting for them."""
        loop.set_exception_handler(self._on_loop_exception)

    def uninstall(self) -> None:
        """Give everything back and report no more; the empty file of a run that ended well is removed."""
        self._is_over = True
        qInstallMessageHandler(None)
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        if self._hard_file is not None:
            faulthandler.disable()
            self._hard_file.close()
            with contextlib.suppress(OSError):
                Path(self._hard_file.name).unlink()
            self._hard_file = None

    def doing(self, *, tab: str | None = None, action: str | None = None, work: Iterable[str] | None = None) -> None:
        """Remember the tab, the id of the last action, or the functions that run, the newest last; nothing typed."""
        self._tab = self._tab if tab is None else tab
        self._action = self._action if action is None else action
        self._work = self._work if work is None else ", ".join(reversed(tuple(work)))
        self._write_head()

    def _doing(self) -> str:
        facts = (
            self._tab or "starting",
            f"last action {self._action}" if self._action else "",
            f"under way: {self._work}" if self._work else "",
        )
        return "; ".join(filter(None, facts))

    def _write_head(self) -> None:
        if self._hard_file is None:
            return
        head = f"Rialto {self._version}, while: {self._doing()}".encode()[: _HEAD_BYTES - 1].ljust(_HEAD_BYTES - 1)
        with contextlib.suppress(OSError):
            os.lseek(self._hard_file.fileno(), 0, os.SEEK_SET)
            os.write(self._hard_file.fileno(), head + b"\n")  # `faulthandler` goes on behind it

    def report(self, error: BaseException) -> CrashReport | None:
        """Write `error` down and tell the window; None when the same traceback was reported before.

        What the disk refused makes no report: whoever writes may leave saying so to this one place.
        """
        if self._is_over:
            return None
        refusal = refusal_of(error)
        if refusal is not None:
            _log.error("The disk refused: %s", self._redact(refusal.sentence))
            self.refused.emit(refusal)
            return None
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        return self._write("".join(lines), title=lines[-1].strip().splitlines()[0] if lines else "Unknown")

    def left_behind(self) -> tuple[CrashReport, ...]:
        """What earlier runs wrote and nobody has looked at, newest first."""
        found: list[CrashReport] = []
        for path in self._folder.glob(f"{_HARD_PREFIX}*.txt"):
            if self._hard_file is None or Path(self._hard_file.name) != path:
                found += self._adopt(path)
        for path in self._folder.glob(f"{_REPORT_PREFIX}*.txt"):
            if not path.name.endswith(_SEEN_SUFFIX) and not any(report.path == path for report in found):
                text = path.read_text(encoding="utf-8", errors="replace")
                found.append(CrashReport(path, text, _title_of(text)))
        return tuple(sorted(found, key=lambda report: report.path.name, reverse=True))

    def mark_seen(self, report: CrashReport) -> None:
        """Do not offer this report again; it stays on disk until newer ones push it out."""
        seen = report.path.with_name(report.path.name.removesuffix(".txt") + _SEEN_SUFFIX)
        with contextlib.suppress(OSError):
            report.path.rename(seen)

    def _adopt(self, path: Path) -> list[CrashReport]:
        """Turn what `faulthandler` left into a report; of a run that ended otherwise there is a head at most."""
        head, text, at = _read_hard_file(path)
        pid = path.stem.removeprefix(_HARD_PREFIX)
        if pid.isdigit() and _is_running(int(pid)) and int(pid) != os.getpid():
            return []
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return []  # still open: it belongs to a Rialto that runs
        if not text:
            return []
        surroundings = f"{head}\n{time.strftime(_TIME, time.localtime(at))}"
        report = self._write(text, title=text.splitlines()[0], tell=False, surroundings=surroundings)
        return [report] if report is not None else []

    def _write(self, body: str, *, title: str, tell: bool = True, surroundings: str = "") -> CrashReport | None:
        import hashlib

        safe = self._redact(body).replace(str(Path.home()), "~")
        fingerprint = hashlib.sha256(safe.encode()).hexdigest()[:12]
        with self._lock:
            if fingerprint in self._seen:
                return None
            self._seen.add(fingerprint)
        title = self._redact(title).replace(str(Path.home()), "~")
        surroundings = self._redact(surroundings or self._surroundings())
        text = f"{title}\n\n{surroundings}\n\n{safe.rstrip()}\n"
        path = self._folder / f"{_REPORT_PREFIX}{time.strftime('%Y%m%d-%H%M%S')}-{fingerprint}.txt"
        report = CrashReport(path, text, title)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
        except OSError:
            _log.exception("The crash report could not be written")
        self._forget_oldest()
        _log.error("Rialto failed: %s", title)
        if tell:
            self.crashed.emit(report)
        return report

    def _surroundings(self) -> str:
        import platform  # takes longer to import than the rest of this file, and a good day needs it never

        return (
            f"Rialto {self._version}, Python {platform.python_version()}, Qt {qVersion()}\n"
            f"{platform.system()} {platform.release()} {platform.machine()}\n"
            f"{time.strftime(_TIME)}, while: {self._doing()}"
        )

    def _forget_oldest(self) -> None:
        reports = sorted(self._folder.glob(f"{_REPORT_PREFIX}*.txt"))
        for path in reports[:-_KEPT_REPORTS]:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.report(error.with_traceback(trace))

    def _on_thread_exception(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            self.report(args.exc_value)

    def _on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.report(error)
        else:
            _log.warning("%s", self._redact(str(context.get("message", ""))))

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        text = self._redact(message)
        if kind == QtMsgType.QtFatalMsg:
            self._write(f"Qt: {text}\n{context.file or ''}:{context.line or 0}", title=f"Qt: {text}", tell=False)
        levels = {
            QtMsgType.QtDebugMsg: logging.DEBUG,
            QtMsgType.QtInfoMsg: logging.INFO,
            QtMsgType.QtWarningMsg: logging.WARNING,
            QtMsgType.QtCriticalMsg: logging.ERROR,
            QtMsgType.QtFatalMsg: logging.CRITICAL,
        }
        logging.getLogger("qt").log(levels[kind], "%s", text)


def texts_in(folder: Path) -> list[str]:
    """Return what processes that have ended wrote down in `folder`, the oldest first."""
    found = [
        (_age(path), path.read_text(encoding="utf-8", errors="replace").strip())
        for path in folder.glob(f"{_REPORT_PREFIX}*.txt")
    ]
    for path in folder.glob(f"{_HARD_PREFIX}*.txt"):
        head, text, at = _read_hard_file(path)
        if text:
            found.append((at, f"{head}\n{text}"))
    return [text for _, text in sorted(found)]


def _read_hard_file(path: Path) -> tuple[str, str, float]:
    """What was being done, what `faulthandler` wrote ("" when the run was not ended by a crash), and when."""
    content = path.read_bytes()
    head, text = (part.decode(errors="replace").strip() for part in (content[:_HEAD_BYTES], content[_HEAD_BYTES:]))
    return head, _HANDLED.sub("", text.replace("\r\n", "\n")).strip(), _age(path)


def _age(path: Path) -> float:
    return path.stat().st_mtime


def _title_of(text: str) -> str:
    return text.partition("\n")[0]


def _is_running(pid: int) -> bool:
    """Whether a process of this number lives. Numbers are reused, so this may say yes for a stranger."""
    if sys.platform == "win32":
        return False  # an open file cannot be removed there, which keeps a living run's file
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

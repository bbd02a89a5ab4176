"""Formulas as images: set in another process, kept, and drawn in whatever color and size the text has.

`Formulas.get` never waits. What is not there yet has a place of about its size; `typeset` says when it can be drawn.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPixmap

from app.ui.kit.markdown.formula_size import size_of
from app.ui.kit.markdown.formula_worker import NotSet, check
from app.ui.kit.qt_workarounds.thread_pool import once_in_window_thread

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer

EM = 20.0  # px of one em in what the worker sends
MATH_SCALE = 1.08  # the formula's own letters are a little smaller than the text's at the same size
MAX_KEPT = 600
MAX_PICTURES = 200
IDLE_S = 20.0  # after this the process is ended; the next formula starts another
PATIENCE_S = 3.0  # for one formula; the first one also loads the libraries
FIRST_PATIENCE_S = 15.0
MAX_WAITING = 400

Key = tuple[str, bool]  # source, whether it stands on lines of its own
Answered = Callable[[dict[str, Any] | None], None]  # takes what the worker said, in any thread


@dataclass(slots=True)
class Formula:
    """One formula. Measures are in em; `left` and `top` are counted from the beginning of the baseline, up is less."""

    svg: bytes = b""
    left: float = 0.0
    top: float = 0.0
    width: float = 0.0
    height: float = 0.0
    is_waiting: bool = False  # an empty place of about the size that it will have
    _renderer: QSvgRenderer | None = None

    @property
    def is_set(self) -> bool:
        """False for one that cannot be set: its source is shown instead."""
        return bool(self.svg)

    @property
    def ascent(self) -> float:
        return max(0.0, -self.top)

    @property
    def descent(self) -> float:
        return max(0.0, self.height + self.top)

    def picture(self, width_px: int, height_px: int, color: QColor, dpr: float) -> QPixmap:
        """Draw it in one color, whatever colors the message asked for."""
        from PySide6.QtSvg import QSvgRenderer

        if self._renderer is None:
            self._renderer = QSvgRenderer(self.svg)
        made = QPixmap(max(1, round(width_px * dpr)), max(1, round(height_px * dpr)))
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._renderer.render(painter, QRectF(0, 0, made.width(), made.height()))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(made.rect(), color)
        painter.end()
        made.setDevicePixelRatio(dpr)
        return made


class Formulas(QObject):
    """One for each window's worth of text. Ask with `get`; nothing is started before the first formula."""

    typeset = Signal(str)  # the source of a formula that can be drawn now, or never

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[Key, Formula] = OrderedDict()
        self._pictures: OrderedDict[tuple[Any, ...], QPixmap] = OrderedDict()
        self._waiting: set[Key] = set()
        self._wanted: queue.Queue[tuple[Key, Answered]] = queue.Queue()
        self._thread: threading.Thread | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being set."""
        return not self._waiting

    def get(self, source: str, display: bool) -> Formula:
        """Return the formula, one that `is_waiting` while nobody knows, one that is not `is_set` when it cannot be."""
        key = (source, display)
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        if key not in self._waiting:
            try:
                check(source)
            except NotSet:
                return Formula()
            if len(self._waiting) >= MAX_WAITING:
                return Formula()
            self._waiting.add(key)
            self._wanted.put((key, once_in_window_thread(self, partial(self._take, source, display))))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=_work, args=(self._wanted,), name="typeset", daemon=True)
                self._thread.start()
        width, up, down = size_of(source, display)
        return Formula(top=-up, width=width, height=up + down, is_waiting=True)

    def picture(self, formula: Formula, width_px: int, height_px: int, color: QColor, dpr: float) -> QPixmap:
        """Return the formula as it is painted."""
        key = (id(formula), width_px, height_px, color.rgba(), dpr)
        made = self._pictures.get(key)
        if made is None:
            made = self._pictures[key] = formula.picture(width_px, height_px, color, dpr)
            while len(self._pictures) > MAX_PICTURES:
                self._pictures.popitem(last=False)
        return made

    def _take(self, source: str, display: bool, answer: dict[str, Any] | None) -> None:
        self._waiting.discard((source, display))
        self._kept[(source, display)] = _formula_of(answer)
        while len(self._kept) > MAX_KEPT:
            _, gone = self._kept.popitem(last=False)
            for key in [key for key in self._pictures if key[0] == id(gone)]:
                del self._pictures[key]
        self.typeset.emit(source)


def _formula_of(answer: dict[str, Any] | None) -> Formula:
    if not answer or "svg" not in answer:
        return Formula()
    left, top, width, height = (float(answer[name]) / EM for name in ("left", "top", "width", "height"))
    return Formula(str(answer["svg"]).encode(), left, top, width, height)


def worker_command() -> list[str]:
    """How the process is started: our own program once it is built, the file beside this one before."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--typeset"]
    return [sys.executable, str(Path(__file__).with_name("formula_worker.py"))]


def _work(wanted: queue.Queue[tuple[Key, Answered]]) -> None:
    """Runs in a thread: hand formulas to the process one by one, and end it when none has come for a while."""
    process: subprocess.Popen[bytes] | None = None
    try:
        while True:
            try:
                (source, display), answered = wanted.get(timeout=IDLE_S)
            except queue.Empty:
                return
            first = process is None or process.poll() is not None
            if first:
                _end(process)
                process = _started()
            answer = _ask(process, source, display, FIRST_PATIENCE_S if first else PATIENCE_S)
            if answer is None:
                _end(process)
                process = None
            answered(answer)
    finally:
        _end(process)


def _started() -> subprocess.Popen[bytes] | None:
    # No console flashes up on Windows, and the window goes first where the two share a processor.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
    try:
        return subprocess.Popen(  # noqa: S603 - our own program or our own file, nothing of a message is in it
            worker_command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=flags,
        )
    except OSError:
        return None


def _ask(
    process: subprocess.Popen[bytes] | None, source: str, display: bool, patience_s: float
) -> dict[str, Any] | None:
    """Return the worker's answer; None when it ended, or had to be ended because it took too long."""
    if process is None or process.stdin is None or process.stdout is None:
        return None
    watch = threading.Timer(patience_s, process.kill)
    watch.daemon = True
    watch.start()
    try:
        process.stdin.write(json.dumps({"source": source, "display": display}).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        answer = json.loads(line) if line else None
        return answer if isinstance(answer, dict) else None
    except (OSError, ValueError):
        return None
    finally:
        watch.cancel()


def _end(process: subprocess.Popen[bytes] | None) -> None:
    if process is None:
        return
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

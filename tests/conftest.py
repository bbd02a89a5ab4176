"""What every test stands on: no display, a data folder of its own, and the event loop that we ship."""

import asyncio
import contextlib
import faulthandler
import functools
import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("PULSE_SERVER", "unix:/nonexistent/pulse")  # no test makes a noise on this computer

import httpx
import hypothesis
import pytest
import qasync
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimerEvent
from PySide6.QtWidgets import QApplication

from app.ui.kit.qt_workarounds.layout_items import forget_layout_items
from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard
from tests.audio.pulse import Pulse
from tests.audio.pulse import start as start_pulse
from tests.kit.foreign_system import windows_files

if TYPE_CHECKING:
    from app.sandbox.media.sound import Samples
    from app.sandbox.media.transcription_engine import Word, _Ear
    from app.ui.kit.qt_workarounds.loop_timers import LoopTimers

hypothesis.settings.register_profile("rialto", deadline=None)  # a deadline measures the machine, not the program
hypothesis.settings.load_profile("rialto")
RECURSION_LIMIT = sys.getrecursionlimit()
NO_TIMERS = QEventLoop.ProcessEventsFlag.X11ExcludeTimers
LONGEST = (
    *("test_devices.py", "test_pseudo_language.py", "test_wrappers.py", "test_tour.py", "test_published_clients.py"),
    *("test_hostile_names.py", "test_full_disk.py", "test_self_test.py", "test_undo_and_trash.py", "test_wallet.py"),
    *("test_ends.py", "test_every_place.py", "test_refused_exports.py"),
)
LONG_FOLDERS = ("accessibility", "journeys")  # whose tests take half of the time
read_no_sources()
install_exception_guard()
forget_layout_items()
httpx._transports.default.create_ssl_context = functools.cache(httpx.create_ssl_context)  # else 30 ms each
gc.disable()  # a worker thread that collects Qt objects ends the process; see qt_workarounds/garbage_collector.py


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:] = longest_first(items, getattr(config, "workerinput", {}).get("workercount", 1))


def longest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return `items` so that each worker begins with some files of what takes longest: else one is at it alone when
    the others have ended. Each worker first gets an equal share of the list, and others take from the end of it.

    Devices come before: Qt's list stays with the sound server that the first window of a process found.
    """
    heads: list[list[pytest.Item]] = [[] for _ in range(workers)]
    rest: list[pytest.Item] = []
    turns = {name: turn for turn, name in enumerate(LONGEST)}
    for item in items:
        name = item.path.name
        if item.path.parent.name in LONG_FOLDERS:
            turns.setdefault(name, len(turns))
        (heads[turns[name] % workers] if name in turns else rest).append(item)
    heads[0].sort(key=lambda item: item.path.name != LONGEST[0])
    ordered: list[pytest.Item] = []
    for worker, head in enumerate(heads):
        share = (len(items) - len(ordered)) // (workers - worker)
        cut = max(0, share - len(head))
        ordered += [*head, *rest[:cut]]
        del rest[:cut]
    return ordered + rest


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the person's own folder or keyring."""
    monkeypatch.setenv("RIALTO_HOME", str(tmp_path / "rialto-home"))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=os.environ.get("RIALTO_TEST_FILES") == "windows")
def _files_by_the_rules_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    windows_files(monkeypatch, tmp_path)


@pytest.fixture(autouse=True)
def _own_recursion_limit() -> None:
    """Libraries of chains raise it a hundredfold when a test imports them; deep JSON would then end the process."""
    sys.setrecursionlimit(RECURSION_LIMIT)


@pytest.fixture(autouse=True)
def _show_crashes_of_processes(tmp_path: Path) -> Iterator[None]:
    """What a Rialto started by a test wrote down when it crashed; pytest prints it when the test failed."""
    yield
    for path in tmp_path.glob("*/logs/crashes/interpreter-*.txt"):
        if text := path.read_text(encoding="utf-8", errors="replace"):
            print(f"{path.name}:\n{text}")


@pytest.fixture(scope="session", autouse=True)
def _print_crashes_of_this_process() -> Iterator[None]:
    """A window in this process points `faulthandler` at its own file, which is gone with the worker that crashed."""
    with pytest.MonkeyPatch.context() as patch:  # pytest has it print to where the worker's errors go
        patch.setattr(faulthandler, "enable", lambda *_, **__: None)
        patch.setattr(faulthandler, "disable", lambda: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _run_no_task_within_another() -> Iterator[None]:
    """`processEvents` within a coroutine would fire the timers by which qasync runs tasks; asyncio refuses a step of a
    task within another's, and that step is lost: the task waits for good. There it fires no timers.
    """
    everything = QApplication.processEvents

    def process_events(*arguments: object) -> None:
        task = None
        with contextlib.suppress(RuntimeError):  # no loop runs
            task = asyncio.current_task()
        if task is None:
            everything(*arguments)
        else:
            everything(NO_TIMERS)

    with pytest.MonkeyPatch.context() as patch:
        for owner in (QCoreApplication, QApplication):
            patch.setattr(owner, "processEvents", staticmethod(process_events))
        yield


@pytest.fixture(scope="session", autouse=True)
def _set_aside_what_stays() -> None:
    """No full collection looks at modules and thousands of collected tests again: a third of a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _copy_new_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What `Database.open` makes is a copy of one that it made before: twenty migrations take longer than most tests.

    Tests of the migrations call `schema.prepare` themselves.
    """
    from app.storage import database

    prepare, path = database.prepare, tmp_path_factory.mktemp("new-database") / "rialto.db"
    prepare(path, path.parent)
    made = path.read_bytes()

    def copy_or_prepare(path: Path, backups: Path, migrations: None, now: Callable[[], datetime]) -> tuple[int, ...]:
        with contextlib.suppress(OSError):  # the program says it in words
            if not path.exists() and path.parent.is_dir():
                path.touch(mode=0o600)
                path.write_bytes(made)
        return prepare(path, backups, migrations, now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "prepare", copy_or_prepare)
        yield


@pytest.fixture(scope="session", autouse=True)
def _clear_clipboard() -> Iterator[None]:
    """Without a display Qt deletes what is on it when Python is gone, which ends the process with a fault."""
    yield
    if QApplication.instance() is not None:
        QApplication.clipboard().clear()


@pytest.fixture(autouse=True)
def _collect_between_tests() -> Iterator[None]:
    """What the window does when its event loop is about to wait."""
    from app.ui.kit.qt_workarounds.garbage_collector import collect_if_due

    yield
    collect_if_due()


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@functools.cache
def _timers_class() -> type["LoopTimers"]:
    """Made behind the exception guard, as every override of the program."""
    from app.ui.kit.qt_workarounds.loop_timers import LoopTimers

    class Timers(LoopTimers):
        """Runs what asyncio has to do only while asyncio's loop runs: pytest-qt turns Qt's between a fixture and its
        test, where a task knows of no loop and may leave a lock locked for good."""

        def timerEvent(self, event: QTimerEvent) -> None:
            if asyncio._get_running_loop() is not None:
                super().timerEvent(event)

    return Timers


def _window_loop() -> qasync.QEventLoop:
    """The loop that we ship, set up as bootstrap does."""
    from app.ui.kit.qt_workarounds.async_generators import close_left_generators
    from app.ui.kit.qt_workarounds.loop_timers import end_cancelled_timers, start_threads_when_needed

    loop = qasync.QEventLoop(QApplication.instance() or QApplication([]))
    start_threads_when_needed(loop)
    end_cancelled_timers(loop, _timers_class()())
    close_left_generators(loop)
    return loop


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> dict[str, object]:
    """Tests of the window run on the loop that we ship; everything below it on the plain one."""
    if "tests/ui" in item.nodeid or "tests/journeys" in item.nodeid:
        return {"qasync": _window_loop}
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture(scope="module")
def pulse() -> Iterator[Pulse]:
    """A real sound server with a loudspeaker and a microphone; this process and its children use it.

    It starts in a tenth of a second and takes a tenth of a processor while it runs, so it ends with its module. Its
    buffers are 20 ms: where the system allows it, what handles sound goes before the other workers' tests, whose load
    would leave gaps in what a microphone hears.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, before - 10)  # of this thread, and of each that it starts from here on
    found = start_pulse()
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as at_end:
        at_end.callback(os.setpriority, os.PRIO_PROCESS, 0, before)
        patch.setenv("XDG_RUNTIME_DIR", found.environ["XDG_RUNTIME_DIR"])
        patch.setenv("PULSE_SERVER", found.environ["PULSE_SERVER"])
        yield found
    found.close()


@functools.cache
def _hear_once() -> Callable[["Samples", float, "_Ear"], tuple["Word", ...]]:
    from app.sandbox.media.transcription_engine import _words

    known: dict[tuple[bytes, float, str], tuple[tuple[Word, ...], str]] = {}

    def hear_once(piece: "Samples", at_s: float, ear: "_Ear") -> tuple["Word", ...]:
        key = hashlib.sha256(piece.tobytes()).digest(), at_s, ear.usual
        if key not in known:
            known[key] = _words(piece, at_s, ear), ear.usual
        words, ear.usual = known[key]
        return words

    return hear_once


@pytest.fixture(scope="session", autouse=True)
def _render_equal_videos_once() -> Iterator[None]:
    """Sandboxes of this process render equal orders once for all tests: it takes a third of a video's length."""
    from app.sandbox.media import video_jobs

    with pytest.MonkeyPatch.context() as patch:
        made = "_made"
        patch.setattr(video_jobs, made, functools.lru_cache(maxsize=32)(getattr(video_jobs, made)))
        yield


@pytest.fixture
def heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sandboxes of this process recognize each piece of a recording once for all tests: it takes a third of its
    length, and long recordings of tests are a short one repeated."""
    monkeypatch.setattr("app.sandbox.media.transcription_engine._words", _hear_once())


@pytest.fixture
def tmp_home(tmp_path: Path) -> Iterator[Path]:
    home = tmp_path / "rialto-home"
    home.mkdir(exist_ok=True)
    yield home


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is told to say, in order, as if one were running."""
    from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

    said: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "setActive", lambda _active: None)
    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return said

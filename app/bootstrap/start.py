"""From the command line to the end of the program."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QThreadPool
from PySide6.QtWidgets import QApplication

from app import __version__
from app.bootstrap.options import Options, Printed, read_options
from app.bootstrap.startup_context import StartupContext
from app.bootstrap.startup_marks import BackgroundImport
from app.credentials.redaction import Redactor
from app.storage.errors import StorageUnavailable
from app.storage.paths import HOME_VARIABLE, Paths
from app.translation import LANGUAGE, tr
from app.ui.kit.locale_formats import translate_qt
from app.ui.kit.own_executable import restore_environment
from app.ui.kit.qt_workarounds.garbage_collector import UiThreadGarbageCollector
from app.ui.kit.qt_workarounds.layout_items import forget_layout_items
from app.ui.shell.crash_reports import CrashReporter
from app.ui.shell.single_instance import SingleInstance

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto

_MAKE_WRITABLE = tr("Allow writing to that folder, or choose another one with --portable FOLDER.")
OTHER_ENDS_WITHIN_MS = 10_000
THREADS_END_WITHIN_S = 3.0  # after everything is saved
_END_THE_OTHER = tr("Wait a moment and try again, or quit the other copy first.")


def run(arguments: Sequence[str]) -> int:
    """Run the program to its end and return the exit code."""
    options = read_options(arguments)
    if isinstance(options, Printed):
        from app.bootstrap.start_failure import show_text

        show_text(options.text)
        return options.code
    if options.portable is not None:
        os.environ[HOME_VARIABLE] = str(options.portable)  # for the processes that this one starts as well
    if options.uninstall_info:
        from app.bootstrap.start_failure import show_text
        from app.storage.disk_usage import uninstall_info

        show_text(uninstall_info(Paths.for_user()))
        return 0
    if options.self_test:
        from app.ui.shell.self_test import guide as test_itself

        return test_itself()
    if options.tour is not None and not options.act:
        from app.ui.shell.tour import guide

        return guide(options.tour, options.theme)
    if not _has_display():  # Qt would end the process, with a message about a library
        print(
            tr("Rialto needs a display to open its window. `rialto --tour FOLDER` takes a tour without one."),
            file=sys.stderr,
        )
        return 1
    forget_layout_items()
    qt_app = QApplication([sys.argv[0], "-style", "fusion"])
    if LANGUAGE:
        translate_qt(qt_app, LANGUAGE)
    qt_app.setApplicationName("Rialto")
    qt_app.setApplicationVersion(__version__)
    qt_app.setDesktopFileName("rialto")
    restore_environment()
    qt_app.setQuitOnLastWindowClosed(False)  # the loop must outlive the window by what there is to save
    paths = Paths.for_user()
    try:
        paths.make()
    except StorageUnavailable as error:
        return _fail(
            f"{error.sentence}.",
            tr("Rialto keeps its data in {data}. {make_writable}", data=paths.data, make_writable=_MAKE_WRITABLE),
        )
    instance = SingleInstance(paths.data)
    if not instance.try_lock():
        if instance.raise_other():
            print(tr("Rialto is already running. Its window is in front now."))
            return 0
        if instance.is_refused:
            return _fail(tr("Rialto cannot write to its data folder, {data}.", data=paths.data), _MAKE_WRITABLE)
        if not instance.try_lock(OTHER_ENDS_WITHIN_MS):  # it is saving, and its window is gone
            return _fail(
                tr("Another copy of Rialto is using {data} and is not responding.", data=paths.data), _END_THE_OTHER
            )
    try:
        return _run_window(qt_app, options, paths, instance)
    except DisplayLost:
        print(tr("Rialto quit because its display closed. Everything you wrote is saved."), file=sys.stderr, flush=True)
        os._exit(1)  # the database's thread would be waited for, and nothing can tell it to end any more


def end_with(code: int) -> int:
    """Return the exit code, and end the process soon: a thread may read from a disk or a pipe that never answers."""
    pool = QThreadPool.globalInstance()
    pool.clear()
    if not pool.waitForDone(round(THREADS_END_WITHIN_S * 1000)):  # Qt would wait for it without a limit
        os._exit(code)
    killer = threading.Timer(THREADS_END_WITHIN_S, os._exit, (code,))  # and Python for its own threads
    killer.daemon = True
    killer.start()
    return code


def _has_display() -> bool:
    """Return whether Qt can find a display; one that is named may still refuse."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def _fail(what: str, advice: str) -> int:
    from app.bootstrap.start_failure import show_start_failure  # its message box is 1 ms of a start that works

    show_start_failure(what, advice)
    return 1


class DisplayLost(Exception):
    """The display server ended, as at a logout: Qt stopped the loop in the middle of everything."""


def _run_window(qt_app: QApplication, options: Options, paths: Paths, instance: SingleInstance) -> int:
    secrets = Redactor()
    crashes = CrashReporter(paths.crashes, redact=secrets.redact, version=__version__)
    crashes.install()
    rialto: Rialto | None = None
    try:
        context = StartupContext(options, paths, instance, secrets, crashes)
        context.begin_sandbox()
        from app.bootstrap import rialto as program  # everything else: the Sandbox comes up meanwhile

        rialto = program.Rialto(qt_app, context, has_fusion=True)
        _show(rialto)
        return _run_in_loop(qt_app, rialto)
    except StorageUnavailable as error:
        return _fail(f"{error.sentence}.", _MAKE_WRITABLE)
    finally:
        crashes.uninstall()
        instance.release()
        if rialto is not None and rialto.leaves_no_trace:
            _remove_all(paths)


def _remove_all(paths: Paths) -> None:
    from app.storage.removal import remove_all

    for path in remove_all(paths):
        print(tr("{path} could not be removed.", path=path), file=sys.stderr)


def _show(rialto: Rialto) -> None:
    """Show the window on Qt's own loop until asyncio is loaded: 35 ms that nobody waits for before the first paint."""
    waiting = QEventLoop()
    loading = BackgroundImport("asyncio", "concurrent.futures.thread")
    loading.done.connect(waiting.quit)
    rialto.window.closed.connect(waiting.quit)
    rialto.open().over.connect(loading.start)
    waiting.exec()
    loading.join()
    gc.freeze()  # what a start makes, lives as long as the program: no collection need ever look at it


def _run_in_loop(qt_app: QApplication, rialto: Rialto) -> int:
    import asyncio

    import qasync

    from app.ui.kit.qt_workarounds.async_generators import close_left_generators
    from app.ui.kit.qt_workarounds.loop_timers import (
        end_cancelled_timers,
        replace_threads,
        start_threads_when_needed,
        wait_for_events,
    )

    loop = qasync.QEventLoop(qt_app)
    wait_for_events(loop)
    start_threads_when_needed(loop)
    end_cancelled_timers(loop)
    rialto.window.closed.connect(lambda: replace_threads(loop))
    collector = UiThreadGarbageCollector()
    leave_generators = close_left_generators(loop)
    rialto.crashes.install_loop(loop)
    for number in (signal.SIGINT, signal.SIGTERM):
        # Whoever sends one wants the end and is not there to be asked.
        with contextlib.suppress(NotImplementedError):  # Windows: its event loop knows no signals
            loop.add_signal_handler(number, rialto.window.closed.emit)
    asyncio.set_event_loop(loop)
    codes: list[int] = []

    async def live() -> None:
        codes.append(await rialto.live())
        rialto.instance.release()  # everything is saved: nobody waits for the threads of this program

    def lose_display() -> None:
        if not codes:
            rialto.crashes.uninstall()  # that tasks find no loop any more is no crash

    qt_app.aboutToQuit.connect(lose_display)
    try:
        with loop:
            loop.run_until_complete(live())
        return codes[0]
    except RuntimeError as error:
        if codes or not str(error).startswith("Event loop stopped"):
            raise
        raise DisplayLost from error
    finally:
        leave_generators()
        collector.close()

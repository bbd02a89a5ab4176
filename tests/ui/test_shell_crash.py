"""What fails is written down without secrets, told once, offered after the next start, and never sent."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication

from app.credentials.redaction import Redactor
from app.ui.shell.crash_dialog import CrashDialog
from app.ui.shell.crash_reports import CrashReporter, texts_in
from tests.kit.portable import has_mode

SECRET = "sk-live-0123456789abcdefghij"


@pytest.fixture
def reporter(tmp_path: Path, qapp):
    registry = Redactor()
    registry.add(SECRET)
    reporter = CrashReporter(tmp_path, redact=registry.redact, version="1.2.3")
    hooks = sys.excepthook, threading.excepthook
    reporter.install()
    yield reporter
    reporter.uninstall()
    sys.excepthook, threading.excepthook = hooks


def failing() -> Exception:
    try:
        raise RuntimeError(f"could not send with {SECRET}")
    except RuntimeError as error:
        return error


def test_a_report_names_the_place_but_no_secret_and_is_private(reporter: CrashReporter) -> None:
    reporter.doing(tab="Chat", action="chat.send", work=["Presenter.read", "Presenter.send"])
    report = reporter.report(failing())
    text = report.path.read_text()
    assert "RuntimeError" in text
    assert "in failing" in text
    assert "while: Chat; last action chat.send; under way: Presenter.send, Presenter.read\n" in text
    assert SECRET not in text + report.title
    assert has_mode(report.path, 0o600)


def test_the_same_failure_is_told_once(reporter: CrashReporter) -> None:
    told: list[object] = []
    reporter.crashed.connect(told.append)
    error = failing()
    assert reporter.report(error) is not None
    assert reporter.report(error) is None
    assert len(told) == 1


def test_a_failure_in_another_thread_is_written_down(reporter: CrashReporter, tmp_path: Path, qtbot) -> None:
    def work() -> None:
        raise ValueError("in a worker")

    with qtbot.waitSignal(reporter.crashed, timeout=60_000):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert "in a worker" in reporter.left_behind()[0].text


async def test_a_task_that_nobody_waits_for_is_heard(reporter: CrashReporter) -> None:
    reporter._on_loop_exception(None, {"message": "never retrieved", "exception": failing()})
    assert len(reporter.left_behind()) == 1


def test_a_report_that_was_seen_is_not_offered_again(reporter: CrashReporter) -> None:
    reporter.report(failing())
    offered = reporter.left_behind()
    reporter.mark_seen(offered[0])
    assert (len(offered), reporter.left_behind()) == (1, ())


def test_the_home_folder_is_not_in_a_report(reporter: CrashReporter) -> None:
    try:
        raise OSError(f"cannot open {Path.home()}/private/file")
    except OSError as error:
        assert str(Path.home()) + "/private" not in reporter.report(error).text


def test_a_crash_of_the_interpreter_is_found_at_the_next_start(tmp_path: Path, qapp) -> None:
    program = (
        "import faulthandler, sys\n"
        "from pathlib import Path\n"
        "from app.ui.shell.crash_reports import CrashReporter\n"
        "reporter = CrashReporter(Path(sys.argv[1]), redact=str, version='1')\n"
        "reporter.install()\n"
        "reporter.doing(tab='Wallet', work=['Presenter.' + 'x' * 2000])\n"
        "reporter.doing(action='wallet.refresh', work=['Presenter.read'])\n"
        "faulthandler._sigsegv()\n"
    )
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=environ, capture_output=True, check=False
    )
    assert ended.returncode != 0
    found = CrashReporter(tmp_path, redact=str, version="1").left_behind()
    assert [report.title for report in found] == ["Fatal Python error: Segmentation fault"]
    assert "Rialto 1, while: Wallet; last action wallet.refresh; under way: Presenter.read\n" in found[0].text


STACK = '\n\nThread 0x1f4c (most recent call first):\n  File "main.py", line 8 in main\n\n'


def test_what_windows_handles_itself_is_no_crash(tmp_path: Path, qapp) -> None:
    """faulthandler there also writes at errors of COM that a file dialog handles; the run was ended by a shutdown."""
    (tmp_path / "crashes").mkdir()
    handled = f"Windows fatal exception: code 0x8001010e{STACK}Windows fatal exception: code 0x80010108{STACK}"
    crash = f"Windows fatal exception: access violation{STACK}"
    for pid, text in ((999_999_998, handled), (999_999_997, f"{handled}{crash}{handled}")):
        path = tmp_path / f"crashes/interpreter-{pid}.txt"
        path.write_bytes(b"0.1".ljust(512) + text.replace("\n", "\r\n").encode())
    (report,) = CrashReporter(tmp_path / "crashes", redact=str, version="0.1").left_behind()
    assert report.title == "Windows fatal exception: access violation"
    assert "0x8001" not in report.text and "line 8 in main" in report.text


def test_a_run_that_was_killed_leaves_no_report(tmp_path: Path, qapp) -> None:
    (tmp_path / "interpreter-2147483647.txt").write_text("Rialto 1, while: Wallet".ljust(511) + "\n")
    assert texts_in(tmp_path) == []
    assert CrashReporter(tmp_path, redact=str, version="1").left_behind() == ()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ended_well_leaves_nothing(tmp_path: Path, qapp) -> None:
    reporter = CrashReporter(tmp_path, redact=str, version="1")
    hooks = sys.excepthook, threading.excepthook
    reporter.install()
    reporter.uninstall()
    sys.excepthook, threading.excepthook = hooks
    assert list(tmp_path.iterdir()) == []


def test_old_reports_make_room(reporter: CrashReporter, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"crash-20200101-0000{number:02d}-x.seen.txt").write_text("old")
    reporter.report(failing())
    assert len(list(tmp_path.glob("crash-*"))) == 20


async def test_the_dialog_shows_the_report_and_copies_it(harness, reporter, qtbot):
    report = reporter.report(failing())
    dialog = CrashDialog(harness.theme, harness.window, report)
    qtbot.addWidget(dialog)
    assert dialog.text.toPlainText() == report.text.rstrip("\n") or dialog.text.toPlainText() == report.text
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == report.text

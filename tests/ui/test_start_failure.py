"""A start that fails says why, in a box and on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from app import __version__
from app.bootstrap import start_failure
from app.bootstrap.start import run
from app.bootstrap.start_failure import failure_box, show_start_failure
from app.ui.shell.single_instance import SingleInstance
from tests.read_only import read_only

ROOT = Path(__file__).resolve().parents[2]


def start(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", "--portable", str(home)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_read_only_data_folder_is_called_that_and_not_another_rialto(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("data", "config", "logs/crashes", "cache"):
        (home / name).mkdir(parents=True)
    with read_only(home):
        ended = start(home)
    assert ended.returncode == 1
    assert f"{home / 'data'}. Allow writing to that folder" in ended.stderr
    assert "Another copy of Rialto" not in ended.stderr


def test_a_folder_that_another_rialto_holds_without_answering_is_said_to_be_in_use(tmp_path: Path, qapp) -> None:
    other = SingleInstance(tmp_path / "data")
    (tmp_path / "data").mkdir()
    assert other.try_lock()  # and it does not listen
    ended = start(tmp_path)
    other.release()
    assert (ended.returncode, other.is_refused) == (1, False)
    assert f"Another copy of Rialto is using {tmp_path / 'data'} and is not responding." in ended.stderr


def test_the_box_says_both_sentences_as_plain_text(qtbot) -> None:
    box = failure_box("Rialto cannot write to /home/<b>x</b>.", "Allow it.")
    qtbot.addWidget(box)
    assert box.text() == "Rialto cannot write to /home/<b>x</b>."
    assert (box.textFormat(), box.informativeText()) == (Qt.TextFormat.PlainText, "Allow it.")


def test_on_a_screen_a_failed_start_is_shown_in_its_box(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, str]] = []

    def close() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            shown.append((box.text(), box.informativeText()))
            box.close()

    monkeypatch.setattr(start_failure, "_INVISIBLE", ())
    QTimer.singleShot(0, close)
    show_start_failure("It cannot start.", "Try this.")
    assert shown == [("It cannot start.", "Try this.")]


def test_without_a_screen_only_stderr_hears_of_a_failed_start(qapp, capsys: pytest.CaptureFixture[str]) -> None:
    show_start_failure("It cannot start.", "Try this.")  # would wait for a person for ever
    assert capsys.readouterr().err == "It cannot start. Try this.\n"


def test_what_the_command_line_asked_for_is_shown_where_nothing_can_be_printed(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program with a window has no output on Windows."""
    shown: list[str] = []
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(QMessageBox, "information", lambda _parent, _title, text: shown.append(text))
    assert run(["--version"]) == 0
    assert shown == [f"Rialto {__version__}"]

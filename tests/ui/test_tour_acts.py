"""An act of the tour that broke leaves a trace; one that went well leaves none."""

import os
import sys
from pathlib import Path

import pytest

from app.ui.shell import tour_processes
from app.ui.shell.tour_processes import TourProcesses

DIES = """
import faulthandler
from app.storage.paths import Paths
from app.ui.shell.crash_reports import CrashReporter

def the_place_that_broke():
    faulthandler._sigsegv()

CrashReporter(Paths.for_user().crashes, redact=str, version="1").install()
the_place_that_broke()
"""


def play(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str, within_s: float = 60.0) -> tuple[Path, bool]:
    monkeypatch.setattr(tour_processes, "own_command", lambda: [sys.executable, "-c", program])
    monkeypatch.setattr(tour_processes.tempfile, "tempdir", str(folder))
    with TourProcesses("rialto-test-") as stage:
        return stage.home, stage.play("first", folder, os.environ, title="The first part", within_s=within_s)


def test_a_process_that_crashed_has_its_stack_printed_and_its_folder_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home, went_well = play(monkeypatch, tmp_path, DIES)
    said = capfd.readouterr().out
    assert not went_well
    assert "The first part exited with code " in said
    assert "Segmentation fault" in said
    assert "the_place_that_broke" in said
    assert f"What it left is kept in {home}." in said
    assert list((home / "logs" / "crashes").glob("interpreter-*.txt"))


def test_a_process_that_does_not_end_is_named_and_its_folder_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home, went_well = play(monkeypatch, tmp_path, "import threading; threading.Event().wait()", within_s=0.2)
    assert not went_well
    assert "The first part did not quit within 0 s." in capfd.readouterr().out
    assert home.exists()


def test_what_an_act_prints_goes_where_this_process_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "table").open("w+") as table:
        monkeypatch.setattr(sys, "stdout", table)
        monkeypatch.setattr(sys, "stderr", table)
        play(
            monkeypatch,
            tmp_path,
            "import sys; print('Fonts  ok'); sys.stdout.flush(); print('a warning', file=sys.stderr)",
        )
        assert (tmp_path / "table").read_text() == "Fonts  ok\na warning\n"


def test_an_act_that_went_well_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    home, went_well = play(monkeypatch, tmp_path, "pass")
    assert went_well
    assert not home.exists()
    assert capfd.readouterr().out == ""

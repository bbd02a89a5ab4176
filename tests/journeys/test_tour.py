"""The tour is a test of the whole program: two starts, one history."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.ui.shell.tour import ACTS, TourGuide, perform

ROOT = Path(__file__).resolve().parents[2]


def tour(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "--tour", str(folder), *arguments]
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=290, check=False)


@pytest.mark.timeout(300)  # three starts of the whole program, and a synthesis and a recognition in real time
def test_the_tour_chats_stops_restarts_finds_both_answers_and_works_in_every_tab(tmp_path: Path) -> None:
    done = tour(tmp_path / "tour", "--theme", "dark")
    assert done.returncode == 0, done.stdout + done.stderr
    images = sorted(path.name for path in (tmp_path / "tour").glob("*.png"))
    assert "08-after-restart.png" in images
    assert "failed.png" not in images
    assert "After a restart both answers are in the history" in done.stdout
    assert "Sky said 89 characters" in done.stdout
    assert "It was checked and saved" in done.stdout
    assert "The blockchain answered 3 of 4 calls" in done.stdout


def test_a_place_that_cannot_hold_images_is_named(tmp_path: Path) -> None:
    (tmp_path / "tour").write_text("not a folder")
    done = tour(tmp_path / "tour")
    assert done.returncode == 1
    assert str(tmp_path / "tour") in done.stdout


async def test_a_step_that_fails_ends_the_tour_with_one_and_says_which(
    start: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def act(guide: TourGuide) -> None:
        await guide.until("the moon", lambda: False, within_s=0.1)

    monkeypatch.setitem(ACTS, "broken", act)
    async with start() as rialto:
        code = await perform("broken", rialto.window, rialto.chat_page, tmp_path)
    assert code == 1
    assert "for the moon" in capsys.readouterr().out
    assert (tmp_path / "failed.png").exists()


async def test_a_crash_on_the_way_ends_the_tour_with_one_although_every_step_went_well(
    start: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with start() as rialto:

        async def act(_guide: TourGuide) -> None:
            rialto.crashes.report(ValueError("a part that broke"))

        monkeypatch.setitem(ACTS, "crashing", act)
        await rialto._tour("crashing", tmp_path)
        assert rialto._exit_code == 1
        rialto._exit_code = 0  # the desk wants a good end, and no crash that nobody has looked at
        for report in rialto.crashes.left_behind():
            rialto.crashes.mark_seen(report)
    assert "a part that broke" in capsys.readouterr().out

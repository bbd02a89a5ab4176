"""The real window in a language with longer words: every text is translated, and none is cut without a tooltip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.pseudo import pseudo
from tests.kit.seen import BARE, WIRE

ROOT = Path(__file__).resolve().parents[2]


def test_pseudo_keeps_fields_and_lengthens_words() -> None:
    assert pseudo("Save {name} as {n}") == "Šáṽééé {name} ášš {n}"


@pytest.mark.parametrize("name", ["dxloSrhM…Bimj", "-xloSrh_…B-mj", "kabcdefg…4mno"])
def test_a_shortened_id_is_no_english(name: str) -> None:
    assert BARE.search(WIRE.sub(" ", f"Request {name} failed"))[0] == "Request"
    assert not BARE.search(WIRE.sub(" ", name))


@pytest.mark.timeout(600)  # two dozen dialogs, and each tab with one paid call
def test_nothing_stays_english_or_is_cut_in_another_language(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.journeys.pseudo_window", str(tmp_path), "1024", "640"]
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PULSE_SERVER": "unix:/nonexistent/pulse"}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=590, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found, "\n".join(found)

"""Notifications outside the window, on a real D-Bus session of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.ui.kit.notifications import NOBODY

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux desktops are reached over D-Bus")


def session(kind: str) -> dict[str, Any]:
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-m", "tests.ui.notification_session", kind],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.parametrize(
    ("kind", "body"),
    [("markup", "“&lt;b&gt;a &amp; b&lt;/b&gt;” is done"), ("plain", "“<b>a & b</b>” is done")],
)
def test_a_notification_is_plain_text_and_a_press_on_it_is_heard(kind: str, body: str) -> None:
    told = session(kind)
    name, replaced, _icon, title, text, actions, _hints, _timeout = told["asked"][0]
    assert (name, replaced, title, text) == ("Rialto", 0, "Rialto", body)
    assert actions == ["default", "Show"]
    assert (told["problem"], told["presses"]) == ("", 1)  # the press on another program's is not ours


def test_a_desktop_that_shows_none_is_told_of_in_a_sentence() -> None:
    assert session("nobody")["problem"] == NOBODY

"""A desktop that asks for less motion is followed, on a real D-Bus session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.ui.kit.theme import Theme

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux desktops are reached over D-Bus")
@pytest.mark.parametrize(("kind", "less"), [("reduced", True), ("still", True), ("moving", False), ("nobody", False)])
def test_the_desktops_wish_for_less_motion_is_read(kind: str, less: bool) -> None:
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-m", "tests.ui.motion_session", kind],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_DATA_DIRS": "/nonexistent"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == [str(less)], done.stderr


def test_motion_is_reduced_where_the_person_or_the_system_wants_it(qapp) -> None:
    theme = Theme()
    seen: list[int] = []
    theme.changed.connect(lambda: seen.append(theme.motion_ms(90)))
    theme.set_system_motion(less=True)
    theme.set_reduced_motion(True)
    theme.set_system_motion(less=False)
    theme.set_reduced_motion(False)
    assert seen == [0, 0, 0, 90]

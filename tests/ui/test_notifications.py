"""Notifications outside the window, on a real D-Bus session of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import desktop_notifier.main
import pytest
from desktop_notifier import Capability, Notification
from desktop_notifier.backends.base import DesktopNotifierBackend
from desktop_notifier.backends.dummy import DummyNotificationCenter
from PySide6.QtGui import QIcon, QPixmap
from pytestqt.qtbot import QtBot

from app.ui.kit.notifications import NOBODY, Notifications

ROOT = Path(__file__).resolve().parents[2]
on_a_bus = pytest.mark.skipif(sys.platform != "linux", reason="only Linux desktops are reached over D-Bus")


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


@on_a_bus
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


@on_a_bus
def test_a_desktop_that_shows_none_is_told_of_in_a_sentence() -> None:
    assert session("nobody")["problem"] == NOBODY


class SystemOfWindowsOrMacos(DummyNotificationCenter):
    """What the library reaches on Windows and macOS: asks for permission, shows, and reports a click."""

    allows = True
    fails = False
    made: ClassVar[list[Any]] = []

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.shown: list[Notification] = []
        self.made.append(self)

    async def request_authorisation(self) -> bool:
        return self.allows

    async def _send(self, notification: Notification) -> None:
        if self.fails:
            raise OSError("the service is not running")
        self.shown.append(notification)

    async def _get_capabilities(self) -> frozenset[Capability]:
        return frozenset({Capability.TITLE, Capability.MESSAGE, Capability.ON_CLICKED})


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> type[SystemOfWindowsOrMacos]:
    kind = type("System", (SystemOfWindowsOrMacos,), {"made": []})
    monkeypatch.setattr(desktop_notifier.main, "get_backend_class", lambda: kind)
    return kind


@pytest.fixture
def notifications(qtbot: QtBot, tmp_path: Path) -> Notifications:
    picture = QPixmap(16, 16)
    picture.fill("#ffffff")
    return Notifications(QIcon(picture), tmp_path / "cache/icon.png", uses_bus=False)


async def test_elsewhere_a_click_on_a_notification_is_heard_and_the_icon_is_rialtos(
    system: type[SystemOfWindowsOrMacos], notifications: Notifications, tmp_path: Path
) -> None:
    pressed: list[bool] = []
    notifications.pressed.connect(lambda: pressed.append(True))
    assert [await notifications.show("Rialto", text) for text in ("A video is ready", "A transcript")] == ["", ""]
    (one,) = system.made
    assert [(each.title, each.message) for each in one.shown] == [
        ("Rialto", "A video is ready"),
        ("Rialto", "A transcript"),
    ]
    assert one.app_icon is not None and one.app_icon.path == tmp_path / "cache/icon.png"
    assert one.app_icon.path.read_bytes().startswith(b"\x89PNG")
    one.handle_clicked(one.shown[1].identifier, one.shown[1])
    assert pressed == [True]


async def test_elsewhere_a_refused_permission_and_a_failure_are_told(
    system: type[SystemOfWindowsOrMacos], notifications: Notifications
) -> None:
    system.allows = False
    assert await notifications.show("Rialto", "text") == NOBODY
    assert not system.made[0].shown
    system.allows, system.fails = True, True
    assert await notifications.show("Rialto", "text") == NOBODY


@pytest.mark.parametrize("kind", [DummyNotificationCenter, None])
async def test_elsewhere_a_system_that_shows_none_is_told_of(
    kind: type[DesktopNotifierBackend] | None, notifications: Notifications, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's own answer on a Mac outside an app bundle; and a back end that cannot be loaded at all."""
    monkeypatch.setattr(desktop_notifier.main, "get_backend_class", lambda: kind)
    assert await notifications.show("Rialto", "text") == NOBODY

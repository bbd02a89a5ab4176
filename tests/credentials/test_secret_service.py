"""A real Secret Service (gnome-keyring on a bus of its own), in each state it can be in."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.credentials.secret_service_session import SECRET

ROOT = Path(__file__).resolve().parents[2]
NO_SERVICES = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


def needs(program: str, package: str) -> None:
    if shutil.which(program) is None:
        pytest.fail(f"{program} is missing: install the package {package}")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home without anybody's keyring, a runtime folder of its own, no screen, no bus."""
    runtime, home = tmp_path / "runtime", tmp_path / "home"
    runtime.mkdir(mode=0o700)
    home.mkdir()
    dropped = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "PYTHON_KEYRING_BACKEND")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "XDG_DATA_HOME": str(home / "data")}


def ask(state: str, environment: dict[str, str], *before: str) -> dict[str, Any]:
    command = [*before, sys.executable, "-m", "tests.credentials.secret_service_session", state]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment,
        start_new_session=True,
    ) as session:
        try:
            output, errors = session.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(session.pid, signal.SIGKILL)  # the bus and the daemon too
            raise
    assert session.returncode == 0, errors
    assert SECRET not in errors
    told: dict[str, Any] = json.loads(output.splitlines()[-1])
    return told


def test_with_an_open_keyring_secrets_are_kept_and_forgotten(environment: dict[str, str]) -> None:
    needs("dbus-run-session", "dbus")
    needs("gnome-keyring-daemon", "gnome-keyring")
    told = ask("ready", environment, "dbus-run-session", "--")
    assert (told["state"], told["backend"]) == ("ready", "Secret Service")
    assert told["sentence"] == "Keys are kept in Secret Service."
    assert [told[step] for step in ("write", "read", "delete", "read again", "delete again")] == [
        None,
        SECRET,
        None,
        None,
        None,
    ]


def test_a_locked_keyring_is_told_apart_from_an_absent_one(environment: dict[str, str]) -> None:
    needs("dbus-run-session", "dbus")
    needs("gnome-keyring-daemon", "gnome-keyring")
    told = ask("locked", environment, "dbus-run-session", "--")
    assert (told["state"], told["sentence"]) == ("locked", "Your keys are locked.")
    assert {told[step] for step in ("write", "read", "delete", "read again")} == {"StoreLocked"}
    assert told["other program"] == "locked"
    assert told["status_s"] < 50  # no window was waited for


def test_a_bus_without_the_service_has_no_keyring(environment: dict[str, str], tmp_path: Path) -> None:
    needs("dbus-run-session", "dbus")
    configuration = tmp_path / "bus.conf"
    configuration.write_text(NO_SERVICES)
    told = ask("plain", environment, "dbus-run-session", f"--config-file={configuration}", "--")
    assert (told["state"], told["sentence"]) == ("absent", "No system keyring was found on this computer.")
    assert {told[step] for step in ("write", "read", "delete")} == {"StoreAbsent"}


@pytest.mark.parametrize("address", [None, "unix:path=/nowhere/at/all"])
def test_without_a_bus_there_is_no_keyring(address: str | None, environment: dict[str, str]) -> None:
    if address is not None:
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
    told = ask("plain", environment)
    assert (told["state"], told["sentence"]) == ("absent", "No system keyring was found on this computer.")
    assert {told[step] for step in ("write", "read", "delete")} == {"StoreAbsent"}


def test_a_service_without_any_keyring_yet_is_told_and_a_read_opens_no_window(environment: dict[str, str]) -> None:
    """The bus starts gnome-keyring itself when somebody asks, and it has nothing."""
    needs("dbus-run-session", "dbus")
    needs("gnome-keyring-daemon", "gnome-keyring")
    told = ask("plain", environment, "dbus-run-session", "--")
    assert told["state"] == "locked"
    assert "is not set up yet" in told["sentence"]
    assert told["write"] == "StoreLocked"
    assert [told[step] for step in ("read", "delete", "read again")] == [None, None, None]

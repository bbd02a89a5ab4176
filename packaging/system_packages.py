"""Debian's and Ubuntu's packages that wheels do not carry: which are missing, and how they get installed.

The lists were found by starting the window in a bare Debian 12 root. Elsewhere (Fedora, Arch, macOS, Windows) nothing
is checked: there the first start of Qt is watched instead, see `environments.prove_qt`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from progress import CommandFailed, Refusal, quietly, say, step

# Qt itself, on any platform plugin. Wheels bundle neither GL nor fontconfig, D-Bus, glib and xkbcommon.
QT = ("libegl1", "libgl1", "libglib2.0-0", "libfontconfig1", "libdbus-1-3", "libxkbcommon0")
# A window on X11 (without these Qt ends the process) and on Wayland.
QT_WINDOW = (
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-keysyms1",
    "libxcb-shape0",
    "libxkbcommon-x11-0",
    "libwayland-cursor0",
    "libwayland-egl1",
)
# Sound: PortAudio with the way to PulseAudio and PipeWire, and what QtMultimedia links to.
SOUND = ("libportaudio2", "libasound2-plugins", "libpulse0", "libxrandr2")
# Tests start a real Secret Service on a bus of their own, a sound server with null devices, curl as people do, and a
# window on a screen of its own for a screen reader's bus.
TESTS = (*QT_WINDOW, "dbus", "gnome-keyring", "pulseaudio", "pulseaudio-utils", "curl", "xvfb", "at-spi2-core")
# Packing: the linker's tools, and what finds the packages that a library is from.
PACKAGES = ("binutils", "dpkg-dev")
# The Sandbox's page is tried in a browser. Ubuntu has it as a snap only, which apt cannot install everywhere.
TESTS_ON_DEBIAN = ("chromium",)

OS_RELEASE = Path("/etc/os-release")
LOCK_TIMEOUT_S = 300  # another apt may be at work, for instance the unattended upgrades right after boot


def is_debian_family(os_release: Path = OS_RELEASE) -> bool:
    """Return whether this is Debian, Ubuntu or a child of theirs, with its package tools at hand."""
    if not sys.platform.startswith("linux") or not (shutil.which("dpkg-query") and shutil.which("apt-get")):
        return False
    return bool({"debian", "ubuntu"} & set(_family(os_release)))


def for_tests(os_release: Path = OS_RELEASE) -> tuple[str, ...]:
    """Return what the suite needs beyond the program."""
    return (*TESTS, *TESTS_ON_DEBIAN) if _family(os_release)[:1] == ["debian"] else TESTS


def for_packages() -> tuple[str, ...]:
    """Return what packing needs beyond the program. The library of Debian's own Python goes into the package."""
    own = (f"libpython{sys.version_info.major}.{sys.version_info.minor}",) if sys.base_prefix == "/usr" else ()
    return (*PACKAGES, *own)


def missing(wanted: Sequence[str]) -> list[str]:
    """Return the packages of `wanted` that are not installed, nor provided by one that is.

    The second question matters since Debian 13 and Ubuntu 24.04: `libglib2.0-0t64` provides `libglib2.0-0`. It reads
    the whole package list, so it is asked only when the first one found something missing.
    """
    lacking = sorted(set(wanted) - _installed(wanted))
    return [name for name in lacking if name not in _provided()] if lacking else []


def require(wanted: Iterable[str]) -> None:
    """Install what is missing of `wanted` when we may; raise `Refusal` with the one line to run when we may not."""
    if not is_debian_family():
        return
    lacking = missing(tuple(wanted))
    if lacking:
        install(lacking)


def for_venv() -> tuple[str, ...]:
    """Return what `python -m venv` needs: Debian ships Python without `ensurepip` until python3-venv is installed.

    Raises `Refusal` on other systems.
    """
    if find_spec("ensurepip") is not None:
        return ()
    if not is_debian_family():
        raise Refusal(
            "This Python cannot make virtual environments: its module ensurepip is missing.\n"
            "Install the venv package of your system for it, or use the Python of python.org."
        )
    return (f"python{sys.version_info.major}.{sys.version_info.minor}-venv",)


def install(names: Sequence[str]) -> None:
    """Install Debian packages as root or through passwordless sudo. Raises `Refusal` otherwise, or when apt fails."""
    say(f"Missing system packages: {' '.join(names)}")
    prefix = privileges()
    if prefix is None:
        raise Refusal(line_to_run(names))
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", f"DPkg::Lock::Timeout={LOCK_TIMEOUT_S}"]
    try:
        with step("Reading the lists of system packages"):
            quietly([*apt, "-q", "update"])
    except CommandFailed:
        say("The lists of system packages could not be read; going on with the ones that are here.")
    try:
        with step(f"Installing {_count(names)}"):
            quietly([*apt, "-q", "install", "-y", "--no-install-recommends", *names])
    except CommandFailed as failure:
        raise Refusal(f"The system packages could not be installed. apt-get said:\n\n{failure.tail}\n") from failure


def line_to_run(names: Sequence[str]) -> str:
    """Return the message with the one line that installs everything."""
    has_sudo = shutil.which("sudo") is not None
    sudo = "sudo " if has_sudo else ""
    line = f"{sudo}apt-get update && {sudo}apt-get install --no-install-recommends {shlex.join(names)}"
    how = "Installing them needs your password. Run this line" if has_sudo else "Run this line as root"
    return f"{how}, then start again:\n\n    {line}\n"


def privileges() -> list[str] | None:
    """Return what to put before apt-get: nothing as root, sudo where it asks for no password, None when we may not."""
    if sys.platform != "win32" and os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo is None:
        return None
    asked = subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return [sudo, "-n"] if asked.returncode == 0 else None


def owners(files: Iterable[Path]) -> dict[Path, tuple[str, str]]:
    """Return the Debian package that each file is from, with its version; files of no package are left out.

    dpkg knows a library by `/lib` or `/usr/lib`, which are one folder.
    """
    known = {str(path): path for path in files}
    known |= {
        f"/usr{name}" if name.startswith("/lib/") else name.removeprefix("/usr"): path for name, path in known.items()
    }
    if not known or not is_debian_family():
        return {}
    found = {}
    for line in _said(["dpkg-query", "-S", *known]).splitlines():
        packages, _, name = line.partition(": ")
        if name in known:
            found[known[name]] = packages.partition(",")[0].partition(":")[0]
    versions = {fields["Package"]: fields["Version"] for fields in _query(sorted(set(found.values())))}
    return {path: (name, versions[name]) for path, name in found.items() if name in versions}


def _family(os_release: Path) -> list[str]:
    """Return the system's own ID, then those that it is like; nothing where no file says so."""
    try:
        lines = os_release.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{fields.get('ID', '')} {fields.get('ID_LIKE', '')}".replace('"', " ").split()


def _installed(names: Sequence[str]) -> set[str]:
    return {fields["Package"] for fields in _query(names)}


def _provided() -> set[str]:
    provided: set[str] = set()
    for fields in _query(()):
        provided.update(entry.split()[0] for entry in fields["Provides"].split(",") if entry.strip())
    return provided


def _query(names: Sequence[str]) -> list[Mapping[str, str]]:
    """Ask dpkg about the named packages (all without names); rows of those that are really installed."""
    form = "${db:Status-Status}\\t${Package}\\t${Provides}\\t${Version}\\n"
    rows = [line.split("\t") for line in _said(["dpkg-query", "-W", f"-f={form}", *names]).splitlines()]
    return [
        {"Package": row[1], "Provides": row[2], "Version": row[3]}
        for row in rows
        if len(row) == 4 and row[0] == "installed"
    ]


def _said(command: Sequence[str]) -> str:
    """Return what a query prints; it ends with 1 when it does not know one of several names."""
    asked = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "LC_ALL": "C"},
        check=False,
    )
    return asked.stdout


def _count(names: Sequence[str]) -> str:
    return "one system package" if len(names) == 1 else f"{len(names)} system packages"

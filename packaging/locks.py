"""`lock`: write the three lock files from pyproject.toml, for every system and Python at once, with hashes.

They name no host and no index, so that whoever installs from them uses the package index that their own pip settings
name, and the hashes see to it that every index gives the same files.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bootstrap import SUPPORTED
from environments import ROOT, Environment, alone, cache_folder, clear, fit_for_environments
from progress import CommandFailed, Refusal, quietly, say, step

RUN_LOCK = ROOT / "packaging" / "requirements.lock"
DEV_LOCK = ROOT / "packaging" / "requirements-dev.lock"
PACKAGE_LOCK = ROOT / "packaging" / "requirements-package.lock"
CONSTRAINTS = ROOT / "packaging" / "lock-constraints.txt"
HEADER = "# Made by `python3 packaging/bootstrap.py lock` from pyproject.toml. Not edited by hand.\n"
UV_LOCK = ROOT / "packaging" / "requirements-uv.lock"
PYTHONS = tuple(f"{major}.{minor}" for major, minor in SUPPORTED)
# What the wheels are looked for on; the names are uv's. Linux is what PySide6's wheels ask of the C library.
SYSTEMS = (
    "x86_64-manylinux_2_34",
    "aarch64-manylinux_2_39",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
)
OLDEST_MACOS = "14.0"  # PyAV's wheels for Apple processors begin there; on Intel they begin earlier
FORBIDDEN = ("://", "--index", "--extra-index", "--find-links", "--trusted-host", " @ ")


def lock(upgrade: bool) -> None:
    """Write every lock file; unless `upgrade`, versions that still fit stay. Raises `Refusal`."""
    uv = _uv()
    if upgrade:
        compile_lock(uv, UV_LOCK, group="lock", upgrade=True)
    compile_lock(uv, RUN_LOCK, extras=("sandbox",), constraints=(CONSTRAINTS,), upgrade=upgrade)
    compile_lock(uv, DEV_LOCK, extras=("sandbox", "dev"), constraints=(CONSTRAINTS, RUN_LOCK), upgrade=upgrade)
    extras = ("sandbox", "package")
    compile_lock(uv, PACKAGE_LOCK, extras=extras, constraints=(CONSTRAINTS, RUN_LOCK), upgrade=upgrade)
    for path in (RUN_LOCK, DEV_LOCK, PACKAGE_LOCK):
        faults = host_lines(path.read_text(encoding="utf-8"))
        if faults:
            raise Refusal(f"{path.name} names a host: {faults[0]}")
        prove_wheels(uv, path)
        say(f"{path.relative_to(ROOT)}: {len(pinned(path.read_text(encoding='utf-8')))} packages")


def compile_lock(
    uv: Sequence[str],
    target: Path,
    *,
    group: str = "",
    extras: Sequence[str] = (),
    constraints: Sequence[Path] = (),
    upgrade: bool,
) -> None:
    """Resolve pyproject.toml with the named extras, or one group of it, into one hashed, universal lock file."""
    command = [*uv, "pip", "compile", *(["--group", group] if group else ["pyproject.toml"])]
    command += ["--universal", "--python-version", PYTHONS[0]]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--only-binary", ":all:", "--output-file"]
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / target.name
        if target.exists() and not upgrade:
            written.write_bytes(target.read_bytes())  # uv keeps the versions that the output already names
        command.append(str(written))
        for extra in extras:
            command += ["--extra", extra]
        for path in constraints:
            command += ["--constraint", str(path)]
        if upgrade:
            command.append("--upgrade")
        try:
            with step(f"Choosing versions for {target.name}"):
                quietly(command, cwd=ROOT)
        except CommandFailed as failure:
            raise Refusal(f"The versions for {target.name} could not be chosen:\n\n{failure.tail}\n") from failure
        target.write_text(HEADER + written.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")


def prove_wheels(uv: Sequence[str], path: Path) -> None:
    """Ask the index whether every locked version has a wheel on every system and Python that we name."""
    for system in SYSTEMS:
        for python in PYTHONS:
            with tempfile.TemporaryDirectory() as nowhere:
                command = [*uv, "pip", "install", "--dry-run", "--target", nowhere, "--python-platform", system]
                command += ["--python-version", python, "--only-binary", ":all:", "--require-hashes", "-r", str(path)]
                try:
                    with step(f"Looking for the wheels of {system}, Python {python}"):
                        quietly(command, cwd=ROOT, env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": OLDEST_MACOS})
                except CommandFailed as failure:
                    raise Refusal(
                        f"{path.name} cannot be installed on {system} with Python {python}:\n\n{failure.tail}\n"
                    ) from failure


def pinned(text: str) -> dict[str, set[str]]:
    """Return the versions of each package in a lock file; more than one where systems or Pythons differ."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", text, re.MULTILINE):
        versions.setdefault(name.lower().replace("_", "-"), set()).add(version)
    return versions


def host_lines(text: str) -> list[str]:
    """Return the lines of a lock file that would tie it to somebody's host or index."""
    return [line for line in text.splitlines() if any(sign in line for sign in FORBIDDEN)]


def _uv() -> list[str]:
    """Return the command of our pinned uv, installed into an environment of its own on first use."""
    home = ROOT if fit_for_environments(ROOT) else cache_folder()
    tools = Environment(home / "build" / "lock-tools", DEV_LOCK)
    with alone(home):
        wanted = UV_LOCK.read_text(encoding="utf-8")
        if not (tools.mark.exists() and tools.mark.read_text(encoding="utf-8") == wanted):
            clear(tools.folder)
            try:
                with step("Installing uv"):
                    quietly([sys.executable, "-I", "-m", "venv", str(tools.folder)])
                    command = [str(tools.python), "-I", "-m", "pip", "install", "--no-user", "--only-binary", ":all:"]
                    quietly([*command, "--require-hashes", "-r", str(UV_LOCK)])
            except CommandFailed as failure:
                raise Refusal(
                    f"uv, which makes the lock files, could not be installed:\n\n{failure.tail}\n"
                ) from failure
            tools.mark.write_text(wanted, encoding="utf-8")
    return [str(tools.folder / ("Scripts/uv.exe" if os.name == "nt" else "bin/uv"))]

"""Packages of npm and PyPI that tests run against the Sandbox, installed once into a folder below the test environment.

`clients/package.json` and `clients/requirements.txt` pin them. pip looks for no dependencies: all are listed, without
those for other services.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

CLIENTS = Path(__file__).with_name("clients")
INSTALLED = Path(sys.prefix) / "clients"
NODE = [found] if (found := shutil.which("node")) and shutil.which("npm") else []


def from_npm() -> Path:
    """Return the folder that holds `node_modules`. Skips where no index has the packages."""
    return _made(CLIENTS / "package.json", _with_npm)


def from_pypi() -> Path:
    """Return the Python that has the packages. Skips where no index has them."""
    return _python_in(_made(CLIENTS / "requirements.txt", _with_pip))


def _made(pinned: Path, install: Callable[[Path], list[str]]) -> Path:
    folder, problem = _installed(pinned, install)
    if problem:
        pytest.skip(f"no package index has them here: {problem}")
    return folder


@cache  # so that a missing index is asked once
def _installed(pinned: Path, install: Callable[[Path], list[str]]) -> tuple[Path, str]:
    """Return the folder with the packages of a file, made at the first call of all, and what was said if it is not."""
    folder = INSTALLED / f"{pinned.stem}-{hashlib.sha256(pinned.read_bytes()).hexdigest()[:12]}"
    INSTALLED.mkdir(exist_ok=True)
    with closing(sqlite3.connect(INSTALLED / f"{pinned.stem}.lock", timeout=600, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")  # given back by the end of this process too
        if not (folder / "complete").exists():
            for older in INSTALLED.glob(f"{pinned.stem}-*"):
                shutil.rmtree(older)
            folder.mkdir()
            done = subprocess.run(install(folder), cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                return folder, done.stderr[-200:]
            (folder / "complete").touch()
    return folder, ""


def _with_npm(folder: Path) -> list[str]:
    shutil.copy(CLIENTS / "package.json", folder)
    shutil.copytree(CLIENTS / "no-browser-wallets", folder / "no-browser-wallets")
    command = [str(shutil.which("npm")), "install", "--prefer-offline", "--fetch-retries=0", "--no-audit", "--no-fund"]
    return [*command, "--ignore-scripts"]


def _with_pip(folder: Path) -> list[str]:
    venv.create(folder)
    command = [sys.executable, "-m", "pip", "--python", str(_python_in(folder)), "install", "--no-deps", "--no-compile"]
    return [*command, "--no-input", "--retries", "0", "--only-binary", ":all:", "-r", str(CLIENTS / "requirements.txt")]


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

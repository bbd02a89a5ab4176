"""Folders that refuse every write, for root as well: what the permissions of a file do not keep root from doing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing in `folders` and below can be made, replaced or removed meanwhile. Skips the test where that fails."""
    below = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_dir()]
    _set_writable(below, False)
    try:
        probe = folders[0] / "probe"
        try:
            probe.touch()
        except OSError:
            pass
        else:
            probe.unlink()
            pytest.skip("root writes everywhere here")
        yield
    finally:
        _set_writable(below, True)


def _set_writable(folders: list[Path], writable: bool) -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        subprocess.run(["chattr", "-i" if writable else "+i", *map(str, folders)], check=False, capture_output=True)
    else:
        for folder in folders:
            folder.chmod(0o700 if writable else 0o500)

"""Folders that refuse every write, for root as well: what the permissions of a file do not keep root from doing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing in `folders` and below can be made, replaced or removed meanwhile.

    Where neither permissions nor `chattr` can see to that, the folders are not there meanwhile.
    """
    below = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_dir()]
    _set_writable(below, False)
    try:
        with ExitStack() as gone:
            if not _refuses(folders[0]):
                for folder in folders:
                    gone.enter_context(vanished(folder))
            yield
    finally:
        _set_writable(below, True)


@contextmanager
def vanished(folder: Path) -> Iterator[None]:
    """The folder is not there, and nobody can make it, root included: a disk that was pulled out."""
    aside = folder.with_name(f"{folder.name}.aside")
    if folder.exists():
        folder.rename(aside)
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        if aside.exists():
            aside.rename(folder)


def _refuses(folder: Path) -> bool:
    probe = folder / "probe"
    try:
        probe.touch()
    except OSError:
        return True
    probe.unlink()
    return False


def _set_writable(folders: list[Path], writable: bool) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        for folder in folders:
            folder.chmod(0o700 if writable else 0o500)
    elif (chattr := shutil.which("chattr")) is not None:
        subprocess.run([chattr, "-i" if writable else "+i", *map(str, folders)], check=False, capture_output=True)

"""Folders that refuse every write, for root as well: what the permissions of a file do not keep root from doing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nothing in `folders` and below can be made, replaced or removed meanwhile.

    Root is kept from it by `chattr`, else by a mount that is read-only. Where neither can be had the folders are not
    there meanwhile.
    """
    below = [path for folder in folders for path in (folder, *folder.rglob("*")) if path.is_dir()]
    _set_writable(below, False)
    try:
        with ExitStack() as ends:
            if not _refuses(folders[0]):
                for folder in folders:
                    if _mount("--bind", str(folder), str(folder)):
                        ends.callback(unmount, folder)
                        _mount("-o", "remount,bind,ro", str(folder))
                    if not _refuses(folder):
                        ends.enter_context(vanished(folder))
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


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk | None]:
    """A file system of its own on the empty `folder`; None where this computer lets nobody mount one."""
    if not _mount("-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)):
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        unmount(folder)


class SmallDisk:
    """A disk that can become full, as somebody else's file does it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._other = folder / "of somebody else"

    def fill(self) -> None:
        """Take all the room that is left."""
        size = 1 << 20
        with self._other.open("ab", buffering=0) as file:
            while size:
                try:
                    file.write(b"x" * size)
                except OSError:
                    size //= 2

    def make_room(self) -> None:
        self._other.unlink(missing_ok=True)


def _mount(*words: str) -> bool:
    mount = shutil.which("mount") if sys.platform == "linux" and os.geteuid() == 0 else None
    return mount is not None and not subprocess.run([mount, *words], check=False, capture_output=True).returncode


def unmount(folder: Path) -> None:
    """Take a mount away now, also while something below it is open."""
    subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


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

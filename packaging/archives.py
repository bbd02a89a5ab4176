"""The tarball: its bytes follow from its content and one date alone."""

from __future__ import annotations

import lzma
import platform
import tarfile
from pathlib import Path
from typing import Any

PRESET = 3  # of xz; 9 takes six times as long
_X86 = ("x86_64", "amd64", "i686", "i386")


def filters(machine: str = platform.machine()) -> list[dict[str, Any]]:
    """Return what xz does, in its order; its filter for x86 programs takes a twentieth off."""
    squeeze = {"id": lzma.FILTER_LZMA2, "preset": PRESET}
    return [{"id": lzma.FILTER_X86}, squeeze] if machine.lower() in _X86 else [squeeze]


def tar_xz(folder: Path, target: Path, epoch: int, name: str) -> None:
    """Pack a folder under another name: in the order of the names, owned by root, every date `epoch` (seconds)."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = epoch
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        if entry.issym():
            entry.mode = 0o777
        return entry

    with (
        lzma.open(target, "wb", check=lzma.CHECK_CRC64, filters=filters()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path in sorted((folder, *folder.rglob("*")), key=lambda path: path.relative_to(folder).as_posix()):
            inside = path.relative_to(folder).as_posix()
            archive.add(path, name if inside == "." else f"{name}/{inside}", recursive=False, filter=plain)

"""Archives whose bytes follow from their content and one date alone: tarballs, and the .deb, which is two of them.

dpkg-deb cannot be told of xz's filter for x86 programs, which takes a twentieth off; every dpkg reads it.
"""

from __future__ import annotations

import io
import lzma
import platform
import tarfile
from pathlib import Path
from typing import Any, BinaryIO

QUICK, SMALL = 3, 9  # presets of xz; the second takes six times as long and 700 MB
_X86 = ("x86_64", "amd64", "i686", "i386")
_AR = b"!<arch>\n"


def filters(preset: int, machine: str = platform.machine()) -> list[dict[str, Any]]:
    """Return what xz does, in its order."""
    squeeze = {"id": lzma.FILTER_LZMA2, "preset": preset}
    return [{"id": lzma.FILTER_X86}, squeeze] if machine.lower() in _X86 else [squeeze]


def tar_xz(folder: Path, target: BinaryIO, epoch: int, *, name: str, preset: int, leave_out: str = "") -> None:
    """Pack a folder under another name: in the order of the names, owned by root, every date `epoch` (seconds)."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = epoch
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        if entry.issym():
            entry.mode = 0o777
        return entry

    paths = sorted((folder, *folder.rglob("*")), key=lambda path: path.relative_to(folder).as_posix())
    with (
        lzma.LZMAFile(target, "wb", check=lzma.CHECK_CRC64, filters=filters(preset)) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path in paths:
            inside = path.relative_to(folder).as_posix()
            if leave_out and inside.split("/")[0] == leave_out:
                continue
            archive.add(path, name if inside == "." else f"{name}/{inside}", recursive=False, filter=plain)


def deb(tree: Path, target: Path, epoch: int) -> None:
    """Write a binary package (deb(5), format 2.0) of a tree whose folder DEBIAN holds what is said of it."""
    parts = {"debian-binary": b"2.0\n"}
    for part, folder, leave_out in (("control.tar.xz", tree / "DEBIAN", ""), ("data.tar.xz", tree, "DEBIAN")):
        packed = io.BytesIO()
        tar_xz(folder, packed, epoch, name=".", preset=SMALL, leave_out=leave_out)
        parts[part] = packed.getvalue()
    with target.open("wb") as file:
        file.write(_AR)
        for part, data in parts.items():
            file.write(f"{part:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode())
            file.write(data + b"\n" * (len(data) % 2))

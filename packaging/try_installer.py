#!/usr/bin/env python3
"""Tries the Windows installer without Windows: `python3 packaging/try_installer.py`.

makensis builds it around a stand-in for the program, 7z unpacks it and everything is compared; where wine is, it is
installed silently, removed silently, and what the user made has to be there still. What it cannot try is the program
itself, which only a Windows computer can build.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "windows" / "rialto.nsi"
FILES = {
    "rialto.exe": b"MZ stand-in",
    "LICENCES.txt": b"MIT",
    "_internal/base.zip": b"PK",
    "_internal/a/b.txt": b"deep",
}
WITHIN_S = 300


class Wrong(Exception):
    """Something is not as it should be."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="rialto-installer-") as scratch:
        folder = Path(scratch)
        try:
            setup = build(folder)
            unpack(setup, folder)
            install(folder)
        except Wrong as wrong:
            print(wrong, file=sys.stderr)
            return 1
    print("The installer is as it should be.")
    return 0


def build(folder: Path, *options: str) -> Path:
    """Compile the script; a warning is an error. `options` go to makensis."""
    program = folder / "program"
    for name, data in FILES.items():
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_bytes(data)
    icon, setup = folder / "rialto.ico", folder / "rialto-0.0.0-setup.exe"
    icon.write_bytes(empty_icon())
    values = {"VERSION": "0.0.0", "NUMBER": "0.0.0.0", "FOLDER": program, "ICON": icon, "OUT": setup}
    run(["makensis", "-WX", "-V2", *options, *(f"-D{name}={value}" for name, value in values.items()), str(SCRIPT)])
    print(f"makensis: {setup.stat().st_size} bytes")
    return setup


def unpack(setup: Path, folder: Path) -> None:
    target = folder / "unpacked"
    run(["7z", "x", "-y", f"-o{target}", str(setup)])
    for name, data in FILES.items():
        if not (target / name).is_file() or (target / name).read_bytes() != data:
            raise Wrong(f"{name} is not in the installer as it was")
    print(f"7z: {len(FILES)} files, each as it was")


def install(folder: Path) -> None:
    """Install and remove it under wine, if that is here.

    Debian's wine64 runs 64-bit programs only, so the script is compiled again with the stubs that Debian's NSIS adds.
    """
    wine = shutil.which("wine64") or shutil.which("wine") or next(Path("/usr/lib/wine").glob("wine64"), None)
    if wine is None:
        print("wine is not here, so it was not installed")
        return
    setup = build(folder, "-XTarget amd64-unicode")
    environ = {**os.environ, "WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    local = "AppData/Local"
    run([str(wine), str(setup), "/S"], environ)
    program = next((folder / "wine/drive_c/users").glob(f"*/{local}/Programs/Rialto"), None)
    if program is None or any(not (program / name).is_file() for name in FILES):
        raise Wrong("the installer left nothing, or not everything")
    update(setup, program, str(wine), environ)
    stay_while_it_runs(program, str(wine), environ)
    made = program.parents[1] / "Rialto/rialto.db"
    made.parent.mkdir()
    made.write_bytes(b"a chat")
    (program / "mine.txt").write_bytes(b"not the installer's")
    run([str(wine), str(program / "uninstall.exe"), "/S", f"_?={windows_path(program)}"], environ)
    left = sorted(path.name for path in program.rglob("*") if path.is_file())
    if left not in (["mine.txt"], ["mine.txt", "uninstall.exe"]):  # run in place, it cannot delete itself
        raise Wrong(f"removing left {left}")
    if not made.is_file():
        raise Wrong("removing deleted what the user had made")
    print("wine: installed, removed, and what the user made is there")


def update(setup: Path, program: Path, wine: str, environ: dict[str, str]) -> None:
    """Install over what is there: not while the program runs, and else without leftovers of the older version."""
    left, running = program / "_internal/left.txt", program / "rialto.exe"
    left.write_bytes(b"of an older version")
    running.unlink()
    running.mkdir()  # nobody can write to it, as to a program that runs
    if subprocess.run([wine, str(setup), "/S"], env=environ, timeout=WITHIN_S, check=False).returncode == 0:
        raise Wrong("the installer went on over a program that runs")
    if not left.is_file():
        raise Wrong("the installer emptied the folder of a program that runs")
    running.rmdir()
    running.write_bytes(b"MZ of an older version")
    run([wine, str(setup), "/S"], environ)
    if left.exists() or any((program / name).read_bytes() != data for name, data in FILES.items()):
        raise Wrong("an update left files of the older version, or not everything")
    print("wine: an update waits for the program's end, and leaves nothing of the older version")


def stay_while_it_runs(program: Path, wine: str, environ: dict[str, str]) -> None:
    """A program that runs is not removed by half."""
    running, kept = program / "rialto.exe", program / "kept.exe"
    running.rename(kept)
    running.mkdir()  # like a program that runs, it cannot be opened for writing
    command = [wine, str(program / "uninstall.exe"), "/S", f"_?={windows_path(program)}"]
    subprocess.run(command, env=environ, timeout=WITHIN_S, check=False)
    if not (program / "_internal/base.zip").is_file():
        raise Wrong("the uninstaller removed parts of a program that runs")
    running.rmdir()
    kept.rename(running)
    print("wine: a program that runs is not removed")


def windows_path(path: Path) -> str:
    return "C:\\" + str(path).partition("/drive_c/")[2].replace("/", "\\")


def run(command: list[str], environ: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WITHIN_S, check=False
        )
    except OSError as error:
        raise Wrong(f"{command[0]} is not here") from error
    if done.returncode != 0:
        raise Wrong(f"{command[0]} ended with {done.returncode}:\n{done.stdout.decode(errors='replace')[-2000:]}")


def empty_icon() -> bytes:
    """One transparent 16 × 16 image, as an icon file: its directory, a bitmap of twice the height, its mask."""
    bitmap = struct.pack("<IiiHHIIiiII", 40, 16, 32, 1, 32, 0, 0, 0, 0, 0, 0) + bytes(16 * 16 * 4 + 16 * 4)
    return struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, 32, len(bitmap), 22) + bitmap


if __name__ == "__main__":
    sys.exit(main())

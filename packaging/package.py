"""`package`: the folder that PyInstaller makes, tried out, and what people install made of it.

Linux: a portable tarball and two .deb. Windows: the installer that NSIS makes. macOS: an app in a disk image. All: the
Sandbox as a wheel and a source distribution. The results are in `dist`, each with its SHA-256 beside it. Every date
inside is the commit's.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import archives
import debian_package
import icu_data
import installers
import licenses
import sandbox_wheel
import signing
import update_feed
from environments import ROOT, Environment
from locks import RUN_LOCK
from progress import CommandFailed, Refusal, quietly, say, step

SPEC = ROOT / "packaging" / "rialto.spec"
WORK = ROOT / "build" / "package"
BUILD_FILES = ROOT / "packaging" / "build_files"
# Not stripped: Qt (done by its makers), and libraries that were changed after linking, which strip may break.
NOT_STRIPPED = ("/PySide6/", "/shiboken6/", ".libs/")
WITHIN_S = 300.0


@dataclass(frozen=True)
class Build:
    """Where a build is: `folder` is the program, `icons` its images, `notices` the licenses of what is inside."""

    version: str
    epoch: int  # seconds: the time of the commit
    folder: Path
    icons: Path
    notices: Path


def package(environment: Environment, *, test: bool, target: Path = ROOT / "dist") -> int:
    """Build everything that this system can build. Raises `Refusal`."""
    if not update_feed.check(os.environ):
        say("There is no update feed: the program will say that it looks for no new versions.")
    target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(WORK, ignore_errors=True)
    linux = sys.platform.startswith("linux")
    made = build(environment, WORK, "bundled", test=test)
    name = f"rialto-{made.version}-{sys.platform}-{platform.machine().lower()}"
    results = [target / f"{name}.cdx.json"]
    write_bill(environment, WORK / "sources.txt", results[0], made.version, made.epoch)
    if linux:
        results.append(tarball(made.folder, target / f"{name}.tar.xz", made.epoch))
        if shutil.which("dpkg-shlibdeps"):
            made = build(environment, WORK, "theirs", test=test)
            results += debian_package.make(made.version, made.epoch, made.folder, made.icons, made.notices, target)
        else:
            say("There is no dpkg-dev here, so no .deb was made.")
    elif sys.platform == "win32":
        icon = made.icons / "rialto.ico"
        installers.keep_program(made.folder, icon, WORK / "program.tar")
        results.append(installers.installer(made.folder, icon, made.version, target / f"{name}-setup.exe"))
    else:
        signing.seal(made.folder)
        installers.keep_program(made.folder, made.icons / "rialto.icns", WORK / "program.tar")
        results.append(installers.disk_image(made.folder, target / f"{name}.dmg"))
    results += sandbox_wheel.make(WORK / "sandbox", target, made.epoch)
    for path in results:
        digest = signing.write_checksum(path)
        say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, sha256 {digest}")
    return 0


def build_folder(environment: Environment, *, test: bool) -> int:
    """Build what the .deb are made of, and nothing more; on other systems, what their package is made of."""
    system_libraries = "theirs" if sys.platform.startswith("linux") else "bundled"
    say(f"The program is {build(environment, WORK, system_libraries, test=test).folder}")
    return 0


def build(environment: Environment, work: Path, system_libraries: str, *, test: bool) -> Build:
    """Make the folder once, and let what was made test itself. Raises `Refusal`.

    `system_libraries`: "bundled", or "theirs" for a package that depends on them.
    """
    epoch = commit_time()
    icons = work / "icons"
    environ = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "SOURCE_DATE_EPOCH": str(epoch),
        "PYTHONHASHSEED": "1",
        "PYINSTALLER_ZLIB_COMPRESSION_LEVEL": "0",  # packages are compressed as a whole
        "RIALTO_SYSTEM_LIBRARIES": system_libraries,
        "RIALTO_VERSION": version(),
        "RIALTO_ICONS": str(icons),
        "RIALTO_SOURCES": str(work / "sources.txt"),
        "RIALTO_VERSION_RESOURCE": str(work / "version.txt"),
    }
    python = str(environment.python)
    work.mkdir(parents=True, exist_ok=True)
    (work / "version.txt").write_text(installers.version_resource(version()), encoding="utf-8")
    if update_feed.write(work / "updates", os.environ):
        environ["RIALTO_UPDATES"] = str(work / "updates")
    try:
        quietly([python, str(BUILD_FILES / "draw_icons.py"), str(icons)], env=environ)
        with step(f"Building the program, system libraries {system_libraries}"):
            command = [python, "-m", "PyInstaller", "--noconfirm", "--clean", "--distpath", str(work / "dist")]
            quietly([*command, "--workpath", str(work / "work"), str(SPEC)], env=environ, cwd=ROOT)
    except CommandFailed as failure:
        raise Refusal(f"The program could not be built:\n\n{failure.tail}\n") from failure
    folder = work / "dist" / ("Rialto.app" if sys.platform == "darwin" else "rialto")
    notices = work / "licences.txt"
    theirs = system_libraries == "theirs" or not sys.platform.startswith("linux")
    sources = () if theirs else read_sources(work / "sources.txt")
    words = licenses.text(environment.folder, RUN_LOCK, sources)
    notices.write_text(words, encoding="utf-8", newline="\n")
    if sys.platform.startswith("linux"):
        strip(folder)
        for library in (path for path in folder.rglob("libicudata.so.*") if not path.is_symlink()):
            say(f"{library.name} is {icu_data.shrink(library) / 1e6:.1f} MB smaller.")
    shutil.copy(notices, folder / ("Contents/Resources" if sys.platform == "darwin" else "") / "LICENCES.txt")
    _say_sizes(folder)
    for name, newest, wanted_by in needs(folder):
        say(f"It needs {name} {newest} or newer, for {wanted_by}.")
    if test:
        prove(folder)
    return Build(version(), epoch, folder, icons, notices)


def read_sources(path: Path) -> list[Path]:
    """Return the files that a build was made from, as rialto.spec listed them."""
    return [Path(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_bill(environment: Environment, sources: Path, target: Path, version: str, epoch: int) -> None:
    """Let the packager's Python, which has the library for it, write what is in the program. Raises `Refusal`."""
    program = str(BUILD_FILES / "bill_of_materials.py")
    try:
        quietly([str(environment.python), program, str(sources), str(target), version, str(epoch)])
    except CommandFailed as failure:
        raise Refusal(f"The bill of materials could not be written:\n\n{failure.tail}\n") from failure


def needs(folder: Path) -> list[tuple[str, str, str]]:
    """Return the newest version of glibc and of libstdc++ (GLIBCXX) that a file asks for, and the name of such a file.

    Needs binutils and a program for Linux; elsewhere nothing is known.
    """
    if shutil.which("objdump") is None:
        return []
    binaries = [
        path for path in (folder / "rialto", *folder.rglob("*.so*")) if path.is_file() and not path.is_symlink()
    ]
    said = subprocess.run(
        ["objdump", "-p", *binaries], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", check=False
    )
    newest: dict[str, tuple[tuple[int, ...], str]] = {}
    name = ""
    for path, library, version in re.findall(
        r"^(?:(.+): +file format .*| .* (GLIBC|GLIBCXX)_([\d.]+))$", said.stdout, re.MULTILINE
    ):
        name = Path(path).name or name
        if library:
            newest[library] = max(newest.get(library, ((), "")), (tuple(map(int, version.split("."))), name))
    return [(library, ".".join(map(str, number)), name) for library, (number, name) in sorted(newest.items())]


def strip(folder: Path) -> None:
    """Take the symbols out of every library that can do without. Needs binutils; without them nothing happens."""
    if shutil.which("strip") is None:
        return
    for path in sorted(folder.rglob("*.so*")):
        if path.is_symlink() or any(part in path.as_posix() for part in NOT_STRIPPED):
            continue
        subprocess.run(["strip", "--strip-unneeded", str(path)], stderr=subprocess.DEVNULL, check=False)


def prove(folder: Path) -> None:
    """Let the built program test itself. Raises `Refusal` when it does not work."""
    program = folder / ("Contents/MacOS/rialto" if sys.platform == "darwin" else "rialto")
    with step("Letting the built program test itself"):
        done = subprocess.run(
            [str(program.with_suffix(".exe") if os.name == "nt" else program), "--self-test"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=WITHIN_S,
            check=False,
        )
    print(done.stdout)
    if done.returncode != 0:
        raise Refusal(f"The built program does not pass its own test (code {done.returncode}).")


def tarball(folder: Path, target: Path, epoch: int) -> Path:
    """Pack a folder so that the same files give the same bytes."""
    with step("Packing the tarball"):
        archives.tar_xz(folder, target, epoch, "rialto")
    return target


def version() -> str:
    text = (ROOT / "app" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    if found is None:
        raise Refusal("app/__init__.py names no version.")
    return found.group(1)


def commit_time(environ: Mapping[str, str] = os.environ) -> int:
    """Return SOURCE_DATE_EPOCH, or when the commit was made, in seconds; a copy without git has that of the license."""
    if environ.get("SOURCE_DATE_EPOCH"):
        return int(environ["SOURCE_DATE_EPOCH"])
    try:
        return int(quietly(["git", "log", "-1", "--format=%ct"], cwd=ROOT))
    except (CommandFailed, OSError, ValueError):
        return int((ROOT / "LICENSE").stat().st_mtime)


def _say_sizes(folder: Path) -> None:
    """Say the size of the whole and of its ten greatest parts, in MB."""
    inside = folder / "_internal" if (folder / "_internal").is_dir() else folder
    sizes = {path.name: _size(path) for path in inside.iterdir()}
    greatest = sorted(sizes.items(), key=lambda part: -part[1])[:10]
    parts = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in greatest)
    say(f"{folder.name}: {_size(folder) / 1e6:.0f} MB; {parts}")


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())

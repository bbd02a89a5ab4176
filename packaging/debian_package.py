"""Two .deb of one build: `rialto`, and `rialto-sandbox` with the Sandbox's engines, whose folders it adds.

What the libraries of a system have to give is found by dpkg-shlibdeps; what is loaded by name is written down here.
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from environments import ROOT
from progress import CommandFailed, Refusal, quietly, step

LINUX = ROOT / "packaging" / "linux"
MAINTAINER = "The Rialto developers <maintainers@rialto.invalid>"  # RFC 2606: no such host, so nobody gets mail
ENGINES = ("av", "av.libs", "espeakng_loader", "pocketsphinx", "PIL", "pillow.libs")
ENGINE_DATA = ("pocketsphinx.libs", "espeakng_loader.libs")
NOT_LINKED = "ca-certificates, libportaudio2"  # read and loaded by name
ICONS = (16, 22, 24, 32, 48, 64, 128, 256, 512)
DESCRIPTIONS = {
    "rialto": (
        "chat, speech, pictures and chain calls with receipts",
        "Rialto is a desktop program for an AI, media and chain-proxy HTTP service.\n"
        " Every call has a receipt that says what it cost. The Sandbox, a stand-in\n"
        " for the service on this computer, needs no account.",
    ),
    "rialto-sandbox": (
        "engines of Rialto's Sandbox",
        "The engines with which the Sandbox of Rialto speaks, listens, draws and\n"
        " films on this computer, without an account. They are under the GPL.",
    ),
}


def make(version: str, epoch: int, folder: Path, icons: Path, notices: Path, target: Path) -> list[Path]:
    """Write both packages into `target` and return their paths. Raises `Refusal`."""
    work = folder.parent / "debian-work"
    shutil.rmtree(work, ignore_errors=True)
    trees = {name: work / name for name in DESCRIPTIONS}
    program = trees["rialto"] / "usr/lib/rialto"
    shutil.copytree(folder, program, symlinks=True)
    (program / "LICENCES.txt").unlink(missing_ok=True)
    (program / "LICENCES.txt").symlink_to("../../share/doc/rialto/copyright")  # where Debian wants it; one copy
    engines = trees["rialto-sandbox"] / "usr/lib/rialto/_internal"
    engines.mkdir(parents=True)
    for name in (*ENGINES, *ENGINE_DATA):
        if (program / "_internal" / name).exists():
            (program / "_internal" / name).rename(engines / name)
    _system_files(trees["rialto"], version, epoch, icons)
    architecture = quietly(["dpkg", "--print-architecture"]).strip()
    orders = []
    for name, tree in trees.items():
        _documents(tree, name, version, epoch, notices)
        _settle(tree, epoch)
        needs = _needs(tree, [program / "_internal", engines], work / "shlibdeps")
        if name == "rialto-sandbox":
            needs = f"rialto (= {version}), {needs}"
            more = "Section: net\n"
        else:
            needs = f"{needs}, {NOT_LINKED}"
            more = "Section: net\nRecommends: rialto-sandbox, gnome-keyring | kwalletmanager, fonts-noto-color-emoji\n"
        orders.append((tree, name, version, epoch, architecture, needs, more, target))
    with ThreadPoolExecutor() as pool:  # each takes minutes on one processor
        return list(pool.map(lambda order: _packed(*order), orders))


def filled(name: str, version: str, epoch: int, package: str = "") -> str:
    """Return a file of packaging/linux with the version, the date and the package's name in their places."""
    text = (LINUX / name).read_text(encoding="utf-8")
    date = datetime.datetime.fromtimestamp(epoch, datetime.UTC).date().isoformat()
    return text.replace("@VERSION@", version).replace("@DATE@", date).replace("@PACKAGE@", package)


def metainfo(version: str, epoch: int, pages: str = "") -> str:
    """Return the AppStream file; with screenshots when it is known at which address the repository is published."""
    text = filled("rialto.metainfo.xml", version, epoch)
    if not pages:
        return text
    shots = [("default", "light/06-answer.png", "A cited answer and its receipt")]
    shots += [("", "dark/05-streaming.png", "An answer streams in"), ("", "light/03-characters.png", "Characters")]
    rows = []
    for kind, path, caption in shots:
        opening = f'<screenshot type="{kind}">' if kind else "<screenshot>"
        rows.append(
            f"    {opening}<caption>{caption}</caption><image>{pages}/resources/screenshots/{path}</image></screenshot>"
        )
    home = f'  <url type="homepage">{pages}</url>\n'
    screenshots = "  <screenshots>\n" + "\n".join(rows) + "\n  </screenshots>\n"
    return text.replace("  <launchable", f"{home}{screenshots}  <launchable", 1)


def _system_files(tree: Path, version: str, epoch: int, icons: Path) -> None:
    share = tree / "usr/share"
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/rialto").symlink_to("../lib/rialto/rialto")
    _write(share / "applications/rialto.desktop", filled("rialto.desktop", version, epoch))
    _write(share / "metainfo/rialto.metainfo.xml", metainfo(version, epoch, os.environ.get("RIALTO_PAGES", "")))
    _write_packed(share / "man/man1/rialto.1.gz", filled("rialto.1", version, epoch), epoch)
    for px in ICONS:
        image = share / f"icons/hicolor/{px}x{px}/apps/rialto.png"
        image.parent.mkdir(parents=True)
        shutil.copy(icons / f"{px}.png", image)
    (share / "icons/hicolor/scalable/apps").mkdir(parents=True)
    shutil.copy(icons / "rialto.svg", share / "icons/hicolor/scalable/apps/rialto.svg")


def _documents(tree: Path, name: str, version: str, epoch: int, notices: Path) -> None:
    folder = tree / "usr/share/doc" / name
    _write(folder / "copyright", notices.read_text(encoding="utf-8"))
    when = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
    entry = f"{name} ({version}) stable; urgency=medium\n\n  * Version {version}.\n\n -- {MAINTAINER}  {when}\n"
    _write_packed(folder / "changelog.gz", entry, epoch)
    _write(tree / "usr/share/lintian/overrides" / name, filled("lintian-overrides", version, epoch, name))


def _settle(tree: Path, epoch: int) -> None:
    """Give every file the mode that Debian asks for, and the commit's date."""
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            program = path.name in ("rialto",) and path.parent.name == "rialto" and path.is_file()
            path.chmod(0o755 if path.is_dir() or program else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def _needs(tree: Path, inside: list[Path], work: Path) -> str:
    """Return what dpkg-shlibdeps finds that the libraries in `tree` need of the system, as one line."""
    (work / "debian").mkdir(parents=True, exist_ok=True)
    (work / "debian/control").write_text("Source: rialto\n\nPackage: rialto\nArchitecture: any\n", encoding="utf-8")
    binaries = [path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink() and _is_elf(path)]
    folders = {path.parent for place in inside for path in place.rglob("*.so*")}
    command = ["dpkg-shlibdeps", "--ignore-missing-info", "--warnings=0", "-O"]
    command += [f"-l{folder}" for folder in sorted(folders)] + [f"-e{path}" for path in binaries]
    try:
        with step("Finding out what the system has to give"):
            said = quietly(command, cwd=work)
    except CommandFailed as failure:
        errors = "\n".join(line for line in failure.output.splitlines() if ": error: " in line)
        raise Refusal(f"dpkg-shlibdeps failed:\n\n{errors or failure.tail}\n") from failure
    found = re.search(r"^shlibs:Depends=(.*)$", said, re.MULTILINE)
    if found is None:
        raise Refusal("dpkg-shlibdeps named no packages.")
    return found.group(1)


def _packed(
    tree: Path, name: str, version: str, epoch: int, architecture: str, needs: str, more: str, target: Path
) -> Path:
    short, long = DESCRIPTIONS[name]
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file() and not path.is_symlink()) // 1024
    _write(
        tree / "DEBIAN/control",
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
        f"Installed-Size: {size}\nDepends: {needs}\n{more}Priority: optional\n"
        f"Description: {short}\n {long}\n",
    )
    if name == "rialto":
        _write(tree / "DEBIAN/postrm", (LINUX / "postrm").read_text(encoding="utf-8"))
        (tree / "DEBIAN/postrm").chmod(0o755)
    path = target / f"{name}_{version}_{architecture}.deb"
    sums = [f"{_md5(file)}  {file.relative_to(tree)}" for file in sorted(tree.rglob("*")) if _counts(file, tree)]
    _write(tree / "DEBIAN/md5sums", "\n".join(sums) + "\n")
    (tree / "DEBIAN").chmod(0o755)
    # the same bytes each time: one date, and one thread, because several divide the work by their number
    environ = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "DPKG_DEB_THREADS_MAX": "1"}
    try:
        with step(f"Packing {path.name}"):
            command = ["dpkg-deb", "--root-owner-group", "-Zxz", "-z9", "-Sextreme", "-b"]
            quietly([*command, str(tree), str(path)], env=environ)
    except CommandFailed as failure:
        raise Refusal(f"dpkg-deb failed:\n\n{failure.tail}\n") from failure
    return path


def _counts(file: Path, tree: Path) -> bool:
    return file.is_file() and not file.is_symlink() and tree / "DEBIAN" not in file.parents


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    path.chmod(0o644)


def _write_packed(path: Path, text: str, epoch: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, epoch) as packed:
        packed.write(text.encode())

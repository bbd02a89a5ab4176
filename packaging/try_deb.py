#!/usr/bin/env python3
"""Tries what is built for Linux as people meet it: `sudo python3 packaging/try_deb.py [dist/*.deb dist/*.tar.xz]`.

Without files, it builds them first: `bootstrap.py package` in a bare root of the oldest release. For each release: a
minimal root by debootstrap, and a copy of it for each trial. In one, apt installs `rialto`, an ordinary user starts its
window under Xvfb and lets it open a folder, in an environment that holds nothing of ours; apt adds `rialto-sandbox`,
the user runs `rialto --self-test`; apt removes both, and nothing of them is left but what the user made. A tarball
among the files is unpacked in another that has what every desktop has, opened and tested too. Needs root, debootstrap
and a Debian mirror; ends with 1 at the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bare_roots
from bare_roots import MIRROR, PERSON, SOURCE_NEEDS, Root, Wrong, say

# Debian 12 and 13, and what a desktop of theirs has; the tarball carries the rest.
RELEASES = {
    "bookworm": ("libasound2", "libdbus-1-3", "libegl1", "libgl1", "libglib2.0-0", "ca-certificates"),
    "trixie": ("libasound2t64", "libdbus-1-3", "libegl1", "libgl1", "libglib2.0-0t64", "ca-certificates"),
}
BUILD_WITHIN_S = 4 * 3600.0  # a quarter of an hour, unless the computer is very busy
SOUND = ("pulseaudio", "libasound2-plugins")  # a server, and ALSA's way to it; PortAudio is in the tarball
WINDOW_WITHIN_S = 60
# What the trial itself needs in the root, besides what the packages ask for.
AROUND = ("xvfb", "x11-utils", "xdotool")
HAS_LOUDSPEAKER = re.compile(r"^Audio +ok +[1-9]", re.MULTILINE)  # a row of the self-test
NEEDS_ENGINES = "sudo apt install rialto-sandbox"
NOTE = "noted"  # what the stand-in for xdg-open was started with
XDG_OPEN = f"""#!/bin/sh
{{ echo "$@"; env; }} >"$HOME/{NOTE}.new"
mv "$HOME/{NOTE}.new" "$HOME/{NOTE}"
"""
SELF_TEST_WITH_SOUND = """
export XDG_RUNTIME_DIR=$(mktemp -d)
pulseaudio -n --daemonize=yes --exit-idle-time=-1 --load=module-native-protocol-unix --load=module-null-sink || exit 98
/opt/rialto/rialto --self-test
code=$?
pulseaudio --kill
exit $code
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("packages", nargs="*", type=Path, metavar="FILE", help="both .deb, and the tarball if wanted")
    parser.add_argument("--release", action="append", help=f"the releases to try; by itself {', '.join(RELEASES)}")
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--work", type=Path, help="where the roots are made, and bare ones stay for the next trial")
    parser.add_argument(
        "--copy", action="append", type=Path, default=[], help="a file or folder of this machine that the roots need"
    )
    options = parser.parse_args()
    if missing := bare_roots.require_root():
        parser.error(missing)
    try:
        with tempfile.TemporaryDirectory(dir=options.work, prefix="rialto-roots-") as scratch:
            work = (options.work or Path(scratch)).absolute()
            files = [path.resolve() for path in options.packages]
            if not files:
                oldest = next(iter(RELEASES))
                bare = work / f"{oldest}-source"
                bare_roots.make(oldest, bare, options.mirror, options.copy, SOURCE_NEEDS)
                files = build(bare, Path(scratch) / "build", work / "dist")
            packages = {path.name.partition("_")[0]: path for path in files if path.suffix == ".deb"}
            if set(packages) != {"rialto", "rialto-sandbox"}:
                parser.error("give rialto_*.deb and rialto-sandbox_*.deb, one of each")
            lint(packages)
            check_entries(packages["rialto"])
            for release in options.release or RELEASES:
                bare = work / f"{release}-bare"
                bare_roots.make(release, bare, options.mirror, options.copy, AROUND)
                for tarball in (path for path in files if path.name.endswith(".tar.xz")):
                    with fresh(bare, Path(scratch) / f"{release}-tarball") as root:
                        try_tarball(release, tarball, root)
                with fresh(bare, Path(scratch) / release) as root:
                    try_packages(release, packages, root)
    except Wrong as wrong:
        print(wrong, file=sys.stderr)
        return 1
    print("Everything is as it should be.")
    return 0


def build(bare: Path, folder: Path, target: Path) -> list[Path]:
    """Follow packaging/README.md in a copy of a bare root, and return what was made. Raises `Wrong`."""
    root = bare_roots.fresh(bare, folder)
    bare_roots.clone(root)
    begun = time.monotonic()
    code, output = root.call("python3", "rialto/packaging/bootstrap.py", "package", within_s=BUILD_WITHIN_S)
    if code != 0:
        raise Wrong(f"the packages could not be built:\n{output[-4000:]}")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder / "root/rialto/dist", target)
    shutil.rmtree(folder, ignore_errors=True)
    say(f"packages built in a bare root in {time.monotonic() - begun:.0f} s")
    return sorted(path for path in target.iterdir() if path.name.endswith((".deb", ".tar.xz")))


def lint(packages: dict[str, Path]) -> None:
    """Let lintian look at both. Raises `Wrong` for an error; without lintian it says so."""
    if shutil.which("lintian") is None:
        say("lintian is not here, so it was not asked")
        return
    command = ["lintian", "--allow-root", "--fail-on", "error", *map(str, packages.values())]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise Wrong(f"lintian found errors:\n{done.stdout}")
    warnings = [line for line in done.stdout.splitlines() if line.startswith("W:")]
    say(f"lintian: no errors, {len(warnings)} warnings")


def check_entries(package: Path) -> None:
    """Hold the desktop entry and the AppStream file against their validators, where those are here. Raises `Wrong`."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["dpkg-deb", "-x", str(package), scratch], check=True)
        share = Path(scratch) / "usr/share"
        checks = (
            ["desktop-file-validate", str(share / "applications/rialto.desktop")],
            ["appstreamcli", "validate", "--no-net", str(share / "metainfo/rialto.metainfo.xml")],
        )
        for command in checks:
            if shutil.which(command[0]) is None:
                say(f"{command[0]} is not here, so it was not asked")
                continue
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
            )
            if done.returncode != 0:
                raise Wrong(f"{command[0]} says:\n{done.stdout}")
            say(f"{command[0]}: valid")


@contextmanager
def fresh(bare: Path, folder: Path) -> Iterator[Root]:
    """A copy of a bare root with a stand-in for xdg-open; it is removed afterwards."""
    root = bare_roots.fresh(bare, folder)
    opener = folder / "usr/local/bin/xdg-open"
    opener.write_text(XDG_OPEN, encoding="utf-8")
    opener.chmod(0o755)
    yield root
    shutil.rmtree(folder, ignore_errors=True)


def try_packages(release: str, packages: dict[str, Path], root: Root) -> None:
    for path in packages.values():
        shutil.copy(path, root.folder / "tmp" / path.name)
        (root.folder / "tmp" / path.name).chmod(0o644)
    begun = time.monotonic()
    root.apt("install", "--no-install-recommends", f"/tmp/{packages['rialto'].name}")
    say(f"{release}: rialto installed in {time.monotonic() - begun:.0f} s")
    window_opens(root, "rialto")
    say(f"{release}: its window opens for an ordinary user, and a folder, with nothing of ours in its environment")
    alone = root.run("rialto", "--self-test", user=PERSON)
    if NEEDS_ENGINES not in alone:
        raise Wrong(f"without the engines, the self-test does not name their package:\n{alone}")
    say(f"{release}: without the engines it names the package that brings them")
    root.apt("install", "--no-install-recommends", f"/tmp/{packages['rialto-sandbox'].name}")
    print(root.run("rialto", "--self-test", user=PERSON))
    say(f"{release}: it passes its own test")
    removed(root)
    say(f"{release}: removed, and nothing is left but what the user made")


def try_tarball(release: str, tarball: Path, root: Root) -> None:
    root.apt("install", "--no-install-recommends", *RELEASES.get(release, ()))
    subprocess.run(["tar", "-xJf", str(tarball), "-C", str(root.folder / "opt")], check=True)
    window_opens(root, "/opt/rialto/rialto")
    say(f"{release}: the tarball's window opens, and so does a folder, with nothing of ours in its environment")
    root.apt("install", "--no-install-recommends", *SOUND)
    said = root.run("sh", "-c", SELF_TEST_WITH_SOUND, user=PERSON)
    print(said)
    if not HAS_LOUDSPEAKER.search(said):
        raise Wrong("the tarball finds no loudspeaker")
    if root.run("dpkg", "-l", "libportaudio2", check=False).count("\nii"):
        raise Wrong("PortAudio is installed, so the one of the tarball was not tried")
    say(f"{release}: the tarball passes its own test, and finds the loudspeaker by its own PortAudio")


def window_opens(root: Root, program: str) -> None:
    """Start the program under Xvfb, wait for its window, let it open a folder, end it. Raises `Wrong`."""
    script = f"""
rm -f ~/{NOTE}
Xvfb :7 -screen 0 1280x800x24 -nolisten tcp -nolisten local >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
for i in $(seq 100); do [ -e /tmp/.X11-unix/X7 ] && break; sleep 0.1; done
export DISPLAY=:7
{program} >/tmp/rialto.out 2>&1 &
program=$!
for i in $(seq {WINDOW_WITHIN_S * 5}); do
    # with its window shown and its history open, the start is over
    if xwininfo -root -tree 2>/dev/null | grep -q '"Rialto' && [ -e ~/.local/share/Rialto/rialto.db ]; then
        # there is no window manager that gives it the keyboard; the palette runs what is typed
        xdotool search --onlyvisible --class Rialto windowfocus
        xdotool key Escape key ctrl+k sleep 1 type "Open images folder"
        xdotool sleep 1 key Return
        for j in $(seq 50); do [ -e ~/{NOTE} ] && break; sleep 0.2; done
        if [ -e ~/{NOTE} ]; then
            kill -TERM $program
            wait $program
            exit $?
        fi
    fi
    kill -0 $program 2>/dev/null || break
    sleep 0.2
done
cat /tmp/rialto.out
exit 99
"""
    root.run("sh", "-c", script, user=PERSON)
    opened, *environ = (root.folder / f"home/{PERSON}/{NOTE}").read_text(encoding="utf-8").splitlines()
    if not opened.endswith("/images"):
        raise Wrong(f"another folder was opened: {opened}")
    if of_ours(environ):
        raise Wrong(f"what is opened gets of ours: {of_ours(environ)}")


def of_ours(environ: Sequence[str]) -> list[str]:
    """Return the lines of `NAME=value` that only a built program sets: its libraries, its Qt, its Python."""
    names = ("LD_", "QT_", "QML", "PYTHON", "PYSIDE", "_PYI_", "_MEI")
    return [line for line in environ if line.startswith(names) or "/_internal" in line]


def removed(root: Root) -> None:
    """Remove both packages and look for what is left of them. Raises `Wrong`."""
    names = ("rialto", "rialto-sandbox")
    held = {line for name in names for line in root.run("dpkg", "-L", name).splitlines()}
    data = root.folder / f"home/{PERSON}/.local/share/Rialto"
    if not data.is_dir():
        raise Wrong(f"the program kept nothing in {data}")
    said = root.apt("purge", *names)
    if "stays in their home folders" not in said:
        raise Wrong("removing does not say what stays")
    shared = {line for line in held if (root.folder / line.lstrip("/")).is_dir()}
    left = sorted(line for line in held - shared if (root.folder / line.lstrip("/")).exists())
    ours = sorted(line for line in shared if "rialto" in line)
    if left or ours or root.run("dpkg", "-l", *names, check=False).count("\nii"):
        raise Wrong(f"something is left: {[*left, *ours][:10]}")
    if not data.is_dir():
        raise Wrong("what the user made is gone")


if __name__ == "__main__":
    sys.exit(main())

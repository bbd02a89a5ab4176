#!/usr/bin/env python3
"""Tries the two commands of README in bare systems: `sudo python3 packaging/try_source.py [ROOT …] [-- PYTEST ARGS]`.

In each root: a clone of the current commit, `bootstrap.py run`, the same without a network, and `bootstrap.py test`
with the arguments behind `--`. Prints one line for each root: green or red, the seconds of each step, and what pytest
counted. Ends with 1 unless all are green. `--only-run` leaves out the tests. `--work FOLDER` keeps bare roots for the
next trial, and a log of each root. Python versions that Debian lacks are taken from `--python VERSION=FOLDER`, or else
from pyenv.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bare_roots import MIRROR, PERSON, SEARCH, SOURCE_NEEDS, Root, Wrong, clone, fresh, make, put, require_root, say

BOOTSTRAP = "rialto/packaging/bootstrap.py"
RUN_WITHIN_S, TEST_WITHIN_S = 900.0, 5400.0
COUNTS = re.compile(r"^=* ?((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.MULTILINE)
LINE_TO_RUN = re.compile(r"^    (apt-get update && .+)$", re.MULTILINE)
ENTER_TO_ASK = 2  # refusals for one command; a second one means that the first line was not complete


class Kind(NamedTuple):
    """How a root differs: its release, who works in it, a Python of its own, and what lies in the home folder."""

    release: str
    user: str = ""
    python: str = ""
    lived_in: bool = False


KINDS = {
    "debian-12": Kind("bookworm"),
    "debian-12-user": Kind("bookworm", PERSON),
    "debian-13": Kind("trixie"),
    "lived-in": Kind("trixie", PERSON, lived_in=True),
    "python-3.12": Kind("bookworm", python="3.12"),
    "python-3.13": Kind("bookworm", python="3.13"),
    "python-3.14": Kind("testing"),
}
# What people have at home; a test that lists the home folder sees it.
HOME = {
    "Documents/Letter.txt": "Dear neighbor\n",
    "Music/song.mp3": "",
    "Pictures/Holiday 2024/one.png": "",
    "Übersicht/notes.md": "# Notes\n",
    ".config/user-dirs.dirs": 'XDG_DOCUMENTS_DIR="$HOME/Documents"\nXDG_MUSIC_DIR="$HOME/Music"\n',
    ".config/pip/pip.conf": "[install]\nuser = true\n",
}


def main() -> int:
    arguments = sys.argv[1:]
    at = arguments.index("--") if "--" in arguments else len(arguments)
    arguments, for_pytest = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("roots", nargs="*", metavar="ROOT", help=f"by itself all: {', '.join(KINDS)}")
    parser.add_argument("--mirror", default=MIRROR)
    parser.add_argument("--work", type=Path, help="where the roots are made, and bare ones stay for the next trial")
    parser.add_argument(
        "--copy", action="append", type=Path, default=[], help="a file or folder of this machine that the roots need"
    )
    parser.add_argument("--python", action="append", default=[], metavar="VERSION=FOLDER")
    parser.add_argument("--only-run", action="store_true", help="leave out the tests")
    parser.add_argument("--only-bare", action="store_true", help="make the bare roots, and try nothing")
    options = parser.parse_args(arguments)
    if unknown := set(options.roots) - set(KINDS):
        parser.error(f"there is no root {', '.join(sorted(unknown))}")
    if missing := require_root():
        parser.error(missing)
    pythons = dict(each.split("=", 1) for each in options.python)
    lines = []
    with tempfile.TemporaryDirectory(prefix="rialto-roots-") as scratch:
        work = (options.work or Path(scratch)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        for name in options.roots or KINDS:
            kind = KINDS[name]
            bare, log = work / f"{kind.release}-source", work / f"{name}.log"
            log.write_text("", encoding="utf-8")
            try:
                make(kind.release, bare, options.mirror, options.copy, SOURCE_NEEDS)
                if options.only_bare:
                    continue
                root = prepare(name, work, bare, pythons)
                lines.append(try_root(name, root, log, pythons, None if options.only_run else for_pytest))
                shutil.rmtree(root.folder, ignore_errors=True)
            except Wrong as wrong:
                note(log, str(wrong))
                lines.append(f"red    {name}: {str(wrong).splitlines()[0]}; see {log}")
            say(lines[-1])
    print("\n" + "\n".join(lines))
    return 0 if all(line.startswith("green") for line in lines) else 1


def prepare(name: str, work: Path, bare: Path, pythons: dict[str, str]) -> Root:
    """Return a fresh root with the clone in the home folder. Raises `Wrong`."""
    kind = KINDS[name]
    root = fresh(bare, work / name)
    home = root.folder / (f"home/{kind.user}" if kind.user else "root")
    if kind.python:
        put(find_python(kind.python, pythons), root)  # to the same place, which its own library is looked for in
    for path, text in HOME.items() if kind.lived_in else ():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text, encoding="utf-8")
    clone(root, kind.user)
    if kind.user:
        root.run("chown", "-R", f"{kind.user}:{kind.user}", f"/home/{kind.user}")
    return root


def find_python(version: str, pythons: dict[str, str]) -> Path:
    """Return a folder with `bin/python3` of that version. Raises `Wrong`."""
    found = [Path(pythons[version])] if version in pythons else []
    found += sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*"))
    for folder in found:
        if (folder / "bin" / "python3").exists():
            return folder
    raise Wrong(f"no Python {version} here: name one with --python {version}=FOLDER")


def try_root(name: str, root: Root, log: Path, pythons: dict[str, str], for_pytest: Sequence[str] | None) -> str:
    """Follow README in one root and return its line. Raises `Wrong`."""
    kind = KINDS[name]
    environ = [f"PATH={find_python(kind.python, pythons)}/bin:{SEARCH}"] if kind.python else []
    version = root.run("python3", "--version", environ=environ).strip()
    steps: list[str] = []
    counted = ""

    def follow(step: str, command: Sequence[str], within_s: float, *, network: bool = True) -> str:
        begun = time.monotonic()
        for _ in range(ENTER_TO_ASK):
            words = ["python3", BOOTSTRAP, *command]
            code, output = root.call(*words, user=kind.user, environ=environ, within_s=within_s, network=network)
            note(log, f"$ {' '.join(words)}\n{output}\nexit code {code}\n")
            asked = LINE_TO_RUN.search(output)
            if code == 0 or asked is None:
                break
            installed, said = root.call("sh", "-c", f"{asked[1]} -y", within_s=RUN_WITHIN_S)
            note(log, f"# {asked[1]}\n{said}\nexit code {installed}\n")
        steps.append(f"{step} {time.monotonic() - begun:.0f} s")
        if code != 0:
            failed = COUNTS.search(output)
            raise Wrong(f"{step} ended with {code} on {version}{', ' + failed[1] if failed else ''}")
        return output

    follow("run", ["run"], RUN_WITHIN_S)
    follow("again without a network", ["run"], RUN_WITHIN_S, network=False)
    if for_pytest is not None:
        counts = COUNTS.findall(follow("test", ["test", *(["--", *for_pytest] if for_pytest else [])], TEST_WITHIN_S))
        counted = f": {counts[-1]}" if counts else ""
    return f"green  {name} ({version}): {', '.join(steps)}{counted}"


def note(log: Path, text: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prepares a release: `python3 packaging/release.py TAG DIST NOTES`. Standard library only.

Checks that every system's packages are in DIST and have the version of the tag, writes SHA256SUMS there, and writes the
section of CHANGELOG.md for that version to NOTES.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from environments import ROOT
from progress import Refusal

SUMS = "SHA256SUMS"
# What a release consists of; {version} is that of the tag.
FILES = (
    "rialto-{version}-linux-*.tar.xz",
    "rialto_{version}_amd64.deb",
    "rialto-sandbox_{version}_amd64.deb",
    "rialto-{version}-win32-*-setup.exe",
    "rialto-{version}-darwin-arm64.dmg",
    "rialto-{version}-darwin-x86_64.dmg",
    "rialto_sandbox-{version}-*.whl",
    "rialto_sandbox-{version}.tar.gz",
    "rialto-{version}-linux-*.cdx.json",
    "rialto-{version}-win32-*.cdx.json",
    "rialto-{version}-darwin-*.cdx.json",
)


def main(arguments: Sequence[str]) -> int:
    tag, dist, notes = arguments
    try:
        version = tag.removeprefix("v")
        text = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
        missing = missing_files(Path(dist), version)
        if missing:
            raise Refusal(f"The release lacks {', '.join(missing)}.")
        write_sums(Path(dist))
        Path(notes).write_text(text, encoding="utf-8", newline="\n")
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def section(changelog: str, version: str) -> str:
    """Return what CHANGELOG.md says of a version, without its heading. Raises `Refusal` if that is nothing."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    text = found[1].strip() if found else ""
    if not text:
        raise Refusal(f"CHANGELOG.md has no section for {version}.")
    return f"{text}\n"


def missing_files(dist: Path, version: str) -> list[str]:
    wanted = [pattern.format(version=version) for pattern in FILES]
    return [pattern for pattern in wanted if not any(dist.glob(pattern))]


def write_sums(dist: Path) -> None:
    """Write one line for each file, as `sha256sum --check` reads it, in place of the files with one checksum each."""
    for path in dist.glob("*.sha256"):
        path.unlink()
    (dist / SUMS).unlink(missing_ok=True)
    lines = [f"{_sha256(path)}  {path.name}\n" for path in sorted(dist.iterdir()) if path.is_file()]
    (dist / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

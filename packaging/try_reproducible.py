#!/usr/bin/env python3
"""Builds the last commit twice, in two clones and two environments, and compares every byte of both programs.

`python3 packaging/try_reproducible.py [--work FOLDER]`. The archives follow from the folder and the commit's date alone
(tests/packaging/test_archives.py), so it is the folder that is compared. Ends with 1 when a file differs that is not in
`KNOWN`, whose reasons are in packaging/README.md.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KNOWN: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--work", type=Path, help="where the clones are made; by itself a temporary folder")
    parser.add_argument("--built", type=Path, help="a program that was built already, to compare one new build with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work, prefix="rialto-twice-") as work:
        # names of other lengths, so that a path that got into a file shows
        one = digests(options.built or built(Path(work) / "first"))
        two = digests(built(Path(work) / "the-second-clone"))
    missing = sorted(set(one) ^ set(two))
    differing = sorted(name for name in set(one) & set(two) if one[name] != two[name])
    print(f"{len(one)} files; {len(missing)} are in one build only, {len(differing)} differ")
    for name in (*missing, *differing):
        print(f"  {name}{'  (known)' if name in KNOWN else ''}")
    return 1 if set(missing) | set(differing) - set(KNOWN) else 0


def built(clone: Path) -> Path:
    """Clone the repository's last commit, build its program there and return the folder."""
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    subprocess.run([sys.executable, "packaging/bootstrap.py", "package", "--only-folder"], cwd=clone, check=True)
    return clone / "build/package/dist/rialto"


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file by its place, and where every link leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"link {path.readlink()}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Everything that starts with a fresh clone: `python3 packaging/bootstrap.py run`, `test`, `bench`, `lock`, `shots`.

Standard library only, from any folder, on Python 3.11 to 3.13. Until the version is checked, this file keeps to what
an older Python 3 can read (hence the quoted annotations), so that it can say what is wrong.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def version_problem(version: "tuple[int, int]", find: "Callable[[str], str | None]" = shutil.which) -> "str | None":
    """Return what to say when this Python cannot run Rialto, naming one on this computer that can; else None."""
    if version in SUPPORTED:
        return None
    said = f"Rialto needs Python 3.11, 3.12 or 3.13; this is Python {version[0]}.{version[1]}."
    for major, minor in reversed(SUPPORTED):
        name = f"python{major}.{minor}"
        if find(name):
            return f"{said} There is a {name} here: use it instead of python3 in the same line."
    return f"{said} Install one of them, then use it instead of python3 in the same line."


def main(arguments: "list[str]") -> int:
    problem = version_problem(sys.version_info[:2])
    if problem:
        sys.stderr.write(problem + "\n")
        return 1
    # the modules beside this file, whatever the current folder is and however this file was started
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from commands import main as command_main

    return command_main(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

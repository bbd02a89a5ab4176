#!/usr/bin/env python3
"""Run, test and maintain a clone: `python3 packaging/bootstrap.py run`, `test`, `sandbox`, `bench`, `lock`, `shots`.

Standard library only, from any folder, on Python 3.11 to 3.14. Until the version is checked, this file uses only syntax
that an older Python 3 can read (hence the quoted annotations), so that it can report the problem.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SUPPORTED = ((3, 11), (3, 12), (3, 13), (3, 14))


def works(command: str) -> bool:
    """Return whether a command starts a Python. The shims of pyenv exist for versions that are not selected."""
    if shutil.which(command) is None:
        return False
    try:
        return subprocess.run([command, "-c", ""], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except OSError:
        return False


def version_problem(version: "tuple[int, int]", starts: "Callable[[str], bool]" = works) -> "str | None":
    """Return an error message if this Python cannot run Rialto, naming one on this computer that can; else None."""
    if version in SUPPORTED:
        return None
    names = [f"{major}.{minor}" for major, minor in SUPPORTED]
    said = f"Rialto needs Python {', '.join(names[:-1])} or {names[-1]}; this is Python {version[0]}.{version[1]}."
    for name in reversed(names):
        if starts(f"python{name}"):
            return f"{said} There is a python{name} here: use it instead of python3 in the same line."
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

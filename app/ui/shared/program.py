"""How the program starts itself once more, in a process of its own. Standard library only."""

from __future__ import annotations

import sys


def own_command() -> list[str]:
    """The beginning of the command line: the built program itself, or Python with our package."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "app"]

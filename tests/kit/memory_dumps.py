"""Lets a program write a dump of its memory where it runs, as desktop systems that collect crashes do."""

from __future__ import annotations

import sys
from collections.abc import Callable


def dumps_allowed() -> Callable[[], None] | None:
    """Return what a process runs before its program begins, to be allowed a dump of any size; None on Windows."""
    if sys.platform == "win32":
        return None
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    return lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

"""Takes PySide's hook out of every import statement.

A module of its own: it runs before anything else is imported.

PySide looks whether a module asks for its `__feature__` switches, which nobody here does, by wrapping `__import__` and
reading the source of each module through `inspect`. That costs time at every import statement, and it is unsafe while
two threads import: `inspect` touches attributes of half-made modules, upon which pydantic's lazy ones begin an import
of their own and fail.
"""

from __future__ import annotations

import builtins

from app.ui.kit.qt_workarounds.pyside_signatures import import_pyside

_HOOK, _BEFORE = "__import__", "__orig_import__"  # names that no stub knows


def read_no_sources() -> bool:
    """Import PySide without its signature modules and undo its `__import__` hook; False if it has none."""
    import_pyside()
    if not hasattr(builtins, _BEFORE):
        return False
    setattr(builtins, _HOOK, getattr(builtins, _BEFORE))
    return True

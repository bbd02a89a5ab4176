"""Keeps PySide from reading the source of every module that is imported.

A module of its own: it runs before anything else is imported.

PySide looks whether a module asks for its `__feature__` switches, which nobody here does, by reading the module's
source through `inspect`. That costs time at every import, and it is unsafe while two threads import: `inspect` touches
attributes of half-made modules, upon which pydantic's lazy ones begin an import of their own and fail.
"""

from __future__ import annotations

import sys

from app.ui.kit.qt_repairs.pyside_signatures import import_pyside


def read_no_sources() -> bool:
    """Answer "uses no features" for every module from now on; False when this PySide has no such hook."""
    import_pyside()  # it brings the hook
    feature = sys.modules.get("shibokensupport.feature")
    if feature is None or not hasattr(feature, "_mod_uses_pyside"):
        return False
    setattr(feature, "_mod_uses_pyside", _uses_no_features)  # noqa: B010 - a name that no type knows
    return True


def _uses_no_features(_module: object) -> bool:
    return False

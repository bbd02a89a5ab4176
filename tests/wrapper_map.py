"""PySide's map from the address of each C++ object to its Python wrapper, and what may end the process in it."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections import defaultdict
from typing import NamedTuple

from PySide6.QtCore import QEvent, QMetaObject, QObject
from shiboken6 import Shiboken

from app.ui.kit.widgets.flow import FlowLayout

_ROW = re.compile(r"key: (0x[0-9a-f]+), value: (0x[0-9a-f]+) \((.*?), refcnt: (-?\d+)\)")


class Entry(NamedTuple):
    address: str
    kind: str  # PySide6.QtWidgets.QLabel
    references: int
    wrapper: object


def entries() -> list[Entry]:
    """Every entry of the map. Holds a reference to each wrapper: let go of them before Qt destroys anything."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            Shiboken.dumpWrapperMap()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        dumped = file.read().decode(errors="replace")
    rows = _ROW.findall(dumped)
    assert rows, dumped[:200]
    return [
        Entry(key, kind, int(count), ctypes.cast(int(value, 16), ctypes.py_object).value if int(count) > 0 else None)
        for key, value, kind, count in rows
    ]


def dangers() -> list[str]:
    """What in the map is wrong now, or will be once Qt deletes an object and tells nobody.

    Qt tells PySide of the end of each `QObject` and of each object that Python made. Of everything else (items of
    layouts, lists and trees, text layouts, accessible interfaces) only its owner knows, so no wrapper may be kept.
    """
    found: list[str] = []
    at: dict[str, set[int]] = defaultdict(set)
    kinds: dict[str, list[str]] = defaultdict(list)
    all_entries = entries()
    # The one layout of our own: Qt takes an item out of its list before it deletes it.
    listed = {id(item) for each in all_entries if isinstance(each.wrapper, FlowLayout) for item in each.wrapper._items}
    for entry in all_entries:
        at[entry.address].add(id(entry.wrapper))
        kinds[entry.address].append(entry.kind)
        if entry.references <= 0:
            found.append(f"{entry.kind} is in the map and has no reference")
        elif not Shiboken.isValid(entry.wrapper):
            found.append(f"{entry.kind} is in the map and its object is gone")
        elif id(entry.wrapper) not in listed and _deleted_without_a_word(entry.wrapper):
            found.append(f"{entry.kind} belongs to Qt, which deletes it and tells nobody")
    found += [f"{' and '.join(kinds[address])} at one address" for address, ids in at.items() if len(ids) > 1]
    return found


def _deleted_without_a_word(wrapper: object) -> bool:
    return not (
        isinstance(wrapper, QObject | QMetaObject | QEvent)  # an event that is being delivered is invalidated after it
        or Shiboken.ownedByPython(wrapper)
        or Shiboken.createdByPython(wrapper)
    )

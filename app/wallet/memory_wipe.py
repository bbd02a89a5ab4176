"""Overwrites freed memory, where copies of a key may remain.

Keys are wiped where they are ours. Libraries make copies: when those are given back, what stood in them stays until
the memory is used again. Using all of it again, with zeros, is what this does. It is no promise about a library that
keeps a copy; `tests/wallet/test_memory.py` searches a stopped process for the keys that it had used.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

SMALL = range(1, 480, 16)  # sizes whose memory Python manages itself, one of each class
KEY_SIZED = 144  # up to here copies of a key fit, as bytes, as text or inside a small object
SMALL_EACH, KEY_SIZED_EACH = 4_000, 30_000
SMALL_STEP = 2_000
OTHERS = (4_096, 2_048, 1_024, 800, 640, 512, 400, 320, 256, 200, *range(184, 8, -16))  # the gaps of each by the next
OTHERS_EACH = 1_500


def wipe_freed_memory() -> None:
    """Fill with zeros what is free, as far as this thread can reach it. Takes 0.1 s: not for the window's own."""
    for _ in forget_in_steps():
        pass


def forget_in_steps() -> Iterator[None]:
    """The same in steps of a few milliseconds, all of which have to be taken."""
    held = []
    for size in SMALL:
        for _ in range((KEY_SIZED_EACH if size <= KEY_SIZED else SMALL_EACH) // SMALL_STEP):
            held.append([bytes(size) for _ in range(SMALL_STEP)])
            yield
    library = _c_library()
    if library is None:
        return
    places: list[list[int]] = []
    for size in OTHERS:
        places.append([place for _ in range(OTHERS_EACH) if (place := library.malloc(size))])
        for place in places[-1]:
            ctypes.memset(place, 0, size)
        yield
    for row in places:
        for place in row:
            library.free(place)
        yield


@cache
def _c_library() -> Any:
    """The C library of this process; None where Python cannot tell which one it is."""
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    return library

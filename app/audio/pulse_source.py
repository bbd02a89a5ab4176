"""Microphones of a PulseAudio or PipeWire server: whether one is present, and how many channels it has.

QtMultimedia lists every one with as many channels as the server could make of it, so the server itself is asked.

When one is pulled out, the server moves its streams to another one without a word, and a recording would go on from a
microphone that nobody chose. PortAudio does not tell, QtMultimedia only sometimes.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from time import monotonic
from typing import Any

_NO_AUTOSPAWN = 1  # PA_CONTEXT_NOAUTOSPAWN
_READY, _FAILED = 4, 5  # PA_CONTEXT_READY, and above it PA_CONTEXT_FAILED and _TERMINATED
_TURN_US = 50_000
ASK_TIMEOUT_S = 1.0


class _SampleSpec(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]  # ctypes reads it so


class _SourceInfo(ctypes.Structure):
    """The beginning of libpulse's `pa_source_info`."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("index", ctypes.c_uint32),
        ("description", ctypes.c_char_p),
        ("sample_spec", _SampleSpec),
    ]


_OnSource = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_SourceInfo), ctypes.c_int, ctypes.c_void_p)
_POINTERS = ("pa_mainloop_new", "pa_mainloop_get_api", "pa_context_new", "pa_context_get_source_info_list")


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libpulse.so.0")
    except OSError:
        return None
    for name in _POINTERS:
        getattr(library, name).restype = ctypes.c_void_p
    return library


def source_is_gone(name: str) -> bool:
    """Tell whether the server has no source of that name; False when it cannot be asked. Takes a second at most."""
    channels = source_channels()
    return channels is not None and name not in channels


def source_channels() -> dict[str, int] | None:
    """Return how many channels each microphone of the server has, by its name; None when it cannot be asked.

    Takes some milliseconds, a second at most.
    """
    library = _library()
    if library is None:
        return None
    loop = ctypes.c_void_p(library.pa_mainloop_new())
    context = ctypes.c_void_p(library.pa_context_new(ctypes.c_void_p(library.pa_mainloop_get_api(loop)), b"Rialto"))
    try:
        return _ask_channels(library, loop, context)
    finally:
        library.pa_context_disconnect(context)
        library.pa_context_unref(context)
        library.pa_mainloop_free(loop)


def _ask_channels(library: ctypes.CDLL, loop: ctypes.c_void_p, context: ctypes.c_void_p) -> dict[str, int] | None:
    found: dict[str, int] = {}
    ended = 0  # libpulse: 1 behind the last one, -1 when the server refused
    until = monotonic() + ASK_TIMEOUT_S

    def note(_context: Any, info: Any, end: int, _data: Any) -> None:
        nonlocal ended
        if end:
            ended = end
        else:
            name = (info.contents.name or b"").decode("utf-8", "replace")
            found[name] = int(info.contents.sample_spec.channels)

    def turn() -> bool:
        library.pa_mainloop_prepare(loop, _TURN_US)
        library.pa_mainloop_poll(loop)
        library.pa_mainloop_dispatch(loop)
        return monotonic() < until

    if library.pa_context_connect(context, None, _NO_AUTOSPAWN, None) < 0:
        return None
    while (state := library.pa_context_get_state(context)) < _READY:
        if not turn():
            return None
    if state >= _FAILED:
        return None
    callback = _OnSource(note)  # held here: the library holds a bare address
    operation = ctypes.c_void_p(library.pa_context_get_source_info_list(context, callback, None))
    while not ended and turn():
        pass
    library.pa_operation_unref(operation)
    return found if ended > 0 else None

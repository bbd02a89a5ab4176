"""What a PulseAudio (or PipeWire) server tells of its microphones: how many channels each has, and whether it is there.

QtMultimedia lists every one with as many channels as the server could make of it, so the server itself is asked.

When one is pulled out, the server moves its streams to another one without a word, and a recording would go on from a
microphone that nobody chose. PortAudio does not tell, QtMultimedia only sometimes. libpulse-simple is asked to open
the source by its name, which fails at once when there is none of that name.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from time import monotonic
from typing import Any

_RECORD, _S16LE = 2, 3  # pa_stream_direction_t, pa_sample_format_t
_NO_ENTITY = 5  # PA_ERR_NOENTITY
_NO_AUTOSPAWN = 1  # PA_CONTEXT_NOAUTOSPAWN
_READY, _FAILED = 4, 5  # PA_CONTEXT_READY, and above it PA_CONTEXT_FAILED and _TERMINATED
_TURN_US = 50_000
ASK_TIMEOUT_S = 1.0


class _SampleSpec(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]  # ctypes reads it so


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libpulse-simple.so.0")
    except OSError:
        return None
    library.pa_simple_new.restype = ctypes.c_void_p
    library.pa_simple_free.argtypes = (ctypes.c_void_p,)
    return library


def source_is_gone(name: str) -> bool:
    """Tell whether the server has no source of that name. False also when nobody can be asked. Takes milliseconds."""
    library = _library()
    if library is None or not name:
        return False
    spec = _SampleSpec(_S16LE, 16_000, 1)
    error = ctypes.c_int(0)
    stream = library.pa_simple_new(
        None,
        b"Rialto",
        _RECORD,
        name.encode(),
        b"Is the microphone there?",
        ctypes.byref(spec),
        None,
        None,
        ctypes.byref(error),
    )
    if stream:
        library.pa_simple_free(stream)
        return False
    return error.value == _NO_ENTITY


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
def _whole_library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL("libpulse.so.0")
    except OSError:
        return None
    for name in _POINTERS:
        getattr(library, name).restype = ctypes.c_void_p
    return library


def source_channels() -> dict[str, int]:
    """Return how many channels each microphone of the server has, by its name; empty when nobody can be asked.

    Takes some milliseconds, a second at most.
    """
    library = _whole_library()
    if library is None:
        return {}
    loop = ctypes.c_void_p(library.pa_mainloop_new())
    context = ctypes.c_void_p(library.pa_context_new(ctypes.c_void_p(library.pa_mainloop_get_api(loop)), b"Rialto"))
    try:
        return _ask_channels(library, loop, context)
    finally:
        library.pa_context_disconnect(context)
        library.pa_context_unref(context)
        library.pa_mainloop_free(loop)


def _ask_channels(library: ctypes.CDLL, loop: ctypes.c_void_p, context: ctypes.c_void_p) -> dict[str, int]:
    found: dict[str, int] = {}
    is_over = False
    until = monotonic() + ASK_TIMEOUT_S

    def note(_context: Any, info: Any, end: int, _data: Any) -> None:
        nonlocal is_over
        if end or not info:
            is_over = True
        else:
            name = (info.contents.name or b"").decode("utf-8", "replace")
            found[name] = int(info.contents.sample_spec.channels)

    def turn() -> bool:
        library.pa_mainloop_prepare(loop, _TURN_US)
        library.pa_mainloop_poll(loop)
        library.pa_mainloop_dispatch(loop)
        return monotonic() < until

    if library.pa_context_connect(context, None, _NO_AUTOSPAWN, None) < 0:
        return {}
    while (state := library.pa_context_get_state(context)) < _READY:
        if not turn():
            return {}
    if state >= _FAILED:
        return {}
    callback = _OnSource(note)  # held here: the library holds a bare address
    operation = ctypes.c_void_p(library.pa_context_get_source_info_list(context, callback, None))
    while not is_over and turn():
        pass
    library.pa_operation_unref(operation)
    return found

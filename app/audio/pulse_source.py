"""The loudspeakers and microphones that a PulseAudio or PipeWire server has now, with their names and channels.

QtMultimedia lists every one with as many channels as the server could make of it. When the server is started anew, it
tries to connect once, a second later, and lists from then on what there was before. So the server itself is asked.

When one is pulled out, the server moves its streams to another one without a word, and a recording would go on from a
microphone that nobody chose. PortAudio does not tell, QtMultimedia only sometimes.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from time import monotonic
from typing import Any, Literal, NamedTuple

_NO_AUTOSPAWN = 1  # PA_CONTEXT_NOAUTOSPAWN
_READY, _FAILED = 4, 5  # PA_CONTEXT_READY, and above it PA_CONTEXT_FAILED and _TERMINATED
_TURN_US = 50_000
ASK_TIMEOUT_S = 1.0


class _SampleSpec(ctypes.Structure):
    _fields_ = [("format", ctypes.c_int), ("rate", ctypes.c_uint32), ("channels", ctypes.c_uint8)]  # ctypes reads it so


class _DeviceInfo(ctypes.Structure):
    """How libpulse's `pa_source_info` and `pa_sink_info` begin."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("index", ctypes.c_uint32),
        ("description", ctypes.c_char_p),
        ("sample_spec", _SampleSpec),
    ]


class ServerDevice(NamedTuple):
    name: str  # for people
    channels: int


_OnDevice = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_DeviceInfo), ctypes.c_int, ctypes.c_void_p)
_LISTS = {"output": "pa_context_get_sink_info_list", "input": "pa_context_get_source_info_list"}
_POINTERS = ("pa_mainloop_new", "pa_mainloop_get_api", "pa_context_new", *_LISTS.values())
_MONITOR = ".monitor"  # the source that hears what a loudspeaker plays


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
    sources = server_devices("input")
    return sources is not None and name not in sources


def server_devices(direction: Literal["output", "input"]) -> dict[str, ServerDevice] | None:
    """Return the loudspeakers or microphones that the server has now, by their ids; None when it cannot be asked.

    Takes some milliseconds, a second at most.
    """
    library = _library()
    if library is None:
        return None
    loop = ctypes.c_void_p(library.pa_mainloop_new())
    context = ctypes.c_void_p(library.pa_context_new(ctypes.c_void_p(library.pa_mainloop_get_api(loop)), b"Rialto"))
    try:
        return _ask(library, loop, context, direction)
    finally:
        library.pa_context_disconnect(context)
        library.pa_context_unref(context)
        library.pa_mainloop_free(loop)


def _ask(
    library: ctypes.CDLL, loop: ctypes.c_void_p, context: ctypes.c_void_p, direction: Literal["output", "input"]
) -> dict[str, ServerDevice] | None:
    found: dict[str, ServerDevice] = {}
    ended = 0  # libpulse: 1 behind the last one, -1 when the server refused
    until = monotonic() + ASK_TIMEOUT_S

    def note(_context: Any, info: Any, end: int, _data: Any) -> None:
        nonlocal ended
        if end:
            ended = end
        else:
            device = info.contents
            id_, name = ((text or b"").decode("utf-8", "replace") for text in (device.name, device.description))
            if direction == "output" or not id_.endswith(_MONITOR):
                found[id_] = ServerDevice(name or id_, int(device.sample_spec.channels))

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
    callback = _OnDevice(note)  # held here: the library holds a bare address
    operation = ctypes.c_void_p(getattr(library, _LISTS[direction])(context, callback, None))
    while not ended and turn():
        pass
    library.pa_operation_unref(operation)
    return found if ended > 0 else None

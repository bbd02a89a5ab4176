"""Whether a microphone of a PulseAudio (or PipeWire) server is still there.

When one is pulled out, the server moves its streams to another one without a word, and a recording would go on from a
microphone that nobody chose. PortAudio does not tell, QtMultimedia only sometimes. libpulse-simple is asked to open
the source by its name, which fails at once when there is none of that name.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_RECORD, _S16LE = 2, 3  # pa_stream_direction_t, pa_sample_format_t
_NO_ENTITY = 5  # PA_ERR_NOENTITY


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

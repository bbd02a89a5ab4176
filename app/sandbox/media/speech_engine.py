"""espeak-ng through ctypes: text and a voice in, sound out. The only file that knows it.

The library speaks with one voice at a time for the whole process, so every call holds one lock.
Source of names and numbers: espeak-ng's speak_lib.h.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import espeakng_loader
import numpy as np
from numpy.typing import NDArray

from app.sandbox.media.sound import Samples

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: synthesis ends before the call returns
_DO_NOT_EXIT = 0x8000  # report a failed start instead of ending the process
_CHARS_UTF8 = 1
_RATE, _PITCH, _RANGE = 1, 3, 4
SLOWEST_WPM, FASTEST_WPM = 80, 440  # what espeak-ng reaches by itself; the rest is stretched
KEPT_CHARS = 300

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class CannotSpeak(Exception):
    """There is no such voice, or the engine did not start."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """`language`: espeak-ng's name; `pitch` and `liveliness` 0..99, 50 normal; `words_per_minute` before `speed`."""

    language: str
    variant: str = ""
    pitch: int = 50
    words_per_minute: float = 175.0
    liveliness: int = 50


class _Espeak:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._library: Any = ctypes.CDLL(espeakng_loader.get_library_path())
        data = espeakng_loader.get_data_path().encode()
        self.rate_hz = int(self._library.espeak_Initialize(_SYNCHRONOUS, 0, data, _DO_NOT_EXIT))
        if self.rate_hz <= 0:
            raise CannotSpeak("espeak-ng did not start")
        self._pieces: list[NDArray[np.int16]] = []
        self._callback = _Callback(self._take)  # kept: ctypes would free it while the library still calls it
        self._library.espeak_SetSynthCallback(self._callback)

    def _take(self, wave: Any, count: int, _events: object) -> int:
        if wave and count > 0:
            self._pieces.append(np.ctypeslib.as_array(wave, shape=(count,)).copy())
        return 0

    def speak(self, text: str, delivery: Delivery, words_per_minute: int) -> Samples:
        name = f"{delivery.language}+{delivery.variant}" if delivery.variant else delivery.language
        with self._lock:
            if self._library.espeak_SetVoiceByName(name.encode()) != 0:
                raise CannotSpeak(f"espeak-ng has no voice {name}")
            for parameter, value in (
                (_RATE, words_per_minute),
                (_PITCH, delivery.pitch),
                (_RANGE, delivery.liveliness),
            ):
                self._library.espeak_SetParameter(parameter, value, 0)
            self._pieces = []
            raw = text.encode()
            self._library.espeak_Synth(raw, ctypes.c_size_t(len(raw) + 1), 0, 0, 0, _CHARS_UTF8, None, None)
            pieces, self._pieces = self._pieces, []
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)


_starting = threading.Lock()  # espeak-ng has one state for the whole process, and `cache` lets two threads in at once


@cache
def _espeak() -> _Espeak:
    return _Espeak()


def speak(text: str, delivery: Delivery, speed: float = 1.0) -> tuple[Samples, int]:
    """Return the samples of one channel and their rate in Hz; empty when nothing in the text can be spoken.

    Safe to call from any thread. Raises `CannotSpeak`. The engine never says a thing twice in quite the same way, so
    short texts are kept for a while: asking again gives the same sound.
    """
    return (_kept if len(text) <= KEPT_CHARS else _speak)(text, delivery, speed)


def _speak(text: str, delivery: Delivery, speed: float) -> tuple[Samples, int]:
    with _starting:
        espeak = _espeak()
    wanted = delivery.words_per_minute * speed
    reached = min(max(wanted, SLOWEST_WPM), FASTEST_WPM)
    samples = espeak.speak(text.replace("\0", " "), delivery, round(reached))
    sound = stretch(samples, reached / wanted, espeak.rate_hz)
    sound.setflags(write=False)
    return sound, espeak.rate_hz


_kept = lru_cache(maxsize=128)(_speak)


def stretch(samples: Samples, factor: float, rate_hz: int) -> Samples:
    """Return the sound `factor` times as long at the same pitch: overlapping windows, each laid where it fits best."""
    window = rate_hz // 25
    if abs(factor - 1) < 0.02 or len(samples) < 3 * window:
        return samples
    hop, reach = window // 2, window // 4
    fade = np.hanning(window + 1)[:window]
    source = np.concatenate((samples, np.zeros(2 * window, np.int16))).astype(np.float64)
    length = int(len(samples) * factor)
    out = np.zeros(length + 2 * window)
    read = 0
    for write in range(0, length, hop):
        wanted = int(write / factor)
        if write:
            expected = source[read + hop : read + hop + hop]  # what would follow the window before
            low = max(0, wanted - reach)
            span = source[low : low + 2 * reach + len(expected)]
            if len(expected) and len(span) > len(expected):
                wanted = low + int(np.argmax(np.correlate(span, expected, "valid")))
        read = min(wanted, len(source) - window)
        out[write : write + window] += source[read : read + window] * fade
    return np.clip(out[:length], -32768, 32767).astype(np.int16)

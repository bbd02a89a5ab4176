"""PocketSphinx: English sound in, words with times out. The only file that knows it.

One decoder for the process, behind a lock. It is fed a twentieth of a second at a time, so that the window, which may
live in the same process, is never kept from drawing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pocketsphinx

from app.sandbox.media.sound import Samples, Sound, resample

RATE_HZ = 16_000
FRAME_S = 0.01
STEP = RATE_HZ // 20
PADDING_S = 0.2
# Synthetic speech is digitally silent between words, and that spoils the recogniser's idea of loudness. A little noise
# of this standard deviation (16-bit units) cuts its errors to a third.
DITHER = 120.0
SILENT_BELOW = 30.0  # root mean square of the loudest moment
PAUSE_S = 0.35  # a silence this long ends a segment
LONGEST_S = 20.0  # and so does this much speech without one
_MOMENT = RATE_HZ // 50  # 20 ms


@dataclass(frozen=True, slots=True)
class Word:
    """Seconds from the start of the recording."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Segment:
    """What was said between two pauses."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        text = " ".join("I" if word.text == "i" else word.text for word in self.words)
        return text[:1].upper() + text[1:] + "."


class Silent(Exception):
    """Nothing can be heard in the recording."""


@cache
def _decoder() -> Any:
    return pocketsphinx.Decoder(samprate=RATE_HZ, loglevel="FATAL")


@dataclass(slots=True)
class _Ear:
    """How one recording sounds, as far as it was heard: the means of its cepstrum, as the decoder writes them.

    Without it, each recording would be heard by the ear of the last one, and the same one never twice the same. It
    begins with what clean speech comes to; the decoder's own beginning is so far off that it mishears first words.
    """

    usual: str = "58.4,3.7,-3.3,2.7,-6.6,-4.8,-1.9,-7.4,-2.0,-1.4,0.4,1.2,-1.9"


_lock = threading.Lock()


def recognize(sound: Sound) -> tuple[Segment, ...]:
    """Return what was said, segment by segment. Raises `Silent`. Takes about a third of the recording's length."""
    wave = resample_long(sound)
    levels = _levels(wave)
    if not len(levels) or np.max(levels) < SILENT_BELOW:
        raise Silent
    segments = []
    ear = _Ear()
    for start, end in spans(levels):
        words = _words(wave[start:end], start / RATE_HZ, ear)
        if words:
            segments.append(Segment(words))
    return tuple(segments)


def resample_long(sound: Sound) -> Samples:
    """Return the samples at 16 kHz; long recordings are done minute by minute."""
    minute = sound.rate_hz * 60
    pieces = [
        resample(sound.samples[at : at + minute], sound.rate_hz, RATE_HZ) for at in range(0, len(sound.samples), minute)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)


def _levels(wave: Samples) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the root mean square of every 20 ms."""
    whole = len(wave) // _MOMENT * _MOMENT
    moments = wave[:whole].reshape(-1, _MOMENT).astype(np.float64)
    return np.asarray(np.sqrt(np.mean(moments**2, axis=1)))


def spans(levels: np.ndarray[Any, np.dtype[np.float64]]) -> list[tuple[int, int]]:
    """Return from where to where somebody speaks, in samples, from the levels of every 20 ms."""
    loud = levels > max(SILENT_BELOW, float(np.max(levels)) * 0.02)
    found: list[tuple[int, int]] = []
    begin: int | None = None
    last = 0
    for moment, is_loud in enumerate(loud):
        if is_loud:
            begin = moment if begin is None else begin
            last = moment
        elif begin is not None and (moment - last) * 0.02 >= PAUSE_S:
            found.append((begin * _MOMENT, (last + 1) * _MOMENT))
            begin = None
        if begin is not None and (moment - begin) * 0.02 >= LONGEST_S:
            found.append((begin * _MOMENT, (moment + 1) * _MOMENT))
            begin = None
    if begin is not None:
        found.append((begin * _MOMENT, (last + 1) * _MOMENT))
    return found


def _words(piece: Samples, at_s: float, ear: _Ear) -> tuple[Word, ...]:
    padding = np.zeros(int(PADDING_S * RATE_HZ))
    noise = np.random.default_rng(len(piece)).normal(0, DITHER, len(piece) + 2 * len(padding))
    wave = np.clip(np.concatenate((padding, piece.astype(np.float64), padding)) + noise, -32768, 32767).astype("<i2")
    end_s = at_s + len(piece) / RATE_HZ

    def clock(frames: int) -> float:
        return round(min(max(at_s + frames * FRAME_S - PADDING_S, at_s), end_s), 2)

    with _lock:
        decoder = _decoder()
        decoder.reinit_feat()  # else what was loud in the recording before, of whomever, is still subtracted
        decoder.set_cmn(ear.usual)
        decoder.start_utt()
        for start in range(0, len(wave), STEP):
            decoder.process_raw(wave[start : start + STEP].tobytes())
        decoder.end_utt()
        ear.usual = str(decoder.get_cmn(True))
        heard = [(one.word, one.start_frame, one.end_frame) for one in decoder.seg() or ()]
    return tuple(
        Word(word.partition("(")[0], clock(start), clock(end + 1))
        for word, start, end in heard
        if not word.startswith(("<", "[", "+"))  # silences and noises
    )

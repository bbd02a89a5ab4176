"""One text being spoken: sentences to samples, samples to a file or to pieces of one."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cached_property

import numpy as np

from app.sandbox.media.sound import Encoder, Samples, encode, encoder, resample
from app.sandbox.media.speech_engine import Delivery, speak
from app.sandbox.media.voice_table import manner

PAUSE_S = 0.12  # after a sentence, at normal speed


class Speaking:
    """`whole()`, or `sentence()` for each and then `finish()`. `freedom`: see `varied`."""

    def __init__(self, model_id: str, delivery: Delivery, freedom: float, speed: float, voice_format: str) -> None:
        own = manner(model_id)
        self._delivery = delivery
        self._freedom = freedom
        self._speed = min(max(speed, own.slowest), own.fastest)
        self._rate_hz = own.rate_hz
        self._format = voice_format

    @cached_property
    def _encoder(self) -> Encoder:
        return encoder(self._format, self._rate_hz)

    def whole(self, sentences: list[str]) -> bytes:
        pieces = [self._samples(sentence) for sentence in sentences]
        return encode(np.concatenate(pieces), self._rate_hz, self._format)

    def sentence(self, text: str) -> bytes:
        return self._encoder.feed(self._samples(text))

    def finish(self) -> bytes:
        return self._encoder.finish()

    def _samples(self, text: str) -> Samples:
        spoken, rate_hz = speak(text, varied(self._delivery, text, self._freedom), self._speed)
        pause = np.zeros(int(PAUSE_S / self._speed * self._rate_hz), np.int16)
        return np.concatenate((resample(spoken, rate_hz, self._rate_hz), pause))


def varied(delivery: Delivery, text: str, freedom: float) -> Delivery:
    """Return the delivery of one sentence, the freer (0..1) the more its own; the same text always sounds the same."""
    if not freedom:
        return delivery
    dice = hashlib.sha256(text.encode()).digest()
    swing = round((dice[0] / 127.5 - 1) * 14 * freedom)
    livelier = round(dice[1] / 255 * 40 * freedom)
    return replace(
        delivery,
        pitch=min(max(delivery.pitch + swing, 0), 99),
        liveliness=min(delivery.liveliness + livelier, 99),
    )

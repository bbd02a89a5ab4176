"""A recording while it is made: blocks in, a file on disk, a level, a waveform. Runs in a thread of its own.

Whoever shows it asks `snapshot()` as often as it likes. Whatever ends a recording — Stop, an unplugged microphone, a
full disk — the file holds everything up to there and can be read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.audio.levels import FLOOR_DB, LevelWatch, level_of
from app.audio.live_peaks import LivePeaks, peaks_path
from app.audio.microphone import MIXED, Blocks, one_channel
from app.audio.wav_file import WavWriter
from app.translation import tr

ASKED_EVERY_S = 2.0  # whether the microphone that is recorded is still there
GONE_AFTER_S = 3.0  # a microphone always delivers blocks, silent ones too
READ_S = 0.2
MAX_GAIN_DB = 20.0


@dataclass(frozen=True, slots=True)
class EndReason:
    """Why a recording ended although nobody ended it. `kind` is "gone", "disk" or "full"."""

    kind: str
    sentence: str


GONE = EndReason("gone", tr("The microphone was disconnected. Everything up to that point is saved."))
FULL = EndReason("full", tr("The recording reached the size limit of WAV files. All of it is saved."))


@dataclass(frozen=True, slots=True)
class RecordingSnapshot:
    """How a recording stands. `seconds` and `data_bytes` are what is in the file; levels are in dB of full scale."""

    seconds: float = 0.0
    data_bytes: int = 0
    is_paused: bool = False
    has_sound: bool = False  # the first block has come
    is_over: bool = False
    level_db: float = FLOOR_DB
    peak_db: float = FLOOR_DB
    warning: str = ""  # see LevelWatch
    lost_blocks: int = 0
    reason: EndReason | None = None
    peak_count: int = 0


class Recorder:
    """Records `blocks` into `path`, one channel, from `start` to `stop`.

    Raises `OSError` from `__init__` when the file cannot be made; nothing else leaves it.
    """

    def __init__(
        self,
        blocks: Blocks,
        path: Path,
        *,
        channel: int = MIXED,
        gain_db: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.rate_hz = blocks.rate_hz
        self._blocks = blocks
        self._channel = channel
        self._gain = 1.0
        self.gain_db = gain_db
        self._clock = clock
        self._file = WavWriter(path, blocks.rate_hz)
        self._peaks = LivePeaks(peaks_path(path), blocks.rate_hz)
        self._watch = LevelWatch()
        self._paused = False
        self._stop = threading.Event()
        self._has_sound = False
        self._over = False
        self._reason: EndReason | None = None
        self._thread = threading.Thread(target=self._run, name="recording", daemon=True)

    @property
    def gain_db(self) -> float:
        return self._gain_db

    @gain_db.setter
    def gain_db(self, value: float) -> None:
        self._gain_db = max(-MAX_GAIN_DB, min(MAX_GAIN_DB, value))
        self._gain = 10 ** (self._gain_db / 20)

    def start(self) -> None:
        """Begin. Sound is in the file from the first block on."""
        self._thread.start()

    def pause(self, on: bool) -> None:
        """While paused the level is still shown and nothing is kept."""
        self._paused = on

    def lose(self) -> None:
        """The microphone was unplugged. A sound server would go on with another one, or with silence: nobody wants that
        in a recording, so it ends here."""
        self._reason = self._reason or GONE
        self._stop.set()

    def stop(self) -> RecordingSnapshot:
        """End the recording and close its file; return how it ended. Call it in a thread: it waits for the disk."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        else:
            self._finish()
        return self.snapshot()

    def snapshot(self) -> RecordingSnapshot:
        """Return how it stands. May be called from any thread."""
        return RecordingSnapshot(
            seconds=self._file.seconds,
            data_bytes=self._file.data_bytes,
            is_paused=self._paused,
            has_sound=self._has_sound,
            is_over=self._over,
            level_db=self._watch.level.rms_db,
            peak_db=self._watch.held_peak_db,
            warning=self._watch.warning,
            lost_blocks=self._blocks.lost_blocks,
            reason=self._reason,
            peak_count=self._peaks.count,
        )

    def newest_peaks(self, count: int) -> list[tuple[float, float]]:
        """Return up to `count` pairs (low, high) of 20 ms each, the newest last."""
        newest = self._peaks.newest
        for _ in range(3):  # the other thread may append while we copy
            try:
                kept = list(newest)
            except RuntimeError:
                continue
            return kept[-count:]
        return []

    def _run(self) -> None:
        try:
            self._record()
        except OSError as error:
            words = tr(
                "The recording stopped because it could not be saved: {strerror}.", strerror=error.strerror or error
            )
            self._reason = EndReason("disk", tr("{words} Everything up to that point is saved.", words=words))
        finally:
            self._finish()

    def _record(self) -> None:
        heard_at = asked_at = self._clock()
        while not self._stop.is_set():
            block = self._blocks.read(READ_S)
            if self._clock() - asked_at >= ASKED_EVERY_S:
                asked_at = self._clock()
                if self._blocks.is_gone():
                    self._reason = GONE
                    return
            if block is None:
                if not self._blocks.is_alive or self._clock() - heard_at > GONE_AFTER_S:
                    self._reason = GONE
                    return
                continue
            heard_at = self._clock()
            self._has_sound = True
            self._take(block)
            if self._file.is_full:
                self._reason = FULL
                return
        while (block := self._blocks.read(0)) is not None:  # what was said before Stop was pressed
            self._take(block)

    def _take(self, block: bytes) -> None:
        import numpy as np

        samples = one_channel(block, self._blocks.channels, self._channel)
        if self._gain != 1.0:
            louder = samples.astype(np.float32) * self._gain
            samples = np.clip(np.rint(louder), -32768, 32767).astype(np.int16)
        self._watch.observe(level_of(samples), len(samples) / self.rate_hz)
        if not self._paused:
            self._file.write(samples.astype("<i2", copy=False).tobytes())
            self._peaks.add(samples)

    def _finish(self) -> None:
        self._blocks.close()
        try:
            self._peaks.close()
            self._file.close()
        except OSError as error:
            words = tr("The end of the recording could not be saved: {strerror}.", strerror=error.strerror or error)
            self._reason = self._reason or EndReason("disk", words)
        self._over = True

"""An audio output stream: plays blocks of samples and reports its position. The only code on PortAudio's thread.

The callback copies from a short queue and returns: no Qt, no log, no file. A queue that runs dry is silence.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

BLOCK_S = 0.02
LATENCY_S = 0.05  # what the device is asked to hold; Escape has to be silent within 0.1 s
CLOSE_TIMEOUT_S = 2.0
HELD_S = 4 * LATENCY_S  # what a device may hold though it is asked for less
FINISH_SPARE_S = 1.0  # beyond the length of what waits


class Speaker(Protocol):
    """What a player needs of a loudspeaker. `rate_hz` frames a second."""

    rate_hz: int

    def write(self, samples: Samples, place: int) -> None:
        """Queue a block, its channels interleaved; `place` is handed back by `heard` when it is played."""

    @property
    def queued(self) -> int:
        """Frames that wait."""

    @property
    def heard(self) -> int:
        """The place of what is being played; -1 when nothing was since the beginning or `clear`."""

    @property
    def is_alive(self) -> bool: ...

    def clear(self) -> None:
        """Forget what waits; the next block is silence."""

    def close(self) -> None: ...


class PortAudioSpeaker:
    """Opened and running; silent until written to. Raises `AudioUnavailable`. Make it in a thread.

    `channels` is what is written; they are mixed to one for a device that takes no more.
    """

    def __init__(self, host: AudioHost, rate_hz: int, device_id: str = "", *, channels: int = 1) -> None:
        self.rate_hz = rate_hz
        self._channels = channels
        self._host = host
        self._queue: deque[tuple[np.ndarray[tuple[int, int], np.dtype[np.int16]], int]] = deque()
        self._offset = 0  # frames of the first block that are played already
        self._queued = 0
        self._heard = -1
        self._lock = threading.Lock()
        self._is_closing = False
        self._is_finishing = False
        self._ended = threading.Event()
        self._stream: Any = None
        try:
            self._stream = self._open(device_id)
        except AudioUnavailable as error:
            if not device_id or error.missing is not AudioProblem.FAILED:
                raise
            self._stream = self._open("")  # it was there when the list was read; the default one is better than silence

    def _open(self, device_id: str) -> Any:
        with self._host.opening("output", device_id) as (sounddevice, target):
            self._is_mixed = target.channels == 1 < self._channels
            stream = sounddevice.OutputStream(
                samplerate=self.rate_hz,
                blocksize=int(self.rate_hz * BLOCK_S),
                device=target.index,
                channels=1 if self._is_mixed else self._channels,
                dtype="int16",
                latency=LATENCY_S,
                extra_settings=target.settings,
                callback=self._play,
                finished_callback=self._end,
            )
            try:
                stream.start()
            except sounddevice.PortAudioError:
                stream.close(ignore_errors=True)
                raise
            return stream

    def _play(self, out: Any, frames: int, times: Any, status: Any) -> None:
        """On PortAudio's own thread."""
        done = 0
        with self._lock:
            while done < frames and self._queue:
                samples, place = self._queue[0]
                count = min(frames - done, len(samples) - self._offset)
                out[done : done + count] = samples[self._offset : self._offset + count]
                done += count
                self._offset += count
                self._heard = place
                if self._offset >= len(samples):
                    self._queue.popleft()
                    self._offset = 0
            self._queued -= done
        if done < frames:
            out[done:] = 0
            if self._is_finishing:
                self._ended.set()

    def _end(self) -> None:
        self._ended.set()

    def write(self, samples: Samples, place: int) -> None:
        if len(samples):
            frames = samples.reshape(-1, self._channels)
            if self._is_mixed:
                frames = frames.mean(axis=1, keepdims=True).astype(samples.dtype)
            with self._lock:
                self._queue.append((frames, place))
                self._queued += len(frames)

    def write_pcm(self, data: bytes) -> None:
        """Queue 16-bit samples in the computer's own byte order, the channels interleaved."""
        import numpy as np

        self.write(np.frombuffer(data, np.int16), 0)

    @property
    def queued(self) -> int:
        return self._queued

    @property
    def heard(self) -> int:
        return self._heard

    @property
    def is_alive(self) -> bool:
        """False when the system ended the stream, which it does when the device is gone."""
        return self._is_closing or not self._ended.is_set()

    def clear(self) -> None:
        with self._lock:
            self._queue.clear()
            self._queued = self._offset = 0
            self._heard = -1

    def finish(self) -> None:
        """Let what waits be heard, then close. Takes as long: a thread does that."""
        self._is_closing = True
        silence = bytes(round(self.rate_hz * HELD_S) * self._channels * 2)
        self.write_pcm(silence)  # the device plays what it holds while this is taken
        self._is_finishing = True
        self._ended.wait(self._queued / self.rate_hz + FINISH_SPARE_S)
        self.close()

    def close(self) -> None:
        """Be silent at once. A stream whose device is gone may never come back from closing: a thread does that."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        self._is_closing = True
        self.clear()

        def end() -> None:
            with contextlib.suppress(Exception):  # the driver's last words help nobody
                stream.abort(ignore_errors=True)
                stream.close(ignore_errors=True)
            self._host.closed()  # not before: PortAudio must not be begun anew under a stream that is still closing

        closer = threading.Thread(target=end, name="close loudspeaker", daemon=True)
        closer.start()
        closer.join(CLOSE_TIMEOUT_S)

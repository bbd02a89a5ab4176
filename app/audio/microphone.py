"""A microphone as a stream of blocks. The only work on the sound thread is to copy a block into a queue.

Opening a device that another program holds may hang, so it happens in a thread and is given up after
`OPEN_TIMEOUT_S`. Nothing is being recorded before the first block has come: a sound server may take two seconds.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable, Target
from app.audio.pulse_source import source_is_gone
from app.formats import format_number
from app.translation import tr

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.int16]]

RATE_HZ = 16_000  # what recognisers hear; a device that cannot gives its own rate
BLOCK_S = 0.02
QUEUE_BLOCKS = 3_000  # a minute: a disk that stalls for longer than that loses sound, and says so
OPEN_TIMEOUT_S = 8.0
MIXED = -1  # all channels mixed to one
_BAD_RATE, _BAD_CHANNELS = -9997, -9998  # PortAudio's numbers


@dataclass(frozen=True, slots=True)
class MicrophoneChoice:
    """Which input, by its lasting id ("" is the system's default), and which of its channels (from 0, or `MIXED`)."""

    device_id: str = ""
    channel: int = MIXED
    channels: int = 1  # how many the device has, as far as that is known


class Blocks(Protocol):
    """What a recorder reads. A fake of it needs no sound card."""

    rate_hz: int
    channels: int

    def read(self, timeout_s: float) -> bytes | None:
        """Return the next block of interleaved 16-bit frames, None when none came in time."""

    @property
    def lost_blocks(self) -> int:
        """How many blocks were thrown away because nobody took them in time."""

    @property
    def is_alive(self) -> bool:
        """False when the system ended the stream. A device that is only silent is alive."""

    def is_gone(self) -> bool:
        """Ask the system whether the device was pulled out although sound still comes. Takes some milliseconds."""

    def close(self) -> None: ...


class BlockQueue:
    """Between the sound thread and the reader: takes a copy of each block and never waits."""

    def __init__(self, blocks: int = QUEUE_BLOCKS) -> None:
        self.lost_blocks = 0
        self._blocks: queue.Queue[bytes] = queue.Queue(blocks)

    def observe(self, data: Any, frames: int, times: Any, status: Any) -> None:
        """PortAudio's callback, on PortAudio's own thread: copy and go."""
        try:
            self._blocks.put_nowait(bytes(data))
        except queue.Full:
            self.lost_blocks += 1
        if status and status.input_overflow:
            self.lost_blocks += 1

    def read(self, timeout_s: float) -> bytes | None:
        try:
            return self._blocks.get(timeout=timeout_s) if timeout_s > 0 else self._blocks.get_nowait()
        except queue.Empty:
            return None


class MicrophoneStream:
    """An open microphone. `channels` are what it delivers; choosing among them is the reader's work."""

    def __init__(self, host: AudioHost, sounddevice: ModuleType, target: Target, rate_hz: int, channels: int) -> None:
        self.rate_hz = rate_hz
        self.channels = channels
        self._server_name = target.server_name
        self._host = host
        self._queue = BlockQueue()
        self._ended = False
        self._stream: Any = sounddevice.RawInputStream(
            samplerate=rate_hz,
            blocksize=int(rate_hz * BLOCK_S),
            device=target.index,
            channels=channels,
            dtype="int16",
            extra_settings=target.settings,
            callback=self._queue.observe,
            finished_callback=self._end,
        )
        self._stream.start()

    def _end(self) -> None:
        self._ended = True

    @property
    def lost_blocks(self) -> int:
        return self._queue.lost_blocks

    @property
    def is_alive(self) -> bool:
        return not self._ended

    def read(self, timeout_s: float) -> bytes | None:
        """Return the next block of interleaved 16-bit frames, None when none came in time."""
        return self._queue.read(timeout_s)

    def is_gone(self) -> bool:
        return bool(self._server_name) and source_is_gone(self._server_name)

    def close(self) -> None:
        """Stop at once. A stream whose device is gone may not come back from closing, so it is left to a thread."""
        stream, self._stream = self._stream, None
        if stream is None:
            return

        def end() -> None:
            with contextlib.suppress(Exception):  # the driver's last words help nobody
                stream.abort(ignore_errors=True)
                stream.close(ignore_errors=True)
            self._host.closed()

        closer = threading.Thread(target=end, name="close microphone", daemon=True)
        closer.start()
        closer.join(2.0)


def open_microphone(
    host: AudioHost, choice: MicrophoneChoice, rate_hz: int = RATE_HZ, timeout_s: float = OPEN_TIMEOUT_S
) -> MicrophoneStream:
    """Open an input, at its own rate where it cannot do `rate_hz`. Call it in a thread. Raises `AudioUnavailable`.

    A device that does not answer in time counts as one that another program holds.
    """
    results: list[MicrophoneStream | Exception] = []
    changed = threading.Condition()
    given_up = False

    def run() -> None:
        try:
            result: MicrophoneStream | Exception = _open(host, choice, rate_hz)
        except Exception as error:
            result = error
        with changed:
            results.append(result)
            changed.notify()
            late = given_up
        if late and isinstance(result, MicrophoneStream):
            result.close()

    threading.Thread(target=run, name="open microphone", daemon=True).start()
    with changed:
        if not changed.wait_for(lambda: results, timeout_s):
            given_up = True
            raise AudioUnavailable(
                AudioProblem.BUSY,
                "input",
                tr("no answer in {timeout_s} s", timeout_s=format_number(timeout_s, 0)),
            )
    result = results[0]
    if isinstance(result, Exception):
        raise result
    return result


def _open(host: AudioHost, choice: MicrophoneChoice, rate_hz: int) -> MicrophoneStream:
    with host.opening("input", choice.device_id) as (sounddevice, target):
        own_rate = int(sounddevice.query_devices(target.index)["default_samplerate"])
        wanted = 1 if choice.channel == MIXED and choice.channels <= 1 else max(2, choice.channel + 1)
        tries = [(rate, count) for count in dict.fromkeys((wanted, 1)) for rate in dict.fromkeys((rate_hz, own_rate))]
        for place, (rate, count) in enumerate(tries, 1):
            try:
                return MicrophoneStream(host, sounddevice, target, rate, count)
            except sounddevice.PortAudioError as error:
                if place == len(tries) or not {_BAD_RATE, _BAD_CHANNELS} & set(error.args):
                    raise
    raise AssertionError("there is always a first try")


def one_channel(block: bytes, channels: int, channel: int) -> Samples:
    """Return one channel of interleaved frames, or all of them mixed."""
    import numpy as np

    samples = np.frombuffer(block, dtype="<i2")
    if channels == 1:
        return samples
    frames = samples.reshape(-1, channels)
    if channel == MIXED:
        return np.asarray(np.rint(frames.mean(axis=1)), dtype=np.int16)
    return np.ascontiguousarray(frames[:, min(channel, channels - 1)])

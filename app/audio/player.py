"""Plays a spool, also while it still grows: pause, places, speed, loudness, another loudspeaker.

Every method returns at once and may be called from the window's thread; a thread of the player's own opens devices,
reads the disk and keeps the loudspeaker's short queue filled. `on_change` is called from that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable
from app.audio.speaker import BLOCK_S, PortAudioSpeaker, Speaker
from app.audio.stretch import Stretcher

if TYPE_CHECKING:
    from app.audio.speaker import Samples
    from app.audio.spool import Spool

AHEAD_S = 0.06  # how much waits in the loudspeaker's queue
WAKE_S = 0.01
LAST_SOUND_S = 0.12  # the device still holds a little when our queue is empty
SPEEDS = (0.25, 4.0)

PlayState = Literal["idle", "playing", "waiting", "paused", "ended"]
MakeSpeaker = Callable[[int, str], Speaker]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the person wants; replaced as a whole, so that the thread reads one consistent value."""

    plays: bool = False
    seek: int | None = None  # a frame
    speed: float = 1.0
    volume: float = 1.0
    device_id: str = ""
    warm_hz: int = 0  # open a loudspeaker at this rate although nothing plays yet
    is_closed: bool = False


class Player:
    """`state`: idle (no sound), playing, waiting (for sound that still arrives), paused, ended."""

    def __init__(
        self, host: AudioHost, on_change: Callable[[], None] = lambda: None, *, make: MakeSpeaker | None = None
    ) -> None:
        self._make = make or (lambda rate_hz, device_id: PortAudioSpeaker(host, rate_hz, device_id))
        self._on_change = on_change
        self._wish = _Wish()
        self._spool: Spool | None = None
        self._speaker: Speaker | None = None
        self._open_as: tuple[int, str] = (0, "")
        self._reader: Stretcher | None = None
        self._place = 0  # the frame heard last
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._asked = 0
        self.state: PlayState = "idle"
        self.problem: AudioUnavailable | None = None

    # -- wishes ---------------------------------------------------------------------------------------------------

    def load(self, spool: Spool | None, at_s: float = 0.0) -> None:
        """Take another sound, paused at `at_s`."""
        self._silence()
        with self._wake:
            self._spool = spool
            self._reader = None
            self._place = round(at_s * spool.rate_hz) if spool is not None else 0
            self._wish = replace(self._wish, plays=False, seek=self._place)
            self._set("paused" if spool is not None else "idle")
            self._wake.notify_all()

    def prepare(self, rate_hz: int) -> None:
        """Open the loudspeaker now, so that the first sound need not wait for it."""
        self._change(warm_hz=rate_hz)

    def play(self) -> None:
        """Play from where it is; from the beginning when it has ended."""
        if self._spool is None:
            return
        self.problem = None
        if self.state == "ended":
            self._place = 0
            self._change(plays=True, seek=0)
        else:
            self._change(plays=True)

    def pause(self) -> None:
        """Be silent within a block, and stay where it is."""
        self._silence()
        self._change(plays=False, seek=self._place, warm_hz=0)

    def toggle(self) -> None:
        if self._wish.plays and self.state != "ended":
            self.pause()
        else:
            self.play()

    def seek(self, seconds: float) -> None:
        """Go to a place; it goes on playing if it did."""
        spool = self._spool
        if spool is None or not spool.rate_hz:
            return
        frame = max(0, min(spool.frames, round(seconds * spool.rate_hz)))
        self._silence()
        self._place = frame
        if self.state == "ended":
            self._set("paused")
            self._change(seek=frame, plays=False)
        else:
            self._change(seek=frame)

    def set_speed(self, speed: float) -> None:
        low, high = SPEEDS
        self._change(speed=max(low, min(high, speed)))

    def set_volume(self, volume: float) -> None:
        """Loudness from 0 to 1; what waits in the queue, 60 ms, still has the old one."""
        self._change(volume=max(0.0, min(1.0, volume)))

    def set_device(self, device_id: str) -> None:
        """Go on from the same place on another loudspeaker."""
        self.problem = None
        self._change(device_id=device_id, seek=self._place)

    def close(self) -> None:
        """Stop for good and give the device back."""
        self._silence()
        self._change(is_closed=True)
        if self._thread is not None:
            self._thread.join(5.0)

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def position_s(self) -> float:
        """Where the sound that is heard now is."""
        spool = self._spool
        return self._place / spool.rate_hz if spool is not None and spool.rate_hz else 0.0

    @property
    def wants_to_play(self) -> bool:
        return self._wish.plays

    @property
    def speed(self) -> float:
        return self._wish.speed

    @property
    def volume(self) -> float:
        return self._wish.volume

    @property
    def device_id(self) -> str:
        return self._wish.device_id

    @property
    def spool(self) -> Spool | None:
        return self._spool

    # -- the player's own thread ----------------------------------------------------------------------------------

    def _change(self, **changes: object) -> None:
        with self._wake:
            self._wish = replace(self._wish, **changes)  # type: ignore[arg-type]  # the callers above name its fields
            self._asked += 1
            if self._thread is None and not self._wish.is_closed:
                self._thread = threading.Thread(target=self._run, name="player", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def _silence(self) -> None:
        """What Escape does: nothing that waits is played. On the caller's own thread, so that nothing delays it."""
        speaker = self._speaker
        if speaker is not None:
            self._record_place(speaker)
            speaker.clear()

    def _set(self, state: PlayState) -> None:
        if state != self.state:
            self.state = state
            self._on_change()

    def _run(self) -> None:
        while not self._wish.is_closed:
            asked = self._asked
            try:
                busy = self._turn()
            except AudioUnavailable as error:
                self._give_up(error)
                busy = False
            with self._wake:
                if self._asked == asked:
                    self._wake.wait(WAKE_S if busy else None)
        self._release()

    def _turn(self) -> bool:
        """Do what is due; True when it has to be looked at again soon."""
        wish, spool = self._wish, self._spool
        if not wish.plays or spool is None:
            self._rest(wish)
            return False
        if not spool.rate_hz and not spool.is_finished:
            self._warm(wish)
            self._set("waiting")
            spool.wait(0, WAKE_S)
            return True
        speaker = self._ready(wish, spool)
        reader = self._reader_for(wish, spool)
        if not speaker.is_alive:
            raise AudioUnavailable(AudioProblem.LOST, "output")
        self._fill(wish, spool, reader, speaker)
        if self._wish.seek is None:
            self._record_place(speaker)
        if reader.at >= spool.frames and speaker.queued <= 0:
            if spool.is_finished:
                self._end(spool)
                return True
            self._set("waiting")
            spool.wait(reader.at, WAKE_S)
        elif speaker.queued > 0:
            self._set("playing")
        return True

    def _fill(self, wish: _Wish, spool: Spool, reader: Stretcher, speaker: Speaker) -> None:
        ahead, block = int(spool.rate_hz * AHEAD_S), int(spool.rate_hz * BLOCK_S)
        while speaker.queued < ahead and self._wish is wish:
            place = reader.at
            samples = reader.next(block)
            if not len(samples) and spool.is_finished:
                samples = reader.rest()
            if not len(samples):
                return
            speaker.write(_at_volume(samples, wish.volume), place)

    def _reader_for(self, wish: _Wish, spool: Spool) -> Stretcher:
        reader = self._reader
        if wish.seek is not None:
            with self._wake:
                if self._wish.seek == wish.seek:
                    self._wish = replace(self._wish, seek=None)
            reader = Stretcher(spool, wish.seek, wish.speed)
        elif reader is None:
            reader = Stretcher(spool, self._place, wish.speed)
        elif reader.speed != wish.speed:
            reader = Stretcher(spool, reader.at, wish.speed)
        self._reader = reader
        return reader

    def _record_place(self, speaker: Speaker) -> None:
        if self._reader is not None and speaker.heard >= 0:
            self._place = min(speaker.heard, self._spool.frames if self._spool is not None else speaker.heard)

    def _end(self, spool: Spool) -> None:
        asked = self._asked
        with self._wake:
            self._wake.wait_for(lambda: self._asked != asked, LAST_SOUND_S)
            if self._asked != asked:
                return
            self._place = spool.frames
            self._reader = None
            self._wish = replace(self._wish, plays=False, warm_hz=0)
        self._set("ended")

    def _rest(self, wish: _Wish) -> None:
        self._reader = None
        if self.state in ("playing", "waiting"):
            self._set("paused")
        if wish.warm_hz:
            self._warm(wish)
        elif self._speaker is not None:
            self._release()

    def _warm(self, wish: _Wish) -> None:
        if wish.warm_hz and self._open_as != (wish.warm_hz, wish.device_id):
            self._open(wish.warm_hz, wish.device_id)

    def _ready(self, wish: _Wish, spool: Spool) -> Speaker:
        if self._speaker is None or self._open_as != (spool.rate_hz, wish.device_id):
            self._open(spool.rate_hz, wish.device_id)
        assert self._speaker is not None
        return self._speaker

    def _open(self, rate_hz: int, device_id: str) -> None:
        self._release()
        self._speaker = self._make(rate_hz, device_id)
        self._open_as = (rate_hz, device_id)

    def _release(self) -> None:
        speaker, self._speaker = self._speaker, None
        self._open_as = (0, "")
        if speaker is not None:
            speaker.close()

    def _give_up(self, error: AudioUnavailable) -> None:
        self._reader = None
        self._release()
        self.problem = error
        with self._wake:
            self._wish = replace(self._wish, plays=False, seek=self._place, warm_hz=0)
        self.state = "paused"
        self._on_change()


def _at_volume(samples: Samples, volume: float) -> Samples:
    if volume >= 1.0:
        return samples
    return (samples * volume).astype(samples.dtype)

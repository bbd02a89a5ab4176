"""Playback of the open row: decoded in the background, played from any word, with a cached waveform."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app import files
from app.audio.decoding import NotSound, blocks_of
from app.audio.devices import AudioHost, AudioUnavailable, Device
from app.audio.live_peaks import peaks_path
from app.audio.player import MakeSpeaker, Player
from app.audio.spool import Spool
from app.audio.waveform import cache_path, load
from app.storage.errors import unavailable
from app.translation import tr

if TYPE_CHECKING:
    from app.audio.waveform import Pairs
    from app.core.tasks import TaskScope

POSITION_MS = 40
DECODE_WAIT_S = 30.0  # for a place that is not decoded yet
NEARLY_S = 0.05


class Playing(QObject):
    """`position_changed` tells the second that is heard, `changed` everything else."""

    position_changed = Signal(float)
    changed = Signal()
    _moved = Signal()  # from the player's thread to the window's

    def __init__(self, host: AudioHost, tasks: TaskScope, cache: Path, *, make: MakeSpeaker | None = None) -> None:
        super().__init__()
        self._host = host
        self._tasks = tasks
        self._cache = cache
        self._moved.connect(self._player_moved)
        self.player = Player(host, self._moved.emit, make=make)
        self.path: Path | None = None
        self.duration_s = 0.0
        self.problem = ""
        self._spool: Spool | None = None
        self._number = 0
        self._silent = asyncio.Event()
        self._timer = QTimer(self)
        self._timer.setInterval(POSITION_MS)
        self._timer.timeout.connect(self._publish_position)

    # The sound

    def show(self, path: Path | None, duration_s: float | None) -> None:
        """Take the sound of another row, silent until somebody wants to hear it."""
        if path == self.path:
            self.duration_s = duration_s or self.duration_s
            return
        self._let_go()
        self.path, self.duration_s, self.problem = path, duration_s or 0.0, ""
        self.changed.emit()

    async def peaks(self, path: Path) -> Pairs | None:
        """Return a sound's waveform, from the cache where it is; None when it cannot be read."""
        try:
            return await asyncio.to_thread(load, path, self._cache)
        except (NotSound, OSError):
            return None

    def _let_go(self) -> None:
        self.player.load(None)
        spool, self._spool = self._spool, None
        if spool is not None:
            self._tasks.start_unless_running(f"close spool {id(spool)}", asyncio.to_thread, spool.close)

    def _spooled(self) -> Spool | None:
        """Begin to decode, at the first wish to hear it."""
        if self._spool is None and self.path is not None:
            self._number += 1
            path = self.path
            target = self._cache / "playing" / f"transcript-{self._number}.pcm"
            try:
                spool = self._spool = Spool(target)
            except OSError as error:
                self.problem = unavailable(error, target, tr("Preparing audio")).sentence
                self.changed.emit()
                return None
            self._tasks.replace(f"decode {self._number}", self._decode, path, spool)
            self.player.load(spool)
        return self._spool

    async def _decode(self, path: Path, spool: Spool) -> None:
        def work() -> None:
            try:
                for block in blocks_of(path):
                    spool.add(block)
                    if self._spool is not spool:
                        return
            finally:
                spool.finish()

        try:
            await asyncio.to_thread(work)
        except NotSound as error:
            self.problem = error.sentence
        except OSError as error:
            self.problem = unavailable(error, spool.path, tr("Preparing audio")).sentence
        if spool is self._spool and spool.duration_s:
            self.duration_s = spool.duration_s
        self.changed.emit()

    # Hands

    @property
    def plays(self) -> bool:
        return self.player.wants_to_play

    def toggle(self) -> None:
        if self._spooled() is None:
            return
        self.problem = ""
        self.player.toggle()
        self._player_moved()

    def pause(self) -> None:
        self.player.pause()
        self._player_moved()

    def stop(self) -> bool:
        """Be silent; False when nothing played."""
        if not self.player.wants_to_play:
            return False
        self.player.pause()
        self._player_moved()
        return True

    def seek(self, seconds: float, *, play: bool = False) -> None:
        """Go to a place, which may still have to be decoded."""
        self._tasks.replace("seek", self._seek, seconds, play)

    async def _seek(self, seconds: float, play: bool) -> None:
        spool = self._spooled()
        if spool is None:
            return
        await asyncio.to_thread(spool.wait, 0, DECODE_WAIT_S)
        await asyncio.to_thread(spool.wait, round((seconds + NEARLY_S) * spool.rate_hz), DECODE_WAIT_S)
        self.player.seek(seconds)
        if play:
            self.player.play()
        self._player_moved()
        self.position_changed.emit(self.player.position_s)

    def skip(self, by_s: float) -> None:
        self.seek(max(0.0, min(self.duration_s, self.player.position_s + by_s)), play=False)

    def set_speed(self, speed: float) -> None:
        self.player.set_speed(speed)
        self.changed.emit()

    def set_volume(self, volume: float) -> None:
        self.player.set_volume(volume)
        self.changed.emit()

    def set_output(self, device_id: str) -> None:
        self.player.set_device(device_id)
        self.changed.emit()

    async def outputs(self) -> tuple[tuple[Device, ...], str]:
        """Return the loudspeakers there are, and a sentence when there can be none."""
        try:
            return await asyncio.to_thread(self._host.devices, "output"), ""
        except AudioUnavailable as error:
            return (), error.sentence

    async def play_file(self, path: Path) -> None:
        """Play a short file from beginning to end; return when it is over. Raises `AudioUnavailable`."""
        self._let_go()
        self.path = None
        spool = Spool(self._cache / "playing" / "test.pcm")

        def fill() -> None:
            for block in blocks_of(path):
                spool.add(block)
            spool.finish()

        try:
            await asyncio.to_thread(fill)
            self.player.load(spool)
            self._silent.clear()
            self.player.play()
            async with asyncio.timeout(spool.duration_s + 5):
                await self._silent.wait()
        except TimeoutError:
            pass
        finally:
            self.player.load(None)
            await asyncio.to_thread(spool.close)
            self.changed.emit()
        if self.player.problem is not None:
            raise self.player.problem

    # News

    def _player_moved(self) -> None:
        if self.player.problem is not None:
            self.problem = self.player.problem.sentence
        if self.player.wants_to_play:
            self._timer.start()
        else:
            self._timer.stop()
            self._silent.set()
            self._publish_position()
        self.changed.emit()

    def _publish_position(self) -> None:
        self.position_changed.emit(self.player.position_s)

    async def aclose(self) -> None:
        self._timer.stop()
        self._tasks.cancel("seek")
        self.player.load(None)
        await asyncio.to_thread(self.player.close)
        spool, self._spool = self._spool, None
        if spool is not None:
            await asyncio.to_thread(spool.close)


def keep_recorded_peaks(recording: Path, cache: Path) -> None:
    """Make the waveform that grew with a recording its cached one. For a worker thread; costs nothing when it fails."""
    source = peaks_path(recording)
    with contextlib.suppress(OSError):
        target = cache_path(cache, recording)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.replace(source, target)

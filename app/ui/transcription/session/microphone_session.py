"""The microphone: which one is used, its level, and the recording in progress."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable
from app.audio.live_peaks import PER_SECOND
from app.audio.microphone import BLOCK_S, MIXED, Blocks, MicrophoneChoice, open_microphone
from app.audio.recording import Recorder, RecordingSnapshot
from app.translation import tr
from app.ui.transcription.state import BYTES_PER_S, Microphone, Microphones, Tick

if TYPE_CHECKING:
    from app.ui.kit.sound.device_watch import DeviceWatch

MOST_CHANNELS = 8  # to choose one of
TICK_MS = 50
SHOWN_S = 30  # of the live waveform
TEST_S = 3.0
FIRST_BLOCK_S = 6.0  # a sound server may take two seconds
WAIT_S = 0.02

OpenBlocks = Callable[[MicrophoneChoice], Blocks]


@dataclass(slots=True)
class SavedMicrophone:
    """What is remembered of the microphone between runs."""

    device_id: str = ""
    channel: int = MIXED
    gain_db: float = 0.0


class RecordingSession(QObject):
    """`ended` comes when a recording ended by itself; whoever made it asks `finish` for how."""

    inputs_changed = Signal(object)  # Inputs
    ticked = Signal(object)  # Tick
    ended = Signal()

    def __init__(
        self, host: AudioHost, watch: DeviceWatch, kept: SavedMicrophone, *, open_blocks: OpenBlocks | None = None
    ) -> None:
        super().__init__()
        self._host = host
        self.watch = watch
        self._looking = asyncio.Lock()
        self.kept = kept
        self._open_blocks = open_blocks or (lambda choice: open_microphone(host, choice))
        self._microphones: tuple[Microphone, ...] = ()
        self._default_id = ""
        self._problem = tr("Looking for microphones…")
        self._is_known = False
        self._test = ""
        self._no_test = asyncio.Event()
        self._no_test.set()
        self._recorder: Recorder | None = None
        self._recorded_id = ""  # of the microphone that is recorded
        self._phase = ""
        self.record_as = "flac"
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    # Microphones

    def inputs(self) -> Microphones:
        known = {each.id for each in self._microphones}
        missing = bool(self.kept.device_id) and self.kept.device_id not in known
        return Microphones(
            self._microphones,
            self.kept.device_id,
            self.kept.channel,
            self.kept.gain_db,
            self._problem,
            missing and bool(self._microphones),
            self._is_known,
            self._test,
        )

    async def refresh(self) -> None:
        """Look which microphones there are; a recording of one that is gone ends."""
        async with self._looking:  # else an older list that a thread brings late would stay
            self._host.note_system(self.watch.devices)
            try:
                found = await asyncio.to_thread(self._host.devices, "input")
                self._problem = "" if found else tr("No microphone found. Connect one and it appears here.")
            except AudioUnavailable as error:
                found, self._problem = (), error.sentence
            self._microphones = tuple(
                Microphone(each.id, each.name, min(MOST_CHANNELS, each.channels)) for each in found
            )
            self._is_known = True
            self._default_id = next((each.id for each in found if each.is_default), "")
            if self._recorder is not None and self._recorded_id and self._recorded_id not in {one.id for one in found}:
                self._recorder.lose()
            self.inputs_changed.emit(self.inputs())

    def choose(self, device_id: str) -> None:
        self.kept.device_id, self.kept.channel = device_id, MIXED
        self.inputs_changed.emit(self.inputs())

    def choose_channel(self, channel: int) -> None:
        self.kept.channel = channel
        self.inputs_changed.emit(self.inputs())

    def set_gain(self, gain_db: float) -> None:
        """Louder or quieter, also while it records."""
        self.kept.gain_db = gain_db
        if self._recorder is not None:
            self._recorder.gain_db = gain_db

    def _choice(self) -> MicrophoneChoice:
        known = {each.id: each for each in self._microphones}
        device_id = self.kept.device_id if self.kept.device_id in known else ""
        device = known.get(device_id or self._default_id)
        return MicrophoneChoice(device_id, self.kept.channel, device.channels if device is not None else 1)

    # Recording

    @property
    def phase(self) -> str:
        return self._phase

    @property
    def is_busy(self) -> bool:
        return bool(self._phase) or bool(self._test)

    @property
    def seconds(self) -> float:
        return self._recorder.snapshot().seconds if self._recorder is not None else 0.0

    async def begin(self, path: Path) -> None:
        """Open the microphone and record into `path`. Raises `AudioUnavailable`, and `OSError` from the disk."""
        self._phase = "opening"
        self._tick()
        try:
            await self.refresh()
            choice = self._choice()
            recorder = await self._opened(choice, path)
        except BaseException:
            self._phase = ""
            self._tick()
            raise
        self._recorder, self._recorded_id = recorder, choice.device_id or self._default_id
        self._phase = "recording"
        recorder.start()
        self._timer.start()
        self._tick()

    async def _opened(self, choice: MicrophoneChoice, path: Path) -> Recorder:
        """A recorder that has not begun. One that is not waited for any more gives its microphone back."""
        loop = asyncio.get_running_loop()
        opening = loop.run_in_executor(None, self._recorder_of, choice, path)

        def close(opened: asyncio.Future[Recorder]) -> None:
            if not opened.cancelled() and opened.exception() is None:
                loop.run_in_executor(None, opened.result().stop)

        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(close)
            raise

    def _recorder_of(self, choice: MicrophoneChoice, path: Path) -> Recorder:
        """Open the microphone, then make the file. For a worker thread."""
        blocks = self._open_blocks(choice)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return Recorder(blocks, path, channel=choice.channel, gain_db=self.kept.gain_db)
        except OSError:
            blocks.close()
            raise

    def pause(self, on: bool) -> None:
        if self._recorder is not None and self._phase in ("recording", "paused"):
            self._recorder.pause(on)
            self._phase = "paused" if on else "recording"
            self._tick()

    async def finish(self) -> RecordingSnapshot:
        """End the recording and return how it ended; its file is whole then."""
        recorder = self._recorder
        if recorder is None:
            return RecordingSnapshot(is_over=True)
        self._timer.stop()
        self._phase = "saving"
        self._tick()
        try:
            return await asyncio.to_thread(recorder.stop)
        finally:
            self._recorder, self._recorded_id, self._phase = None, "", ""
            self._tick()

    def _tick(self) -> None:
        recorder = self._recorder
        if recorder is None:
            self.ticked.emit(Tick(self._phase))
            return
        state = recorder.snapshot()
        phase = self._phase if state.has_sound or self._phase != "recording" else "opening"
        self.ticked.emit(
            Tick(
                phase,
                state.seconds,
                round(state.seconds * BYTES_PER_S[self.record_as]),
                state.level_db,
                state.peak_db,
                state.warning,
                state.lost_blocks * BLOCK_S,
                tuple(recorder.newest_peaks(SHOWN_S * PER_SECOND)),
                state.peak_count,
            )
        )
        if state.is_over and self._timer.isActive():
            self._timer.stop()
            self.ended.emit()

    # Three seconds, heard again

    async def test(self, path: Path, play: Callable[[Path], object]) -> None:
        """Record three seconds and play them. Raises as `begin` does; `path` is deleted afterwards."""
        if self.is_busy:
            return
        self._no_test.clear()
        self._set_test("recording")
        recorder: Recorder | None = None
        try:
            await self.refresh()
            await asyncio.to_thread(path.unlink, missing_ok=True)
            recorder = await self._opened(self._choice(), path)
            recorder.start()
            await self._heard(recorder)
            await asyncio.to_thread(recorder.stop)
            self._set_test("playing")
            result = play(path)
            if asyncio.iscoroutine(result):
                await result
        finally:
            try:
                if recorder is not None:
                    await asyncio.shield(asyncio.to_thread(recorder.stop))
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(path.unlink, missing_ok=True)
            finally:
                self._set_test("")
                self.ticked.emit(Tick())
                self._no_test.set()

    async def test_over(self) -> None:
        """Return when no test has the microphone."""
        await self._no_test.wait()

    async def _heard(self, recorder: Recorder) -> None:
        """Show the level until three seconds are there, or nothing has come for too long."""
        try:
            async with asyncio.timeout(FIRST_BLOCK_S + TEST_S * 3):
                while (state := recorder.snapshot()).seconds < TEST_S and not state.is_over:
                    self.ticked.emit(Tick("test", state.seconds, 0, state.level_db, state.peak_db, state.warning))
                    await asyncio.sleep(WAIT_S)
        except TimeoutError:
            raise AudioUnavailable(AudioProblem.BUSY, "input", tr("no audio received")) from None

    def _set_test(self, doing: str) -> None:
        self._test = doing
        self.inputs_changed.emit(self.inputs())

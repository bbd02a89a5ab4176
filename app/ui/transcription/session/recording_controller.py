"""Records from a microphone: from the button to the finished file in the list."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.devices import AudioUnavailable
from app.audio.live_peaks import peaks_path
from app.audio.wav_file import mend
from app.core.problems import ActionSpec, Problem
from app.core.time_format import day_of_year, time_of_day
from app.storage.chat_rows import new_id
from app.translation import tr
from app.ui.transcription.session.exporting import length_words
from app.ui.transcription.session.playback import keep_recorded_peaks

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.transcription.presenter import TranscriptionPresenter
    from app.ui.transcription.session.microphone_session import RecordingSession
    from app.ui.transcription.session.playback import Playing

TEST = "test microphone"
NOT_YET = tr("The recording list is still loading. Try again in a moment.")
WAITS = {"opening": tr("The microphone is opening."), "saving": tr("The previous recording is still being saved.")}


class RecordingController:
    """Every method returns at once; what it begins is told by the presenter's signals."""

    def __init__(
        self, presenter: TranscriptionPresenter, session: RecordingSession, playing: Playing, tasks: TaskScope
    ) -> None:
        self._presenter = presenter
        self._folders = presenter.folders
        self._session = session
        self._playing = playing
        self._tasks = tasks
        self.row_id: str | None = None  # of what is being recorded

    # The microphone

    def choose_microphone(self, device_id: str) -> None:
        self._session.choose(device_id)
        self._presenter.remember(device=device_id, channel="-1")

    def choose_channel(self, channel: int) -> None:
        self._session.choose_channel(channel)
        self._presenter.remember(channel=str(channel))

    def set_gain(self, gain_db: float) -> None:
        self._session.set_gain(gain_db)
        self._presenter.remember(gain=f"{gain_db:g}")

    def refresh_microphones(self) -> None:
        self._presenter.do(self._session.refresh)

    def test_microphone(self) -> None:
        """Record three seconds and play them; costs nothing and goes nowhere."""
        if self._session.phase:
            self._presenter.notice.emit(tr("While recording, the recording meter shows the level."))
        else:
            self._tasks.start_unless_running(TEST, self._test)

    def end_test(self) -> bool:
        """Give up the test of the microphone; False when there was none."""
        return self._tasks.cancel(TEST)

    async def _test(self) -> None:
        try:
            await self._session.test(self._folders.cache / "microphone-test.wav", self._playing.play_file)
        except AudioUnavailable as error:
            self._presenter.notice.emit(error.sentence)
        except OSError as error:
            self._presenter.notice.emit(
                tr("The test could not be recorded: {strerror}.", strerror=error.strerror or error)
            )
        finally:
            row = self._presenter.open_row
            if row is not None and not self._presenter.closing:
                self._playing.show(self._folders.sound_of(row), row.duration_s)

    # Recording

    @property
    def is_recording(self) -> bool:
        return self.row_id is not None

    def record(self) -> None:
        """Begin to record; a test of the microphone gives way to it. Nothing is sent before the person says so."""
        if self._presenter.transcripts is None:
            self._presenter.notice.emit(NOT_YET)
        elif self._session.phase in WAITS:
            self._presenter.notice.emit(WAITS[self._session.phase])
        elif not self.is_recording:
            self._tasks.start_unless_running("record", self._presenter.guarded, self._record, ())

    async def _record(self) -> None:
        row_id = new_id()
        at = self._presenter.now().astimezone()
        name = f"{at:%Y-%m-%d %H-%M-%S} {row_id[:8]}.wav"
        self._presenter.problem = None
        self.end_test()
        await self._session.test_over()
        self._playing.stop()
        row = await self._presenter.store.add(
            id=row_id,
            title=tr("Recording, {day}, {time}", day=day_of_year(at), time=time_of_day(at)),
            origin="recording",
            sound_path=name,
            state="recording",
        )
        problem = await self._begin_recording(self._folders.recordings / name)
        if problem is not None:
            await self._presenter.store.purge(row_id)
            self._presenter.problem = problem
            self._presenter.publish_head()
            return
        self.row_id = self._presenter.open_id = row_id
        self._presenter.rows[row_id] = row
        self._presenter.shows_batch = False
        self._presenter.publish_all()

    async def _begin_recording(self, path: Path) -> Problem | None:
        """Return why it could not be begun, None when sound comes in."""
        try:
            await self._session.begin(path)
        except AudioUnavailable as error:
            self._presenter.open_id, self._presenter.shows_batch = None, False
            retry = ActionSpec("record", tr("Try again"))
            return Problem(
                error.sentence.rstrip("."), tr("Files can still be transcribed."), primary=retry, icon="microphone"
            )
        except OSError as error:
            return Problem(
                tr("Recording could not start"), tr("The disk reported: {strerror}.", strerror=error.strerror or error)
            )
        return None

    def pause_recording(self) -> None:
        """Pause, or go on."""
        self._session.pause(self._session.phase != "paused")

    def stop_recording(self, *, transcribe: bool = True) -> None:
        """End the recording; with `transcribe` it is sent."""
        if self.is_recording:
            self._tasks.start_unless_running("stop recording", self._presenter.guarded, self._stop, (transcribe,))

    async def _stop(self, transcribe: bool) -> None:
        row_id = await self.finish()
        if transcribe and row_id is not None and self._presenter.rows[row_id].duration_s:
            self._presenter.transcribe(row_id)

    async def ended(self) -> None:
        """It ended by itself: the file is kept, the page says why."""
        if self.is_recording:
            await self.finish()

    async def finish(self) -> str | None:
        row_id, self.row_id = self.row_id, None
        if row_id is None:
            return None
        state = await self._session.finish()
        path = self._folders.sound_of(self._presenter.rows[row_id])
        await asyncio.to_thread(keep_recorded_peaks, path, self._folders.cache)
        size = await asyncio.to_thread(size_of, path)
        note = state.reason.sentence if state.reason is not None else ""
        try:
            await self._presenter.keep_fields(
                row_id, state="recorded", duration_s=state.seconds, size_bytes=size, note=note
            )
        finally:
            await self._presenter.reload()
            if row_id == self._presenter.open_id:
                self._playing.show(path, state.seconds)
            await self._presenter.probe(row_id)
            if note:
                self._presenter.notice.emit(note)
        return row_id

    def discard_recording(self) -> None:
        """End the recording and put it into the trash, from where it can be brought back."""
        if self.is_recording:
            self._tasks.start_unless_running("stop recording", self._presenter.guarded, self._discard, ())

    async def _discard(self) -> None:
        row_id = await self.finish()
        if row_id is not None:
            await self._presenter.trash_rows((row_id,))

    async def recover(self, row_id: str) -> None:
        """A killed program left this recording: mend its header, keep all of it."""
        row = await self._presenter.store.one(row_id)
        path = self._folders.sound_of(row)
        try:
            facts = await asyncio.to_thread(mend, path)
        except OSError as error:
            await self._presenter.store.change(
                row_id,
                state="recorded",
                note=tr("It could not be repaired: {strerror}.", strerror=error.strerror or error),
            )
            return
        await asyncio.to_thread(peaks_path(path).unlink, missing_ok=True)  # may be a moment short
        if facts is None or not facts.data_bytes:
            await self._presenter.store.trash(row_id)  # not one block of sound had come
            return
        size = await asyncio.to_thread(size_of, path)
        note = tr("Rialto quit during this recording. Everything up to that point is saved.")
        await self._presenter.store.change(
            row_id, state="recorded", duration_s=facts.seconds, size_bytes=size, note=note
        )
        kept = length_words(max(1, round(facts.seconds)))
        self._presenter.publish_row(
            row, tr("Rialto quit while recording “{title}”. The first {kept} are saved.", title=row.title, kept=kept)
        )


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

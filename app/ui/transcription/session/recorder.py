"""Records from a microphone: from the button to the finished file in the list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.devices import AudioUnavailable
from app.audio.live_peaks import peaks_path
from app.audio.wav_file import mend
from app.core.problems import ActionSpec, Problem
from app.storage.conversations import new_id
from app.ui.transcription.session.exporting import length_words
from app.ui.transcription.session.playback import keep_recorded_peaks
from app.ui.transcription.session.presenter_base import TranscriptionPresenterBase
from app.ui.transcription.session.rows import marks_of
from app.ui.transcription.state import Mark

if TYPE_CHECKING:
    from app.storage.transcripts import TranscriptRow

TEST = "test microphone"
NOT_YET = "The list of recordings is not open yet. Try again in a moment."
WAITS = {"opening": "The microphone is being opened.", "saving": "The recording before is still being saved."}


class RecordPart(TranscriptionPresenterBase):
    """Every method returns at once; what it begins is told by signals."""

    # The microphone

    def choose_microphone(self, device_id: str) -> None:
        self.recording.choose(device_id)
        self._keep(device=device_id, channel="-1")

    def choose_channel(self, channel: int) -> None:
        self.recording.choose_channel(channel)
        self._keep(channel=str(channel))

    def set_gain(self, gain_db: float) -> None:
        self.recording.set_gain(gain_db)
        self._keep(gain=f"{gain_db:g}")

    def refresh_microphones(self) -> None:
        self._do(self.recording.refresh)

    def test_microphone(self) -> None:
        """Record three seconds and play them; costs nothing and goes nowhere."""
        if self.recording.phase:
            self.notice.emit("While it records, the meter of the recording shows what is heard.")
        else:
            self._tasks.start(TEST, self._test)

    def end_test(self) -> bool:
        """Give up the test of the microphone; False when there was none."""
        return self._tasks.cancel(TEST)

    async def _test(self) -> None:
        try:
            await self.recording.test(self.folders.cache / "microphone-test.wav", self.playing.play_file)
        except AudioUnavailable as error:
            self.notice.emit(error.sentence)
        except OSError as error:
            self.notice.emit(f"The test could not be recorded: {error.strerror or error}.")
        finally:
            row = self.open_row
            if row is not None and not self.closing:
                self.playing.show(self.folders.sound_of(row), row.duration_s)

    # Recording

    @property
    def is_recording(self) -> bool:
        return self._recording_id is not None

    def record(self) -> None:
        """Begin to record; a test of the microphone gives way to it. Nothing is sent before the person says so."""
        if self.transcripts is None:
            self.notice.emit(NOT_YET)
        elif self.recording.phase in WAITS:
            self.notice.emit(WAITS[self.recording.phase])
        elif not self.is_recording:
            self._tasks.start("record", self._guarded, self._record, ())

    async def _record(self) -> None:
        row_id = new_id()
        at = self._now().astimezone()
        name = f"{at:%Y-%m-%d %H-%M-%S} {row_id[:8]}.wav"
        self._problem = None
        self.end_test()
        await self.recording.test_over()
        self.playing.stop()
        row = await self.store.add(
            id=row_id,
            title=f"Recording, {at.day} {at:%B, %H:%M}",
            origin="recording",
            sound_path=name,
            state="recording",
        )
        problem = await self._begin_recording(self.folders.recordings / name)
        if problem is not None:
            await self.store.purge(row_id)
            self._problem = problem
            self._head_changed()
            return
        self._recording_id = self._open_id = row_id
        self._rows[row_id] = row
        self._shows_batch = False
        self._all_changed()

    async def _begin_recording(self, path: Path) -> Problem | None:
        """Return why it could not be begun, None when sound comes in."""
        try:
            await self.recording.begin(path)
        except AudioUnavailable as error:
            self._open_id, self._shows_batch = None, False
            retry = ActionSpec("record", "Try again")
            return Problem(
                error.sentence.rstrip("."), "Files can still be transcribed.", primary=retry, icon="microphone"
            )
        except OSError as error:
            return Problem("The recording could not be begun", f"The disk said: {error.strerror or error}.")
        return None

    def pause_recording(self) -> None:
        """Pause, or go on."""
        self.recording.pause(self.recording.phase != "paused")

    def mark(self, text: str = "") -> None:
        """Note this moment of the recording, or of what is heard."""
        row = self.open_row
        if row is None:
            return
        at = self.recording.seconds if row.id == self._recording_id else self.playing.player.position_s
        marks = sorted([*marks_of(row), Mark(round(at, 2), text)], key=lambda mark: mark.at)
        self._set_marks(row.id, marks)

    def rename_mark(self, place: int, text: str) -> None:
        """Give a mark other words; none removes it."""
        row = self.open_row
        if row is None:
            return
        marks = list(marks_of(row))
        if not text.strip():
            del marks[place]
        else:
            marks[place] = replace(marks[place], text=text.strip())
        self._set_marks(row.id, marks)

    def remove_mark(self, place: int) -> None:
        self.rename_mark(place, "")

    def _set_marks(self, row_id: str, marks: Sequence[Mark]) -> None:
        stored = tuple({"at": mark.at, "text": mark.text} for mark in marks)
        self._unsaved_marks[row_id] = stored
        self._rows[row_id] = replace(self._rows[row_id], marks=stored)
        self._head_changed()
        self._do(self._store_marks, row_id)

    async def _store_marks(self, row_id: str) -> None:
        marks = self._unsaved_marks.get(row_id)
        if marks is not None:
            await self.store.change(row_id, marks=marks)
            if self._unsaved_marks.get(row_id) is marks:
                del self._unsaved_marks[row_id]

    def stop_recording(self, *, transcribe: bool = True) -> None:
        """End the recording; with `transcribe` it is sent."""
        if self.is_recording:
            self._tasks.start("stop recording", self._guarded, self._stop, (transcribe,))

    async def _stop(self, transcribe: bool) -> None:
        row_id = await self._finish_recording()
        if transcribe and row_id is not None and self._rows[row_id].duration_s:
            self.transcribe(row_id)

    async def _recording_ended(self) -> None:
        """It ended by itself: the file is kept, the page says why."""
        if self.is_recording:
            await self._finish_recording()

    async def _finish_recording(self) -> str | None:
        row_id, self._recording_id = self._recording_id, None
        if row_id is None:
            return None
        state = await self.recording.finish()
        path = self.folders.sound_of(self._rows[row_id])
        await asyncio.to_thread(keep_recorded_peaks, path, self.folders.cache)
        size = await asyncio.to_thread(size_of, path)
        note = state.reason.sentence if state.reason is not None else ""
        await self.store.change(row_id, state="recorded", duration_s=state.seconds, size_bytes=size, note=note)
        await self._reload()
        if row_id == self._open_id:
            self.playing.show(path, state.seconds)
        await self._look(row_id)
        if note:
            self.notice.emit(note)
        return row_id

    def discard_recording(self) -> None:
        """End the recording and put it into the trash, from where it can be brought back."""
        if self.is_recording:
            self._tasks.start("stop recording", self._guarded, self._discard, ())

    async def _discard(self) -> None:
        row_id = await self._finish_recording()
        if row_id is not None:
            await self._move_to_trash((row_id,))

    async def _recover(self, row_id: str) -> None:
        """A killed program left this recording: mend its header, keep all of it."""
        row = await self.store.one(row_id)
        path = self.folders.sound_of(row)
        try:
            facts = await asyncio.to_thread(mend, path)
        except OSError as error:
            await self.store.change(
                row_id, state="recorded", note=f"It could not be mended: {error.strerror or error}."
            )
            return
        await asyncio.to_thread(peaks_path(path).unlink, missing_ok=True)  # may be a moment short
        if facts is None or not facts.data_bytes:
            await self.store.trash(row_id)  # not one block of sound had come
            return
        size = await asyncio.to_thread(size_of, path)
        note = "Rialto ended while this was recorded. Everything up to there is kept."
        await self.store.change(row_id, state="recorded", duration_s=facts.seconds, size_bytes=size, note=note)
        kept = length_words(max(1, round(facts.seconds)))
        self._publish_row(row, f"Rialto ended while “{row.title}” was recorded. Its {kept} are kept.")

    def _publish_row(self, row: TranscriptRow, sentence: str) -> None:
        """Say something about a row that may not be in sight, with a button that shows it."""
        self.row_notice.emit(sentence, row.id)

    if TYPE_CHECKING:  # the whole presenter has them

        async def _move_to_trash(self, ids: tuple[str, ...]) -> None: ...

        async def _look(self, row_id: str) -> None: ...


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

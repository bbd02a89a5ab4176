"""Voice cloning: records, checks and uploads samples, and clones again when a voice expires."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from PySide6.QtCore import QObject, QTimer, Signal

from app.audio.decoding import NotSound, blocks_of
from app.audio.devices import AudioHost, AudioUnavailable
from app.audio.microphone import Blocks, MicrophoneChoice, open_microphone
from app.audio.player import MakeSpeaker, Player
from app.audio.recording import Recorder
from app.audio.sample_check import BEST_S, SampleReport, check_sample
from app.audio.spool import Spool
from app.core.money import about
from app.core.paid_call import paid_call
from app.core.problems import Problem, describe
from app.core.tasks import TaskScope
from app.core.time_format import when
from app.core.trash import TrashEntry, TrashKind, moved_text
from app.service.errors import ServiceError
from app.service.pricing import clone_cost
from app.storage.atomic_files import make_folder
from app.storage.errors import NoHistory, StorageError, unavailable
from app.storage.voices import ClonedVoice
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.kit.qt_workarounds.thread_undo import to_thread_or_undo
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.state import ClonedRow
from app.ui.speech.voice_catalog import Key

if TYPE_CHECKING:
    from app.service.models import Model

KEPT_DAYS = 7
LONGEST_RECORDING_S = 60.0
TICK_MS = 60
SAMPLE = "speech sample"
SAMPLES = "sample-*.wav*"  # what was recorded, in the cache
OpenBlocks = Callable[[], Blocks]


class VoiceCloning(QObject):
    cloned_voices_changed = Signal(object)  # (ClonedRow, …)
    sample_changed = Signal(object, bool)  # Key or None, still on its way
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    problem_changed = Signal(object)  # Problem or None
    recording_changed = Signal(float, float, str)  # seconds, level in dB, a warning
    recorded = Signal(object, object)  # Path, SampleReport
    microphone_problem = Signal(str)
    _from_thread = Signal()

    def __init__(
        self,
        presenter: SpeechPresenter,
        host: AudioHost,
        tasks: TaskScope,
        cache: Path,
        *,
        make_speaker: MakeSpeaker | None = None,
        open_blocks: OpenBlocks | None = None,
    ) -> None:
        super().__init__()
        self._presenter = presenter
        self._tasks = tasks
        self._cache = cache
        self._folder = presenter.folder / "voices"
        self._player = Player(host, self._from_thread.emit, make=make_speaker)
        self._open_blocks = open_blocks or (lambda: open_microphone(host, MicrophoneChoice()))
        self._spool: Spool | None = None
        self._recorder: Recorder | None = None
        self._opening: object | None = None  # the wish whose microphone is not open yet
        self.left_sample: tuple[Path, SampleReport] | None = None  # the last one that was measured and not used
        self._working: set[str] = set()
        self.sounding: Key | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._from_thread.connect(self._player_changed)
        presenter.choice_changed.connect(lambda _choice: self.publish())
        presenter.voices_changed.connect(self.publish)
        presenter.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))

    async def aclose(self) -> None:
        await asyncio.to_thread(self._player.close)
        if self._recorder is not None:
            await self._end_recording()
        await asyncio.to_thread(self._sweep, SAMPLES)
        if self._spool is not None:
            await asyncio.to_thread(self._spool.close)

    # -- favorites -----------------------------------------------------------------------------------------------

    def set_favorite(self, model_id: str, voice_id: str) -> None:
        """Make a voice a favorite, or not any more."""
        voice = self._presenter.voice_list.find(model_id, voice_id)
        if voice is not None:
            self._tasks.start_unless_running(
                f"speech love {model_id} {voice_id}", self._love, voice.key, not voice.favourite
            )

    async def _love(self, key: Key, on: bool) -> None:
        if self._presenter.voices is not None:
            await self._presenter.voices.set_favorite(*key, on)
            self._presenter.voice_list.mark(key, favourite=on)
            self._presenter.voices_changed.emit()

    # -- samples of listed voices ---------------------------------------------------------------------------------

    def sample(self, key: Key) -> None:
        """Let a voice say a line: from the disk, or asked for once. Its price was said before."""
        self.stop_sample()
        self._presenter.sound.silence()
        self._tasks.replace(SAMPLE, self._sample, key)

    async def _sample(self, key: Key) -> None:
        presenter = self._presenter
        voice = presenter.voice_list.find(*key)
        if voice is None or presenter.intents is None or presenter.voices is None:
            return
        path = presenter.voice_list.sample_path(voice)
        if path is None or not await asyncio.to_thread(path.exists):
            if presenter.lacks_account() or presenter.service is None:
                return
            self._sounds(key, working=True)
            try:
                path = await presenter.voice_list.fetch_sample(
                    voice, presenter.service, presenter.intents, presenter.voices, presenter.account_id
                )
            except ServiceError as error:
                self.problem_changed.emit(describe(error, subject=tr("sample")))
                return
            except StorageError as error:
                self.problem_changed.emit(Problem(error.sentence))
                return
            finally:
                self._sounds(None)
            presenter.voices_changed.emit()
        await self._play_file(path, key)

    async def _play_file(self, path: Path, key: Key) -> None:
        target = self._cache / f"{uuid4().hex}.pcm"
        try:
            spool = Spool(target)
        except OSError as error:
            self.notice.emit(unavailable(error, target, tr("Preparing audio")).sentence)
            return
        before, self._spool = self._spool, spool
        self._player.load(spool)
        if before is not None:
            before.close()
        self._player.set_volume(self._presenter.sound.player.volume)
        self._player.set_device(self._presenter.sound.player.device_id)
        self._sounds(key)
        self._player.play()

        def decode() -> str:
            try:
                for block in blocks_of(path):
                    spool.add(block)
            except NotSound as error:
                return error.sentence
            except OSError as error:
                return unavailable(error, target, tr("Preparing audio")).sentence
            finally:
                spool.finish()
            return ""

        problem = await asyncio.to_thread(decode)
        if problem:
            self.notice.emit(problem)

    def stop_sample(self) -> bool:
        """Be silent; False when no sample sounded."""
        if self.sounding is None:
            return False
        self._player.pause()
        self._sounds(None)
        return True

    def _sounds(self, key: Key | None, *, working: bool = False) -> None:
        self.sounding = key
        self.sample_changed.emit(key, working)

    def _player_changed(self) -> None:
        if self._player.problem is not None:
            self.notice.emit(self._player.problem.sentence)
        if self._player.state in ("ended", "paused") and not self._player.wants_to_play:
            self._sounds(None)

    # -- a sample of one's own ------------------------------------------------------------------------------------

    def cloning_models(self) -> tuple[Model, ...]:
        """Only those that advertise it (R-VOI-05)."""
        return tuple(model for model in self._presenter.voice_list.models if model.voice_cloning is not None)

    def shortest_s(self, model_id: str) -> float:
        model = self._presenter.voice_list.model(model_id)
        told = (model.voice_cloning or {}).get("min_sample_seconds") if model is not None else None
        return float(told) if isinstance(told, int | float) and told > 0 else BEST_S[0]

    def cost_words(self, price: Decimal) -> str:
        """What a price means for the account in use."""
        return ", ".join(filter(None, (about(price), self._presenter.left_after(price))))

    def price(self, model_id: str) -> Decimal | None:
        """What one clone costs in USD, None where the service does not publish it."""
        model = self._presenter.voice_list.model(model_id)
        return clone_cost(model.model_spec.pricing) if model is not None else None

    def check(self, path: Path, model_id: str) -> None:
        """Measure a chosen file; `recorded` tells what was found."""
        self._tasks.replace("speech check sample", self._check, path, model_id)

    async def _check(self, path: Path, model_id: str) -> None:
        report = await asyncio.to_thread(check_sample, path, self.shortest_s(model_id))
        self.left_sample = path, report
        self.recorded.emit(path, report)

    def record(self) -> None:
        """Begin to record a sample into the cache, instead of the one before."""
        self.stop_sample()
        self.left_sample = None
        self._presenter.sound.silence()
        opening = self._opening = object()
        self._tasks.replace("speech record", self._record, opening)

    async def _record(self, opening: object) -> None:
        try:
            self._recorder = await self._opened(opening)
        except AudioUnavailable as error:
            self.microphone_problem.emit(error.sentence)
            return
        except OSError as error:
            self.microphone_problem.emit(unavailable(error, self._cache, tr("Recording")).sentence)
            return
        self._recorder.start()
        self._timer.start()

    async def _opened(self, opening: object) -> Recorder:
        """A recorder that has not begun. One that is not wanted any more gives its microphone back."""

        problems: list[str] = []

        def begin() -> Recorder:
            problems.append(self._sweep(SAMPLES))
            make_folder(self._cache)
            blocks = self._open_blocks()
            try:
                return Recorder(blocks, self._cache / f"sample-{uuid4().hex}.wav")
            except OSError:
                blocks.close()
                raise

        def give_back(recorder: Recorder) -> None:
            recorder.stop()
            self._sweep(f"{recorder.path.stem}.wav*")

        try:
            return await to_thread_or_undo(begin, give_back)
        finally:
            if self._opening is opening:
                self._opening = None
            for problem in filter(None, problems):
                self.notice.emit(problem)

    @property
    def is_recording(self) -> bool:
        """From the wish to record on, also while the microphone is still being opened."""
        return self._recorder is not None or self._opening is not None

    def _tick(self) -> None:
        recorder = self._recorder
        if recorder is None:
            self._timer.stop()
            return
        now = recorder.snapshot()
        self.recording_changed.emit(now.seconds, now.level_db, now.warning)
        if now.is_over or now.seconds >= LONGEST_RECORDING_S:
            self._timer.stop()
            self.microphone_problem.emit(now.reason.sentence if now.reason is not None else "")

    def end_recording(self, model_id: str) -> None:
        """Stop, and tell how good it is."""
        self._tasks.replace("speech record end", self._end_and_check, model_id)

    async def _end_and_check(self, model_id: str) -> None:
        path = await self._end_recording()
        if path is not None:
            await self._check(path, model_id)
        else:
            self.microphone_problem.emit(tr("Nothing was recorded."))

    async def _end_recording(self) -> Path | None:
        self._tasks.cancel("speech record")  # the microphone may not be open yet
        self._opening = None
        recorder, self._recorder = self._recorder, None
        self._timer.stop()
        if recorder is None:
            return None
        await asyncio.to_thread(recorder.stop)
        return recorder.path

    def preview(self, path: Path) -> None:
        """Hear the sample before it is sent."""
        if not self.stop_sample():
            self._tasks.replace(SAMPLE, self._play_file, path, ("", str(path)))

    def leave_sample(self) -> None:
        """The dialog was closed. What was recorded or chosen is there when it opens again, until Rialto quits."""
        self.stop_sample()
        if self.is_recording:
            self.end_recording("")

    def _sweep(self, names: str) -> str:
        """Delete recordings. Return why one stays, "" when none does. For a worker thread."""
        problem = ""
        for path in self._cache.glob(names):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                problem = unavailable(error, path, tr("Deleting the recording")).sentence
        return problem

    # -- cloning --------------------------------------------------------------------------------------------------

    def clone(self, name: str, model_id: str, sample: Path) -> bool:
        """Keep the sample with the consent that was given, then upload it."""
        self.stop_sample()
        return self._tasks.start_unless_running("speech clone", self._clone, name, model_id, sample)

    async def _clone(self, name: str, model_id: str, sample: Path) -> None:
        presenter = self._presenter
        if presenter.voices is None:
            return
        voice_id = uuid4().hex
        target = self._folder / f"{voice_id}{sample.suffix.lower()}"

        def keep() -> SampleReport:
            make_folder(self._folder)
            try:
                shutil.copyfile(sample, target)
                target.chmod(0o600)
            except OSError:
                with suppress(OSError):
                    target.unlink(missing_ok=True)
                raise
            return check_sample(target, 0.0)

        try:
            report = await asyncio.to_thread(keep)
        except OSError as error:
            self.problem_changed.emit(Problem(unavailable(error, target, tr("Saving the sample")).sentence))
            return
        voice = await presenter.voices.add(
            id=voice_id,
            account_id=presenter.account_id,
            model=model_id,
            name=name,
            sample=target.name,
            sample_s=report.seconds,
        )
        presenter.voice_list.set_cloned((voice, *presenter.voice_list.cloned))
        await self._upload(voice)

    def clone_again(self, voice_id: str) -> None:
        """Upload the kept sample once more: a new handle for the same voice."""
        voice = self._one(voice_id)
        if voice is not None:
            self._tasks.start_unless_running(f"speech clone {voice_id}", self._upload, voice)

    def clone_anew(self, handle: str) -> bool:
        """The same for the voice of a handle that the service does not know any more; False when it is not ours."""
        voice = next((voice for voice in self._presenter.voice_list.own() if voice.handle == handle), None)
        if voice is not None:
            self._presenter.set_problem(None)
            self.clone_again(voice.id)
        return voice is not None

    async def _upload(self, voice: ClonedVoice) -> None:
        presenter = self._presenter
        if (
            presenter.lacks_account()
            or presenter.service is None
            or presenter.intents is None
            or presenter.voices is None
        ):
            return
        account_id = presenter.account_id
        self._working.add(voice.id)
        self.publish()
        try:
            told = {"clone": voice.id, "model": voice.model}
            async with paid_call(presenter.intents, "speech", account_id, told) as paid:
                await paid.sent()
                made = await presenter.service.voices.clone(
                    self._folder / voice.sample, voice.model, price_usd=self.price(voice.model)
                )
                ends_at = datetime.now(UTC) + timedelta(days=KEPT_DAYS)
                fresh = await paid.keep(presenter.voices.took(voice.id, account_id, made.id, ends_at), made.id)
        except ServiceError as error:
            self.problem_changed.emit(describe(error, subject=tr("sample"), charged=tr("The sample is saved.")))
            return
        finally:
            self._working.discard(voice.id)
            self.publish()
        others = tuple(fresh if one.id == voice.id else one for one in presenter.voice_list.cloned)
        presenter.voice_list.set_cloned(others)
        presenter.voices_changed.emit()
        if account_id == presenter.account_id:
            self.use(voice.id)
            self.notice.emit(tr("{name} is ready and in use", name=fresh.name))

    def use(self, voice_id: str) -> None:
        """Speak with a voice of one's own; it brings its model along."""
        voice = self._one(voice_id)
        if voice is not None and voice.handle:
            self._presenter.use_voice(voice.model, voice.handle)

    def play_own_sample(self, voice_id: str) -> None:
        voice = self._one(voice_id)
        if voice is not None:
            self.preview(self._folder / voice.sample)

    # -- the trash ------------------------------------------------------------------------------------------------

    def move_to_trash(self, voice_id: str) -> None:
        self._tasks.start_unless_running(f"speech trash voice {voice_id}", self._move_to_trash, voice_id)

    async def _move_to_trash(self, voice_id: str) -> None:
        presenter = self._presenter
        if presenter.voices is None:
            return
        voice = await presenter.voices.trash(voice_id)
        await self._reread()
        await presenter.trash.moved((voice_id,), moved_text([voice.name], "voices"))

    async def _reread(self) -> None:
        presenter = self._presenter
        if presenter.voices is None:
            raise NoHistory
        presenter.voice_list.set_cloned(await presenter.voices.cloned())
        presenter.settle_choice()

    async def _trashed(self) -> Sequence[TrashEntry]:
        voices, now = self._presenter.voices, datetime.now(UTC)
        found = await voices.cloned(trashed=True) if voices is not None else ()
        return [_trash_entry(voice, now) for voice in found]

    async def _restore(self, ids: tuple[str, ...]) -> None:
        if self._presenter.voices is None:
            raise NoHistory
        for voice_id in ids:
            await self._presenter.voices.trash(voice_id, False)
        await self._reread()

    async def _delete(self, ids: tuple[str, ...]) -> None:
        if self._presenter.voices is None:
            raise NoHistory
        for voice_id in ids:
            sample = (await self._presenter.voices.one(voice_id)).sample
            try:
                await asyncio.to_thread((self._folder / sample).unlink, missing_ok=True)
            except OSError as error:
                raise unavailable(error, self._folder / sample, tr("Deleting the sample")) from error
            await self._presenter.voices.remove(voice_id)

    def _one(self, voice_id: str) -> ClonedVoice | None:
        return next((voice for voice in self._presenter.voice_list.own() if voice.id == voice_id), None)

    def publish(self) -> None:
        """Show the shelf as it is."""
        now = datetime.now(UTC)
        self.cloned_voices_changed.emit(
            tuple(build_rows(self._presenter.voice_list.own(), lambda voice: self._row(voice, now)))
        )

    def _row(self, voice: ClonedVoice, now: datetime) -> ClonedRow:
        model = self._presenter.voice_list.model(voice.model)
        expired = voice.has_expired(now)
        return ClonedRow(
            id=voice.id,
            name=voice.name,
            model_name=model.name if model is not None else voice.model,
            handle=voice.handle,
            age=tr("created {cloned_at}", cloned_at=when(voice.cloned_at, now))
            if voice.cloned_at is not None
            else ""
            if voice.account_id == self._presenter.account_id
            else tr("its account was removed"),
            expiry=_expiry(voice, now),
            has_expired=expired,
            sample_s=voice.sample_s,
            price=self.price(voice.model),
            working=voice.id in self._working,
            in_use=bool(voice.handle) and self._presenter.choice.voice == voice.handle,
        )


def _trash_entry(voice: ClonedVoice, now: datetime) -> TrashEntry:
    moment = voice.trashed_at or now
    return TrashEntry(voice.id, voice.name, tr("Cloned voice · {moment}", moment=when(moment, now)), moment)


def _expiry(voice: ClonedVoice, now: datetime) -> str:
    if not voice.handle:
        return ""
    if voice.expires_at is None:
        return tr("no expiration stated")
    left = voice.expires_at - now
    if left <= timedelta():
        return "expired"
    days = (left + timedelta(minutes=5)).days  # a week is 7 days a moment after it began
    return (
        tr("expires in {days} days", days=days)
        if days > 1
        else tr("expires in 1 day")
        if days == 1
        else tr("expires today")
    )

"""What the transcribe page's controls mean. QtCore only, no widgets."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import money, number_format, time_format
from app.core.extra_json import extra_json_fault
from app.core.leaving_models import FormModel
from app.core.problems import Problem, for_account
from app.core.time_format import position
from app.core.trash import Trash, TrashEntry, TrashKind, move_rows, moved_text
from app.storage.errors import Again, NotStored, StorageError
from app.storage.transcripts import Transcripts
from app.translation import tr, tr_n
from app.ui.kit.lists.rows import LazyRows
from app.ui.transcription.session.account_models import AccountModels
from app.ui.transcription.session.batch_queue import BatchQueue
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.exporting import length_words
from app.ui.transcription.session.exports import Exports, is_number
from app.ui.transcription.session.file_probe import SURE_UPLOAD_BYTES, FileProbe, collect, look
from app.ui.transcription.session.microphone_session import OpenBlocks, RecordingSession, SavedMicrophone
from app.ui.transcription.session.playback import Playing
from app.ui.transcription.session.recording_controller import RecordingController
from app.ui.transcription.session.rows import (
    entry_of,
    facts_of,
    marks_of,
    problem_of,
    receipt_of,
)
from app.ui.transcription.session.sender import KIND, Sender, Stores
from app.ui.transcription.session.transcript_editor import TranscriptEditor
from app.ui.transcription.session.upload_preparation import (
    DEFAULT_TARGET_BYTES,
    Folders,
    clean_up,
    is_over_limit,
    treatment_of,
)
from app.ui.transcription.state import OWN_FIELDS, Head, Mark, ModelChoice, Options, Sound

if TYPE_CHECKING:
    from app.audio.devices import AudioHost
    from app.audio.player import MakeSpeaker
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.service.exchange import Exchange
    from app.service.models import Model
    from app.storage.database import Database
    from app.storage.paid_call_intents import Intents
    from app.storage.service_cache import ServiceCache
    from app.storage.settings import SettingsStore
    from app.storage.transcripts import TranscriptRow
    from app.ui.kit.sound.device_watch import DeviceWatch
    from app.ui.transcription.state import Work

KEPT_IN_TRASH = timedelta(days=30)
AsyncWork = Callable[..., Awaitable[object]]


class TranscriptionPresenter(QObject):
    """Recording, files, and the list of what was transcribed. Signals carry frozen values of `state.py`."""

    entries_changed = Signal(object)  # Sequence[Entry]
    head_changed = Signal(object)  # Head
    options_changed = Signal(object, object)  # Options, tuple[ModelChoice, ...]
    sending_soon = Signal()  # what was typed a moment ago is to be reported now
    batch_changed = Signal(object)  # Batch
    footer_changed = Signal(str)
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    row_notice = Signal(str, str)  # a sentence, and the id of the row that it is about
    help_requested = Signal(str)  # an action of an error card that another part of the window carries out
    busy_changed = Signal()

    def __init__(
        self,
        current_account: CurrentAccount,
        settings: SettingsStore,
        tasks: TaskScope,
        folders: Folders,
        host: AudioHost,
        watch: DeviceWatch,
        undo_stack: UndoStack,
        *,
        open_blocks: OpenBlocks | None = None,
        make_speaker: MakeSpeaker | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__()
        self.current_account = current_account
        self._settings = settings
        self._tasks = tasks
        self.now = now
        self.folders = folders
        self._undo_stack = undo_stack
        self.trash = Trash("transcription", tasks, undo_stack, kept_days=KEPT_IN_TRASH.days)
        self.trash.failed.connect(self.notice.emit)
        self.account_models = AccountModels(current_account)
        kept = self.kept()
        device, channel, gain = kept.get("device", ""), kept.get("channel", ""), kept.get("gain", "")
        microphone = SavedMicrophone(
            device, int(channel) if is_number(channel) else -1, float(gain) if is_number(gain) else 0.0
        )
        self.recording = RecordingSession(host, watch, microphone, open_blocks=open_blocks)
        self.playing = Playing(host, tasks, folders.cache, make=make_speaker)
        self.reading = TranscriptEditor(lambda: self.do(self._save_edits), undo_stack)
        self.exports = Exports(self, self.reading)
        self.recorder = RecordingController(self, self.recording, self.playing, tasks)
        self.batch_queue = BatchQueue(self, tasks, undo_stack)
        self.options = self._kept_options()
        self.recording.record_as = self.options.record_as
        self.transcripts: Transcripts | None = None
        self._sender: Sender | None = None
        self.rows: dict[str, TranscriptRow] = {}
        self._is_read = False
        self._snippets: Mapping[str, str] | None = None
        self._looked: dict[str, FileProbe] = {}
        self.open_id: str | None = None
        self.shows_batch = False
        self.problem: Problem | None = None  # of the page, such as no microphone
        self._peaks: dict[str, object] = {}
        self._unsaved: dict[str, dict[str, Any]] = {}  # by row: fields that are not on the disk yet
        self._early_files: list[Path] = []
        self._numbers = itertools.count()
        self.closing = False

    # Beginning and end

    async def start(self, database: Database, service_cache: ServiceCache | None, intents: Intents) -> None:
        """Take the opened database; find recordings that a killed program left, and look for microphones."""
        store = self.transcripts = Transcripts(database)
        self.account_models.service_cache = service_cache
        self._sender = Sender(
            self.current_account, self.account_models, Stores(store, intents, self.folders), self._told
        )
        for left in await store.settle_after_start():
            if left.state == "recording":
                await self.recorder.recover(left.id)
            else:
                self.publish_row(
                    left,
                    tr(
                        "Rialto quit while “{title}” was being transcribed. It may have been charged.", title=left.title
                    ),
                )
        for intent in await intents.pending(KIND):
            if intent.state == "unknown":
                await intents.acknowledge(intent.id)  # its row says so
        self.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        await self._delete_old()
        self.current_account.account_changed.connect(self._account_changed)
        self.current_account.leaving.add_user(
            FormModel(tr("Transcribe"), lambda: self.options.model, lambda model_id: self.set_option("model", model_id))
        )
        self.recording.watch.changed.connect(lambda: self.do(self.recording.refresh))
        self.recording.ended.connect(lambda: self.do(self.recorder.ended))
        await self.reload()
        await self._load_models()
        self.recording.watch.start()
        await self.recording.refresh()
        early, self._early_files = self._early_files, []
        if early:
            await self._add_files(tuple(early))

    async def aclose(self) -> None:
        """Keep everything: a recording that runs is ended and stays."""
        self.closing = True
        if self.recorder.row_id is not None:
            with suppress(Exception):
                await self.recorder.finish()
        try:
            if self.transcripts is not None:
                for row_id in tuple(self._unsaved):
                    await self._store_unsaved(row_id)
                await self.reading.save(self.transcripts)
        finally:
            await self.playing.aclose()

    # What is remembered

    def kept(self) -> Mapping[str, str]:
        return self._settings.value.transcription

    def remember(self, **values: str) -> None:
        self._settings.remember(transcription={**self.kept(), **values})

    def _kept_options(self) -> Options:
        kept, default = self.kept(), Options()
        record_as = kept.get("record_as", "")
        return Options(
            model=kept.get("model", ""),
            language=kept.get("language", ""),
            timestamps=kept.get("timestamps", "on") != "off",
            response_format="text" if kept.get("response_format") == "text" else "json",
            extra_json=kept.get("extra_json", ""),
            record_as=record_as if record_as in ("flac", "wav", "ogg") else default.record_as,
        )

    # Work

    def do(self, work: AsyncWork, *args: object) -> None:
        """Run a piece of work of its own; a refusing disk becomes a sentence."""
        self._tasks.start_unless_running(f"transcription-{next(self._numbers)}", self.guarded, work, args)

    async def guarded(self, work: AsyncWork, args: tuple[object, ...]) -> None:
        try:
            await work(*args)
        except NotStored as error:
            self.notice.emit(error.sentence)
        except StorageError as error:
            self.problem = Problem(error.sentence, tr("Everything on screen is still here."))
            self.publish_head()
            if error.unsaved:
                self._tasks.report(error)

    async def _save_edits(self) -> None:
        if self.transcripts is not None:
            await self.reading.save(self.transcripts)

    @property
    def store(self) -> Transcripts:
        """There once `start` has run; nothing that needs it is offered before."""
        assert self.transcripts is not None
        return self.transcripts

    @property
    def sending(self) -> Sender:
        assert self._sender is not None
        return self._sender

    @property
    def work(self) -> Mapping[str, Work]:
        """What is being done with rows, by their ids."""
        return self._sender.work if self._sender is not None else {}

    # Rows

    @property
    def open_row(self) -> TranscriptRow | None:
        return self.rows.get(self.open_id or "")

    def row(self, row_id: str) -> TranscriptRow | None:
        return self.rows.get(row_id)

    async def update(self, row_id: str, **changes: object) -> None:
        """Set fields on disk, then in what is shown: a change that was made meanwhile stays."""
        await self.store.change(row_id, **changes)
        if row_id in self.rows:
            self.rows[row_id] = replace(self.rows[row_id], **changes)  # type: ignore[arg-type]  # fields of the row

    def _with_unsaved(self, row: TranscriptRow) -> TranscriptRow:
        """A row as read from disk, with what is still on its way there."""
        unsaved = self._unsaved.get(row.id)
        return replace(row, **unsaved) if unsaved else row

    async def keep_fields(self, row_id: str, **fields: object) -> None:
        """Keep fields of a row. What the disk refuses is written when the row is sent, and at the end."""
        self._unsaved.setdefault(row_id, {}).update(fields)
        await self._store_unsaved(row_id)

    async def _store_unsaved(self, row_id: str) -> None:
        writing = dict(self._unsaved.get(row_id, {}))
        if not writing:
            return
        await self.store.change(row_id, **writing)
        unsaved = self._unsaved.get(row_id, {})
        for name in [name for name, value in writing.items() if unsaved.get(name) is value]:
            del unsaved[name]

    async def _reread(self, row_id: str) -> None:
        try:
            self.rows[row_id] = self._with_unsaved(await self.store.one(row_id))
        except NotStored:
            self.rows.pop(row_id, None)
        self._row_changed(row_id)

    async def reload(self) -> None:
        rows = await self.store.list()
        self.rows = {row.id: self._with_unsaved(row) for row in rows}
        self._is_read = True
        self.publish_all()

    def _row_changed(self, row_id: str) -> None:
        self._entries_changed()
        if row_id == self.open_id:
            self.publish_head()
        if self.shows_batch or (row_id in self.rows and self.rows[row_id].batch):
            self.batch_changed.emit(self.batch_queue.view())

    def publish_all(self) -> None:
        self._entries_changed()
        self.publish_head()
        self.batch_changed.emit(self.batch_queue.view())

    def _footer(self) -> str:
        """How many rows the list has, and what the recordings among them take up; files lie elsewhere."""
        if not self.rows:
            return tr("No transcripts")
        count = tr_n("{n} transcript", "{n} transcripts", len(self.rows))
        sizes = {row.sound_path: row.size_bytes for row in self.rows.values() if row.origin == "recording"}
        return f"{count}, {number_format.size(sum(sizes.values()))}" if any(sizes.values()) else count

    def sending_titles(self) -> tuple[str, ...]:
        """What is being transcribed now."""
        return tuple(self.rows[row_id].title for row_id in self.work if row_id in self.rows)

    def _entries_changed(self) -> None:
        if not self._is_read:
            return
        work, now = self.work, self.now()
        self.footer_changed.emit(self._footer())
        rows = sorted(self.rows.values(), key=lambda row: row.created_at, reverse=True)
        shown = [row for row in rows if self._snippets is None or row.id in self._snippets]
        found, mark_of = self._snippets or {}, self.current_account.mark_of
        self.entries_changed.emit(
            LazyRows(
                shown,
                lambda row: entry_of(
                    row,
                    work.get(row.id),
                    now,
                    self.account_models.name_of,
                    found.get(row.id, ""),
                    mark_of(row.account_id),
                ),
            )
        )
        self.busy_changed.emit()

    def publish_head(self) -> None:
        self.head_changed.emit(self.head())

    def _options_changed(self) -> None:
        self.options_changed.emit(self.options, self.account_models.choices())

    def publish_row(self, row: TranscriptRow, sentence: str) -> None:
        """Say something about a row that may not be in sight, with a button that shows it."""
        self.row_notice.emit(sentence, row.id)

    # What is shown

    @property
    def last_exchange(self) -> Exchange | None:
        """The newest call of this session, None before the first and after a change of account."""
        return self._sender.last_exchange if self._sender is not None else None

    def model(self) -> ModelChoice:
        return self.account_models.choice(self.options.model)

    @property
    def extra_fault(self) -> str:
        """What is wrong with the extra JSON; nothing is sent with it."""
        return extra_json_fault(self.options.extra_json, OWN_FIELDS)

    def head(self) -> Head:
        """The open row as it is now."""
        why = "" if self.current_account.service is not None else tr("No account is in use.")
        blocking = self.account_models.blocking_problem
        if not why and not self.options.model:
            why = blocking.what + "." if blocking is not None else tr("The model list has not loaded yet.")
        why = why or self.extra_fault
        base = Head(
            problem=self.problem or blocking,
            model_name=self.model().name if self.options.model else "",
            is_sandbox=self.current_account.is_sandbox,
            can_send=not why,
            why_not=why,
        )
        row = self.open_row
        if self.shows_batch:
            return replace(base, view="batch", title=tr("Files to transcribe"))
        if row is None:
            return base
        sender = self._sender
        work = sender.work.get(row.id) if sender is not None else None
        live = sender.problems.get(row.id) if sender is not None else None
        view = "recording" if row.id == self.recorder.row_id else "result" if row.state == "done" else "sound"
        document = self.reading.document if self.reading.id == row.id else Document()
        name = self.account_models.name_of(row.model) if row.model else base.model_name
        looked = self._looked.get(row.id)
        price = self.price_of(row)
        problem = base.problem or (None if work is not None else live or problem_of(row))
        return replace(
            base,
            view=view,
            id=row.id,
            title=row.title,
            state=row.state,
            origin=row.origin,
            note=row.note,
            sound=self._sound_of(row, looked),
            work=work,
            problem=for_account(problem, self.current_account.account) if problem is not None else None,
            price=money.money(price) if price is not None else "",
            price_words=self._price_words(row),
            treatment=treatment_of(row)[0],
            target_bytes=treatment_of(row)[1] or DEFAULT_TARGET_BYTES,
            receipt=receipt_of(row) if row.state == "done" else (),
            facts=facts_of(
                row, document, name, looked.kind if looked is not None else "", str(self.folders.sound_of(row))
            ),
            marks=marks_of(row),
            exchange=sender.exchanges.get(row.id) if sender is not None else None,
            model_name=base.model_name,
        )

    def _sound_of(self, row: TranscriptRow, looked: FileProbe | None) -> Sound:
        path = self.folders.sound_of(row)
        return Sound(
            name=path.name,
            kind=looked.title if looked is not None and looked.kind else "",
            size_bytes=row.size_bytes,
            duration_s=row.duration_s,
            too_large=bool(row.treatment) or (row.origin == "file" and row.size_bytes > SURE_UPLOAD_BYTES),
            is_over_limit=is_over_limit(row),
            is_there=looked is None or not looked.problem,
            why_not=looked.problem if looked is not None else "",
            path=str(path),
            peaks=self._peaks.get(row.id),
        )

    def price_of(self, row: TranscriptRow) -> Decimal | None:
        """What transcribing a row will probably cost with the model that is chosen."""
        return self.price_of_seconds(row.duration_s)

    def price_of_seconds(self, seconds: float | None) -> Decimal | None:
        each = self.model().usd_per_second if self.options.model else None
        if each is None or seconds is None:
            return None
        return each * Decimal(str(round(seconds, 1)))

    def _price_words(self, row: TranscriptRow) -> str:
        name = self.model().name if self.options.model else ""
        if not row.duration_s:
            return tr("with {name}, by its length", name=name) if name else ""
        return (
            tr("for {length_words} with {name}", length_words=length_words(row.duration_s), name=name) if name else ""
        )

    def kind_of(self, row: TranscriptRow) -> str:
        looked = self._looked.get(row.id)
        if looked is not None and looked.kind:
            return looked.title
        return Path(row.sound_path).suffix.removeprefix(".").upper()

    def _look_at(self, row: TranscriptRow) -> FileProbe:
        """For a worker thread."""
        return look(self.folders.sound_of(row), with_length=row.duration_s is None)

    # The account

    def _account_changed(self) -> None:
        self.sending.last_exchange = None  # its limits are another account's
        self._entries_changed()
        self.do(self._load_models)

    async def _load_models(self) -> None:
        await self.account_models.load()
        self._set_models()
        await self.account_models.fetch()
        self._set_models()

    def refresh_models(self) -> None:
        self.do(self._load_models)

    def _set_models(self) -> None:
        usable = self.account_models.usable(self.options.model)
        if usable != self.options.model:
            self.options = replace(self.options, model=usable)
        self._options_changed()
        self.publish_all()

    def set_option(self, name: str, value: object) -> None:
        """Set one field of `Options`, from now on."""
        self.options = replace(self.options, **{name: value})  # type: ignore[arg-type]  # the page names its fields
        options = self.options
        self.remember(
            model=options.model,
            language=options.language,
            timestamps="on" if options.timestamps else "off",
            response_format=options.response_format,
            record_as=options.record_as,
            extra_json=options.extra_json,
        )
        self.recording.record_as = options.record_as
        self._options_changed()
        self.publish_all()

    async def use_other_model(self, model: Model, *, again: bool = False) -> None:
        """Transcribe with a model that the list need not have; with `again`, the open transcript at once."""
        await self.account_models.add(model)
        if again:
            self._options_changed()
            self.transcribe_again(model.id)
        else:
            self.set_option("model", model.id)

    # Files

    def add_files(self, paths: Sequence[Path]) -> None:
        """Take files and folders. One file opens by itself, several make a table. Nothing is sent yet."""
        if self.transcripts is None:
            self._early_files += paths  # the tab has just been made for them
        elif paths:
            self.do(self._add_files, tuple(paths))

    async def _add_files(self, paths: tuple[Path, ...]) -> None:
        found, problems = await asyncio.to_thread(collect, paths)
        many = len(found) > 1 or self.shows_batch
        place = max((row.batch for row in self.rows.values()), default=0)
        added = []
        for number, looked in enumerate(found, 1):
            added.append(await self._add(looked, place + number if many else 0))
        for sentence in problems[:3]:
            self.notice.emit(sentence)
        if len(problems) > 3:
            self.notice.emit(tr_n("{n} more file cannot be used.", "{n} more files cannot be used.", len(problems) - 3))
        if many and added:
            self.shows_batch, self.open_id = True, None
        await self.reload()
        if len(added) == 1 and not many:
            self.open(added[0])

    async def _add(self, looked: FileProbe, place: int) -> str:
        row = await self.store.add(
            title=looked.path.stem or looked.name,
            origin="file",
            sound_path=str(looked.path.absolute()),
            state="recorded",
            size_bytes=looked.size_bytes,
            duration_s=looked.duration_s,
            batch=place,
        )
        self._looked[row.id] = looked
        return row.id

    def transcribe_again(self, model_id: str) -> None:
        """Transcribe the open sound with another model, as a row of its own: the text that is there stays."""
        row = self.open_row
        if row is not None and row.state == "done" and self.head().can_send:
            self.set_option("model", model_id)
            self.do(self._again, row.id)

    async def _again(self, row_id: str) -> None:
        row = self.rows[row_id]
        title = f"{row.title.partition(' · ')[0]} · {self.model().name}"
        added = await self.store.add(
            title=title,
            origin=row.origin,
            sound_path=row.sound_path,
            state="recorded",
            size_bytes=row.size_bytes,
            duration_s=row.duration_s,
            file_hash=row.file_hash,
            treatment=row.treatment,
            marks=list(row.marks),
        )
        await self.reload()
        self.open(added.id)
        self.transcribe(added.id)

    def set_treatment(self, row_id: str, treatment: str) -> None:
        """Choose how a large file is sent: "" as it is, "flac", "split" or "compress:BYTES"."""
        self.do(self._set_treatment, row_id, treatment)

    async def _set_treatment(self, row_id: str, treatment: str) -> None:
        await self.update(row_id, treatment=treatment)
        self._row_changed(row_id)

    # Sending

    def transcribe(self, row_id: str | None = None) -> None:
        """Send a row, the open one when none is named; also the one press that tries again."""
        self.sending_soon.emit()
        row_id = row_id or self.open_id
        row = self.rows.get(row_id or "")
        if row is None or row_id is None or row_id == self.recorder.row_id or self._sender is None:
            return
        if not self.head().can_send:
            self._row_changed(row_id)
            return
        if not self.batch_queue.is_sending(row_id) and not self._tasks.running(f"transcribe {row_id}"):
            self._tasks.start_unless_running(f"transcribe {row_id}", self.guarded, self.send_row, (row_id,))

    async def send_row(self, row_id: str) -> None:
        await self._store_unsaved(row_id)
        try:
            done = await self.sending.send(row_id, self.options)
        except StorageError as error:
            error.keep_again_with(partial(self._kept_again, row_id))
            raise
        finally:
            if not self.closing:
                await self._reread(row_id)
        if done:
            self._show_text(row_id)

    async def _kept_again(self, row_id: str, again: Again) -> None:
        """Keep a text that the disk refused, and show it. Raises `StorageError`."""
        await again()
        self.problem = None
        await self._reread(row_id)
        self._show_text(row_id)

    def _show_text(self, row_id: str) -> None:
        if row_id == self.open_id:
            self.reading.id = None
            self.open(row_id)

    def cancel(self, row_id: str | None = None) -> bool:
        """Stop what is being done with a row; False when nothing is."""
        row_id = row_id or self.open_id
        return row_id is not None and (self.batch_queue.cancel(row_id) or self._tasks.cancel(f"transcribe {row_id}"))

    def retry(self) -> None:
        self.transcribe()

    def act(self, action: str) -> None:
        """A button of an error card."""
        if action == "retry" and self.account_models.blocking_problem is not None:
            self.refresh_models()
        elif action == "retry":
            self.transcribe()
        elif action == "record":
            self.recorder.record()
        else:
            self.help_requested.emit(action)

    def _told(self, row_id: str) -> None:
        """The sender has news of a row."""
        if not self.closing and row_id in self.rows:
            self._row_changed(row_id)

    # The list

    def open(self, row_id: str) -> None:
        """Show a row: its transcript, its sound, or its recording."""
        if row_id not in self.rows:
            return
        self.open_id, self.shows_batch, self.problem = row_id, False, None
        self.publish_head()
        self._tasks.replace("open transcript", self.guarded, self._open, (row_id,))

    def close_row(self) -> None:
        """Show the empty page: record, or choose files."""
        self.open_id, self.shows_batch, self.problem = self.recorder.row_id, False, None
        self.playing.show(None, None)
        self.reading.show(None, Document(), {})
        self.publish_head()

    async def _open(self, row_id: str) -> None:
        row = self.rows[row_id]
        if row.state == "done":
            text = await self.store.text(row_id)
            document = await asyncio.to_thread(Document.from_json, text.document)
            if row_id != self.open_id:
                return
            unsaved = self.reading.id == row_id and self.reading.document.segments
            if not unsaved:
                self.reading.show(row_id, document, text.received, str(row.options.get("language") or ""))
        else:
            self.reading.show(None, Document(), {})
        if row_id != self.recorder.row_id:
            self.playing.show(self.folders.sound_of(row), row.duration_s)
        self.publish_head()
        await self.probe(row_id)

    async def probe(self, row_id: str) -> None:
        """Find out what the file is, and what it looks like."""
        row = self.rows.get(row_id)
        if row is None or row_id == self.recorder.row_id:
            return
        if row_id not in self._looked:
            self._looked[row_id] = await asyncio.to_thread(self._look_at, row)
        looked = self._looked[row_id]
        if not looked.problem and row_id not in self._peaks:
            self._peaks = {row_id: await self.playing.peaks(looked.path)}
        if row_id == self.open_id:
            self.publish_head()

    def show_batch(self) -> None:
        """Show the table of files in place of one row."""
        self.shows_batch, self.open_id, self.problem = True, None, None
        self.publish_head()
        self.batch_changed.emit(self.batch_queue.view())

    def search(self, text: str) -> None:
        """Show the rows whose title or text holds every word."""
        self._tasks.replace("search transcripts", self.guarded, self._search, (text,))

    async def _search(self, text: str) -> None:
        self._snippets = await self.store.search(text) if text.strip() and self.transcripts is not None else None
        self._entries_changed()

    def rename(self, row_id: str, title: str) -> None:
        if title.strip() and row_id in self.rows:
            self.do(self._rename, row_id, " ".join(title.split())[:200])

    async def _rename(self, row_id: str, title: str) -> None:
        await self.update(row_id, title=title)
        self._row_changed(row_id)

    # Marks

    def mark(self, text: str = "") -> None:
        """Note this moment of the recording, or of what is heard."""
        row = self.open_row
        if row is None:
            return
        at = self.recording.seconds if row.id == self.recorder.row_id else self.playing.player.position_s
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
        self._unsaved.setdefault(row_id, {})["marks"] = stored
        self.rows[row_id] = replace(self.rows[row_id], marks=stored)
        self.publish_head()
        self.do(self._store_unsaved, row_id)

    # The trash

    def move_to_trash(self, row_ids: Iterable[str]) -> None:
        """Take rows off the list. What runs for them is stopped; their sound stays until they are deleted."""
        ids = tuple(row_id for row_id in row_ids if row_id in self.rows)
        if self.recorder.row_id in ids:
            self.recorder.discard_recording()
        ids = tuple(row_id for row_id in ids if row_id != self.recorder.row_id)
        for row_id in ids:
            self._tasks.cancel(f"transcribe {row_id}")
        if ids:
            self.do(self.trash_rows, ids)

    async def trash_rows(self, ids: tuple[str, ...]) -> None:
        titles = [self.rows[row_id].title for row_id in ids]

        async def move(row_id: str) -> None:
            await self.store.trash(row_id)
            if row_id == self.open_id:
                self.close_row()

        moved, refusal = await move_rows(ids, move)
        await self.reload()
        if moved:
            await self.trash.moved(moved, moved_text(titles[: len(moved)], "transcripts"))
        if refusal is not None:
            raise refusal

    async def _trashed(self) -> Sequence[TrashEntry]:
        now = self.now()
        return [_trash_entry(row, now) for row in await self.store.trashed()] if self.transcripts is not None else ()

    async def _restore(self, ids: tuple[str, ...]) -> None:
        for row_id in ids:
            await self.store.restore(row_id)
        await self.reload()
        self.open(ids[-1])

    async def _delete(self, ids: tuple[str, ...]) -> None:
        """Delete rows for good, the recordings' sound with them."""
        for row in await self.store.trashed():
            if row.id in ids:
                await self._delete_row(row)

    async def _delete_old(self) -> None:
        """Delete for good what has been in the trash for a month."""
        for row in await self.store.trashed(before=self.now() - KEPT_IN_TRASH):
            await self._delete_row(row)

    async def _delete_row(self, row: TranscriptRow) -> None:
        if row.origin == "recording" and not await self.store.shares_sound(row):
            with suppress(OSError):
                await asyncio.to_thread(self.folders.sound_of(row).unlink, missing_ok=True)
        await asyncio.to_thread(clean_up, self.folders, row)
        await self.store.purge(row.id)


def _trash_entry(row: TranscriptRow, now: datetime) -> TrashEntry:
    moment = row.trashed_at or now
    length = f"{position(row.duration_s)} · " if row.duration_s else ""
    return TrashEntry(row.id, row.title, f"{length}{time_format.when(moment, now)}", moment)

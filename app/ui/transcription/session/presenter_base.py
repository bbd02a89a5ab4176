"""The base of the Transcribe presenter: its signals, parts and rows, and how changes are published."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core import money
from app.core.budget import expecting_together
from app.core.problems import Problem
from app.core.trash import Trash
from app.core.undo import UndoCommand
from app.storage.errors import NotStored, StorageError
from app.ui.kit.lists.rows import build_rows
from app.ui.transcription.session.account_models import AccountModels
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.exporting import FORMATS, CueRules, length_words
from app.ui.transcription.session.exporting import Head as ExportHead
from app.ui.transcription.session.file_probe import SURE_UPLOAD_BYTES, FileProbe, look
from app.ui.transcription.session.microphone_session import OpenBlocks, RecordingSession, SavedMicrophone
from app.ui.transcription.session.playback import Playing
from app.ui.transcription.session.rows import (
    batch_row,
    entry_of,
    export_head,
    facts_of,
    marks_of,
    problem_of,
    receipt_of,
)
from app.ui.transcription.session.sender import Sender
from app.ui.transcription.session.transcript_editor import TranscriptEditor
from app.ui.transcription.session.upload_preparation import (
    DEFAULT_TARGET_BYTES,
    Folders,
    needs_treatment,
    treatment_of,
)
from app.ui.transcription.state import Batch, ExportChoice, Head, ModelChoice, Options, Sound

if TYPE_CHECKING:
    from app.audio.devices import AudioHost
    from app.audio.player import MakeSpeaker
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.service.exchange import Exchange
    from app.storage.settings import SettingsStore
    from app.storage.transcripts import TranscriptRow, Transcripts
    from app.ui.kit.sound.device_watch import DeviceWatch

KEPT_IN_TRASH = timedelta(days=30)
SENDABLE = ("recorded", "failed")  # by the table; what may have been paid for is sent again one by one, by hand
Work = Callable[..., Awaitable[object]]


BATCH = "transcribe files"


class TranscriptionPresenterBase(QObject):
    """Signals carry frozen values of `state.py`."""

    entries_changed = Signal(object)  # tuple[Entry, ...]
    head_changed = Signal(object)  # Head
    options_changed = Signal(object, object)  # Options, tuple[ModelChoice, ...]
    batch_changed = Signal(object)  # Batch
    export_changed = Signal(object)  # ExportChoice
    footer_changed = Signal(str)
    notice = Signal(str)  # a sentence
    row_notice = Signal(str, str)  # a sentence, and the id of the row that it is about
    help_wanted = Signal(str)  # an action of an error card that another part of the window carries out
    busy_changed = Signal()

    _batch_task: tuple[str, asyncio.Task[None]] | None = None  # the row of the table that is on its way

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
        self._now = now
        self.folders = folders
        self._undo_stack = undo_stack
        self.trash = Trash("transcription", tasks, undo_stack, kept_days=KEPT_IN_TRASH.days)
        self.trash.failed.connect(self.notice)
        self.account_models = AccountModels(current_account)
        kept = self._kept()
        device, channel, gain = kept.get("device", ""), kept.get("channel", ""), kept.get("gain", "")
        microphone = SavedMicrophone(
            device, int(channel) if _is_number(channel) else -1, float(gain) if _is_number(gain) else 0.0
        )
        self.recording = RecordingSession(host, watch, microphone, open_blocks=open_blocks)
        self.playing = Playing(host, tasks, folders.cache, make=make_speaker)
        self.reading = TranscriptEditor(lambda: self._do(self._save_edits), undo_stack)
        self.options = self._kept_options()
        self.recording.record_as = self.options.record_as
        self.export_choice = self._kept_export()
        self.transcripts: Transcripts | None = None
        self._sender: Sender | None = None
        self._rows: dict[str, TranscriptRow] = {}
        self._snippets: Mapping[str, str] | None = None
        self._looked: dict[str, FileProbe] = {}
        self._open_id: str | None = None
        self._shows_batch = False
        self._recording_id: str | None = None
        self._problem: Problem | None = None  # of the page, such as no microphone
        self._peaks: dict[str, object] = {}
        self._unsaved_marks: dict[str, tuple[Mapping[str, object], ...]] = {}
        self._part_count = 0
        self._early_files: list[Path] = []
        self._footer = ""
        self._batch_wanted = False
        self._numbers = itertools.count()
        self.closing = False

    # What is remembered

    def _kept(self) -> Mapping[str, str]:
        return self._settings.value.transcription

    def _keep(self, **values: str) -> None:
        self._settings.change(transcription={**self._kept(), **values})

    def _kept_options(self) -> Options:
        kept, default = self._kept(), Options()
        record_as = kept.get("record_as", "")
        return Options(
            model=kept.get("model", ""),
            language=kept.get("language", ""),
            timestamps=kept.get("timestamps", "on") != "off",
            response_format="text" if kept.get("response_format") == "text" else "json",
            record_as=record_as if record_as in ("flac", "wav", "ogg") else default.record_as,
        )

    def _kept_export(self) -> ExportChoice:
        kept = self._kept()
        kind = kept.get("export", "srt")

        def number(name: str, low: float, high: float, default: float) -> float:
            text = kept.get(name, "")
            return max(low, min(high, float(text))) if _is_number(text) else default

        rules = CueRules(
            int(number("line_chars", 10, 120, 42)), int(number("lines", 1, 4, 2)), number("longest_s", 1, 30, 6.0)
        )
        return ExportChoice(kind if kind in FORMATS else "srt", rules)

    # Work

    def _do(self, work: Work, *args: object) -> None:
        """Run a piece of work of its own; a refusing disk becomes a sentence."""
        self._tasks.start(f"transcription-{next(self._numbers)}", self._guarded, work, args)

    async def _guarded(self, work: Work, args: tuple[object, ...]) -> None:
        try:
            await work(*args)
        except NotStored as error:
            self.notice.emit(error.sentence)
        except StorageError as error:
            self._problem = Problem(error.sentence, "What is on screen is still here.")
            self._head_changed()
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

    # Rows

    @property
    def open_row(self) -> TranscriptRow | None:
        return self._rows.get(self._open_id or "")

    def row(self, row_id: str) -> TranscriptRow | None:
        return self._rows.get(row_id)

    async def _update(self, row_id: str, **changes: object) -> None:
        """Set fields on disk, then in what is shown: a change that was made meanwhile stays."""
        await self.store.change(row_id, **changes)
        if row_id in self._rows:
            self._rows[row_id] = replace(self._rows[row_id], **changes)  # type: ignore[arg-type]  # fields of the row

    def _with_marks(self, row: TranscriptRow) -> TranscriptRow:
        """A row as read from disk, with the marks that are still on their way there."""
        unsaved = self._unsaved_marks.get(row.id)
        return row if unsaved is None else replace(row, marks=unsaved)

    async def _reread(self, row_id: str) -> None:
        try:
            self._rows[row_id] = self._with_marks(await self.store.one(row_id))
        except NotStored:
            self._rows.pop(row_id, None)
        self._row_changed(row_id)

    async def _reload(self) -> None:
        rows = await self.store.list()
        self._rows = {row.id: self._with_marks(row) for row in rows}
        count, size = await self.store.recordings_total()
        if count or not rows:
            words = "1 recording" if count == 1 else f"{count:,} recordings" if count else "No recordings"
        else:  # of files that lie elsewhere
            words = "1 transcript" if len(rows) == 1 else f"{len(rows):,} transcripts"
        self._footer = f"{words}, {money.size(size)}" if count else words
        self.footer_changed.emit(self._footer)
        self._all_changed()

    def _row_changed(self, row_id: str) -> None:
        self._entries_changed()
        if row_id == self._open_id:
            self._head_changed()
        if self._shows_batch or (row_id in self._rows and self._rows[row_id].batch):
            self.batch_changed.emit(self.batch())

    def _all_changed(self) -> None:
        self._entries_changed()
        self._head_changed()
        self.batch_changed.emit(self.batch())

    def _entries_changed(self) -> None:
        work = self._sender.work if self._sender is not None else {}
        now = self._now()
        rows = sorted(self._rows.values(), key=lambda row: row.created_at, reverse=True)
        shown = [row for row in rows if self._snippets is None or row.id in self._snippets]
        found = self._snippets or {}
        self.entries_changed.emit(
            tuple(
                build_rows(
                    shown,
                    lambda row: entry_of(
                        row, work.get(row.id), now, self.account_models.name_of, found.get(row.id, "")
                    ),
                )
            )
        )
        self.busy_changed.emit()

    def _head_changed(self) -> None:
        self.head_changed.emit(self.head())

    def _options_changed(self) -> None:
        self.options_changed.emit(self.options, self.account_models.choices())

    # What is shown

    @property
    def last_exchange(self) -> Exchange | None:
        """The newest call of this session, None before the first and after a change of account."""
        return self._sender.last_exchange if self._sender is not None else None

    def model(self) -> ModelChoice:
        return self.account_models.choice(self.options.model)

    def head(self) -> Head:
        """The open row as it is now."""
        why = "" if self.current_account.service is not None else "No account is in use."
        if not why and not self.options.model:
            why = "The list of models has not come yet."
        base = Head(
            problem=self._problem,
            model_name=self.model().name if self.options.model else "",
            is_sandbox=self.current_account.is_sandbox,
            can_send=not why,
            why_not=why,
        )
        row = self.open_row
        if self._shows_batch:
            return replace(base, view="batch", title="Files to transcribe")
        if row is None:
            return base
        sender = self._sender
        work = sender.work.get(row.id) if sender is not None else None
        live = sender.problems.get(row.id) if sender is not None else None
        view = "recording" if row.id == self._recording_id else "result" if row.state == "done" else "sound"
        document = self.reading.document if self.reading.id == row.id else Document()
        name = self.account_models.name_of(row.model) if row.model else base.model_name
        looked = self._looked.get(row.id)
        price = self.price_of(row)
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
            problem=self._problem or (None if work is not None else live or problem_of(row)),
            price=money.about(price) if price is not None else "",
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
            must_choose=needs_treatment(row),
            is_there=looked is None or not looked.problem,
            why_not=looked.problem if looked is not None else "",
            part_count=self._part_count,
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
            return f"with {name}, by its length" if name else ""
        return f"for {length_words(row.duration_s)} with {name}" if name else ""

    def export_head(self) -> ExportHead:
        row = self.open_row
        if row is None:
            return ExportHead()
        return export_head(row, self.account_models.name_of(row.model), self.reading.received)

    # The table of files

    def batch_rows(self) -> tuple[TranscriptRow, ...]:
        return tuple(sorted((row for row in self._rows.values() if row.batch), key=lambda row: row.batch))

    def batch(self) -> Batch:
        rows = self.batch_rows()
        work = self._sender.work if self._sender is not None else {}
        left = [row for row in rows if row.state in (*SENDABLE, "queued")]
        need = [row for row in left if needs_treatment(row)]
        ready = [row for row in left if not needs_treatment(row)]
        prices = [self.price_of(row) for row in ready]
        known = [price for price in prices if price is not None]
        return Batch(
            rows=tuple(batch_row(row, work.get(row.id), self._kind_of(row), self.price_of(row)) for row in rows),
            running=self._batch_wanted,
            done=sum(row.state == "done" for row in rows),
            left=len(ready),
            waiting=sum(row.state == "queued" for row in rows),
            need=len(need),
            price=money.about(sum(known, Decimal(0))) if known else "",
            seconds=sum(row.duration_s or 0.0 for row in ready),
        )

    def _kind_of(self, row: TranscriptRow) -> str:
        looked = self._looked.get(row.id)
        if looked is not None and looked.kind:
            return looked.title
        return Path(row.sound_path).suffix.removeprefix(".").upper()

    def _look_at(self, row: TranscriptRow) -> FileProbe:
        """For a worker thread."""
        return look(self.folders.sound_of(row), with_length=row.duration_s is None)

    # Sending: one row at once, or the table of files one after the other, with pause and resume over restarts.
    # Every method returns at once.

    def transcribe(self, row_id: str | None = None) -> None:
        """Send a row, the open one when none is named; also the one press that tries again."""
        row_id = row_id or self._open_id
        row = self._rows.get(row_id or "")
        if row is None or row_id is None or row_id == self._recording_id or self._sender is None:
            return
        if not self.head().can_send or needs_treatment(row):
            self._row_changed(row_id)
            return
        in_batch = self._batch_task is not None and self._batch_task[0] == row_id
        if not in_batch and not self._tasks.running(f"transcribe {row_id}"):
            self._tasks.start(f"transcribe {row_id}", self._guarded, self._transcribe, (row_id,))

    async def _transcribe(self, row_id: str) -> None:
        try:
            done = await self.sending.send(row_id, self.options)
        finally:
            if not self.closing:
                await self._reread(row_id)
        if done:
            self._part_count = 0
            if row_id == self._open_id:
                self.reading.id = None
                self.open_again(row_id)

    if TYPE_CHECKING:  # the whole presenter has them

        def open_again(self, row_id: str) -> None:
            """Show a row whose text has just come."""

        def record(self) -> None: ...

    def cancel(self, row_id: str | None = None) -> bool:
        """Stop what is being done with a row; False when nothing is."""
        row_id = row_id or self._open_id
        if row_id is not None and self._batch_task is not None and self._batch_task[0] == row_id:
            return self._batch_task[1].cancel()
        return row_id is not None and self._tasks.cancel(f"transcribe {row_id}")

    def retry(self) -> None:
        self.transcribe()

    def act(self, action: str) -> None:
        """A button of an error card."""
        if action == "retry":
            self.transcribe()
        elif action == "record":
            self.record()
        else:
            self.help_wanted.emit(action)

    def _told(self, row_id: str) -> None:
        """The sender has news of a row."""
        if not self.closing and row_id in self._rows:
            self._row_changed(row_id)

    # The table

    def show_batch(self) -> None:
        """Show the table of files in place of one row."""
        self._shows_batch, self._open_id, self._problem = True, None, None
        self._head_changed()
        self.batch_changed.emit(self.batch())

    def start_batch(self) -> None:
        """Send every file of the table that can be sent, in order; also while the last one before a pause ends."""
        if self._sender is None:
            return
        self._batch_wanted = True
        if self._tasks.running(BATCH):
            self._do(self._queue)
        else:
            self._tasks.start(BATCH, self._guarded, self._run_batch, ())

    def pause_batch(self) -> None:
        """Send no further file; the one that is on its way comes to its end. The rest waits, over restarts too."""
        self._batch_wanted = False
        self.batch_changed.emit(self.batch())

    @property
    def batch_runs(self) -> bool:
        return self._tasks.running(BATCH)

    async def _queue(self) -> None:
        """Let every file wait that can be sent and is not on its way."""
        busy = self._batch_task[0] if self._batch_task is not None else None
        for row in self.batch_rows():
            if row.id != busy and row.state in SENDABLE and not needs_treatment(row):
                await self._update(row.id, state="queued", problem={})
        self._all_changed()

    async def _run_batch(self) -> None:
        await self._queue()
        queued = [row for row in self.batch_rows() if row.state == "queued"]
        prices = [self.sending.expected(row, self.options) for row in queued]
        try:
            with expecting_together(prices, "files"):
                while self._batch_wanted and (row_id := self._next_queued()) is not None:
                    async with asyncio.TaskGroup() as group:  # so that one row can be stopped without the others
                        self._batch_task = (row_id, group.create_task(self._guarded(self._transcribe, (row_id,))))
                    if row_id in self.sending.over_limit and None not in prices:
                        self.notice.emit(self.sending.problems[row_id].sentence)
                        break  # they were refused together: the others wait for the next press
        finally:
            self._batch_wanted, self._batch_task = False, None
            if not self.closing:
                self.batch_changed.emit(self.batch())

    def _next_queued(self) -> str | None:
        return next((row.id for row in self.batch_rows() if row.state == "queued"), None)

    def clear_done(self) -> None:
        """Take finished files out of the table; they stay in the list."""
        self._do(self._clear, [row.id for row in self.batch_rows() if row.state == "done"])

    def drop_from_batch(self, row_id: str) -> None:
        """Take a file out of the table; undone, it stands there again and waits to be sent by hand."""
        self._do(self._drop_from_batch, self._rows[row_id])

    async def _drop_from_batch(self, row: TranscriptRow) -> None:
        await self._clear([row.id])
        undo = partial(self._put_into_batch, row.id, row.batch)
        text = f"“{row.title}” taken out of the table"
        self._undo_stack.push(UndoCommand("transcription", text, undo, (f"batch {row.id}",)))

    async def _put_into_batch(self, row_id: str, place: int, _ids: object = ()) -> None:
        if row_id in self._rows:
            await self._update(row_id, batch=place)
            self._all_changed()

    async def _clear(self, row_ids: list[str]) -> None:
        for row_id in row_ids:
            state = self._rows[row_id].state
            changes = {"state": "recorded"} if state == "queued" else {}
            await self._update(row_id, batch=0, **changes)
        self._all_changed()


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False

"""What the transcribe page's controls mean. QtCore only, no widgets."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.core import money
from app.core.file_saving import save_file
from app.core.money import position
from app.core.trash import TrashEntry, TrashKind, moved_text
from app.storage.transcripts import Transcripts
from app.ui.transcription.session.document import Document
from app.ui.transcription.session.file_probe import FileProbe, collect
from app.ui.transcription.session.presenter_base import KEPT_IN_TRASH
from app.ui.transcription.session.recorder import RecordPart
from app.ui.transcription.session.sender import KIND, Sender, Stores
from app.ui.transcription.session.upload_preparation import clean_up
from app.ui.transcription.state import ExportChoice

if TYPE_CHECKING:
    from app.storage.catalogue import Catalogue
    from app.storage.database import Database
    from app.storage.paid_call_intents import Intents
    from app.storage.transcripts import TranscriptRow


class TranscriptionPresenter(RecordPart):
    """Recording, files, and the list of what was transcribed."""

    async def start(self, database: Database, catalogue: Catalogue | None, intents: Intents) -> None:
        """Take the opened database; find recordings that a killed program left, and look for microphones."""
        store = self.transcripts = Transcripts(database)
        self.account_models.catalogue = catalogue
        self._sender = Sender(
            self.current_account, self.account_models, Stores(store, intents, self.folders), self._told
        )
        for left in await store.settle_after_start():
            if left.state == "recording":
                await self._recover(left.id)
            else:
                self._publish_row(left, f"Rialto ended while “{left.title}” was transcribed. It may have been charged.")
        for intent in await intents.pending(KIND):
            if intent.state == "unknown":
                await intents.acknowledge(intent.id)  # its row says so
        self.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        await self._delete_old()
        self.current_account.account_changed.connect(self._account_changed)
        self.recording.watch.changed.connect(lambda: self._do(self.recording.refresh))
        self.recording.ended.connect(lambda: self._do(self._recording_ended))
        await self._reload()
        await self._load_models()
        self.recording.watch.start()
        await self.recording.refresh()
        early, self._early_files = self._early_files, []
        if early:
            await self._add_files(tuple(early))

    async def aclose(self) -> None:
        """Keep everything: a recording that runs is ended and stays."""
        self.closing = True
        if self._recording_id is not None:
            with suppress(Exception):
                await self._finish_recording()
        if self.transcripts is not None:
            await self.reading.save(self.transcripts)
        await self.playing.aclose()

    # The account

    def _account_changed(self) -> None:
        self.sending.last_exchange = None  # its limits are another account's
        self._do(self._load_models)

    async def _load_models(self) -> None:
        await self.account_models.load()
        self._set_models()
        await self.account_models.fetch()
        self._set_models()

    def refresh_models(self) -> None:
        self._do(self._load_models)

    def _set_models(self) -> None:
        usable = self.account_models.usable(self.options.model)
        if usable != self.options.model:
            self.options = replace(self.options, model=usable)
        self._options_changed()
        self._all_changed()

    def set_option(self, name: str, value: object) -> None:
        """Set one field of `Options`, from now on."""
        self.options = replace(self.options, **{name: value})  # type: ignore[arg-type]  # the page names its fields
        options = self.options
        self._keep(
            model=options.model,
            language=options.language,
            timestamps="on" if options.timestamps else "off",
            response_format=options.response_format,
            record_as=options.record_as,
        )
        self.recording.record_as = options.record_as
        self._options_changed()
        self._all_changed()

    # Files

    def add_files(self, paths: Sequence[Path]) -> None:
        """Take files and folders. One file opens by itself, several make a table. Nothing is sent yet."""
        if self.transcripts is None:
            self._early_files += paths  # the tab has just been made for them
        elif paths:
            self._do(self._add_files, tuple(paths))

    async def _add_files(self, paths: tuple[Path, ...]) -> None:
        found, problems = await asyncio.to_thread(collect, paths)
        many = len(found) > 1 or self._shows_batch
        place = max((row.batch for row in self._rows.values()), default=0)
        added = []
        for number, looked in enumerate(found, 1):
            added.append(await self._add(looked, place + number if many else 0))
        for sentence in problems[:3]:
            self.notice.emit(sentence)
        if len(problems) > 3:
            self.notice.emit(f"{len(problems) - 3} more files cannot be used.")
        if many and added:
            self._shows_batch, self._open_id = True, None
        await self._reload()
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
            self._do(self._again, row.id)

    async def _again(self, row_id: str) -> None:
        row = self._rows[row_id]
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
        await self._reload()
        self.open(added.id)
        self.transcribe(added.id)

    def set_treatment(self, row_id: str, treatment: str) -> None:
        """Choose what happens with a file over 25 MB: "", "split" or "compress:BYTES"."""
        self._do(self._set_treatment, row_id, treatment)

    async def _set_treatment(self, row_id: str, treatment: str) -> None:
        await self._update(row_id, treatment=treatment)
        self._row_changed(row_id)

    # The list

    def open(self, row_id: str) -> None:
        """Show a row: its transcript, its sound, or its recording."""
        if row_id not in self._rows:
            return
        self._open_id, self._shows_batch, self._problem = row_id, False, None
        self._part_count = 0
        self._head_changed()
        self._tasks.replace("open transcript", self._guarded, self._open, (row_id,))

    def open_again(self, row_id: str) -> None:
        self.open(row_id)

    def close_row(self) -> None:
        """Show the empty page: record, or choose files."""
        self._open_id, self._shows_batch, self._problem = self._recording_id, False, None
        self.playing.show(None, None)
        self.reading.show(None, Document(), {})
        self._head_changed()

    async def _open(self, row_id: str) -> None:
        row = self._rows[row_id]
        if row.state == "done":
            text = await self.store.text(row_id)
            document = await asyncio.to_thread(Document.from_json, text.document)
            if row_id != self._open_id:
                return
            unsaved = self.reading.id == row_id and self.reading.document.segments
            if not unsaved:
                self.reading.show(row_id, document, text.received, str(row.options.get("language") or ""))
        else:
            self.reading.show(None, Document(), {})
        if row_id != self._recording_id:
            self.playing.show(self.folders.sound_of(row), row.duration_s)
        self._head_changed()
        await self._look(row_id)

    async def _look(self, row_id: str) -> None:
        """Find out what the file is, and what it looks like."""
        row = self._rows.get(row_id)
        if row is None or row_id == self._recording_id:
            return
        if row_id not in self._looked:
            self._looked[row_id] = await asyncio.to_thread(self._look_at, row)
        looked = self._looked[row_id]
        if not looked.problem and row_id not in self._peaks:
            self._peaks = {row_id: await self.playing.peaks(looked.path)}
        if row_id == self._open_id:
            self._head_changed()

    def search(self, text: str) -> None:
        """Show the rows whose title or text holds every word."""
        self._tasks.replace("search transcripts", self._guarded, self._search, (text,))

    async def _search(self, text: str) -> None:
        self._snippets = await self.store.search(text) if text.strip() and self.transcripts is not None else None
        self._entries_changed()

    def rename(self, row_id: str, title: str) -> None:
        if title.strip() and row_id in self._rows:
            self._do(self._rename, row_id, " ".join(title.split())[:200])

    async def _rename(self, row_id: str, title: str) -> None:
        await self._update(row_id, title=title)
        self._row_changed(row_id)

    # The trash

    def move_to_trash(self, row_ids: Iterable[str]) -> None:
        """Take rows off the list. What runs for them is stopped; their sound stays until they are deleted."""
        ids = tuple(row_id for row_id in row_ids if row_id in self._rows)
        if self._recording_id in ids:
            self.discard_recording()
        ids = tuple(row_id for row_id in ids if row_id != self._recording_id)
        for row_id in ids:
            self._tasks.cancel(f"transcribe {row_id}")
        if ids:
            self._do(self._move_to_trash, ids)

    async def _move_to_trash(self, ids: tuple[str, ...]) -> None:
        titles = [self._rows[row_id].title for row_id in ids]
        for row_id in ids:
            await self.store.trash(row_id)
            if row_id == self._open_id:
                self.close_row()
        await self._reload()
        await self.trash.moved(ids, moved_text(titles, "transcripts"))

    async def _trashed(self) -> Sequence[TrashEntry]:
        now = self._now()
        return [_trash_entry(row, now) for row in await self.store.trashed()] if self.transcripts is not None else ()

    async def _restore(self, ids: tuple[str, ...]) -> None:
        for row_id in ids:
            await self.store.restore(row_id)
        await self._reload()
        self.open(ids[-1])

    async def _delete(self, ids: tuple[str, ...]) -> None:
        """Delete rows for good, the recordings' sound with them."""
        for row in await self.store.trashed():
            if row.id in ids:
                await self._delete_row(row)

    async def _delete_old(self) -> None:
        """Delete for good what has been in the trash for a month."""
        for row in await self.store.trashed(before=self._now() - KEPT_IN_TRASH):
            await self._delete_row(row)

    async def _delete_row(self, row: TranscriptRow) -> None:
        if row.origin == "recording" and not await self.store.shares_sound(row):
            with suppress(OSError):
                await asyncio.to_thread(self.folders.sound_of(row).unlink, missing_ok=True)
        await asyncio.to_thread(clean_up, self.folders, row)
        await self.store.purge(row.id)

    # Export

    def set_export(self, choice: ExportChoice) -> None:
        self.export_choice = choice
        rules = choice.rules
        self._keep(
            export=choice.kind,
            line_chars=str(rules.line_chars),
            lines=str(rules.lines),
            longest_s=f"{rules.longest_s:g}",
        )
        self.export_changed.emit(choice)

    def export_text(self) -> str:
        return self.reading.export(self.export_choice, self.export_head())

    def save_export(self, path: Path) -> None:
        """Write the export to a file the person named."""
        self._do(self._save_export, path, self.export_text())

    def save_sound(self, path: Path) -> None:
        """Save a copy of the open recording as a file the person named."""
        row = self.open_row
        if row is not None:
            self._do(self._save_sound, self.folders.sound_of(row), path)

    async def _save_sound(self, source: Path, target: Path) -> None:
        self.notice.emit(await save_file(target, partial(shutil.copyfile, source)))

    async def _save_export(self, path: Path, text: str) -> None:
        data = text.encode("utf-8")
        self.notice.emit(await save_file(path, lambda place: place.write_bytes(data)))


def _trash_entry(row: TranscriptRow, now: datetime) -> TrashEntry:
    moment = row.trashed_at or now
    length = f"{position(row.duration_s)} · " if row.duration_s else ""
    return TrashEntry(row.id, row.title, f"{length}{money.when(moment, now)}", moment)

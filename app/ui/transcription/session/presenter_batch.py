"""Sending: one row at once, or the table of files one after the other, with pause and resume over restarts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.core.budget import expecting_together
from app.core.undo import UndoCommand
from app.ui.transcription.session.presenter_base import SENDABLE, TranscriptionPresenterBase
from app.ui.transcription.session.presenter_preparing import needs_treatment

BATCH = "transcribe files"


class BatchPart(TranscriptionPresenterBase):
    """Every method returns at once."""

    _batch_task: tuple[str, asyncio.Task[None]] | None = None  # the row of the table that is on its way

    # One row

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
        row = self._rows[row_id]
        self._do(self._clear, [row_id])

        def undo(_ids: object) -> None:
            self._do(self._put_into_batch, row_id, row.batch)

        text = f"“{row.title}” taken out of the table"
        self._undo_stack.push(UndoCommand("transcription", text, undo, (f"batch {row_id}",)))

    async def _put_into_batch(self, row_id: str, place: int) -> None:
        if row_id in self._rows:
            await self._update(row_id, batch=place)
            self._all_changed()

    async def _clear(self, row_ids: list[str]) -> None:
        for row_id in row_ids:
            state = self._rows[row_id].state
            changes = {"state": "recorded"} if state == "queued" else {}
            await self._update(row_id, batch=0, **changes)
        self._all_changed()

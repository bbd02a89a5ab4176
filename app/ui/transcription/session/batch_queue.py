"""The table of files: sent one after the other, with pause and resume over restarts."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from app.core import money
from app.core.spending_limits import call_group
from app.core.undo import UndoCommand
from app.translation import tr
from app.ui.transcription.session.rows import batch_row
from app.ui.transcription.state import Batch

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.transcripts import TranscriptRow
    from app.ui.transcription.presenter import TranscriptionPresenter

SENDABLE = ("recorded", "failed")  # by the table; what may have been paid for is sent again one by one, by hand
BATCH = "transcribe files"


class BatchQueue:
    """Every method returns at once; what changes is told by the presenter's `batch_changed`."""

    def __init__(self, presenter: TranscriptionPresenter, tasks: TaskScope, undo_stack: UndoStack) -> None:
        self._presenter = presenter
        self._tasks = tasks
        self._undo_stack = undo_stack
        self._task: tuple[str, asyncio.Task[None]] | None = None  # the row that is on its way
        self._is_wanted = False

    def is_sending(self, row_id: str) -> bool:
        return self._task is not None and self._task[0] == row_id

    def cancel(self, row_id: str) -> bool:
        """Stop what is being done with a row; False when nothing is."""
        return self._task is not None and self._task[0] == row_id and self._task[1].cancel()

    def rows(self) -> tuple[TranscriptRow, ...]:
        return tuple(sorted((row for row in self._presenter.rows.values() if row.batch), key=lambda row: row.batch))

    def view(self) -> Batch:
        rows = self.rows()
        work = self._presenter.work
        left = [row for row in rows if row.state in (*SENDABLE, "queued")]
        price_of, kind_of = self._presenter.price_of, self._presenter.kind_of
        known = [price for row in left if (price := price_of(row)) is not None]
        return Batch(
            rows=tuple(batch_row(row, work.get(row.id), kind_of(row), price_of(row)) for row in rows),
            running=self._is_wanted,
            done=sum(row.state == "done" for row in rows),
            left=len(left),
            waiting=sum(row.state == "queued" for row in rows),
            price=money.about(sum(known, Decimal(0))) if known else "",
            seconds=sum(row.duration_s or 0.0 for row in left),
            why_not=self._presenter.extra_fault,
        )

    def start(self) -> None:
        """Send every file of the table that can be sent, in order; also while the last one before a pause ends."""
        if self._presenter.transcripts is None:
            return
        self._presenter.sending_soon.emit()
        if fault := self._presenter.extra_fault:
            self._presenter.notice.emit(fault)
            return
        self._is_wanted = True
        if self._tasks.running(BATCH):
            self._presenter.do(self._queue)
        else:
            self._tasks.start_unless_running(BATCH, self._presenter.guarded, self._run, ())

    def pause(self) -> None:
        """Send no further file; the one that is on its way comes to its end. The rest waits, over restarts too."""
        self._is_wanted = False
        self._presenter.batch_changed.emit(self.view())

    async def _queue(self) -> None:
        """Let every file wait that can be sent and is not on its way."""
        busy = self._task[0] if self._task is not None else None
        for row in self.rows():
            if row.id != busy and row.state in SENDABLE:
                await self._presenter.update(row.id, state="queued", problem={})
        self._presenter.publish_all()

    async def _run(self) -> None:
        await self._queue()
        queued = [row for row in self.rows() if row.state == "queued"]
        prices = [self._presenter.sending.expected(row, self._presenter.options) for row in queued]
        try:
            with call_group(prices, "files"):
                while self._is_wanted and (row_id := self._next()) is not None:
                    async with asyncio.TaskGroup() as group:  # so that one row can be stopped without the others
                        sending = self._presenter.guarded(self._presenter.send_row, (row_id,))
                        self._task = (row_id, group.create_task(sending))
                    if row_id in self._presenter.sending.over_limit and None not in prices:
                        self._presenter.notice.emit(self._presenter.sending.problems[row_id].sentence)
                        break  # they were refused together: the others wait for the next press
        finally:
            self._is_wanted, self._task = False, None
            if not self._presenter.closing:
                self._presenter.batch_changed.emit(self.view())

    def _next(self) -> str | None:
        return next((row.id for row in self.rows() if row.state == "queued"), None)

    def clear_done(self) -> None:
        """Take finished files out of the table; they stay in the list."""
        self._presenter.do(self._clear, [row.id for row in self.rows() if row.state == "done"])

    def drop(self, row_id: str) -> None:
        """Take a file out of the table; undone, it stands there again and waits to be sent by hand."""
        self._presenter.do(self._drop, self._presenter.rows[row_id])

    async def _drop(self, row: TranscriptRow) -> None:
        await self._clear([row.id])
        undo = partial(self._put_back, row.id, row.batch)
        text = tr("“{title}” removed from the table", title=row.title)
        self._undo_stack.push(UndoCommand("transcription", text, undo, (f"batch {row.id}",)))

    async def _put_back(self, row_id: str, place: int, _ids: object = ()) -> None:
        if row_id in self._presenter.rows:
            await self._presenter.update(row_id, batch=place)
            self._presenter.publish_all()

    async def _clear(self, row_ids: list[str]) -> None:
        for row_id in row_ids:
            state = self._presenter.rows[row_id].state
            changes = {"state": "recorded"} if state == "queued" else {}
            await self._presenter.update(row_id, batch=0, **changes)
        self._presenter.publish_all()

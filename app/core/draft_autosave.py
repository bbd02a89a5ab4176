"""Drafts of the tabs' forms: saved at every pause in typing, and at the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.form_drafts import FormDraftStore

SAVE_AFTER_S = 0.4


def with_kept(typed: str, kept: str, between: str) -> str:
    """What was typed before the disk was open, and then what was kept: neither is lost, and the caret can stay."""
    return typed + between + kept if typed.strip() and kept.strip() and typed != kept else typed or kept


class DraftAutosave:
    """Nothing is saved before `drafts` is there; what was to be saved until then waits."""

    def __init__(self, tasks: TaskScope, name: str) -> None:
        """`name` is of the task that saves, unique in `tasks`."""
        self._tasks = tasks
        self._name = name
        self._unsaved: dict[str, Any] = {}
        self._turn = asyncio.Lock()
        self.drafts: FormDraftStore | None = None

    async def open(self, drafts: FormDraftStore) -> dict[str, Any]:
        """Return what was kept. Nothing is saved before that is read: it would be gone. Raises `StorageError`."""
        kept = await drafts.read()
        self.drafts = drafts
        return kept

    def save_soon(self, **values: Any) -> None:
        """Save these values of the form a moment later, at the next pause."""
        self._unsaved.update(values)
        self._tasks.replace(self._name, self._save_later)

    async def _save_later(self) -> None:
        await asyncio.sleep(SAVE_AFTER_S)
        await self.save()

    async def save(self) -> None:
        """Write down what was not written yet. Raises `StorageError`."""
        async with self._turn:  # what is being written by somebody else is not written until that has ended well
            if self.drafts is None or not self._unsaved:
                return
            values, self._unsaved = self._unsaved, {}
            try:
                await self.drafts.save(values)
            except BaseException:  # a newer keystroke came in between: what was not written waits for the next pause
                self._unsaved = {**values, **self._unsaved}
                raise

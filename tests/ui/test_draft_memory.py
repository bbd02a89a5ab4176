"""What is typed into a tab is on the disk at every pause, and at the end whatever is going on at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from app.core import draft_autosave
from app.core.draft_autosave import DraftAutosave
from app.core.tasks import TaskScope


class SlowDrafts:
    """A disk that writes when a test lets it."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def save(self, values: Mapping[str, Any]) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.kept.update(values)


@pytest.fixture
async def harness(monkeypatch: pytest.MonkeyPatch) -> SlowDrafts:
    monkeypatch.setattr(draft_autosave, "SAVE_AFTER_S", 0.0)
    return SlowDrafts()


def memory_on(harness: SlowDrafts, tasks: TaskScope) -> DraftAutosave:
    memory = DraftAutosave(tasks, "typed")
    memory.drafts = harness  # type: ignore[assignment]  # one call of it
    return memory


async def test_the_end_waits_for_what_is_just_being_written(harness: SlowDrafts, tasks: TaskScope) -> None:
    memory = memory_on(harness, tasks)
    memory.save_soon(text="A harbour")
    await harness.begun.wait()
    ending = asyncio.ensure_future(memory.save())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not ending.done(), "whoever ends the program next would cut it off"
    harness.may_end.set()
    await ending
    await tasks.aclose()
    assert harness.kept == {"text": "A harbour"}


async def test_what_was_cut_off_is_written_at_the_end(harness: SlowDrafts, tasks: TaskScope) -> None:
    memory = memory_on(harness, tasks)
    memory.save_soon(text="A harbour", model="plain")
    await harness.begun.wait()
    tasks.cancel("typed")
    ending = asyncio.ensure_future(memory.save())
    harness.may_end.set()
    await ending
    assert harness.kept == {"text": "A harbour", "model": "plain"}

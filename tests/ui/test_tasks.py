"""Every coroutine has an owner: the newest read wins, no write starts twice, nothing outlives its page."""

from __future__ import annotations

import asyncio

import pytest

from app.core.tasks import TaskScope


@pytest.fixture
async def crashes():
    return []


@pytest.fixture
async def scope(crashes):
    scope = TaskScope(crashes.append)
    yield scope
    await scope.aclose()


async def test_the_newest_call_wins_and_begins_after_the_older_has_ended(scope: TaskScope) -> None:
    told: list[str] = []

    async def work(name: str) -> None:
        told.append(f"{name} begins")
        try:
            await asyncio.sleep(30 if name == "old" else 0)
        finally:
            told.append(f"{name} ends")

    scope.replace("search", work, "old")
    await asyncio.sleep(0)
    scope.replace("search", work, "new")
    await scope.idle()
    assert told == ["old begins", "old ends", "new begins", "new ends"]


async def test_two_calls_in_quick_succession_wait_for_the_first_that_takes_its_time_to_end(scope: TaskScope) -> None:
    told: list[str] = []
    may_end = asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()
            told.append("the first ends")

    async def work(name: str) -> None:
        told.append(name)

    scope.replace("search", slow)
    await asyncio.sleep(0)
    for name in ("second", "third"):
        scope.replace("search", work, name)
        for _ in range(3):
            await asyncio.sleep(0)
    assert scope.running("search") and told == []
    may_end.set()
    await scope.idle()
    assert told == ["the first ends", "third"]


async def test_a_write_that_runs_is_not_started_again(scope: TaskScope) -> None:
    done: list[int] = []
    gate = asyncio.Event()

    async def pay(number: int) -> None:
        await gate.wait()
        done.append(number)

    assert scope.start_unless_running("pay", pay, 1)
    assert not scope.start_unless_running("pay", pay, 2)
    assert scope.running("pay")
    gate.set()
    await scope.idle()
    assert done == [1]
    assert scope.start_unless_running("pay", pay, 3)
    await scope.idle()
    assert done == [1, 3]


async def test_different_names_run_side_by_side(scope: TaskScope) -> None:
    both = asyncio.Barrier(2)

    async def meet() -> None:
        await both.wait()

    scope.replace("one", meet)
    scope.replace("other", meet)
    await asyncio.wait_for(scope.idle(), 60)


async def test_a_crash_goes_to_the_owner(scope: TaskScope, crashes: list[Exception]) -> None:
    async def fail() -> None:
        raise ValueError("seen")

    scope.replace("x", fail)
    await scope.idle()
    assert [str(error) for error in crashes] == ["seen"]


async def test_cancelling_is_silent(scope: TaskScope, crashes: list[Exception]) -> None:
    async def wait() -> None:
        await asyncio.sleep(30)

    scope.replace("x", wait)
    await asyncio.sleep(0)
    assert scope.cancel("x")
    await scope.idle()
    assert crashes == []
    assert not scope.cancel("x")


async def test_nothing_starts_after_the_end(scope: TaskScope) -> None:
    ran: list[bool] = []

    async def work() -> None:
        ran.append(True)

    await scope.aclose()
    scope.replace("x", work)
    assert not scope.start_unless_running("y", work)
    await asyncio.sleep(0)
    assert ran == []


async def test_closing_waits_for_work_that_tidies_up(scope: TaskScope) -> None:
    tidied: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            tidied.append(True)

    scope.replace("x", work)
    await asyncio.sleep(0)
    await scope.aclose()
    assert tidied == [True]


async def test_a_held_scope_starts_what_was_asked_for_once_the_loop_is_there() -> None:
    ran: list[str] = []

    async def note(word: str) -> None:
        ran.append(word)

    scope = TaskScope(pytest.fail, held=True)
    scope.replace("read", note, "old")
    scope.replace("read", note, "new")
    assert scope.start_unless_running("write", note, "first") and not scope.start_unless_running(
        "write", note, "second"
    )
    scope.replace("dropped", note, "never")
    assert scope.cancel("dropped") and not scope.cancel("dropped")
    await asyncio.sleep(0)
    assert ran == []
    scope.begin()
    await scope.idle()
    assert ran == ["new", "first"]


async def test_what_runs_is_told_by_the_names_of_its_functions_and_never_by_that_of_the_task(crashes) -> None:
    told: list[list[str]] = []
    may_end = asyncio.Event()

    async def waiting() -> None:
        await may_end.wait()

    async def short() -> None:
        return

    scope = TaskScope(crashes.append, on_work=lambda names: told.append([name.rpartition(".")[2] for name in names]))
    scope.start_unless_running("save what-was-typed.txt", waiting)
    scope.start_unless_running("read", short)
    await asyncio.sleep(0)
    may_end.set()
    await scope.idle()
    await asyncio.sleep(0)
    assert told == [["waiting"], ["waiting", "short"], ["waiting"], []]

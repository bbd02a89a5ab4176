"""Who owns a coroutine: every task belongs to a `TaskScope`, and none outlives it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

Work = Callable[..., Awaitable[None]]
Result = TypeVar("Result")


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Await what must not be left half done, such as keeping what was paid for: a cancel waits until it has ended.

    Then it is raised, unless `work` raised something itself.
    """
    import asyncio

    task, canceled = asyncio.get_running_loop().create_task(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            canceled = True
    result = task.result()
    if canceled:
        raise asyncio.CancelledError
    return result


async def _ended(tasks: Iterable[asyncio.Task[None]], within_s: float | None = None) -> None:
    import asyncio  # not before the window is painted

    await asyncio.wait(tasks, timeout=within_s)


async def run_within(work: Awaitable[object], within_s: float) -> Exception | None:
    """Run work at most so long, then go on without it. Return what it failed with."""
    import asyncio

    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=within_s)
    if not task.done():
        task.cancel()
        return None
    error = None if task.cancelled() else task.exception()
    return error if isinstance(error, Exception) else None


class TaskScope:
    """Owns the tasks of one page or service. Canceling is silent; a crash is handed to `on_crash`, never swallowed."""

    def __init__(
        self,
        on_crash: Callable[[Exception], None],
        *,
        held: bool = False,
        on_work: Callable[[Iterable[str]], None] = lambda _functions: None,
    ) -> None:
        """A scope that is `held` keeps what is asked of it until `begin`: the window is there before asyncio is.

        `on_work` is told the names of the functions that run, the newest last, each time that one begins or ends.
        """
        self._on_work = on_work
        self._on_crash = on_crash
        self._held: dict[str, tuple[Work, tuple[object, ...]]] | None = {} if held else None
        self._by_name: dict[str, asyncio.Task[None]] = {}
        self._alive: dict[asyncio.Task[None], str] = {}  # and the name of the function that it runs
        self._closed = False

    def begin(self) -> None:
        """Start what was asked for meanwhile. Call it on the running loop; a second call does nothing."""
        held, self._held = self._held or {}, None
        for name, (work, args) in held.items():
            self.replace(name, work, *args)

    def replace(self, name: str, work: Work, *args: object) -> None:
        """For reads: the newest call wins, and the one before it has ended when the new one begins."""
        if self._closed:
            return
        if self._held is not None:
            self._held[name] = (work, args)
            return
        import asyncio

        before = tuple(task for task in self._alive if task.get_name() == name)
        self.cancel(name)
        task = asyncio.get_running_loop().create_task(self._run(before, work, args), name=name)
        self._by_name[name] = task
        self._alive[task] = getattr(work, "__qualname__", type(work).__name__)
        self._on_work(self._alive.values())
        task.add_done_callback(self._forget)

    def start_unless_running(self, name: str, work: Work, *args: object) -> bool:
        """For writes and payments: refuse (False, nothing starts) while `name` still runs."""
        if self._closed or self.running(name):
            return False
        self.replace(name, work, *args)
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """What is under way."""
        return tuple(task.get_name() for task in self._alive)

    def running(self, name: str) -> bool:
        """Tell whether work of that name has not ended yet."""
        if self._held is not None:
            return name in self._held
        return any(task.get_name() == name and not task.done() for task in self._alive)

    def cancel(self, name: str) -> bool:
        """Ask work of that name to stop; False when there was none."""
        if self._held is not None:
            return self._held.pop(name, None) is not None
        task = self._by_name.get(name)
        return task is not None and task.cancel()

    async def ended(self, *names: str, within_s: float | None = None) -> None:
        """Return when no work of these names runs any more, or after that time."""
        latest = None if within_s is None else monotonic() + within_s
        while working := [task for task in self._alive if task.get_name() in names]:
            left = None if latest is None else latest - monotonic()
            if left is not None and left <= 0:
                return
            await _ended(working, left)

    async def idle(self) -> None:
        """Return when nothing of this scope runs any more."""
        while self._alive:
            await _ended(self._alive)

    async def aclose(self) -> None:
        """Cancel everything, wait for its end and start nothing again."""
        self._closed = True
        self._held = None
        for task in tuple(self._alive):
            task.cancel()
        await self.idle()

    def report(self, error: Exception) -> None:
        """Hand on an error that somebody has dealt with, and that still has to be told at the one place."""
        self._on_crash(error)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._alive.pop(task, None)
        self._on_work(self._alive.values())
        if self._by_name.get(task.get_name()) is task:
            del self._by_name[task.get_name()]

    async def _run(self, before: tuple[asyncio.Task[None], ...], work: Work, args: tuple[object, ...]) -> None:
        # All of them: one that was replaced before its own turn came does not wait for those before it any more.
        if ending := [task for task in before if not task.done()]:
            await _ended(ending)
        try:
            await work(*args)
        except Exception as error:  # the one place that catches everything
            self._on_crash(error)

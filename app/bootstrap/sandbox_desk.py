"""The one Sandbox of this program: when it runs, where, and with which key."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from app.storage.paths import Paths, resources

if TYPE_CHECKING:
    import asyncio

    from app.sandbox.server import RunningSandbox


class SandboxDesk:
    """Starts and stops the one Sandbox of this program; the only way to it besides HTTP."""

    def __init__(self, paths: Paths) -> None:
        self._folder = paths.data / "sandbox"
        self.running: RunningSandbox | None = None

    @cached_property
    def _turn(self) -> asyncio.Lock:
        import asyncio  # not before the window is painted

        return asyncio.Lock()

    @property
    def key(self) -> str:
        return self.running.api_key if self.running is not None else ""

    def address(self) -> tuple[str, str] | None:
        """Its base address and key while it runs, else None."""
        return (self.running.base_url, self.running.api_key) if self.running is not None else None

    async def start(self) -> None:
        """Start it unless it runs. Raises `OSError` or `ImportError` with a reason."""
        import asyncio

        async with self._turn:
            if self.running is None:
                self.running = await asyncio.to_thread(self._start)

    async def start_and_tell(self) -> str:
        """Start it unless it runs, and return its base address. Raises as `start` does."""
        await self.start()
        assert self.running is not None
        return self.running.base_url

    async def stop(self) -> None:
        """End it; calls under way are cut off."""
        import asyncio

        async with self._turn:
            running, self.running = self.running, None
            if running is not None:
                await asyncio.to_thread(running.stop)

    def _start(self) -> RunningSandbox:
        from app.sandbox.server import start_sandbox

        self._folder.mkdir(parents=True, exist_ok=True)
        return start_sandbox(self._folder, resources())

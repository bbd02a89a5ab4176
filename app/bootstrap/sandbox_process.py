"""The one Sandbox of this program: when it runs, where, and with which key.

It is a process of its own: it is up while the window is still being built, its engines never hold up a frame, and it
ends with the window even when that is killed (see `app/sandbox/child_process.py`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QProcess, Signal

from app.storage.paths import Paths
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.own_executable import own_command

if TYPE_CHECKING:
    import asyncio

SERVE_SANDBOX = "--serve-sandbox"  # how the program's own command line asks for the Sandbox instead of a window
_ROOT = Path(__file__).resolve().parents[2]
_ENDS_WITHIN_S = 5.0
_KEPT_ERROR_CHARS = 2000


class SandboxProcess(QObject):
    """Starts and stops the one Sandbox of this program; the only way to it besides HTTP."""

    answering = Signal()  # it serves now

    def __init__(self, paths: Paths, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = paths.data / "sandbox"
        self._process: QProcess | None = None
        self._key = ""
        self._base_url = ""
        self._errors = ""
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def key(self) -> str:
        """The key that it accepts, "" while it does not run."""
        return self._key

    def address(self) -> tuple[str, str] | None:
        """Its base address and key while it runs, else None."""
        return (self._base_url, self._key) if self._base_url else None

    def begin(self) -> None:
        """Start it unless it runs, and do not wait: needs neither asyncio nor a turning event loop."""
        if self._process is not None:
            return
        self._key = f"sandbox-{os.urandom(24).hex()}"
        self._errors = ""
        process = self._process = QProcess(self)
        program, *arguments = own_command()
        process.setWorkingDirectory(str(_ROOT))
        process.readyReadStandardOutput.connect(self._read_address)
        process.readyReadStandardError.connect(self._read_errors)
        process.errorOccurred.connect(self._failed)
        process.finished.connect(self._ended)
        process.start(program, [*arguments, SERVE_SANDBOX, str(self._folder)])
        process.write(json.dumps({"api_key": self._key}).encode() + b"\n")

    async def start(self) -> None:
        """Start it unless it runs, and wait until it answers. Raises `OSError` with a reason."""
        self.begin()
        if not self._base_url:
            await self._change()
        if not self._base_url:
            raise OSError(self._errors.strip().rpartition("\n")[2] or tr("its process quit immediately"))

    async def start_and_tell(self) -> str:
        """Start it unless it runs, and return its base address. Raises as `start` does."""
        await self.start()
        return self._base_url

    async def stop(self) -> None:
        """End it; calls under way are cut off."""
        import asyncio

        process = self._process
        if process is None:
            return
        self._base_url = ""
        process.closeWriteChannel()  # upon which it ends by itself
        try:
            async with asyncio.timeout(_ENDS_WITHIN_S):
                while self._process is process:
                    await self._change()
        except TimeoutError:
            process.kill()
            while self._process is process:
                await self._change()

    async def _change(self) -> None:
        """Return when it serves or has ended."""
        import asyncio  # not before the window is painted

        change = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        await change

    def _publish_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for change in waiting:
            if not change.done():
                change.set_result(None)

    def _read_address(self) -> None:
        process = self._process
        while process is not None and process.canReadLine():
            line = bytes(process.readLine().data())
            if not self._base_url and line.startswith(b'{"base_url"'):
                self._base_url = json.loads(line)["base_url"]
                self.answering.emit()
                self._publish_waiting()

    def _read_errors(self) -> None:
        if self._process is not None:
            text = bytes(self._process.readAllStandardError().data()).decode("utf-8", "replace")
            self._errors = (self._errors + text)[-_KEPT_ERROR_CHARS:]

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self._process is not None:
            self._errors = self._process.errorString()
            self._ended()

    def _ended(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            discard(process)
        self._base_url = self._key = ""
        self._publish_waiting()

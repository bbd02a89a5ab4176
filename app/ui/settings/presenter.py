"""Appearance, privacy, data and the Sandbox: what the pages of Settings show and what their controls mean."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.storage.errors import StorageUnavailable
from app.storage.settings import Settings, SettingsStore
from app.ui.settings.state import Choices, SettingsState, UsageRow
from app.ui.shared.call_log import CallLog
from app.ui.shared.caller import Caller
from app.ui.shared.tasks import TaskScope

if TYPE_CHECKING:
    from app.storage.paths import Paths

PLAY_MONEY_USD = "100"
_CONTROL_TIMEOUT_S = 5.0


class SandboxDesk(Protocol):
    """The Sandbox as Settings may handle it; the composition root has it."""

    def address(self) -> tuple[str, str] | None:
        """Its base address and key while it runs, else None."""

    async def start(self) -> None:
        """Raises `OSError` or `ImportError` with a reason."""

    async def stop(self) -> None:
        """End it; calls under way are cut off."""


class SettingsPresenter(QObject):
    """`look_changed` says that theme, text size, font or motion are to be applied."""

    state_changed = Signal(object)  # SettingsState
    look_changed = Signal(object)  # Choices

    def __init__(
        self,
        settings_store: SettingsStore,
        paths: Paths,
        caller: Caller,
        sandbox: SandboxDesk,
        tasks: TaskScope,
        *,
        calls: CallLog | None = None,
    ) -> None:
        super().__init__()
        self._store = settings_store
        self._paths = paths
        self._caller = caller
        self._sandbox = sandbox
        self._tasks = tasks
        self._calls = calls
        self.state = SettingsState(
            choices=_choices(settings_store.value), folder=str(paths.data), problem=settings_store.note
        )
        settings_store.subscribe(self._settings_changed)
        caller.account_changed.connect(self.refresh_sandbox)
        self.refresh_sandbox()
        if calls is not None:
            calls.changed.connect(lambda _account: self._show_hosts())
            self._show_hosts()

    # Choices

    def choose(self, **choices: Any) -> None:
        """Take changed choices (fields of `Choices`), show them at once and write them down."""
        self._store.remember(**choices)
        self._tasks.replace("save settings", self._save)

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(self._store.save)
        except StorageUnavailable as error:
            self._change(problem=f"{error.sentence}. What you chose holds until Rialto is closed.")

    def _settings_changed(self, settings: Settings) -> None:
        before, after = self.state.choices, _choices(settings)
        if before != after:
            self._change(choices=after)
            if _look(before) != _look(after):
                self.look_changed.emit(after)

    # Data

    def look_at_data(self) -> None:
        """Measure the folders and find the last good copy; in a worker, because folders may be large."""
        self._tasks.replace("look at data", self._look_at_data)

    async def _look_at_data(self) -> None:
        usage, last_backup = await asyncio.to_thread(_measure, self._paths)
        self._change(usage=usage, last_backup=last_backup, looked=True)

    def _show_hosts(self) -> None:
        self._change(hosts=self._calls.hosts if self._calls is not None else ())

    # Sandbox

    def refresh_sandbox(self) -> None:
        """Read again how the Sandbox stands."""
        running = self._sandbox.address()
        address, key = running or ("", "")
        self._change_sandbox(
            running=running is not None, address=address, key=key, in_use=self._caller.is_sandbox, problem=""
        )

    def start_sandbox(self) -> None:
        self._tasks.start("sandbox", self._with_sandbox, self._sandbox.start, "")

    def stop_sandbox(self) -> None:
        self._tasks.start("sandbox", self._with_sandbox, self._sandbox.stop, "")

    def refill_sandbox(self) -> None:
        """Set the play money back to what it was at the start."""
        self._tasks.start("sandbox", self._with_sandbox, self._refill, "The play money is full again.")

    async def _with_sandbox(self, work: Callable[[], Any], done: str) -> None:
        self._change_sandbox(busy=True, done="", problem="")
        try:
            await work()
        except (OSError, ImportError) as error:
            self._change_sandbox(busy=False, problem=f"The Sandbox did not do that: {error}.")
            return
        self._change_sandbox(busy=False)
        self.refresh_sandbox()
        self._change_sandbox(done=done)

    async def _refill(self) -> None:
        running = self._sandbox.address()
        if running is None:
            raise OSError("it is not running")
        await asyncio.to_thread(_set_balance, *running)

    def _change_sandbox(self, **changes: Any) -> None:
        self._change(sandbox=replace(self.state.sandbox, **changes))

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state_changed.emit(self.state)


def _choices(settings: Settings) -> Choices:
    return Choices(
        theme=settings.theme,  # type: ignore[arg-type]  # the settings file's reader lets only these three pass
        text_percent=settings.text_percent,
        system_font=settings.system_font,
        reduced_motion=settings.reduced_motion,
        enter_sends=settings.enter_sends,
        load_remote_pictures=settings.load_remote_pictures,
        confirm_links=settings.confirm_links,
    )


def _look(choices: Choices) -> tuple[object, ...]:
    return (choices.theme, choices.text_percent, choices.system_font, choices.reduced_motion)


def _measure(paths: Paths) -> tuple[tuple[UsageRow, ...], datetime | None]:
    """Sizes of what Rialto keeps, and when the newest checked copy was made. Runs in a worker."""
    from app.storage.backups import backups_in

    copies = backups_in(paths.backups)
    database = sum(_size(file) for file in paths.data.glob(f"{paths.database.name}*"))
    kept = sum(copy.path.stat().st_size for copy in copies if copy.path.exists())
    rows = (
        UsageRow("Chats and receipts", database, "chart_chat"),
        UsageRow(f"Backups, {len(copies)}", kept, "chart_video"),
        UsageRow("Pictures and lists kept for later", _folder_size(paths.cache), "chart_transcribe"),
        UsageRow("Logs", _folder_size(paths.logs), "chart_speech"),
    )
    return rows, copies[0].at if copies else None


def _folder_size(folder: Path) -> int:
    return sum(_size(path) for path in folder.rglob("*")) if folder.exists() else 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:  # gone between listing and looking
        return 0


def _set_balance(base_url: str, key: str) -> None:
    """Tell the Sandbox's own control to fill the purse. Loopback only, past any proxy. Raises `OSError`."""
    parts = urlsplit(base_url)
    if parts.hostname not in ("127.0.0.1", "localhost"):
        raise OSError("it is not on this computer")
    request = urllib.request.Request(  # noqa: S310 - the host was checked above
        f"{parts.scheme}://{parts.netloc}/sandbox/balance",
        data=json.dumps({"usd": PLAY_MONEY_USD}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
        method="PUT",
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(request, timeout=_CONTROL_TIMEOUT_S).close()

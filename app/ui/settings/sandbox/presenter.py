"""What the pages about the Sandbox show and what their controls mean. It is reached over HTTP like by any program."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, Signal

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.formats import format_number
from app.service.errors import ConnectionFailed, ServiceError
from app.service.sandbox_controls import SandboxControls
from app.translation import tr
from app.ui.kit.lists.rows import build_rows
from app.ui.kit.resources import resources_folder
from app.ui.settings.sandbox.state import (
    MAX_ROWS,
    PLAY_MONEY_USD,
    ActiveControl,
    EngineRow,
    OpenRequest,
    RequestRow,
    SandboxState,
    ahead,
    words_of,
)

if TYPE_CHECKING:
    from app.service.sandbox_controls import CallDetails, LogLine, SandboxStatus, Side

WAIT_S = 25.0  # one look that waits for news; the next follows at once
_KEPT = ("running", "busy", "address", "key", "in_use", "problem", "done", "own_code")
_OF_ONE_RUN = tuple(item.name for item in fields(SandboxState) if item.name not in _KEPT)
Work = Callable[["SandboxControls"], Awaitable[str]]


class SandboxRunner(Protocol):
    """The Sandbox as Settings may handle it; the composition root has it."""

    def address(self) -> tuple[str, str] | None:
        """Its base address and key while it runs, else None."""

    async def start(self) -> None:
        """Raises `OSError` or `ImportError` with a reason."""

    async def stop(self) -> None:
        """End it; calls under way are cut off."""


class SandboxPresenter(QObject):
    """While somebody looks, or a test control is on, one request waits at the Sandbox for news; nothing is polled."""

    state_changed = Signal(object)  # SandboxState

    def __init__(self, runner: SandboxRunner, current_account: CurrentAccount, tasks: TaskScope) -> None:
        super().__init__()
        self._runner = runner
        self._current_account = current_account
        self._tasks = tasks
        self._controls: SandboxControls | None = None
        self._seen: SandboxStatus | None = None
        self._looking = False
        self._closed = False
        self.state = SandboxState()
        current_account.account_changed.connect(self.refresh)
        self.refresh()

    # Looking

    def refresh(self) -> None:
        """Read again whether it runs and where."""
        running = self._runner.address()
        address, key = running or ("", "")
        is_another = (address, key) != (self.state.address, self.state.key)
        if is_another:
            self._forget()
        blank = SandboxState()
        self._change(
            **({name: getattr(blank, name) for name in _OF_ONE_RUN} if is_another else {}),
            running=running is not None,
            address=address,
            key=key,
            in_use=self._current_account.is_sandbox,
        )
        self._follow(anew=is_another)

    def reload(self) -> None:
        """Somebody came to the page."""
        self._looking = True
        self._change(done="", problem="")
        self.refresh()
        self._follow(anew=True)
        if not self.state.own_code:
            self._tasks.start_unless_running("read own code", self._read_own_code)

    async def _read_own_code(self) -> None:
        page = resources_folder() / "own-code.md"
        self._change(own_code=await asyncio.to_thread(page.read_text, encoding="utf-8"))

    def rest(self) -> None:
        """Nobody looks any more. What is switched on is still followed, because its reminder must stay true."""
        self._looking = False
        if not self.state.active:
            self._tasks.cancel("watch sandbox")

    def _follow(self, *, anew: bool = False) -> None:
        if self.state.running and (self._looking or self.state.active) and not self._closed:
            follow = self._tasks.replace if anew else self._tasks.start_unless_running
            follow("watch sandbox", self._watch)

    async def _watch(self) -> None:
        try:
            controls = await self._open()
            self._change(engines=await _engines(controls))
            while self._looking or self.state.active:
                await self._take(controls, self._seen, WAIT_S)
        except ServiceError as error:
            if self.state.running:
                self._change(silent=tr("The Sandbox is not responding: {message}", message=error.message))

    async def _take(self, controls: SandboxControls, seen: SandboxStatus | None, wait_s: float = 0.0) -> None:
        look = await controls.status(seen, wait_s=wait_s if seen is not None else 0.0)
        if controls is not self._controls:
            return  # another one runs by now
        rows = tuple(build_rows(reversed(look.lines), _row))
        engines = self.state.engines
        if look.lines:
            engines = await _engines(controls)  # a call may have been the first that an engine works for
        same = self._seen is not None and self._seen.epoch == look.epoch
        newest = self.state.rows[0].number if same and self.state.rows else 0
        fresh = tuple(row for row in rows if row.number > newest)
        self._seen = look
        self._change(
            silent="",
            engines=engines,
            rows=(*fresh, *(self.state.rows if same else ()))[:MAX_ROWS],
            balance_usd=look.balance.usd,
            faults=look.faults,
            active=_active(look),
            clock_offset_s=look.clock_offset_s,
            any_key=look.settings.any_key,
            partner=look.settings.partner,
            tokens_per_second=look.settings.tokens_per_second,
        )

    # Starting and stopping

    def start(self) -> None:
        self._tasks.start_unless_running("sandbox", self._turn, self._runner.start)

    def stop(self) -> None:
        self._tasks.start_unless_running("sandbox", self._turn, self._runner.stop)

    async def _turn(self, work: Callable[[], Awaitable[None]]) -> None:
        self._change(busy=True, done="", problem="")
        try:
            await work()
        except (OSError, ImportError) as error:
            self._change(problem=tr("The Sandbox could not do that: {error}.", error=error))
        finally:
            self._change(busy=False)
        self.refresh()

    # Controls

    def fill_up(self) -> None:
        """Set the play money back to what it was at the start."""

        async def work(controls: SandboxControls) -> str:
            await controls.set_balance(PLAY_MONEY_USD)
            return tr("Play money was reset.")

        self._do(work)

    def give(self, address: str, usd: Decimal) -> None:
        """Send play dollars from the faucet to a wallet."""

        async def work(controls: SandboxControls) -> str:
            holds = await controls.give(address.strip(), usd)
            return tr("Sent. The wallet now has {holds} play USDC.", holds=format_number(holds))

        self._do(work)

    def set_fault(self, name: str, values: Mapping[str, Any]) -> None:
        """Switch a fault on, or on again with other values."""

        async def work(controls: SandboxControls) -> str:
            await controls.set_fault(name, values)
            return ""

        self._do(work)

    def clear_fault(self, name: str) -> None:
        async def work(controls: SandboxControls) -> str:
            await controls.clear_fault(name)
            return ""

        self._do(work)

    def turn_clock(self, by_s: float) -> None:
        """Turn its clock forwards; 0 puts it right."""
        offset_s = self.state.clock_offset_s + by_s if by_s else 0.0

        async def work(controls: SandboxControls) -> str:
            await controls.set_clock(offset_s)
            return ""

        self._do(work)

    def clear_all(self) -> None:
        """Switch every test control off."""

        async def work(controls: SandboxControls) -> str:
            await controls.clear_all()
            return tr("All test controls are off.")

        self._do(work)

    def reset(self) -> None:
        async def work(controls: SandboxControls) -> str:
            await controls.reset()
            return tr("The Sandbox was reset.")

        self._do(work)

    def behave(self, **changes: object) -> None:
        """Change `any_key`, `partner` or `tokens_per_second`."""

        async def work(controls: SandboxControls) -> str:
            await controls.set_behavior(**changes)
            return ""

        self._do(work)

    def _do(self, work: Work) -> None:
        self._tasks.start_unless_running("control sandbox", self._control, work)

    async def _control(self, work: Work) -> None:
        self._change(busy=True, done="", problem="")
        try:
            controls = await self._open()
            done = await work(controls)
            await self._take(controls, self._seen)
        except ServiceError as error:
            self._change(problem=_words(error))
        else:
            self._change(done=done)
        finally:
            self._change(busy=False)
        self._follow()

    # One call

    def open_request(self, row: RequestRow) -> None:
        """Read what was in a call."""
        self._change(opened=OpenRequest(row))
        self._tasks.replace("sandbox request", self._read, row)

    def close_request(self) -> None:
        self._tasks.cancel("sandbox request")
        self._change(opened=None)

    async def _read(self, row: RequestRow) -> None:
        try:
            details = await (await self._open()).details(row.request_id)
            asked, answered = await asyncio.to_thread(_texts, row, details)
        except ServiceError as error:
            self._change(opened=OpenRequest(row, problem=_words(error)))
        else:
            self._change(opened=OpenRequest(row, asked, answered))

    # The connection

    async def _open(self) -> SandboxControls:
        """Return the client for the Sandbox that runs now. Raises `ServiceError`."""
        running = self._runner.address()
        if running is None:
            raise ConnectionFailed(tr("The Sandbox is not running."), surely_not_sent=True)
        if self._controls is None:
            self._controls = SandboxControls(*running)
        return self._controls

    def _forget(self) -> None:
        """The Sandbox ended or another one began: nothing that was known is true any more."""
        self._tasks.cancel("watch sandbox")
        before, self._controls, self._seen = self._controls, None, None
        if before is not None:
            self._tasks.start_unless_running(f"close sandbox {id(before)}", before.aclose)

    async def aclose(self) -> None:
        """Stop following for good and close the connection."""
        self._closed = True
        self._tasks.cancel("watch sandbox")
        before, self._controls = self._controls, None
        if before is not None:
            await before.aclose()

    def _change(self, **changes: Any) -> None:
        state = replace(self.state, **changes)
        if state != self.state:
            self.state = state
            self.state_changed.emit(state)


async def _engines(controls: SandboxControls) -> tuple[EngineRow, ...]:
    return tuple(
        EngineRow(one.name, one.title, one.does, one.version, one.licence, one.state, one.install, one.remedy)
        for one in await controls.engines()
    )


def _row(line: LogLine) -> RequestRow:
    return RequestRow(
        line.number,
        line.request_id,
        line.at,
        line.method,
        line.path.removeprefix("/api/v1"),
        line.status,
        line.duration_s,
        line.model,
        line.cost_usd,
    )


def _active(look: SandboxStatus) -> tuple[ActiveControl, ...]:
    faults = tuple(ActiveControl(name, words_of(name, values)) for name, values in look.faults.items())
    clock = ahead(look.clock_offset_s)
    return (*faults, *((ActiveControl("clock", tr("Clock: {clock}", clock=clock)),) if clock else ()))


def _words(error: Any) -> str:
    """The service layer's own sentence, and which field it is about where that is known."""
    fields = "; ".join(f"{one.path}: {one.message}" for one in error.fields)
    return tr("The Sandbox could not do that. {fields}", fields=fields or error.message)


def _texts(row: RequestRow, details: CallDetails) -> tuple[str, str]:
    first = f"{row.method} {row.path}"
    status = f"{row.status}" if row.status else tr("closed without a response")
    return _side(first, details.request), _side(status, details.response)


def _side(first: str, side: Side) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in side.headers)
    return "\n".join(part for part in (first, headers, "", _body(side)) if part or part == "").strip()


def _body(side: Side) -> str:
    if side.kind == "media":
        return tr("[{size_bytes} bytes of media, not saved]", size_bytes=format_number(side.size_bytes))
    try:
        text = json.dumps(json.loads(side.text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):  # no JSON, or its beginning only
        text = side.text
    kept = len(side.text.encode("utf-8", "replace"))
    cut = side.kind == "text" and side.size_bytes > kept
    return (
        tr(
            "{text}\n\n[the first {kept} of {size_bytes} bytes]",
            text=text,
            kept=format_number(kept),
            size_bytes=format_number(side.size_bytes),
        )
        if cut
        else text
    )

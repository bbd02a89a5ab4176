"""One run of a request, read back from disk: the answer beside its calls, and the other runs of the same request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.problems import Problem
from app.service.errors import BadResponse
from app.service.http.json_large import read_large_json
from app.storage.errors import NoHistory
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.call_words import facts_of, run_title, title_of
from app.ui.crypto_rpc.session.decoding import CALLS, Interfaces, decoded_outcomes
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.crypto_rpc.session.outcomes import DECODED, CallOutcome, items_of, outcomes_of
from app.ui.crypto_rpc.session.sending import headers_of
from app.ui.crypto_rpc.state import RunView, SentTransaction

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.rpc_calls import RpcCall, RpcCalls
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces


class RunPresenter(QObject):
    """The run on screen. `interfaces` holds the contracts whose errors are known by name; `calls` is None until the
    database is open."""

    changed = Signal(object)  # RunView | None

    def __init__(self, tasks: TaskScope, interfaces: ContractInterfaces) -> None:
        super().__init__()
        self._tasks = tasks
        self._interfaces = interfaces
        self.sent_of: Callable[[RpcCall], tuple[SentTransaction, ...]] = lambda _call: ()
        self.calls: RpcCalls | None = None
        self.run: RunView | None = None

    def open(self, call_id: str) -> None:
        """Show another run of the same request; the editor stays as it is."""
        self._tasks.replace("rpc open", self.show, call_id)

    async def show(self, call_id: str, problem: Problem | None = None) -> None:
        """Show one run, and what went wrong when it was sent."""
        self.put(await self.read(call_id, problem))

    def put(self, run: RunView | None) -> None:
        """Show what somebody else put together, or nothing."""
        self.run = run
        self.changed.emit(run)

    async def read(self, call_id: str, problem: Problem | None = None) -> RunView:
        """Everything about one run. The body is read in a thread."""
        if self.calls is None:
            raise NoHistory
        call = await self.calls.one(call_id)
        runs = await self.calls.runs(call.account_id, call.digest)
        return await self.made(call, await self.calls.body(call_id), runs, problem)

    async def made(
        self, call: RpcCall, body: bytes | None, runs: Sequence[RpcCall], problem: Problem | None = None
    ) -> RunView:
        """Everything about a run that need not be on the disk, of all `runs` of the same request."""
        items = await asyncio.to_thread(items_of, call.items)
        answered = body if call.state != "failed" else None  # a refusal is no answer of a node
        outcomes = await asyncio.to_thread(self._outcomes, call, answered) if answered is not None else ()
        await self._interfaces.tokens.learn(call.network, items, outcomes, self._interfaces.interfaces())
        interfaces = self._interfaces.interfaces(call.network)
        first = next((run for run in runs if run.state == "answered" and not run.replayed), None)
        return RunView(
            call.id,
            title_of(call, interfaces),
            network_title(call.network),
            call.state,
            call.replayed,
            _replay_note(call, first),
            facts_of(call, first),
            call.request_id,
            outcomes,
            items,
            headers_of(call),
            body or b"",
            body is not None or call.state != "answered",
            tuple((run.id, run_title(place, run)) for place, run in enumerate(runs, start=1)),
            problem,
            "" if problem is not None else call.note,
            tuple((str(item), str(digest)) for item, digest in call.transactions.items()),
            self.sent_of(call),
            await asyncio.to_thread(_decoded, items, outcomes, interfaces),
            any(each.method in CALLS and not each.is_error for each in outcomes)
            and await asyncio.to_thread(_says_more, items, outcomes, interfaces),
            call.network,
            next((run.id for run in runs if run.job_id and run.job_id == call.job_id), call.id),
        )

    def _outcomes(self, call: RpcCall, body: bytes) -> tuple[CallOutcome, ...]:
        try:
            return outcomes_of(call.network, items_of(call.items), read_large_json(body))
        except BadResponse:
            return ()


def _says_more(
    items: tuple[Mapping[str, object], ...], outcomes: tuple[CallOutcome, ...], interfaces: Interfaces
) -> bool:
    """Whether a result of a contract's call can be read with the types that are known."""
    results = [each for each in outcomes if each.method in CALLS and not each.is_error]
    return any(isinstance(read.value, Mapping) for read in decoded_outcomes(items, results, interfaces))


def _decoded(
    items: tuple[Mapping[str, object], ...], outcomes: tuple[CallOutcome, ...], interfaces: Interfaces
) -> tuple[tuple[int, str], ...]:
    """Why calls were refused, where their bytes say so."""
    refused = [outcome for outcome in outcomes if outcome.is_error]
    found = []
    for outcome in decoded_outcomes(items, refused, interfaces) if refused else ():
        words = outcome.value.get(DECODED) if isinstance(outcome.value, Mapping) else None
        if isinstance(words, str):
            found.append((outcome.id, words))
    return tuple(found)


def look_ups(run: RunView) -> list[CallRow]:
    """Calls that ask for the transactions of a run by their hashes."""
    return [
        CallRow(place, "eth_getTransactionByHash", [digest])
        for place, (_item, digest) in enumerate(run.transactions, start=1)
    ]


def _replay_note(call: RpcCall, first: RpcCall | None) -> str:
    if not call.replayed:
        return ""
    if first is None:
        return tr("Same key and body as before. The node was not called.")
    return tr("Same key and body as {at}. The node was not called.", at=time_format.time_of_day(first.at))

"""One run of a request, read back from disk: the answer beside its calls, and the other runs of the same request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.service.errors import BadAnswer
from app.service.json_pieces import read_json_in_pieces
from app.ui.crypto_rpc.networks import network_title
from app.ui.crypto_rpc.outcomes import CallOutcome, items_of, outcomes_of
from app.ui.crypto_rpc.presenter_sending import headers_of
from app.ui.crypto_rpc.presenter_words import facts_of, run_title, title_of
from app.ui.crypto_rpc.state import RunView
from app.ui.shared.problems import Problem
from app.wallet.abi import Interface

if TYPE_CHECKING:
    from app.storage.rpc_calls import RpcCall, RpcCalls

NO_INTERFACE = Interface()


class RunReader:
    """`interface` is the contract whose errors are known by name, if one was loaded."""

    def __init__(self, calls: RpcCalls) -> None:
        self._calls = calls
        self.interface: Interface = NO_INTERFACE

    async def read(self, call_id: str, problem: Problem | None) -> RunView:
        """Everything about one run. The body is parsed in a thread, in pieces."""
        call = await self._calls.one(call_id)
        body = await self._calls.body(call_id)
        runs = await self._calls.runs(call.account_id, call.digest)
        outcomes = await asyncio.to_thread(self._outcomes, call, body) if body is not None else ()
        first = next((run for run in runs if run.state == "answered" and not run.replayed), None)
        return RunView(
            call.id,
            title_of(call),
            network_title(call.network),
            call.state,
            call.replayed,
            _replay_note(call, first),
            facts_of(call, first),
            call.request_id,
            outcomes,
            headers_of(call),
            body or b"",
            body is not None or call.state != "answered",
            tuple((run.id, run_title(place, run)) for place, run in enumerate(runs, start=1)),
            problem,
            "" if problem is not None else call.note,
            tuple((str(item), str(digest)) for item, digest in call.transactions.items()),
            self._decoded(outcomes),
        )

    def _outcomes(self, call: RpcCall, body: bytes) -> tuple[CallOutcome, ...]:
        try:
            return outcomes_of(call.network, items_of(call.items), read_json_in_pieces(body))
        except BadAnswer:
            return ()

    def _decoded(self, outcomes: tuple[CallOutcome, ...]) -> tuple[tuple[int, str], ...]:
        """Why calls were refused, where their bytes say so."""
        found = []
        for outcome in outcomes:
            data = outcome.data
            if isinstance(data, dict):  # some nodes wrap it
                data = data.get("data")
            if outcome.is_error and isinstance(data, str) and data.startswith("0x") and len(data) % 2 == 0:
                try:
                    words = self.interface.decode_revert(bytes.fromhex(data[2:]))
                except ValueError:
                    words = None
                if words:
                    found.append((outcome.id, words))
        return tuple(found)


def _replay_note(call: RpcCall, first: RpcCall | None) -> str:
    if not call.replayed:
        return ""
    when = f" as {first.at.astimezone():%H:%M}" if first is not None else " as before"
    return f"Same key and body{when}. The node was not called."

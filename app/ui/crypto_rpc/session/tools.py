"""The Console's longer pieces of work: logs over many blocks, balances of many addresses, chain heads, repetition."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.number_format import count, credits_text
from app.formats import format_number
from app.service.crypto_rpc import MAX_BATCH_ITEMS
from app.service.http.json_large import JSON_LIST
from app.service.idempotency_keys import new_idempotency_key
from app.storage.errors import unavailable
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import CallRow, numbered
from app.ui.crypto_rpc.session.decoding import STANDARD_TEXT
from app.ui.crypto_rpc.session.job_plans import LogPlan, RepeatPlan, SheetPlan, WatchPlan, head_row
from app.ui.crypto_rpc.session.jobs import Job, OverBudget, StoppedJob
from app.ui.crypto_rpc.session.log_ranges import BlockRange, LogSearch, is_too_wide
from app.ui.crypto_rpc.session.networks import coin_of, network_title
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.sending import NotSent
from app.ui.crypto_rpc.state import RunView
from app.wallet.abi import decode, encode_call, read_interface
from app.wallet.abi_types import Entry
from app.wallet.errors import AbiRefused
from app.wallet.quantities import hex_quantity, node_quantity, scaled

if TYPE_CHECKING:
    from app.ui.crypto_rpc.session.job_plans import Plan
    from app.ui.crypto_rpc.session.jobs import JobRunner


@cache
def _token(name: str) -> Entry:
    """A function of every token (EIP-20)."""
    return read_interface(STANDARD_TEXT).function(name)


class Tools:
    """`folder`: where joined answers are kept, one JSON value a line."""

    def __init__(self, runner: JobRunner, folder: Path) -> None:
        self._runner = runner
        self._folder = folder

    def start(self, plan: Plan) -> bool:
        """Begin what was agreed on."""
        for kind, work in (
            (LogPlan, self._logs),
            (SheetPlan, self._sheet),
            (WatchPlan, self._watch),
            (RepeatPlan, self._repeat),
        ):
            if isinstance(plan, kind):
                return self._runner.start(plan, work)
        raise TypeError(f"no work for {type(plan).__name__}")

    # Logs

    async def _logs(self, job: Job) -> str:
        plan = job.plan
        assert isinstance(plan, LogPlan)
        last = plan.last if plan.last is not None else await self._newest(job, plan.network)
        if last < plan.first:
            return tr("The latest block is {last}. There is nothing to search yet.", last=format_number(last))
        left = plan.requests - job.view.requests
        search = LogSearch(BlockRange(plan.first, last), most_blocks=plan.most_blocks, most_calls=left)
        file = self._file(f"logs-{plan.network}-{plan.first}-{last}")
        logs: list[object] = []
        trouble = ""
        try:
            while not search.is_over and not trouble:
                trouble = await self._one_range(job, plan, search, logs, file)
        except StoppedJob:
            trouble = tr("Stopped.")
        except OverBudget:
            trouble = tr("The budget is used up.")
        except NotSent as error:
            trouble = str(error.problem)
        if not search.is_complete and not trouble:
            trouble = tr("The budget is used up.")
        found = tr_n(
            "{n} log in blocks {first} to {next_block}, saved in {name}.",
            "{n} logs in blocks {first} to {next_block}, saved in {name}.",
            len(logs),
            first=count(plan.first),
            next_block=count(search.next_block - 1),
            name=file.name,
        )
        words = f"{trouble} {found}" if trouble else f"{found} {tr('Search complete.')}"
        await self._show(
            job, "eth_getLogs", tr("Logs of {network_title}", network_title=network_title(plan.network)), logs, words
        )
        return words

    async def _one_range(self, job: Job, plan: LogPlan, search: LogSearch, logs: list[object], file: Path) -> str:
        """Ask one range; a sentence when the search cannot go on."""
        asked = search.next_range()
        blocks = {"fromBlock": hex_quantity(asked.first), "toBlock": hex_quantity(asked.last)}
        row = CallRow(1, "eth_getLogs", [{**plan.asked, **blocks}])
        try:
            outcomes, _ = await job.ask(plan.network, [row], key=new_idempotency_key(self._runner.now()))
        except (StoppedJob, OverBudget, NotSent):
            search.not_answered(asked)
            raise
        outcome = outcomes[0]
        if outcome.is_error:
            if is_too_wide(outcome.message):
                whole = search.refused(asked)
                return (
                    ""
                    if whole
                    else tr(
                        "Block {first} alone is too large for the node: {message}",
                        first=format_number(asked.first),
                        message=outcome.message,
                    )
                )
            search.not_answered(asked)
            return tr(
                "The node refused blocks {first} to {last}: {message}",
                first=format_number(asked.first),
                last=format_number(asked.last),
                message=outcome.message,
            )
        new = list(outcome.value) if isinstance(outcome.value, JSON_LIST) else []
        logs += new
        if new:
            await asyncio.to_thread(_append, file, new)
        job.show(note=tr_n("{n} log, up to block {last}", "{n} logs, up to block {last}", len(logs), last=asked.last))
        return ""

    async def _newest(self, job: Job, network: str) -> int:
        outcomes, _ = await job.ask(network, [CallRow(1, "eth_blockNumber", [])])
        number = None if outcomes[0].is_error else node_quantity(outcomes[0].value)
        return -1 if number is None else number

    # Balances

    async def _sheet(self, job: Job) -> str:
        plan = job.plan
        assert isinstance(plan, SheetPlan)
        rows = [
            CallRow(0, "eth_call", [{"to": token, "data": encode_call(_token(name), [])}, "latest"])
            for token in plan.tokens
            for name in ("decimals", "symbol")
        ]
        for owner in plan.addresses:
            rows.append(CallRow(0, "eth_getBalance", [owner, "latest"]))
            data = encode_call(_token("balanceOf"), [owner])
            rows += [CallRow(0, "eth_call", [{"to": token, "data": data}, "latest"]) for token in plan.tokens]
        answers: list[CallOutcome] = []
        for start in range(0, len(rows), MAX_BATCH_ITEMS):
            part = numbered(rows[start : start + MAX_BATCH_ITEMS])
            outcomes, _ = await job.ask(plan.network, part, batch=True)
            answers += outcomes
        table = _balances(plan, answers)
        words = tr_n(
            "{n} address read on {network_title}.",
            "{n} addresses read on {network_title}.",
            len(table),
            network_title=network_title(plan.network),
        )
        await self._show(
            job, "balances", tr("Balances on {network_title}", network_title=network_title(plan.network)), table, words
        )
        return words

    # Chain heads

    async def _watch(self, job: Job) -> str:
        plan = job.plan
        assert isinstance(plan, WatchPlan)
        seen: dict[str, int] = {}
        for turn in range(plan.rounds):
            table: list[object] = []
            for network in plan.networks:
                outcomes, _ = await job.ask(network, [head_row(network)])
                table.append(_head(network, outcomes[0], seen, self._runner.now().timestamp()))
            await self._show(
                job,
                tr("chain heads"),
                tr("Chain heads"),
                table,
                tr("Round {turn} of {rounds}.", turn=format_number(turn + 1), rounds=format_number(plan.rounds)),
            )
            if turn + 1 < plan.rounds:
                await job.pause(plan.pause_s)
        return tr_n("{n} round completed.", "{n} rounds completed.", plan.rounds)

    # The same again

    async def _repeat(self, job: Job) -> str:
        plan = job.plan
        assert isinstance(plan, RepeatPlan)
        for turn in range(plan.rounds):
            key = new_idempotency_key(self._runner.now())
            _, call_id = await job.ask(plan.network, plan.rows, key=key, batch=plan.batch)
            await self._runner.show_run(call_id)
            if turn + 1 < plan.rounds:
                await job.pause(plan.pause_s)
        return tr_n("Sent {n} time.", "Sent {n} times.", plan.rounds)

    def _file(self, stem: str) -> Path:
        return self._folder / f"{stem}-{secrets.token_hex(3)}.jsonl"

    async def _show(self, job: Job, method: str, title: str, value: list[object], note: str) -> None:
        body = await asyncio.to_thread(_bytes, value)
        outcome = CallOutcome(1, method, value, False, job.view.credits)
        facts = ((tr("Requests"), count(job.view.requests), ""), (tr("Charged"), credits_text(job.view.credits), ""))
        self._runner.show_result(
            RunView("", title, title, "answered", facts=facts, outcomes=(outcome,), body=body, note=note)
        )


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str).encode()


def _append(file: Path, values: Sequence[object]) -> None:
    """One JSON value a line, on the disk when this returns. Raises `StorageUnavailable`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(value, ensure_ascii=False, default=str) + "\n" for value in values)
            lines.flush()
            os.fsync(lines.fileno())
    except OSError as error:
        raise unavailable(error, file, tr("Saving the results")) from error


def _balances(plan: SheetPlan, answers: Sequence[CallOutcome]) -> list[object]:
    """One row an address. A token that gave no decimals is counted in its smallest unit."""
    told = iter(answers)
    names: list[str] = []
    digits: list[int] = []
    coin = coin_of(plan.network)
    for token in plan.tokens:
        decimals, symbol = _result(next(told), "decimals"), _result(next(told), "symbol")
        digits.append(decimals if isinstance(decimals, int) and 0 <= decimals <= 77 else 0)
        name = symbol if isinstance(symbol, str) and symbol.strip() else token
        names.append(f"{name} {token}" if name in (*names, "address", coin) else name)
    table = list[object]()
    for owner in plan.addresses:
        own = next(told)
        row: dict[str, object] = {"address": owner, coin: _amount(own, 18)}
        for name, places in zip(names, digits, strict=True):
            outcome = next(told)
            held = _result(outcome, "balanceOf")
            row[name] = scaled(held, places) if isinstance(held, int) else outcome.message or tr("no token")
        table.append(row)
    return table


def _amount(outcome: CallOutcome, places: int) -> str:
    if outcome.is_error or not isinstance(outcome.value, str):
        return outcome.message or tr("not stated")
    number = node_quantity(outcome.value)
    return scaled(number, places) if number is not None else tr("not stated")


def _result(outcome: CallOutcome, name: str) -> object:
    if outcome.is_error or not isinstance(outcome.value, str):
        return None
    try:
        return decode(_token(name).outputs, bytes.fromhex(outcome.value[2:]))[0][1]
    except (AbiRefused, ValueError, IndexError):
        return None


def _head(network: str, outcome: CallOutcome, seen: dict[str, int], now: float) -> dict[str, object]:
    """One row of the watch: the newest block, how old it is, and how many came since the last look."""
    value, at = outcome.value, None
    if isinstance(value, Mapping):
        at = node_quantity(value.get("timestamp"))
        value = value.get("number")
    number = node_quantity(value)
    if outcome.is_error or number is None:
        return {"network": network_title(network), "block": None, "trouble": outcome.message or tr("no block")}
    new = number - seen[network] if network in seen else None
    seen[network] = number
    row: dict[str, object] = {"network": network_title(network), "block": number, "new blocks": new}
    if at is not None:
        row["age in seconds"] = max(0, round(now - at))
    return row

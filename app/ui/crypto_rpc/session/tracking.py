"""What became of transactions that were sent: waiting for a block, in one, or reverted there and why.

The receipts are read right after the sending, at growing intervals (`LOOK_AFTER_S`); every look is a call like any
other, with its price in the review. After that, and after a restart, only a press looks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.core import time_format
from app.core.number_format import credits_text
from app.formats import format_number
from app.service.rpc_methods import estimate
from app.storage.errors import StorageError
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.decoding import bytes_of
from app.ui.crypto_rpc.session.networks import coin_of, network_title
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.sending import BY_HASH, CALL, LOOK_AFTER_S, RECEIPT, NotSent
from app.ui.crypto_rpc.state import RunView, SentTransaction
from app.wallet.quantities import hex_quantity, in_unit, node_quantity

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.rpc_calls import RpcCall
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces

ASKED_FIELDS = ("from", "to", "value", "input")
MAX_LISTED = 500
MAX_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Mined:
    """The receipt of a transaction: it is in a block, carried out or reverted."""

    block: int
    gas: int
    fee_wei: int | None
    succeeded: bool
    contract: str = ""

    @classmethod
    def read(cls, value: object) -> Mined | None:
        """The receipt in an answer of a node; None where it holds none."""
        if not isinstance(value, Mapping):
            return None
        block, gas = node_quantity(value.get("blockNumber")), node_quantity(value.get("gasUsed"))
        price, contract = node_quantity(value.get("effectiveGasPrice")), value.get("contractAddress")
        if block is None or gas is None:
            return None
        return cls(
            block,
            gas,
            None if price is None else gas * price,
            value.get("status") != "0x0",
            contract if isinstance(contract, str) else "",
        )


class TransactionTracker:
    """Looks for the receipts of one call's transactions, as long as its account is the one in use."""

    def __init__(self, presenter: CryptoRpcPresenter, interfaces: ContractInterfaces, tasks: TaskScope) -> None:
        self._presenter = presenter
        self._interfaces = interfaces
        self._tasks = tasks

    def watch(self, call: RpcCall) -> None:
        """Look for the receipts of what was sent just now."""
        self._tasks.start_unless_running(_task(call.id), self._watch, call.id)

    def check(self, call_id: str) -> None:
        """Look once, as the person asked for."""
        self._tasks.start_unless_running(_task(call_id), self._check, call_id)

    async def _watch(self, call_id: str) -> None:
        for wait_s in LOOK_AFTER_S:
            await asyncio.sleep(wait_s)
            if not await self._look(call_id):
                break
        await self._show(call_id, ended=True)

    async def _check(self, call_id: str) -> None:
        await self._look(call_id)
        await self._show(call_id, ended=True)

    async def _look(self, call_id: str) -> bool:
        """Ask for the receipts that are missing; False when there is nothing more to wait for."""
        presenter = self._presenter
        try:
            _, account, calls = presenter.service_account_calls()
            call = await calls.one(call_id)
            waiting = [(item, str(digest)) for item, digest in call.transactions.items() if is_waiting(call, item)]
            if not waiting or account.id != call.account_id:
                return False
            rows = [CallRow(at, RECEIPT, [digest]) for at, (_, digest) in enumerate(waiting, start=1)]
            _, outcomes = await self._send(call, rows)
            tracked = {str(item): dict(facts) for item, facts in call.tracked.items()}
            for (item, digest), outcome in zip(waiting, outcomes, strict=True):
                mined = None if outcome.is_error else Mined.read(outcome.value)
                if mined is not None:
                    reason = "" if mined.succeeded else await self._reason(call, digest, mined.block)
                    tracked[item] = {**tracked.get(item, {}), **_receipt_facts(mined, reason)}
            await calls.track(call_id, tracked)
            call = replace(call, tracked=tracked)
        except NotSent as error:
            presenter.notice.emit(str(error.problem))
            return False
        except StorageError as error:
            presenter.notice.emit(error.sentence)
            return False
        await self._show(call_id)
        return any(is_waiting(call, item) for item in call.transactions)

    async def _send(self, call: RpcCall, rows: Sequence[CallRow]) -> tuple[RpcCall, tuple[CallOutcome, ...]]:
        return await self._presenter.jobs.send(
            call.network, rows, key="", batch=len(rows) > 1, job_id=f"track:{call.id}"
        )

    async def _reason(self, call: RpcCall, digest: str, block: int) -> str:
        """Why a transaction was reverted: the same call, run again on the block before. "" where nothing says it."""
        _, (sent,) = await self._send(call, (CallRow(1, BY_HASH, [digest]),))
        if sent.is_error or not isinstance(sent.value, Mapping):
            return ""
        asked = {name: sent.value[name] for name in ASKED_FIELDS if isinstance(sent.value.get(name), str)}
        again = CallRow(1, CALL, [asked, hex_quantity(max(0, block - 1))])
        _, (refused,) = await self._send(call, (again,))
        if not refused.is_error:
            return ""
        data = refused.data.get("data") if isinstance(refused.data, Mapping) else refused.data
        raw = bytes_of(data)
        words = self._interfaces.interfaces().revert(asked.get("to"), raw) if raw else None
        return (words or refused.message)[:MAX_REASON_CHARS]

    async def _show(self, call_id: str, *, ended: bool = False) -> None:
        """Show the call as it is now, where it is on screen."""
        presenter = self._presenter
        calls = presenter.calls
        call = await calls.one(call_id) if calls is not None else None
        run = presenter.run
        if run is not None and call is not None and run.id == call_id:
            sent = tuple(replace(each, watched=each.watched and not ended) for each in self.of(call))
            presenter.runs.put(replace(run, sent=sent))
        presenter.sent.soon()

    def of(self, call: RpcCall) -> tuple[SentTransaction, ...]:
        """The transactions of a call as they are shown."""
        if call.state == "failed":
            return ()
        watched = self._tasks.running(_task(call.id))
        price = estimate(call.network, (RECEIPT,) * max(1, len(call.transactions))).credits
        return tuple(
            replace(_sent(call, str(item), str(digest)), watched=watched, check_price=credits_text(price))
            for item, digest in call.transactions.items()
        )

    async def show_all(self) -> None:
        """Show every transaction that was sent as one table, the newest first."""
        _, _, calls = self._presenter.service_account_calls()
        found = await calls.with_transactions(MAX_LISTED)
        rows = [_listed(call, str(item), str(digest)) for call in found for item, digest in call.transactions.items()]
        title = tr("My transactions")
        outcome = CallOutcome(1, "transactions", rows, False, None)
        self._presenter.runs.put(
            RunView(
                "",
                title,
                title,
                "answered",
                outcomes=(outcome,),
                note="" if rows else tr("You have not sent a transaction yet."),
            )
        )


def _task(call_id: str) -> str:
    return f"rpc-track:{call_id}"


def _facts(call: RpcCall, item: str) -> Mapping[str, object]:
    facts = call.tracked.get(item)
    return facts if isinstance(facts, Mapping) else {}


def is_waiting(call: RpcCall, item: str) -> bool:
    """Whether no receipt of a transaction is known yet."""
    return "block" not in _facts(call, item)


def _receipt_facts(mined: Mined, reason: str) -> dict[str, object]:
    return {
        "block": mined.block,
        "gas": mined.gas,
        "fee": None if mined.fee_wei is None else str(mined.fee_wei),
        "ok": mined.succeeded,
        "reason": reason,
        "contract": mined.contract,
    }


def outcome_words(call: RpcCall) -> tuple[str, str]:
    """What became of the transactions of a call, as its row says it, and the tone; two empty texts for none."""
    if not call.transactions or call.state != "answered" or call.errors:
        return "", ""
    known = [_facts(call, str(item)) for item in call.transactions]
    reverted = sum(facts.get("ok") is False for facts in known)
    if reverted:
        return tr_n("Reverted", "{n} reverted", reverted), "bad"
    if all("block" in facts for facts in known):
        return tr("Mined"), "ok"
    return tr("Waiting"), ""


def _sent(call: RpcCall, item: str, digest: str) -> SentTransaction:
    facts, coin = _facts(call, item), coin_of(call.network)
    block, gas = facts.get("block"), facts.get("gas")
    if not isinstance(block, int) or not isinstance(gas, int):
        answered = call.state == "answered" and not call.errors
        return SentTransaction(digest, "waiting" if answered else "unknown")
    fee = node_quantity(int(str(facts["fee"]))) if str(facts.get("fee", "")).isdecimal() else None
    parts = [tr("{gas} gas", gas=format_number(gas))]
    if fee is not None:
        parts.append(tr("fee {fee} {coin}", fee=in_unit(fee), coin=coin))
    return SentTransaction(
        digest,
        "mined" if facts.get("ok") else "reverted",
        format_number(block),
        ", ".join(parts),
        str(facts.get("reason") or ""),
        str(facts.get("contract") or ""),
    )


STATE_WORDS = {
    "waiting": tr("Waiting"),
    "mined": tr("Mined"),
    "reverted": tr("Reverted"),
    "unknown": tr("Unknown"),
}


def _listed(call: RpcCall, item: str, digest: str) -> dict[str, object]:
    """One row of the list of transactions."""
    facts, sent = _facts(call, item), _sent(call, item, digest)
    value, fee = str(facts.get("value", "")), str(facts.get("fee", ""))
    return {
        "time": time_format.moment(call.at),
        "network": network_title(call.network),
        "state": STATE_WORDS[sent.state],
        "to": facts.get("to") or None,
        "value": f"{in_unit(int(value))} {coin_of(call.network)}" if value.isdecimal() else None,
        "block": facts.get("block"),
        "fee": f"{in_unit(int(fee))} {coin_of(call.network)}" if fee.isdecimal() else None,
        "reason": sent.reason or None,
        "hash": digest,
    }

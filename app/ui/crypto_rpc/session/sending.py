"""Sends a request: the checks before, the record on disk, and its outcome.

A request is on disk with its key and the digest of its bytes before it leaves. Sending the same request again under the
same key is a repetition that the service recognizes for 24 hours; nothing is ever sent again by itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from app.core import money, number_format
from app.core.number_format import credits_text
from app.core.paid_call import end_of_call
from app.core.problems import ActionSpec, Problem, describe
from app.core.tasks import to_the_end
from app.formats import format_number
from app.service.crypto_rpc import RpcOperation, RpcResponse
from app.service.documented_limits import LIMITS, DocumentedLimits
from app.service.errors import BadRequest, LimitExceeded, ServiceError
from app.service.rpc_methods import STATE_CHANGING, Estimate, estimate
from app.storage.errors import StorageError, UnsavedResult
from app.storage.rpc_calls import Refusal, RpcCall
from app.translation import tr, tr_n
from app.ui.crypto_rpc.session.batch import CallRow, text_of
from app.ui.crypto_rpc.session.networks import coin_of, network_title
from app.ui.crypto_rpc.state import SendQuestion
from app.wallet.errors import WalletError
from app.wallet.quantities import in_unit
from app.wallet.transactions import SignedTransaction, Transaction, read_transaction

if TYPE_CHECKING:
    from app.credentials.accounts import Account
    from app.service.chat_types import RetryWait
    from app.service.service import Service
    from app.storage.rpc_calls import RpcCalls
    from app.ui.crypto_rpc.session.decoding import Interfaces

SEND_ANYWAY = "send-anyway"
SURELY_REFUSED = frozenset({"rate_limit", "held", "pace"})  # reasons to wait that leave no doubt: nothing was done
RAW_METHODS = frozenset({"eth_sendRawTransaction"})
RECEIPT, BY_HASH, CALL = "eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_call"
LOOK_AFTER_S = (1.0, 3.0, 5.0, 8.0, 13.0, 20.0, 30.0, 60.0)  # between the looks for a receipt
TOO_MANY = 429  # the one refusal that is waited for
NOT_KEPT = "signed transaction, not kept"


@dataclass(frozen=True, slots=True)
class SendResult:
    """How a request ended: the note on disk, and a problem when there is no answer.

    `refused`: an answer came, and the disk did not take it. The error carries it, and `call` is not as on the disk.
    """

    call: RpcCall
    problem: Problem | None = None
    refused: StorageError | None = None


class NotSent(Exception):
    """It did not leave, and nothing is on disk. `field` names the part of the request that was refused, "" for none."""

    def __init__(self, problem: Problem, field: str = "") -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.field = field


def refusal(error: LimitExceeded) -> Problem:
    return Problem(str(error), tr("Nothing was sent."), severity="warn", icon="warning")


def prepared(service: Service, network: str, rows: Sequence[CallRow], *, batch: bool, key: str) -> RpcOperation:
    """Freeze the request. Raises `NotSent` for what the proxy would refuse, every offender named."""
    items = [row.item for row in rows]
    try:
        return service.crypto_rpc.prepare(network, items, idempotency_key=key or None, batch=batch or len(items) > 1)
    except LimitExceeded as error:
        raise NotSent(refusal(error), error.field) from None


def raw_transactions(rows: Sequence[CallRow]) -> dict[int, str]:
    """The signed transactions in a request, by the id of their call."""
    return {
        row.id: row.params[0]
        for row in rows
        if row.method in RAW_METHODS
        and isinstance(row.params, Sequence)
        and row.params
        and isinstance(row.params[0], str)
    }


async def read_transactions(rows: Sequence[CallRow]) -> dict[int, SignedTransaction]:
    """Read them, in a thread. Raises `NotSent` for one that is none: it would be refused, and cost something."""
    found: dict[int, SignedTransaction] = {}
    for place, text in raw_transactions(rows).items():
        try:
            found[place] = await asyncio.to_thread(read_transaction, text)
        except WalletError as error:
            what = tr("Call {place} has no signed transaction", place=place)
            raise NotSent(Problem(what, error.sentence, severity="warn", icon="warning")) from None
    return found


def looks_price(network: str, transactions: int) -> Estimate:
    """The most that reading the receipts may cost: every look, and why one transaction was reverted."""
    return estimate(network, (RECEIPT,) * transactions * len(LOOK_AFTER_S) + (BY_HASH, CALL) * transactions)


def question_of(
    network: str,
    chain_id: int | None,
    transactions: Sequence[Transaction],
    *,
    interfaces: Interfaces | None = None,
    play: bool = False,
    more_warnings: Sequence[str] = (),
    network_of: Callable[[int], str | None] = lambda _chain_id: None,
) -> SendQuestion:
    """What a person reads before it is sent: every field in full, and what does not fit.

    One that is not signed yet has no hash. `interfaces`: of the network, to read what data asks of a contract.
    `play`: it is play money of the Sandbox. `network_of`: the known network with a chain's id.
    """
    facts: list[tuple[str, str]] = []
    warnings: list[str] = []
    coin = coin_of(network)
    for each in transactions:
        facts += [
            (tr("From"), each.sender),
            (tr("To"), each.to or tr("a new contract")),
            (tr("Value"), f"{in_unit(each.value)} {coin}"),
            (tr("Maximum cost"), tr("{in_unit} {coin}, fees included", in_unit=in_unit(each.most_wei), coin=coin)),
            (
                tr("Fee per gas"),
                tr(
                    "at most {in_unit} gwei, {gas} gas",
                    in_unit=in_unit(each.max_fee, "gwei"),
                    gas=format_number(each.gas),
                ),
            ),
            (tr("Nonce"), str(each.nonce)),
            (tr("Chain ID"), tr("none: valid on every chain") if each.chain_id is None else str(each.chain_id)),
            (tr("Data"), tr_n("{n} byte", "{n} bytes", len(each.data)) if each.data else tr("none")),
        ]
        call = interfaces.call_words(each.to, each.data) if interfaces is not None and each.data else ""
        if call:
            facts.append((tr("Contract call"), call))
        tokens = interfaces.moved(each.to, each.data)[1] if interfaces is not None and call else ""
        if tokens and interfaces is not None:
            vouched = interfaces.token(each.to).vouched
            named = tokens if vouched else tr("{amount}, as the contract names itself", amount=tokens)
            facts.append((tr("Tokens"), named))
        if isinstance(each, SignedTransaction):
            facts.append((tr("Hash"), each.hash))
        if each.chain_id is None:
            warnings.append(tr("This transaction names no chain. Anyone can send it on other chains too."))
        elif chain_id is not None and each.chain_id != chain_id:
            warnings.append(
                tr(
                    "It is signed for chain {chain_id}, but {network_title} is chain {chain_id2}. The network "
                    "will refuse it.",
                    chain_id=str(each.chain_id),
                    network_title=network_title(network),
                    chain_id2=str(chain_id),
                )
            )
        elif (other := network_of(each.chain_id)) not in (None, network):
            warnings.append(
                tr(
                    "It is signed for {other} (chain {chain_id}). Whoever sees it can send it there.",
                    other=network_title(str(other)),
                    chain_id=str(each.chain_id),
                )
            )
        if each.authorizations:
            warnings.append(tr("It lets an account run another program from now on (EIP-7702)."))
    facts.append((tr("The service logs"), tr("hash, network, request ID and your account, but not the signed bytes")))
    if play:
        facts.append((tr("Money"), tr("play money of the Sandbox")))
    price = looks_price(network, len(transactions))
    facts.append(
        (
            tr("Afterwards"),
            tr(
                "Rialto reads the receipt until it is in a block, for at most {price}",
                price=estimate_words(price.credits, price.low_usd, price.high_usd),
            ),
        )
    )
    many = len(transactions) != 1
    unsigned = any(not isinstance(each, SignedTransaction) for each in transactions)
    if unsigned:
        title = tr("Sign and send this transaction")
    else:
        title = tr("Send {count} transactions", count=len(transactions)) if many else tr("Send this transaction")
    return SendQuestion(
        tr("{title} on {network_title}?", title=title, network_title=network_title(network)),
        network_title(network),
        tuple(facts),
        (*warnings, *more_warnings),
        tr("Sign and send") if unsigned else tr("Send"),
    )


def stored_items(rows: Sequence[CallRow], batch: bool) -> str:
    """The request's text as it is kept: without what was signed (R-RPC-41)."""
    kept = [
        replace(row, params=[NOT_KEPT, *list(row.params)[1:]])
        if row.method in STATE_CHANGING and isinstance(row.params, Sequence) and row.params
        else row
        for row in rows
    ]
    return text_of(kept, batch=batch or len(kept) > 1)


def caps_of(service: Service, account: Account) -> DocumentedLimits:
    """The caps of an account. The calls per minute that the service stated win over the documented ones."""
    documented = LIMITS[account.limit_class]
    return replace(documented, crypto=service.client.limits.pace.told("crypto") or documented.crypto)


async def check_caps(
    calls: RpcCalls, service: Service, account: Account, credits: int, now: datetime, *, over_credits: bool = False
) -> None:
    """Raises `NotSent` when the caps, counted here, leave no room (R-RPC-44, R-RPC-45).

    The service does not enforce its daily credits for everybody: `over_credits` goes past them.
    """
    caps = caps_of(service, account)
    requests, _ = await calls.used_since(account.id, now - timedelta(minutes=1))
    if requests >= caps.crypto:
        sentence = tr(
            "{requests_a_minute} requests were sent within a minute, the most the service allows.",
            requests_a_minute=caps.crypto,
        )
        raise NotSent(Problem(sentence.rstrip("."), tr("Nothing was sent. Try again in a moment."), severity="warn"))
    _, used = await calls.used_since(account.id, now - timedelta(hours=24))
    if used + credits > caps.credits_a_day and not over_credits:
        left = max(0, caps.credits_a_day - used)
        what = tr(
            "This would exceed your {credits_a_day} credits per 24 hours",
            credits_a_day=format_number(caps.credits_a_day),
        )
        raise NotSent(
            Problem(
                what,
                tr("{left} are left. Nothing was sent. The service may refuse it.", left=format_number(left)),
                primary=ActionSpec(SEND_ANYWAY, tr("Send anyway")),
                severity="warn",
            )
        )


async def send(
    service: Service,
    account: Account,
    calls: RpcCalls,
    operation: RpcOperation,
    rows: Sequence[CallRow],
    transactions: dict[int, SignedTransaction],
    now: datetime,
    on_wait: Callable[[RetryWait], None] | None = None,
    job_id: str = "",
) -> SendResult:
    """Put the request on disk, send it once, and keep how it ended. Raises `StorageError` before anything was sent."""
    call = await calls.begin(
        account.id,
        operation.network,
        stored_items(rows, operation.batch),
        at=now,
        digest=operation.digest,
        batch=operation.batch,
        idempotency_key=operation.idempotency_key or "",
        estimate_credits=operation.estimate.credits,
        transactions={str(place): each.hash for place, each in transactions.items()},
        tracked={
            str(place): {"from": each.sender, "to": each.to, "value": str(each.value)}
            for place, each in transactions.items()
        },
        job_id=job_id,
    )
    waiting = _Waiting(on_wait)
    try:
        answer = await service.crypto_rpc.send(operation, on_wait=waiting.tell)
    except ServiceError as error:
        sent = await _ended(calls, call, error, changes_state=operation.changes_state)
        return replace(sent, problem=naming_the_call(sent.problem, error, rows))
    except asyncio.CancelledError:
        if waiting.is_refused_so_far and waiting.was_sent:
            words = tr("Stopped while waiting. The service had refused the request. Nothing was charged.")
            await to_the_end(calls.failed(call.id, words, status=TOO_MANY, attempts=waiting.attempts))
        elif waiting.is_refused_so_far:
            await to_the_end(calls.failed(call.id, tr("Stopped while waiting. Nothing was sent.")))
        else:
            await to_the_end(calls.unknown(call.id, tr("Stopped while sending.")))
        raise
    try:
        await to_the_end(_keep(calls, call, answer))
    except StorageError as error:
        error.unsaved = (UnsavedResult("answer.json", answer.body, partial(_keep, calls, call, answer)),)
        call = replace(
            call,
            state="answered",
            status=answer.info.status,
            credits=answer.credits,
            cost_usd=answer.cost_usd,
            request_id=answer.request_id,
            duration_s=answer.exchange.duration_s,
            headers=dict(answer.info.headers),
        )
        problem = Problem(tr("The response could not be saved"), error.sentence)
        if any(outcome.may_be_sent for outcome in answer.outcomes):
            problem = outcome_unknown_text(list(call.transactions.values()), (), answer.request_id)
        return SendResult(call, problem, error)
    if any(outcome.may_be_sent for outcome in answer.outcomes):
        lost = [
            transactions[row.id].hash
            for row, outcome in zip(rows, answer.outcomes, strict=True)
            if outcome.may_be_sent and row.id in transactions
        ]
        problem = outcome_unknown_text(lost, (), answer.request_id)
        await calls.unknown(
            call.id,
            str(problem),
            status=answer.info.status,
            request_id=answer.request_id,
            exchange_id=answer.exchange.id,
        )
        return SendResult(await calls.one(call.id), problem)
    return SendResult(await calls.one(call.id), other_hash(rows, transactions, answer))


class _Waiting:
    """What the waits of one request say about it: until when nothing of it is on its way, and nothing was before."""

    def __init__(self, on_wait: Callable[[RetryWait], None] | None) -> None:
        self._on_wait = on_wait
        self._until = 0.0  # by the loop's clock
        self._was_always_refused = True
        self.attempts = 0

    def tell(self, wait: RetryWait) -> None:
        self._was_always_refused &= wait.reason in SURELY_REFUSED
        self.attempts = wait.attempt
        self._until = asyncio.get_running_loop().time() + wait.wait_s
        if self._on_wait is not None:
            self._on_wait(wait)

    @property
    def was_sent(self) -> bool:
        return self.attempts > 0

    @property
    def is_refused_so_far(self) -> bool:
        """True while it waits, when every try before was turned away at the door."""
        return self._was_always_refused and asyncio.get_running_loop().time() < self._until


def other_hash(
    rows: Sequence[CallRow], transactions: dict[int, SignedTransaction], answer: RpcResponse
) -> Problem | None:
    """What to say when the service names another hash than the signed bytes have (R-RPC-40); None when all agree."""
    for row, outcome in zip(rows, answer.outcomes, strict=True):
        sent = transactions.get(row.id)
        if sent is None or outcome.error is not None or outcome.result == sent.hash:
            continue
        return Problem(
            tr("The service returned a different hash for this transaction"),
            tr("Its bytes have the hash {hash}. Look it up before you send anything again.", hash=sent.hash),
            primary=ActionSpec("look-up", tr("Look it up")),
            severity="warn",
            icon="warning",
            request_id=answer.request_id,
        )
    return None


async def _keep(calls: RpcCalls, call: RpcCall, answer: RpcResponse) -> None:
    await calls.answered(
        call.id,
        answer.body,
        status=answer.info.status,
        credits=answer.credits,
        cost_usd=answer.cost_usd,
        errors=sum(outcome.error is not None for outcome in answer.outcomes),
        replayed=answer.replayed,
        request_id=answer.request_id,
        exchange_id=answer.exchange.id,
        duration_s=answer.exchange.duration_s,
        headers=dict(answer.info.headers),
        attempts=answer.exchange.attempts,
    )


async def _ended(calls: RpcCalls, call: RpcCall, error: ServiceError, *, changes_state: bool) -> SendResult:
    """A refusal and what never arrived are failures; all else is not known, which matters where something changes."""
    known = Refusal(status=error.status, request_id=error.request_id)
    if error.exchange is not None:
        known |= Refusal(
            exchange_id=error.exchange.id,
            attempts=error.exchange.attempts,
            body=error.exchange.refused_body.encode() if error.status is not None else b"",
            headers=dict(error.info.headers) if error.info is not None else {},
        )
    problem = describe(error, subject=tr("request"))
    if problem.alternative is not None and problem.alternative.id == "choose-model":
        problem = problem._replace(alternative=None)  # a node has no models
    if end_of_call(error) == "failed":
        await calls.failed(call.id, str(problem), **known)
        return SendResult(await calls.one(call.id), problem)
    await calls.unknown(call.id, str(problem), **known)
    if changes_state:
        problem = outcome_unknown_text(list(call.transactions.values()), problem.details, problem.request_id)
    return SendResult(await calls.one(call.id), problem)


def naming_the_call(problem: Problem | None, error: ServiceError, rows: Sequence[CallRow]) -> Problem | None:
    """Let the buttons lead to the call that a refusal of the whole batch names, and offer to send the others."""
    if problem is None or len(rows) < 2 or not isinstance(error, BadRequest):
        return problem
    said = " ".join((error.message, *(f"{each.path} {each.message}" for each in error.fields)))
    named = [row for row in rows if row.method and re.search(rf"(?<!\w){re.escape(row.method)}(?!\w)", said)]
    if len(named) != 1:
        return problem
    others = len(rows) - 1
    return problem._replace(
        primary=ActionSpec(f"edit:{named[0].id}", tr("Edit call {number}", number=named[0].id)),
        alternative=ActionSpec(f"others:{named[0].id}", tr_n("Send the other", "Send the other {n}", others)),
    )


def outcome_unknown_text(hashes: Sequence[str], details: tuple[tuple[str, str], ...], request_id: str) -> Problem:
    """What is said of transactions that may have been sent: no answer came, or none that belongs to them."""
    return Problem(
        tr("It is not clear whether the transaction was sent"),
        tr(
            "Look up its hash with eth_getTransactionByHash. Sending it again with the same key is safe: the "
            "service recognizes it for 24 hours, and a blockchain accepts a transaction only once."
        ),
        primary=ActionSpec("look-up", tr("Look it up")),
        alternative=ActionSpec("again", tr("Send again")),
        details=(*((tr("Hash"), each) for each in hashes), *details),
        severity="warn",
        icon="warning",
        request_id=request_id,
    )


def waiting_problem(wait: RetryWait, now: datetime) -> Problem:
    """What is said while a request waits before it is sent again; the service's own words first (R-RPC-43)."""
    said = wait.message.strip().rstrip(".")
    if not said and not wait.attempt:
        said = tr("Not sent yet: a limit of the service is used up")
    return Problem(
        said or tr("The service has not accepted the request yet"),
        tr("Nothing was charged. Rialto sends it again with the same key when the wait is over. Stop cancels it."),
        severity="warn",
        icon="clock",
        countdown_until=now + timedelta(seconds=wait.wait_s),
    )


def estimate_words(credits: int, low_usd: Decimal, high_usd: Decimal) -> str:
    """`180 cr, $0.00011 to $0.00013`: two prices are documented, so it is a range (R-RPC-30)."""
    low, high, count = money.money(low_usd), money.money(high_usd), number_format.count(credits)
    if high == low:
        return f"{credits_text(credits)}, {low}"
    return tr("{count} cr, {low} to {high}", count=count, low=low, high=high)


def headers_of(call: RpcCall) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(value)) for name, value in call.headers.items())

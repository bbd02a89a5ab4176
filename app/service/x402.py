"""A wallet's money: what a top-up costs, paying it, the balance, what was spent.

The first call of a top-up is answered with status 402 and that is its success. The second carries a signed payment and
is sent once: what became of it is either known, or said to be unknown. Signing is nobody's business here.
Source: service specification, wallet (R-WAL-01..14, R-EP-08, R-EP-09); x402 versions 1 and 2.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import quote

from pydantic import Field

from app.service import amounts
from app.service.addresses import is_loopback, is_web_address
from app.service.amounts import charge
from app.service.calls import Call, JsonContent, is_outcome_unknown, limit
from app.service.client import OnWait, ServiceClient
from app.service.errors import BadResponse, OutcomeUnknown, PaymentRequired, RefusedCall, ServiceError
from app.service.http.bodies import KIB
from app.service.http.error_bodies import plain_text
from app.service.http.json_text import read_json
from app.service.http.time_limits import SETTLE_S
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, WireModel, read_model
from app.translation import tr

TOP_UP_PATH = "/x402/top-up"
RESOURCE = "x402"
MAX_TERMS_BYTES = 64 * KIB
MAX_PAYMENT_CHARS = 16 * KIB
MAX_PAGE = 100
NEWEST_BLOCK = "getLatestBlockhash"  # of Solana's JSON-RPC

_WALLET = re.compile(r"0x[a-fA-F0-9]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_MACHINE_WORD = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


@dataclass(frozen=True, slots=True)
class TopUpRequirements:
    """What the service takes for a top-up. `options` are its own entries, unchecked: the wallet decides about them.

    `version` is the payment protocol's, 1 or 2. `named_at` is the moment by the service's clock.
    """

    version: int
    options: tuple[Mapping[str, object], ...]
    named_at: datetime
    info: ResponseInfo


@dataclass(frozen=True, slots=True)
class PaymentReceipt:
    """What the chain's side said about a payment. Texts are a stranger's, made harmless."""

    success: bool | None
    network: str
    payer: str
    transaction: str
    reason: str  # why it failed, "" if it did not


@dataclass(frozen=True, slots=True)
class Settlement:
    """A top-up that was credited. Amounts in USD; None where the service did not say."""

    wallet: str
    credited_usd: Decimal | None
    balance_usd: Decimal | None
    payment_id: str
    receipt: PaymentReceipt | None
    info: ResponseInfo


class WalletBalance(WireModel):
    """`can_consume` is the service's own verdict; the floor is its business. Amounts in USD."""

    wallet: str = Field(default="", alias="walletAddress")
    balance_usd: Decimal | None = Field(default=None, alias="balanceUsd")
    can_consume: bool | None = Field(default=None, alias="canConsume")
    minimum_top_up_usd: Decimal | None = Field(default=None, alias="minimumTopUpUsd")
    suggested_top_up_usd: Decimal | None = Field(default=None, alias="suggestedTopUpUsd")
    diem: Decimal | None = Field(default=None, alias="diemBalanceUsd")


class WalletTransaction(WireModel):
    """One booking. `amount` in USD is negative for a charge; `kind` is TOP_UP, CHARGE, REFUND or a newer word."""

    id: str
    amount: Decimal = Decimal(0)
    balance_after: Decimal | None = Field(default=None, alias="balanceAfter")
    kind: str = Field(default="", alias="type")
    at: datetime | None = Field(default=None, alias="createdAt")
    request_id: str | None = Field(default=None, alias="requestId")
    model_id: str | None = Field(default=None, alias="modelId")


@dataclass(frozen=True, slots=True)
class TransactionPage:
    """Newest first. `broken` counts entries that could not be read."""

    transactions: tuple[WalletTransaction, ...]
    balance_usd: Decimal | None
    has_more: bool
    broken: int


class _PageFacts(WireModel):
    balance_usd: Decimal | None = Field(default=None, alias="currentBalance")
    has_more: bool | None = Field(default=None, alias="hasMore")


class X402Resource:
    """Balance and transactions need a client that signs in with the wallet; a top-up needs no credentials at all."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def top_up_requirements(self, *, on_wait: OnWait | None = None) -> TopUpRequirements:
        """Ask what a top-up takes. Sends no credentials (R-WAL-05). Raises `ServiceError`.

        `on_wait` is told before each wait for another try.
        """
        self._check_secure()
        call = Call(
            "POST",
            TOP_UP_PATH,
            CallKind.IDEMPOTENT,
            RESOURCE,
            authenticated=False,
            expected=(402,),
            follows_redirects=False,
            max_bytes=MAX_TERMS_BYTES,
        )
        async with self._client.fetch(call, on_wait=on_wait) as answer:
            return _requirements(answer.body, answer.info)

    async def settle(self, payment: str) -> Settlement:
        """Send one signed payment, a header value of the wallet's making. Never repeated from here.

        Raises `OutcomeUnknown` when it may have been carried out. Every other `ServiceError` is what the service says:
        unless it was surely not sent, anyone who has the payment can carry it out until its own end, so until then only
        the same `payment` may be sent again.
        """
        self._check_secure()
        limit(
            bool(_BASE64.fullmatch(payment)) and len(payment) <= MAX_PAYMENT_CHARS,
            "payment",
            "base64",
            tr("The signed payment does not fit into a header."),
        )
        call = Call(
            "POST",
            TOP_UP_PATH,
            CallKind.ONCE,
            RESOURCE,
            authenticated=False,
            secret_headers=((self._client.dialect.payment_header, payment),),
            follows_redirects=False,
            max_bytes=MAX_TERMS_BYTES,
            answer_s=SETTLE_S,
        )
        record = self._client.record(call)
        try:
            async with self._client.fetch(call, record=record) as answer:
                settlement = _settlement(answer.body, answer.info)
                if settlement.credited_usd is not None:
                    record.report(units={"paid_in_micros": int(settlement.credited_usd * 1_000_000)})
                return settlement
        except ServiceError as error:
            failure = _settle_failure(error)
        raise failure

    async def balance(self, wallet: str, *, background: bool = False) -> WalletBalance:
        """Return the balance of the wallet that signs in. Raises `Forbidden` for another one."""
        path = f"/x402/balance/{_wallet(wallet)}"
        limits = await self._client.key_limits()
        content = await limits.share(
            self._client.address_of(path),
            lambda: self._client.get(path, resource=RESOURCE, background=background),
            background=background,
        )
        balance = read_model(WalletBalance, _data(content))
        if balance.wallet and not _same_wallet(balance.wallet, wallet):
            raise BadResponse(tr("The service answered with another wallet’s balance."))
        return balance

    async def transactions(self, wallet: str, *, size: int = 50, offset: int = 0) -> TransactionPage:
        """Return one page of what was paid in and spent, newest first; `size` 1 to 100."""
        limit(
            1 <= size <= MAX_PAGE,
            "limit",
            f"1–{MAX_PAGE}",
            tr("One page has 1 to {max_page} transactions.", max_page=MAX_PAGE),
        )
        limit(offset >= 0, "offset", "0", tr("A page starts at 0 or later."))
        path = f"/x402/transactions/{_wallet(wallet)}"
        data = _data(await self._client.get(path, {"limit": size, "offset": offset}, resource=RESOURCE))
        rows = ListEnvelope.read(WalletTransaction, {"data": data.get("transactions")})
        pages = data.get("pagination")
        facts = read_model(_PageFacts, {**data, **(pages if isinstance(pages, Mapping) else {})})
        return TransactionPage(rows.data, facts.balance_usd, bool(facts.has_more), rows.broken)

    async def newest_block(self, node: str) -> Mapping[str, object]:
        """Query a Solana node for what a payment must name, as `newest_block_of` returns it. Sends no credentials.

        `node` is its address, by HTTPS or on this computer. Raises `ServiceError`.
        """
        limit(
            is_web_address(node) and (node.startswith("https://") or is_loopback(node)),
            "node",
            "https://",
            tr("The address of a Solana node begins with https://."),
        )
        call = Call(
            "POST",
            node,
            CallKind.IDEMPOTENT,
            RESOURCE,
            content=JsonContent({"jsonrpc": "2.0", "id": 1, "method": NEWEST_BLOCK, "params": []}),
            authenticated=False,
            follows_redirects=False,
            max_bytes=MAX_TERMS_BYTES,
            single=True,
        )
        async with self._client.fetch(call) as answer:
            content = answer.json()
        return newest_block_of(content.get("result") if isinstance(content, Mapping) else None)

    def _check_secure(self) -> None:
        base_url = self._client.base_url
        limit(
            base_url.startswith("https://") or is_loopback(base_url),
            "base_url",
            "https://",
            tr("A top-up needs https://. With http://, others on the network could change the recipient."),
        )


def newest_block_of(result: object) -> Mapping[str, object]:
    """Return `blockhash` and `lastValidBlockHeight` of a node's answer, unchecked. Raises `BadResponse`."""
    value = result.get("value") if isinstance(result, Mapping) else None
    if not isinstance(value, Mapping):
        raise BadResponse(tr("The answer names no block."))
    return value


def read_receipt(info: ResponseInfo | None) -> PaymentReceipt | None:
    """The receipt in an answer's header, also in that of a refusal. None when there is none that can be read."""
    content = _header_json(info.payment_response if info is not None else None)
    if content is None:
        return None
    success = content.get("success")
    return PaymentReceipt(
        success=success if isinstance(success, bool) else None,
        network=_text(content, "network", "networkId"),
        payer=_text(content, "payer"),
        transaction=_text(content, "transaction", "txHash"),
        reason=_text(content, "errorReason", "error"),
    )


def _requirements(body: bytes, info: ResponseInfo) -> TopUpRequirements:
    """Terms from the body, else from the header that newer services send beside it."""
    content = _json_object(body)
    if content is None or not isinstance(content.get("accepts"), list):
        content = _header_json(info.payment_required) or {}
    options = content.get("accepts")
    if not isinstance(options, list) or not options:
        raise _about(info, BadResponse(tr("The service offered no payment method.")))
    entries = _entries(options)
    version = content.get("x402Version")
    if version is None:
        version = 1 if any("maxAmountRequired" in each for each in entries) else 2
    if not isinstance(version, int) or isinstance(version, bool) or version not in (1, 2):
        raise _about(info, BadResponse(tr("The service uses an unknown version of the payment protocol.")))
    return TopUpRequirements(version, entries, info.date or info.received_at, info)


def _settlement(body: bytes, info: ResponseInfo) -> Settlement:
    receipt = read_receipt(info)
    content = _json_object(body)
    denied = (content or {}).get("success") is False or (receipt is not None and receipt.success is False)
    paid = (receipt is not None and receipt.success is True) or (content is not None and not denied)
    if denied or not paid:
        said = tr("contradicts itself") if denied else tr("is not a receipt")
        raise _about(info, OutcomeUnknown(tr("The service accepted the payment, but its answer {said}.", said=said)))
    data = (content or {}).get("data")
    facts = data if isinstance(data, Mapping) else {}
    return Settlement(
        wallet=_text(facts, "walletAddress"),
        credited_usd=charge(facts.get("amountCredited")),
        balance_usd=amounts.balance(facts.get("newBalance")),
        payment_id=_text(facts, "paymentId"),
        receipt=receipt,
        info=info,
    )


def _settle_failure(error: ServiceError) -> ServiceError:
    """What a payment's failure is called. Codes stand in `error` on this endpoint, with or without a sentence."""
    if isinstance(error, RefusedCall) and error.code is None and _MACHINE_WORD.fullmatch(error.message):
        error.code = error.message
    if isinstance(error, PaymentRequired) and error.info is not None and not error.options:
        content = _header_json(error.info.payment_required) or {}
        options = content.get("accepts")
        error.options = (
            tuple(each for each in options if isinstance(each, Mapping)) if isinstance(options, list) else ()
        )
    if isinstance(error, OutcomeUnknown) or not is_outcome_unknown(CallKind.ONCE, error):
        return error
    unknown = OutcomeUnknown(
        error.message,
        status=error.status,
        code=error.code,
        info=error.info,
        request_id=error.request_id,
        retry_after_s=error.retry_after_s,
    )
    unknown.exchange = error.exchange
    return unknown


def _entries(options: list[object]) -> tuple[Mapping[str, object], ...]:
    return tuple(each for each in options if isinstance(each, Mapping))


def _about(info: ResponseInfo, error: ServiceError) -> ServiceError:
    error.status, error.info, error.request_id = info.status, info, info.request_id
    return error


def _wallet(text: str) -> str:
    limit(bool(_WALLET.fullmatch(text)), "wallet", "address", tr("This is not a wallet address."))
    return quote(text, safe="")


def _same_wallet(one: str, other: str) -> bool:
    return one.lower() == other.lower() if one.startswith("0x") else one == other


def _data(content: object) -> Mapping[str, object]:
    inner = content.get("data") if isinstance(content, Mapping) else None
    data = inner if isinstance(inner, Mapping) else content
    if not isinstance(data, Mapping):
        raise BadResponse(tr("The service sent nothing about a wallet."))
    return data


def _json_object(body: bytes) -> Mapping[str, object] | None:
    with suppress(BadResponse):
        content = read_json(body)
        if isinstance(content, Mapping):
            return content
    return None


def _header_json(value: str | None) -> Mapping[str, object] | None:
    if not value:
        return None
    with suppress(ValueError):
        return _json_object(base64.b64decode(value.encode("ascii"), validate=True))
    return None


def _text(content: Mapping[str, object], *names: str) -> str:
    for name in names:
        value = content.get(name)
        if isinstance(value, str) and value:
            return plain_text(value, 200)
    return ""

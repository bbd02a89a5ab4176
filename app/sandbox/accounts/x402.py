"""`POST /x402/top-up`: terms without a payment header, credits with one.

Source: wire reference, "Top-up" (R-WAL-01 to 07, -09).
"""

from __future__ import annotations

import asyncio
import hashlib
from decimal import Decimal

from app.sandbox.accounts.wallet_account import admit
from app.sandbox.accounts.wallets import Wallets, wallets_of
from app.sandbox.accounts.x402_payment import HEADERS, read_payment
from app.sandbox.accounts.x402_settlement import Payable, SettlementFailed, SettlementReceipt
from app.sandbox.accounts.x402_solana import SolanaPayment, Transfer, transfers_of
from app.sandbox.accounts.x402_terms import TOP_UP_SKU, encoded, refused, requirements, requirements_v1, terms_of
from app.sandbox.http.call import JSON_TYPE, Call, dump
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.world import Charge

TOP_UPS_PER_MINUTE = 10  # by address of the network; here everybody has the same
REPLAYED = "This authorization was used for another payment; sign a new one"


async def top_up(call: Call) -> Response:
    admit(call, "x402_top_up", TOP_UPS_PER_MINUTE)
    take_fault = call.world.faults.take_fault
    sent = {call.request.headers[name] for name in HEADERS if name in call.request.headers}
    if not sent:
        raise requirements_v1(call) if take_fault("terms_v1", call.request.path) is not None else requirements(call)
    if len(sent) > 1:
        raise refused("INVALID_PAYMENT_FORMAT", "One request contained two different payments")
    terms = terms_of(call.world.settings.dialect)
    payment = read_payment(sent.pop(), terms)
    wallets = wallets_of(call.world)
    receipt = _receipt(call, wallets, payment)
    if receipt is None:
        payment.check_time(call.world.clock.now())
        await asyncio.to_thread(payment.check_signature)
        # Verifying took a moment in another thread, in which the same payment may have come a second time.
        receipt = _receipt(call, wallets, payment)
    if receipt is None:
        key = payment.key
        wallets.treasury.in_progress.add(key)  # before anything is awaited
        try:
            receipt = await _settle(call, wallets, payment)
        finally:
            wallets.treasury.in_progress.discard(key)
    headers = {"Content-Type": JSON_TYPE, "PAYMENT-RESPONSE": receipt.response}
    answer = Response(200, headers, receipt.answer)
    if payment.version == 1:
        answer.headers["X-PAYMENT-RESPONSE"] = receipt.response
    return answer


def _receipt(call: Call, wallets: Wallets, payment: Payable) -> SettlementReceipt | None:
    """Return what this payment got before. Raises `HttpError` when it is under way or not quite the same payment."""
    key = payment.key
    if key in wallets.treasury.in_progress:
        raise refused("PAYMENT_IN_PROGRESS", "This payment is being settled; send the same header again", 409)
    known = wallets.treasury.receipts.get(key)
    if known is None:
        return None
    if payment.digest != known.payment or _digest(call) != known.request_body:
        raise refused("X402_INVALID_PAYMENT", REPLAYED)
    return known


async def _settle(call: Call, wallets: Wallets, payment: Payable) -> SettlementReceipt:
    path, take_fault = call.request.path, call.world.faults.take_fault
    wallet = payment.wallet
    if await wallets.treasury.ledger(call, wallet.chain).balance(wallet.address) < payment.value:
        raise refused("PAYMENT_VERIFICATION_FAILED", "The sender has too little USDC; the faucet gives play money")
    if take_fault("payment_in_progress", path) is not None:
        raise refused("PAYMENT_IN_PROGRESS", "This payment is being settled; send the same header again", 409)
    if take_fault("settlement_failed", path) is not None:
        raise _failed(payment, "The transfer was reverted")
    timeout = take_fault("settlement_timeout", path)
    if timeout is None:
        return await _transfer(call, wallets, payment)
    if timeout.get("landed", True):
        await _transfer(call, wallets, payment)
    raise refused(
        "SETTLEMENT_TIMEOUT",
        "Settlement is taking too long. It may still go through. Check the balance before paying again.",
        504,
    )


async def _transfer(call: Call, wallets: Wallets, payment: Payable) -> SettlementReceipt:
    try:
        transaction = await wallets.treasury.ledger(call, payment.wallet.chain).transfer(payment)
    except SettlementFailed as failure:
        raise _failed(payment, str(failure)) from failure
    if isinstance(payment, SolanaPayment):
        settled = Transfer(transaction, payment.sender, payment.memo, call.world.clock.now())
        transfers_of(call.world)[transaction] = settled
    receipt = _credit(call, wallets, payment, transaction)
    wallets.treasury.receipts[payment.key] = receipt
    return receipt


def _credit(call: Call, wallets: Wallets, payment: Payable, transaction: str) -> SettlementReceipt:
    usd, wallet = payment.usd, payment.wallet
    caller = wallets.caller(wallet)
    now = call.world.clock.now()
    caller.ledger.charge(Charge(now, TOP_UP_SKU, usd, Decimal(-1), usd, call.request_id, ""))
    data: Json = {
        "walletAddress": wallet.address,
        "amountCredited": usd,
        "newBalance": caller.ledger.balance_usd,
        "paymentId": f"pay_{hashlib.sha256(transaction.encode()).hexdigest()[:24]}",
    }
    response: Json = {
        "success": True,
        "network": payment.network,
        "payer": wallet.address,
        "transaction": transaction,
    }
    return SettlementReceipt(payment.digest, _digest(call), dump({"success": True, "data": data}), encoded(response))


def _failed(payment: Payable, reason: str) -> HttpError:
    response: Json = {
        "success": False,
        "errorReason": "settlement_failed",
        "network": payment.network,
        "payer": payment.wallet.address,
        "transaction": "",
    }
    text = f"Nothing was transferred. {reason}."
    return refused("SETTLEMENT_FAILED", text, 402, {"PAYMENT-RESPONSE": encoded(response)})


def _digest(call: Call) -> bytes:
    return hashlib.sha256(call.request.body).digest()

"""A wallet's own view: balance and transactions; and its test controls: the faucet, and setting what it has.

Source: wire reference, `GET /x402/balance/{walletAddress}` and `GET /x402/transactions/{walletAddress}` (R-WAL-10).
"""

from __future__ import annotations

from decimal import Decimal

from app.sandbox.accounts.faucet import (
    FAUCET_ADDRESS,
    FAUCET_KEY,
    GIFT_ETHER,
    GIFT_USD,
    LARGEST_GIFT_ETHER,
    LARGEST_GIFT_USD,
)
from app.sandbox.accounts.wallet_address import Chain, Wallet, read_wallet
from app.sandbox.accounts.wallets import FLOOR_USD, WalletCaller, wallets_of
from app.sandbox.accounts.x402_settlement import SettlementFailed
from app.sandbox.accounts.x402_terms import (
    DECIMALS,
    EVM_NETWORK,
    MINIMUM_USD,
    SOLANA_MINT,
    SOLANA_NETWORK,
    SUGGESTED_USD,
    TOKEN_NAME,
    TOKEN_VERSION,
    TOP_UP_SKU,
    terms_of,
    units,
)
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.limits import Allowance
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.world import Charge, iso

BALANCES_PER_MINUTE = 30
TRANSACTIONS_PER_MINUTE = 20
ETHER_DECIMALS = 18


def admit(call: Call, name: str, per_minute: int) -> None:
    """Count this request against a window of the caller. Raises `HttpError` 429 when it is used up."""
    headroom = call.count(name, Allowance(per_minute))
    if headroom.exceeded:
        raise HttpError(429, headers={"Retry-After": str(headroom.resets_in_s)})


async def balance(call: Call) -> Response:
    wallet = _own_wallet(call)
    admit(call, "x402_balance", BALANCES_PER_MINUTE)
    caller = wallets_of(call.world).known(wallet)
    usd = caller.ledger.balance_usd if caller else Decimal(0)
    diem = caller.ledger.balance_diem if caller else Decimal(0)
    data: Json = {
        "walletAddress": wallet.address,
        "balanceUsd": usd,
        "canConsume": usd + diem >= FLOOR_USD,
        "minimumTopUpUsd": MINIMUM_USD,
        "suggestedTopUpUsd": SUGGESTED_USD,
    }
    if diem:
        data["diemBalanceUsd"] = diem
    return json_answer({"success": True, "data": data})


async def transactions(call: Call) -> Response:
    """Everything that moved the balance, newest first."""
    wallet = _own_wallet(call)
    admit(call, "x402_transactions", TRANSACTIONS_PER_MINUTE)
    check = Checker(flat_list=call.names.issues_in_errors)
    limit = check.digits(("limit",), call.value("limit"), 1, 100) or 50
    offset = check.digits(("offset",), call.value("offset")) or 0
    check.finish()
    caller = wallets_of(call.world).known(wallet)
    left = caller.ledger.balance_usd if caller else Decimal(0)
    lines: list[Json] = []
    charges = [charge for charge in caller.ledger.charges if charge.currency == "USD"] if caller else []
    for number, charge in reversed(list(enumerate(charges, 1))):
        lines.append(_line(number, charge, left))
        left -= charge.amount_usd
    data: Json = {
        "walletAddress": wallet.address,
        "currentBalance": caller.ledger.balance_usd if caller else Decimal(0),
        "transactions": lines[offset : offset + limit],
        "pagination": {"limit": limit, "offset": offset, "hasMore": len(lines) > offset + limit},
    }
    return json_answer({"success": True, "data": data})


async def faucet(call: Call) -> Response:
    """GET: the play money, and the wallet that has plenty. POST `{"address", "amount", "ether"}`: some for anybody.

    Either amount may be left out: 100 USD and 1 ether are given then. There is ether where there are chains.
    """
    treasury = wallets_of(call.world).treasury
    if call.request.method == "GET":
        ledger, token = treasury.ledger(call), _token(call, "evm")
        own = {"address": FAUCET_ADDRESS, "private_key": FAUCET_KEY}
        return json_answer({"token": token, "wallet": {**own, "usdc": _usd(await ledger.balance(FAUCET_ADDRESS))}})
    check = Checker()
    body = call.json_object()
    wallet = _wallet(check, body.get("address"))
    amount = check.amount(("amount",), body.get("amount"), DECIMALS)
    amount = GIFT_USD if amount is None else amount
    ether = check.amount(("ether",), body.get("ether"), ETHER_DECIMALS)
    ether = GIFT_ETHER if ether is None else ether
    if not 0 < amount <= LARGEST_GIFT_USD:
        check.complain(("amount",), f"The faucet gives up to {LARGEST_GIFT_USD} USD at once")
    if not 0 <= ether <= LARGEST_GIFT_ETHER:
        check.complain(("ether",), f"The faucet gives up to {LARGEST_GIFT_ETHER} ether at once")
    check.finish()
    assert wallet is not None
    ledger, token = treasury.ledger(call, wallet.chain), _token(call, wallet.chain)
    try:
        await ledger.give(wallet.address, units(amount), int(ether.scaleb(ETHER_DECIMALS)))
    except SettlementFailed as failure:
        raise HttpError(503, f"The faucet cannot give: {failure}") from failure
    wei = await ledger.wei(wallet.address)
    return json_answer(
        {
            "address": wallet.address,
            "amount": str(amount),
            "usdc": _usd(await ledger.balance(wallet.address)),
            "ether": None if wei is None else f"{Decimal(wei).scaleb(-ETHER_DECIMALS):f}",
            "token": token,
        }
    )


async def one_wallet(call: Call) -> Response:
    """What the Sandbox knows about one wallet. PUT `{"usd": "0.05"}` sets its credits, as for a key's caller."""
    wallet = read_wallet(call.path_values["address"])
    if wallet is None:
        raise HttpError(404, "This is not a wallet address")
    wallets = wallets_of(call.world)
    if call.request.method != "GET":
        check = Checker()
        usd = check.amount(("usd",), call.json_object().get("usd"), DECIMALS)
        check.finish()
        if usd is not None:
            wallets.caller(wallet).ledger.balance_usd = usd
    caller = wallets.known(wallet)
    usdc = await wallets.treasury.ledger(call, wallet.chain).balance(wallet.address)
    return json_answer(
        {
            "address": wallet.address,
            "signed_in": caller is not None,
            "usd": str(caller.ledger.balance_usd if caller else 0),
            "usdc": _usd(usdc),
            "in_flight": caller.in_flight if caller else 0,
        }
    )


def _own_wallet(call: Call) -> Wallet:
    """Return the wallet that the path names. Raises `HttpError` 400, or 403 for a wallet that is not the caller's.

    Whoever has the Sandbox's key may look at every wallet: all endpoints accept it (R-AUTH-01).
    """
    wallet = read_wallet(call.path_values["address"])
    if wallet is None:
        raise HttpError(400, "This is not a wallet address")
    if isinstance(call.caller, WalletCaller) and call.caller.address != wallet.address:
        raise HttpError(403, "You can view only the wallet that signed in")
    return wallet


def _line(number: int, charge: Charge, balance_after: Decimal) -> Json:
    kind = "CHARGE" if charge.amount_usd <= 0 else "TOP_UP" if charge.sku == TOP_UP_SKU else "REFUND"
    line: Json = {
        "id": f"tx_{number:06d}",
        "amount": charge.amount_usd,
        "balanceAfter": balance_after,
        "type": kind,
        "createdAt": iso(charge.at),
        "requestId": charge.request_id,
    }
    if charge.model:
        line["modelId"] = charge.model
    return line


def _wallet(check: Checker, value: object) -> Wallet | None:
    wallet = read_wallet(value)
    if value is None:
        check.complain(("address",), REQUIRED)
    elif wallet is None:
        check.complain(("address",), "This is not a wallet address")
    return wallet


def _token(call: Call, chain: Chain) -> Json:
    """The play money of one rail."""
    evm = {"network": EVM_NETWORK, "asset": terms_of(call.world.settings.dialect).token}
    where = evm if chain == "evm" else {"network": SOLANA_NETWORK, "asset": SOLANA_MINT}
    about = {"name": TOKEN_NAME, "version": TOKEN_VERSION, "decimals": DECIMALS, "worth": "nothing: play money"}
    return {**where, **about}


def _usd(base_units: int) -> str:
    return f"{Decimal(base_units).scaleb(-DECIMALS):f}"

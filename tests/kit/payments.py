"""Terms and payments as the tests of paying need them."""

from __future__ import annotations

import base64
import json
from decimal import Decimal

from app.wallet.networks import Token
from app.wallet.payment import (
    PreparedPayment,
    SignedPayment,
    prepare_payment,
    sign_payment,
)
from app.wallet.payment_terms import read_option
from tests.wallet.figures import (
    ADDRESS,
    PAID_AT,
    TERMS,
    evm_signer,
)

PLAY_MONEY = Token(
    network="eip155:31337",
    chain_id=31337,
    address="0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    symbol="PLAY",
    name="Play Coin",
    version="1",
    network_name="Sandbox",
    test_money=True,
)
NAMES = {"name": "USD Coin", "version": "2"}
EVERY_FIELD = ["scheme", "network", "amount", "maxAmountRequired", "asset", "payTo", "maxTimeoutSeconds", "extra"]


def terms(**changes: object) -> dict[str, object]:
    return {**TERMS, **changes}


def prepared(amount: str = "5", **changes: object) -> PreparedPayment:
    return prepare_payment(
        read_option(terms(**changes), 2), Decimal(amount), ADDRESS, now=PAID_AT, named_at=PAID_AT, nonce=b"\xab" * 32
    )


async def signed() -> SignedPayment:
    return await sign_payment(prepared(), evm_signer())


def content_of(value: str) -> dict[str, object]:
    content = json.loads(base64.b64decode(value, validate=True))
    assert isinstance(content, dict)
    return content


def packed(content: object) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()

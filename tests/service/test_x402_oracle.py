"""A whole top-up against x402's own server side: it names the terms, reads our header and verifies our signature.

Terms by x402, over HTTP into the service layer, through the wallet, back over HTTP, verified by x402's facilitator
with a chain that only knows which addresses hold contracts. Both versions of the protocol; nothing of it is ours but
what is tested.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import httpx
import pytest
from x402.http.utils import (
    decode_payment_signature_header,
    encode_payment_required_header,
    encode_payment_response_header,
)
from x402.mechanisms.evm.asset_cache import reset_asset_contract_cache
from x402.mechanisms.evm.eip712 import hash_eip3009_authorization
from x402.mechanisms.evm.exact.client import ExactEvmScheme as Payer
from x402.mechanisms.evm.exact.facilitator import ExactEvmScheme as Facilitator
from x402.mechanisms.evm.exact.v1.facilitator import ExactEvmSchemeV1 as FacilitatorV1
from x402.mechanisms.evm.types import ExactEIP3009Authorization, ExactEIP3009Payload
from x402.schemas import PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse
from x402.schemas.v1 import PaymentPayloadV1, PaymentRequiredV1, PaymentRequirementsV1

from app.service.dialect import DIALECTS
from app.service.errors import BadRequest
from app.service.x402 import Settlement
from app.wallet.payment import Form, SignedPayment, prepare_payment, sign_payment
from app.wallet.payment_terms import read_option, read_options
from tests.service.loopback import Watched
from tests.wallet.figures import ADDRESS, AUTHORIZATION, KEY, RECEIVER, TERMS, evm_signer

BASE_URL = "https://service.test/api/v1"
TOKEN = str(TERMS["asset"])
NEW = PaymentRequirements.model_validate(TERMS)
OLD = PaymentRequirementsV1(
    scheme="exact",
    network="base",
    max_amount_required="5000000",
    resource=f"{BASE_URL}/x402/top-up",
    description="Top up",
    mime_type="application/json",
    pay_to=RECEIVER,
    max_timeout_seconds=300,
    asset=TOKEN,
    extra={"name": "USD Coin", "version": "2"},
)


class Chain:
    """Knows where contracts are and lets every call succeed, so that only what was signed can be at fault."""

    def get_addresses(self) -> list[str]:
        return [RECEIVER]

    def get_code(self, address: str) -> bytes:
        return b"\x60" if address.lower() == TOKEN else b""

    def read_contract(self, *_: object) -> None:
        return None


@pytest.fixture(autouse=True)
def _no_cache() -> None:
    reset_asset_contract_cache()


def verdict(header: str) -> tuple[bool, str | None, str | None]:
    payload = decode_payment_signature_header(header)
    if isinstance(payload, PaymentPayloadV1):
        answer = FacilitatorV1(Chain()).verify(payload, OLD)
    else:
        assert isinstance(payload, PaymentPayload)
        answer = Facilitator(Chain()).verify(payload, NEW)
    return answer.is_valid, answer.payer, answer.invalid_reason


def shop(dialect: str, version: int) -> Callable[[httpx.Request], httpx.Response]:
    """Names terms, or settles what x402 finds to be a good payment."""

    def answer(request: httpx.Request) -> httpx.Response:
        header = request.headers.get(DIALECTS[dialect].payment_header)
        date = {"date": datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")}
        if header is None and version == 2:
            terms = encode_payment_required_header(PaymentRequired(accepts=[NEW]))
            return httpx.Response(402, json={}, headers={**date, "PAYMENT-REQUIRED": terms})
        if header is None:
            return httpx.Response(
                402, content=PaymentRequiredV1(accepts=[OLD]).model_dump_json(by_alias=True), headers=date
            )
        valid, payer, reason = verdict(header)
        if not valid:
            return httpx.Response(400, json={"error": "PAYMENT_VERIFICATION_FAILED", "message": reason})
        receipt = SettleResponse(success=True, payer=payer, transaction="0x" + "cd" * 32, network="eip155:8453")
        name = "PAYMENT-RESPONSE" if version == 2 else "X-PAYMENT-RESPONSE"
        return httpx.Response(
            200,
            json={"success": True, "data": {"walletAddress": payer, "amountCredited": 5, "newBalance": 5}},
            headers={**date, name: encode_payment_response_header(receipt)},
        )

    return answer


async def topped_up(watched: Watched, form: Form | None = None) -> tuple[SignedPayment, Settlement]:
    terms = await watched.service.x402.top_up_requirements()
    (option,), _ = read_options(terms.options, terms.version)
    now = datetime.now(UTC)
    prepared = prepare_payment(option, Decimal(5), ADDRESS, now=now, named_at=terms.named_at)
    payment = await sign_payment(prepared, evm_signer())
    return payment, await watched.service.x402.settle(payment.header_value(form or payment.usual_form))


@pytest.mark.parametrize("dialect", ["service", "venice"])
@pytest.mark.parametrize("version", [1, 2])
async def test_r_wal_06_r_wal_08_x402_takes_our_top_up_in_both_versions(dialect: str, version: int) -> None:
    async with Watched(BASE_URL, handler=shop(dialect, version), dialect=dialect) as watched:
        payment, settlement = await topped_up(watched)
    assert payment.usual_form == f"v{version}"
    assert settlement.receipt is not None
    assert (settlement.receipt.success, settlement.receipt.payer) == (True, ADDRESS)
    assert (settlement.wallet, settlement.credited_usd) == (ADDRESS, Decimal(5))


async def test_r_wal_06_our_header_is_the_one_that_x402_would_write() -> None:
    async with Watched(BASE_URL, handler=shop("service", 2)) as watched:
        payment, _ = await topped_up(watched)
    read = decode_payment_signature_header(payment.header_value("v2"))
    assert isinstance(read, PaymentPayload)
    assert read.accepted == NEW
    assert ExactEIP3009Payload.from_dict(read.payload).signature == payment.signature
    ours = json.loads(json.dumps(read.model_dump(by_alias=True, exclude_none=True)))
    assert ours["payload"]["authorization"] == dict(payment.prepared.authorization.wire())


def test_r_wal_06_x402_hashes_our_authorization_to_the_same_digest() -> None:
    wire = AUTHORIZATION.wire()
    theirs = ExactEIP3009Authorization(
        from_address=wire["from"],
        to=wire["to"],
        value=wire["value"],
        valid_after=wire["validAfter"],
        valid_before=wire["validBefore"],
        nonce=wire["nonce"],
    )
    assert hash_eip3009_authorization(theirs, 8453, TOKEN, "USD Coin", "2") == AUTHORIZATION.digest


async def test_r_wal_06_x402_itself_signs_the_same_payment_with_the_same_signature() -> None:
    from eth_account import Account

    inner = Payer(Account.from_key(KEY)).create_payment_payload(NEW)
    wire = inner["authorization"]
    ours = type(AUTHORIZATION)(
        token_name="USD Coin",
        token_version="2",
        chain_id=8453,
        token=AUTHORIZATION.token,
        sender=ADDRESS,
        receiver=RECEIVER,
        value=int(wire["value"]),
        valid_after=int(wire["validAfter"]),
        valid_before=int(wire["validBefore"]),
        nonce=bytes.fromhex(wire["nonce"][2:]),
    )
    assert await evm_signer().sign_authorization(ours) == inner["signature"]


async def test_the_oracle_refuses_what_was_tampered_with() -> None:
    """A verifier that takes everything would prove nothing."""
    now = datetime.now(UTC)
    prepared = prepare_payment(read_option(TERMS, 2), Decimal(5), ADDRESS, now=now, named_at=now)
    payment = await sign_payment(prepared, evm_signer())
    assert verdict(payment.header_value("v2"))[0]
    last = "1b" if payment.signature.endswith("1c") else "1c"
    assert not verdict(SignedPayment(prepared, payment.signature[:-2] + last).header_value("v2"))[0]
    more = prepare_payment(read_option(TERMS, 2), Decimal(6), ADDRESS, now=now, named_at=now)
    assert not verdict(SignedPayment(more, payment.signature).header_value("v2"))[0]
    old = prepare_payment(
        read_option(TERMS, 2), Decimal(5), ADDRESS, now=now - timedelta(hours=1), named_at=now - timedelta(hours=1)
    )
    assert not verdict((await sign_payment(old, evm_signer())).header_value("v2"))[0]


async def test_a_refusal_of_x402_reaches_the_person_with_its_code() -> None:
    async with Watched(BASE_URL, handler=shop("service", 2)) as watched:
        terms = await watched.service.x402.top_up_requirements()
        hour_ago = datetime.fromtimestamp(int(time.time()) - 3600, UTC)
        option = read_option(terms.options[0], 2)
        late = prepare_payment(option, Decimal(5), ADDRESS, now=hour_ago, named_at=hour_ago)
        with pytest.raises(BadRequest) as caught:
            await watched.service.x402.settle((await sign_payment(late, evm_signer())).header_value("v2"))
    assert caught.value.code == "PAYMENT_VERIFICATION_FAILED"

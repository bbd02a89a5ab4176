"""What a person sees of a payment before signing it, and what is found again in a header that was sent."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import PaymentRefused
from app.wallet.networks import USDC_ON_BASE
from app.wallet.payment_sheet import read_payment, sign_sheet
from app.wallet.typed_data import read_signed_words
from tests.kit.payments import EVERY_FIELD, packed, prepared, signed
from tests.wallet.figures import (
    ADDRESS,
    AUTHORIZATION,
    DOMAIN_SEPARATOR,
    PAYMENT_DIGEST,
    PAYMENT_SIGNATURE,
    RECEIVER,
    SOLANA_ADDRESS,
    STRUCT_HASH,
)


def test_the_sheet_shows_every_field_that_is_signed_in_full() -> None:
    shown = {field.name: (field.value, field.reading) for field in sign_sheet(prepared("12.5"))}
    assert shown["from"][0] == ADDRESS
    assert shown["to"][0] == RECEIVER
    assert shown["value"] == ("12500000", "12.500000 USDC")
    assert shown["validAfter"] == ("1767322445", "2026-01-02 02:54:05 UTC")
    assert shown["validBefore"] == ("1767323345", "2026-01-02 03:09:05 UTC")
    assert shown["nonce"][0] == "0x" + "ab" * 32
    assert (shown["name"][0], shown["version"][0]) == ("USD Coin", "2")
    assert shown["chainId"] == ("8453", "Base")
    assert shown["verifyingContract"] == (USDC_ON_BASE.address, "USDC on Base")
    assert shown["domain hash"][0] == "0x" + DOMAIN_SEPARATOR
    five = {field.name: field.value for field in sign_sheet(prepared())}
    assert (five["message hash"], five["signing hash"]) == ("0x" + STRUCT_HASH, "0x" + PAYMENT_DIGEST)


@pytest.mark.parametrize(
    "changes",
    [
        {"value": 6_000_000},
        {"receiver": "0x" + "33" * 20},
        {"chain_id": 1},
        {"token": "0x" + "33" * 20},
        {"token_name": "USDC"},
        {"token_version": "1"},
    ],
)
def test_a_sheet_is_not_shown_for_bytes_that_are_another_payment(changes: Mapping[str, object]) -> None:
    payment = prepared()
    forged = replace(payment, authorization=replace(payment.authorization, **changes))  # type: ignore[arg-type] # real names
    with pytest.raises(PaymentRefused) as caught:
        sign_sheet(forged)
    assert caught.value.code == "encoding"


@pytest.mark.parametrize(
    ("domain", "struct"),
    [
        (b"", AUTHORIZATION.struct_bytes),
        (AUTHORIZATION.domain_bytes, AUTHORIZATION.struct_bytes[:-1]),
        (bytes(160), AUTHORIZATION.struct_bytes),
        (AUTHORIZATION.domain_bytes, bytes(224)),
        (AUTHORIZATION.domain_bytes, AUTHORIZATION.struct_bytes[:32] + b"\x01" + AUTHORIZATION.struct_bytes[33:]),
    ],
)
def test_bytes_that_are_no_payment_are_not_read_as_one(domain: bytes, struct: bytes) -> None:
    with pytest.raises(PaymentRefused):
        read_signed_words(domain, struct, name="USD Coin", version="2")


# --- a payment found again


@pytest.mark.parametrize("form", ["v2", "flat", "v1"])
async def test_a_payment_is_found_again_in_its_header(form) -> None:
    found = read_payment((await signed()).header_value(form))
    assert (found.version, found.network) == (1 if form == "v1" else 2, "eip155:8453")
    assert (found.sender, found.receiver, found.value) == (ADDRESS, RECEIVER, 5_000_000)
    assert found.amount_usd() == Decimal(5)
    assert found.expires_at == datetime(2026, 1, 2, 3, 9, 5, tzinfo=UTC)
    assert (found.nonce, found.signature) == ("0x" + "ab" * 32, PAYMENT_SIGNATURE)


async def test_r_auth_10_a_signed_payment_shows_its_signature_to_nobody() -> None:
    payment = await signed()
    found = read_payment(payment.header_value("v2"))
    assert PAYMENT_SIGNATURE[2:] not in repr([payment, found, str(payment), f"{found}"])
    assert payment.header_value("v2") not in repr(payment)


def header(**changes: object) -> str:
    authorization = {
        **AUTHORIZATION.wire(),
        **{name: value for name, value in changes.items() if name in AUTHORIZATION.wire()},
    }
    payload = {"signature": changes.pop("signature", PAYMENT_SIGNATURE), "authorization": authorization}
    outer = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "payload": payload}
    return packed({**outer, **{name: value for name, value in changes.items() if name in outer}})


@pytest.mark.parametrize(
    "value",
    [
        "",
        "????",
        packed([]),
        packed({}),
        packed({"payload": {}}),
        header(x402Version=3),
        header(x402Version=True),
        header(network=None),
        header(payload=None),
        header(signature="0x"),
        header(signature=None),
        header(value="-1"),
        header(value="05"),
        header(value=5),
        header(value=str(2**256)),
        header(validBefore="9" * 20),
        header(nonce="0x" + "ab" * 31),
        header(to="0x" + "g" * 40),
        header(**{"from": SOLANA_ADDRESS}),
        base64.b64encode(base64.b64decode(header()).replace(b'"value"', b'"value": "1", "value"')).decode(),
        "A" * 20_000,
        "ü",
    ],
)  # fmt: skip
def test_what_is_no_payment_or_two_in_one_is_refused(value: str) -> None:
    with pytest.raises(PaymentRefused):
        read_payment(value)


scalars = st.none() | st.booleans() | st.integers() | st.decimals() | st.text(max_size=12)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=8), scalars, max_size=2)
entries = st.dictionaries(st.sampled_from(EVERY_FIELD) | st.text(max_size=6), values, max_size=8)


@given(st.text(max_size=200) | values.map(lambda value: base64.b64encode(repr(value).encode()).decode()))
def test_any_text_ends_in_a_payment_or_a_refusal(value: str) -> None:
    with pytest.raises(PaymentRefused):
        read_payment(value)

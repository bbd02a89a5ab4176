"""Payments: published figures, every check before a signature, forged terms, and what the sheet shows."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from decimal import Decimal

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import PaymentRefused, SigningFailed
from app.wallet.networks import SANDBOX_TOKENS
from app.wallet.payment import (
    PaymentLimits,
    accept_signature,
    prepare_payment,
    sign_payment,
    units_of,
    usd_of,
)
from app.wallet.payment_sheet import sign_sheet
from app.wallet.payment_terms import read_option
from app.wallet.signer import SECP256K1_ORDER, typed_data_message
from tests.kit.payments import content_of, prepared, signed, terms
from tests.wallet.figures import (
    ADDRESS,
    AUTHORIZATION,
    DOMAIN_SEPARATOR,
    KEY,
    OLD_TERMS,
    PAID_AT,
    PAYMENT_DIGEST,
    PAYMENT_SIGNATURE,
    STRUCT_HASH,
    TERMS,
    evm_signer,
)

# --- figures


def test_r_wal_06_the_three_hashes_are_the_published_ones() -> None:
    assert AUTHORIZATION.domain_separator.hex() == DOMAIN_SEPARATOR
    assert AUTHORIZATION.struct_hash.hex() == STRUCT_HASH
    assert AUTHORIZATION.digest.hex() == PAYMENT_DIGEST
    assert (len(AUTHORIZATION.domain_bytes), len(AUTHORIZATION.struct_bytes)) == (160, 224)


def test_r_wal_06_five_dollars_become_the_published_authorization() -> None:
    assert prepared().authorization == AUTHORIZATION


async def test_r_wal_06_the_header_is_the_published_one_in_both_forms() -> None:
    payment = await signed()
    assert payment.signature == PAYMENT_SIGNATURE
    payload = {"signature": PAYMENT_SIGNATURE, "authorization": dict(AUTHORIZATION.wire())}
    expected = {"x402Version": 2, "accepted": TERMS, "payload": payload}
    compact = json.dumps(expected, separators=(",", ":")).encode()
    assert payment.header_value("v2") == base64.b64encode(compact).decode()
    flat = {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "payload": payload}
    compact = json.dumps(flat, separators=(",", ":")).encode()
    assert payment.header_value("flat") == base64.b64encode(compact).decode()
    assert payment.usual_form == "v2"


async def test_every_form_carries_the_very_same_authorization() -> None:
    payment = await signed()
    payloads = [content_of(payment.header_value(form))["payload"] for form in ("v2", "flat", "v1")]
    assert payloads[0] == payloads[1] == payloads[2]


async def test_terms_of_the_first_version_are_paid_in_their_own_form() -> None:
    option = read_option(OLD_TERMS, 1)
    prepared_v1 = prepare_payment(option, Decimal(7), ADDRESS, now=PAID_AT, named_at=PAID_AT)
    payment = await sign_payment(prepared_v1, evm_signer())
    assert payment.usual_form == "v1"
    content = content_of(payment.header_value("v1"))
    assert (content["x402Version"], content["scheme"], content["network"]) == (1, "exact", "base")


async def test_an_amount_above_the_terms_stands_in_both_places() -> None:
    payment = await sign_payment(prepared("12.345678"), evm_signer())
    content = content_of(payment.header_value("v2"))
    accepted, payload = content["accepted"], content["payload"]
    assert isinstance(accepted, dict)
    assert isinstance(payload, dict)
    assert accepted == {**TERMS, "amount": "12345678"}
    assert payload["authorization"]["value"] == "12345678"


async def test_what_a_service_adds_to_its_terms_goes_back_unchanged() -> None:
    payment = await sign_payment(prepared(note="grüße", rate=Decimal("0.5"), nested={"a": [1, None]}), evm_signer())
    accepted = content_of(payment.header_value("v2"))["accepted"]
    assert accepted == {**TERMS, "note": "grüße", "rate": 0.5, "nested": {"a": [1, None]}}


def test_each_payment_has_a_nonce_of_its_own() -> None:
    option = read_option(TERMS, 2)
    nonces = {
        prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT).authorization.nonce
        for _ in range(50)
    }
    assert len(nonces) == 50
    assert {len(nonce) for nonce in nonces} == {32}


# --- amounts


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        ("4.999999", "too_small"),
        ("0", "too_small"),
        ("-5", "too_small"),
        ("10000.000001", "too_large"),
        ("1e30", "too_large"),
        ("5.0000001", "amount"),
        ("1e-41", "amount"),
        ("1e1000000", "amount"),
        ("NaN", "amount"),
        ("Infinity", "amount"),
        ("sNaN", "amount"),
    ],
)
def test_r_wal_04_amounts_outside_the_limits_are_never_signed(amount: str, code: str) -> None:
    with pytest.raises(PaymentRefused) as caught:
        prepared(amount)
    assert (caught.value.code, caught.value.field) == (code, "amount")


@pytest.mark.parametrize("amount", ["5", "5.000000", "5.00000000000", "10000", "1E+4", "9999.999999"])
def test_amounts_inside_the_limits_are_exact(amount: str) -> None:
    assert prepared(amount).authorization.value == int(Decimal(amount) * 10**6)


def test_a_cap_of_ones_own_and_the_services_smallest_amount_count() -> None:
    option = read_option(terms(amount="20000000"), 2)
    limits = PaymentLimits(own_cap=Decimal(50))
    for amount, code in (("19.999999", "below_terms"), ("50.000001", "own_cap")):
        with pytest.raises(PaymentRefused) as caught:
            prepare_payment(option, Decimal(amount), ADDRESS, now=PAID_AT, named_at=PAID_AT, limits=limits)
        assert caught.value.code == code
    prepare_payment(option, Decimal(20), ADDRESS, now=PAID_AT, named_at=PAID_AT, limits=limits)


@pytest.mark.parametrize(
    ("asked", "amount", "own_cap", "sentence"),
    [
        ("1000000000000", "9999", None, "The service accepts $1,000,000 or more."),
        ("20500000", "20", None, "The service accepts $20.50 or more."),
        ("5000000", "4.99", None, "The minimum top-up is $5."),
        ("5000000", "10000.01", None, "The maximum top-up is $10,000."),
        ("5000000", "50.01", "50.000000", "Your limit for top-ups is $50."),
    ],
)
def test_a_limit_of_a_top_up_is_told_as_people_write_money(
    asked: str, amount: str, own_cap: str | None, sentence: str
) -> None:
    limits = PaymentLimits(own_cap=Decimal(own_cap)) if own_cap else PaymentLimits()
    option = read_option(terms(amount=asked), 2)
    with pytest.raises(PaymentRefused) as caught:
        prepare_payment(option, Decimal(amount), ADDRESS, now=PAID_AT, named_at=PAID_AT, limits=limits)
    assert str(caught.value) == sentence


def test_terms_above_every_limit_cannot_be_paid() -> None:
    with pytest.raises(PaymentRefused):
        prepare_payment(
            read_option(terms(amount="10000000001"), 2), Decimal("10000.000001"), ADDRESS, now=PAID_AT, named_at=PAID_AT
        )


@pytest.mark.parametrize("amount", [5, 5.0, "5"])
def test_money_that_is_no_decimal_is_a_mistake_of_the_program(amount: object) -> None:
    with pytest.raises(TypeError):
        units_of(amount, 6)  # type: ignore[arg-type] # on purpose


@given(st.integers(0, 10**18))
def test_units_and_dollars_convert_without_loss(units: int) -> None:
    assert units_of(usd_of(units, 6), 6) == units


# --- times


@pytest.mark.parametrize(
    ("age_s", "fresh"), [(0, True), (60, True), (61, False), (3600, False), (-5, True), (-6, False)]
)
def test_terms_are_paid_in_the_minute_they_were_named(age_s: int, fresh: bool) -> None:
    option = read_option(TERMS, 2)
    named_at = PAID_AT - timedelta(seconds=age_s)
    if fresh:
        prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=named_at)
        return
    with pytest.raises(PaymentRefused) as caught:
        prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=named_at)
    assert caught.value.code == "stale"


@pytest.mark.parametrize(("skew_s", "paid"), [(0, True), (599, True), (-600, True), (601, False), (10**8, False)])
def test_a_service_with_a_clock_of_its_own_cannot_keep_a_payment_open(skew_s: int, paid: bool) -> None:
    option, skew = read_option(TERMS, 2), timedelta(seconds=skew_s)
    if paid:
        payment = prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT + skew, skew=skew)
        assert payment.authorization.valid_before == int(PAID_AT.timestamp()) + skew_s + 300
        return
    with pytest.raises(PaymentRefused) as caught:
        prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT + skew, skew=skew)
    assert caught.value.code == "clock"
    play = read_option(terms(asset=SANDBOX_TOKENS[0].address), 2, SANDBOX_TOKENS)
    prepare_payment(play, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT + skew, skew=skew)


@pytest.mark.parametrize("window", [30, 300, 3600])
def test_a_payment_is_open_from_ten_minutes_ago_and_for_at_most_five_minutes(window: int) -> None:
    authorization = prepared(maxTimeoutSeconds=window).authorization
    now = int(PAID_AT.timestamp())
    assert (authorization.valid_after, authorization.valid_before) == (now - 600, now + min(window, 300))


# --- signing elsewhere


async def test_a_signature_made_elsewhere_is_taken_in_each_spelling() -> None:
    short = PAYMENT_SIGNATURE[:-2] + "01"
    for text in (PAYMENT_SIGNATURE, f" {PAYMENT_SIGNATURE.upper().replace('0X', '0x')}\n", short):
        assert (await accept_signature(prepared(), text)).signature == PAYMENT_SIGNATURE


async def test_the_document_for_signing_elsewhere_leads_to_the_same_signature() -> None:
    document = json.loads(prepared().authorization.document())
    elsewhere = Account.sign_typed_data(KEY, full_message=document)
    payment = await accept_signature(prepared(), "0x" + bytes(elsewhere.signature).hex())
    assert payment == await signed()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "format"),
        (PAYMENT_SIGNATURE[2:], "format"),
        (PAYMENT_SIGNATURE[:-2], "format"),
        (PAYMENT_SIGNATURE + "00", "format"),
        (PAYMENT_SIGNATURE[:-2] + "1d", "format"),
        (PAYMENT_SIGNATURE[:-2] + "1b", "other_signer"),
        ("0x" + "11" * 32 + "22" * 32 + "1b", "signature"),
        ("0x" + "00" * 64 + "1b", "signature"),
    ],
)
async def test_a_signature_of_somebody_else_is_refused(text: str, code: str) -> None:
    with pytest.raises(SigningFailed) as caught:
        await accept_signature(prepared(), text)
    assert caught.value.code == code


async def test_a_signature_of_another_payment_is_refused() -> None:
    with pytest.raises(SigningFailed):
        await accept_signature(prepared("5.000001"), PAYMENT_SIGNATURE)


async def test_the_twin_of_a_signature_that_tokens_refuse_is_refused() -> None:
    s = SECP256K1_ORDER - int(PAYMENT_SIGNATURE[66:130], 16)
    twin = PAYMENT_SIGNATURE[:66] + f"{s:064x}" + "1b"
    assert Account.recover_message(typed_data_message(AUTHORIZATION), signature=bytes.fromhex(twin[2:])) == ADDRESS
    with pytest.raises(SigningFailed) as caught:
        await accept_signature(prepared(), twin)
    assert caught.value.code == "format"


@given(st.decimals(), st.decimals(min_value=0, max_value=20_000, places=6))
def test_any_amount_is_paid_exactly_or_refused(wild: Decimal, tame: Decimal) -> None:
    option = read_option(TERMS, 2)
    for amount in (wild, tame):
        try:
            payment = prepare_payment(option, amount, ADDRESS, now=PAID_AT, named_at=PAID_AT)
        except PaymentRefused:
            assert not (amount.is_finite() and 5 <= amount <= 10_000 and amount == round(amount, 6))
            continue
        assert usd_of(payment.authorization.value, 6) == amount
        assert 5 <= amount <= 10_000
        assert sign_sheet(payment)[2].value == str(payment.authorization.value)

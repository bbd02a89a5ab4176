"""Payments: published figures, every check before a signature, forged terms, and what the sheet shows."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import PaymentRefused, SigningFailed
from app.wallet.networks import KNOWN_TOKENS, SANDBOX_TOKENS, USDC_ON_BASE, Token
from app.wallet.payment import (
    PaymentLimits,
    PreparedPayment,
    SignedPayment,
    accept_signature,
    prepare_payment,
    sign_payment,
    units_of,
    usd_of,
)
from app.wallet.payment_sheet import read_payment, sign_sheet
from app.wallet.payment_terms import changed_terms, read_option, read_options
from app.wallet.signer import SECP256K1_ORDER, typed_data_message
from app.wallet.typed_data import read_signed_words
from tests.wallet.figures import (
    ADDRESS,
    AUTHORIZATION,
    DOMAIN_SEPARATOR,
    KEY,
    OLD_TERMS,
    PAID_AT,
    PAYMENT_DIGEST,
    PAYMENT_SIGNATURE,
    RECEIVER,
    SOLANA_ADDRESS,
    STRUCT_HASH,
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
def test_a_payment_is_open_from_ten_minutes_ago_for_as_long_as_the_service_says(window: int) -> None:
    authorization = prepared(maxTimeoutSeconds=window).authorization
    now = int(PAID_AT.timestamp())
    assert (authorization.valid_after, authorization.valid_before) == (now - 600, now + window)


# --- forged terms


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"scheme": "upto"}, "scheme", "scheme"),
        ({"scheme": None}, "terms", "scheme"),
        ({"network": "eip155:1"}, "network", "network"),
        ({"network": "eip155:84532"}, "network", "network"),
        ({"network": "eip155:08453"}, "network", "network"),
        ({"network": "Base"}, "network", "network"),
        ({"network": "solana"}, "other_rail", "network"),
        ({"network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}, "other_rail", "network"),
        ({"asset": "0xdAC17F958D2ee523a2206206994597C13D831ec7"}, "asset", "asset"),
        ({"asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02914"}, "asset", "asset"),
        ({"asset": ""}, "terms", "asset"),
        ({"asset": SOLANA_ADDRESS}, "asset", "asset"),
        ({"payTo": "0x" + "0" * 40}, "receiver", "payTo"),
        ({"payTo": USDC_ON_BASE.address}, "receiver", "payTo"),
        ({"payTo": SOLANA_ADDRESS}, "receiver", "payTo"),
        ({"payTo": "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, "receiver", "payTo"),
        ({"payTo": RECEIVER + " "}, "receiver", "payTo"),
        ({"payTo": RECEIVER[:-1] + "\u0662"}, "hidden", "payTo"),
        ({"payTo": "\u202e" + RECEIVER}, "hidden", "payTo"),
        ({"payTo": [RECEIVER]}, "terms", "payTo"),
        ({"amount": "0"}, "amount", "amount"),
        ({"amount": "-5000000"}, "amount", "amount"),
        ({"amount": "5e6"}, "amount", "amount"),
        ({"amount": "5000000.0"}, "amount", "amount"),
        ({"amount": "0x4c4b40"}, "amount", "amount"),
        ({"amount": 5000000}, "terms", "amount"),
        ({"amount": "9" * 31}, "amount", "amount"),
        ({"amount": "٥٠٠٠٠٠٠"}, "hidden", "amount"),
        ({"amount": None, "maxAmountRequired": "5000000"}, "terms", "amount"),
        ({"maxTimeoutSeconds": 29}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": 3601}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": 10**15}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": "300"}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": True}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": Decimal("300.5")}, "window", "maxTimeoutSeconds"),
        ({"maxTimeoutSeconds": None}, "window", "maxTimeoutSeconds"),
        ({"extra": None}, "extra", "extra"),
        ({"extra": {"name": "USD Coin"}}, "terms", "extra.version"),
        ({"extra": {"name": "USDC", "version": "2"}}, "token_name", "extra.name"),
        ({"extra": {"name": "USD Coin", "version": "1"}}, "token_name", "extra.version"),
        ({"extra": {"name": "USD\u200b Coin", "version": "2"}}, "hidden", "extra.name"),
        ({"extra": {"name": "USD C\u043ein", "version": "2"}}, "hidden", "extra.name"),
        ({"extra": {**NAMES, "assetTransferMethod": "permit2"}}, "method", "extra.assetTransferMethod"),
    ],
)  # fmt: skip
def test_r_wal_09_forged_terms_are_refused_with_the_field(changes: dict[str, object], code: str, field: str) -> None:
    with pytest.raises(PaymentRefused) as caught:
        read_option(terms(**changes), 2)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert caught.value.sentence.endswith(".")
    assert caught.value.sentence.isprintable()


@pytest.mark.parametrize("version", [0, 3, -1])
def test_a_version_that_is_not_known_is_refused(version: int) -> None:
    with pytest.raises(PaymentRefused) as caught:
        read_option(TERMS, version)
    assert caught.value.code == "version"


@pytest.mark.parametrize("entry", [None, 1, "x", [], [("scheme", "exact")]])
def test_an_entry_that_is_no_object_is_refused(entry: object) -> None:
    with pytest.raises(PaymentRefused):
        read_option(entry, 2)


def test_r_wal_02_the_other_rail_is_shown_with_the_reason() -> None:
    rail = terms(network="solana", payTo=SOLANA_ADDRESS, asset="EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
    strange = terms(network="eip155:1\u202e")
    usable, others = read_options([TERMS, rail, strange, None], 2)
    assert [option.network for option in usable] == ["eip155:8453"]
    assert [(other.network, other.code) for other in others] == [
        ("solana", "other_rail"),
        ("eip155:1‹U+202E›", "hidden"),
        ("", "terms"),
    ]


def test_the_asset_may_stand_in_any_case_but_is_signed_as_it_is_known() -> None:
    option = read_option(terms(asset="0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913"), 2)
    assert option.token is USDC_ON_BASE


def test_play_money_is_taken_only_where_it_was_asked_for_and_says_so() -> None:
    play = terms(network=PLAY_MONEY.network, asset=PLAY_MONEY.address, extra={"name": "Play Coin", "version": "1"})
    with pytest.raises(PaymentRefused):
        read_option(play, 2)
    option = read_option(play, 2, (PLAY_MONEY,))
    payment = prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT)
    assert payment.authorization.chain_id == 31337
    assert any("test money" in field.reading for field in sign_sheet(payment))
    with pytest.raises(PaymentRefused):
        read_option(TERMS, 2, (PLAY_MONEY,))


def test_two_tokens_of_one_network_are_told_apart_by_their_address() -> None:
    both = (*SANDBOX_TOKENS, *KNOWN_TOKENS)
    assert read_option(TERMS, 2, both).token is USDC_ON_BASE
    play = read_option(terms(asset=SANDBOX_TOKENS[0].address), 2, both)
    assert play.token.test_money
    with pytest.raises(PaymentRefused) as caught:
        read_option(terms(asset="0x" + "33" * 20), 2, both)
    assert caught.value.sentence == "The service asks for a token that is not USDC on Sandbox or USDC on Base."


def test_the_sandboxs_token_is_not_taken_from_a_real_service() -> None:
    with pytest.raises(PaymentRefused) as caught:
        read_option(terms(asset=SANDBOX_TOKENS[0].address), 2)
    assert caught.value.code == "asset"


def test_what_a_service_changes_between_two_answers_is_named() -> None:
    shown = read_option(TERMS, 2)
    assert changed_terms(shown, read_option(terms(), 2)) == ()
    other = read_option(terms(payTo="0x" + "33" * 20, amount="6000000", new=1), 2)
    assert changed_terms(shown, other) == ("amount", "new", "payTo")
    assert "x402Version" in changed_terms(shown, read_option(OLD_TERMS, 1))


@pytest.mark.parametrize("payer", ["", "nobody", SOLANA_ADDRESS, ADDRESS[:-1]])
def test_a_payer_without_an_address_cannot_pay(payer: str) -> None:
    with pytest.raises(PaymentRefused) as caught:
        prepare_payment(read_option(TERMS, 2), Decimal(5), payer, now=PAID_AT, named_at=PAID_AT)
    assert caught.value.code == "payer"


def test_nobody_pays_themselves() -> None:
    option = read_option(terms(payTo=ADDRESS.lower()), 2)
    with pytest.raises(PaymentRefused) as caught:
        prepare_payment(option, Decimal(5), ADDRESS, now=PAID_AT, named_at=PAID_AT)
    assert caught.value.code == "receiver"


async def test_another_wallet_does_not_sign_a_payment_that_is_not_its_own() -> None:
    option = read_option(TERMS, 2)
    payment = prepare_payment(option, Decimal(5), "0x" + "33" * 20, now=PAID_AT, named_at=PAID_AT)
    with pytest.raises(PaymentRefused) as caught:
        await sign_payment(payment, evm_signer())
    assert caught.value.code == "payer"


def test_a_nonce_of_another_length_is_never_hashed() -> None:
    with pytest.raises(PaymentRefused):
        _ = replace(AUTHORIZATION, nonce=b"short").digest
    with pytest.raises(PaymentRefused):
        _ = replace(AUTHORIZATION, value=2**256).digest
    with pytest.raises(PaymentRefused):
        _ = replace(AUTHORIZATION, valid_after=-1).digest


# --- signing elsewhere


async def test_a_signature_made_elsewhere_is_taken_in_each_spelling() -> None:
    short = PAYMENT_SIGNATURE[:-2] + "01"
    for text in (PAYMENT_SIGNATURE, f" {PAYMENT_SIGNATURE.upper().replace('0X', '0x')}\n", short):
        assert (await accept_signature(prepared(), text)).signature == PAYMENT_SIGNATURE


async def test_the_document_for_signing_elsewhere_leads_to_the_same_signature() -> None:
    document = json.loads(prepared().typed_data_text())
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


# --- the sheet


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


# --- any input at all

scalars = st.none() | st.booleans() | st.integers() | st.decimals() | st.text(max_size=12)
values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(max_size=8), scalars, max_size=2)
entries = st.dictionaries(st.sampled_from(EVERY_FIELD) | st.text(max_size=6), values, max_size=8)


@given(st.lists(entries.map(lambda changes: {**TERMS, **changes}) | entries | values, max_size=40), st.integers(0, 3))
def test_any_list_of_terms_is_sorted_without_an_error(accepts: list[object], version: int) -> None:
    usable, others = read_options(accepts, version)
    assert len(usable) + len(others) == min(len(accepts), 32)
    for option in usable:
        assert option.token is USDC_ON_BASE
        assert option.least_units > 0
        assert 30 <= option.window_s <= 3600
    for other in others:
        assert other.network.isprintable()


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


@given(st.text(max_size=200) | values.map(lambda value: base64.b64encode(repr(value).encode()).decode()))
def test_any_text_ends_in_a_payment_or_a_refusal(value: str) -> None:
    with pytest.raises(PaymentRefused):
        read_payment(value)

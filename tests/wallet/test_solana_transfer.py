"""A payment on Solana: the bytes of other implementations, forged terms, and what the review shows."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from app.wallet import base58
from app.wallet.errors import PaymentRefused, SigningFailed
from app.wallet.networks import USDC_ON_SOLANA, tokens_of
from app.wallet.payment import PreparedPayment, accept_signature, prepare_payment, renewed_payment, sign_payment
from app.wallet.payment_sheet import sign_sheet
from app.wallet.payment_terms import PaymentOption, changed_terms, read_option, read_options
from app.wallet.solana_transfer import (
    MEMO_PROGRAM,
    TOKEN_PROGRAM,
    TokenTransfer,
    is_on_curve,
    key_bytes,
    read_message,
    token_account,
)
from tests.kit.solana_payments import (
    BLOCK,
    BY_X402_FOR_JAVASCRIPT,
    BY_X402_FOR_PYTHON,
    FEE_PAYER,
    MINT,
    RECEIVER,
    terms,
)
from tests.wallet.figures import ADDRESS, PAID_AT, SOLANA_ADDRESS, evm_signer, solana_signer

HEADER_BYTES = 1 + 2 * 64  # of a transaction: two signatures
PLAY = tokens_of("solana", is_sandbox=True)
OTHER = "J2xccRtuG43drESLYznHhLhQkLTdfepcKYbiQ9BsJVaf"


def option(extra: dict[str, object] | None = None, **changes: object) -> PaymentOption:
    return read_option(terms(extra, **changes), 2, PLAY)


def prepared(extra: dict[str, object] | None = None, usd: str = "7.25", **changes: object) -> PreparedPayment:
    found = option(extra, **changes)
    return prepare_payment(found, Decimal(usd), SOLANA_ADDRESS, now=PAID_AT, named_at=PAID_AT, nonce=b"\xab" * 16)


def transfer(payment: PreparedPayment) -> TokenTransfer:
    assert isinstance(payment.authorization, TokenTransfer)
    return payment.authorization


def test_r_wal_09_the_message_is_the_one_of_another_implementation_byte_for_byte() -> None:
    message = base64.b64decode(BY_X402_FOR_PYTHON)[HEADER_BYTES:]
    found = read_message(message)
    ours = TokenTransfer(
        MINT, 6, FEE_PAYER, found.sender, RECEIVER, 5_000_000, "24ec888fef42d7cfcc071fe980b3e557", BLOCK
    )
    assert (found.sender, found.fee_payer, found.value) == (OTHER, FEE_PAYER, 5_000_000)
    assert ours.message == message


def test_a_message_with_its_accounts_in_another_order_reads_the_same() -> None:
    found = read_message(base64.b64decode(BY_X402_FOR_JAVASCRIPT)[HEADER_BYTES:])
    assert (found.mint, found.value, found.decimals) == (MINT, 5_000_000, 6)
    assert found.destination == token_account(RECEIVER, MINT)
    assert found.source == token_account(found.sender, MINT)
    assert (found.compute_units, found.microlamports_per_unit) == (20_000, 1)


def test_token_accounts_and_points_of_the_curve_are_those_of_published_programs() -> None:
    """By solders 0.27.1."""
    assert token_account(RECEIVER, MINT) == "HD4SAkyvgnddTTQaGuEsBfAZfaLTaq3CezSxFu5fcSLA"
    assert is_on_curve(key_bytes(FEE_PAYER))
    assert not is_on_curve(key_bytes(token_account(RECEIVER, MINT)))


@given(st.binary(max_size=400))
def test_bytes_that_are_no_transfer_are_refused(data: bytes) -> None:
    for message in (data, b"\x80" + data):
        with pytest.raises(PaymentRefused):
            read_message(message)


def test_a_message_that_does_anything_else_is_refused() -> None:
    message = transfer(prepared()).message
    for at in (0, 1, 2, 3):  # version and counts of signers
        with pytest.raises(PaymentRefused):
            read_message(message[:at] + bytes([message[at] + 1]) + message[at + 1 :])
    for other in (message + b"\x00", message[:-1], message[:-1] + b"\x01"):
        with pytest.raises(PaymentRefused):
            read_message(other)


@pytest.mark.parametrize(
    ("extra", "changes", "code", "field"),
    [
        ({}, {"asset": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"}, "asset", "asset"),
        ({}, {"asset": MINT.lower()}, "asset", "asset"),
        ({}, {"network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"}, "network", "network"),
        ({"decimals": 9}, {}, "decimals", "extra.decimals"),
        ({"decimals": "6"}, {}, "decimals", "extra.decimals"),
        ({"tokenProgram": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"}, {}, "program", "extra.tokenProgram"),
        ({}, {"payTo": ADDRESS}, "receiver", "payTo"),
        ({}, {"payTo": MINT}, "receiver", "payTo"),
        ({}, {"payTo": TOKEN_PROGRAM}, "receiver", "payTo"),
        ({}, {"payTo": "1" * 32}, "receiver", "payTo"),
        ({}, {"payTo": RECEIVER + "\u200b"}, "hidden", "payTo"),
        ({"feePayer": None}, {}, "terms", "extra.feePayer"),
        ({"feePayer": ADDRESS}, {}, "fee_payer", "extra.feePayer"),
        ({"feePayer": "1" * 32}, {}, "fee_payer", "extra.feePayer"),
        ({"feePayer": MEMO_PROGRAM}, {}, "fee_payer", "extra.feePayer"),
        ({"feePayer": token_account(RECEIVER, MINT)}, {}, "fee_payer", "extra.feePayer"),
        ({"recentBlockhash": "nothing"}, {}, "block", "extra.recentBlockhash"),
        ({"recentBlockhash": "1" * 32}, {}, "block", "extra.recentBlockhash"),
        ({"recentBlockhash": 7}, {}, "terms", "extra.recentBlockhash"),
        ({"lastValidBlockHeight": "soon"}, {}, "block", "extra.lastValidBlockHeight"),
        ({"lastValidBlockHeight": True}, {}, "block", "extra.lastValidBlockHeight"),
        ({"lastValidBlockHeight": "9" * 31}, {}, "block", "extra.lastValidBlockHeight"),
        ({"memo": "x" * 257}, {}, "terms", "extra.memo"),
        ({"memo": "ü" * 200}, {}, "hidden", "extra.memo"),
        ({"memo": "a\u202eb"}, {}, "hidden", "extra.memo"),
        ({}, {"maxTimeoutSeconds": 29}, "window", "maxTimeoutSeconds"),
    ],
)
def test_r_wal_09_forged_terms_are_refused_with_the_field(
    extra: dict[str, object], changes: dict[str, object], code: str, field: str
) -> None:
    with pytest.raises(PaymentRefused) as caught:
        option(extra, **changes)
    assert (caught.value.code, caught.value.field) == (code, field)
    assert caught.value.sentence.endswith(".")
    assert caught.value.sentence.isprintable()


@pytest.mark.parametrize(
    ("extra", "changes", "code"),
    [
        ({"recentBlockhash": None}, {}, "no_block"),
        ({"feePayer": SOLANA_ADDRESS}, {}, "fee_payer"),
        ({}, {"payTo": SOLANA_ADDRESS}, "receiver"),
        ({}, {"amount": "8000000"}, "below_terms"),
    ],
)
def test_terms_that_do_not_fit_this_wallet_are_refused(
    extra: dict[str, object], changes: dict[str, object], code: str
) -> None:
    with pytest.raises(PaymentRefused) as caught:
        prepared(extra, **changes)
    assert caught.value.code == code


async def test_r_wal_06_the_signature_is_the_wallets_and_the_fee_payers_slot_is_empty() -> None:
    payment = prepared()
    signed = await sign_payment(payment, solana_signer())
    content = json.loads(base64.b64decode(signed.header_value("v2")))
    raw = base64.b64decode(content["payload"]["transaction"])
    assert content["accepted"] == {**terms(), "amount": "7250000"}
    assert raw[:65] == b"\x02" + bytes(64)
    Ed25519PublicKey.from_public_bytes(bytes(base58.decode(SOLANA_ADDRESS))).verify(
        raw[65:HEADER_BYTES], raw[HEADER_BYTES:]
    )
    assert read_message(raw[HEADER_BYTES:]).memo == "ab" * 16
    assert signed.signature not in repr(signed)


async def test_nothing_is_signed_when_the_bytes_say_something_else() -> None:
    class Lying(TokenTransfer):
        @property
        def message(self) -> bytes:
            return transfer(prepared(usd="8")).message

    payment = prepared()
    lying = Lying(**{name: getattr(payment.authorization, name) for name in TokenTransfer.__slots__})
    with pytest.raises(SigningFailed):
        await sign_payment(replace(payment, authorization=lying), solana_signer())


def test_the_services_memo_is_signed_where_it_names_one() -> None:
    assert transfer(prepared({"memo": "order 7"})).memo == "order 7"


async def test_another_kind_of_wallet_does_not_sign_and_nothing_is_signed_elsewhere() -> None:
    with pytest.raises(PaymentRefused):
        await sign_payment(prepared(), evm_signer())
    with pytest.raises(SigningFailed):
        await accept_signature(prepared(), "1" * 88)


def test_the_review_shows_what_stands_in_the_bytes() -> None:
    shown = {field.name: field for field in sign_sheet(prepared())}
    assert (shown["owner"].value, shown["amount"].reading) == (SOLANA_ADDRESS, "7.250000 USDC")
    assert RECEIVER in shown["destination"].reading
    assert (shown["feePayer"].value, shown["recentBlockhash"].value) == (FEE_PAYER, BLOCK)
    assert shown["mint"].reading == "USDC on Sandbox (Solana) (test money)"


@pytest.mark.parametrize(
    "changes",
    [{"receiver": OTHER}, {"value": 9}, {"mint": USDC_ON_SOLANA.address}, {"fee_payer": OTHER}, {"blockhash": OTHER}],
)
def test_the_review_refuses_bytes_that_are_not_what_was_chosen(changes: dict[str, object]) -> None:
    payment = prepared()
    forged = replace(payment, authorization=replace(transfer(payment), **changes))  # type: ignore[arg-type]
    with pytest.raises(PaymentRefused):
        sign_sheet(forged)


def test_signing_takes_the_newest_block_and_nothing_else_that_is_new() -> None:
    shown = prepared()
    later = prepare_payment(
        option({"recentBlockhash": OTHER, "lastValidBlockHeight": 7}),
        Decimal("7.25"),
        SOLANA_ADDRESS,
        now=PAID_AT + timedelta(minutes=2),
        named_at=PAID_AT + timedelta(minutes=2),
    )
    renewed = renewed_payment(shown, later)
    assert transfer(renewed) == replace(transfer(shown), blockhash=OTHER, last_valid_height=7)
    assert renewed.valid_before == shown.valid_before + 120
    for other in (prepared(usd="8"), prepared({"feePayer": OTHER}), prepared(payTo=OTHER)):
        with pytest.raises(PaymentRefused):
            renewed_payment(shown, other)


def test_a_newer_block_is_no_change_of_the_terms_and_another_fee_payer_is() -> None:
    shown = option()
    assert changed_terms(shown, option({"recentBlockhash": OTHER, "lastValidBlockHeight": "7"})) == ()
    assert changed_terms(shown, option({"recentBlockhash": None, "lastValidBlockHeight": None})) == ()
    assert changed_terms(shown, option({"feePayer": OTHER})) == ("extra",)


scalars = st.none() | st.booleans() | st.integers() | st.decimals() | st.text(max_size=12)
values = scalars | st.lists(scalars, max_size=2)
extras = st.dictionaries(st.sampled_from([*terms()["extra"], "memo", "decimals"]), values, max_size=4)  # type: ignore[misc]


@given(st.lists(extras.map(lambda extra: terms(extra)), max_size=8))
def test_any_list_of_terms_is_sorted_without_an_error(accepts: list[object]) -> None:
    usable, others = read_options(accepts, 2, PLAY)
    assert len(usable) + len(others) == len(accepts)

"""Terms of payment read without trust: every forgery is refused with the field that gives it away."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import PaymentRefused
from app.wallet.networks import KNOWN_TOKENS, SANDBOX_TOKENS, USDC_ON_BASE, tokens_of
from app.wallet.payment import (
    prepare_payment,
    sign_payment,
)
from app.wallet.payment_sheet import sign_sheet
from app.wallet.payment_terms import changed_terms, read_option, read_options
from tests.kit.payments import EVERY_FIELD, NAMES, PLAY_MONEY, terms
from tests.wallet.figures import (
    ADDRESS,
    AUTHORIZATION,
    OLD_TERMS,
    PAID_AT,
    RECEIVER,
    SOLANA_ADDRESS,
    TERMS,
    evm_signer,
)


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
        ({"network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"}, "network", "network"),
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
        read_option(terms(**changes), 2, tokens_of("evm", is_sandbox=False))
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
    usable, others = read_options([TERMS, rail, strange, None], 2, tokens_of("evm", is_sandbox=False))
    assert others[0].sentence == "This wallet cannot pay on Solana. To pay there, top up a wallet of that chain."
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
        assert 30 <= option.window_s <= 300
    for other in others:
        assert other.network.isprintable()

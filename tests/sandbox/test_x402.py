"""The top-up: its terms, and a payment verified to the last field: rules R-WAL-01 to 07, -09."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from Crypto.Hash import keccak
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.sandbox.accounts.signatures import CURVE_ORDER
from app.sandbox.accounts.wallet_address import checksummed, to_base58
from app.sandbox.accounts.x402_payment import Payment, read_payment
from app.sandbox.accounts.x402_terms import (
    EVM_RECEIVER,
    PLAY_ASSET,
    REAL_ASSET,
    SOLANA_FEE_PAYER,
    SOLANA_MINT,
    SOLANA_RECEIVER,
    Terms,
)
from app.sandbox.http.errors import HttpError
from tests.sandbox.support import NOON
from tests.sandbox.wallet_support import EvmWallet, WalletClient, code, flat, packed, unpacked, v2
from tests.wallet import figures

OTHER = EvmWallet(byte=3)


def test_R_EP_08_R_WAL_01_R_WAL_02_R_WAL_05_R_WAL_09_the_terms_name_two_rails_and_need_no_headers(
    wallet: WalletClient,
) -> None:
    answer = wallet.top_up()
    body = answer.json()
    assert (answer.status_code, set(body)) == (402, {"x402Version", "accepts"})
    evm, other = body["accepts"]
    assert evm == {
        "scheme": "exact",
        "network": "eip155:8453",
        "amount": "5000000",
        "asset": PLAY_ASSET.lower(),
        "payTo": EVM_RECEIVER,
        "maxTimeoutSeconds": 300,
        "extra": {"name": "USD Coin", "version": "2"},
    }
    assert (other["network"], other["amount"]) == ("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "5000000")
    assert set(other["extra"]) == {"name", "version", "feePayer", "recentBlockhash", "lastValidBlockHeight"}
    assert unpacked(answer.headers["PAYMENT-REQUIRED"]) == body


def test_R_WAL_09_the_venice_dialect_names_the_token_that_its_clients_know(venice_wallet: WalletClient) -> None:
    evm = venice_wallet.top_up().json()["accepts"][0]
    assert (evm["asset"], evm["payTo"]) == (REAL_ASSET.lower(), EVM_RECEIVER)
    venice_wallet.fund()
    payment = venice_wallet.wallet.pays(verifyingContract=REAL_ASSET)
    assert venice_wallet.top_up(v2(payment, asset=REAL_ASSET), "PAYMENT-SIGNATURE").status_code == 200
    worthless = venice_wallet.wallet.pays()
    assert code(venice_wallet.top_up(v2(worthless))) == "UNSUPPORTED_TOKEN"
    assert code(venice_wallet.top_up(flat(worthless))) == "INVALID_PAYMENT"


def test_the_addresses_of_the_terms_are_hashes_so_nobody_has_their_keys() -> None:
    def digest(text: str) -> bytes:
        return keccak.new(digest_bits=256, data=text.encode()).digest()

    for address, other, text in (
        (PLAY_ASSET, SOLANA_MINT, "Rialto Sandbox: play money"),
        (EVM_RECEIVER, SOLANA_RECEIVER, "Rialto Sandbox: receiver"),
    ):
        assert checksummed("0x" + digest(text)[-20:].hex()) == address
        assert to_base58(digest(text)) == other
    key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"Rialto Sandbox: fee payer").digest())
    assert to_base58(key.public_key().public_bytes_raw()) == SOLANA_FEE_PAYER  # whose key only signs in the Sandbox


@pytest.mark.parametrize("name", ["X-402-Payment", "PAYMENT-SIGNATURE", "X-PAYMENT", "payment-signature"])
def test_R_WAL_03_R_WAL_06_R_WAL_07_all_three_header_names_add_credits(payer: WalletClient, name: str) -> None:
    answer = payer.top_up(v2(payer.wallet.pays()), name)
    assert answer.status_code == 200
    body = answer.json()
    assert body["success"] is True
    assert set(body["data"]) == {"walletAddress", "amountCredited", "newBalance", "paymentId"}
    assert body["data"]["walletAddress"] == payer.wallet.address
    assert (body["data"]["amountCredited"], body["data"]["newBalance"]) == (5, 5)
    response = unpacked(answer.headers["PAYMENT-RESPONSE"])
    assert (response["success"], response["network"]) == (True, "eip155:8453")
    assert response["payer"] == payer.wallet.address
    assert len(response["transaction"]) == 66
    known = payer.known()
    assert (known["usd"], known["usdc"]) == ("5.000000", "95.000000")
    assert payer.chat().status_code == 200  # R-WAL-08


@pytest.mark.parametrize(
    "form",
    [
        v2,
        flat,
        lambda payment: flat(payment, 2, "base"),
        lambda payment: flat(payment, 1, "base"),
        lambda payment: flat(payment, 1, "eip155:8453"),
        lambda payment: v2(payment, network="base"),
        lambda payment: v2(payment, asset=PLAY_ASSET, payTo=EVM_RECEIVER.lower()),
    ],
)
def test_R_WAL_03_every_form_in_use_is_read(payer: WalletClient, form: Callable[[dict[str, Any]], str]) -> None:
    assert payer.top_up(form(payer.wallet.pays())).status_code == 200


def test_protocol_version_1_gets_its_receipt_under_its_own_name_too(payer: WalletClient) -> None:
    answer = payer.top_up(flat(payer.wallet.pays(), 1, "base"), "X-PAYMENT")
    assert answer.headers["X-PAYMENT-RESPONSE"] == answer.headers["PAYMENT-RESPONSE"]
    assert unpacked(answer.headers["PAYMENT-RESPONSE"])["network"] == "base"


@pytest.mark.parametrize("usd", ["5", "5.000001", "37.5", "10000"])
def test_R_WAL_04_amounts_from_5_to_10000_usd_are_credited_exactly(payer: WalletClient, usd: str) -> None:
    payer.fund("10000")
    units = str(int(Decimal(usd) * 1_000_000))
    payment = payer.wallet.pays(payer.wallet.authorization(value=units))
    answer = payer.top_up(v2(payment, amount="5000000"))  # the entry of accepts, unchanged
    assert answer.json()["data"]["amountCredited"] == float(usd)
    assert Decimal(payer.known()["usd"]) == Decimal(usd)


@pytest.mark.parametrize(
    ("expected", "units"),
    [("AMOUNT_TOO_LOW", 4_999_999), ("AMOUNT_TOO_LOW", 0), ("AMOUNT_TOO_HIGH", 10_000_000_001)],
)
def test_R_WAL_04_less_and_more_are_refused(payer: WalletClient, expected: str, units: int) -> None:
    payment = payer.wallet.pays(payer.wallet.authorization(value=str(units)))
    assert code(payer.top_up(flat(payment))) == expected
    assert code(payer.top_up(v2(payment))) == expected


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("UNSUPPORTED_SCHEME", {"scheme": "upto"}),
        ("UNSUPPORTED_SCHEME", {"scheme": None}),
        ("UNSUPPORTED_NETWORK", {"network": "eip155:1"}),
        ("UNSUPPORTED_NETWORK", {"network": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"}),
        ("INVALID_PAYMENT_FORMAT", {"network": "solana"}),
        ("INVALID_PAYMENT_FORMAT", {"network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}),
        ("UNSUPPORTED_NETWORK", {"network": ["base"]}),
        ("UNSUPPORTED_TOKEN", {"asset": REAL_ASSET}),
        ("UNSUPPORTED_TOKEN", {"asset": None}),
        ("INVALID_PAYMENT_RECIPIENT", {"payTo": OTHER.address}),
        ("INVALID_AMOUNT", {"amount": "5000001"}),
        ("INVALID_AMOUNT", {"amount": "4000000"}),
        ("INVALID_PAYMENT_FORMAT", {"amount": 5000000}),
        ("INVALID_PAYMENT_FORMAT", {"amount": "5e6"}),
        ("INVALID_PAYMENT", {"extra": {"name": "USDC", "version": "2"}}),
        ("INVALID_PAYMENT", {"extra": {"name": "USD Coin"}}),
        ("INVALID_PAYMENT", {"extra": None}),
        ("INVALID_PAYMENT", {"maxTimeoutSeconds": 3000}),
    ],
)
def test_R_WAL_06_the_repeated_terms_must_be_those_offered(
    payer: WalletClient, expected: str, changes: dict[str, Any]
) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays(), **changes))) == expected
    assert payer.known()["usdc"] == "100.000000"


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        ("INVALID_PAYMENT_PAYER", {"from": "nobody"}),
        ("INVALID_PAYMENT_PAYER", {"from": "0x" + "00" * 20}),
        ("INVALID_PAYMENT_PAYER", {"from": EVM_RECEIVER}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": OTHER.address}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": "0x12"}),
        ("INVALID_PAYMENT_RECIPIENT", {"to": None}),
        ("INVALID_PAYMENT_FORMAT", {"value": 5000000}),
        ("INVALID_PAYMENT_FORMAT", {"value": "05000000"}),
        ("INVALID_PAYMENT_FORMAT", {"value": "-5000000"}),
        ("INVALID_PAYMENT_FORMAT", {"value": str(2**256)}),
        ("INVALID_PAYMENT_FORMAT", {"validAfter": "now"}),
        ("INVALID_PAYMENT_FORMAT", {"validBefore": None}),
        ("INVALID_PAYMENT_FORMAT", {"nonce": "0xabab"}),
        ("INVALID_PAYMENT_FORMAT", {"nonce": "ab" * 32}),
        ("INVALID_PAYMENT", {"value": "6000000"}),
        ("INVALID_PAYMENT", {"validAfter": "0"}),
        ("INVALID_PAYMENT", {"validBefore": str(int(NOON) + 301)}),
        ("INVALID_PAYMENT", {"nonce": "0x" + "ab" * 32}),
        ("INVALID_PAYMENT", {"from": OTHER.address}),
    ],
)
def test_R_WAL_06_a_field_changed_after_signing_is_found(
    payer: WalletClient, expected: str, changes: dict[str, Any]
) -> None:
    payment = payer.wallet.pays()
    payment["authorization"] = payment["authorization"] | changes
    assert code(payer.top_up(flat(payment))) == expected
    assert payer.known()["usdc"] == "100.000000"


@pytest.mark.parametrize(
    "domain",
    [{"name": "USDC"}, {"version": "1"}, {"chainId": 1}, {"verifyingContract": REAL_ASSET}],
)
def test_R_WAL_06_the_signature_is_bound_to_name_version_chain_and_token(
    payer: WalletClient, domain: dict[str, Any]
) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays(**domain)))) == "INVALID_PAYMENT"


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("0x" + "11" * 64, "INVALID_PAYMENT_FORMAT"),
        ("11" * 65, "INVALID_PAYMENT_FORMAT"),
        (None, "INVALID_PAYMENT_FORMAT"),
        ("0x" + "00" * 65, "INVALID_PAYMENT"),
        ("0x" + "ff" * 65, "INVALID_PAYMENT"),
        ("0x" + f"{5:064x}" + "11" * 32 + "1b", "INVALID_PAYMENT"),
    ],
)
def test_R_WAL_06_a_wrong_signature_is_refused(payer: WalletClient, signature: str | None, expected: str) -> None:
    assert code(payer.top_up(v2(payer.wallet.pays() | {"signature": signature}))) == expected


def test_R_WAL_06_the_other_form_of_a_signature_is_refused_as_the_contract_does(payer: WalletClient) -> None:
    payment = payer.wallet.pays()
    raw = bytes.fromhex(payment["signature"][2:])
    high_s = CURVE_ORDER - int.from_bytes(raw[32:64], "big")
    twin = raw[:32] + high_s.to_bytes(32, "big") + bytes([27 + 28 - raw[64]])
    assert code(payer.top_up(v2(payment | {"signature": "0x" + twin.hex()}))) == "INVALID_PAYMENT"
    assert payer.top_up(v2(payment)).status_code == 200


def test_R_WAL_06_a_signature_may_end_with_0_or_1_as_some_wallets_write_it(payer: WalletClient) -> None:
    payment = payer.wallet.pays()
    last = int(payment["signature"][-2:], 16) - 27
    assert payer.top_up(v2(payment | {"signature": payment["signature"][:-2] + f"{last:02x}"})).status_code == 200


@pytest.mark.parametrize(
    ("after_s", "before_s", "status"), [(-1, 30, 200), (0, 300, 400), (-600, 0, 400), (-600, -300, 400), (60, 300, 400)]
)
def test_R_WAL_06_the_window_is_open_after_one_moment_and_before_the_other(
    payer: WalletClient, after_s: int, before_s: int, status: int
) -> None:
    window = {"validAfter": str(int(NOON) + after_s), "validBefore": str(int(NOON) + before_s)}
    answer = payer.top_up(v2(payer.wallet.pays(payer.wallet.authorization(**window))))
    assert answer.status_code == status


@pytest.mark.parametrize(
    "payment",
    [
        "not base64",
        packed([]),
        packed({}),
        packed({"x402Version": 3}),
        packed({"x402Version": True, "scheme": "exact", "network": "base"}),
        packed({"x402Version": 2, "accepted": "all"}),
        packed({"x402Version": 2, "scheme": "exact", "network": "base"}),
        packed({"x402Version": 2, "scheme": "exact", "network": "base", "payload": {"signature": "0x"}}),
        base64.b64encode(b"[" * 20_000).decode(),
    ],
)
def test_R_WAL_03_what_is_no_payment_is_400(payer: WalletClient, payment: str) -> None:
    assert code(payer.top_up(payment)) == "INVALID_PAYMENT_FORMAT"


def test_two_different_payments_in_one_request_are_refused(payer: WalletClient) -> None:
    address = f"{payer.sandbox.running.base_url}/x402/top-up"
    first, second = v2(payer.wallet.pays()), v2(payer.wallet.pays())
    both = payer.http.post(address, headers={"X-402-Payment": first, "X-PAYMENT": second})
    assert code(both) == "INVALID_PAYMENT_FORMAT"
    same = payer.http.post(address, headers={"X-402-Payment": first, "PAYMENT-SIGNATURE": first})
    assert same.status_code == 200


def test_R_WAL_06_the_published_vectors_hold() -> None:
    terms = Terms(REAL_ASSET, "0x" + "22" * 20)
    payload = {
        "signature": figures.PAYMENT_SIGNATURE,
        "authorization": {
            "from": figures.ADDRESS,
            "to": figures.RECEIVER,
            "value": "5000000",
            "validAfter": "1767322445",
            "validBefore": "1767323345",
            "nonce": "0x" + "ab" * 32,
        },
    }
    forms: list[dict[str, Any]] = [
        {"x402Version": 2, "accepted": figures.TERMS, "payload": payload},
        {"x402Version": 2, "scheme": "exact", "network": "eip155:8453", "payload": payload},
    ]
    for content in forms:
        payment = read_payment(packed(content), terms)
        assert isinstance(payment, Payment)
        payment.check_time(figures.PAID_AT.timestamp())
        payment.check_signature()
        for late in (1767322445, 1767323345):
            with pytest.raises(HttpError):
                payment.check_time(late)
        changed = replace(payment, authorization=replace(payment.authorization, value=5_000_001))
        with pytest.raises(HttpError) as caught:
            changed.check_signature()
        assert json.loads(json.dumps(caught.value.body))["error"] == "INVALID_PAYMENT"

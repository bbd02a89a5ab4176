"""Payments on the Solana rail: transactions of published clients, verified to the last byte and credited once."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sandbox.accounts.wallet_address import from_base58
from app.sandbox.accounts.x402_solana import (
    COMPUTE_BUDGET,
    MEMO_PROGRAM,
    TOKEN_PROGRAM,
    read_transfer,
    token_account,
)
from app.sandbox.accounts.x402_terms import SOLANA_FEE_PAYER, SOLANA_MINT, SOLANA_RECEIVER
from app.sandbox.http.errors import HttpError
from tests.kit.solana_payments import BY_X402_FOR_JAVASCRIPT, BY_X402_FOR_PYTHON
from tests.sandbox.wallet_support import SolanaWallet, WalletClient, code, packed, unpacked

OTHER = SolanaWallet(byte=5).address
SYSTEM = "1" * 32


@dataclass(frozen=True)
class Draft:
    """A transaction before it is written; each field can be forged."""

    block: str
    sender: str
    fee_payer: str = SOLANA_FEE_PAYER
    mint: str = SOLANA_MINT
    source: str = ""
    destination: str = token_account(SOLANA_RECEIVER)
    value: int = 5_000_000
    decimals: int = 6
    memo: bytes = b"0123456789abcdef"
    limit: bytes = b"\x02" + (20_000).to_bytes(4, "little")
    price: bytes = b"\x03" + (1).to_bytes(8, "little")
    more: tuple[tuple[str, bytes], ...] = ()

    def message(self) -> bytes:
        source = self.source or token_account(self.sender, self.mint)
        programs = dict.fromkeys([COMPUTE_BUDGET, TOKEN_PROGRAM, MEMO_PROGRAM, *(each for each, _ in self.more)])
        keys = [self.fee_payer, self.sender, source, self.destination, *programs, self.mint]
        at = {key: number for number, key in enumerate(keys)}
        moves = bytes([12]) + self.value.to_bytes(8, "little") + bytes([self.decimals])
        accounts = bytes([at[source], at[self.mint], at[self.destination], at[self.sender]])
        calls = [
            (COMPUTE_BUDGET, b"", self.limit),
            (COMPUTE_BUDGET, b"", self.price),
            (TOKEN_PROGRAM, accounts, moves),
            (MEMO_PROGRAM, b"", self.memo),
            *((program, b"", data) for program, data in self.more),
        ]
        parts = [bytes([0x80, 2, 1, len(keys) - 4, len(keys)]), *(from_base58(key) or b"" for key in keys)]
        parts += [from_base58(self.block) or b"", bytes([len(calls)])]
        for program, used, data in calls:
            parts += [bytes([at[program], len(used)]), used, bytes([len(data)]), data]
        return b"".join((*parts, b"\x00"))


def terms_of(wallet: WalletClient) -> dict[str, Any]:
    return next(each for each in wallet.top_up().json()["accepts"] if each["network"].startswith("solana:"))


def signed(payer: SolanaWallet, draft: Draft) -> str:
    message = draft.message()
    return base64.b64encode(b"\x02" + bytes(64) + payer.key.sign(message) + message).decode()


def header(terms: dict[str, Any], transaction: object, **accepted: object) -> str:
    return packed(
        {"x402Version": 2, "accepted": {**terms, **accepted}, "payload": {"transaction": transaction}},
    )


@pytest.fixture
def solana(wallet: WalletClient) -> SolanaWallet:
    payer = SolanaWallet(origin=wallet.wallet.origin)
    gift = {"address": payer.address, "amount": "100"}
    wallet.http.post(f"{wallet.sandbox.running.origin}/sandbox/faucet", json=gift).raise_for_status()
    return payer


def draft(wallet: WalletClient, payer: SolanaWallet) -> Draft:
    return Draft(terms_of(wallet)["extra"]["recentBlockhash"], payer.address)


@pytest.mark.parametrize("transaction", [BY_X402_FOR_PYTHON, BY_X402_FOR_JAVASCRIPT])
def test_R_WAL_06_R_WAL_09_transactions_of_published_clients_are_verified(transaction: str) -> None:
    payment = read_transfer(2, transaction)
    payment.check_signature()
    assert (payment.value, payment.receiver, payment.wallet.chain) == (5_000_000, SOLANA_RECEIVER, "solana")
    with pytest.raises(HttpError):
        payment.check_time(0)
    with pytest.raises(HttpError):
        replace(payment, message=payment.message + b"\x00").check_signature()


def test_R_WAL_03_R_WAL_07_R_WAL_09_a_solana_payment_is_credited_once(
    wallet: WalletClient, solana: SolanaWallet
) -> None:
    terms = terms_of(wallet)
    transaction = signed(solana, draft(wallet, solana))
    first = wallet.top_up(header(terms, transaction))
    assert first.status_code == 200, first.text
    assert first.json()["data"]["walletAddress"] == solana.address
    response = unpacked(first.headers["PAYMENT-RESPONSE"])
    assert (response["success"], response["network"], response["payer"]) == (True, terms["network"], solana.address)
    assert len(from_base58(response["transaction"]) or b"") == 64
    wallet.sandbox.turn_clock(3600)  # long after its block
    again = wallet.top_up(header(terms, transaction))
    assert (again.status_code, again.json()) == (200, first.json())
    known = wallet.known(solana.address)
    assert (known["usd"], known["usdc"]) == ("5.000000", "95.000000")


@pytest.mark.parametrize("network", ["solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"])
@pytest.mark.parametrize("version", [1, 2])
def test_R_WAL_03_the_flat_form_is_read_too(
    wallet: WalletClient, solana: SolanaWallet, network: str, version: int
) -> None:
    payload = {"transaction": signed(solana, draft(wallet, solana))}
    content = {"x402Version": version, "scheme": "exact", "network": network, "payload": payload}
    assert wallet.top_up(packed(content)).status_code == 200


def test_a_block_is_good_for_150_blocks(wallet: WalletClient, solana: SolanaWallet) -> None:
    terms = terms_of(wallet)
    in_time, late = (signed(solana, replace(draft(wallet, solana), memo=memo)) for memo in (b"in time", b"too late"))
    wallet.sandbox.turn_clock(59)
    assert wallet.top_up(header(terms, in_time)).status_code == 200
    wallet.sandbox.turn_clock(61)
    answer = wallet.top_up(header(terms, late))
    assert code(answer) == "INVALID_PAYMENT" and "recent block" in answer.json()["message"]


@pytest.mark.parametrize(
    ("expected", "forge"),
    [
        ("INVALID_PAYMENT", lambda it: replace(it, block=OTHER)),
        ("INVALID_PAYMENT", lambda it: replace(it, fee_payer=OTHER)),
        ("UNSUPPORTED_TOKEN", lambda it: replace(it, mint="EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")),
        ("INVALID_PAYMENT_RECIPIENT", lambda it: replace(it, destination=token_account(OTHER))),
        ("INVALID_PAYMENT_RECIPIENT", lambda it: replace(it, destination=SOLANA_RECEIVER)),
        ("INVALID_PAYMENT_PAYER", lambda it: replace(it, source=token_account(OTHER))),
        ("INVALID_PAYMENT_FORMAT", lambda it: replace(it, sender=SOLANA_RECEIVER)),
        ("INVALID_PAYMENT", lambda it: replace(it, decimals=9)),
        ("AMOUNT_TOO_LOW", lambda it: replace(it, value=4_999_999)),
        ("AMOUNT_TOO_HIGH", lambda it: replace(it, value=10_000_000_001)),
        ("PAYMENT_VERIFICATION_FAILED", lambda it: replace(it, value=100_000_001)),
        ("INVALID_PAYMENT", lambda it: replace(it, price=b"\x03" + (5_000_001).to_bytes(8, "little"))),
        ("INVALID_PAYMENT", lambda it: replace(it, limit=b"\x01" + bytes(4))),
        ("INVALID_PAYMENT", lambda it: replace(it, more=((SYSTEM, b"\x02"),))),
        ("INVALID_PAYMENT", lambda it: replace(it, more=((TOKEN_PROGRAM, b"\x04"),))),
    ],
)  # fmt: skip
def test_R_WAL_04_R_WAL_06_a_transaction_that_is_not_the_payment_is_refused(
    wallet: WalletClient, solana: SolanaWallet, expected: str, forge: Callable[[Draft], Draft]
) -> None:
    forged = forge(draft(wallet, solana))
    amount = str(forged.value)
    assert code(wallet.top_up(header(terms_of(wallet), signed(solana, forged), amount=amount))) == expected
    assert wallet.known(solana.address)["usdc"] == "100.000000"


@pytest.mark.parametrize("transaction", [None, 7, "", "AA==", "not base64", base64.b64encode(bytes(2000)).decode()])
def test_what_is_no_transaction_is_refused(wallet: WalletClient, solana: SolanaWallet, transaction: object) -> None:
    assert code(wallet.top_up(header(terms_of(wallet), transaction))) == "INVALID_PAYMENT_FORMAT"


@pytest.mark.parametrize(
    ("expected", "accepted"),
    [
        ("UNSUPPORTED_TOKEN", {"asset": SOLANA_MINT.lower()}),
        ("INVALID_PAYMENT_RECIPIENT", {"payTo": OTHER}),
        ("INVALID_AMOUNT", {"amount": "6000000"}),
        ("INVALID_PAYMENT", {"extra": {"feePayer": OTHER}}),
        ("INVALID_PAYMENT", {"maxTimeoutSeconds": 3000}),
    ],
)
def test_R_WAL_06_the_repeated_terms_must_be_those_offered(
    wallet: WalletClient, solana: SolanaWallet, expected: str, accepted: dict[str, Any]
) -> None:
    transaction = signed(solana, draft(wallet, solana))
    assert code(wallet.top_up(header(terms_of(wallet), transaction, **accepted))) == expected


def test_another_wallets_signature_is_refused(wallet: WalletClient, solana: SolanaWallet) -> None:
    transaction = signed(SolanaWallet(byte=6), draft(wallet, solana))
    assert code(wallet.top_up(header(terms_of(wallet), transaction))) == "INVALID_PAYMENT"


def test_the_chain_knows_the_token(wallet: WalletClient) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "getAccountInfo", "params": [SOLANA_MINT, {"encoding": "base64"}]}
    value = wallet.sandbox.post("/crypto/rpc/solana-mainnet", call).json()["result"]["value"]
    data = base64.b64decode(value["data"][0])
    assert (value["owner"], len(data), data[44], data[45]) == (TOKEN_PROGRAM, 82, 6, 1)


def test_the_chain_shows_what_was_settled(wallet: WalletClient, solana: SolanaWallet) -> None:
    def result(method: str, *params: object) -> Any:
        call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = wallet.sandbox.post("/crypto/rpc/solana-mainnet", call).json()
        return answer.get("result", answer.get("error"))

    account = token_account(solana.address)
    assert result("getSignaturesForAddress", account) == []
    paid = wallet.top_up(header(terms_of(wallet), signed(solana, draft(wallet, solana))))
    (listed,) = result("getSignaturesForAddress", account, {"limit": 1000})
    assert listed["signature"] == unpacked(paid.headers["PAYMENT-RESPONSE"])["transaction"]
    assert (listed["memo"], listed["err"]) == ("[16] 0123456789abcdef", None)
    assert result("getTokenAccountBalance", account)["value"] == {"amount": "95000000", "decimals": 6}
    assert result("getTokenAccountBalance", token_account(OTHER))["code"] == -32602
    assert result("getSignaturesForAddress", token_account(OTHER)) == []


@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    good = base64.b64decode(BY_X402_FOR_PYTHON)
    for each in (data, good[:129] + data, good[:200] + data + good[200:]):
        with pytest.raises(HttpError):
            read_transfer(2, base64.b64encode(each).decode())

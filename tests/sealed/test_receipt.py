"""Receipts: whose signature it is, and whether it is about our bytes. eth-account signs on the far side."""

from __future__ import annotations

import hashlib

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from app.sealed.keys import read_address
from app.sealed.receipt import NO_RECEIPT, ReceiptOutcome, check_receipt, recover_signer
from tests.sealed.samples import vector

VECTORS = vector("envelope.json")["signatures"]
NEAR = vector("receipt-near.json")
SECRET = "0x" + "22" * 32


def sha(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


SENT, RECEIVED = sha(VECTORS["request_body"]), sha(VECTORS["response_body"])
SIGNER = read_address(VECTORS["signer"]) or b""


@pytest.mark.parametrize("form", ["triple", "pair"])
def test_r_tee_15_a_receipt_over_our_bytes_is_bound(form: str) -> None:
    body = {"text": VECTORS["texts"][form], "signature": VECTORS["eip191_signatures"][form]}
    receipt = check_receipt(body, SIGNER, SENT, RECEIVED)
    assert (receipt.outcome, receipt.signer) == (ReceiptOutcome.BOUND, VECTORS["signer"])
    assert check_receipt(body, SIGNER, RECEIVED, SENT).outcome is ReceiptOutcome.SIGNED
    assert check_receipt(body, b"\x00" * 20, SENT, RECEIVED).outcome is ReceiptOutcome.FOREIGN


def test_r_tee_15_a_published_receipt_is_bound_to_its_bytes() -> None:
    address = read_address(NEAR["signing_address"]) or b""
    sent, received = sha(NEAR["request_body"]), sha(NEAR["response_body"])
    assert check_receipt(NEAR, address, sent, received).outcome is ReceiptOutcome.BOUND
    assert check_receipt(NEAR, address, sent, sha(NEAR["response_body"] + "\n")).outcome is ReceiptOutcome.SIGNED
    foreign = {**NEAR, "text": NEAR["text"].replace("Qwen", "Owen")}
    assert check_receipt(foreign, address, sent, received).outcome is ReceiptOutcome.FOREIGN


@pytest.mark.parametrize("text", ["", "a", "one hash only", "Grüße — 你好", "x" * 5000])
def test_signatures_of_another_library_are_recovered(text: str) -> None:
    signed = Account.from_key(SECRET).sign_message(encode_defunct(text=text)).signature
    for v in (signed[64], signed[64] - 27):
        assert recover_signer(text, bytes(signed[:64]) + bytes([v])) == SIGNER


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"text": "x"},
        {"text": "x", "signature": "0x00"},
        {"text": 4, "signature": VECTORS["eip191_signatures"]["pair"]},
        {"text": "", "signature": VECTORS["eip191_signatures"]["pair"]},
        {"text": "x", "signature": "0x" + "00" * 65},
        {"text": "x", "signature": "0x" + "ff" * 65},
        {"text": "x", "signature": {"value": None}},
        {"text": "\ud800", "signature": "0x" + "00" * 65},
        {"text": "x" * 100_001, "signature": VECTORS["eip191_signatures"]["pair"]},
    ],
)
def test_r_tee_15_a_malformed_receipt_fails_in_words(body: object) -> None:
    receipt = check_receipt(body, SIGNER, SENT, RECEIVED)
    assert receipt.outcome is ReceiptOutcome.FAILED and receipt.sentence.endswith(".")


def test_a_signature_as_an_object_is_read() -> None:
    body = {"text": VECTORS["texts"]["pair"], "signature": {"value": VECTORS["eip191_signatures"]["pair"]}}
    assert check_receipt(body, SIGNER, SENT, RECEIVED).outcome is ReceiptOutcome.BOUND


def test_r_tee_15_only_a_bound_receipt_says_that_it_matches() -> None:
    said = {outcome: type(NO_RECEIPT)(outcome).sentence for outcome in ReceiptOutcome}
    assert [outcome for outcome, words in said.items() if "matches" in words] == [ReceiptOutcome.BOUND]
    assert not any("verified" in words for words in said.values())

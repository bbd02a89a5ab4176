"""Signed transactions: what is read is what was signed, by whom, for which chain, and under which hash."""

import contextlib

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import TransactionRefused
from app.wallet.transactions import read_transaction

KEY = "0x" + "46" * 32  # the key of EIP-155's example
SENDER = Account.from_key(KEY).address
TO = "0x3535353535353535353535353535353535353535"
EIP_155 = (
    "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e"
    "1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
)


def signed(**fields: object) -> tuple[str, str]:
    base = {"nonce": 3, "gas": 60_000, "to": TO, "value": 10**18, "data": b"\x01\x02", "chainId": 8453}
    made = Account.sign_transaction({**base, **fields}, KEY)
    return "0x" + made.raw_transaction.hex().removeprefix("0x"), "0x" + made.hash.hex().removeprefix("0x")


def test_eip_155_published_example() -> None:
    read = read_transaction(EIP_155)
    assert (read.nonce, read.gas, read.to, read.value, read.chain_id) == (9, 21_000, TO, 10**18, 1)
    assert (read.sender, read.max_fee, read.kind) == (SENDER, 20 * 10**9, "legacy")
    assert read.most_wei == 10**18 + 420 * 10**12


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"gasPrice": 7}, "legacy"),
        ({"gasPrice": 7, "accessList": [], "type": 1}, "EIP-2930"),
        ({"maxFeePerGas": 7, "maxPriorityFeePerGas": 2}, "EIP-1559"),
    ],
)
def test_every_kind_says_what_another_library_signed(fields: dict[str, object], kind: str) -> None:
    raw, digest = signed(**fields)
    read = read_transaction(raw)
    assert read.kind == kind
    assert (read.hash, read.sender, read.to, read.chain_id) == (digest, SENDER, TO, 8453)
    assert (read.nonce, read.gas, read.value, read.data, read.max_fee) == (3, 60_000, 10**18, b"\x01\x02", 7)
    assert read.most_wei == 10**18 + 7 * 60_000


def test_a_delegation_is_counted() -> None:
    signed_authorization = Account.from_key(KEY).sign_authorization({"chainId": 8453, "address": TO, "nonce": 4})
    raw, digest = signed(
        maxFeePerGas=7, maxPriorityFeePerGas=2, authorizationList=[signed_authorization.model_dump(by_alias=True)]
    )
    read = read_transaction(raw)
    assert (read.kind, read.authorizations, read.hash) == ("EIP-7702 (delegation)", 1, digest)


def test_a_transaction_without_receiver_makes_a_contract() -> None:
    raw, _ = signed(gasPrice=7, to=b"")
    assert read_transaction(raw).to == ""


def test_the_oldest_form_names_no_chain() -> None:
    import rlp
    from eth_keys import keys

    from app.wallet.addresses import keccak256

    fields = [b"\x01", b"\x02", b"\x52\x08", bytes.fromhex(TO[2:]), b"\x05", b""]
    signature = keys.PrivateKey(bytes.fromhex(KEY[2:])).sign_msg_hash(keccak256(rlp.encode(fields)))
    numbers = [27 + signature.v, signature.r, signature.s]
    raw = rlp.encode([*fields, *(number.to_bytes((number.bit_length() + 7) // 8, "big") for number in numbers)])
    read = read_transaction("0x" + raw.hex())
    assert (read.chain_id, read.sender) == (None, SENDER)


@pytest.mark.parametrize(
    "text",
    ["", "0x", "0xf", "hello", "0xzz", EIP_155[:-2], EIP_155 + "00", "0x05c0", "0x02c0", "0xc0", "0x" + "f8" * 40],
)
def test_what_is_no_whole_transaction_is_refused(text: str) -> None:
    with pytest.raises(TransactionRefused) as caught:
        read_transaction(text)
    assert caught.value.sentence.endswith(".")


@given(st.binary(min_size=1, max_size=200))
def test_no_bytes_end_in_anything_but_a_transaction_or_a_refusal(raw: bytes) -> None:
    with contextlib.suppress(TransactionRefused):
        read_transaction("0x" + raw.hex())

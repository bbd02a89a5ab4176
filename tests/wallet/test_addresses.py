"""Addresses: the published checksums, and what a typing error looks like."""

import pytest
from eth_utils import to_checksum_address
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.addresses import (
    checksum_address,
    keccak256,
    read_address,
    read_evm_address,
    read_solana_address,
    same_evm_address,
)
from app.wallet.errors import AddressRefused
from app.wallet.networks import KNOWN_TOKENS, SANDBOX_TOKENS, SOLANA_NETWORK
from tests.wallet.figures import ADDRESS, SOLANA_ADDRESS

PUBLISHED = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0xde709f2102306220921060314715629080e2fb77",
]


@pytest.mark.parametrize("address", PUBLISHED)
def test_eip_55_published_addresses(address: str) -> None:
    for spelling in (address, address.lower(), "0x" + address[2:].upper()):
        assert read_evm_address(spelling) == address


@given(st.binary(min_size=20, max_size=20))
def test_eip_55_as_another_library_writes_it(digits: bytes) -> None:
    address = checksum_address(digits)
    assert address == to_checksum_address(digits)
    assert read_evm_address(address) == address


@given(st.binary(min_size=20, max_size=20), st.integers(0, 39))
def test_a_letter_in_the_wrong_case_is_noticed(digits: bytes, at: int) -> None:
    address = checksum_address(digits)[2:]
    wrong = address[:at] + address[at].swapcase() + address[at + 1 :]
    if wrong == address or wrong in (address.lower(), address.upper()):
        return
    with pytest.raises(AddressRefused) as caught:
        read_evm_address("0x" + wrong)
    assert caught.value.code == "checksum"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0x",
        ADDRESS[:-1],
        ADDRESS + "0",
        ADDRESS[2:],
        ADDRESS + "\n",
        "0x" + "g" * 40,
        "0x" + "１" * 40,
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        read_evm_address(text)


@pytest.mark.parametrize("text", ["", "1" * 31, SOLANA_ADDRESS + "1", SOLANA_ADDRESS[:-1] + "l", "0" * 40, "z" * 44])
def test_what_is_no_address_of_the_other_chain_is_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        read_solana_address(text)


def test_a_pasted_address_tells_its_chain() -> None:
    assert read_address(f" {ADDRESS.lower()}\n") == ("evm", ADDRESS)
    assert read_address("0X" + ADDRESS[2:].lower()) == ("evm", ADDRESS)
    assert read_evm_address("0X" + ADDRESS[2:]) == read_evm_address("0X" + ADDRESS[2:].upper()) == ADDRESS
    assert read_address(SOLANA_ADDRESS) == ("solana", SOLANA_ADDRESS)
    with pytest.raises(AddressRefused):
        read_address("nobody")


def test_comparing_looks_at_digits_only() -> None:
    assert same_evm_address(ADDRESS, ADDRESS.lower())
    assert not same_evm_address(ADDRESS, "0x" + "1" * 40)
    assert not same_evm_address("", "")


def test_the_tokens_that_are_known_have_checksummed_addresses() -> None:
    for token in KNOWN_TOKENS + SANDBOX_TOKENS:
        assert read_address(token.address) == (token.chain, token.address)
        assert token.network == (SOLANA_NETWORK if token.chain == "solana" else f"eip155:{token.chain_id}")
    assert not any(token.test_money for token in KNOWN_TOKENS)
    assert all(token.test_money for token in SANDBOX_TOKENS)
    assert not {token.address for token in KNOWN_TOKENS} & {token.address for token in SANDBOX_TOKENS}


def test_the_hash_is_keccak_and_not_sha3() -> None:
    assert keccak256(b"").hex() == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"

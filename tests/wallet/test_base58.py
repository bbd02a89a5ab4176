"""Base58: both ways, leading zeros, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.wallet import base58
from app.wallet.errors import AddressRefused
from tests.wallet.outside_implementations import x402_solana


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", ""),
        ("1", "00"),
        ("2g", "61"),
        ("a3gV", "626262"),
        ("1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L", "00eb15231dfceb60925886b67d065299925915aeb172c06647"),
        ("1111111111", "00000000000000000000"),
        ("ABnLTmg", "516b6fcd0f"),
    ],
)
def test_published_pairs(text: str, data: str) -> None:
    assert base58.encode(bytes.fromhex(data)) == text
    assert base58.decode(text) == bytes.fromhex(data)


@given(st.binary(max_size=96))
def test_what_is_written_is_read_again_and_a_stranger_writes_the_same(data: bytes) -> None:
    text = base58.encode(data)
    assert base58.decode(text) == data
    if data.strip(b"\x00"):
        assert text == x402_solana.encode_base58(data)
        assert x402_solana.decode_base58(text) == data


@given(st.text(max_size=300))
def test_any_text_ends_in_bytes_or_a_refusal(text: str) -> None:
    try:
        assert base58.encode(base58.decode(text)) == text
    except AddressRefused as refusal:
        assert len(text) < 8 or text not in refusal.sentence  # a shorter one may be a word of it


@pytest.mark.parametrize("text", ["0", "O", "I", "l", "a b", "ß", "1" * 257])
def test_other_characters_and_endless_texts_are_refused(text: str) -> None:
    with pytest.raises(AddressRefused):
        base58.decode(text)

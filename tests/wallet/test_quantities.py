"""Whole numbers of a chain: what is read is what was written, to the last wei."""

import pytest
from eth_utils import from_wei, to_wei
from hypothesis import given
from hypothesis import strategies as st

from app.wallet.errors import QuantityRefused
from app.wallet.quantities import LARGEST, hex_quantity, in_unit, read_block, read_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("0x0", 0),
        ("0x5dc", 1500),
        ("1,500", 1500),
        ("1_500", 1500),
        ("1.5 ether", 15 * 10**17),
        ("1.5ETH", 15 * 10**17),
        ("30 gwei", 30 * 10**9),
        ("2e18", 2 * 10**18),
        ("0.000000000000000001 ether", 1),
        (str(LARGEST), LARGEST),
    ],
)
def test_a_number_is_read_as_it_was_written(text: str, value: int) -> None:
    assert read_quantity(f" {text} ") == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "number"),
        ("0x", "number"),
        ("1.5", "whole"),
        ("0.5 wei", "whole"),
        ("1e-3", "number"),
        ("five", "number"),
        ("5 dollars", "unit"),
        ("-1", "negative"),
        (str(LARGEST + 1), "large"),
        (hex(LARGEST + 1), "large"),
        ("1e999", "large"),
        ("１", "number"),
    ],
)
def test_what_is_no_number_is_refused_with_its_reason(text: str, code: str) -> None:
    with pytest.raises(QuantityRefused) as caught:
        read_quantity(text)
    assert caught.value.code == code
    assert caught.value.sentence.endswith(".")


@given(st.integers(0, LARGEST), st.sampled_from(["wei", "gwei", "ether"]))
def test_a_number_in_a_unit_comes_back_whole_and_as_another_library_says(value: int, unit: str) -> None:
    text = in_unit(value, unit)
    assert read_quantity(f"{text} {unit}") == value
    assert to_wei(text, unit) == value
    assert format(from_wei(value, unit), "f").rstrip("0").rstrip(".") in (text, text.rstrip("0").rstrip("."), "")


@given(st.integers(0, LARGEST))
def test_the_hexadecimal_form_comes_back_whole(value: int) -> None:
    assert read_quantity(hex_quantity(value)) == value


def test_a_block_is_a_tag_or_a_number() -> None:
    assert read_block("Latest") == "latest"
    assert read_block("19000000") == "0x121eac0"
    assert read_block("0x10") == "0x10"
    with pytest.raises(QuantityRefused):
        read_block("newest")

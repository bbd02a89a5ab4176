"""Large JSON in pieces: the same values as in one go, and the same refusals."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.service.http.json_pieces as pieces
from app.service.errors import BadResponse
from app.service.http.json_pieces import read_json_in_pieces
from app.service.http.json_text import read_json

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False, places=3).map(float),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=8),
    max_leaves=60,
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that short texts are walked through as long ones are."""
    monkeypatch.setattr(pieces, "PIECE_CHARS", 16)
    monkeypatch.setattr(pieces, "FIRST_CHARS", 4)
    monkeypatch.setattr(pieces, "LARGE_BYTES", 0)


@given(json_values, st.sampled_from([None, 1]))
def test_the_value_is_the_one_that_one_go_gives(value: object, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "replace")
    assert read_json_in_pieces(data) == read_json(data)


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",: 1ae\\', max_size=40).map(str.encode))
@settings(max_examples=300)
def test_no_bytes_end_in_anything_but_the_same_value_or_the_same_refusal(data: bytes) -> None:
    try:
        expected = read_json(data)
    except BadResponse:
        with pytest.raises(BadResponse):
            read_json_in_pieces(data)
    else:
        assert read_json_in_pieces(data) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1,]",
        "[1",
        '{"a":1,}',
        '{"a" 1}',
        "{1:2}",
        "[1] 2",
        "[NaN]",
        "[1 2]",
        '["' + "x" * 100,
        "[" * 5000,
        "{" * 99,
    ],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(BadResponse):
        read_json_in_pieces(text.encode())


def test_deep_nesting_is_refused_before_the_stack_ends() -> None:
    text = "[" * 2000 + "]" * 2000
    with pytest.raises(BadResponse):
        read_json_in_pieces(text.encode())


def test_a_point_makes_a_decimal() -> None:
    value = read_json_in_pieces(json.dumps({"costs": [0.1] * 50, "n": 12345678901234567890123}).encode())
    assert value == {"costs": [Decimal("0.1")] * 50, "n": 12345678901234567890123}


def test_texts_with_commas_brackets_and_quotes_in_a_long_list_stay_whole() -> None:
    texts = ["a,b", "[", '"', "\\", "x" * 40, "é,\n", ""] * 20
    assert read_json_in_pieces(json.dumps(texts).encode()) == texts

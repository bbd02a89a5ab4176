"""Large JSON that stays text until somebody looks: the same values as in one go, and the same refusals."""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app.service.http.json_large as large
from app.service.errors import BadResponse
from app.service.http.json_large import LargeArray, LargeObject, read_large_json
from app.service.http.json_text import read_json
from tests.service.test_json_pieces import json_values


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so small that short texts are left as text, as long ones are."""
    monkeypatch.setattr(large, "LARGE_BYTES", 12)
    monkeypatch.setattr(large, "LEAST_BYTES_A_MEMBER", 2)


def whole(value: object) -> object:
    """The value with everything in it looked at."""
    if isinstance(value, Mapping):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [whole(each) for each in value]
    return value


@given(json_values, st.sampled_from([None, 1]))
def test_what_is_looked_at_is_what_one_go_gives(value: object, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "replace")
    assert whole(read_large_json(data)) == read_json(data)


@given(st.binary(max_size=60) | st.text(alphabet='[]{}",: 1ae\\', max_size=40).map(str.encode))
@settings(max_examples=300)
def test_no_bytes_end_in_anything_but_the_same_value_or_the_same_refusal(data: bytes) -> None:
    try:
        expected = read_json(data)
    except BadResponse:
        with pytest.raises(BadResponse):
            read_large_json(data)
    else:
        assert whole(read_large_json(data)) == expected


def test_a_list_and_an_object_are_left_as_text_and_read_member_by_member() -> None:
    data = b'{"logs": [{"a": 1.5}, {"b": [1, 2, 3, 4, 5, 6, 7]}, 3], "n": 12345678901234567890123}'
    value = read_large_json(data)
    assert isinstance(value, LargeObject)
    assert list(value) == ["logs", "n"]
    assert "n" in value
    assert value["n"] == 12345678901234567890123
    logs = value["logs"]
    assert isinstance(logs, LargeArray)
    assert logs is value["logs"]  # a large member is looked through once
    assert logs.text == '[{"a": 1.5}, {"b": [1, 2, 3, 4, 5, 6, 7]}, 3]'
    assert [logs.is_container(place) for place in range(3)] == [True, True, False]
    assert (value.is_container("logs"), value.is_container("n")) == (True, False)
    assert logs[0] == {"a": Decimal("1.5")}
    assert whole(logs[-2:]) == [{"b": [1, 2, 3, 4, 5, 6, 7]}, 3]
    with pytest.raises(IndexError):
        logs[3]
    with pytest.raises(KeyError):
        value["other"]


def test_bytes_that_are_not_utf_8_and_a_byte_order_mark_are_overlooked() -> None:
    assert whole(read_large_json(b'\xef\xbb\xbf["one long text", "\xff"]')) == ["one long text", "\ufffd"]
    assert whole(read_large_json(b'{"name \xff": 1, "other": [1, 2]}')) == {"name \ufffd": 1, "other": [1, 2]}


def test_a_list_of_very_many_small_values_is_parsed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "LEAST_BYTES_A_MEMBER", 12)
    assert read_large_json(json.dumps([0] * 50).encode()) == [0] * 50


def test_deep_nesting_is_refused_before_the_stack_ends() -> None:
    with pytest.raises(BadResponse):
        read_large_json(("[" * 2000 + "]" * 2000).encode())


def test_members_are_read_in_another_way_when_they_are_looked_at() -> None:
    looked_at: list[object] = []

    def change(value: object) -> object:
        looked_at.append(whole(value))
        return {"seen": value}

    logs = read_large_json(b'[{"a": 1}, "a text of some length", {"b": [1, 2, 3, 4, 5]}]')
    assert isinstance(logs, LargeArray)
    changed = logs.changed_by(change)
    assert looked_at == []
    assert changed[1] == "a text of some length"  # only lists and objects are changed
    assert changed[0] == {"seen": {"a": 1}}
    assert changed[2] is changed[2]  # a large one is changed once
    assert looked_at == [{"a": 1}, {"b": [1, 2, 3, 4, 5]}]
    assert logs[0] == {"a": 1}

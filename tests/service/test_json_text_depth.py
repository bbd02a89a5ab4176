"""Answers that open brackets without end, also while a library has raised the recursion limit of the process."""

import json
import sys
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.errors import BadResponse
from app.service.http.json_text import MAX_DEPTH, nested_too_deeply, read_json


@pytest.fixture
def _raised_limit() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"b":[', '["]",', '["\\"]",'])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.usefixtures("_raised_limit")
def test_an_endless_nest_is_a_bad_answer_and_not_the_end(opening: str, closed: bool) -> None:
    text = opening * 300_000 + ("1" + "]" * 300_000 if closed else "")
    for data in (text, text.encode()):
        with pytest.raises(BadResponse):
            read_json(data)


@pytest.mark.usefixtures("_raised_limit")
def test_wide_answers_are_read_also_then() -> None:
    wide = [{"name": '[{"\\', "list": [1, {"deep": [[]]}]}] * 2000
    assert read_json(json.dumps(wide)) == wide
    deep: object = 1
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert read_json(json.dumps([deep, *wide])) == [deep, *wide]


def test_brackets_in_texts_do_not_count() -> None:
    assert not nested_too_deeply(json.dumps(["[" * 9000, "{" * 9000, '"' + "[" * 9000]).encode())
    assert nested_too_deeply(b'"]' * 9000 + b"[" * 9000)
    assert nested_too_deeply(b"[" * 9000)


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 400_000, '"' * 800_001, "\\" * 800_000, '["' * 400_000, '"\\', "[]" * 400_000]
)
def test_looking_takes_time_in_proportion_to_the_text(text: str) -> None:
    begun = time.thread_time()
    nested_too_deeply(b"[]" * 1000 + text.encode())
    assert time.thread_time() - begun < 2


json_values = st.recursive(
    st.none() | st.integers() | st.text(st.sampled_from('[]{}"\\a')),
    lambda below: st.lists(below) | st.dictionaries(st.text(st.sampled_from('[]{}"\\a')), below),
)


def depth_of(value: object) -> int:
    below = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if below is None else 1 + max(map(depth_of, below), default=0)


@given(json_values, st.integers(MAX_DEPTH - 10, MAX_DEPTH + 10))
def test_the_depth_is_that_of_the_value(value: object, more: int) -> None:
    text = "[" * more + json.dumps(value) + "]" * more
    many = json.dumps([[]] * MAX_DEPTH)  # so many brackets that they are looked at at all
    assert nested_too_deeply(f"[{many}, {text}]".encode()) is (1 + more + depth_of(value) > MAX_DEPTH)

"""JSON in and out, and what would bring a parser down."""

import subprocess
import sys
from decimal import Decimal

import pytest

from app.service.chat_chunks import ChatReader
from app.service.errors import BadResponse
from app.service.http.json_text import read_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": 1.10}', {"a": Decimal("1.10")}),
        ("\ufeff[1e-7]".encode(), [Decimal("1E-7")]),
        (b"[123456789012345678901234567890]", [123456789012345678901234567890]),
        (b'["\xff"]', ["\ufffd"]),
        (b'["\\ud83d"]', ["\ud83d"]),
        ("[true, null]", [True, None]),
    ],
)
def test_values_are_exact_and_odd_bytes_replaced(text: bytes | str, value: object) -> None:
    assert read_json(text) == value


def test_floats_where_they_will_do() -> None:
    assert read_json(b"[0.5]", exact=False) == [0.5]
    assert isinstance(read_json(b"[0.5]", exact=False)[0], float)  # type: ignore[index] # a list, above


@pytest.mark.parametrize("text", [b"", b"{", b"[1,]", b"NaN", b'{"a": -Infinity}', b"[1] [2]"])
def test_everything_else_is_a_bad_answer(text: bytes) -> None:
    with pytest.raises(BadResponse):
        read_json(text)


def test_a_process_without_a_recursion_limit_survives_nothing_but_brackets() -> None:
    """Some libraries raise the limit for the whole process; without the guard this ends in a segmentation fault."""
    program = """
import sys
sys.setrecursionlimit(10**6)
from app.service.chat_chunks import ChatReader
from app.service.errors import BadResponse
from app.service.http.json_text import read_json
for text in (b"[" * 10**6, b'{"a":' * 10**6, b"[" * 10**6 + b"]" * 10**6):
    try:
        read_json(text)
    except BadResponse:
        print("refused")
    reader = ChatReader(())
    reader.read([b'{"usage":' + text + b"}"])
    print(type(reader.failure).__name__)
"""
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["refused", "BadResponse"] * 3


def test_a_chunk_that_cannot_be_parsed_safely_ends_the_stream_behind_its_text() -> None:
    reader = ChatReader(())
    good = b'{"choices":[{"delta":{"content":"a"}}]}'
    events = reader.read([good, b'{"usage":' + b"[" * 100_000 + b"}", good])
    assert len(events) == 1
    assert isinstance(reader.failure, BadResponse)

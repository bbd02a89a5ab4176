"""Bytes to events, wherever the network cuts them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.errors import BadResponse
from app.service.http.sse import SseReader

NASTY = (
    "\ufeff: keep-alive\r\n\r\n"
    'data: {"text":"crlf"}\r\n\r\n'
    "event: ping\ndata: {}\n\n"
    "data:no space\n\n"
    "data\n\n"
    "data: two\ndata: lines\n\n"
    "data: three\r\ndata: crlf\r\ndata: lines\r\n\r\n"
    'data: {"emoji":"🦜","separator":"\u2028"}\n\n'
    "id: 4\nretry: 10\n\n"
    "\n\n\n"
    "data: cr only\r\r"
    "data: [DONE]\n\n"
).encode()
NASTY_EVENTS = [
    b'{"text":"crlf"}',
    b"{}",
    b"no space",
    b"",
    b"two\nlines",
    b"three\ncrlf\nlines",
    '{"emoji":"🦜","separator":"\u2028"}'.encode(),
    b"cr only",
    b"[DONE]",
]


def events_of(reads: list[bytes]) -> list[bytes]:
    reader = SseReader()
    found = [data for read in reads for data in reader.feed(read)]
    rest = reader.finish()
    return found + ([rest] if rest is not None else [])


def test_comments_crlf_joined_lines_and_line_separators() -> None:
    assert events_of([NASTY]) == NASTY_EVENTS


def test_one_byte_at_a_time_gives_the_same_events() -> None:
    assert events_of([bytes([byte]) for byte in NASTY]) == NASTY_EVENTS


@given(st.lists(st.integers(0, len(NASTY)), max_size=30))
def test_any_cut_gives_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(NASTY)]
    assert events_of([NASTY[a:b] for a, b in pairwise(edges)]) == NASTY_EVENTS


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"data: ", b"\n", b"\r", b"\n\n", b"\xef\xbb\xbf"])))
def test_any_bytes_give_events_that_do_not_depend_on_the_cuts(reads: list[bytes]) -> None:
    whole = b"".join(reads)
    assert events_of(reads) == events_of([whole]) == events_of([bytes([byte]) for byte in whole])


def test_an_event_that_nobody_closed_is_found_at_the_end() -> None:
    assert events_of([b"data: a\n\ndata: [DONE]"]) == [b"a", b"[DONE]"]
    assert events_of([b"data: a\n\n: bye"]) == [b"a"]


def test_a_mark_is_dropped_only_at_the_start() -> None:
    assert events_of([b"\xef", b"\xbb\xbfdata: a\n\n", b"\xef\xbb\xbfdata: b\n\n"]) == [b"a"]


@pytest.mark.parametrize("read", [b"x" * 100, b"data: x\n"])
def test_an_event_without_end_is_refused(read: bytes) -> None:
    reader = SseReader(max_event_bytes=1000)
    with pytest.raises(BadResponse):
        for _ in range(1000):
            reader.feed(read)


def test_many_events_of_allowed_size_are_not_one_large_event() -> None:
    reader = SseReader(max_event_bytes=1000)
    assert sum(len(reader.feed(b"data: " + b"x" * 900 + b"\n\n")) for _ in range(100)) == 100

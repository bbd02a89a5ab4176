"""Streams as other servers send them."""

import json

import pytest

from app.service.chat_chunks import ChatReader
from app.service.chat_types import ChatEvent, Finished, TextDelta, ToolCall, ToolCallsFound
from app.service.http.sse import SseReader
from app.ui.chat.session.live_answer import LiveAnswer
from tests.reported_inputs import reported
from tests.service.loopback import delta


def read(stream: bytes, width: int) -> tuple[LiveAnswer, list[ChatEvent]]:
    """Read a stream in pieces of `width` bytes."""
    sse, reader = SseReader(), ChatReader(())
    live = LiveAnswer("c", "m", "m", clock=lambda: 1.0)
    found: list[ChatEvent] = []
    for at in range(0, len(stream), width):
        events = reader.read(sse.feed(stream[at : at + width]))
        live.append(events)
        found += events
    assert reader.done
    assert reader.failure is None
    return live, found


def streamed(text: str, width: int) -> bytes:
    """The stream of an answer whose text comes in pieces of `width` characters."""
    pieces = [delta(content=text[at : at + width]) for at in range(0, len(text), width)]
    return b"".join(b"data: " + json.dumps(piece).encode() + b"\n\n" for piece in pieces) + b"data: [DONE]\n\n"


WIDTHS = pytest.mark.parametrize("width", [1, 7, 100_000])


@WIDTHS
@pytest.mark.parametrize("name", ["k01-tool-call-empty-finish.sse", "k01-tool-call-stop-repeated.sse"])
def test_a_reason_in_every_piece_ends_no_tool_call(name: str, width: int) -> None:
    live, found = read(reported(name), width)
    assert live.tool_calls == (ToolCall("call_1", "weather", '{"city":"Oslo"}'),)
    assert [type(each) for each in found].count(ToolCallsFound) == 1
    assert [type(each) for each in found].count(Finished) == 1
    assert isinstance(found[-1], Finished)


@WIDTHS
def test_an_empty_reason_ends_no_think_tag(width: int) -> None:
    live, _ = read(reported("k01-think-empty-finish.sse"), width)
    assert (live.reasoning, live.text, live.finish_reason) == ("plan", "Answer.", "stop")


@WIDTHS
def test_white_space_after_the_end_mark_is_no_fault(width: int) -> None:
    live, found = read(reported("k02-done-trailing-space.sse"), width)
    assert (live.text, found[-1]) == ("All of it.", Finished("stop"))


@WIDTHS
@pytest.mark.parametrize("name", ["prose", "code-span", "tilde-fence", "indented-code"])
def test_an_answer_about_think_tags_is_no_reasoning(name: str, width: int) -> None:
    text = reported(f"k03-think-{name}.md").decode()
    live, _ = read(streamed(text, width), 100_000)
    assert (live.text, live.reasoning) == (text, "")


@WIDTHS
@pytest.mark.parametrize("kept", ["", "What was kept of an earlier answer. "])
def test_reasoning_whose_opening_tag_is_in_the_prompt_is_split_off(kept: str, width: int) -> None:
    text = reported("k03-think-no-opening.md").decode()
    reader, live = ChatReader(()), LiveAnswer("c", "m", "m", clock=lambda: 1.0, kept_text=kept)
    moved = [
        live.append(reader.read([json.dumps(delta(content=text[at : at + width])).encode()])).moved
        for at in range(0, len(text), width)
    ]
    live.append(reader.read([b"[DONE]"]))
    assert (live.reasoning, live.text) == ("First I add both.", f"{kept}The sum is 5.")
    assert moved.count(True) == 1


def test_a_log_probability_that_is_no_number_does_not_cost_the_text() -> None:
    chunk = b'{"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": [{"logprob": NaN}]}}]}'
    reader = ChatReader(())
    assert reader.read([chunk]) == (TextDelta("a"),)
    assert reader.failure is None

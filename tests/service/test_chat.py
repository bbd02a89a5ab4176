"""Chat answers, streamed and whole, to events."""

import contextlib
import json
from collections.abc import Callable
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.chat_chunks import ChatReader
from app.service.chat_types import (
    ChatEvent,
    ChatMessage,
    ChatRequest,
    Finished,
    ModelNamed,
    ReasoningDelta,
    ServiceParameters,
    Source,
    SourcesFound,
    TextDelta,
    ToolCall,
    ToolCallsFound,
    Usage,
    UsageReported,
)
from app.service.errors import BadResponse, InBandError, LimitExceeded, ServiceError, StreamCut
from tests.service.loopback import DONE, Watched, answering, delta, event, finish

REQUEST = ChatRequest("m", (ChatMessage("user", "hi"),))
NAMED = ModelNamed("m")
USAGE = {
    "prompt_tokens": 612,
    "completion_tokens": 14,
    "total_tokens": 626,
    "prompt_tokens_details": {"cached_tokens": 512, "cache_creation_input_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 4},
}
CITED = [{"title": "Sky &amp; <b>sea</b>", "url": "https://example.org/sky", "content": "…", "date": ""}]
SKY = Source(0, "Sky & sea", "https://example.org/sky", "…", "")


def streaming(*reads: bytes, content_type: str = "text/event-stream") -> Callable[[httpx.Request], httpx.Response]:
    async def body():  # type: ignore[no-untyped-def] # an async generator for httpx
        for read in reads:
            yield read

    return lambda request: httpx.Response(200, content=body(), headers={"content-type": content_type, "cf-ray": "ray"})


async def events_of(*reads: bytes, dialect: str = "service") -> list[ChatEvent]:
    async with (
        Watched(handler=streaming(*reads), dialect=dialect) as watched,
        watched.service.chat.stream(REQUEST) as stream,
    ):
        return [each async for events in stream for each in events]


async def test_text_reasoning_usage_and_end() -> None:
    found = await events_of(
        event(delta(role="assistant", content="")),
        event(delta(reasoning_content="Light…")),
        event(delta(content="Rayleigh ")) + event(delta(content="scattering.")),
        event(finish()),
        event({"model": "m", "choices": [], "usage": USAGE, "cost": {"usd": 0.00101, "diem": 0.5}}),
        DONE,
    )
    usage = Usage(612, 14, 626, cached=512, reasoning=4, cache_created=8)
    assert found == [
        NAMED,
        ReasoningDelta("Light…"),
        TextDelta("Rayleigh scattering."),
        UsageReported(usage, Decimal("0.50101")),
        Finished("stop"),
    ]


async def test_the_exchange_has_units_and_the_stated_cost_exactly() -> None:
    usage = event({"model": "served", "choices": [], "usage": USAGE}).replace(
        b'"usage"', b'"cost": {"usd": 0.0000001234567890123456789, "diem": 0}, "usage"'
    )
    async with Watched(handler=streaming(event(delta(content="x")), usage, DONE)) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            assert stream.exchange.request.body == {
                "model": "m",
                "messages": [{"role": "user", "content": "hi"}],
                "stream": True,
                "stream_options": {"include_usage": True},
            }
            assert stream.info is None
            async for _ in stream:
                pass
            assert stream.info is not None
            assert (stream.model, stream.usage is not None) == ("served", True)
        exchange = watched.exchange
        assert exchange.cost_usd == Decimal("0.0000001234567890123456789")
        assert (exchange.cost_source, exchange.outcome, exchange.model) == ("stated", "ok", "served")
        assert exchange.units == {
            "prompt_tokens": 612,
            "completion_tokens": 14,
            "total_tokens": 626,
            "cached_tokens": 512,
            "reasoning_tokens": 4,
        }


async def test_a_cost_that_is_not_stated_is_estimated_and_says_so() -> None:
    reads = (event({"model": "m", "choices": [], "usage": USAGE}), DONE)
    async with Watched(handler=streaming(*reads)) as watched:
        async with watched.service.chat.stream(REQUEST, price=lambda usage: Decimal(usage.total)) as stream:
            async for _ in stream:
                pass
        assert (watched.exchange.cost_usd, watched.exchange.cost_source) == (Decimal(626), "estimated")


@pytest.mark.parametrize("stopped", [True, False])
async def test_what_came_before_a_stop_or_a_cut_has_a_price(stopped: bool) -> None:
    """The service counts a whole answer at its end; one that ends early is priced by what came."""
    async with Watched(handler=streaming(event(delta(content="half")))) as watched:
        came: list[ChatEvent] = []
        with contextlib.suppress(StreamCut):
            async with watched.service.chat.stream(REQUEST, price=lambda _usage: Decimal(len(came))) as stream:
                async for events in stream:
                    came += events
                    if stopped:
                        break
        assert (watched.exchange.cost_usd, watched.exchange.cost_source) == (Decimal(len(came)), "estimated")
        assert watched.exchange.outcome == ("stopped" if stopped else "cut")


async def test_an_answer_that_never_began_has_no_price() -> None:
    async with Watched(handler=streaming()) as watched:
        with pytest.raises(StreamCut):
            async with watched.service.chat.stream(REQUEST, price=lambda _usage: Decimal(1)) as stream:
                async for _ in stream:
                    pass
        assert watched.exchange.cost_usd is None


async def test_r_ext_03_think_tags_cut_over_chunks_are_reasoning() -> None:
    reads = [event(delta(content=piece)) for piece in ("<th", "ink>why", "</thi", "nk>\n\n", "because")]
    assert await events_of(*reads, DONE) == [NAMED, ReasoningDelta("why"), TextDelta("because")]


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize(
    "carrier",
    [
        {"service_parameters": {"web_search_citations": CITED}},
        {"venice_parameters": {"web_search_citations": CITED}},
        {"service_search_results": CITED},
        {"venice_search_results": CITED},
    ],
)
async def test_r_ext_22_search_results_are_found_at_any_place_under_any_key(
    carrier: dict[str, object], place: str
) -> None:
    results = event({"model": "m", "choices": [], **carrier})
    text = event(delta(content="x"))
    reads = (results, text) if place == "first" else (text, results)
    found = await events_of(*reads, results, DONE)
    assert found.count(SourcesFound((SKY,))) == 1
    assert set(map(type, found)) == {ModelNamed, TextDelta, SourcesFound}


async def test_sources_keep_their_number_and_lose_addresses_that_are_no_web_addresses() -> None:
    results = [{"title": "a", "url": "javascript:alert(1)"}, "odd", {"title": "c", "link": "http://c", "snippet": "s"}]
    found = await events_of(event({"choices": [], "service_search_results": results}), DONE)
    assert found == [SourcesFound((Source(0, "a"), Source(1), Source(2, "c", "http://c", "s")))]


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("service", "venice_web_search_documents"),
        ("venice", "venice_web_search_documents"),
        ("venice", "web_search"),
    ],
)
async def test_r_ext_24_documents_are_sources_and_never_a_call(dialect: str, name: str) -> None:
    documents = json.dumps({"documents": [{"id": "1", "title": "a", "url": "https://a", "published_at": "2026"}]})
    half = len(documents) // 2
    found = await events_of(
        event(delta(tool_calls=[{"index": 0, "id": "d", "function": {"name": name, "arguments": documents[:half]}}])),
        event(delta(tool_calls=[{"index": 0, "function": {"arguments": documents[half:]}}])),
        event(finish("tool_calls")),
        DONE,
        dialect=dialect,
    )
    assert found == [NAMED, SourcesFound((Source(0, "a", "https://a", "", "2026"),)), Finished("tool_calls")]


async def test_documents_that_cannot_be_read_do_not_cost_the_answer() -> None:
    call = {"id": "d", "function": {"name": "venice_web_search_documents", "arguments": "{"}}
    assert await events_of(event(delta(tool_calls=[call], content="x")), DONE) == [NAMED, TextDelta("x")]


async def test_tool_calls_are_merged_by_id_even_when_they_share_an_index() -> None:
    def fragment(index: int, arguments: str, call_id: str | None = None, name: str | None = None) -> dict[str, object]:
        function = {"arguments": arguments, **({"name": name} if name else {})}
        return {"index": index, "function": function, **({"id": call_id} if call_id else {})}

    async with Watched(
        handler=streaming(
            event(delta(tool_calls=[fragment(0, "", "one", "f"), fragment(0, "", "two", "g")])),
            event(delta(tool_calls=[fragment(0, '{"b"', "two"), fragment(0, ":2}")])),
            event(delta(tool_calls=[fragment(0, "{}", "one"), "odd", {"index": 9}])),
            event(finish("tool_calls")),
            DONE,
        )
    ) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            found = [each async for events in stream for each in events]
        calls = (ToolCall("one", "f", "{}"), ToolCall("two", "g", '{"b":2}'), ToolCall("", "", ""))
        assert found == [NAMED, ToolCallsFound(calls), Finished("tool_calls")]
        assert stream.extra["tool_calls"] == [
            {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
            for each in calls
        ]


async def test_what_must_go_back_unchanged_is_kept() -> None:
    details = {"type": "encrypted", "data": "…"}
    async with Watched(
        handler=streaming(
            event(delta(reasoning_content="a", reasoning_details=[details])),
            event(delta(reasoning_content="b", reasoning_details=[details], thought_signature="s")),
            DONE,
        )
    ) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            async for _ in stream:
                pass
        assert stream.extra == {
            "reasoning_content": "ab",
            "reasoning_details": [details, details],
            "thought_signature": "s",
        }


async def test_e17_an_error_in_the_stream_comes_after_the_text_before_it() -> None:
    reads = event(delta(content="half")) + event({"error": {"message": "Busy", "code": "model_overloaded"}}) + DONE
    found: list[ChatEvent] = []
    async with Watched(handler=streaming(reads)) as watched:
        with pytest.raises(InBandError) as caught:
            async with watched.service.chat.stream(REQUEST) as stream:
                async for events in stream:
                    found += events
    assert found == [NAMED, TextDelta("half")]
    assert (caught.value.code, caught.value.request_id) == ("model_overloaded", "ray")
    assert (watched.exchange.outcome, watched.exchange.error) == ("error", "Busy")


@pytest.mark.parametrize("place", ["in the middle", "at the end"])
async def test_a_piece_that_cannot_be_read_is_not_passed_over(place: str) -> None:
    broken = b'data: {"choices": [{"del' + (b"\n\n" if place == "in the middle" else b"")
    with pytest.raises(BadResponse):
        await events_of(event(delta(content="a")), broken, *((DONE,) if place == "in the middle" else ()))


async def test_the_last_blank_line_may_be_missing() -> None:
    assert await events_of(event(delta(content="a")), b"data: [DONE]") == [NAMED, TextDelta("a")]


async def test_a_stream_without_done_is_cut_and_keeps_what_was_held_back() -> None:
    call = {"index": 0, "id": "one", "function": {"name": "f", "arguments": '{"cut": '}}
    found: list[ChatEvent] = []
    reads = event(delta(content="a\n<thi", tool_calls=[call])) + event(finish("stop"))
    async with Watched(handler=streaming(reads)) as watched:
        with pytest.raises(StreamCut):
            async with watched.service.chat.stream(REQUEST) as stream:
                async for events in stream:
                    found += events
    assert found == [NAMED, TextDelta("a\n"), TextDelta("<thi")]


async def test_other_choices_and_odd_fields_do_not_cost_the_text() -> None:
    found = await events_of(
        event({"model": 5, "choices": [{"index": 1, "delta": {"content": "other"}}, "odd"]}),
        event({"model": "m", "choices": [{"index": "0", "delta": {"content": [{"type": "text", "text": "a"}]}}]}),
        event({"model": "m", "choices": [{"index": 0, "delta": {"content": "b", "reasoning_content": 7}}], "usage": 3}),
        event({"choices": [{"delta": {"content": "c"}, "finish_reason": 3}], "usage": {"prompt_tokens": "x"}}),
        event({"choices": None}),
        event({"choices": 3, "model": None}),
        b"data: 17\n\ndata: \n\ndata: null\n\n: ping\n\n",
        'data: {"choices":[{"delta":{"content":"d\ud83d'.encode("utf-8", "surrogatepass") + b'"}}]}\n\n',
        DONE,
    )
    text = "".join(each.text for each in found if isinstance(each, TextDelta))
    assert text.startswith("abcd")
    assert "other" not in text


async def test_a_tag_held_back_is_given_at_the_end() -> None:
    assert await events_of(event(delta(content="a\n<thi")), event(finish("length")), DONE) == [
        NAMED,
        TextDelta("a\n"),
        TextDelta("<thi"),
        Finished("length"),
    ]


WHOLE = {
    "id": "c",
    "model": "served",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "<think>hm</think>Sky.[REF]0[/REF]",
                "reasoning_content": "deep ",
                "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
            },
        },
        {"index": 1, "message": {"content": "other"}},
    ],
    "usage": USAGE,
    "cost": {"usd": 0.25, "diem": None},
    "service_parameters": {"web_search_citations": CITED},
}


async def test_a_whole_answer() -> None:
    async with Watched(handler=answering(WHOLE)) as watched:
        answer = await watched.service.chat.complete(REQUEST)
        assert (answer.text, answer.reasoning, answer.model, answer.finish_reason) == (
            "Sky.[REF]0[/REF]",
            "deep hm",
            "served",
            "stop",
        )
        assert (answer.sources, answer.tool_calls) == ((SKY,), (ToolCall("1", "f", "{}"),))
        assert (answer.cost_usd, answer.usage and answer.usage.total) == (Decimal("0.25"), 626)
        assert answer.exchange is watched.exchange
        assert (answer.exchange.cost_usd, answer.exchange.outcome) == (Decimal("0.25"), "ok")
        assert answer.extra["reasoning_content"] == "deep "


@pytest.mark.parametrize("choices", [None, [], [{"index": 0}], [{"index": 0, "message": {"content": None}}]])
async def test_a_whole_answer_without_text_is_legal(choices: object) -> None:
    body = {"model": "m", "choices": choices} if choices is not None else {"model": "m"}
    async with Watched(handler=answering(body)) as watched:
        answer = await watched.service.chat.complete(REQUEST)
        assert (answer.text, answer.usage, answer.cost_usd) == ("", None, None)


@pytest.mark.parametrize(("body", "kind"), [({"error": {"message": "no"}}, InBandError), ([1], BadResponse)])
async def test_a_whole_answer_that_is_none(body: object, kind: type[ServiceError]) -> None:
    async with Watched(handler=answering(body)) as watched:
        with pytest.raises(kind):
            await watched.service.chat.complete(REQUEST)
        assert watched.exchange.outcome == "error"
    async with Watched(handler=answering(body)) as watched:
        with pytest.raises(kind):
            async with watched.service.chat.stream(REQUEST) as stream:
                async for _ in stream:
                    pass


async def test_a_deployment_that_does_not_stream_is_understood() -> None:
    async with Watched(handler=answering(WHOLE)) as watched:
        async with watched.service.chat.stream(REQUEST) as stream:
            found = [each async for events in stream for each in events]
        assert TextDelta("Sky.[REF]0[/REF]") in found
        assert (stream.finish_reason, stream.sources) == ("stop", (SKY,))
        assert watched.exchange.outcome == "ok"


async def test_a_web_page_is_no_answer() -> None:
    async with Watched(handler=streaming(b"<html>", content_type="text/html")) as watched:
        with pytest.raises(BadResponse):
            async with watched.service.chat.stream(REQUEST) as stream:
                async for _ in stream:
                    pass


async def test_limits_are_checked_before_anything_is_recorded() -> None:
    async with Watched(handler=answering({})) as watched:
        request = ChatRequest("m", (), ServiceParameters())
        with pytest.raises(LimitExceeded):
            watched.service.chat.stream(request)
        with pytest.raises(LimitExceeded):
            await watched.service.chat.complete(request)
        assert watched.exchanges == []


async def test_the_venice_dialect_sends_its_own_names() -> None:
    async with Watched(handler=answering(WHOLE), dialect="venice") as watched:
        request = ChatRequest("m", REQUEST.messages, ServiceParameters(disable_thinking=True))
        await watched.service.chat.complete(request)
        assert json.loads(watched.requests[0].content)["venice_parameters"] == {"disable_thinking": True}


KEYS = [
    *(
        "choices",
        "delta",
        "message",
        "index",
        "content",
        "reasoning_content",
        "finish_reason",
        "tool_calls",
        "function",
    ),
    *("arguments", "id", "name", "usage", "prompt_tokens", "cost", "usd", "error", "model", "reasoning_details"),
    *("service_parameters", "web_search_citations", "service_search_results", "url", "title"),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "0", "<think>", "x"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(KEYS), below, max_size=6),
    max_leaves=25,
)


@given(st.lists(VALUES.map(json.dumps).map(str.encode) | st.binary(max_size=80) | st.just(b"[DONE]"), max_size=8))
def test_no_chunk_makes_the_reader_raise(chunks: list[bytes]) -> None:
    reader = ChatReader(("venice_web_search_documents",))
    for event_ in reader.read(chunks):
        assert not isinstance(event_, (TextDelta, ReasoningDelta)) or event_.text
    assert reader.failure is None or isinstance(reader.failure, ServiceError)


@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_no_whole_answer_makes_the_reader_raise(content: dict[str, object]) -> None:
    reader = ChatReader(())
    reader.read_whole(content)
    assert reader.failure is None or isinstance(reader.failure, ServiceError)


@given(st.lists(st.text(max_size=12), max_size=12), st.data())
def test_the_text_is_the_same_however_the_chunks_are_read(texts: list[str], data: st.DataObject) -> None:
    chunks = [json.dumps(delta(content=text)).encode() for text in texts]
    together, apart = ChatReader(()), ChatReader(())

    def text_of(events: tuple[ChatEvent, ...]) -> str:
        return "".join(each.text for each in events if isinstance(each, TextDelta))

    split = data.draw(st.integers(0, len(chunks)))
    one = text_of(together.read([*chunks, b"[DONE]"]))
    two = text_of(apart.read(chunks[:split])) + text_of(apart.read([*chunks[split:], b"[DONE]"]))
    assert one == two

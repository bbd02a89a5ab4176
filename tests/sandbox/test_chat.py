"""`POST /chat/completions`: the request, the answer whole and streamed, prompts and caching: rules R-CHAT."""

import base64
from typing import Any

import httpx
import pytest

from tests.documents import samples
from tests.sandbox.support import Client, deltas

PNG_HEAD = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR"


def picture(width: int, height: int) -> dict[str, Any]:
    data = PNG_HEAD + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    url = "data:image/png;base64," + base64.b64encode(data).decode()
    return {"type": "image_url", "image_url": {"url": url}}


def user(*parts: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


def fields_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 400, answer.text
    return answer.json()["details"]


SYSTEM = {"role": "system", "content": "Answer in one paragraph."}


def test_R_CHAT_01_R_CHAT_02_the_default_prompt_comes_first_then_the_callers(sandbox: Client) -> None:
    sandbox.chat(messages=[SYSTEM, {"role": "user", "content": "hello"}])
    roles = [(m["role"], m["content"]) for m in sandbox.control("/prompt", method="GET")["messages"]]
    assert [role for role, _ in roles] == ["system", "system", "user"]
    assert "Rialto" in roles[0][1]
    assert roles[1][1] == SYSTEM["content"]


def test_R_CHAT_03_the_default_prompt_can_be_left_out(sandbox: Client) -> None:
    body = {"service_parameters": {"include_venice_system_prompt": False}}
    shorter = sandbox.chat(messages=[SYSTEM, {"role": "user", "content": "hello"}], **body)
    assert [m["content"] for m in sandbox.control("/prompt", method="GET")["messages"]] == [SYSTEM["content"], "hello"]
    longer = sandbox.chat(messages=[SYSTEM, {"role": "user", "content": "hello"}])
    assert longer["usage"]["prompt_tokens"] > shorter["usage"]["prompt_tokens"] + 50


def test_R_CHAT_04_a_repeated_system_prompt_is_read_from_the_cache(sandbox: Client) -> None:
    first = sandbox.chat("hello")["usage"]["prompt_tokens_details"]
    second = sandbox.chat("What is a receipt?")["usage"]["prompt_tokens_details"]
    assert first["cached_tokens"] == 0
    assert second["cached_tokens"] > 50
    assert sandbox.chat(model="rialto-plain")["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_cached_tokens_cost_less_and_the_cache_cools_down(sandbox: Client) -> None:
    first, second = sandbox.chat("hello"), sandbox.chat("hello")
    assert second["cost"]["usd"] < first["cost"]["usd"]
    sandbox.turn_clock(301)
    assert sandbox.chat("hello")["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_R_CHAT_05_R_CHAT_14_cache_control_is_accepted_on_every_part_and_counted(sandbox: Client) -> None:
    text = {"type": "text", "text": "A long document. " * 60, "cache_control": {"type": "ephemeral"}}
    first = sandbox.chat(messages=user(text))["usage"]["prompt_tokens_details"]
    assert first["cache_creation_input_tokens"] > 200
    second = sandbox.chat(messages=[*user(text), {"role": "user", "content": "And now?"}])["usage"]
    assert second["prompt_tokens_details"]["cached_tokens"] > 200
    assert second["prompt_tokens_details"]["cache_creation_input_tokens"] == 0
    marked = {**picture(64, 64), "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert sandbox.chat_raw(model="rialto-vision", messages=user(marked)).status_code == 200
    five = [{**text, "text": f"Part {n}"} for n in range(5)]
    assert "cache_control" in fields_of(sandbox.chat_raw(messages=user(*five)))["messages"]["_errors"][0]


def test_R_CHAT_06_the_cache_key_is_any_string(sandbox: Client) -> None:
    assert sandbox.chat_raw(prompt_cache_key="conv-1").status_code == 200
    assert fields_of(sandbox.chat_raw(prompt_cache_key=7))["prompt_cache_key"]["_errors"]


def test_R_CHAT_07_a_repeated_cache_key_finds_more_of_the_conversation(sandbox: Client) -> None:
    history = [
        {"role": "user", "content": "How do I stop an answer? " * 20},
        {"role": "assistant", "content": "Press Esc."},
    ]
    sandbox.chat(messages=history[:1], prompt_cache_key="one")
    sandbox.chat(messages=history[:1])
    again = [*history, {"role": "user", "content": "And then?"}]
    keyed = sandbox.chat(messages=again, prompt_cache_key="one")["usage"]["prompt_tokens_details"]["cached_tokens"]
    unkeyed = sandbox.chat(messages=again)["usage"]["prompt_tokens_details"]["cached_tokens"]
    other = sandbox.chat(messages=again, prompt_cache_key="two")["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert keyed > unkeyed > other == 0


def test_R_CHAT_08_the_model_is_required_and_known(sandbox: Client) -> None:
    missing = sandbox.post("/chat/completions", {"messages": [{"role": "user", "content": "hi"}]})
    assert fields_of(missing)["model"]["_errors"] == ["Required"]
    unknown = sandbox.chat_raw(model="no-such-model")
    assert (unknown.status_code, "error" in unknown.json()) == (404, True)


def test_traits_and_aliases_are_model_names_and_the_answer_says_who_served(sandbox: Client) -> None:
    assert sandbox.chat(model="default")["model"] == "rialto-handbook"
    assert sandbox.chat(model="default_reasoning")["model"] == "rialto-reasoning"
    assert sandbox.chat(model="gpt-4o-mini")["model"] == "rialto-handbook"


@pytest.mark.parametrize("messages", [None, []])
def test_R_CHAT_09_at_least_one_message(sandbox: Client, messages: Any) -> None:
    body = {"model": "rialto-handbook", **({} if messages is None else {"messages": messages})}
    assert fields_of(sandbox.post("/chat/completions", body))["messages"]["_errors"]


def test_R_CHAT_09_a_message_without_role_or_content_is_named(sandbox: Client) -> None:
    details = fields_of(
        sandbox.chat_raw(messages=[{"content": "hi"}, {"role": "user"}, {"role": "king", "content": "x"}])
    )
    assert details["messages"]["0"]["role"]["_errors"] == ["Required"]
    assert details["messages"]["1"]["content"]["_errors"] == ["Required"]
    assert "king" in details["messages"]["2"]["role"]["_errors"][0]
    assert details["messages"]["_errors"] == [] and details["messages"]["0"]["_errors"] == []


def test_R_CHAT_10_text_as_string_and_as_part_mean_the_same(sandbox: Client) -> None:
    as_part = sandbox.said(messages=user({"type": "text", "text": "How do I stop an answer?"}))
    assert as_part == sandbox.said("How do I stop an answer?")
    assert "Esc" in as_part


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("R-CHAT-11", picture(80, 80)),
        ("R-CHAT-12", {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}),
        ("R-CHAT-13", {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}),
    ],
)
def test_R_CHAT_11_R_CHAT_12_R_CHAT_13_media_only_on_models_that_support_them(
    sandbox: Client, rule: str, part: Any
) -> None:
    refused = sandbox.chat_raw(messages=user({"type": "text", "text": "What is this?"}, part))
    assert "does not support" in fields_of(refused)["messages"]["_errors"][0], rule
    assert sandbox.chat_raw(model="rialto-vision", messages=user(part)).status_code == 200, rule


def test_the_attachment_meter_says_what_it_measured(sandbox: Client) -> None:
    answer = sandbox.said(model="rialto-vision", messages=user(picture(640, 480)))
    assert "PNG, 640 × 480 pixels" in answer
    assert "do not see" in answer


def test_an_image_below_64_pixels_is_refused(sandbox: Client) -> None:
    refused = sandbox.chat_raw(model="rialto-vision", messages=user(picture(63, 200)))
    assert "64 pixels" in fields_of(refused)["messages"]["_errors"][0]


def attached(name: str, data: bytes) -> dict[str, object]:
    address = f"data:application/octet-stream;base64,{base64.b64encode(data).decode()}"
    return {"type": "file", "file": {"file_data": address, "filename": name}}


def asked(sandbox: Client, question: str, *parts: dict[str, object]) -> str:
    return sandbox.said(messages=user({"type": "text", "text": question}, *parts))


def test_a_file_is_read_beside_the_handbook(sandbox: Client) -> None:
    answer = asked(sandbox, "How do I stop an answer?", attached("notes.txt", b"The cat sleeps.\n\nAn answer stops."))
    assert "“notes.txt” says:\n\n> An answer stops." in answer
    assert "Esc" in answer


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.docx", samples.docx(), "> The flat costs 900 euros."),
        ("a.pdf", samples.pdf("Preamble", "The flat costs 900 euros."), "> The flat costs 900 euros."),
        ("a.epub", samples.epub(), "“a.epub” says nothing about that."),
        ("a.pdf", samples.pdf(""), "[Error processing file a.pdf: No text content could be extracted from the file.]"),
        ("a.bin", bytes(range(256)), "[Error processing file a.bin: Unsupported file type.]"),
        ("cut.docx", samples.docx()[:90], "[Error processing file cut.docx: Unsupported file type.]"),
    ],
    ids=["docx", "pdf", "epub", "empty pdf", "bytes", "cut docx"],  # an archive has the time in it, and so another name
)
def test_a_file_becomes_text_and_one_that_cannot_be_read_is_no_error_R_AUG_11(
    sandbox: Client, name: str, data: bytes, words: str
) -> None:
    assert words in asked(sandbox, "What does the flat cost?", attached(name, data))


def test_a_quote_cites_its_file_when_that_is_asked_for(sandbox: Client) -> None:
    ask = {"role": "system", "content": "After each sentence based on one, write [n](#passage-n)."}
    parts = {"type": "text", "text": "What does the flat cost?"}, attached("a.docx", samples.docx())
    assert "> The flat costs 900 euros. [1](#passage-1)" in sandbox.said(messages=[ask, *user(*parts)])


def test_each_passage_of_a_file_of_passages_is_cited_by_its_place(sandbox: Client) -> None:
    ask = {"role": "system", "content": "After each sentence based on one, write [n](#passage-n)."}
    text = (
        "## Passage 1: a.md, line 1\n\nThe flat costs 900 euros.\n\n## Passage 2: b.md, line 4\n\nCats sleep.\n\n## End"
    )
    parts = {"type": "text", "text": "What does the flat cost?"}, attached("Passages.txt", text.encode())
    said = sandbox.said(messages=[ask, *user(*parts)])
    assert "“a.md, line 1” says:\n\n> The flat costs 900 euros. [1](#passage-1)" in said
    assert "“b.md, line 4” says nothing about that." in said


def test_the_text_of_a_file_is_paid_for(sandbox: Client) -> None:
    def tokens(*parts: dict[str, object]) -> int:
        answer = sandbox.chat(messages=user({"type": "text", "text": "Hello"}, *parts))
        return int(answer["usage"]["prompt_tokens"])

    assert tokens(attached("a.txt", b"word " * 2_000)) > tokens() + 1_500


def test_no_more_than_five_files_and_none_over_25_mb_R_AUG_10(sandbox: Client) -> None:
    hello = {"type": "text", "text": "Hello"}
    many = sandbox.chat_raw(messages=user(hello, *[attached("a.txt", b"hi")] * 6))
    assert "5 file parts" in fields_of(many)["messages"]["_errors"][0]
    assert sandbox.chat_raw(messages=user(hello, attached("a.txt", b"a" * 26_300_000))).status_code == 413


def test_R_CHAT_15_the_defaults_hold_without_the_extension_object(sandbox: Client) -> None:
    answer = sandbox.chat()
    assert answer["service_parameters"]["enable_web_search"] == "off"
    assert "[REF]" not in answer["choices"][0]["message"]["content"]


def test_R_CHAT_16_the_documented_openai_fields_are_accepted(sandbox: Client) -> None:
    accepted = {
        "temperature": 0.2, "top_p": 0.9, "top_k": 40, "min_p": 0.1, "frequency_penalty": 0.5, "presence_penalty": -0.5,
        "repetition_penalty": 1.1, "max_completion_tokens": 400, "seed": 7, "stop": ["\n\n\n"], "user": "x",
        "store": False, "metadata": {"a": "b"}, "response_format": {"type": "text"}, "verbosity": "low",
        "parallel_tool_calls": True,
        "stream_options": {"include_usage": True}, "prompt_cache_retention": "24h",
    }  # fmt: skip
    assert sandbox.chat_raw(**accepted).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 2.1), ("temperature", "warm"), ("top_p", -0.1), ("top_k", -1), ("frequency_penalty", 3),
        ("seed", 0), ("n", 0), ("n", 1.5), ("stop", ["a", "b", "c", "d", "e"]), ("max_completion_tokens", 0),
        ("stream", "yes"),
        ("reasoning_effort", "enormous"), ("response_format", {"type": "poem"}), ("max_completion_tokens", 100_000),
    ],
)  # fmt: skip
def test_values_out_of_range_are_named(sandbox: Client, name: str, value: Any) -> None:
    details = fields_of(sandbox.chat_raw(**{name: value}))
    found = details[name]
    assert found["_errors"] or any(inner["_errors"] for key, inner in found.items() if key != "_errors")


def test_R_CHAT_17_streaming_ends_with_finish_usage_and_done(sandbox: Client) -> None:
    events = sandbox.stream()
    assert events[-1] == "[DONE]"
    assert events[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    finish, totals = events[-3], events[-2]
    assert finish["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}
    assert totals["choices"] == []
    assert set(totals["usage"]) >= {"prompt_tokens", "completion_tokens", "total_tokens"}
    assert totals["cost"]["usd"] > 0
    assert len({event["id"] for event in events[:-1]}) == 1


def test_a_streamed_answer_is_charged_exactly_once(sandbox: Client) -> None:
    cost = sandbox.stream()[-2]["cost"]["usd"]
    assert 100 - float(sandbox.balance()) == pytest.approx(cost)
    assert len(sandbox.get("/billing/usage-history").json()["data"]) == 2


def test_whole_and_streamed_answers_are_the_same(sandbox: Client) -> None:
    whole, events = sandbox.chat("What is the Sandbox?"), sandbox.stream("What is the Sandbox?")
    assert deltas(events, "content") == whole["choices"][0]["message"]["content"]
    assert events[-2]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]


def test_R_NS_01_the_whole_answer_has_the_documented_shape(sandbox: Client) -> None:
    answer = sandbox.chat()
    assert answer["object"] == "chat.completion" and answer["id"].startswith("chatcmpl-")
    assert isinstance(answer["created"], int)
    choice = answer["choices"][0]
    assert choice["message"]["role"] == "assistant"
    assert (choice["index"], choice["finish_reason"], choice["stop_reason"], choice["logprobs"]) == (
        0,
        "stop",
        None,
        None,
    )
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_stop_string_ends_the_answer_before_it(sandbox: Client) -> None:
    full = sandbox.said()
    at = full.index("Stop button")
    answer = sandbox.chat(stop=["Stop button", "never occurs"])
    assert answer["choices"][0]["message"]["content"] == full[:at]
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert deltas(sandbox.stream(stop="Stop button"), "content") == full[:at]


def test_the_token_limit_ends_the_answer_with_length(sandbox: Client) -> None:
    answer = sandbox.chat(max_completion_tokens=5)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 5
    assert sandbox.chat(max_tokens=4)["usage"]["completion_tokens"] == 4
    assert sandbox.chat(max_tokens=4, max_completion_tokens=6)["usage"]["completion_tokens"] == 6


def test_several_choices_are_all_made_and_all_billed(sandbox: Client) -> None:
    one, three = sandbox.chat(model="rialto-plain"), sandbox.chat(model="rialto-plain", n=3)
    assert [choice["index"] for choice in three["choices"]] == [0, 1, 2]
    assert three["usage"]["completion_tokens"] == 3 * one["usage"]["completion_tokens"]
    events = sandbox.stream(model="rialto-plain", n=2)
    assert deltas(events, "content", 0) == deltas(events, "content", 1) != ""


def test_a_conversation_longer_than_the_model_reads_is_refused_with_the_object_form(sandbox: Client) -> None:
    answer = sandbox.chat_raw("word " * 9000, model="rialto-plain")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"


def test_the_offline_model_is_listed_and_refused(sandbox: Client) -> None:
    assert sandbox.chat_raw(model="rialto-night-shift").status_code == 503


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        ("response_format", {"response_format": {"type": "json_object"}}),
        ("logprobs", {"logprobs": True}),
        ("reasoning_effort", {"reasoning_effort": "low"}),
    ],
)
def test_what_a_model_cannot_do_is_refused_before_anything_is_spent(sandbox: Client, field: str, body: Any) -> None:
    before = sandbox.balance()
    assert fields_of(sandbox.chat_raw(model="rialto-plain", **body))[field]["_errors"]
    assert sandbox.balance() == before


def test_an_effort_that_the_model_does_not_have_is_refused(sandbox: Client) -> None:
    assert sandbox.chat_raw(model="rialto-reasoning", reasoning_effort="high").status_code == 200
    assert fields_of(sandbox.chat_raw(model="rialto-reasoning", reasoning_effort="xhigh"))["reasoning_effort"][
        "_errors"
    ]


def test_odd_messages_and_parts_are_named_where_they_stand(sandbox: Client) -> None:
    messages = [
        None,
        {"role": "user", "content": 5},
        {"role": "user", "content": ["text", {"type": "smell"}, {"type": "image_url"}, {"type": "text", "text": ""}]},
        {"role": "system", "content": [picture(64, 64)]},
        {"role": "tool", "content": "no id"},
    ]
    found = fields_of(sandbox.chat_raw(messages=messages))["messages"]
    assert found["0"]["_errors"] and found["1"]["content"]["_errors"]
    assert all(found["2"]["content"][n]["_errors"] or found["2"]["content"][n] for n in "0123")
    assert found["2"]["content"]["2"]["image_url"]["_errors"] == ["Required"]
    assert "Only user messages" in found["3"]["content"]["0"]["_errors"][0]
    assert found["4"]["tool_call_id"]["_errors"] == ["Required"]
    assert fields_of(sandbox.chat_raw(messages="hello"))["messages"]["_errors"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"tools": [{"type": "hammer"}]}, ("tools", "0", "type")),
        ({"tools": {}}, ("tools",)),
        ({"tool_choice": "perhaps", "tools": []}, ("tool_choice",)),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, ("response_format", "json_schema", "schema")),
        ({"stop": [1]}, ("stop", "0")),
        ({"reasoning": {"effort": "huge"}}, ("reasoning", "effort")),
        ({"service_parameters": []}, ("service_parameters",)),
        ({"stream_options": {"include_usage": 1}}, ("stream_options", "include_usage")),
    ],
)
def test_odd_options_are_named_where_they_stand(sandbox: Client, body: Any, path: tuple[str, ...]) -> None:
    level = fields_of(sandbox.chat_raw(**body))
    for step in path:
        level = level[step]
    assert level["_errors"]


def test_reasoning_can_be_switched_off_in_three_ways(sandbox: Client) -> None:
    for body in ({"reasoning_effort": "none"}, {"reasoning": {"enabled": False}}, {"reasoning": {"effort": "none"}}):
        message = sandbox.chat(model="rialto-reasoning", **body)["choices"][0]["message"]
        assert message["reasoning_content"] is None


def test_search_tools_validate_and_turn_nothing_on(sandbox: Client) -> None:
    answer = sandbox.chat(tools=[{"type": "web_search"}, {"type": "x_search"}])
    assert answer["service_parameters"]["web_search_citations"] == []
    assert "Esc" in answer["choices"][0]["message"]["content"]

"""What a chat request says on the wire, and what is refused before it is sent."""

import json
from dataclasses import fields, replace

import pytest

from app.service.chat_body import chat_body, parse_suffix
from app.service.chat_types import ChatMessage, ChatRequest, ContentPart, ServiceParameters
from app.service.errors import LimitExceeded

HELLO = ChatRequest("m", (ChatMessage("user", "hi"),))


def body(request: ChatRequest = HELLO, *, stream: bool = False, **changes: object) -> dict[str, object]:
    return chat_body(replace(request, **changes), "service_parameters", stream=stream)  # type: ignore[arg-type] # names of real fields


def parameters(**values: object) -> object:
    return body(parameters=ServiceParameters(**values)).get("service_parameters")  # type: ignore[arg-type] # names of real fields


def with_parts(*parts: ContentPart) -> ChatRequest:
    return ChatRequest("m", (ChatMessage("user", parts),))


def test_r_chat_15_nothing_but_model_and_messages_is_sent_by_default() -> None:
    assert body() == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_r_chat_16_options_are_sent_when_set() -> None:
    sent = body(
        temperature=0.0,
        top_p=1.0,
        max_completion_tokens=5,
        reasoning_effort="low",
        seed=7,
        stop=("a", "b"),
        prompt_cache_key="chat-1",
    )
    assert {name: sent[name] for name in sent if name not in ("model", "messages")} == {
        "temperature": 0.0,
        "top_p": 1.0,
        "max_completion_tokens": 5,
        "reasoning_effort": "low",
        "seed": 7,
        "prompt_cache_key": "chat-1",
        "stop": ["a", "b"],
    }


def test_r_chat_17_a_stream_asks_for_its_usage() -> None:
    sent = body(stream=True)
    assert (sent["stream"], sent["stream_options"]) == (True, {"include_usage": True})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("character_slug", "harbour-pilot", id="R-EXT-01"),
        pytest.param("strip_thinking_response", True, id="R-EXT-02"),
        pytest.param("disable_thinking", True, id="R-EXT-04"),
        pytest.param("enable_web_search", "auto", id="R-EXT-06"),
        pytest.param("enable_web_scraping", True, id="R-EXT-09"),
        pytest.param("enable_x_search", True, id="R-EXT-14"),
        pytest.param("enable_web_citations", True, id="R-EXT-18"),
        pytest.param("include_search_results_in_stream", True, id="R-EXT-21"),
        pytest.param("return_search_results_as_documents", True, id="R-EXT-23"),
        pytest.param("include_venice_system_prompt", False, id="R-EXT-25, R-CHAT-03"),
    ],
)
def test_r_ext_each_parameter_is_sent_only_when_it_differs(name: str, value: object) -> None:
    assert parameters(**{name: value}) == {name: value}
    default = next(field.default for field in fields(ServiceParameters) if field.name == name)
    assert parameters(**{name: default}) is None


def test_r_gen_03_the_extension_object_has_the_dialect_s_name() -> None:
    request = replace(HELLO, parameters=ServiceParameters(disable_thinking=True))
    assert chat_body(request, "venice_parameters", stream=False)["venice_parameters"] == {"disable_thinking": True}


def test_r_ext_21_a_stream_that_searches_asks_for_its_results() -> None:
    for searching in (ServiceParameters(enable_web_search="on"), ServiceParameters(enable_x_search=True)):
        sent = body(stream=True, parameters=searching)["service_parameters"]
        assert isinstance(sent, dict)
        assert sent["include_search_results_in_stream"] is True
        assert "include_search_results_in_stream" not in str(body(parameters=searching))
    documents = ServiceParameters(enable_web_search="on", return_search_results_as_documents=True)
    assert "include_search_results_in_stream" not in str(body(stream=True, parameters=documents))


@pytest.mark.parametrize(
    ("typed", "model", "found"),
    [
        ("glm:enable_web_search=auto", "glm", {"enable_web_search": "auto"}),
        (
            "glm:enable_web_search=on&enable_web_citations=true&include_venice_system_prompt=false",
            "glm",
            {"enable_web_search": "on", "enable_web_citations": True, "include_venice_system_prompt": False},
        ),
        ("a/b:character_slug=harbour%20pilot", "a/b", {"character_slug": "harbour pilot"}),
        ("glm:unknown=1&disable_thinking=maybe&enable_web_search=yes", "glm", {}),
        ("llama3.2:1b", "llama3.2:1b", {}),
        ("llama3.2:1b:disable_thinking=true", "llama3.2:1b", {"disable_thinking": True}),
        ("glm", "glm", {}),
        ("glm:", "glm:", {}),
    ],
)
def test_r_ext_27_the_suffix_form(typed: str, model: str, found: dict[str, object]) -> None:
    assert parse_suffix(typed) == (model, found)


def test_r_ext_27_a_typed_suffix_beats_the_object_and_moves_into_it() -> None:
    sent = body(model="glm:enable_web_search=on", parameters=ServiceParameters(enable_web_search="off"))
    assert (sent["model"], sent["service_parameters"]) == ("glm", {"enable_web_search": "on"})


def test_r_chat_10_r_chat_11_r_chat_12_r_chat_13_r_chat_14_parts_and_cache_marks() -> None:
    sent = body(
        with_parts(
            ContentPart.of_text("look", cache=True),
            ContentPart.of_image("https://example.org/a.png"),
            ContentPart.of_audio("UklGRg==", "mp3"),
            ContentPart.of_video("https://example.org/a.mp4"),
            ContentPart.of_file("data:text/plain;base64,aGk=", "a.txt"),
        )
    )
    assert sent["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "mp3"}},
                {"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}},
                {"type": "file", "file": {"file_data": "data:text/plain;base64,aGk=", "filename": "a.txt"}},
            ],
        }
    ]


def test_an_assistant_message_goes_back_with_everything_it_came_with() -> None:
    extra = {"reasoning_content": "r", "thought_signature": "s", "tool_calls": [{"id": "1"}]}
    message = ChatMessage("assistant", None, extra)
    assert message.to_wire() == {"role": "assistant", "content": None, **extra}


def test_r_gen_15_the_expert_s_box_is_merged_last() -> None:
    sent = body(
        temperature=1.0,
        parameters=ServiceParameters(disable_thinking=True),
        extra={"temperature": 0.5, "top_k": 3, "service_parameters": {"new": 1}},
    )
    assert (sent["temperature"], sent["top_k"]) == (0.5, 3)
    assert sent["service_parameters"] == {"disable_thinking": True, "new": 1}


def test_r_chat_04_equal_requests_are_equal_bytes() -> None:
    one = ServiceParameters(enable_web_search="on", disable_thinking=True)
    other = ServiceParameters(disable_thinking=True, enable_web_search="on")
    assert json.dumps(body(parameters=one)) == json.dumps(body(parameters=other))


MANY = (ContentPart.of_image("https://example.org/a.png"),)
BIG = "A" * (35 * 1024 * 1024)


@pytest.mark.parametrize(
    ("request_", "field", "allowed"),
    [
        pytest.param(replace(HELLO, model=" "), "model", "1", id="R-CHAT-08"),
        pytest.param(replace(HELLO, messages=()), "messages", "1", id="R-CHAT-09"),
        pytest.param(replace(HELLO, temperature=2.01), "temperature", "0 to 2", id="temperature"),
        pytest.param(replace(HELLO, temperature=float("nan")), "temperature", "0 to 2", id="temperature nan"),
        pytest.param(replace(HELLO, top_p=-0.1), "top_p", "0 to 1", id="top_p"),
        pytest.param(replace(HELLO, max_completion_tokens=0), "max_completion_tokens", "1", id="tokens"),
        pytest.param(replace(HELLO, seed=0), "seed", "1", id="seed"),
        pytest.param(replace(HELLO, stop=("a",) * 5), "stop", "4", id="stop"),
        pytest.param(replace(HELLO, reasoning_effort="huge"), "reasoning_effort", None, id="effort"),
        pytest.param(
            replace(HELLO, parameters=ServiceParameters(enable_web_search="maybe")),
            "enable_web_search",
            "off, on, auto",
            id="R-EXT-06",
        ),
        pytest.param(
            replace(HELLO, parameters=ServiceParameters(character_slug=" ")), "character_slug", "1", id="R-EXT-01"
        ),
        pytest.param(
            with_parts(*[ContentPart.of_text("x", cache=True)] * 5), "cache_control", "4", id="R-CHAT-05 four marks"
        ),
        pytest.param(with_parts(*[ContentPart.of_video("https://v")] * 4), "video_url", "3", id="R-CHAT-13"),
        pytest.param(with_parts(*MANY * 11), "image_url", "10", id="R-CHAT-11"),
        pytest.param(with_parts(*[ContentPart.of_audio("AA==")] * 6), "input_audio", "5", id="R-CHAT-12 five"),
        pytest.param(with_parts(*[ContentPart.of_file("https://f")] * 6), "file", "5", id="files"),
        pytest.param(with_parts(ContentPart.of_text("")), "messages[0].content[0]", "1", id="empty text"),
        pytest.param(
            with_parts(ContentPart.of_audio("data:audio/wav;base64,AA==")),
            "messages[0].content[0]",
            "base64",
            id="R-CHAT-12 no address",
        ),
        pytest.param(with_parts(ContentPart.of_audio("AA==", "midi")), "messages[0].content[0]", None, id="format"),
        pytest.param(
            with_parts(ContentPart.of_image("data:image/png;base64," + BIG)),
            "messages[0].content[0]",
            "25 MB",
            id="attachment",
        ),
        pytest.param(with_parts(ContentPart.of_audio(BIG)), "messages[0].content[0]", "25 MB", id="sound"),
        pytest.param(ChatRequest("m", (ChatMessage("user", BIG + "A"),)), "messages", "35 MB", id="body"),
    ],
)
def test_r_chat_limits_are_refused_before_sending(request_: ChatRequest, field: str, allowed: str | None) -> None:
    with pytest.raises(LimitExceeded) as caught:
        body(request_)
    assert caught.value.field == field
    assert allowed is None or caught.value.limit == allowed
    assert caught.value.surely_not_sent
    assert caught.value.fields[0].path == field

"""Tools, JSON answers and attachments in a chat: what goes beyond text."""

import base64
import io
import json
import wave

import numpy as np
import pytest
import soundfile

from tests.sandbox.support import Client
from tests.sandbox.test_chat import fields_of, picture, user


def test_json_answers_follow_the_form_that_was_asked_for(sandbox: Client) -> None:
    loose = json.loads(sandbox.said(response_format={"type": "json_object"}))
    assert "Esc" in loose["answer"] and loose["sources"]
    schema = {
        "type": "object",
        "properties": {
            "summary": {"type": "string", "maxLength": 20},
            "pages": {"type": "array", "items": {"type": "string"}},
            "sure": {"type": "boolean"},
            "level": {"enum": ["low", "high"]},
            "count": {"type": "integer", "minimum": 1},
        },
        "required": ["summary", "pages"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    strict = json.loads(sandbox.said(response_format=form))
    assert set(strict) == set(schema["properties"])
    assert (len(strict["summary"]) <= 20, strict["level"], strict["count"]) == (True, "low", 1)


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Return the weather forecast of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    },
}
CLOCK = {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}


def test_a_question_about_a_tool_calls_it_with_arguments_from_its_words(sandbox: Client) -> None:
    answer = sandbox.chat("What is the weather in Oslo for 3 days?", tools=[WEATHER, CLOCK])
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["name"] == "get_weather"
    assert json.loads(call["function"]["arguments"]) == {"city": "Oslo", "days": 3}


def test_tool_choice_none_required_and_named(sandbox: Client) -> None:
    assert "Esc" in sandbox.said(tools=[WEATHER], tool_choice="none")
    required = sandbox.chat(tools=[CLOCK], tool_choice="required")["choices"][0]
    assert required["finish_reason"] == "tool_calls"
    named = sandbox.chat(tools=[WEATHER, CLOCK], tool_choice={"type": "function", "function": {"name": "get_time"}})
    assert named["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "get_time"
    unknown = {"type": "function", "function": {"name": "missing"}}
    assert fields_of(sandbox.chat_raw(tools=[CLOCK], tool_choice=unknown))["tool_choice"]["function"]["name"]["_errors"]


def test_parallel_calls_are_streamed_in_fragments_and_can_be_forbidden(sandbox: Client) -> None:
    question = "Weather in Oslo and the time, 2 days?"
    events = sandbox.stream(question, tools=[WEATHER, CLOCK])
    fragments = [
        fragment
        for event in events[:-1]
        for choice in event["choices"]
        for fragment in choice["delta"].get("tool_calls", ())
    ]
    assert [fragment["index"] for fragment in fragments if "id" in fragment] == [0, 1]
    weather = "".join(f["function"]["arguments"] for f in fragments if f["index"] == 0)
    assert json.loads(weather)["city"] == "Oslo"
    assert events[-3]["choices"][0]["finish_reason"] == "tool_calls"
    one = sandbox.chat(question, tools=[WEATHER, CLOCK], parallel_tool_calls=False)
    assert len(one["choices"][0]["message"]["tool_calls"]) == 1


def test_after_the_results_of_a_tool_comes_a_text(sandbox: Client) -> None:
    first = sandbox.chat("What is the weather in Oslo for 3 days?", tools=[WEATHER])["choices"][0]["message"]
    results = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": "Rain, 4 °C"}
    messages = [{"role": "user", "content": "What is the weather in Oslo for 3 days?"}, first, results]
    answer = sandbox.chat(messages=messages, tools=[WEATHER])["choices"][0]
    assert answer["finish_reason"] == "stop"
    assert "Rain, 4 °C" in answer["message"]["content"]


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("kind", ["WAV", "WAVEX"])
def test_a_wav_of_any_encoding_is_measured(sandbox: Client, subtype: str, kind: str) -> None:
    sound = io.BytesIO()
    soundfile.write(sound, np.zeros((12_000, 2)), 8000, format=kind, subtype=subtype)
    part = {"type": "input_audio", "input_audio": {"data": base64.b64encode(sound.getvalue()).decode()}}
    assert "WAV, 1.5 s, 2 channel(s), 8000 Hz" in sandbox.said(model="rialto-vision", messages=user(part))


def test_every_kind_of_attachment_is_measured(sandbox: Client) -> None:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\0\0" * 12_000)
    parts = [
        {"type": "input_audio", "input_audio": {"data": base64.b64encode(sound.getvalue()).decode()}},
        {"type": "input_audio", "input_audio": {"data": base64.b64encode(b"no wave").decode(), "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/tiff;base64," + "AAAA" * 5000}},
        {"type": "file", "file": {"file_data": "https://example.org/a.pdf", "filename": "a.pdf"}},
    ]
    answer = sandbox.said(model="rialto-vision", messages=user(*parts))
    for fact in (
        "WAV, 1.5 s, 1 channel(s), 8000 Hz",
        "labeled WAV that is not WAV",
        "Audio, mp3, 3 bytes",
        "Video, video/mp4, 3 bytes",
        "fetches nothing from other computers",
        "15 kB, in a format that I cannot measure",
        "File “a.pdf”",
    ):
        assert fact in answer
    assert "Nothing is attached" in sandbox.said("hello", model="rialto-vision")


def test_attachments_over_the_limits_are_refused(sandbox: Client) -> None:
    eleven = sandbox.chat_raw(model="rialto-vision", messages=user(*[picture(64, 64)] * 11))
    assert "At most 10" in fields_of(eleven)["messages"]["_errors"][0]
    broken = {"type": "input_audio", "input_audio": {"data": "data:audio/wav;base64,AAAA", "format": "tape"}}
    assert len(fields_of(sandbox.chat_raw(model="rialto-vision", messages=user(broken)))["messages"]["_errors"]) == 2


def test_a_schema_with_references_and_unions_is_filled_by_its_rules(sandbox: Client) -> None:
    schema = {
        "$defs": {"page": {"type": "object", "properties": {"title": {"type": "string"}, "kind": {"const": "page"}}}},
        "type": "object",
        "properties": {
            "pages": {"type": "array", "items": {"$ref": "#/$defs/page"}},
            "note": {"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]},
            "nothing": {"type": "null"},
            "count": {"type": "number"},
        },
    }
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    value = json.loads(sandbox.said(response_format=form))
    assert value["pages"][0]["kind"] == "page" and "Esc" in value["pages"][0]["title"]
    assert (value["nothing"], value["count"], type(value["note"])) == (None, 0, str)


def test_arguments_of_a_tool_have_the_types_of_its_schema(sandbox: Client) -> None:
    properties = {
        "unit": {"enum": ["celsius", "kelvin"]},
        "degrees": {"type": "number"},
        "urgent": {"type": "boolean"},
        "places": {"type": "array", "items": {"type": "string"}},
        "where": {"type": "object", "properties": {"city": {"type": "string"}}},
        "note": {},
    }
    tool = {
        "type": "function",
        "function": {"name": "convert", "parameters": {"type": "object", "properties": properties}},
    }
    answer = sandbox.chat("Please convert 2.5 kelvin for Oslo and Bergen", tools=[tool], tool_choice="required")
    arguments = json.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
    assert arguments["unit"] == "kelvin" and arguments["degrees"] == 2.5 and arguments["urgent"] is True
    assert arguments["places"] == ["Oslo"] and arguments["where"] == {"city": "Bergen"}
    assert arguments["note"].startswith("Please convert")

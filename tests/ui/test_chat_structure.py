"""Schemas and functions as typed: what is sent, and what is refused before anything is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.chat_body import chat_body
from app.service.chat_types import ChatMessage, ChatRequest
from app.ui.chat.session.schema_check import schema_violation
from app.ui.chat.session.structured_output import Fault, answer_format, function_names, functions_of

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def test_a_bare_schema_is_wrapped_and_named_by_its_title() -> None:
    made = answer_format(json.dumps({**CITY, "title": "place"}))
    assert made == {
        "type": "json_schema",
        "json_schema": {"name": "place", "strict": True, "schema": {**CITY, "title": "place"}},
    }


def test_a_schema_in_its_wrapping_keeps_name_and_strictness() -> None:
    wrapped = {"type": "json_schema", "json_schema": {"name": "place", "strict": False, "schema": CITY}}
    assert answer_format(json.dumps(wrapped)) == wrapped


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{", "line 1"),
        ("[]", "JSON object"),
        ('{"type": "array", "items": {}}', "answer with an object"),
        ('{"type": "object", "properties": {"a": {"type": "text"}}}', "“a” has an unknown type, “text”"),
        ('{"type": "object", "properties": {"a": 1}}', "“a” is not a JSON object"),
        ('{"type": "object", "properties": {"a": {}}, "required": ["b"]}', "requires “b”"),
        ('{"type": "object", "properties": {"a": {"enum": []}}}', "“enum” of “a”"),
        ('{"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}', "which does not exist"),
        ('{"type": "object", "properties": {"a": {"$ref": "https://example.org/s"}}}', "which does not exist"),
        ('{"type": "object", "properties": {"a": {"anyOf": {}}}}', "“anyOf” of “a”"),
    ],
)
def test_a_wrong_schema_is_named_before_sending(schema: str, words: str) -> None:
    fault = answer_format(schema)
    assert isinstance(fault, Fault)
    assert words in fault.sentence


def test_the_line_of_a_fault_is_named() -> None:
    text = json.dumps({"type": "object", "properties": {"a": {"type": "text"}}}, indent=1)
    fault = answer_format(text)
    assert isinstance(fault, Fault)
    assert '"text"' in text.splitlines()[fault.line - 1]


def test_functions_are_taken_bare_or_wrapped_one_or_many() -> None:
    bare = {"name": "get_weather", "description": "Weather of a city", "parameters": CITY}
    wrapped = {"type": "function", "function": bare}
    assert functions_of(json.dumps(bare)) == (wrapped,)
    assert functions_of(json.dumps([wrapped])) == (wrapped,)
    assert function_names(json.dumps([bare, {"name": "other"}])) == ("get_weather", "other")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "no function"),
        ("[7]", "Function 1"),
        ('{"name": "not a name"}', "needs a “name”"),
        ('[{"name": "a"}, {"name": "a"}]', "Two functions"),
        ('{"name": "a", "parameters": []}', "“parameters” of “a”"),
        ('{"type": "web_search", "function": {"name": "a"}}', "Only “function”"),
        ('{"name": "a", "parameters": {"type": "nothing"}}', "“a.parameters” has an unknown type, “nothing”"),
    ],
)
def test_a_wrong_function_is_named_before_sending(text: str, words: str) -> None:
    fault = functions_of(text)
    assert isinstance(fault, Fault)
    assert words in fault.sentence
    assert function_names(text) == ()


@given(
    st.text(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "items", "required", "enum", "anyOf", "name"]), inner
            )
        ),
        max_leaves=8,
    ).map(json.dumps)
)
def test_whatever_is_typed_gives_a_value_or_a_sentence(text: str) -> None:
    for made in (answer_format(text), functions_of(text)):
        assert made.sentence if isinstance(made, Fault) else made


@pytest.mark.parametrize(
    ("value", "schema", "where"),
    [
        ({"city": "Oslo"}, CITY, ""),
        ({}, CITY, "$.city is missing"),
        ({"city": 7}, CITY, "$.city should be of type string"),
        ({"city": "Oslo", "x": 1}, {**CITY, "additionalProperties": False}, "$.x is not in the schema"),
        ([1, "a"], {"type": "array", "items": {"type": "integer"}}, "$[1] should"),
        (True, {"type": "integer"}, "$ should"),
        (1.0, {"type": "integer"}, ""),
        ("c", {"enum": ["a", "b"]}, "not one of the listed"),
        ({"a": 1}, {"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": {"type": "string"}}}, "$.a should"),
        (1, {"anyOf": [{"type": "string"}, {"type": "null"}]}, "matches none of the 2"),
    ],
)
def test_where_an_answer_leaves_its_schema_is_said(value: Any, schema: dict[str, Any], where: str) -> None:
    found = schema_violation(value, schema)
    assert where in found if where else not found


def test_format_and_functions_go_into_the_body_r_chat_16() -> None:
    made, tools = answer_format(json.dumps(CITY)), functions_of('{"name": "a"}')
    assert not isinstance(made, Fault) and not isinstance(tools, Fault)
    request = ChatRequest("m", (ChatMessage("user", "hi"),), response_format=made, tools=tools, tool_choice="required")
    body = chat_body(request, "service_parameters", stream=True)
    assert body["response_format"] == made
    assert body["tools"] == list(tools)
    assert body["tool_choice"] == "required"
    plain = chat_body(ChatRequest("m", (ChatMessage("user", "hi"),), tool_choice="auto"), "x", stream=False)
    assert "tool_choice" not in plain

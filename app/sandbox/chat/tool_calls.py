"""Tool calls by rule: which of the offered functions a message asks for, with arguments taken from its words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from app.sandbox.chat import word_stems
from app.sandbox.chat.chat_request import ChatRequest, text_of
from app.sandbox.chat.structured import kind_in, listed, record
from app.sandbox.http.errors import Json

Token = Callable[[int], str]  # makes a new id of so many bytes
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d+)?")


def wanted(request: ChatRequest, question: str, token: Token) -> list[Json]:
    """Return the calls that the answer consists of; empty when it is a text.

    A named or required tool is always called. Otherwise a tool is called when the message shares a word with its name,
    or two with its description. After the results of a call no further one is made.
    """
    if not request.tools or request.tool_choice == "none" or _last_role(request) == "tool":
        return []
    if isinstance(request.tool_choice, dict):
        name = request.tool_choice["function"]["name"]
        chosen = [tool for tool in request.tools if tool["name"] == name]
    else:
        chosen = [tool for tool in request.tools if _touches(tool, question)]
        if not chosen and request.tool_choice == "required":
            chosen = [request.tools[0]]
    if not request.parallel_tool_calls:
        chosen = chosen[:1]
    return [_made(str(tool["name"]), _arguments(tool.get("parameters") or {}, question), token) for tool in chosen]


def told(request: ChatRequest) -> str:
    """Return the text that reports tool results, when the conversation ends with them."""
    results: list[str] = []
    for message in reversed(request.messages):
        if message.get("role") != "tool":
            break
        results.insert(0, text_of(message))
    return "The tools answered:\n\n" + "\n".join(f"- {text}" for text in results) if results else ""


def documents_call(documents: list[Json], token: Token) -> Json:
    """Return search results in the form of a tool call; the client shows it and never runs it."""
    return _made("venice_web_search_documents", {"documents": documents}, token)


def call(name: str, arguments: str, token: Token, known_id: str = "") -> Json:
    function = {"name": name, "arguments": arguments}
    return {"id": known_id or f"call_{token(6)}", "type": "function", "function": function}


def _made(name: str, arguments: Json, token: Token) -> Json:
    return call(name, json.dumps(arguments, ensure_ascii=False), token)


def _last_role(request: ChatRequest) -> str:
    return str(request.messages[-1].get("role"))


def _touches(tool: Json, question: str) -> bool:
    asked = set(word_stems.terms(question))
    name = set(word_stems.terms(str(tool["name"]).replace("_", " ").replace("-", " ")))
    return bool(asked & name) or len(asked & set(word_stems.terms(str(tool.get("description") or "")))) >= 2


def _arguments(schema: Json, question: str) -> Json:
    numbers = iter(_NUMBER.findall(question))
    capitals = re.findall(r"\b[A-Z][\w-]+\b", question)
    names = capitals[1:] or capitals  # the first word of a sentence is seldom a name
    return _filled(schema, question, numbers, names)


def _filled(schema: Json, question: str, numbers: Iterator[str], names: list[str]) -> Json:
    properties = record(schema, "properties")
    needed = [name for name in listed(schema, "required") if isinstance(name, str)] or list(properties)
    return {name: _value(properties.get(name), question, numbers, names) for name in needed}


def _value(given: object, question: str, numbers: Iterator[str], names: list[str]) -> object:
    schema: Json = given if isinstance(given, dict) else {}
    kind = kind_in(schema)
    if options := listed(schema, "enum"):
        return next((option for option in options if str(option).lower() in question.lower()), options[0])
    if kind in ("number", "integer"):
        number = float(next(numbers, 0))
        return int(number) if kind == "integer" else number
    if kind == "boolean":
        return True
    if kind == "array":
        return [_value(schema.get("items"), question, numbers, names)]
    if kind == "object":
        return _filled(schema, question, numbers, names)
    return names.pop(0) if names else question

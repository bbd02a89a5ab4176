"""Tool calls by rule: which of the offered functions a message asks for, with arguments taken from its words."""

from __future__ import annotations

import json
from collections.abc import Callable

from app.sandbox.chat import structured, word_stems
from app.sandbox.chat.chat_request import ChatRequest, text_of
from app.sandbox.http.errors import Json
from app.sandbox.http.validation import Checker

Token = Callable[[int], str]  # makes a new id of so many bytes


def wanted(request: ChatRequest, question: str, token: Token, check: Checker) -> list[Json]:
    """Return the calls that the answer consists of; empty when it is a text.

    A named or required tool is always called. Otherwise a tool is called when the message shares a word with its name,
    or two with its description. After the results of a call no further one is made. Raises `Refusal` 400 for a tool
    whose arguments cannot be filled in.
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
    calls = []
    for tool in chosen:
        path = ("tools", request.tools.index(tool), "function", "parameters")
        arguments = structured.arguments(tool.get("parameters") or {}, question, path, check)
        calls.append(call(str(tool["name"]), arguments, token))
    return calls


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
    return call("venice_web_search_documents", json.dumps({"documents": documents}, ensure_ascii=False), token)


def call(name: str, arguments: str, token: Token, known_id: str = "") -> Json:
    function = {"name": name, "arguments": arguments}
    return {"id": known_id or f"call_{token(6)}", "type": "function", "function": function}


def _last_role(request: ChatRequest) -> str:
    return str(request.messages[-1].get("role"))


def _touches(tool: Json, question: str) -> bool:
    asked = set(word_stems.terms(question))
    name = set(word_stems.terms(str(tool["name"]).replace("_", " ").replace("-", " ")))
    return bool(asked & name) or len(asked & set(word_stems.terms(str(tool.get("description") or "")))) >= 2

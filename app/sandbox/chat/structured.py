"""Answers as JSON and arguments of tools: values that keep to the caller's schema, made of the question's words."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.sandbox.chat.chat_request import ChatRequest
from app.sandbox.http.errors import Json
from app.sandbox.http.validation import Checker, Path
from app.sandbox.json_schema.document import Document, Subschema
from app.sandbox.json_schema.filling import Filling
from app.sandbox.json_schema.validity import Unfillable
from app.sandbox.json_schema.words import Words

ANSWER_PATH: Path = ("response_format", "json_schema", "schema")


def check_schemas(check: Checker, request: ChatRequest) -> None:
    """Complain of every keyword, in every schema of a request, that has not its form."""
    if request.response_format.get("type") == "json_schema":
        Document(request.response_format["json_schema"]["schema"], check, ANSWER_PATH)
    for number, tool in enumerate(request.tools):
        Document(tool.get("parameters") or {}, check, ("tools", number, "function", "parameters"))


def as_json(response_format: Json, question: str, text: str, titles: Sequence[str], check: Checker) -> str:
    """Return JSON text that keeps to the schema, with optional properties. Raises `Refusal` 400 when there is none."""
    if response_format.get("type") != "json_schema":
        return json.dumps({"answer": text, "sources": list(titles)}, ensure_ascii=False)
    words = Words(question, text, titles, yes=bool(titles), is_prose=True)
    return _filled(response_format["json_schema"]["schema"], words, ANSWER_PATH, check, everything=True)


def arguments(parameters: Json, question: str, path: Path, check: Checker) -> str:
    """Return a JSON object for a tool: what it requires, or everything. Raises `Refusal` 400 when there is none."""
    an_object = Subschema({"type": "object"})
    return _filled(parameters, Words(question, question), path, check, an_object, everything=False)


def _filled(schema: Json, words: Words, path: Path, check: Checker, *also: Subschema, everything: bool) -> str:
    document = Document(schema, check, path)
    check.finish()
    try:
        return json.dumps(Filling(document, words, everything=everything).value(*also), ensure_ascii=False)
    except (Unfillable, ValueError) as error:
        check.complain(path, f"The Sandbox cannot fill this schema: {error}")
        check.finish()
        raise

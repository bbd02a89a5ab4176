"""Answers as JSON: a fixed object, or an instance of the caller's schema filled by rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.sandbox.http.errors import Json

MAX_DEPTH = 8


def as_json(response_format: Json, text: str, sources: Sequence[str]) -> str:
    """Return JSON text. With a schema every required property is there, with the type that it asks for."""
    if response_format.get("type") == "json_schema":
        schema: Json = response_format["json_schema"]["schema"]
        return json.dumps(_instance(schema, schema, text, list(sources), 0), ensure_ascii=False)
    return json.dumps({"answer": text, "sources": list(sources)}, ensure_ascii=False)


def _instance(given: object, root: Json, text: str, sources: list[str], depth: int) -> object:
    schema = _resolved(given, root)
    if "const" in schema:
        return schema["const"]
    if options := listed(schema, "enum"):
        return options[0]
    for union in ("anyOf", "oneOf"):
        if options := listed(schema, union):
            return _instance(options[0], root, text, sources, depth + 1)
    kind = kind_in(schema)
    if depth > MAX_DEPTH or kind == "null":
        return None
    if kind == "object" or "properties" in schema:
        properties = record(schema, "properties")
        return {name: _instance(inner, root, text, sources, depth + 1) for name, inner in properties.items()}
    if kind == "array":
        items = _resolved(schema.get("items"), root)
        if items.get("type", "string") == "string" and not listed(items, "enum"):
            return sources or [text]
        return [_instance(items, root, text, sources, depth + 1)]
    if kind in ("number", "integer"):
        return schema.get("minimum", 0)
    if kind == "boolean":
        return bool(sources)
    longest = schema.get("maxLength")
    return text[:longest] if isinstance(longest, int) and longest >= 0 else text


# A schema is the caller's: a keyword may hold anything. What has not its form counts as absent.


def listed(schema: Json, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def record(schema: Json, keyword: str) -> Json:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def kind_in(schema: Json) -> object:
    """Return the type that a schema asks for, the first of several; None where it asks for none."""
    kind = schema.get("type")
    return next(iter(kind), None) if isinstance(kind, list) else kind


def _resolved(schema: object, root: Json) -> Json:
    """Return a subschema with its reference followed; `true` and whatever else is no object asks for nothing."""
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target: Any = root
    for step in reference.removeprefix("#/").split("/"):
        target = target.get(step, {}) if isinstance(target, dict) else {}
    return target if isinstance(target, dict) else {}

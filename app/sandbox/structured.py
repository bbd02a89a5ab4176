"""Answers as JSON: a fixed object, or an instance of the caller's schema filled by rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from app.sandbox.errors import Json

MAX_DEPTH = 8


def as_json(response_format: Json, text: str, sources: Sequence[str]) -> str:
    """Return JSON text. With a schema every required property is there, with the type that it asks for."""
    if response_format.get("type") == "json_schema":
        schema: Json = response_format["json_schema"]["schema"]
        return json.dumps(_instance(schema, schema, text, list(sources), 0), ensure_ascii=False)
    return json.dumps({"answer": text, "sources": list(sources)}, ensure_ascii=False)


def _instance(schema: Json, root: Json, text: str, sources: list[str], depth: int) -> object:
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return _instance(schema[union][0], root, text, sources, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0]
    if depth > MAX_DEPTH or kind == "null":
        return None
    if kind == "object" or "properties" in schema:
        properties: dict[str, Any] = schema.get("properties") or {}
        return {name: _instance(inner, root, text, sources, depth + 1) for name, inner in properties.items()}
    if kind == "array":
        items = _resolved(schema.get("items") or {}, root)
        if items.get("type", "string") == "string" and not items.get("enum"):
            return sources or [text]
        return [_instance(items, root, text, sources, depth + 1)]
    if kind in ("number", "integer"):
        return schema.get("minimum", 0)
    if kind == "boolean":
        return bool(sources)
    return text[: schema["maxLength"]] if "maxLength" in schema else text


def _resolved(schema: Json, root: Json) -> Json:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target: Any = root
    for step in reference.removeprefix("#/").split("/"):
        target = target.get(step, {}) if isinstance(target, dict) else {}
    return target if isinstance(target, dict) else {}

"""Does an answer fit the schema that it was asked in? Enough of JSON Schema to say where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.translation import tr
from app.ui.chat.session.structured_output import resolve

MAX_DEPTH = 60
_IS = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "integer": lambda value: _is_whole(value),
}


def schema_violation(value: object, schema: Mapping[str, Any]) -> str:
    """Return where `value` does not fit and why, "" when it fits as far as this looks."""
    return _misfit(value, schema, schema, "$", 0)


def _misfit(value: object, schema: object, root: Mapping[str, Any], at: str, depth: int) -> str:
    if schema is False:
        return tr("{at} is not allowed", at=at)
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return ""
    if "$ref" in schema:
        return _misfit(value, resolve(schema["$ref"], root), root, at, depth + 1)
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds] if isinstance(kinds, str) else []
    if kinds and not any(_IS[kind](value) for kind in kinds if kind in _IS):
        return tr("{at} should be of type {map}", at=at, map=" or ".join(map(str, kinds)))
    if "const" in schema and value != schema["const"]:
        return tr("{at} should be {schema}", at=at, schema=f"{schema['const']!r}")
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        return tr("{at} is not one of the listed values", at=at)
    for union in ("anyOf", "oneOf"):
        options = schema.get(union)
        if isinstance(options, list) and options and all(_misfit(value, each, root, at, depth + 1) for each in options):
            return tr("{at} matches none of the {count} alternatives", at=at, count=len(options))
    if isinstance(value, Mapping):
        return _object_misfit(value, schema, root, at, depth)
    if isinstance(value, list) and "items" in schema:
        inner = (_misfit(each, schema["items"], root, f"{at}[{n}]", depth + 1) for n, each in enumerate(value))
        return next(filter(None, inner), "")
    return ""


def _object_misfit(
    value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], at: str, depth: int
) -> str:
    listed = schema.get("properties")
    properties: Mapping[str, Any] = listed if isinstance(listed, Mapping) else {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in value:
            return tr("{at}.{name} is missing", at=at, name=name)
    if schema.get("additionalProperties") is False:
        extra = next((name for name in value if name not in properties), None)
        if extra is not None:
            return tr("{at}.{extra} is not in the schema", at=at, extra=extra)
    inner = (
        _misfit(value[name], each, root, f"{at}.{name}", depth + 1)
        for name, each in properties.items()
        if name in value
    )
    return next(filter(None, inner), "")


def _is_whole(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())

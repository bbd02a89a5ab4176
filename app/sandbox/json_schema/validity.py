"""Whether a value keeps to a schema."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from app.sandbox.http.errors import Json
from app.sandbox.json_schema.document import Document, Subschema

STEPS = 40_000  # schemas looked at for one value: 0.3 s. The largest that people write need a tenth of them


class Unfillable(Exception):
    """No value was found. Its words say why."""


@dataclass(slots=True)
class _Looked:
    """Which properties and items of a value some schema has spoken of."""

    names: set[str] = field(default_factory=set)
    items: set[int] = field(default_factory=set)

    def add(self, other: _Looked) -> None:
        self.names |= other.names
        self.items |= other.items


def type_of(value: object) -> str:
    """Return a value's JSON type; a number without a fraction is an integer."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    names = {"NoneType": "null", "float": "number", "str": "string", "list": "array", "dict": "object"}
    return names[type(value).__name__]


def frozen(value: object) -> object:
    """Return what is equal for values that are equal in JSON, where 1 is 1.0 and not true."""
    if isinstance(value, dict):
        return "object", frozenset((name, frozen(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return "array", tuple(frozen(inner) for inner in value)
    return isinstance(value, bool), value


def exact(number: int | float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(Decimal(str(number)))


class Validity:
    """Raises `Unfillable` when looking takes too long, which a schema that refers to itself can do."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = STEPS

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unfillable("the search took too long")

    def holds(self, place: Subschema, value: object) -> bool:
        return self._look(place, value) is not None

    def _look(self, place: Subschema, value: object) -> _Looked | None:
        self.spend()
        schema = place.schema
        if isinstance(schema, bool):
            return _Looked() if schema else None
        if not _is_simple_match(schema, value):
            return None
        if isinstance(value, str) and not self._is_text(schema, value):
            return None
        looked = _Looked()
        if not self._others(place, schema, value, looked):
            return None
        if isinstance(value, list) and not self._items(place, schema, value, looked):
            return None
        if isinstance(value, dict) and not self._properties(place, schema, value, looked):
            return None
        return looked

    def _is_text(self, schema: Json, value: str) -> bool:
        low, high = schema.get("minLength", 0), schema.get("maxLength", math.inf)
        return low <= len(value) <= high and (
            "pattern" not in schema or self._document.pattern(schema["pattern"]).found_in(value)
        )

    def _others(self, place: Subschema, schema: Json, value: object, looked: _Looked) -> bool:
        """Follow the keywords that apply whole schemas to the value itself."""
        child = self._document.child
        must = [*self._document.followed(place), *(child(place, one) for one in schema.get("allOf", ()))]
        if isinstance(value, dict):
            must += [child(place, one) for name, one in schema.get("dependentSchemas", {}).items() if name in value]
        if "if" in schema:
            condition = self._look(child(place, schema["if"]), value)
            if condition is not None:
                looked.add(condition)
            branch = "else" if condition is None else "then"
            must += [child(place, schema[branch])] if branch in schema else []
        for one in must:
            found = self._look(one, value)
            if found is None:
                return False
            looked.add(found)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                results = [self._look(child(place, one), value) for one in schema[keyword]]
                matched = [found for found in results if found is not None]
                if not matched or (keyword == "oneOf" and len(matched) > 1):
                    return False
                for found in matched:
                    looked.add(found)
        return "not" not in schema or not self.holds(child(place, schema["not"]), value)

    def _items(self, place: Subschema, schema: Json, value: list[object], looked: _Looked) -> bool:
        child = self._document.child
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            return False
        if schema.get("uniqueItems") and len({frozen(item) for item in value}) < len(value):
            return False
        first = schema.get("prefixItems", [])
        for number, (one, item) in enumerate(zip(first, value, strict=False)):
            if not self.holds(child(place, one), item):
                return False
            looked.items.add(number)
        if "items" in schema:
            rest = child(place, schema["items"])
            if not all(self.holds(rest, item) for item in value[len(first) :]):
                return False
            looked.items |= set(range(len(value)))
        if "contains" in schema:
            wanted = child(place, schema["contains"])
            found = {number for number, item in enumerate(value) if self.holds(wanted, item)}
            if not schema.get("minContains", 1) <= len(found) <= schema.get("maxContains", math.inf):
                return False
            looked.items |= found
        if "unevaluatedItems" in schema:
            rest = child(place, schema["unevaluatedItems"])
            left = set(range(len(value))) - looked.items
            if not all(self.holds(rest, value[number]) for number in left):
                return False
            looked.items |= left
        return True

    def _properties(self, place: Subschema, schema: Json, value: Json, looked: _Looked) -> bool:
        child = self._document.child
        if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", math.inf):
            return False
        if any(name not in value for name in schema.get("required", ())):
            return False
        for name, needed in schema.get("dependentRequired", {}).items():
            if name in value and any(other not in value for other in needed):
                return False
        if "propertyNames" in schema:
            names = child(place, schema["propertyNames"])
            if not all(self.holds(names, name) for name in value):
                return False
        for name, inner in value.items():
            rules = self.rules_for(schema, name)
            if not all(self.holds(child(place, one), inner) for one in rules):
                return False
            if rules:
                looked.names.add(name)
        if "unevaluatedProperties" in schema:
            rest = child(place, schema["unevaluatedProperties"])
            left = set(value) - looked.names
            if not all(self.holds(rest, value[name]) for name in left):
                return False
            looked.names |= left
        return True

    def rules_for(self, schema: Json, name: str) -> list[Json | bool]:
        """Return the schemas that one schema's own keywords have for a property."""
        rules = [schema["properties"][name]] if name in schema.get("properties", {}) else []
        for text, one in schema.get("patternProperties", {}).items():
            if self._document.pattern(text).found_in(name):
                rules.append(one)
        if not rules and "additionalProperties" in schema:
            rules.append(schema["additionalProperties"])
        return rules


def _is_simple_match(schema: Json, value: object) -> bool:
    """Whether a value keeps to the keywords that name types, constants and numbers."""
    if "type" in schema:
        named = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kind = type_of(value)
        if kind not in named and not (kind == "integer" and "number" in named):
            return False
    if "const" in schema and frozen(schema["const"]) != frozen(value):
        return False
    if "enum" in schema and frozen(value) not in [frozen(one) for one in schema["enum"]]:
        return False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    return (
        schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
        and schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
        and ("multipleOf" not in schema or _is_multiple(value, schema["multipleOf"]))
    )


def _is_multiple(value: int | float, step: int | float) -> bool:
    """Whether it is one, exactly and in floating point: other programs divide and look for a remainder."""
    if (exact(value) / exact(step)).denominator != 1:
        return False
    if not isinstance(step, float):
        return True
    try:
        return (value / step).is_integer()
    except OverflowError:
        return True

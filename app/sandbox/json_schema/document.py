"""A caller's schema: whether every keyword has its form, and where each reference leads.

Only the document itself is read. A reference to another one is a mistake, for nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from app.sandbox.http.errors import Json
from app.sandbox.http.validation import Checker, Path, kind_of
from app.sandbox.json_schema.patterns import Pattern

DEEPEST = 60  # schemas within schemas
TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
ONE_SCHEMA = frozenset(
    {"items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"}
    | {"unevaluatedItems", "unevaluatedProperties"}
)
LIST_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
NAMED_SCHEMAS = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
COUNTS = frozenset(f"{end}{what}" for end in ("min", "max") for what in ("Length", "Items", "Properties", "Contains"))
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
TEXTS = frozenset({"$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "$schema", "format", "pattern"})


@dataclass(frozen=True, slots=True)
class Subschema:
    """A schema at its place. `base` is the address of the resource around it, `entered` those on the way to it."""

    schema: Json | bool
    base: str = ""
    entered: tuple[str, ...] = ("",)  # outermost first: what a dynamic reference looks through


class Document:
    """One schema with everything in it. Mistakes are complained of, each at its path."""

    def __init__(self, schema: Json, check: Checker, path: Path = ()) -> None:
        self._check = check
        self._patterns: dict[str, Pattern] = {}
        self._bases: dict[int, str] = {}  # by the identity of a schema that is kept in this document
        self._resources: dict[str, Json] = {"": schema}
        self._anchors: dict[tuple[str, str], Json] = {}
        self._dynamic: dict[tuple[str, str], Json] = {}
        self._found: dict[tuple[str, str], tuple[Json | bool, str] | None] = {}
        self._references: list[tuple[Path, str, str]] = []
        self._walk(schema, "", path, 0)
        self.root = self._entered(Subschema(schema), schema, self._bases[id(schema)])
        while self._references:  # what is referred to may lie under a name that is no keyword and be looked at only now
            where, reference, base = self._references.pop()
            if self._find(reference, base) is None:
                check.complain(
                    where, "This reference leads to no schema in this document, and other documents are not fetched"
                )

    def child(self, parent: Subschema, schema: Json | bool) -> Subschema:
        """Return a schema that stands inside `parent`."""
        if isinstance(schema, bool):
            return Subschema(schema, parent.base, parent.entered)
        return self._entered(parent, schema, self._bases.get(id(schema), parent.base))

    def followed(self, place: Subschema) -> Iterator[Subschema]:
        """Yield what the references of a schema lead to."""
        assert isinstance(place.schema, dict)
        if "$ref" in place.schema:
            found = self._find(place.schema["$ref"], place.base)
            assert found is not None
            yield self._entered(place, *found)
        if "$dynamicRef" in place.schema:
            reference = place.schema["$dynamicRef"]
            found = self._find(reference, place.base)
            assert found is not None
            name = reference.partition("#")[2]
            if (found[1], name) in self._dynamic:
                base = next((base for base in place.entered if (base, name) in self._dynamic), found[1])
                found = self._dynamic[base, name], base
            yield self._entered(place, *found)

    def pattern(self, text: str) -> Pattern:
        return self._patterns[text]

    def _entered(self, parent: Subschema, schema: Json | bool, base: str) -> Subschema:
        entered = parent.entered if base in parent.entered else (*parent.entered, base)
        return Subschema(schema, base, entered)

    def _find(self, reference: str, base: str) -> tuple[Json | bool, str] | None:
        """Return the schema that a reference leads to, with the address of the resource that it is in."""
        if (reference, base) not in self._found:
            self._found[reference, base] = self._search(reference, base)
        return self._found[reference, base]

    def _search(self, reference: str, base: str) -> tuple[Json | bool, str] | None:
        try:
            whole = base + reference if reference.startswith("#") else urljoin(base, reference)
            address, fragment = urldefrag(whole)
        except ValueError:
            return None
        target: Any = self._resources.get(address)
        if target is None:
            return None
        if not fragment.startswith("/"):
            target = self._anchors.get((address, unquote(fragment))) if fragment else target
            return None if target is None else (target, address)
        for step in unquote(fragment).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isascii() and name.isdigit() and len(name) < 6:
                target = target[int(name)] if int(name) < len(target) else None
            else:
                target = target.get(name) if isinstance(target, dict) else None
            if isinstance(target, dict):
                address = self._bases.get(id(target), address)
        if isinstance(target, dict) and id(target) not in self._bases:
            self._walk(target, address, (reference,), 0)
        return (target, address) if isinstance(target, dict | bool) else None

    def _walk(self, schema: object, base: str, path: Path, depth: int) -> None:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            self._check.complain(path, f"Expected a schema, an object or a boolean, received {kind_of(schema)}")
            return
        if depth > DEEPEST:
            self._check.complain(path, f"Schemas are read up to {DEEPEST} levels deep")
            return
        if isinstance(address := schema.get("$id"), str):
            try:
                base = urldefrag(urljoin(base, address))[0] if not address.startswith("#") else base
            except ValueError:
                self._check.complain((*path, "$id"), "This is not an address")
            self._resources.setdefault(base, schema)
        self._bases[id(schema)] = base
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := schema.get(keyword), str):
                self._anchors[base, name] = schema
                if keyword == "$dynamicAnchor":
                    self._dynamic[base, name] = schema
        for keyword, value in schema.items():
            self._keyword(keyword, value, base, (*path, keyword), depth)

    def _keyword(self, keyword: str, value: object, base: str, path: Path, depth: int) -> None:
        check = self._check
        if keyword in ONE_SCHEMA:
            if keyword == "items" and isinstance(value, list):
                check.complain(path, "Expected a schema, received array. A list of schemas is called prefixItems")
                return
            self._walk(value, base, path, depth + 1)
        elif keyword in LIST_OF_SCHEMAS:
            for number, schema in enumerate(self._filled(path, value)):
                self._walk(schema, base, (*path, number), depth + 1)
        elif keyword in NAMED_SCHEMAS:
            for name, schema in (self._record(path, value)).items():
                self._walk(schema, base, (*path, name), depth + 1)
                if keyword == "patternProperties":
                    self._regular(name, (*path, name))
        elif keyword in COUNTS:
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
                check.complain(path, "Expected a whole number, 0 or more")
        elif keyword in NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | float):
                check.complain(path, f"Expected number, received {kind_of(value)}")
            elif keyword == "multipleOf" and value <= 0:
                check.complain(path, "Expected a number above 0")
        elif keyword in TEXTS:
            if not isinstance(value, str):
                check.complain(path, f"Expected string, received {kind_of(value)}")
            elif keyword == "pattern":
                self._regular(value, path)
            elif keyword in ("$ref", "$dynamicRef"):
                self._references.append((path, value, base))
        elif keyword == "type":
            self._type(value, path)
        elif keyword == "enum":
            self._filled(path, value)
        elif keyword == "required":
            self._names(value, path)
        elif keyword == "dependentRequired":
            for name, names in (self._record(path, value)).items():
                self._names(names, (*path, name))
        elif keyword == "uniqueItems" and not isinstance(value, bool):
            check.complain(path, f"Expected boolean, received {kind_of(value)}")

    def _record(self, path: Path, value: object) -> Json:
        if isinstance(value, dict):
            return value
        self._check.complain(path, f"Expected object, received {kind_of(value)}")
        return {}

    def _filled(self, path: Path, value: object) -> list[Any]:
        if isinstance(value, list) and value:
            return value
        self._check.complain(path, "Expected an array with at least one item")
        return []

    def _names(self, value: object, path: Path) -> None:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self._check.complain(path, "Expected an array of strings")

    def _type(self, value: object, path: Path) -> None:
        named = value if isinstance(value, list) else [value]
        if not named or not all(isinstance(name, str) and name in TYPES for name in named):
            self._check.complain(path, f"Expected one or more of {', '.join(TYPES)}")

    def _regular(self, text: str, path: Path) -> None:
        if text not in self._patterns:
            try:
                self._patterns[text] = Pattern(text)
            except ValueError as error:
                self._check.complain(path, f"This regular expression cannot be used: {error}")

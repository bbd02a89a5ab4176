"""Structured answers keep to the schema, or the request is refused: held against other people's schemas.

The JSON-Schema-Test-Suite (MIT, by its authors; the schemas of all its drafts from 4 to 2020-12, each once, read as
2020-12) and the models of OpenAI's own client, as Pydantic writes them. `jsonschema` is the judge, never our own check.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai.types
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from app.sandbox.http.validation import Checker
from app.sandbox.json_schema.document import Document
from app.sandbox.json_schema.filling import Filling
from app.sandbox.json_schema.patterns import Pattern
from app.sandbox.json_schema.validity import Unfillable
from app.sandbox.json_schema.words import Words
from tests.sandbox.support import Client
from tests.sandbox.test_chat import fields_of

QUESTION = "Is it 7 or 2.5 degrees in Oslo on 2026-03-01? Ask anna@example.org."
SUITE = json.loads((Path(__file__).parent / "json_schema_test_suite" / "schemas.json").read_text())
# Python's own regular expressions, which `jsonschema` uses, do not know this escape of ECMA-262.
RANDOM_SCHEMAS = 500
NOT_FOR_THE_JUDGE = {"\\\\cC", "\\\\cc"}
# Only an object without a property and with another one at once would do: nobody asks for that.
GIVEN_UP = {"draft2020-12/not: collect annotations inside a 'not', even if collection is disabled"}


def filled(schema: dict[str, Any], *, everything: bool = True) -> Any:
    """Raises `ValueError` for a schema that is refused at once, `Unfillable` for one that nothing was found for."""
    check = Checker()
    document = Document(schema, check)
    if complaints := check.lines():
        raise ValueError(complaints)
    words = Words(QUESTION, "The handbook says so.", ["A page", "Another"], is_prose=True)
    return json.loads(json.dumps(Filling(document, words, everything=everything).value()))


def mistake(schema: dict[str, Any], value: object) -> str:
    judge = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    error = next(judge.iter_errors(value), None)
    return "" if error is None else f"{json.dumps(schema)[:500]}: {error.message[:200]}"


@pytest.mark.parametrize("everything", [True, False])
def test_each_schema_of_the_public_suite_is_filled_validly_or_refused(everything: bool) -> None:
    right, refused, wrong, given_up = 0, 0, [], set()
    for row in SUITE:
        if any(text in json.dumps(row["schema"]) for text in NOT_FOR_THE_JUDGE):
            continue
        try:
            value = filled(row["schema"], everything=everything)
        except ValueError:
            refused += 1
        except Unfillable:
            given_up |= {row["name"]} if row["has_valid"] else set()
        else:
            found = mistake(row["schema"], value)
            wrong += [found] if found else []
            right += not found
    print(f"{len(SUITE)} schemas: {right} filled, {refused} refused by their form, the rest have no value")
    assert not wrong
    assert given_up <= GIVEN_UP
    assert right >= 459  # the others lead elsewhere, are written for older drafts, or nothing keeps to them


def test_every_model_of_a_typed_client_is_filled_so_that_the_client_takes_it() -> None:
    for module in pkgutil.walk_packages(openai.types.__path__, "openai.types."):
        importlib.import_module(module.name)
    models, left = set(), [BaseModel]
    while left:
        classes = left.pop().__subclasses__()
        left += classes
        models |= {one for one in classes if one.__module__.startswith("openai.types")}
    ordered = sorted(models, key=lambda one: f"{one.__module__}.{one.__qualname__}")
    schemas = set()
    for number, model in enumerate(ordered):
        if number % 4 == 0:  # all of them take half a minute, most of it Pydantic's
            schema = model.model_json_schema()
            schemas.add(json.dumps(schema))
            value = filled(schema, everything=number % 8 == 0)
            assert not mistake(schema, value)
            model.model_validate(value)
    print(f"{len(schemas)} schemas, all filled")
    assert len(schemas) + len(SUITE) >= 1000


NAMES = ["a", "b", "city", "email"]
TYPES = ["object", "array", "string", "integer", "number", "boolean", "null"]
EXPRESSIONS = ["^a", "b$", "^[A-Z]{2,4}$", r"^\d{3}-\d{4}$", "^(?!x)[a-z]+$", "^(?=.*[0-9])[a-z0-9]{4,}$", "(ab|cd)+"]
FORMATS = ["date", "email", "uuid", "ipv4", "ipv6", "hostname", "uri", "date-time", "regex"]


def random_schema(dice: random.Random, depth: int = 0) -> Any:
    """Up to five keywords of the draft with values that they may have, whether they go together or not."""

    def inner() -> Any:
        return random_schema(dice, depth + 1)

    def some(make: Callable[[], Any], most: int = 3) -> list[Any]:
        return [make() for _ in range(dice.randint(1, most))]

    def named(make: Callable[[], Any], names: list[str]) -> dict[str, Any]:
        return {dice.choice(names): make() for _ in range(dice.randint(1, 3))}

    def number() -> float:
        return dice.choice([dice.randint(-20, 20), dice.randint(-50, 50) / 4, 0.01, 1e10])

    def constant() -> Any:
        return dice.choice([None, True, False, 0, 7, 2.5, "", "Oslo", "b", [1], {"a": 1}])

    def name() -> str:
        return dice.choice(NAMES)

    if depth > 3 or dice.random() < 0.1:
        return dice.choice([True, True, {}, {"type": "string"}, {"type": "integer"}, False])
    keywords: dict[str, Callable[[], Any]] = {
        "type": lambda: dice.choice(TYPES) if dice.random() < 0.7 else dice.sample(TYPES, 3),
        **{"enum": lambda: some(constant), "const": constant, "format": lambda: dice.choice(FORMATS)},
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), number),
        **{
            "multipleOf": lambda: dice.choice([1, 2, 3, 0.5, 0.1, 0.01, 7]),
            "pattern": lambda: dice.choice(EXPRESSIONS),
        },
        **dict.fromkeys(("minLength", "maxLength"), lambda: dice.randint(0, 30)),
        **dict.fromkeys(("minItems", "maxItems", "minContains", "maxContains"), lambda: dice.randint(0, 4)),
        **dict.fromkeys(("minProperties", "maxProperties"), lambda: dice.randint(0, 4)),
        **dict.fromkeys(("items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames"), inner),
        **dict.fromkeys(("unevaluatedProperties", "not", "if", "then", "else"), inner),
        **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), lambda: some(inner)),
        **dict.fromkeys(("properties", "dependentSchemas"), lambda: named(inner, NAMES)),
        **{"patternProperties": lambda: named(inner, EXPRESSIONS), "uniqueItems": lambda: True},
        **{"required": lambda: some(name), "dependentRequired": lambda: named(lambda: some(name), NAMES)},
        "$ref": lambda: dice.choice(["#/$defs/a", "#/$defs/b"]),
    }
    return {keyword: keywords[keyword]() for keyword in dice.sample(sorted(keywords), dice.randint(1, 5))}


def test_whatever_keywords_come_together_the_value_holds_for_an_independent_judge() -> None:
    dice, right = random.Random(19), 0
    for _ in range(RANDOM_SCHEMAS):
        recursive = {"type": "object", "properties": {"b": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]}}}
        schema = {"allOf": [random_schema(dice)], "$defs": {"a": {"type": "integer"}, "b": recursive}}
        try:
            value = filled(schema, everything=dice.random() < 0.5)
        except Unfillable:
            continue
        error = next(Draft202012Validator(schema).iter_errors(value), None)
        assert error is None, (schema, value, error.message)
        right += 1
    print(f"{right} of {RANDOM_SCHEMAS} filled")
    assert right > RANDOM_SCHEMAS / 2


@pytest.mark.parametrize(
    ("expression", "right", "wrong"),
    [
        ("^[a-z]+$", ["abc"], ["", "aB", "abc1"]),
        ("a|b{2}", ["xa", "bb"], ["b", ""]),
        (r"^\d{3}-\d{4}$", ["555-1234"], ["555-123", "5555-1234", "\u0665\u0665\u0665-1234"]),
        ("^(?!no)[a-z]{2,5}$", ["yes"], ["nobel", "a", "abcdef"]),
        ("^(?=.*[A-Z])(?=.*[0-9]).{6,}$", ["abcDe1"], ["abcde1", "Ab1"]),
        (r"\bOslo\b", ["in Oslo."], ["Oslos"]),
        (r"^\p{Lu}[\p{Ll}\s]*$", ["Éa b"], ["éa", "A1"]),
        (r"^[\w.-]+@[^@\s]+$", ["a.b-c@d"], ["a@b@c", "a @b"]),
        ("^a{0,2}$", ["", "aa"], ["aaa"]),
        ("^{x}$", ["{x}"], ["x"]),
        (r"^\u{1F600}\x41\u0042$", ["\U0001f600AB"], ["AB"]),
        ("^(?<year>[0-9]{4})(?:-[0-9]{2})?$", ["2026", "2026-01"], ["2026-1"]),
        ("^(a+)+$", ["a" * 60], ["a" * 60 + "b"]),  # keeps Python's own matcher busy for years
    ],
)
def test_regular_expressions_match_and_make_texts(expression: str, right: list[str], wrong: list[str]) -> None:
    pattern = Pattern(expression)
    assert [text for text in right if not pattern.found_in(text)] == []
    assert [text for text in wrong if pattern.found_in(text)] == []
    made = list(pattern.examples())
    assert made and all(pattern.found_in(text) for text in made)


@pytest.mark.parametrize(
    "text", ["(", ")", "[", "a**b)", "*a", r"(a)\1", "(?<=a)b", "(?i)a", "[z-a]", r"\p{Foo}", "\\"]
)
def test_an_expression_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Pattern(text)


def structured(sandbox: Client, schema: Any, question: str = QUESTION) -> Any:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    return json.loads(sandbox.said(question, response_format=form))


def test_values_come_from_the_question_where_they_fit(sandbox: Client) -> None:
    text = {"type": "string"}
    properties = {
        "city": text,
        "day": {"type": "string", "format": "date"},
        "mail": {"type": "string", "format": "email"},
        "degrees": {"type": "number", "exclusiveMaximum": 7},
        "number": {"type": "integer"},
        "next": {"type": "integer", "minimum": 10, "multipleOf": 4},
        "unit": {"enum": ["kelvin", "degrees"]},
        "answer": text,
    }
    value = structured(sandbox, {"type": "object", "properties": properties})
    assert (value["city"], value["day"], value["mail"]) == ("Oslo", "2026-03-01", "anna@example.org")
    assert (value["degrees"], value["number"], value["next"], value["unit"]) == (2.5, 7, 12, "degrees")
    assert len(value["answer"]) > 20
    tool = {
        "type": "function",
        "function": {"name": "oslo", "parameters": {"type": "object", "properties": properties}},
    }
    call = sandbox.chat(QUESTION, tools=[tool])["choices"][0]["message"]["tool_calls"][0]
    given = json.loads(call["function"]["arguments"])
    assert {name: given[name] for name in properties if name != "answer"} == {
        name: value[name] for name in properties if name != "answer"
    }


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"v": {"type": []}}}, "properties.v.type"),
        ({"items": [{}]}, "items"),
        ({"maxLength": 2.5}, "maxLength"),
        ({"required": [1]}, "required"),
        ({"properties": {"v": 7}}, "properties.v"),
        ({"$ref": "#/$defs/none"}, "$ref"),
        ({"$ref": "https://example.org/schema"}, "$ref"),
        ({"pattern": "("}, "pattern"),
        ({"patternProperties": {"[": {}}}, "patternProperties.["),
        ({"enum": []}, "enum"),
        ({"multipleOf": 0}, "multipleOf"),
        ({"dependentRequired": {"a": "b"}}, "dependentRequired.a"),
        ({"type": "integer", "minimum": 2, "maximum": 1}, ""),
        ({"type": "object", "properties": {"v": False}, "required": ["v"]}, ""),
        ({"not": {}}, ""),
        ({"minItems": 10**9, "type": "array"}, ""),
        ({"type": "object", "properties": {"v": {"$ref": "#"}}, "required": ["v"]}, ""),
        ({"type": "integer", "minimum": 10**4200}, ""),
    ],
)
def test_a_schema_that_cannot_be_filled_is_refused_at_its_place(sandbox: Client, schema: Any, path: str) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    parameters = {"type": "function", "function": {"name": "f", "parameters": schema}}
    forced = {"tools": [parameters], "tool_choice": "required"}
    for body, root in (
        ({"response_format": form}, ("response_format", "json_schema", "schema")),
        (forced, ("tools", "0", "function", "parameters")),
    ):
        answer = sandbox.chat_raw(**body)
        assert answer.status_code == 400, answer.text
        found = fields_of(answer)
        for step in (*root, *path.split("."))[: None if path else -1]:
            found = found[step]
        assert found["_errors"], answer.text
        streamed = sandbox.chat_raw(stream=True, **body)
        assert (streamed.status_code, streamed.json()) == (400, answer.json())


def test_boolean_schemas_and_recursive_types_are_filled(sandbox: Client) -> None:
    node = {
        "type": "object",
        "properties": {"v": True, "next": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": "null"}]}},
    }
    schema = {"$ref": "#/$defs/a~1b", "$defs": {"a/b": node | {"required": ["v", "next"]}}}
    assert not mistake(schema, structured(sandbox, schema))
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}, "minItems": 0}}}
    assert not mistake(tree, structured(sandbox, tree))

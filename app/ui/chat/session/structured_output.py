"""What a person enters as JSON beside a chat: the schema of its answers, and the functions that the model may ask for.

Both are checked before anything is sent, because a refused request counts as a failure: each check returns the value
to send, or a `Fault` that names the place. Source: JSON Schema 2020-12, the keywords that services understand, and the
OpenAI shapes of `response_format` and `tools`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from app.formats import format_number
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from app.service.models import Model

KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")
MAX_CHARS = 200_000
MAX_FUNCTIONS = 128
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNIONS = ("anyOf", "oneOf", "allOf")


class Fault(NamedTuple):
    """What is wrong with an entered text, and in which line (from 1; 0 when no line can be named)."""

    sentence: str
    line: int = 0


class Structure(NamedTuple):
    """What one chat asks for as JSON, as typed. What is switched off keeps its text."""

    use_schema: bool = False
    schema: str = ""
    use_functions: bool = False
    functions: str = ""
    function_choice: str = "auto"  # "auto", "none" or "required"

    @classmethod
    def from_stored(cls, stored: object) -> Structure:
        """Read what `to_stored` wrote; what is unknown or odd falls back to its default."""
        values = stored if isinstance(stored, Mapping) else {}
        default = cls._field_defaults
        return cls(**{name: value for name, value in values.items() if type(value) is type(default.get(name, ...))})

    def to_stored(self) -> dict[str, object]:
        """Only what differs from the defaults."""
        return {name: value for name, value in self._asdict().items() if value != self._field_defaults[name]}

    def fault(self) -> str:
        """Why nothing can be sent with this, "" when it can."""
        if self.use_schema and isinstance(answer_format(self.schema), Fault):
            return tr("The answer schema is incomplete.")
        if self.use_functions and isinstance(functions_of(self.functions), Fault):
            return tr("The functions in Parameters are incomplete.")
        return ""

    def summary(self) -> str:
        """What is switched on, in as few words as fit on a pill; "" for plain answers."""
        number = len(function_names(self.functions))
        functions = tr_n("{n} function", "{n} functions", number)
        if self.use_schema and self.use_functions:
            return f"JSON, {functions}"
        return "JSON" if self.use_schema else functions if self.use_functions else ""

    def response_format(self) -> dict[str, object] | None:
        made = answer_format(self.schema) if self.use_schema else None
        return None if isinstance(made, Fault) else made

    def tools(self) -> tuple[dict[str, object], ...]:
        made = functions_of(self.functions) if self.use_functions else ()
        return () if isinstance(made, Fault) else made


def refusals(model: Model | None) -> tuple[str, str]:
    """Why a model takes no schema and no functions, "" for what it takes. An unknown model is believed to do both."""
    if model is None:
        return "", ""
    can = model.capabilities
    return (
        ""
        if can.supports_response_schema
        else tr("{name} does not support schemas, so none is sent.", name=model.name),
        ""
        if can.supports_function_calling
        else tr("{name} does not support functions, so none are offered.", name=model.name),
    )


class _Wrong(Exception):
    pass


def read_json_text(text: str) -> Any | Fault:
    """Return the value in `text`, or where it stops being JSON."""
    if len(text) > MAX_CHARS:
        return Fault(
            tr(
                "Up to {max_chars} characters. This has {count}.",
                max_chars=format_number(MAX_CHARS),
                count=format_number(len(text)),
            )
        )
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return Fault(
            tr("{msg} on line {lineno}, column {colno}.", msg=error.msg, lineno=error.lineno, colno=error.colno),
            error.lineno,
        )
    except (ValueError, RecursionError):
        return Fault(tr("This is nested too deeply."))


def answer_format(text: str) -> dict[str, object] | Fault:
    """Return the `response_format` for a schema as typed.

    The schema may stand alone, or in the wrapping that a request has (`name`, `strict`, `schema`).
    """
    value = read_json_text(text)
    if isinstance(value, Fault):
        return value
    if not isinstance(value, Mapping):
        return Fault(tr("A schema is a JSON object."), 1)
    wrapped = value.get("json_schema", value)
    inner = wrapped.get("schema") if isinstance(wrapped, Mapping) else None
    schema = inner if isinstance(inner, Mapping) else value
    name = wrapped.get("name") if isinstance(inner, Mapping) else schema.get("title")
    try:
        _check(schema, schema, "")
    except _Wrong as wrong:
        return Fault(str(wrong), _line_of(text, str(wrong)))
    except RecursionError:
        return Fault(tr("This is nested too deeply."))
    if schema.get("type") != "object":
        return Fault(tr("The top level needs “type”: “object”, because services answer with an object."), 1)
    strict = wrapped.get("strict", True) if isinstance(inner, Mapping) else True
    called = name if isinstance(name, str) and _NAME.fullmatch(name) else "answer"
    return {
        "type": "json_schema",
        "json_schema": {"name": called, "strict": bool(strict), "schema": dict(schema)},
    }


def functions_of(text: str) -> tuple[dict[str, object], ...] | Fault:
    """Return the `tools` for functions as typed: a list of them or one, with or without the `function` wrapping."""
    value = read_json_text(text)
    if isinstance(value, Fault):
        return value
    entries = value if isinstance(value, list) else [value]
    if not entries:
        return Fault(tr("This list has no functions."), 1)
    if len(entries) > MAX_FUNCTIONS:
        return Fault(
            tr(
                "Up to {max_functions} functions. This list has {count}.",
                max_functions=MAX_FUNCTIONS,
                count=len(entries),
            )
        )
    tools: list[dict[str, object]] = []
    for number, entry in enumerate(entries, start=1):
        made = _tool(entry, number)
        if isinstance(made, str):
            return Fault(made, _line_of(text, made))
        tools.append(made)
    names = [tool["function"]["name"] for tool in tools]  # type: ignore[index]  # `_tool` made it so
    doubled = next((name for name in names if names.count(name) > 1), None)
    return Fault(tr("Two functions are called “{doubled}”.", doubled=doubled)) if doubled else tuple(tools)


def function_names(text: str) -> tuple[str, ...]:
    """The names of the functions in `text`, () while it is wrong."""
    tools = functions_of(text) if text.strip() else ()
    return () if isinstance(tools, Fault) else tuple(tool["function"]["name"] for tool in tools)  # type: ignore[index]  # as above


def _tool(entry: object, number: int) -> dict[str, object] | str:
    if not isinstance(entry, Mapping):
        return tr("Function {number} is not a JSON object.", number=number)
    wrapped = entry.get("function")
    function = wrapped if isinstance(wrapped, Mapping) else entry
    if entry.get("type", "function") != "function" and isinstance(wrapped, Mapping):
        return tr(
            "Function {number} has the type “{entry}”. Only “function” is supported.",
            number=number,
            entry=entry.get("type"),
        )
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return tr("Function {number} needs a “name” of up to 64 letters, digits, “_” or “-”.", number=number)
    kept: dict[str, object] = {"name": name}
    if isinstance(function.get("description"), str):
        kept["description"] = function["description"]
    parameters = function.get("parameters", {"type": "object", "properties": {}})
    if not isinstance(parameters, Mapping):
        return tr("“parameters” of “{name}” is not a JSON object.", name=name)
    try:
        _check(parameters, parameters, f"{name}.parameters")
    except _Wrong as wrong:
        return str(wrong)
    except RecursionError:
        return tr("“parameters” of “{name}” is nested too deeply.", name=name)
    kept["parameters"] = dict(parameters)
    if isinstance(function.get("strict"), bool):
        kept["strict"] = function["strict"]
    return {"type": "function", "function": kept}


def _check(schema: object, root: Mapping[str, Any], at: str) -> None:
    """Raise `_Wrong` with a sentence at the first place that no service would take."""
    where = f"“{at}”" if at else tr("The schema")
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise _Wrong(tr("{where} is not a JSON object.", where=where))
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [] if kinds is None else [kinds]:
        if kind not in KINDS:
            raise _Wrong(
                tr(
                    "{where} has an unknown type, “{kind}”. Known types: {kinds}.",
                    where=where,
                    kind=kind,
                    kinds=", ".join(KINDS),
                )
            )
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise _Wrong(tr("“properties” of {where} is not a JSON object.", where=where))
    for name, inner in properties.items():
        _check(inner, root, f"{at}.{name}" if at else str(name))
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise _Wrong(tr("“required” of {where} is not a list of names.", where=where))
    missing = next((name for name in required if properties and name not in properties), None)
    if missing is not None:
        raise _Wrong(
            tr("{where} requires “{missing}”, which is not among its properties.", where=where, missing=missing)
        )
    if "items" in schema:
        _check(schema["items"], root, f"{at}[]")
    if "enum" in schema and not (isinstance(schema["enum"], list) and schema["enum"]):
        raise _Wrong(tr("“enum” of {where} is not a list of values.", where=where))
    for union in _UNIONS:
        if union in schema:
            if not isinstance(schema[union], list) or not schema[union]:
                raise _Wrong(tr("“{union}” of {where} is not a list of schemas.", union=union, where=where))
            for inner in schema[union]:
                _check(inner, root, at)
    reference = schema.get("$ref")
    if reference is not None and resolve(reference, root) is None:
        raise _Wrong(tr("{where} refers to “{reference}”, which does not exist.", where=where, reference=reference))


def resolve(reference: object, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what `#/$defs/…` names inside `root`; None for what is not there or elsewhere: nothing is fetched."""
    if reference == "#":
        return root
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    target: object = root
    for step in reference.removeprefix("#/").split("/"):
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) else None


def _line_of(text: str, sentence: str) -> int:
    """The first line that holds the last quoted name of a sentence."""
    quoted = re.findall(r"“([^”]+)”", sentence)
    for name in reversed(quoted):
        key = json.dumps(name.rsplit(".", 1)[-1].removesuffix("[]"), ensure_ascii=False)
        for number, line in enumerate(text.splitlines(), start=1):
            if key in line:
                return number
    return 0

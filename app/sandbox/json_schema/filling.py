"""Makes a value that keeps to a schema: what a schema asks for is gathered, tried, and checked as a whole.

Where a schema leaves a choice, the choices are tried in order. Every value is checked on each level by `Validity`, so
what comes out is right, or nothing comes out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, count, islice
from typing import Any

from app.sandbox.http.errors import Json
from app.sandbox.json_schema.document import TYPES, Document, Subschema
from app.sandbox.json_schema.validity import Unfillable, Validity, exact, frozen, type_of
from app.sandbox.json_schema.words import FORMATS, Words

LONGEST_TEXT = 100_000
MOST_ITEMS = 1_000
SHALLOW = 5  # levels on which everything is filled; below, only what has to be
DEEPEST = 20
REJECTED = 60  # values of one type that may be wrong before the next choice is looked at
EDGE = 10**1000

SPEAKS_OF = {
    "object": ("properties", "required", "patternProperties", "additionalProperties", "minProperties", "propertyNames"),
    "array": ("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"),
    "string": ("pattern", "minLength", "maxLength", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}


@dataclass(frozen=True, slots=True)
class _Facts:
    """Schemas that all have to hold, with every choice among them made."""

    parts: tuple[Subschema, ...] = ()
    types: frozenset[str] = frozenset(TYPES)

    def every(self, keyword: str) -> list[Any]:
        return [part.schema[keyword] for part in self.parts if isinstance(part.schema, dict) and keyword in part.schema]

    def least(self, keyword: str) -> int:
        return max((int(value) for value in self.every(keyword)), default=0)

    def most(self, keyword: str) -> float:
        return min((int(value) for value in self.every(keyword)), default=math.inf)


_Choice = tuple[tuple["Subschema | _Open", ...], ...]


@dataclass(frozen=True, slots=True)
class _Open:
    """A choice that is still to be made."""

    ways: _Choice


class Filling:
    """`value()` returns the first value that holds. With `everything`, optional properties are filled as well."""

    def __init__(self, document: Document, words: Words, *, everything: bool) -> None:
        self._document = document
        self._words = words
        self._everything = everything
        self._validity = Validity(document)

    def value(self, *also: Subschema) -> object:
        """Return a value for the document and for the schemas given. Raises `Unfillable`."""
        try:
            for value in self._values((self._document.root, *also), "", 0):
                return value
        except RecursionError:
            raise Unfillable("it refers to itself endlessly") from None
        except (OverflowError, ValueError):  # of numbers with thousands of digits
            raise Unfillable("its numbers are too large") from None
        raise Unfillable("no value was found that satisfies all of it")

    def _values(self, places: tuple[Subschema, ...], hint: str, depth: int) -> Iterator[object]:
        """Yield values that hold for all of the schemas, as many as there are."""
        if depth > DEEPEST:
            return
        for facts in self._combinations(places, depth):
            for candidates in self._of_each_type(facts, hint, depth):
                rejected = 0
                for candidate in candidates:
                    if all(self._validity.holds(place, candidate) for place in places):
                        yield candidate
                    elif (rejected := rejected + 1) > REJECTED:
                        break

    # Which schemas have to hold

    def _combinations(self, places: tuple[Subschema, ...], depth: int) -> Iterator[_Facts]:
        open_ends: list[tuple[tuple[Subschema | _Open, ...], _Facts]] = [(places, _Facts())]
        while open_ends:
            self._validity.spend()
            todo, facts = open_ends.pop()
            if not todo:
                yield facts
                continue
            place, rest = todo[0], todo[1:]
            if isinstance(place, _Open):
                open_ends += [((*way, *rest), facts) for way in reversed(place.ways)]
            elif place.schema is True or any(place == known for known in facts.parts):
                open_ends.append((rest, facts))
            elif isinstance(place.schema, dict):
                types = facts.types & _types(place.schema)
                if types:
                    more = tuple(self._implied(place, place.schema, depth))
                    open_ends.append(((*more, *rest), _Facts((*facts.parts, place), types)))

    def _implied(self, place: Subschema, schema: Json, depth: int) -> Iterator[Subschema | _Open]:
        child = self._document.child
        yield from self._document.followed(place)
        for one in schema.get("allOf", ()):
            yield child(place, one)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                ways = [child(place, one) for one in schema[keyword]]
                if depth >= SHALLOW:
                    ways.sort(key=lambda way: _is_deep(way.schema))
                yield _Open(tuple((way,) for way in ways))
        if "if" in schema:
            then, other = child(place, schema.get("then", True)), child(place, schema.get("else", True))
            condition = child(place, schema["if"])
            yield _Open(((condition, then), (child(place, {"not": schema["if"]}), other)))
        for name, one in schema.get("dependentSchemas", {}).items():
            yield _Open(((child(place, one),), (child(place, {"properties": {name: False}}),)))

    # Values by type

    def _of_each_type(self, facts: _Facts, hint: str, depth: int) -> Iterator[Iterable[object]]:
        constants = [[one] for one in facts.every("const")] + facts.every("enum")
        if constants:
            wanted = set.intersection(*({frozen(one) for one in row} for row in constants))
            options = [one for one in constants[0] if frozen(one) in wanted]
            options.sort(key=lambda one: not (isinstance(one, str | int) and self._words.mentions(one)))
            yield (deepcopy(one) for one in options)
            return
        for name in _order(facts):
            if name == "null":
                yield (None,)
            elif name == "boolean":
                yield self._words.yes, not self._words.yes
            elif name in ("integer", "number"):
                yield self._numbers(facts, whole=name == "integer")
            elif name == "string":
                yield self._texts(facts, hint)
            elif name == "array":
                yield self._arrays(facts, hint, depth)
            else:
                yield self._objects(facts, depth)

    def _given(self, facts: _Facts, kind: str) -> Iterator[Any]:
        """Yield what the schemas themselves name as defaults and examples."""
        rows = [one for one in facts.every("examples") if isinstance(one, list)]
        for one in chain(facts.every("default"), *rows):
            if type_of(one) == kind or (type_of(one), kind) == ("integer", "number"):
                yield deepcopy(one)

    def _numbers(self, facts: _Facts, *, whole: bool) -> Iterator[float]:
        for number in self._words.taken_numbers():
            if not whole or isinstance(number, int):
                yield number
        yield from self._given(facts, "integer" if whole else "number")
        lows = [(exact(one), False) for one in facts.every("minimum")]
        lows += [(exact(one), True) for one in facts.every("exclusiveMinimum")]
        highs = [(exact(one), False) for one in facts.every("maximum")]
        highs += [(exact(one), True) for one in facts.every("exclusiveMaximum")]
        low, high = max(lows, default=None), min(highs, key=lambda one: (one[0], not one[1]), default=None)
        steps = [exact(one) for one in facts.every("multipleOf")] + ([Fraction(1)] if whole else [])
        if not steps:
            yield from map(_plain, self._between(low, high))
            steps = [Fraction(1)]
        step = steps[0]
        for other in steps[1:]:
            step = Fraction(
                math.lcm(step.numerator * other.denominator, other.numerator * step.denominator),
                step.denominator * other.denominator,
            )
        if low is None and high is not None and high[0] < 0:
            start = math.floor(high[0] / step)
            multiples: Iterable[int] = range(start, start - MOST_ITEMS - 1, -1)
        else:
            start = 0 if low is None else math.ceil(low[0] / step)
            multiples = chain(range(start, start + MOST_ITEMS + 1), range(start - 1, start - MOST_ITEMS, -1))
        for multiple in multiples:
            value = multiple * step
            fits = (low is None or (value, 0) >= low) and (high is None or value < high[0] or (value, False) == high)
            if fits and not (low is not None and low[1] and value == low[0]) and abs(value) < EDGE:
                yield _plain(value)

    def _between(self, low: tuple[Fraction, bool] | None, high: tuple[Fraction, bool] | None) -> Iterator[Fraction]:
        """Yield numbers within two bounds that no step binds."""
        if low is None or high is None:
            return
        if not low[1]:
            yield low[0]
        for parts in range(2, 40):
            yield low[0] + (high[0] - low[0]) / parts

    def _texts(self, facts: _Facts, hint: str) -> Iterator[str]:
        least, most = facts.least("minLength"), facts.most("maxLength")
        if least > min(most, LONGEST_TEXT):
            return
        patterns = [self._document.pattern(text) for text in facts.every("pattern")]
        formats = [FORMATS[name] for name in facts.every("format") if name in FORMATS]

        def fits(text: str) -> bool:
            self._validity.spend()
            return (
                least <= len(text) <= most
                and all(one.is_one(text) for one in formats)
                and all(one.found_in(text) for one in patterns)
            )

        yield from filter(fits, self._raw_texts(facts, hint, least, most))

    def _raw_texts(self, facts: _Facts, hint: str, least: int, most: float) -> Iterator[str]:
        """Yield texts that may fit, the ones that say most first."""
        words = self._words
        patterns = [self._document.pattern(text) for text in facts.every("pattern")]
        formats = [FORMATS[name] for name in facts.every("format") if name in FORMATS]
        if formats:
            yield from words.found(formats[0])
        elif patterns:
            yield from words.taken_names()
            yield from (word.strip(".,;:!?") for word in words.question.split()[:100] if len(word) < 100)
            yield words.question[:500]
        else:
            if hint.isdigit() and words.titles:
                yield words.titles[int(hint) % len(words.titles)]
            if not words.whole(hint):
                yield from words.taken_names()
            yield words.text[: int(min(most, LONGEST_TEXT))]
        yield from self._given(facts, "string")
        for kind in formats:
            yield from kind.examples
            if kind.longer is not None:
                yield from (kind.longer(size) for size in dict.fromkeys((least, least + 1, least + 2)))
        for pattern in patterns:
            yield from pattern.examples(least, None if most == math.inf else int(most))
        if len(patterns) > 1:
            for two in zip(*(islice(one.examples(), 20) for one in patterns), strict=False):
                yield "".join(two)
                yield "".join(reversed(two))
        if not formats:
            yield ""
            filler = words.text or "text"
            yield (filler * (least // len(filler) + 1))[:least]
            for number in range(MOST_ITEMS):
                tail = str(number)
                yield tail
                yield (filler * (least // len(filler) + 1))[: max(0, least - len(tail))] + tail

    # Arrays

    def _arrays(self, facts: _Facts, hint: str, depth: int) -> Iterator[list[object]]:
        least, most = facts.least("minItems"), min(facts.most("maxItems"), MOST_ITEMS)
        first = max((len(row) for row in facts.every("prefixItems")), default=0)
        contained = sum(part.schema.get("minContains", 1) for part in self._with(facts, "contains"))
        liked = max(least, int(contained))
        if depth < SHALLOW:
            liked = max(liked, first, len(self._words.titles) if _is_list_of_texts(facts) else 1, 1)
        liked = int(min(liked, most))
        yield from self._given(facts, "array")
        sizes = dict.fromkeys((liked, least, *range(liked, max(least - 1, liked - 10), -1), *range(liked, liked + 10)))
        for size in sizes:
            if least <= size <= most:
                for shift in (0, first) if contained else (0,):
                    for kept_out in (False, True) if contained else (False,):
                        for skip in range(3 if size else 1):
                            left = self._words.used()
                            made = self._array(facts, hint, depth, _Plan(size, shift, skip, kept_out=kept_out))
                            if made is not None:
                                yield made
                            self._words.back_to(left)

    def _with(self, facts: _Facts, keyword: str) -> list[Any]:
        return [part for part in facts.parts if isinstance(part.schema, dict) and keyword in part.schema]

    def _array(self, facts: _Facts, hint: str, depth: int, plan: _Plan) -> list[object] | None:
        unique = any(facts.every("uniqueItems"))
        made: list[object] = []
        known: set[object] = set()
        for number in range(plan.size):
            self._validity.spend()
            places = self._item_places(facts, number, plan)
            skip = plan.skip if number == 0 else 0
            name = hint if plan.size == 1 and not self._words.titles else str(number)
            for value in self._values(places, name, depth + 1):
                if unique and frozen(value) in known:
                    continue
                if skip:
                    skip -= 1
                    continue
                break
            else:
                return None
            made.append(value)
            known.add(frozen(value))
        return made

    def _item_places(self, facts: _Facts, number: int, plan: _Plan) -> tuple[Subschema, ...]:
        child = self._document.child
        places: list[Subschema] = []
        looked = False
        for part in facts.parts:
            assert isinstance(part.schema, dict)
            row = part.schema.get("prefixItems", ())
            if number < len(row):
                places.append(child(part, row[number]))
                looked = True
            elif "items" in part.schema:
                places.append(child(part, part.schema["items"]))
                looked = True
        at = plan.shift
        for part in self._with(facts, "contains"):
            needed = int(part.schema.get("minContains", 1))
            if at <= number < at + needed:
                places.append(child(part, part.schema["contains"]))
                looked = True
            elif plan.kept_out or "maxContains" in part.schema:
                places.append(child(part, {"not": part.schema["contains"]}))
            at += needed
        if not looked:
            places += [child(part, part.schema["unevaluatedItems"]) for part in self._with(facts, "unevaluatedItems")]
        return tuple(places)

    # Objects

    def _objects(self, facts: _Facts, depth: int) -> Iterator[Json]:
        required = list(dict.fromkeys(chain.from_iterable(facts.every("required"))))
        named = dict.fromkeys(chain.from_iterable(facts.every("properties")))
        for needed in facts.every("dependentRequired"):
            named |= dict.fromkeys(needed)
        optional = [name for name in named if name not in required]
        wants_all = (self._everything or not required) and depth < SHALLOW
        yield from self._given(facts, "object") if not named and not required else ()
        plans: list[Sequence[str]] = [optional, ()] if wants_all else [(), optional]
        plans += [[name] for name in optional[:30]]
        plans += [[name for name in optional if name != left] for left in optional[:30]]
        for plan in plans:
            ordered = [name for name in (*named, *required) if name in required or name in plan]
            for skip in (0, 1):
                left = self._words.used()
                made = self._object(facts, tuple(dict.fromkeys(ordered)), required, depth, skip)
                if made is not None:
                    yield made
                self._words.back_to(left)

    def _object(
        self, facts: _Facts, names: Sequence[str], required: Sequence[str], depth: int, skip: int
    ) -> Json | None:
        least, most = facts.least("minProperties"), facts.most("maxProperties")
        if least > MOST_ITEMS or len(required) > most:
            return None
        made: Json = {}
        needed, left = set(required), list(names)
        while left:
            name = left.pop(0)
            if name in made or (name not in needed and len(made) + len(needed - set(made)) >= most):
                continue
            if not self._fill(facts, name, made, depth, skip if not left else 0):
                if name in needed:
                    return None
                continue
            for rule in facts.every("dependentRequired"):
                needed |= set(rule.get(name, ()))
                left += [other for other in rule.get(name, ()) if other not in made]
        free = self._free_names(facts)
        while len(made) < least:
            name = next(free, "")
            if not name:
                return None
            if name not in made:
                self._fill(facts, name, made, depth, 0)
        return made

    def _fill(self, facts: _Facts, name: str, made: Json, depth: int, skip: int) -> bool:
        """Put a value for a property into an object. False when there is none."""
        self._validity.spend()
        for part in self._with(facts, "propertyNames"):
            if not self._validity.holds(self._document.child(part, part.schema["propertyNames"]), name):
                return False
        places: list[Subschema] = []
        looked = False
        for part in facts.parts:
            assert isinstance(part.schema, dict)
            rules = self._validity.rules_for(part.schema, name)
            places += [self._document.child(part, one) for one in rules]
            looked = looked or bool(rules)
        if not looked:
            for part in self._with(facts, "unevaluatedProperties"):
                places.append(self._document.child(part, part.schema["unevaluatedProperties"]))
        for value in islice(self._values(tuple(places), name, depth + 1), skip + 1):
            made[name] = value  # the last of them
        return name in made

    def _free_names(self, facts: _Facts) -> Iterator[str]:
        """Yield names of properties that are named nowhere, as they may be called."""
        for rules in facts.every("patternProperties"):
            for text in rules:
                yield from islice(self._document.pattern(text).examples(1), 20)
        rules = self._with(facts, "propertyNames")
        places = tuple(self._document.child(part, part.schema["propertyNames"]) for part in rules)
        if places:
            text = Subschema({"type": "string"})
            yield from (str(name) for name in islice(self._values((text, *places), "", 0), MOST_ITEMS))
        yield from (f"key{number}" for number in islice(count(1), MOST_ITEMS))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an array is tried: its size, where what it has to contain begins, and the first item's values to pass by."""

    size: int
    shift: int
    skip: int
    kept_out: bool  # what it has to contain is nowhere else in it


def _types(schema: Json) -> frozenset[str]:
    named = schema.get("type", TYPES)
    types = frozenset([named] if isinstance(named, str) else named)
    forbidden = schema.get("not")
    if isinstance(forbidden, dict) and set(forbidden) == {"type"}:
        out = forbidden["type"]
        outs = frozenset([out] if isinstance(out, str) else out)
        types -= outs | ({"integer"} if "number" in outs else frozenset())
    elif forbidden is True or forbidden == {}:
        return frozenset()
    return types | {"integer"} if "number" in types else types


def _order(facts: _Facts) -> list[str]:
    """Return the types to try: as the schemas name them, then as their other keywords speak of them."""
    named = [name for row in facts.every("type") for name in ([row] if isinstance(row, str) else row)]
    spoken = [name for name, words in SPEAKS_OF.items() if any(facts.every(word) for word in words)]
    usual = ["string", "integer", "number", "boolean", "array", "object", "null"]
    order = [name for name in dict.fromkeys([*named, *spoken, *usual]) if name in facts.types]
    return sorted(order, key=lambda name: name == "null" and len(order) > 1)


def _is_deep(schema: Json | bool) -> bool:
    if isinstance(schema, bool) or "const" in schema or "enum" in schema:
        return False
    return schema.get("type") in (None, "object", "array") or "$ref" in schema


def _is_list_of_texts(facts: _Facts) -> bool:
    rows = facts.every("items")
    return bool(rows) and all(
        isinstance(one, dict) and one.get("type") == "string" and "enum" not in one for one in rows
    )


def _plain(value: Fraction) -> float:
    return value.numerator if value.denominator == 1 else float(value)

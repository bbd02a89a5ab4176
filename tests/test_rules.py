"""Which rules of the wire have a test with their id in its name, on the client's side and on the Sandbox's.

`python -m tests.test_rules` prints the whole report: each rule, whom it concerns, and the tests that name it. A rule is
named in full, in the name of a test (`test_r_chat_07_…`) or in the values that a test is repeated with ("R-CHAT-07").
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
SIDES = {"both": ("client", "sandbox"), "client": ("client",), "sandbox": ("sandbox",)}
IN_NAME = re.compile(r"(?<![a-z])r_([a-z]+)_(\d\d)(?!\d)")
IN_VALUE = re.compile(r"R-([A-Z]+)-(\d\d)(?!\d)")
Proofs = Mapping[str, Mapping[str, tuple[str, ...]]]  # rule → side → tests


@cache
def listed() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((TESTS / "wire_rules.json").read_text(encoding="utf-8"))
    return content


@cache
def rules() -> dict[str, tuple[str, ...]]:
    """Each rule and the sides that it concerns; ("client", "sandbox") for most."""
    found = dict.fromkeys(listed()["neither"], ()) | {
        f"R-{section}-{number:02d}": SIDES[concerns]
        for concerns, sections in listed()["concerns"].items()
        for section, runs in sections.items()
        for number in numbers(runs)
    }
    return dict(sorted(found.items()))


def numbers(runs: str) -> Iterator[int]:
    """Read "1-4, 7"."""
    for run in runs.split(", "):
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)


@cache
def proofs() -> Proofs:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(TESTS.rglob("test_*.py")):
        relative = path.relative_to(TESTS)
        side = "sandbox" if relative.parts[0] == "sandbox" else "client"
        for name, named in named_in(path.read_text(encoding="utf-8")).items():
            for rule in named:
                found[rule][side].append(f"{relative.as_posix()}::{name}")
    return {rule: {side: tuple(names) for side, names in sides.items()} for rule, sides in found.items()}


def named_in(source: str) -> dict[str, set[str]]:
    """The rules that each test function of a file names: in its own name, or in what it is repeated with."""
    if not (IN_NAME.search(source.lower()) or IN_VALUE.search(source)):
        return {}
    tree = ast.parse(source)
    constants: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            constants |= {target.id: node.value for target in targets if isinstance(target, ast.Name)}

    def texts(node: ast.AST, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value
            elif isinstance(inner, ast.Name) and inner.id in constants and inner.id not in seen:
                yield from texts(constants[inner.id], seen | {inner.id})

    sections = {rule.split("-")[1] for rule in rules()}
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            pairs = [(section.upper(), number) for section, number in IN_NAME.findall(node.name.lower())]
            repeated = [text for mark in node.decorator_list for text in texts(mark)]
            pairs += [pair for text in repeated for pair in IN_VALUE.findall(text)]
            found[node.name] = {f"R-{section}-{number}" for section, number in pairs if section in sections}
    return found


def untested() -> dict[str, list[str]]:
    return {
        side: [rule for rule, sides in rules().items() if side in sides and side not in proofs().get(rule, {})]
        for side in ("client", "sandbox")
    }


def test_every_rule_that_concerns_us_has_a_test() -> None:
    """The list of those without one may only shrink."""
    added = {side: sorted(set(found) - set(listed()["untested"][side])) for side, found in untested().items()}
    assert added == {"client": [], "sandbox": []}


def test_the_list_of_rules_has_no_gaps_and_names_none_twice() -> None:
    sections: dict[str, list[int]] = defaultdict(list)
    for concerns in listed()["concerns"].values():
        for section, runs in concerns.items():
            sections[section] += numbers(runs)
    for rule in listed()["neither"]:
        sections[rule.split("-")[1]].append(int(rule.split("-")[2]))
    for section, found in sections.items():
        assert sorted(found) == list(range(1, len(found) + 1)), section
    assert len(rules()) == 365


def test_rules_that_need_no_test_say_why() -> None:
    assert all(reason.endswith(".") for reason in listed()["neither"].values())


def test_no_test_names_a_rule_that_is_none() -> None:
    assert sorted(set(proofs()) - set(rules())) == []


def test_a_rule_is_found_in_names_and_in_repeated_values_only() -> None:
    source = """
ROWS = {"R-RPC-22": 1}
@pytest.mark.parametrize("rule", ROWS)
async def test_R_GEN_01_and_r_gen_020_of_something(): "R-GEN-03"
"""
    (named,) = named_in(source).values()
    assert named == {"R-GEN-01", "R-RPC-22"}


def report() -> Iterator[str]:
    for rule, sides in rules().items():
        yield f"{rule}  {', '.join(sides) or listed()['neither'][rule]}"
        for side in sides:
            for name in proofs().get(rule, {}).get(side, ("— none —",)):
                yield f"    {side:8}{name}"


if __name__ == "__main__":
    print("\n".join(report()))
    without = untested()
    print(f"\n{len(rules())} rules. Without a test: {without['client']} (client), {without['sandbox']} (Sandbox).")

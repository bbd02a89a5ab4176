"""Every promise of SECURITY.md names one test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
PROMISES = PAGE.partition("## Promises")[2].partition("## What is signed")[0]
ROWS = [line for line in PROMISES.splitlines() if line.startswith("| ") and not line.startswith(("| Promise", "|---"))]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


@cache
def functions_of(path: str) -> frozenset[str]:
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[2:60])
def test_a_promise_names_the_one_test_that_proves_it(row: str) -> None:
    _, promise, proof, _ = row.split("|")
    assert promise.strip()
    ((path, name),) = NAMED.findall(row)
    assert proof.strip() == f"`{path}::{name}`"
    assert name in functions_of(path)


def test_no_row_was_missed() -> None:
    assert len(ROWS) > 60
    assert len(NAMED.findall(PAGE)) == len(ROWS)

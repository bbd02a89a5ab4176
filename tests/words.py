"""Every text that a person can see, with its place: `python -m tests.words [PATH…]` prints one per line.

Found by reading the sources. A string counts when it is given to something that shows or says it (`tr`, `setText`,
a sentence of a problem), or when it reads as words: a capitalized word, or several words with spaces. Docstrings, SQL,
style sheets, HTTP headers and what goes into logs do not count. A value that is filled in prints as {…}.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs", "CHANGELOG.md", "resources/handbook")
# Neither shown nor said: what the Sandbox sends as a service's own words, tables of patterns, what engines are given.
NOT_SHOWN = ("app/sandbox/knowledge", "app/sandbox/media/")
SHOWS = {
    *("tr", "translate", "setText", "setToolTip", "setPlaceholderText", "setAccessibleName", "setTitle"),
    *(
        "setAccessibleDescription",
        "setWindowTitle",
        "addAction",
        "addItem",
        "addTab",
        "setStatusTip",
        "setInformativeText",
    ),
    *("setPrefix", "setSuffix", "setSpecialValueText", "Problem", "toast", "show_toast", "announce", "set_text"),
}
TRANSLATES = {"tr", "translate"}
HIDDEN_CALLS = {
    *("debug", "info", "log", "compile", "getLogger", "setStyleSheet", "setObjectName", "setProperty", "execute"),
    *("cast", "TypeVar", "import_module", "namedtuple", "AssertionError", "fullmatch", "sub", "findall", "finditer"),
}
NAMES_A_TASK = {"start", "start_unless_running", "replace", "begin", "cancel"}
INTERNAL_ERRORS = {"TypeError", "KeyError", "AssertionError", "NotImplementedError", "AttributeError", "LookupError"}
NOT_WORDS = re.compile(
    r"^(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN|COMMIT|FROM|WHERE|ORDER|VACUUM|AND|OR|SET|REPLACE)\b"
    r"|\b(INTEGER|TEXT NOT NULL|PRIMARY KEY)\b|[;{]\s*[a-z-]+:\s|</?[a-z]+[ >]|^[a-z-]+/[a-z-]+"
    r"|^Q[A-Z]|^--|\\[bdsw]|\(\?"
)


class Text(NamedTuple):
    path: str
    line: int
    words: str
    translated: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words!r}"


def reads_as_words(words: str) -> bool:
    if NOT_WORDS.search(words):
        return False
    plain = words.replace("{…}", "0")
    return bool(
        re.search(r"[A-Za-z]{2,}[,.:;…]? \(?[A-Za-z]{2,}|[A-Za-z]{2,} 0|0 [a-z]{3,}", plain)
        or re.fullmatch(r"[A-Z][a-z’]{2,}(-[a-z]+)?[….:]?", plain)
    )


def value(node: ast.expr) -> str | None:
    """The text of a literal, with {…} for each value filled in; None for everything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    return None


def called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", "") or getattr(function, "id", "")


def _texts(node: ast.AST, path: str, shows: bool, translated: bool) -> Iterator[Text]:
    if isinstance(node, ast.expr) and (words := value(node)) is not None:
        if re.search(r"[A-Za-z]{2}", words.replace("{…}", "")) and (shows or reads_as_words(words)):
            yield Text(path, node.lineno, words, translated)
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value, path, False, translated)
        return
    name = called(node)
    if name in HIDDEN_CALLS or isinstance(node, ast.Import | ast.ImportFrom | ast.Global):
        return
    if isinstance(node, ast.Raise) and called(node.exc or node) in INTERNAL_ERRORS:
        return
    for field, child in ast.iter_fields(node):
        if field in ("annotation", "returns", "slice", "type_params"):
            continue
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                continue  # a docstring
            if name in NAMES_A_TASK and child and isinstance(child, list) and each is child[0]:
                continue
            if isinstance(each, ast.AST):
                direct = (
                    name in SHOWS and field in ("args", "keywords") and isinstance(each, ast.Constant | ast.JoinedStr)
                )
                yield from _texts(each, path, direct, translated or (name in TRANSLATES and field == "args"))


@cache
def of_sources() -> tuple[Text, ...]:
    return tuple(
        each
        for file in sorted((ROOT / "app").rglob("*.py"))
        if not (path := file.relative_to(ROOT).as_posix()).startswith(NOT_SHOWN)
        for each in _texts(ast.parse(file.read_text(encoding="utf-8")), path, False, False)
    )


@cache
def of_documents() -> tuple[Text, ...]:
    """Each line of the README, the changelog and the handbook, but for code and words to search by."""
    found = []
    for name in DOCUMENTS:
        for file in sorted((ROOT / name).glob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]:
            path, code = file.relative_to(ROOT).as_posix(), False
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                code ^= line.lstrip().startswith("```")
                if not code and not line.startswith("<!--") and re.search(r"[A-Za-z]{2}", line):
                    found.append(Text(path, number, line.strip(), False))
    return tuple(found)


if __name__ == "__main__":
    for text in (*of_sources(), *of_documents()):
        if text.path.startswith(tuple(sys.argv[1:]) or ""):
            print(text)

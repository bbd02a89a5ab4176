"""Syntax highlighting: finds the language, lexes the text, and returns the role of each span."""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from functools import cache
from threading import Lock
from typing import Any

MAX_CHARS = 200_000  # beyond this colors help nobody
MAX_LINE = 1_000  # a longer line is data, and hard on regular expressions
WORK_S = 0.001  # between two rests
REST_S = 0.001

_log = logging.getLogger(__name__)
_pygments = Lock()  # a lexer changes the tables of its class, and of those that it inherits from, when it is first made

Stretch = tuple[int, int, str]  # start in its line, length, color role

_LABELS = {
    "bash": "Bash", "c": "C", "cpp": "C++", "c++": "C++", "cs": "C#", "csharp": "C#", "css": "CSS",
    "console": "Console", "diff": "Diff", "dockerfile": "Dockerfile", "go": "Go", "graphql": "GraphQL", "html": "HTML",
    "http": "HTTP",
    "ini": "INI", "java": "Java", "javascript": "JavaScript", "js": "JavaScript", "json": "JSON", "jsx": "JSX",
    "kotlin": "Kotlin", "lua": "Lua", "makefile": "Makefile", "markdown": "Markdown", "md": "Markdown", "nix": "Nix",
    "php": "PHP", "powershell": "PowerShell", "py": "Python", "python": "Python", "python3": "Python", "r": "R",
    "rb": "Ruby", "rs": "Rust", "ruby": "Ruby", "rust": "Rust", "scala": "Scala", "sh": "Shell", "shell": "Shell",
    "sol": "Solidity", "solidity": "Solidity", "sql": "SQL", "swift": "Swift", "toml": "TOML", "ts": "TypeScript",
    "tsx": "TSX", "typescript": "TypeScript", "xml": "XML", "yaml": "YAML", "yml": "YAML", "zig": "Zig", "zsh": "Zsh",
    "text": "Text", "txt": "Text", "plaintext": "Text", "": "Text",
}  # fmt: skip
_EXTENSIONS = {
    "bash": "sh", "c": "c", "cpp": "cpp", "c++": "cpp", "cs": "cs", "csharp": "cs", "css": "css", "diff": "diff",
    "go": "go", "graphql": "graphql", "html": "html", "ini": "ini", "java": "java", "javascript": "js", "js": "js",
    "json": "json", "jsx": "jsx", "kotlin": "kt", "lua": "lua", "markdown": "md", "md": "md", "php": "php",
    "powershell": "ps1", "py": "py", "python": "py", "python3": "py", "r": "r", "rb": "rb", "rs": "rs", "ruby": "rb",
    "rust": "rs", "scala": "scala", "sh": "sh", "shell": "sh", "sol": "sol", "solidity": "sol", "sql": "sql",
    "swift": "swift", "toml": "toml", "ts": "ts", "tsx": "tsx", "typescript": "ts", "xml": "xml", "yaml": "yaml",
    "yml": "yaml", "zig": "zig", "zsh": "sh",
}  # fmt: skip


def label_of(language: str) -> str:
    """Return what the header of a code block says: "Python" for `py`, else the word itself."""
    return _LABELS.get(language.casefold(), language[:40])


def file_name(language: str) -> str:
    """Return a name to offer when the code is saved."""
    return f"code.{_EXTENSIONS.get(language.casefold(), 'txt')}"


@cache
def lexer_for(language: str) -> Any:
    """Return a Pygments lexer, or None for a language it does not know."""
    from pygments.lexer import RegexLexer
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    setattr(RegexLexer, "_process_regex", classmethod(_compile_and_rest))  # noqa: B010 - unknown to its stubs
    try:
        return get_lexer_by_name(language.casefold())
    except ClassNotFound:
        return None


def _compile_and_rest(lexer_class: Any, *args: Any) -> Any:
    """Do what Pygments does with each regular expression of a language, in place of its own method."""
    match = type(lexer_class)._process_regex(lexer_class, *args)  # noqa: SLF001 - Pygments offers no other place
    time.sleep(REST_S)
    return match


def can_be_highlighted(text: str, language: str) -> bool:
    """Tell whether `text` is worth coloring."""
    return bool(language) and len(text) <= MAX_CHARS and all(len(line) <= MAX_LINE for line in text.split("\n"))


def color_lines(text: str, language: str) -> list[list[Stretch]]:
    """Return the colored stretches of each line, none at all for a language that nobody knows.

    Never call it on the UI thread: the tables of a language take 20 ms to compile, and a language inside another, such
    as a script in HTML, begins in the middle of the text. It rests often, so that a slow machine has time for the
    window.
    """
    with _pygments:
        try:
            lexer = lexer_for(language)
            return [] if lexer is None else _lex(lexer, text)
        except Exception:  # strangers' regular expressions: a block without colors holds up none behind it
            _log.exception("A block of %r could not be colored", language)
            return []


def _lex(lexer: Any, text: str) -> list[list[Stretch]]:
    lines: list[list[Stretch]] = []
    starts = [0]
    for line in text.split("\n"):
        lines.append([])
        starts.append(starts[-1] + len(line) + 1)
    starts.pop()
    rests_at = time.perf_counter() + WORK_S
    for start, kind, value in lexer.get_tokens_unprocessed(text + "\n"):  # line-based lexers need its end
        role = _role(kind)
        if role and value:
            number = bisect_right(starts, start) - 1
            column = start - starts[number]
            for part in value.split("\n"):
                if part and number < len(lines):
                    lines[number].append((column, len(part), role))
                number += 1
                column = 0
        if time.perf_counter() > rests_at:
            time.sleep(REST_S)
            rests_at = time.perf_counter() + WORK_S
    return lines


@cache
def _role(kind: Any) -> str:
    """Return the color role of a Pygments token type, "" for plain text."""
    from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String

    named = (Name.Function, Name.Class, Name.Decorator, Name.Tag, Name.Attribute, Name.Label, Name.Property)
    for types, role in (
        ((Comment.Preproc,), "syntax_keyword"),
        ((Comment,), "syntax_comment"),
        ((Keyword, Operator.Word), "syntax_keyword"),
        ((String.Doc, String, Literal.Date), "syntax_string"),
        ((Number,), "syntax_number"),
        (named, "syntax_name"),
        ((Generic.Deleted, Generic.Error), "bad"),
        ((Generic.Inserted,), "ok"),
        ((Generic.Heading, Generic.Subheading), "syntax_name"),
        ((Generic.Prompt, Generic.Output), "syntax_comment"),
    ):
        if any(kind in each for each in types):
            return role
    return ""

"""Syntax highlighting: finds the language, lexes the text in short steps, and returns the role of each span."""

from __future__ import annotations

import time
from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 200_000  # beyond this colors help nobody
MAX_LINE = 1_000  # a longer line is data, and hard on regular expressions

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


def lexer_for(language: str) -> Any:
    """Return a Pygments lexer, or None for a language it does not know. May take 30 ms: not on the UI thread."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language.casefold())
    except ClassNotFound:
        return None
    for _ in lexer.get_tokens_unprocessed(""):
        pass  # its tables of regular expressions are compiled with the first call
    return lexer


def can_be_highlighted(text: str, language: str) -> bool:
    """Tell whether `text` is worth coloring."""
    return bool(language) and len(text) <= MAX_CHARS and all(len(line) <= MAX_LINE for line in text.split("\n"))


class CodeHighlighter:
    """Reads one finished code block. Call `step` until it returns True, then take `lines`."""

    def __init__(self, lexer: Any, text: str) -> None:
        self.lines: list[list[Stretch]] = [[]]
        self._tokens: Iterator[tuple[int, Any, str]] = iter(lexer.get_tokens_unprocessed(text))
        self._starts = [0]
        for line in text.split("\n"):
            self.lines.append([])
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.lines.pop()
        self._starts.pop()

    def step(self, budget_s: float) -> bool:
        """Work for about `budget_s` seconds; True when the end is reached."""
        until = time.perf_counter() + budget_s
        for count, (start, kind, value) in enumerate(self._tokens):
            role = _role(kind)
            if role and value:
                self._note(start, value, role)
            if count % 16 == 15 and time.perf_counter() > until:
                return False
        return True

    def _note(self, start: int, value: str, role: str) -> None:
        line = bisect_right(self._starts, start) - 1
        column = start - self._starts[line]
        for part in value.split("\n"):
            if part and line < len(self.lines):
                self.lines[line].append((column, len(part), role))
            line += 1
            column = 0


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

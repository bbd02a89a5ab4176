"""Signatures as people and Solidity write them: `function balanceOf(address owner) view returns (uint256)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.translation import tr
from app.wallet.abi_types import Entry, Kind, Parameter, canonical_type
from app.wallet.errors import AbiRefused

_TOKEN = re.compile(r"\s*([A-Za-z_$][\w$.]*|\d+|[()\[\],])")
_KINDS: dict[str, Kind] = {
    "function": "function",
    "event": "event",
    "error": "error",
    "constructor": "constructor",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_QUOTED_END = re.compile(r"[\"'`]\s*,")
_SIGN = re.compile(r"[(){};\n]")
_GOES_ON = re.compile(  # what a line begins with that belongs to the line before it
    r"\s*(?:[(){]|(?:external|public|internal|private|view|pure|payable|nonpayable|constant|virtual|override|anonymous"
    r"|returns)\b)"
)
_CONTAINER = re.compile(r"(?:abstract\s+)?(?:interface|contract|library)\s+([A-Za-z_$][\w$]*)")
_STRUCT = re.compile(r"struct\s+([A-Za-z_$][\w$]*)$")
_ENUM = re.compile(r"enum\s+([A-Za-z_$][\w$]*)$")
_ALIAS = re.compile(r"type\s+([A-Za-z_$][\w$]*)\s+is\s+(\w+)$")
_SILENT = re.compile(r"(?:pragma|import|using|modifier|receive|fallback)\b|[^(]*\([^)]*\)[^(]*\b(?:internal|private)\b")
_MAX_DEPTH = 16
_PLACES = frozenset({"memory", "calldata", "storage", "payable", "indexed"})
MAX_SIGNATURE_CHARS = 4_000
MAX_SKIPPED_CHARS = 60  # of a line that could not be read


@dataclass(slots=True)
class _Types:
    """The types that a source declares: elementary ones by another name, and structs by their fields."""

    names: dict[str, str] = field(default_factory=dict)
    structs: dict[str, str] = field(default_factory=dict)

    def parts_of(self, name: str, depth: int) -> tuple[Parameter, ...] | None:
        """The fields of a struct; None for another type. Raises `AbiRefused`."""
        body = self.structs.get(name)
        if body is None:
            return None
        if depth > _MAX_DEPTH:
            raise AbiRefused("type", tr("Unknown type “{written}”.", written=name[:60]))
        fields = [each.strip() for each in body.split(";")]
        return tuple(_Reader(each, self, depth + 1).parameter() for each in fields if each)


def read_signature(line: str) -> Entry:
    """Return the entry that a signature describes; without a first word it is a function. Raises `AbiRefused`.

    Tuples are types in brackets: `fill((address maker, uint256 amount)[] orders)`.
    """
    if len(line) > MAX_SIGNATURE_CHARS:
        raise AbiRefused("large", tr("This signature is too long."))
    return _Reader(line).entry()


def read_source(text: str) -> tuple[list[Entry], list[str]]:
    """Return the entries of a list of signatures or of Solidity source, and the beginnings of what cannot be read.

    Signatures may be quoted, numbered by nothing but lines, and followed by commas or semicolons. Structs, enums and
    contracts that the text declares are types. Bodies of functions are passed over.
    """
    types, statements = _Types(), list(_statements(text))
    signatures = [each for each in statements if not _declares(each, types)]
    entries: list[Entry] = []
    skipped: list[str] = []
    for written, _ in signatures:
        if len(written) > MAX_SIGNATURE_CHARS:
            skipped.append(written[:MAX_SKIPPED_CHARS])
            continue
        if _SILENT.match(written):
            continue
        try:
            entries.append(_Reader(written, types).entry())
        except AbiRefused:
            skipped.append(written[:MAX_SKIPPED_CHARS])
    return entries, skipped


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield each statement of a source, and what was in braces behind it; a container's are its own."""
    text = _QUOTED_END.sub(";", _COMMENT.sub(" ", text))
    text = text.translate({ord(sign): " " for sign in "\"'`\ufeff"})
    begun = brackets = braces = containers = 0
    header = ""
    for found in _SIGN.finditer(text):
        sign, at = found[0], found.start()
        if braces:
            braces += (sign == "{") - (sign == "}")
            if not braces:
                yield header, text[begun:at]
                begun = at + 1
            continue
        if sign in "()":
            brackets = max(0, brackets + (1 if sign == "(" else -1))
            continue
        if sign == "\n" and (brackets or containers or _GOES_ON.match(text, at)):
            continue
        if sign == ";" and brackets:
            continue
        header = text[begun:at].strip(" \t\r\n,")
        begun, brackets = at + 1, 0
        is_container = sign == "{" and _CONTAINER.match(header) is not None
        containers = max(0, containers + is_container - (sign == "}"))
        if sign == "{" and not is_container:
            braces = 1
        elif header:
            yield " ".join(header.split()), ""
    rest = text[begun:].strip(" \t\r\n,}")
    if rest and not braces:
        yield " ".join(rest.split()), ""


def _declares(statement: tuple[str, str], types: _Types) -> bool:
    """Take a statement that declares a type, or that holds others; False for any other."""
    header, body = statement
    if found := _CONTAINER.match(header):
        types.names[found[1]] = "address"
    elif found := _STRUCT.match(header):
        types.structs[found[1]] = body
    elif found := _ENUM.match(header):
        types.names[found[1]] = "uint8"
    elif found := _ALIAS.match(header):
        types.names[found[1]] = found[2]
    else:
        return False
    return True


def not_a_signature(line: str) -> AbiRefused:
    """The refusal of a line that is no signature."""
    return AbiRefused(
        "signature",
        tr(
            "“{line}” is not a signature such as transfer(address to, uint256 amount).",
            line=line[:MAX_SKIPPED_CHARS],
        ),
    )


class _Reader:
    def __init__(self, line: str, types: _Types | None = None, depth: int = 0) -> None:
        self._types = types or _Types()
        self._depth = depth
        self._line = line.strip()
        self._tokens: list[str] = []
        place = 0
        while place < len(self._line):
            token = _TOKEN.match(self._line, place)
            if token is None:
                raise self._refusal()
            self._tokens.append(token[1])
            place = token.end()
        self._next = 0

    def entry(self) -> Entry:
        kind: Kind = "function"
        if self._peek() in _KINDS:
            kind = _KINDS[self._take()]
        name = "" if kind == "constructor" else self._word()
        inputs = self._parameters()
        words: list[str] = []
        outputs: tuple[Parameter, ...] = ()
        while self._peek():
            if self._peek() == "(":  # of a modifier: override(IERC20)
                self._pass_brackets()
                continue
            word = self._word()
            if word == "returns":
                outputs = self._parameters()
            words.append(word)
        mutability = next((word for word in ("view", "pure", "payable") if word in words), "nonpayable")
        return Entry(kind, name, inputs, outputs, mutability, "anonymous" in words)

    def _parameters(self) -> tuple[Parameter, ...]:
        self._take("(")
        found: list[Parameter] = []
        while self._peek() != ")":
            if found:
                self._take(",")
            found.append(self._parameter())
        self._take(")")
        return tuple(found)

    def _pass_brackets(self) -> None:
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(self._take(), 0)
            if not depth:
                return

    def parameter(self) -> Parameter:
        """The one parameter that the line is, as the field of a struct. Raises `AbiRefused`."""
        found = self._parameter()
        if self._peek():
            raise self._refusal()
        return found

    def _parameter(self) -> Parameter:
        parts: tuple[Parameter, ...] = ()
        if self._peek() == "tuple":
            self._take()
        if self._peek() == "(":
            parts = self._parameters()
            written = f"({','.join(part.type for part in parts)})"
        else:
            written = self._word()
            declared = written.rpartition(".")[2]
            fields = self._types.parts_of(declared, self._depth)
            if fields is not None:
                parts, written = fields, f"({','.join(each.type for each in fields)})"
            else:
                written = self._types.names.get(declared, written)
        while self._peek() == "[":
            written += self._take("[")
            if self._peek() != "]":
                written += self._take()
            written += self._take("]")
        words = []
        while self._peek() not in (",", ")", ""):
            words.append(self._word())
        names = [word for word in words if word not in _PLACES]
        if len(names) > 1:
            raise self._refusal()
        return Parameter(names[0] if names else "", canonical_type(written), parts, "indexed" in words)

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self, expected: str = "") -> str:
        token = self._peek()
        if not token or (expected and token != expected):
            raise self._refusal()
        self._next += 1
        return token

    def _word(self) -> str:
        token = self._take()
        if not (token[0].isalpha() or token[0] in "_$"):
            raise self._refusal()
        return token

    def _refusal(self) -> AbiRefused:
        return not_a_signature(self._line)

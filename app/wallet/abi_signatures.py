"""Single signatures as people write them: `function balanceOf(address owner) view returns (uint256)`."""

from __future__ import annotations

import re

from app.translation import tr
from app.wallet.abi_types import Entry, Kind, Parameter, canonical_type
from app.wallet.errors import AbiRefused

_TOKEN = re.compile(r"\s*([A-Za-z_$][\w$]*|\d+|[()\[\],])")
_KINDS: dict[str, Kind] = {"function": "function", "event": "event", "error": "error"}
_PLACES = frozenset({"memory", "calldata", "storage", "payable", "indexed"})
MAX_SIGNATURE_CHARS = 4_000


def read_signature(line: str) -> Entry:
    """Return the entry that a signature describes; without a first word it is a function. Raises `AbiRefused`.

    Tuples are types in brackets: `fill((address maker, uint256 amount)[] orders)`.
    """
    if len(line) > MAX_SIGNATURE_CHARS:
        raise AbiRefused("large", tr("This signature is too long."))
    return _Reader(line).entry()


class _Reader:
    def __init__(self, line: str) -> None:
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
        name = self._word()
        inputs = self._parameters()
        words: list[str] = []
        outputs: tuple[Parameter, ...] = ()
        while self._peek():
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

    def _parameter(self) -> Parameter:
        parts: tuple[Parameter, ...] = ()
        if self._peek() == "tuple":
            self._take()
        if self._peek() == "(":
            parts = self._parameters()
            written = f"({','.join(part.type for part in parts)})"
        else:
            written = self._word()
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
        return AbiRefused(
            "signature",
            tr("“{line}” is not a signature such as transfer(address to, uint256 amount).", line=self._line[:60]),
        )

"""The parts of a contract's interface: entries and their parameters. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from app.translation import tr
from app.wallet.addresses import keccak256
from app.wallet.errors import AbiRefused

Kind = Literal["function", "event", "error", "constructor"]


@dataclass(frozen=True)
class Parameter:
    """One input or output. `type` is the canonical one ("uint256", "(address,uint256)[]"), `parts` those of a tuple."""

    name: str
    type: str
    parts: tuple[Parameter, ...] = ()
    indexed: bool = False


@dataclass(frozen=True)
class Entry:
    """A function, an event, an error or the constructor."""

    kind: Kind
    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...] = ()
    mutability: str = "nonpayable"  # of functions: "pure", "view", "nonpayable" or "payable"
    anonymous: bool = False

    @property
    def signature(self) -> str:
        return f"{self.name}({','.join(parameter.type for parameter in self.inputs)})"

    @cached_property
    def digest(self) -> bytes:
        """32 bytes: an event's first topic; the first four are a function's or an error's selector."""
        return keccak256(self.signature.encode())

    @property
    def selector(self) -> bytes:
        return self.digest[:4]

    @property
    def only_reads(self) -> bool:
        return self.mutability in ("pure", "view")


def canonical_type(written: str) -> str:
    """The type as a signature spells it: "uint" is "uint256". Raises `AbiRefused` for a type that does not exist."""
    from eth_abi.exceptions import ABITypeError, ParseError
    from eth_abi.grammar import normalize, parse

    try:
        node = parse(normalize(written))  # type: ignore[no-untyped-call]  # the one function of it without types
        node.validate()
    except (ABITypeError, ParseError, ValueError, RecursionError) as error:
        raise AbiRefused("type", tr("Unknown type “{written}”.", written=written[:60])) from error
    return str(node.to_type_str())

"""Readers and verifiers that nobody here wrote, as far as they can be installed beside the program.

The sign-in package for Python (`signinwithethereum`) wants an older eth-account than ours, and x402's own sign-in
extension wants that package. So the grammar of EIP-4361 is given to a parser of grammars, and of x402's extension the
one file is loaded that stands alone.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import x402
from abnf.grammars import rfc3986
from abnf.grammars.misc import load_grammar_rules
from abnf.parser import ParseError
from abnf.parser import Rule as AbnfRule


def _file_of_x402(name: str) -> ModuleType:
    path = Path(x402.__file__).parent / name
    spec = importlib.util.spec_from_file_location(f"stranger_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


x402_solana = _file_of_x402("extensions/sign_in_with_x/solana.py")


@load_grammar_rules(
    [
        ("URI", rfc3986.Rule("URI")),
        ("authority", rfc3986.Rule("authority")),
        ("scheme", rfc3986.Rule("scheme")),
        ("reserved", rfc3986.Rule("reserved")),
        ("unreserved", rfc3986.Rule("unreserved")),
        ("pchar", rfc3986.Rule("pchar")),
    ]
)
class Eip4361(AbnfRule):
    """The grammar in the text of EIP-4361, with the date of RFC 3339."""

    grammar: ClassVar[list[str]] = [
        'sign-in-with-ethereum = [ scheme "://" ] domain %s" wants you to sign in with your Ethereum account:" LF '
        'address LF LF [ statement LF ] LF %s"URI: " URI LF %s"Version: " version LF %s"Chain ID: " chain-id LF '
        '%s"Nonce: " nonce LF %s"Issued At: " issued-at [ LF %s"Expiration Time: " expiration-time ] '
        '[ LF %s"Not Before: " not-before ] [ LF %s"Request ID: " request-id ] [ LF %s"Resources:" resources ]',
        "domain = authority",
        'address = "0x" 40HEXDIG',
        'statement = 1*( reserved / unreserved / " " )',
        'version = "1"',
        "chain-id = 1*DIGIT",
        "nonce = 8*( ALPHA / DIGIT )",
        "issued-at = date-time",
        "expiration-time = date-time",
        "not-before = date-time",
        "request-id = *pchar",
        'resources = *( LF "- " URI )',
        'date-time = 4DIGIT "-" 2DIGIT "-" 2DIGIT "T" 2DIGIT ":" 2DIGIT ":" 2DIGIT [ "." 1*DIGIT ] time-offset',
        'time-offset = "Z" / ( ( "+" / "-" ) 2DIGIT ":" 2DIGIT )',
    ]


def grammar_fields(text: str) -> dict[str, str] | None:
    """What the standard's grammar finds in `text`; None when it is no message."""
    try:
        node = Eip4361("sign-in-with-ethereum").parse_all(text)
    except ParseError:
        return None
    found: dict[str, str] = {}
    waiting = [node]
    names = (
        "domain",
        "address",
        "statement",
        "chain-id",
        "nonce",
        "issued-at",
        "expiration-time",
        "not-before",
        "request-id",
    )
    while waiting:
        each = waiting.pop()
        if each.name in names:
            found.setdefault(each.name, each.value)
        waiting += each.children
    return found

"""What an answer's bytes say, in the words of the contracts that are known: results, logs, refusals, calls.

Everything that was there stays; what was read is put in front of it under "decoded". Whole numbers stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from app.service.http.json_large import CONTAINERS, JSON_LIST, JSON_OBJECT, LargeArray, LargeObject
from app.translation import tr
from app.ui.crypto_rpc.session.outcomes import DECODED, CallOutcome
from app.ui.crypto_rpc.session.tokens import TokenFacts, amount_place, counts_tokens
from app.wallet.abi import DecodedValues, Interface, decode, read_interface
from app.wallet.abi_values import shown
from app.wallet.errors import AbiRefused

MAX_VALUES = 200_000  # objects and lists that one answer is searched through
MAX_HEX_CHARS = 4_000_000
MAX_WORDS_CHARS = 200  # of a result on its row
SELECTOR_BYTES = 4  # which function of a contract is called
CALLS = frozenset({"eth_call"})

# EIP-20, "Token", and EIP-721's event of the same name with a third indexed value
STANDARD_TEXT = """function name() view returns (string)
function symbol() view returns (string)
function decimals() view returns (uint8)
function totalSupply() view returns (uint256)
function balanceOf(address owner) view returns (uint256)
function allowance(address owner, address spender) view returns (uint256)
function transfer(address to, uint256 value) returns (bool)
function approve(address spender, uint256 value) returns (bool)
function transferFrom(address from, address to, uint256 value) returns (bool)
event Transfer(address indexed from, address indexed to, uint256 value)
event Approval(address indexed owner, address indexed spender, uint256 value)
event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)
"""


@cache
def _standard() -> Interface:
    return read_interface(STANDARD_TEXT)


@dataclass(frozen=True)
class Interfaces:
    """By address in lower case; what is in none of them is read as tokens are. `tokens` are those of one network."""

    by_address: Mapping[str, Interface] = field(default_factory=dict)
    tokens: Mapping[str, TokenFacts] = field(default_factory=dict)

    def of(self, address: object) -> tuple[Interface, ...]:
        own = self.by_address.get(address.lower()) if isinstance(address, str) else None
        standard = _standard()
        return (standard,) if own is None else (own, standard)

    def revert(self, address: object, data: bytes) -> str | None:
        """Why a call was refused; the called contract's own words first, then those of any known one."""
        for interface in (*self.of(address), *self.by_address.values()):
            words = interface.decode_revert(data)
            if words:
                return words
        return None

    def call_words(self, address: str, data: bytes) -> str:
        """What data asks of a contract, in one line: `transfer(to: 0x…, value: 5)`; "" where it is not known."""
        call = self._call(address, data)
        return call.sentence if call is not None else ""

    def _call(self, address: object, data: bytes) -> DecodedValues | None:
        for interface in self.of(address):
            try:
                call = interface.decode_call(data)
            except AbiRefused:
                continue
            if call is not None:
                return call
        return None

    def token(self, address: object) -> TokenFacts:
        """What is known of a token; nothing for what is none."""
        return self.tokens.get(address.lower(), TokenFacts()) if isinstance(address, str) else TokenFacts()

    def amount(self, address: object, said: DecodedValues) -> str:
        """The tokens that a call or an event moves, such as "2.5 USDC"; "" where none or their decimals are unknown."""
        place = amount_place(said.entry)
        value = said.values[place][1] if place is not None else None
        return self.token(address).amount(value) if isinstance(value, int) else ""

    def moved(self, address: str, data: bytes) -> tuple[bool, str]:
        """Whether data moves tokens of the contract at `address`, and how many in words, "" while that is not known."""
        call = self._call(address, data)
        if call is None or amount_place(call.entry) is None:
            return False, ""
        return True, self.amount(address, call)

    def token_fact(self, item: Mapping[str, object], result: object) -> tuple[str, str, object] | None:
        """Address, "symbol" or "decimals", and value that a contract returned; None for any other call."""
        asked = _asked(item)
        data, raw = bytes_of(asked.get("data") or asked.get("input")), bytes_of(result)
        address = asked.get("to")
        if not data or raw is None or not isinstance(address, str) or item.get("method") not in CALLS:
            return None
        for name in ("symbol", "decimals"):
            entry = _standard().function(name)
            if data == entry.selector:
                try:
                    return address, name, decode(entry.outputs, raw)[0][1]
                except AbiRefused:
                    return None
        return None

    def function(self, item: Mapping[str, object]) -> str:
        """The name of the contract's function that a request's item calls, "" where it is not known."""
        asked = _asked(item)
        data = bytes_of(asked.get("data") or asked.get("input")) or b""
        for interface in self.of(asked.get("to")) if len(data) >= SELECTOR_BYTES else ():
            for entry in interface.of_kind("function"):
                if entry.selector == data[:SELECTOR_BYTES]:
                    return entry.name
        return ""


def bytes_of(text: object) -> bytes | None:
    if not isinstance(text, str) or not text.startswith("0x") or len(text) % 2 or len(text) > MAX_HEX_CHARS:
        return None
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        return None


def decoded_outcomes(
    items: Sequence[Mapping[str, object]], outcomes: Sequence[CallOutcome], interfaces: Interfaces
) -> tuple[CallOutcome, ...]:
    """The outcomes with what their bytes say. Blocking for large answers: call it in a thread."""
    reader = _Reader(interfaces)
    found = []
    for outcome in outcomes:
        item = items[outcome.id - 1] if outcome.id <= len(items) else {}
        value, words = reader.outcome(item, outcome)
        found.append(replace(outcome, value=value, words=words))
    return tuple(found)


class _Reader:
    def __init__(self, interfaces: Interfaces) -> None:
        self._interfaces = interfaces
        self._standard = interfaces.of(None)
        self._left = MAX_VALUES

    def outcome(self, item: Mapping[str, object], outcome: CallOutcome) -> tuple[object, str]:
        """The value with what its bytes say, and the result in one line, "" where there is none."""
        asked = _asked(item)
        if outcome.is_error:
            data = outcome.data.get("data") if isinstance(outcome.data, Mapping) else outcome.data
            raw = bytes_of(data)
            words = self._interfaces.revert(asked.get("to"), raw) if raw else None
            return ({DECODED: words, **_mapping(outcome.value)}, words) if words else (outcome.value, "")
        if outcome.method in CALLS:
            return self._result(asked, outcome.value)
        return self._value(outcome.value), ""

    def _result(self, asked: Mapping[str, object], value: object) -> tuple[object, str]:
        raw, data = bytes_of(value), bytes_of(asked.get("data") or asked.get("input"))
        if raw is None or data is None:
            return value, ""
        for interface in self._interfaces.of(asked.get("to")):
            try:
                call = interface.decode_call(data)
                if call is None:
                    continue
                results = decode(call.entry.outputs, raw)
            except AbiRefused:
                continue
            named = {each.name or str(place): result for place, (each, result) in enumerate(results)}
            first = results[0][1] if results else None
            amount = (
                self._interfaces.token(asked.get("to")).amount(first)
                if counts_tokens(call.entry) and isinstance(first, int)
                else ""
            )
            words = amount or ", ".join(shown(result) for _, result in results) or tr("nothing")
            if amount:
                named["amount"] = amount
            line = f"{call.entry.name} → {words}"[:MAX_WORDS_CHARS]
            return {DECODED: named, "call": call.sentence, "result": value}, line
        return value, ""

    def _value(self, value: object) -> object:
        if isinstance(value, LargeArray) or (isinstance(value, LargeObject) and not _is_read_itself(value)):
            return value.changed_by(self._member)  # decoded when it is looked at
        self._left -= 1
        if self._left < 0:
            return value
        if isinstance(value, JSON_LIST):
            return [self._value(each) if isinstance(each, CONTAINERS) else each for each in value]
        if not isinstance(value, JSON_OBJECT):
            return value
        inner = {
            name: self._value(each) if isinstance(each, CONTAINERS) else each
            for name, each in value.items()
            if name != DECODED
        }
        said = self._log(value) if "topics" in value else self._transaction(value) if "input" in value else None
        if said is None:
            return inner
        values = _said(said)
        amount = self._interfaces.amount(value.get("address") if "topics" in value else value.get("to"), said)
        if amount:
            values["amount"] = amount
        return {DECODED: values, **inner}

    def _member(self, value: object) -> object:
        self._left = MAX_VALUES
        return self._value(value)

    def _log(self, log: Mapping[str, object]) -> DecodedValues | None:
        topics = [bytes_of(each) for each in _list(log.get("topics"))]
        data = bytes_of(log.get("data"))
        if data is None or None in topics:
            return None
        for interface in self._of(log.get("address")):
            try:
                said = interface.decode_log([each for each in topics if each is not None], data)
            except AbiRefused:
                continue
            if said is not None:
                return said
        return None

    def _transaction(self, transaction: Mapping[str, object]) -> DecodedValues | None:
        data = bytes_of(transaction.get("input"))
        if not data or len(data) < 4:
            return None
        for interface in self._of(transaction.get("to")):
            try:
                said = interface.decode_call(data)
            except AbiRefused:
                continue
            if said is not None:
                return said
        return None

    def _of(self, address: object) -> tuple[Interface, ...]:
        own = self._interfaces.by_address.get(address.lower()) if isinstance(address, str) else None
        return self._standard if own is None else (own, *self._standard)


def _asked(item: Mapping[str, object]) -> Mapping[str, object]:
    """What a call of a contract asks, nothing for other calls."""
    params = item.get("params")
    return params[0] if isinstance(params, list) and params and isinstance(params[0], Mapping) else {}


def _is_read_itself(value: Mapping[str, object]) -> bool:
    """True for a log and for a transaction."""
    return "topics" in value or "input" in value


def _said(decoded: DecodedValues) -> dict[str, object]:
    values = {each.name or str(place): value for place, (each, value) in enumerate(decoded.values)}
    return {"name": decoded.entry.name, **values}


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, Mapping) else {"error": value}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

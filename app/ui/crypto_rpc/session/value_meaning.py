"""What a hexadecimal value means to a person: a number, ether, a time, a text. Shown beside the value, never instead.

The name under which a value stands says what it is: `timestamp` is seconds since 1970, `value` is wei. Without a known
name a short value is a number, a long one a text where its bytes are one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from app.formats import format_number
from app.translation import tr
from app.wallet.quantities import in_unit

MAX_HEX_CHARS = 20_000
MAX_TEXT_CHARS = 200

_HEX = re.compile(r"0x[0-9a-fA-F]*")
_WEI = frozenset({"value", "balance", "eth_getBalance", "most", "amount"})
_GAS_PRICES = frozenset(
    {
        "gasPrice",
        "maxFeePerGas",
        "maxPriorityFeePerGas",
        "baseFeePerGas",
        "effectiveGasPrice",
        "maxFeePerBlobGas",
        "blobGasPrice",
        "eth_gasPrice",
        "eth_maxPriorityFeePerGas",
        "eth_blobBaseFee",
    }
)
_TIMES = frozenset({"timestamp", "blockTimestamp", "l1Timestamp"})
_BYTES = frozenset(  # never numbers, however short
    {
        "hash",
        "data",
        "input",
        "code",
        "eth_getCode",
        "eth_call",
        "r",
        "s",
        "address",
        "from",
        "to",
        "miner",
        "root",
        "topics",
        "logsBloom",
        "mixHash",
        "extraData",
        "sha3Uncles",
        "stateRoot",
        "contractAddress",
    }
)
_CONTRACT_BYTES = frozenset({"data", "input", "eth_call"})  # what a contract's interface gives a meaning
_SELECTOR_CHARS = 10
_ADDRESS_CHARS, _WORD_CHARS = 42, 66


def reading_of(name: str, value: object) -> str:
    """A few words for the value that stands under `name` (a key, or the method for a bare result); "" for none."""
    if not isinstance(value, str) or len(value) > MAX_HEX_CHARS or not _HEX.fullmatch(value) or value == "0x":
        return ""
    if name in _BYTES or name.endswith(("Hash", "Root")):
        return text_in(bytes.fromhex(value[2:])) if len(value) % 2 == 0 else ""
    if len(value) <= _WORD_CHARS and len(value) != _ADDRESS_CHARS:
        return _number(name, int(value, 16), is_word=len(value) == _WORD_CHARS)
    return text_in(bytes.fromhex(value[2:])) if len(value) % 2 == 0 else ""


def can_be_decoded(name: str, value: object) -> bool:
    """True for bytes that a contract took, gave back, refused with or logged."""
    return (
        name in _CONTRACT_BYTES
        and isinstance(value, str)
        and len(value) >= _SELECTOR_CHARS
        and len(value) % 2 == 0
        and value.startswith("0x")
    )


def _number(name: str, number: int, *, is_word: bool) -> str:
    if name in _TIMES:
        try:
            return datetime.fromtimestamp(number, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        except (ValueError, OverflowError, OSError):
            return format_number(number)
    if name in _WEI:
        return (
            tr("{in_unit} ether", in_unit=in_unit(number))
            if number >= 10**12
            else tr("{number} wei", number=format_number(number))
        )
    if name in _GAS_PRICES:
        return tr("{in_unit} gwei", in_unit=in_unit(number, "gwei"))
    if is_word and number >= 2**128:  # a hash rather than a number
        return ""
    return format_number(number)


def text_in(data: bytes) -> str:
    """The readable text that the bytes are, bare or as the ABI packs one text; "" when they are none."""
    if len(data) >= 96 and data[:32] == (32).to_bytes(32, "big"):
        length = int.from_bytes(data[32:64], "big")
        if 0 < length <= len(data) - 64:
            data = data[64 : 64 + length]
    data = data.rstrip(b"\x00")
    if not 3 <= len(data) <= MAX_TEXT_CHARS * 4:
        return ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return f"“{text[:MAX_TEXT_CHARS]}”" if text.isprintable() else ""

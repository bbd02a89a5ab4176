"""A small contract for tests, written in opcodes: `store(uint256)`, `value()`, an event, and a refusal with words."""

from __future__ import annotations

import hashlib
from typing import Any

from eth_account import Account as EthAccount

from app.wallet.addresses import keccak256, read_evm_address

KEY = "0x" + hashlib.sha256(b"Rialto Sandbox test account: alice").hexdigest()
ALICE = EthAccount.from_key(KEY).address
CHAIN = 8453
GAS, GAS_PRICE = 400_000, 10**10
SIGNATURES = """function store(uint256 number)
function value() view returns (uint256 number)
event Stored(address indexed who, uint256 number)
"""
ABI: list[dict[str, Any]] = [
    {"type": "function", "name": "store", "stateMutability": "nonpayable",
     "inputs": [{"name": "number", "type": "uint256"}], "outputs": []},
    {"type": "function", "name": "value", "stateMutability": "view", "inputs": [],
     "outputs": [{"name": "number", "type": "uint256"}]},
    {"type": "event", "name": "Stored", "anonymous": False,
     "inputs": [{"name": "who", "type": "address", "indexed": True},
                {"name": "number", "type": "uint256", "indexed": False}]},
]  # fmt: skip
REFUSAL = b"zero is nothing"


def _push(data: bytes) -> bytes:
    return bytes([0x5F + len(data)]) + data


def runtime() -> bytes:
    """What lies on the chain. Jumps are two bytes wide; their places are filled in at the end."""
    parts: list[bytes | str] = [
        bytes.fromhex("60003560e01c"),  # the selector
        b"\x80", _push(keccak256(b"store(uint256)")[:4]), b"\x14", "store", b"\x57",
        _push(keccak256(b"value()")[:4]), b"\x14", "value", b"\x57",
        bytes.fromhex("60006000fd"),
        ":store", bytes.fromhex("6004358015"), "bad", b"\x57",
        bytes.fromhex("80600055600052"),  # keep it, and put it into memory
        b"\x33", _push(keccak256(b"Stored(address,uint256)")), bytes.fromhex("60206000a200"),
        ":value", bytes.fromhex("60005460005260206000f3"),
        ":bad",
        _push(bytes.fromhex("08c379a0") + bytes(28)), bytes.fromhex("600052"),
        bytes.fromhex("6020600452"), _push(bytes([len(REFUSAL)])), bytes.fromhex("602452"),
        _push(REFUSAL.ljust(32, b"\0")), bytes.fromhex("60445260646000fd"),
    ]  # fmt: skip
    places: dict[str, int] = {}
    size = 0
    for part in parts:
        if isinstance(part, bytes):
            size += len(part)
        elif part.startswith(":"):
            places[part[1:]] = size
            size += 1
        else:
            size += 3
    return b"".join(
        part
        if isinstance(part, bytes)
        else b"\x5b"
        if part.startswith(":")
        else b"\x61" + places[part].to_bytes(2, "big")
        for part in parts
    )


def creation() -> bytes:
    """Puts the runtime on the chain."""
    code = runtime()
    return bytes.fromhex("61") + len(code).to_bytes(2, "big") + bytes.fromhex("80600c6000396000f3") + code


def signed(nonce: int, *, to: str = "", data: bytes | str = b"", value: int = 0) -> tuple[str, str]:
    """A signed transaction of Alice's, and its hash."""
    made = EthAccount.sign_transaction(
        {
            "nonce": nonce,
            "gas": GAS,
            "gasPrice": GAS_PRICE,
            "to": to and read_evm_address(to),
            "value": value,
            "data": data,
            "chainId": CHAIN,
        },
        KEY,
    )
    return tuple("0x" + bytes(each).hex() for each in (made.raw_transaction, made.hash))  # type: ignore[return-value]  # two of them

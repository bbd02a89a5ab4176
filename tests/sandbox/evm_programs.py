"""Programs for comparing virtual machines: random but valid code, and every precompiled contract, from fixed seeds.

`python -m tests.sandbox.evm_programs`, with `pyrevm` 0.3 installed, runs them all on revm, which is written in Rust and
shares nothing with py-evm, and writes down what came out (`evm_answers.json`). It is no dependency of the suite: it has
no wheels for some of the Pythons and processors that Rialto is tested on. That release of revm knows Prague without its
contracts for BLS12-381, which are left out, and without the least price of data (EIP-7623), which is added below.
"""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from pathlib import Path

ANSWERS = Path(__file__).with_name("evm_answers.json")
TARGET = bytes.fromhex("00000000000000000000000000000000000c0de0")
HELPER = bytes.fromhex("00000000000000000000000000000000000c0de1")
SENDER_KEY = hashlib.sha256(b"Rialto: sender of the compared transactions").digest()
CHAIN_ID = 1
GAS = 3_000_000
SLOTS = 4
# Answers its own input, byte for byte behind 32 bytes of who called it and with how much.
HELPER_CODE = bytes.fromhex("3360005234602052366000604037366040016000f3")

_UNARY = (0x15, 0x19, 0x35, 0x54, 0x5C)  # ISZERO NOT CALLDATALOAD SLOAD TLOAD
_BINARY = (*range(0x01, 0x08), 0x0A, 0x0B, *range(0x10, 0x15), *range(0x16, 0x19), *range(0x1A, 0x1E))
_NONE = (0x30, 0x32, 0x33, 0x34, 0x36, 0x38, 0x3D, 0x46, 0x47, 0x58, 0x59, 0x5A, 0x5F)  # ADDRESS … MSIZE, GAS, PUSH0


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    code: bytes
    data: bytes = b""
    value: int = 0


def least_gas(data: bytes) -> int:
    """What a transaction with that data costs at least (EIP-7623): 10 for each byte that is 0, 40 for each other."""
    return 21_000 + sum(40 if byte else 10 for byte in data)


def push(value: int) -> bytes:
    raw = value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
    return bytes([0x5F + len(raw)]) + raw


def programs() -> list[Program]:
    found = [_random_program(seed) for seed in range(160)]
    return [*found, *_calls(), *_precompiled(), *_creations(), *_ends()]


def _random_program(seed: int) -> Program:
    dice = random.Random(seed)
    code, depth = bytearray(), 0
    for _ in range(dice.randrange(10, 70)):
        kind = dice.randrange(14)
        if kind < 4 or depth < 3:
            number = dice.choice((0, 1, 2, 31, 32, 255, 2**64, 2**255, 2**256 - 1, dice.getrandbits(256)))
            code += push(number)
            depth += 1
        elif kind < 8:
            code.append(dice.choice(_BINARY))
            depth -= 1
        elif kind == 8:
            code.append(dice.choice((0x08, 0x09)))  # ADDMOD MULMOD
            depth -= 2
        elif kind == 9:
            code.append(dice.choice(_UNARY))
        elif kind == 10:
            code.append(dice.choice(_NONE))
            depth += 1
        elif kind == 11:
            where = dice.randrange(1, min(depth, 16) + 1)
            code.append(0x80 + where - 1)  # DUP
            depth += 1
        elif kind == 12:
            code.append(0x90 + dice.randrange(1, min(depth - 1, 16) + 1) - 1)  # SWAP
        else:
            store = dice.randrange(5)
            if store == 0:
                code += push(dice.randrange(SLOTS)) + bytes([0x55])  # SSTORE
                depth -= 1
            elif store == 1:
                code += push(dice.randrange(0, 300)) + bytes([dice.choice((0x52, 0x53))])  # MSTORE MSTORE8
                depth -= 1
            elif store == 2:
                code += push(dice.randrange(SLOTS)) + bytes([0x5D])  # TSTORE
                depth -= 1
            elif store == 3:
                code += push(dice.randrange(96)) + push(dice.randrange(64)) + bytes([0x20])  # KECCAK256
                depth += 1
            else:
                code += push(dice.randrange(64)) + push(dice.randrange(64)) + bytes([0xA1])  # LOG1
                depth -= 1
    for slot in range(min(depth, 4)):
        code += push(32 * slot) + bytes([0x52])
    end = 0xFD if dice.random() < 0.15 else 0xF3
    code += push(128) + push(0) + bytes([end])
    return Program(f"random {seed}", bytes(code), dice.randbytes(dice.randrange(0, 100)), dice.randrange(3))


def _call(kind: int, to: int, data: bytes, value: int = 0, gas: int = 1_000_000) -> bytes:
    """Code that calls with `data` and returns what came back, after a word that says whether it went well."""
    code = b""
    for offset in range(0, len(data), 32):
        code += push(int.from_bytes(data[offset : offset + 32].ljust(32, b"\0"), "big")) + push(offset) + b"\x52"
    code += push(0) + push(0) + push(len(data)) + push(0)
    code += push(value) if kind in (0xF1, 0xF2) else b""
    code += push(to) + push(gas) + bytes([kind])
    code += push(0) + b"\x52" + bytes([0x3D]) + push(0) + push(32) + b"\x3e"  # MSTORE, RETURNDATACOPY behind it
    return code + bytes([0x3D]) + push(32) + b"\x01" + push(0) + b"\xf3"


def _calls() -> list[Program]:
    helper = int.from_bytes(HELPER, "big")
    kinds = {"call": 0xF1, "callcode": 0xF2, "delegatecall": 0xF4, "staticcall": 0xFA}
    found = [
        Program(name, _call(kind, helper, b"a message of forty-two bytes for the helper"))
        for name, kind in kinds.items()
    ]
    found.append(Program("call with value", _call(0xF1, helper, b"x", value=3), value=5))
    found.append(Program("call beyond the balance", _call(0xF1, helper, b"x", value=10**30)))
    found.append(Program("call to nobody with value", _call(0xF1, 0xDEAD_BEEF, b"", value=1), value=1))
    found.append(Program("call itself until the gas ends", _call(0xF1, int.from_bytes(TARGET, "big"), b"", gas=2**63)))
    return found


def _precompiled() -> list[Program]:
    word = (32).to_bytes(32, "big")
    curve = (1).to_bytes(32, "big") + (2).to_bytes(32, "big")
    digest = hashlib.sha256(b"a text").digest()
    inputs = {
        1: digest + (27).to_bytes(32, "big") + bytes(range(1, 33)) + bytes(range(2, 34)),
        2: b"sha256 of this",
        3: b"ripemd160 of this",
        4: bytes(range(100)),
        5: word * 3 + (3).to_bytes(32, "big") + (2**200 + 7).to_bytes(32, "big") + (2**255 - 19).to_bytes(32, "big"),
        6: curve + curve,
        7: curve + (2**200).to_bytes(32, "big"),
        8: b"",
        9: (12).to_bytes(4, "big") + bytes(range(64)) + bytes(range(128)) + bytes(16) + b"\x01",
    }
    return [Program(f"precompiled {number}", _call(0xF1, number, data)) for number, data in inputs.items()] + [
        Program(f"precompiled {number}, wrong input", _call(0xF1, number, b"\xff" * 33)) for number in inputs
    ]


def _creations() -> list[Program]:
    inner = bytes.fromhex("600a600c600039600a6000f3602a60005260206000f3")  # puts ten bytes of code in place
    store = push(int.from_bytes(inner.ljust(32, b"\0"), "big")) + push(0) + b"\x52"
    keep = push(0) + b"\x52" + push(32) + push(0) + b"\xf3"
    return [
        Program("create", store + push(len(inner)) + push(0) + push(0) + b"\xf0" + keep),
        Program("create2", store + push(77) + push(len(inner)) + push(0) + push(0) + b"\xf5" + keep),
        Program("create with too little", store + push(len(inner)) + push(0) + push(10**30) + b"\xf0" + keep),
        Program("copy memory", store + push(20) + push(3) + push(5) + b"\x5e" + push(64) + push(0) + b"\xf3"),
    ]


def _ends() -> list[Program]:
    return [
        Program("stop", b"\x00"),
        Program(
            "write storage thrice",
            push(1) + push(2) + b"\x55" + push(0) + push(2) + b"\x55" + push(9) + push(2) + b"\x55",
        ),
        Program("invalid", b"\xfe"),
        Program("unknown operation", b"\x0c"),
        Program("stack too low", b"\x01"),
        Program("jump nowhere", push(3) + b"\x56"),
        Program("loop until the gas ends", b"\x5b" + push(0) + b"\x56"),
        Program("selfdestruct", push(0xBEEF) + b"\xff", value=4),
        Program("revert with a reason", push(0xAB) + push(0) + b"\x52" + push(32) + push(0) + b"\xfd"),
        Program("memory beyond the gas", push(1) + push(2**40) + b"\x52"),
    ]


def _record() -> None:
    import pyrevm
    from eth_account import Account

    sender = Account.from_key(SENDER_KEY).address
    target, helper = "0x" + TARGET.hex(), "0x" + HELPER.hex()
    answers = {}
    for program in programs():
        evm = pyrevm.EVM(
            spec_id="PRAGUE",
            env=pyrevm.Env(cfg=pyrevm.CfgEnv(), block=pyrevm.BlockEnv(number=1, timestamp=1_700_000_000)),
        )
        evm.insert_account_info(sender, pyrevm.AccountInfo(balance=10**24, nonce=0))
        evm.insert_account_info(target, pyrevm.AccountInfo(nonce=1, code=program.code))
        evm.insert_account_info(helper, pyrevm.AccountInfo(nonce=1, code=HELPER_CODE))
        try:
            output = bytes(evm.message_call(sender, target, program.data, value=program.value, gas=GAS))
        except RuntimeError:
            output = b""
        result = evm.result
        answers[program.name] = {
            "succeeded": result.is_success,
            "gas_used": result.gas_used,
            "output": output.hex() if result.is_success else "",
            "logs": [
                [log.address.lower(), [topic.lower() for topic in log.topics], bytes(log.data[1]).hex()]
                for log in result.logs
            ],
            "storage": [hex(evm.storage(target, slot)) for slot in range(SLOTS)],
            "balance": evm.get_balance(target),
        }
    ANSWERS.write_text(
        json.dumps({"machine": "revm, through pyrevm 0.3.7", "fork": "Prague", "answers": answers}, indent=0) + "\n"
    )


if __name__ == "__main__":
    _record()

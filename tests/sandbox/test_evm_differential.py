"""The Sandbox's chains against another virtual machine: the same transactions end as they do on revm.

Outcome, gas to the last unit, output, logs, storage and balance. revm's answers were recorded; see `evm_programs.py`.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from eth import EVM_RECURSION_LIMIT
from eth_account import Account as Signer
from eth_typing import Address

from app.sandbox.chains.evm_chain import Account, EvmChain
from tests.sandbox.evm_programs import (
    ANSWERS,
    CHAIN_ID,
    GAS,
    HELPER,
    HELPER_CODE,
    SENDER_KEY,
    SLOTS,
    TARGET,
    Program,
    least_gas,
    programs,
)

RECORDED: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))["answers"]
SENDER = Signer.from_key(SENDER_KEY)
SHALLOW = pytest.mark.xfail(
    sys.version_info[:2] == (3, 12), reason="Python 3.12 nests C functions 1,500 deep, and no setting changes it"
)


def run(program: Program) -> dict[str, Any]:
    """Mine the transaction on a chain of its own and describe what came of it as the recording does."""
    accounts = {
        bytes.fromhex(SENDER.address[2:]): Account(10**24),
        TARGET: Account(0, program.code),
        HELPER: Account(0, HELPER_CODE),
    }
    chain = EvmChain(CHAIN_ID, accounts, lambda: 1_700_000_000.0)
    signed = SENDER.sign_transaction(
        {
            "to": TARGET,
            "value": program.value,
            "gas": GAS,
            "gasPrice": 10**10,
            "nonce": 0,
            "chainId": CHAIN_ID,
            "data": program.data,
        }
    )
    block, index = chain.by_hash[chain.send(chain.decode(bytes(signed.raw_transaction)))]
    mined, state = block.mined[index], chain.state(block)
    return {
        "succeeded": mined.succeeded,
        "gas_used": mined.gas_used,
        "output": mined.frame.output.hex() if mined.succeeded else "",
        "logs": [
            ["0x" + log.address.hex(), ["0x" + topic.hex() for topic in log.topics], log.data.hex()]
            for log in mined.logs
        ],
        "storage": [hex(state.get_storage(Address(TARGET), slot)) for slot in range(SLOTS)],
        "balance": state.get_balance(Address(TARGET)),
    }


def test_every_program_was_recorded() -> None:
    assert [program.name for program in programs()] == list(RECORDED)
    assert len(RECORDED) >= 200 and sum(answer["succeeded"] for answer in RECORDED.values()) > 150


@pytest.fixture
def deep() -> Iterator[None]:
    """As in the Sandbox: one call inside another takes py-evm several frames of Python."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(EVM_RECURSION_LIMIT)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.usefixtures("deep")
@pytest.mark.filterwarnings("ignore:SELFDESTRUCT:DeprecationWarning")  # py-evm warns each time it meets the operation
@pytest.mark.parametrize("part", [*range(7), pytest.param(7, marks=SHALLOW)])
def test_transactions_end_as_on_another_virtual_machine(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.sandbox.chains.evm_chain.TIMEOUT_S", 600.0)  # what comes out, not how long it takes
    for program in programs()[part::8]:
        recorded = RECORDED[program.name]
        gas = max(recorded["gas_used"], least_gas(program.data))
        assert run(program) == {**recorded, "gas_used": gas}, program.name

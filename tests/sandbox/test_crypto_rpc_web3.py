"""The official `web3` client, unmodified, against `python -m app.sandbox`."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from eth_account import Account
from web3 import HTTPProvider, Web3
from web3.exceptions import ContractCustomError, ContractLogicError, Web3RPCError

from app.sandbox.chains.networks import DOLLARS, TEST_ACCOUNTS, networks
from tests.sandbox.support import RESOURCES

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-this-test"
ALICE, BOB = (Account.from_key(one.private_key) for one in TEST_ACCOUNTS[1:3])
ABI = [
    {"type": "function", "name": "transfer", "stateMutability": "nonpayable",
     "inputs": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
     "outputs": [{"name": "", "type": "bool"}]},
    {"type": "function", "name": "balanceOf", "stateMutability": "view",
     "inputs": [{"name": "owner", "type": "address"}], "outputs": [{"name": "", "type": "uint256"}]},
    {"type": "function", "name": "name", "stateMutability": "view", "inputs": [],
     "outputs": [{"name": "", "type": "string"}]},
    {"type": "event", "name": "Transfer", "anonymous": False,
     "inputs": [{"name": "sender", "type": "address", "indexed": True},
                {"name": "receiver", "type": "address", "indexed": True},
                {"name": "value", "type": "uint256", "indexed": False}]},
]  # fmt: skip


@pytest.fixture(scope="module")
def on_network() -> Iterator[Callable[[str], Web3]]:
    command = [sys.executable, "-m", "app.sandbox", "--port", "0", "--api-key", KEY, "--speed", "0", "--no-local"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        yield lambda name: Web3(HTTPProvider(f"{base_url}/crypto/rpc/{name}", request_kwargs={"headers": headers}))
        process.terminate()
        assert process.wait(timeout=60) == 0


@pytest.fixture(scope="module")
def web3(on_network: Callable[[str], Web3]) -> Web3:
    return on_network("base-mainnet")


@pytest.mark.parametrize("network", DOLLARS)
def test_R_RPC_17_every_network_with_a_known_dollar_has_its_number_and_its_token(
    network: str, on_network: Callable[[str], Web3]
) -> None:
    web3 = on_network(network)
    token = web3.eth.contract(address=Web3.to_checksum_address(DOLLARS[network]), abi=ABI)
    assert (web3.eth.chain_id, token.functions.name().call()) == (
        networks(RESOURCES / "data")[network].chain_id,
        "USD Coin",
    )
    assert token.functions.balanceOf(BOB.address).call() == 10_000 * 10**6


def test_R_GEN_12_network_and_balance(web3: Web3) -> None:
    assert web3.is_connected()
    assert (web3.eth.chain_id, web3.net.version) == (8453, "8453")
    assert web3.eth.get_balance(BOB.address) == Web3.to_wei(100, "ether")
    assert web3.eth.get_block("latest").number == web3.eth.block_number


def test_R_RPC_17_call_raw_transaction_receipt_and_logs(web3: Web3) -> None:
    token = web3.eth.contract(address=Web3.to_checksum_address(DOLLARS["base-mainnet"]), abi=ABI)
    assert token.functions.name().call() == "USD Coin"
    before = token.functions.balanceOf(BOB.address).call()
    nonce = web3.eth.get_transaction_count(ALICE.address)
    transaction = token.functions.transfer(BOB.address, 1_250_000).build_transaction(
        {"from": ALICE.address, "nonce": nonce}
    )
    digest = web3.eth.send_raw_transaction(ALICE.sign_transaction(transaction).raw_transaction)
    receipt = web3.eth.wait_for_transaction_receipt(digest, timeout=60)
    assert receipt.status == 1
    event = token.events.Transfer().process_receipt(receipt)[0]
    assert (event.args.receiver, event.args.value) == (BOB.address, 1_250_000)
    assert token.functions.balanceOf(BOB.address).call() == before + 1_250_000
    found = token.events.Transfer().get_logs(from_block=0, argument_filters={"receiver": BOB.address})
    assert [log.transactionHash for log in found] == [digest]
    assert web3.eth.get_transaction(digest).type == 2


def test_R_RPC_32_a_revert_reaches_the_caller(web3: Web3) -> None:
    token = web3.eth.contract(address=Web3.to_checksum_address(DOLLARS["base-mainnet"]), abi=ABI)
    with pytest.raises(ContractLogicError, match="exceeds balance"):
        token.functions.transfer(BOB.address, 10**15).call({"from": ALICE.address})


def test_R_RPC_32_a_custom_error_and_too_little_money_are_errors_of_their_own(web3: Web3) -> None:
    stranger = Web3.to_checksum_address("0x" + "12" * 20)
    selector = Web3.keccak(text="TooLittle(uint256)")[:4].hex()
    code = f"0x7f{selector.ljust(64, '0')}600052600760045260246000fd"  # reverts with TooLittle(7)
    with pytest.raises(ContractCustomError, match=f"{selector}{7:064x}"):
        web3.eth.call({"to": stranger}, "latest", {stranger: {"code": code}})
    empty = Account.from_key(TEST_ACCOUNTS[3].private_key).address
    with pytest.raises(Web3RPCError, match="insufficient funds for gas"):
        web3.eth.estimate_gas({"from": empty, "to": BOB.address, "value": 1})


def test_R_RPC_05_a_batch(web3: Web3) -> None:
    with web3.batch_requests() as batch:
        batch.add(web3.eth.get_block("latest"))
        batch.add(web3.eth.get_balance(ALICE.address))
        batch.add(web3.eth.get_transaction_count(BOB.address))
        block, balance, count = batch.execute()
    assert block.number == web3.eth.block_number and balance > 0 and count == 0

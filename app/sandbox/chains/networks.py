"""The networks behind the proxy, the accounts with play money on them, and the nodes that answer.

A chain is made when the first request for it comes, and lives as long as the world does.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from app.sandbox.accounts.faucet import FAUCET_KEY
from app.sandbox.accounts.x402_solana import PlayToken
from app.sandbox.accounts.x402_terms import PLAY_ASSET
from app.sandbox.chains.non_evm_nodes import make_node
from app.sandbox.chains.rpc_values import RpcError, address, data_bytes
from app.sandbox.world import World

if TYPE_CHECKING:
    from app.sandbox.chains.evm_chain import EvmChain

ETHER = 10**18
DOLLAR = 10**6  # base units of the play dollar
# Where the token lives on the real networks; the same code stands there in the Sandbox.
DOLLARS: Mapping[str, str] = {
    "base-mainnet": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "base-sepolia": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    "ethereum-mainnet": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "polygon-mainnet": "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
    "arbitrum-mainnet": "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
    "optimism-mainnet": "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
}
# On every network. Clients look for the first one there without being told.
MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
EVERY_LOG = "0x5D6Ba0b8E7907A718B0Fe4d287249dF429cBDfDc"  # the end of a Keccak hash of a text, as `PLAY_ASSET` is
BEGAN_S_AGO = 65  # a new chain has five blocks behind its first
TRANSFER = bytes.fromhex("a9059cbb")  # transfer(address,uint256)
EMIT_ALL = bytes.fromhex("e324213b")  # emitAll()
PAYMENTS = "base-mainnet"  # where top-ups are settled, in a token of the same code at an address of our own
BALANCE_OF = "0x70a08231"  # balanceOf(address)
FIRST_ETHER, FIRST_DOLLARS = 100, 10_000  # of every address, when --fund-any is given
BALANCE_SLOT, SUPPLY_SLOT = 1, 3  # of play_dollar.vy


@dataclass(frozen=True, slots=True)
class Network:
    """`family`: evm, starknet or solana. `chain_id`: the real one, or one of our own where none is published."""

    slug: str
    family: str
    chain_id: int
    base_credits: int


@dataclass(frozen=True, slots=True)
class TestAccount:
    """A key that everybody may know: it holds play money and nothing else."""

    __test__ = False  # not a test of pytest's, in spite of its name

    name: str
    private_key: bytes
    wei: int
    dollars: int

    @property
    def address(self) -> str:
        """With its checksum."""
        from eth_account import Account

        return str(Account.from_key(self.private_key).address)


def _account(name: str, ether: int, dollars: int, key: bytes = b"") -> TestAccount:
    key = key or hashlib.sha256(f"Rialto Sandbox test account: {name}".encode()).digest()
    return TestAccount(name, key, ether * ETHER, dollars * DOLLAR)


TEST_ACCOUNTS = (
    _account("faucet", 1_000_000, 1_000_000_000, bytes.fromhex(FAUCET_KEY[2:])),  # the wallet that tops up for free
    _account("alice", 100, 10_000),
    _account("bob", 100, 10_000),
    _account("empty", 0, 0),
    _account("carol", 100, 10_000),
    _account("dave", 100, 10_000),
)


class Node(Protocol):
    """What answers the calls for one network. `answer` raises `RpcError`."""

    def answer(self, method: str, params: object) -> object: ...


@cache
def networks(data: Path) -> dict[str, Network]:
    """Return the networks by slug, in alphabetical order. `data`: the folder with rpc_methods.json."""
    table = json.loads((data / "rpc_methods.json").read_text(encoding="utf-8"))["networks"]
    return {
        slug: Network(slug, family, chain_id or _own_chain_id(slug), base_credits)
        for slug, (family, chain_id, base_credits) in sorted(table.items())
    }


def _own_chain_id(slug: str) -> int:
    """A number far above those in use, where no real one is known."""
    return 7_000_000_000 + int.from_bytes(hashlib.sha256(slug.encode()).digest()[:4], "big")


class Chains:
    """The nodes of one world. Safe to use from several threads; one network does one thing at a time."""

    def __init__(self, world: World, data: Path) -> None:
        self._world = world
        self._data = data
        self._nodes: dict[str, Node] = {}
        self._evm: dict[str, EvmChain] = {}
        self._locks = {slug: threading.RLock() for slug in networks(data)}

    def answer(self, network: Network, method: str, params: object) -> object:
        """Return the result of one call. Raises `RpcError`. Takes milliseconds, the first time a second."""
        with self._locks[network.slug]:
            if self._world.settings.fund_any and network.family == "evm":
                for owner in _named_owners(self.evm(network.slug), method, params):
                    self.fund(network.slug, owner)
            return self._node(network).answer(method, params)

    def fund(self, slug: str, owner: bytes) -> None:
        """Let the faucet give an address its first play money, if that was asked for and it never had any."""
        if not self._world.settings.fund_any or owner in _unfunded():
            return
        with self._locks[slug]:
            chain = self.evm(slug)
            if chain.is_unused(owner):
                _give_first(chain, slug, owner)

    def evm(self, slug: str) -> EvmChain:
        """Return the chain itself, for whoever settles payments on it. Hold `lock(slug)` while using it."""
        with self._locks[slug]:
            chain = self._evm.get(slug)
            if chain is None:
                chain = self._evm[slug] = self._made(networks(self._data)[slug])
            chain.go_on()
            return chain

    def lock(self, slug: str) -> threading.RLock:
        return self._locks[slug]

    def _node(self, network: Network) -> Node:
        node = self._nodes.get(network.slug)
        if node is None:
            if network.family == "evm":
                from app.sandbox.chains.node_methods import EvmAnswers

                node = EvmAnswers(self.evm(network.slug))
            else:
                node = make_node(network, self._world.clock.now, PlayToken(self._world))
            self._nodes[network.slug] = node
        return node

    def _made(self, network: Network) -> EvmChain:
        from eth_utils.crypto import keccak

        from app.sandbox.chains.evm_chain import Account, EvmChain, Step

        owners = {bytes.fromhex(one.address[2:]): one for one in TEST_ACCOUNTS}
        accounts = {owner: Account(one.wei) for owner, one in owners.items()}
        tokens = {PLAY_ASSET, DOLLARS.get(network.slug, PLAY_ASSET)}
        for token in tokens:
            storage = {SUPPLY_SLOT: sum(one.dollars for one in TEST_ACCOUNTS)}
            for owner, one in owners.items():
                place = keccak(BALANCE_SLOT.to_bytes(32, "big") + owner.rjust(32, b"\0"))
                storage[int.from_bytes(place, "big")] = one.dollars
            accounts[bytes.fromhex(token[2:])] = Account(0, self._code("play_dollar"), storage)
        for contract, name in ((MULTICALL3, "multicall3"), (EVERY_LOG, "every_log")):
            accounts[bytes.fromhex(contract[2:])] = Account(0, self._code(name))
        journal = self._world.table(f"chain {network.slug}", Step)
        is_new = not journal
        try:
            chain = EvmChain(network.chain_id, accounts, self._world.clock.now, journal, begins_s_ago=BEGAN_S_AGO)
        except RpcError as error:
            print(f"Sandbox: {network.slug} starts over: {error}", file=sys.stderr)
            journal.clear()
            is_new = True
            chain = EvmChain(network.chain_id, accounts, self._world.clock.now, journal, begins_s_ago=BEGAN_S_AGO)
        if is_new:
            _add_history(chain)
        return chain

    def _code(self, contract: str) -> bytes:
        text = (self._data / "contracts" / f"{contract}.hex").read_text(encoding="ascii")
        return bytes.fromhex(text.strip().removeprefix("0x"))


def _add_history(chain: EvmChain) -> None:
    """Let the contracts have been used before anybody came, so that there are logs to search for."""
    from eth_account import Account

    carol, dave = TEST_ACCOUNTS[-2:]
    used = (
        (carol, PLAY_ASSET, _transfer(bytes.fromhex(dave.address[2:]), 25)),
        (dave, PLAY_ASSET, _transfer(bytes.fromhex(carol.address[2:]), 5)),
        (carol, PLAY_ASSET, _transfer(bytes.fromhex(dave.address[2:]), 12)),
        (dave, EVERY_LOG, EMIT_ALL),
    )
    for number, (sender, contract, data) in enumerate(used, 1):
        transaction = {
            "type": 2,
            "chainId": chain.chain_id,
            "nonce": (number - 1) // 2,
            "gas": 100_000,
            "maxFeePerGas": 2 * 10**9,
            "maxPriorityFeePerGas": 10**6,
            "to": contract,
            "value": 0,
            "data": data,
        }
        raw = bytes(Account.sign_transaction(transaction, sender.private_key).raw_transaction)
        chain.add_past(chain.decode(raw), number)


def _transfer(receiver: bytes, dollars: int) -> bytes:
    return TRANSFER + receiver.rjust(32, b"\0") + (dollars * DOLLAR).to_bytes(32, "big")


def _named_owners(chain: EvmChain, method: str, params: object) -> set[bytes]:
    """Return whose money a call is about: who sends it, and whose balance it asks for."""
    first = params[0] if isinstance(params, list) and params else None
    named: list[object] = []
    if method == "eth_getBalance":
        named.append(first)
    elif method == "eth_sendRawTransaction":
        try:
            return {bytes(chain.decode(data_bytes(first)).sender)}
        except RpcError:
            return set()
    elif isinstance(first, dict):
        named.append(first.get("from"))
        asked = first.get("input") or first.get("data")
        if isinstance(asked, str) and asked.startswith(BALANCE_OF) and len(asked) == len(BALANCE_OF) + 64:
            named.append("0x" + asked[-40:])
    owners = set()
    for one in named:
        with suppress(RpcError):
            owners.add(address(one))
    return owners


@cache
def _unfunded() -> frozenset[bytes]:
    """Whom nobody gives a first balance: our own accounts, one of which is empty on purpose, and nobody's address."""
    return frozenset((*(bytes.fromhex(one.address[2:]) for one in TEST_ACCOUNTS), bytes(20)))


def _give_first(chain: EvmChain, slug: str, owner: bytes) -> None:
    from eth_account import Account

    tokens = {PLAY_ASSET, DOLLARS.get(slug, PLAY_ASSET)}
    gifts = [(owner, FIRST_ETHER * ETHER, b"")]
    gifts += [(bytes.fromhex(token[2:]), 0, _transfer(owner, FIRST_DOLLARS)) for token in sorted(tokens)]
    faucet = TEST_ACCOUNTS[0]
    for to, wei, data in gifts:
        transaction = {
            "type": 2,
            "chainId": chain.chain_id,
            "nonce": chain.nonce_of(bytes.fromhex(faucet.address[2:])),
            "gas": 100_000,
            "maxFeePerGas": 2 * chain.next_base_fee() + 10**6,
            "maxPriorityFeePerGas": 10**6,
            "to": to,
            "value": wei,
            "data": data,
        }
        chain.send(chain.decode(bytes(Account.sign_transaction(transaction, faucet.private_key).raw_transaction)))


def chains_of(world: World, data: Path) -> Chains:
    """Return the chains of a world; a reset of the world makes new ones."""
    chains = world.kept.get("chains")
    if chains is None:
        chains = world.kept["chains"] = Chains(world, data)
    assert isinstance(chains, Chains)
    return chains

"""One fresh Sandbox per test; starting one takes a few milliseconds."""

from __future__ import annotations

import copy
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from app.sandbox.chains.networks import Chains, Network
from app.sandbox.world import Clock
from tests.sandbox.support import Client, running
from tests.sandbox.wallet_support import EvmWallet, WalletClient

if TYPE_CHECKING:
    from app.sandbox.chains.evm_chain import EvmChain, Step


@pytest.fixture(scope="session", autouse=True)
def _mine_equal_chains_once() -> Iterator[None]:
    """Chains that begin at the same second are copies of one: mining takes a twentieth of a second, and most tests of
    the Sandbox stop the clock at the same time."""
    made = "_made"
    mine = getattr(Chains, made)
    known: dict[tuple[Network, int], tuple[EvmChain, Clock, MutableMapping[str, Step]]] = {}

    def mine_once(self: Chains, network: Network) -> EvmChain:
        from app.sandbox.chains.evm_chain import Step

        clock, journal = self._world.clock, self._world.table(f"chain {network.slug}", Step)
        key = network, int(clock.now())
        if journal:  # of an earlier Sandbox that kept it
            return mine(self, network)
        if key not in known:
            kept = copy.copy(clock), {}
            known[key] = copied(mine(self, network), clock, journal, *kept), *kept
        return copied(*known[key], clock, journal)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chains, made, mine_once)
        yield


def copied(
    chain: EvmChain,
    clock: Clock,
    journal: MutableMapping[str, Step],
    other_clock: Clock,
    other_journal: MutableMapping[str, Step],
) -> EvmChain:
    """Return a chain that goes on by itself with another clock and another journal."""
    other_journal.update(journal)
    return copy.deepcopy(chain, {id(clock): other_clock, id(journal): other_journal})


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path) as client:
        yield client


@pytest.fixture
def venice(tmp_path: Path) -> Iterator[Client]:
    """The same, answering with the other dialect's names."""
    with running(tmp_path, dialect="venice") as client:
        yield client


@pytest.fixture
def bare() -> Iterator[httpx.Client]:
    """A client without any credential."""
    with httpx.Client(verify=False, trust_env=False, timeout=60) as http:
        yield http


@pytest.fixture
def wallet(sandbox: Client, bare: httpx.Client) -> WalletClient:
    """A Sandbox, and a wallet that nobody there knows yet."""
    return WalletClient(sandbox, bare, EvmWallet(origin=sandbox.running.origin))


@pytest.fixture
def payer(wallet: WalletClient) -> WalletClient:
    """The same with 100 USD of play money, not yet paid in."""
    wallet.fund()
    return wallet


@pytest.fixture
def venice_wallet(venice: Client, bare: httpx.Client) -> WalletClient:
    return WalletClient(venice, bare, EvmWallet(origin=venice.running.origin))

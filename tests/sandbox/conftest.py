"""One fresh Sandbox per test; starting one takes a few milliseconds."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.sandbox.support import Client, running
from tests.sandbox.wallet_support import EvmWallet, WalletClient


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

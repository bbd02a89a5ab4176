"""One Sandbox for all tests of the Wallet tab in a module; each test has a home of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.kit.wallet import WalletHarness, open_wallet
from tests.sandbox.support import running


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    with running(tmp_path / "sandbox", clock=time.time) as client:
        yield client.running


@pytest.fixture
async def wallet(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme, qapp: QApplication
) -> AsyncIterator[WalletHarness]:
    home = tmp_path / "home"
    home.mkdir()
    async with open_wallet(home, sandbox, theme) as wallet:
        yield wallet

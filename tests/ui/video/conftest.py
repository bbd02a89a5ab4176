"""One Sandbox for the whole folder, as new for every test."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import pytest

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from tests.kit.sandbox import Controls


@pytest.fixture(scope="session")
def running_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """Its clock stands still until a test turns it: no video is ready because the computer was slow."""
    options = Options(tokens_per_second=0, local_ports={})
    now = time.time()
    folder = tmp_path_factory.mktemp("sandbox")
    with start_sandbox(folder, resources(), clock=lambda: now, options=options) as running:
        yield running


@pytest.fixture
async def controls(running_sandbox: RunningSandbox) -> AsyncIterator[Controls]:
    controls = Controls(running_sandbox.base_url, running_sandbox.api_key)
    await controls.reset()
    yield controls
    await controls.reset()

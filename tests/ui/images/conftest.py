"""The Sandbox that every test of the Images tab speaks with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from tests.kit.images import ImagesHarness, open_images
from tests.sandbox.support import as_new


@pytest.fixture(scope="session")
def running_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, any_key=True, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@pytest.fixture
def sandbox(running_sandbox: RunningSandbox) -> RunningSandbox:
    return as_new(running_sandbox)


@pytest.fixture
async def images(tmp_path: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[ImagesHarness]:
    async with open_images(tmp_path, sandbox, theme) as images:
        yield images

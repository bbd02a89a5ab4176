"""The Sandbox that every test of the speech tab speaks with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from app.core import draft_autosave
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from tests.kit.speech import SpeechHarness, open_speech
from tests.sandbox.support import as_new


@pytest.fixture(autouse=True)
def _saved_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is typed is saved when a test says so, and at the end: never between a test and its clean-up, when pytest-qt
    lets events through and no loop runs."""
    monkeypatch.setattr(draft_autosave, "SAVE_AFTER_S", 600.0)


@pytest.fixture(scope="session")
def running_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@pytest.fixture
def sandbox(running_sandbox: RunningSandbox) -> RunningSandbox:
    return as_new(running_sandbox)


@pytest.fixture
async def speech(tmp_path: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[SpeechHarness]:
    """A tab whose loudspeaker plays in no time."""
    async with open_speech(tmp_path, sandbox, theme) as speech:
        yield speech

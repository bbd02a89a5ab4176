"""A service that says half of each answer and then nothing more: as slow as whoever kills the program that reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.sandbox.chat import completion
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources

SAID_TOKENS = 40


@contextmanager
def silent_service(folder: Path) -> Iterator[RunningSandbox]:
    """A Sandbox whose answers stop after `SAID_TOKENS` tokens of text and stay open until it ends."""
    run = completion.Completion._run

    async def run_half(whole: completion.Completion, choice: completion._Choice) -> AsyncIterator[tuple[str, str]]:
        said, thinks = 0, False
        async for kind, token in run(whole, choice):
            thinks = (thinks or token == "<think>") and token != "</think>"
            said += kind == "text" and not thinks
            if said > SAID_TOKENS:
                await asyncio.Event().wait()
            yield kind, token

    with (
        pytest.MonkeyPatch.context() as patch,
        start_sandbox(folder, resources(), options=Options(tokens_per_second=0, local_ports={})) as running,
    ):
        patch.setattr(completion.Completion, "_run", run_half)
        yield running

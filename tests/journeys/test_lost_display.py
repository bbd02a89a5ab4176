"""A display server that ends takes the window with it, and the process must not stay behind."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.storage.paths import HOME_VARIABLE
from tests.kit.waiting import until


async def test_without_its_display_the_program_ends_and_leaves_its_folder_to_the_next(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.journeys.lost_display"),
        env={**os.environ, HOME_VARIABLE: str(tmp_path / "home")},
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, told = await asyncio.wait_for(process.communicate(), 120)
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 1
    assert "Rialto quit because its display closed." in told.decode()
    async with start() as rialto:
        await until(lambda: rialto.chat.library is not None)

"""The window is killed while a file is in the draft: what was shown as attached is there after a restart."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from tests.kit.chat import open_sandbox_chat, press
from tests.kit.portable import KILL
from tests.ui.test_chat_attachments import picture


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


async def test_killed_with_a_file_in_the_draft_its_chip_is_there_after_a_restart(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    """SIGKILL at the moment at which the chip is shown as attached."""
    file = tmp_home / "boiler.png"
    file.write_bytes(picture(640, 480))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_chat"),
        *(str(tmp_home), sandbox.base_url, sandbox.api_key, str(file)),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        told = (await process.stdout.readline()).decode().strip()
    os.kill(process.pid, KILL)
    await process.wait()
    assert told == "1"
    file.unlink()
    async with open_sandbox_chat(theme, tmp_home, sandbox, "rialto-vision") as box:
        (chip,) = box.composer.strip.chips.values()
        assert chip.name.text() == "boiler.png"
        press(box.message_box, Qt.Key.Key_Return)
        await box.settle()
        assert "640 × 480" in box.rows[-1].text

"""The program tests itself, and a part that does not work is named."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.ui.shell import self_test
from app.ui.shell.tour import perform
from app.ui.shell.tour_guide import StepFailed

ROOT = Path(__file__).resolve().parents[2]


def test_every_part_is_looked_at_and_works() -> None:
    command = [sys.executable, "-m", "app", "--self-test"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    parts = {line[:16].strip(): line[17:26].strip() for line in done.stdout.splitlines() if len(line) > 26}
    shown = ("Qt", "Images", "Window icon", "Fonts", "Certificates", "Documents")
    for part in (*shown, "Sandbox", "Chat", "Speech", "Transcribe", "Console"):
        assert parts[part] == "ok", done.stdout
    assert {"Tab Chat", "Tab Settings"} <= set(parts)


async def test_a_part_that_does_not_work_is_named_and_the_test_ends_with_one(
    start: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: object) -> str:
        raise StepFailed("no sound came")

    async def fine(*_: object) -> str:
        return "looked at elsewhere"

    monkeypatch.setattr(self_test, "_speech", broken)
    for name in ("_sandbox", "_chat", "_transcription", "_crypto_rpc", "_tab"):
        monkeypatch.setattr(self_test, name, fine)
    async with start() as rialto:
        assert await perform("self-test", rialto.window, rialto.chat_page, tmp_path) == 1
    said = capsys.readouterr().out
    assert re.search(r"^Speech +FAILED +no sound came$", said, re.MULTILINE)
    assert "These parts do not work: Speech" in said

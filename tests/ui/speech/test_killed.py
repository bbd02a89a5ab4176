"""Killed in the middle of a long text, or of one answer: what was paid for is there, and the rest is asked for."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from app.audio.decoding import duration_s
from app.sandbox.server import RunningSandbox
from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from tests.kit.speech import open_speech
from tests.kit.waiting import until
from tests.ui.speech.killed_speech import TEXT


async def start_killed_program(home: Path, sandbox: RunningSandbox) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.ui.speech.killed_speech",
        str(home),
        sandbox.base_url,
        sandbox.api_key,
        stdout=asyncio.subprocess.PIPE,
    )


async def test_a_kill_in_the_middle_of_a_long_text_loses_nothing_that_came(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    killed_program = await start_killed_program(tmp_path, sandbox)
    assert killed_program.stdout is not None
    async with asyncio.timeout(100):
        async for line in killed_program.stdout:
            states = line.decode().strip().split(",")
            if states[0].startswith("complete") and any(state.startswith("sending") for state in states[1:]):
                break
    killed_program.kill()
    await killed_program.wait()
    async with open_speech(tmp_path, sandbox, theme) as speech:
        (row,) = speech.rows
        assert row.is_partial and "being generated when Rialto quit" in speech.toasts[0][0]
        clip = speech.clips[0]
        assert clip.text == TEXT.strip() or clip.text == TEXT
        first, second = clip.parts[0], clip.parts[1]
        assert first.state == "complete" and second.state != "sending"  # it may have ended before the kill
        kept = speech.files.part(first)
        assert kept.stat().st_size == first.size_bytes
        assert duration_s(kept) > 20
        speech.page.open_clip(clip.id)
        await until(speech.go_on_button.isVisible)
        await until(lambda: speech.known_s >= first.duration_s - 0.1)
        speech.press_go_on()
        await until(lambda: speech.clips[0].state == "complete")
        again = speech.clips[0]
        assert again.parts[0] == first, "what was paid for was not asked for again"
        assert kept.stat().st_size == first.size_bytes
        told = [intent for intent in await Intents(speech.database).recent("speech") if intent.request["part"] == 1]
        assert [intent.state for intent in told] == ["answered"]


async def test_a_kill_in_the_middle_of_an_answer_keeps_every_byte_that_had_come(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    killed_program = await start_killed_program(tmp_path, sandbox)
    assert killed_program.stdout is not None
    kept: Path | None = None
    async with asyncio.timeout(100):
        async for line in killed_program.stdout:
            kept = next((tmp_path / "data" / "speech").glob("*/part-01.wav"), None)
            if kept is not None and kept.stat().st_size > 100_000:
                assert line.decode().startswith("sending"), "the answer was still on its way"
                break
    killed_program.kill()
    await killed_program.wait()
    assert kept is not None
    size = kept.stat().st_size
    assert size > 100_000
    async with open_speech(tmp_path, sandbox, theme) as speech:
        clip = speech.clips[0]
        first = clip.parts[0]
        assert (first.state, first.size_bytes, first.cost_source) == ("cut", size, "at most")
        speech.page.open_clip(clip.id)
        await until(lambda: speech.known_s > 1)
        assert speech.known_s == pytest.approx((size - 44) / 48_000, abs=0.01)
        receipt = speech.receipt.text()
        assert "Part 1" in receipt and "up to $0.0" in receipt, "nobody knows what was charged, but how much at most"
        speech.press_go_on()
        await until(lambda: speech.clips[0].state == "complete")
        assert kept.stat().st_size == size, "what was paid for is never written over"

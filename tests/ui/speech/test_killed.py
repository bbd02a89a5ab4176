"""Killed in the middle of a long text: every part that was paid for is there afterwards, and the rest is asked for."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from app.audio.decoding import duration_s
from app.sandbox.server import RunningSandbox
from app.storage.intents import Intents
from app.ui.shared.theme import Theme
from tests.ui.speech.desk import open_desk
from tests.ui.speech.victim import TEXT


async def test_a_kill_in_the_middle_of_a_long_text_loses_nothing_that_came(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    victim = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.ui.speech.victim",
        str(tmp_path),
        sandbox.base_url,
        sandbox.api_key,
        stdout=asyncio.subprocess.PIPE,
    )
    assert victim.stdout is not None
    async with asyncio.timeout(40):
        async for line in victim.stdout:
            states = line.decode().strip().split(",")
            if states[0].startswith("complete") and any(state.startswith("sending") for state in states[1:]):
                break
    victim.kill()
    await victim.wait()
    async with open_desk(tmp_path, sandbox, theme) as desk:
        (row,) = desk.rows
        assert row.is_partial and "being spoken when Rialto ended" in desk.toasts[0][0]
        take = desk.presenter.clips.rows[0]
        assert take.text == TEXT.strip() or take.text == TEXT
        first, second = take.parts[0], take.parts[1]
        assert first.state == "complete" and second.state != "sending"  # it may have ended before the kill
        kept = desk.presenter.clips.files.part(first)
        assert kept.stat().st_size == first.size_bytes
        assert duration_s(kept) > 20
        desk.page.open_clip(take.id)
        await desk.until(desk.page.main.go_on.isVisible)
        await desk.until(lambda: desk.presenter.sound.view.known_s >= first.duration_s - 0.1)
        desk.page.main.go_on.click()
        await desk.until(lambda: desk.presenter.clips.rows[0].state == "complete")
        again = desk.presenter.clips.rows[0]
        assert again.parts[0] == first, "what was paid for was not asked for again"
        assert kept.stat().st_size == first.size_bytes
        told = [intent for intent in await Intents(desk.database).recent("speech") if intent.request["part"] == 1]
        assert [intent.state for intent in told] == ["answered"]

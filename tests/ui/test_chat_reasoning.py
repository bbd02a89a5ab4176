"""Reasoning of which only the end is marked: it is shown as text first, and then moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from app.ui.kit.theme import Theme
from tests.kit.chat import DONE, FakeService, open_chat, sse, text_chunk
from tests.reported_inputs import reported


async def test_text_before_a_closing_tag_moves_to_the_reasoning_while_it_streams(theme: Theme, tmp_home: Path) -> None:
    before, answer = reported("k03-think-no-opening.md").decode().split("</think>")
    shown, go_on = asyncio.Event(), asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield sse(text_chunk(before))
        shown.set()
        await go_on.wait()
        yield sse(text_chunk(f"</think>{answer}"))
        yield DONE

    async with open_chat(theme, tmp_home, fake=FakeService(answers=[pieces])) as chat:
        chat.presenter.send("What is 2 + 3?")
        await shown.wait()
        async with asyncio.timeout(30):
            while not chat.rows[-1].text:
                await asyncio.sleep(0.01)
        view = chat.page.main.view
        row_id = chat.rows[-1].id
        assert view.row(row_id).text.strip() == "First I add both."
        go_on.set()
        await chat.tasks.idle()
        row = view.row(row_id)
        assert (row.reasoning, row.text) == ("First I add both.", "The sum is 5.")
        stored = await chat.history.message(row_id)
        assert (stored.reasoning, stored.content) == ("First I add both.", "The sum is 5.")

"""A conversation in the whole program, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until


async def test_a_person_without_a_mouse_edits_retries_stops_goes_on_and_finds(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await talk.ask(QUESTION)
        assert "key" in talk.rows[-1].text

        # another version, and the way between the two
        await hands.press("Ctrl+R")
        await until(lambda: talk.rows[-1].places == 2)
        await talk.answered()
        await hands.press("Alt+PgUp")
        await until(lambda: talk.rows[-1].place == 1)
        await hands.press("Alt+PgDown")
        await until(lambda: talk.rows[-1].place == 2)

        # an earlier turn is edited: what came after it stays on its own branch
        await talk.ask("And what is the Sandbox?")
        assert len(talk.rows) == 4
        await talk.walk_to("edit", talk.rows[0].id)
        await until(lambda: talk.composer_text() == QUESTION)
        await hands.press("Ctrl+A")
        await hands.type("Where are my chats kept?")
        await hands.press("Return")
        await until(lambda: len(talk.rows) == 2 and talk.rows[0].places == 2)
        await talk.answered()

        # stopped, kept, gone on with
        await hands.press("Ctrl+L")
        await hands.type("Tell me about the Sandbox, please.")
        await hands.press("Return")
        await until(lambda: talk.is_writing and len(talk.rows[-1].text) > 10)
        await hands.press("Escape")
        await until(lambda: talk.rows[-1].state == "stopped")
        kept = talk.rows[-1].text
        assert kept
        await hands.command("Continue answer")
        await until(lambda: talk.rows[-1].state == "complete")
        assert talk.rows[-1].text.startswith(kept)

        # pinned, renamed, copied
        first = talk.presenter.opened.chat_id
        await hands.press("Ctrl+D")
        await until(talk.page.is_pinned)
        await hands.press("F2")
        await until(talk.header.edit.hasFocus)
        await hands.type("About keys")
        await hands.press("Return")
        await until(lambda: talk.presenter.head().title == "About keys")
        await hands.press("Ctrl+Shift+D")
        await until(lambda: talk.presenter.opened.chat_id not in (first, None))
        assert len(talk.chat_rows.shown_keys()) == 2

        # found in this chat and in all of them
        await hands.command("Find in this chat")
        await until(talk.find_bar.field.hasFocus)
        await hands.type("sandbox")
        await until(lambda: "of" in talk.find_bar.count.text())
        await hands.press("Return", "Escape")
        await hands.press("Ctrl+Shift+F")
        await until(talk.search_dialog.field.hasFocus)
        await hands.type("about keys")
        await until(lambda: talk.search_dialog.model.rowCount() >= 2)
        await hands.press("Down", "Up", "Return")
        await until(lambda: talk.presenter.opened.chat_id is not None)
        await hands.press("Escape")

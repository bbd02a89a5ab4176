"""The Chat tab of the whole program on the Sandbox, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.ui.chat.export_dialog import ExportDialog
from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until


async def test_a_person_without_a_mouse_takes_a_chat_out_and_in_again(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "chat.json"
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await talk.ask(QUESTION)
        await hands.press("Ctrl+E")
        dialog = await hands.dialog(ExportDialog)
        assert isinstance(dialog, ExportDialog)
        while not dialog.kind.isAncestorOf(hands.focus):
            await hands.press("Tab")
        await hands.press("Right", "Right")
        assert dialog.form.kind == "json"
        await hands.tab_to(dialog.go)
        await hands.press("Return")
        await hands.choose_file(str(file))
        await until(file.exists)
        await until(lambda: file.read_text(encoding="utf-8").endswith("}"))
        await hands.begin()
        await hands.command("Import chats")
        await hands.choose_file(str(file))
        await until(lambda: len(talk.chat_rows.shown_keys()) == 2)
        await until(lambda: [row.role for row in talk.rows] == ["user", "assistant"])
        assert talk.rows[0].text == QUESTION
        assert json.loads(file.read_text(encoding="utf-8"))["format"] == "rialto-chat"


async def test_a_person_without_a_mouse_chooses_model_character_and_parameters(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, presenter = talk.hands, talk.presenter
        await talk.begin()

        # a model: sorted, marked, taken
        await hands.press("Ctrl+Shift+M")
        picker = talk.page.picker
        assert picker is not None
        await until(lambda: picker.model.matches() > 3)
        await hands.type("reasoning")
        await hands.press("Ctrl+D")
        assert "rialto-reasoning" in rialto.settings.value.favourite_models
        await hands.press("Return")
        await until(lambda: presenter.head().model_id == "rialto-reasoning")

        # what the pills under the box say is what the inspector says
        for key, option, wanted in (
            ("Ctrl+Shift+B", "web_search", "on"),
            ("Ctrl+Shift+X", "citations", False),
            ("Ctrl+Shift+T", "thinking", False),
            ("Ctrl+Shift+K", "read_links", True),
        ):
            await hands.press(key)
            assert getattr(presenter.opened.options, option) == wanted
        for key in ("Ctrl+Shift+K", "Ctrl+Shift+T", "Ctrl+Shift+X"):
            await hands.press(key)
        await talk.ask(QUESTION)
        assert talk.rows[-1].sources
        assert talk.rows[-1].reasoning, "the thoughts came apart from the answer"
        assert talk.rows[-1].reasoning not in talk.rows[-1].text

        # a character found by a tag, and a chat with it
        await hands.press("Ctrl+Shift+P")
        people = rialto.characters_page
        await until(lambda: people.presenter.state.rows)
        await hands.type("#sea")
        await until(lambda: people.presenter.state.rows and not people.presenter.state.loading)
        await until(lambda: all("sea" in row.tags for row in people.presenter.state.rows))
        for box, field in ((people.filters.web, "web_only"), (people.filters.pro, "pro_only")):
            await hands.tab_to(box)
            await hands.press("Space")
            assert getattr(people.presenter.state.filters, field) is True
            await hands.press("Space")
        await until(lambda: people.presenter.state.rows and not people.presenter.state.loading)
        await hands.tab_to(people.filters.sort)
        await hands.press("Down")
        await until(lambda: people.presenter.state.filters.sort == "mostRecent")
        await hands.tab_to(people.grid.view)
        await hands.press("Right", "Left", "Return")
        await until(lambda: presenter.head().character is not None)
        await until(lambda: len(talk.rows) == 0)
        await talk.ask("Who are you?")
        assert presenter.head().character is not None

        # two models side by side, one of them kept
        await hands.press("Ctrl+N")
        await until(lambda: len(talk.rows) == 0)
        await hands.type("What is the Sandbox?")
        await hands.press("Ctrl+J")
        await until(lambda: type(hands.focus).__name__ == "SearchField")
        for name in ("plain", "tags"):
            await hands.press("Ctrl+A")
            await hands.type(name)
            await hands.press("Return")
        await hands.press("Ctrl+Return")
        await until(lambda: talk.place is talk.page.controller.comparison)
        columns = talk.page.controller.comparison.columns
        assert len(columns) == 3, "the chat's own model and the two that were marked"
        await until(lambda: all(each.view.row(each.row_id).state == "complete" for each in columns))
        assert all(each.view.row(each.row_id).receipt for each in columns), "time, tokens and cost of each"
        await hands.tab_to(columns[1].keep)
        await hands.press("Space")
        await until(lambda: talk.place is talk.view)
        assert talk.rows[-1].places == 3

"""Answers in Chat read, folded, followed to their sources, asked for as JSON and given functions, without a mouse."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextBrowser

from app.ui.chat.structure_dialog import CallsDialog, StructureDialog
from app.ui.shell.help_sheet import HelpSheet
from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until

WEATHER = json.dumps(
    {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
)
REPORT = json.dumps(
    {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
)


async def use_model(talk: Talk, words: str, model_id: str) -> None:
    await talk.hands.press("Ctrl+Shift+M")
    picker = talk.page.picker
    assert picker is not None
    await until(lambda: picker.model.matches() > 3)
    await talk.hands.type(words)
    await talk.hands.press("Return")
    await until(lambda: talk.presenter.head().model_id == model_id)


async def test_a_person_without_a_mouse_folds_thoughts_follows_sources_and_comes_back_to_new_text(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, view = talk.hands, talk.view
        await talk.begin()
        await use_model(talk, "reasoning", "rialto-reasoning")
        await talk.ask(QUESTION)
        answer = talk.rows[-1]

        # the thoughts are folded until they are asked for, and are never copied with the answer
        def shows_thoughts() -> bool:
            model = view.stack.known_model(answer.id)
            return model is not None and model.reasoning_open

        assert not shows_thoughts()
        await talk.walk_to("fold", answer.id)
        assert shows_thoughts()
        await hands.press("Ctrl+Shift+C")
        copied = QGuiApplication.clipboard().text()
        assert copied.startswith(answer.text.partition("[REF]")[0])
        assert "\nSources:\n" in copied
        assert "[REF]" not in copied
        assert answer.reasoning not in QGuiApplication.clipboard().text()

        # a source of the handbook opens the handbook, at its page
        await hands.press("End")
        for _ in range(30):
            await hands.press("Tab")
            spot = view.picture.focused
            if spot is not None and spot.control == "source0":
                break
        await hands.press("Return")
        await until(lambda: any(sheet.isVisible() for sheet in rialto.window.findChildren(HelpSheet)))
        (sheet,) = rialto.window.findChildren(HelpSheet)
        page = answer.sources[0].title.partition(":")[0]
        (browser,) = sheet.findChildren(QTextBrowser)
        await until(lambda: page in browser.toPlainText())
        await hands.press("Escape")
        await until(lambda: not sheet.isVisible())
        await hands.begin()

        # further up while text comes: the view stays, and a button leads back
        await hands.press("Ctrl+L")
        await hands.type("Tell me everything about the Sandbox, please.")
        await hands.press("Return")
        await until(lambda: talk.is_writing)
        await hands.tab_to(view, "Shift+Tab")
        await hands.press("Home")
        await until(talk.newest_button.isVisible)
        assert not view.at_end
        await hands.tab_to(talk.newest_button)
        await hands.press("Space")
        await until(lambda: view.at_end and not talk.newest_button.isVisible())
        await talk.answered()


async def test_a_person_without_a_mouse_answers_a_function_call_and_asks_for_json(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await use_model(talk, "reasoning", "rialto-reasoning")

        # functions are offered; the call is seen, answered by hand, and told back
        await hands.command("JSON output")
        dialog = await hands.dialog(StructureDialog)
        assert isinstance(dialog, StructureDialog)
        await hands.tab_to(dialog.use_functions)
        await hands.press("Space")
        await hands.tab_to(dialog.functions)
        await hands.press("Ctrl+A")
        await hands.type(WEATHER)
        await hands.tab_to(dialog.save)
        await hands.press("Space")
        await hands.begin()
        await hands.press("Ctrl+L")
        await hands.type("What is the weather in Oslo?")
        await hands.press("Return")
        await until(lambda: talk.rows and talk.rows[-1].calls and not talk.is_writing)
        assert talk.rows[-1].calls[0].name == "get_weather"
        await hands.command("Enter function results")
        calls = await hands.dialog(CallsDialog)
        assert isinstance(calls, CallsDialog)
        await hands.type("4 degrees and rain")
        await hands.tab_to(calls.send)
        await hands.press("Space")
        await hands.begin()
        await until(lambda: [row.role for row in talk.rows] == ["user", "assistant", "tool", "assistant"])
        await talk.answered()
        assert "4 degrees and rain" in talk.rows[-1].text

        # an answer in a schema is a tree, walked by the arrow keys
        await hands.press("Ctrl+N")
        await until(lambda: not talk.rows)
        await hands.command("JSON output")
        dialog = await hands.dialog(StructureDialog)
        assert isinstance(dialog, StructureDialog)
        await hands.tab_to(dialog.use_schema)
        await hands.press("Space")
        await hands.tab_to(dialog.schema)
        await hands.press("Ctrl+A")
        await hands.type(REPORT)
        await hands.tab_to(dialog.save)
        await hands.press("Space")
        await hands.begin()
        await talk.ask("How do I run Rialto from source?")
        assert talk.rows[-1].structured
        assert set(json.loads(talk.rows[-1].text)) == {"answer"}
        assert talk.rows[-1].schema_violation == ""

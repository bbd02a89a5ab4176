"""Ways through the tree: side by side, functions answered by hand, edited answers, the trash, found words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from app.core.trash import TrashEntry
from app.ui.chat.session.structure import Structure
from app.ui.chat.state import Hit
from app.ui.conversation.message_rows import MessageRow
from tests.kit.chat import DONE, USAGE, ChatPresenterHarness, FakeService, held, model_body, sse, text_chunk, whole
from tests.kit.chat import open_chat_presenter as open_any_desk
from tests.kit.waiting import until

FUNCTIONS = json.dumps([{"name": "get_weather", "parameters": {"type": "object"}}, {"name": "get_time"}])


CAPABLE = {"supportsFunctionCalling": True, "supportsResponseSchema": True}


def open_chat_presenter(home: Path) -> AbstractAsyncContextManager[ChatPresenterHarness]:
    """A desk whose models take schemas and functions."""
    models = [model_body(capabilities=CAPABLE), model_body("other", "Other", capabilities=CAPABLE)]
    return open_any_desk(home, fake=FakeService(models=models))


def calls(*named: tuple[str, str, str]) -> Callable[[], AsyncIterator[bytes]]:
    """An answer that asks for functions: (id, name, arguments)."""

    async def pieces() -> AsyncIterator[bytes]:
        for number, (call_id, name, arguments) in enumerate(named):
            fragment = {"index": number, "id": call_id, "type": "function"}
            yield sse(_delta(tool_calls=[{**fragment, "function": {"name": name, "arguments": ""}}]))
            yield sse(_delta(tool_calls=[{"index": number, "function": {"arguments": arguments}}]))
        yield sse({**_delta(), "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}) + sse(USAGE)
        yield DONE

    return pieces


def _delta(**delta: Any) -> dict[str, Any]:
    return text_chunk("", **delta)


def compared_rows(desk: ChatPresenterHarness) -> list[tuple[MessageRow, ...]]:
    told: list[tuple[MessageRow, ...]] = []
    assert desk.presenter.conversation is not None
    desk.presenter.conversation.comparison_changed.connect(told.append)
    return told


# -- side by side -----------------------------------------------------------------------------------------------------


async def test_several_models_answer_at_once_each_on_disk_and_one_is_kept(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        gates = [asyncio.Event(), asyncio.Event()]
        desk.fake.answers = [held(gates[0], "One", " more"), held(gates[1], "Two", " more")]
        told = compared_rows(desk)
        desk.presenter.compare("Which?", ("plain", "other"))
        await until(lambda: bool(told) and len(desk.fake.requests) == 2)
        answers = desk.presenter.answers
        rows = [row.id for row in told[0]]
        await until(lambda: all((live := answers.live_of(row)) is not None and live.text for row in rows))
        assert [request["model"] for request in desk.fake.requests] == ["plain", "other"]
        gates[1].set()
        await until(lambda: answers.live_of(rows[1]) is None)
        assert answers.live_of(rows[0]) is not None  # each ends by itself
        gates[0].set()
        await desk.tasks.idle()
        stored = {each.id: each for each in await desk.history.messages(desk.presenter.opened.chat_id or "")}
        assert [stored[row].content for row in rows] == ["One more", "Two more"]
        assert all(stored[row].cost_usd is not None for row in rows)
        assert desk.rows[-1].text == "One more"
        desk.presenter.act(rows[1], "keep")
        await desk.tasks.idle()
        assert not told[-1]
        assert (desk.rows[-1].text, desk.rows[-1].place, desk.rows[-1].places) == ("Two more", 2, 2)
        assert desk.presenter.opened.model_id == "other"
        desk.fake.answers = [whole("Next")]
        await desk.say("And then?")
        assert [each["content"] for each in desk.fake.requests[-1]["messages"]] == ["Which?", "Two more", "And then?"]


async def test_one_of_several_is_stopped_alone_and_all_together(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        gate = asyncio.Event()
        desk.fake.answers = [held(gate, "A"), held(gate, "B"), held(gate, "C")]
        told = compared_rows(desk)
        desk.presenter.compare("Which?", ("plain", "other", "plain"))
        answers = desk.presenter.answers
        await until(lambda: bool(told))
        rows = [row.id for row in told[0]]
        await until(lambda: all((live := answers.live_of(row)) is not None and live.text for row in rows))
        desk.presenter.act(rows[1], "stop-row")
        await until(lambda: answers.live_of(rows[1]) is None)
        assert answers.live_of(rows[0]) is not None and answers.live_of(rows[2]) is not None
        desk.presenter.stop()
        await desk.tasks.idle()
        states = {each.id: (each.state, each.content) for each in await desk.history.messages(_chat(desk))}
        assert [states[row] for row in rows] == [("stopped", "A"), ("stopped", "B"), ("stopped", "C")]


async def test_the_last_question_is_asked_again_beside_what_was_answered(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        await desk.say("Which?")
        told = compared_rows(desk)
        desk.presenter.compare("", ("plain", "other"))
        await desk.tasks.idle()
        assert len(told[0]) == 2
        assert desk.rows[-1].places == 3
        assert desk.presenter.conversation is not None
        desk.presenter.conversation.show_comparison(desk.rows[-1].id)
        assert len(told[-1]) == 3
        desk.presenter.new_chat()
        await desk.tasks.idle()
        assert not told[-1]


def _chat(desk: ChatPresenterHarness) -> str:
    return desk.presenter.opened.chat_id or ""


# -- functions --------------------------------------------------------------------------------------------------------


async def test_calls_are_shown_answered_by_hand_and_sent_back_as_they_came_r_chat_16(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        named = (("c1", "get_weather", '{"city": "Oslo"}'), ("c2", "get_time", "{}"))
        desk.fake.answers = [calls(*named), whole("It is cold.")]
        await desk.say("Weather and time?")
        assert [tool["function"]["name"] for tool in desk.fake.requests[0]["tools"]] == ["get_weather", "get_time"]
        assert desk.fake.requests[0]["tool_choice"] == "auto"
        row = desk.rows[-1]
        assert row.problem is None
        assert [(call.name, call.arguments, call.answered) for call in row.calls] == [
            ("get_weather", '{"city": "Oslo"}', False),
            ("get_time", "{}", False),
        ]
        desk.presenter.answer_calls(row.id, {"c1": "2 degrees", "c2": "noon"})
        await desk.tasks.idle()
        sent = desk.fake.requests[1]["messages"]
        assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool"]
        assert sent[1]["content"] is None
        assert [each["id"] for each in sent[1]["tool_calls"]] == ["c1", "c2"]
        assert [(each["tool_call_id"], each["content"]) for each in sent[2:]] == [("c1", "2 degrees"), ("c2", "noon")]
        assert [row.role for row in desk.rows] == ["user", "assistant", "tool", "tool", "assistant"]
        assert all(call.answered for call in desk.rows[1].calls)
        assert desk.rows[-1].text == "It is cold."


async def test_answering_again_makes_a_branch_and_what_was_answered_stays(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        desk.fake.answers = [calls(("c1", "get_time", "{}")), whole("Noon."), whole("Night.")]
        await desk.say("Time?")
        asked: list[str] = []
        desk.presenter.calls_wanted.connect(asked.append)
        desk.presenter.answer_calls(desk.rows[1].id, {"c1": "12"})
        await desk.tasks.idle()
        desk.presenter.act(desk.rows[2].id, "edit")
        assert asked == [desk.rows[1].id]
        assert desk.presenter.conversation is not None
        assert desk.presenter.conversation.calls_of(asked[0]) == (("c1", "get_time", "{}", "12"),)
        desk.presenter.answer_calls(asked[0], {"c1": "24"})
        await desk.tasks.idle()
        assert [row.text for row in desk.rows[2:]] == ["24", "Night."]
        assert desk.rows[2].places == 2
        desk.presenter.act(desk.rows[2].id, "previous")
        await desk.tasks.idle()
        assert [row.text for row in desk.rows[2:]] == ["12", "Noon."]


async def test_calls_that_nobody_answered_do_not_go_back(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        desk.fake.answers = [calls(("c1", "get_time", "{}")), whole("Fine.")]
        await desk.say("Time?")
        await desk.say("Never mind.")
        assert [each["role"] for each in desk.fake.requests[1]["messages"]] == ["user", "user"]


async def test_calls_survive_a_restart_and_an_export(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        desk.fake.answers = [calls(("c1", "get_time", '{"zone": "x"}'))]
        await desk.say("Time?")
    async with open_chat_presenter(tmp_home) as desk:
        assert [call.arguments for call in desk.rows[-1].calls] == ['{"zone": "x"}']
        assert desk.presenter.opened.structure.use_functions


# -- answers in a schema ----------------------------------------------------------------------------------------------

SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


async def test_an_answer_in_a_schema_is_asked_for_checked_and_shown_as_one(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        structure = Structure(use_schema=True, schema=SCHEMA)
        desk.presenter.set_structure(structure)
        desk.fake.answers = [whole('{"city": ', '"Oslo"}'), whole("{}"), whole("No.")]
        await desk.say("Where?")
        assert desk.fake.requests[0]["response_format"]["type"] == "json_schema"
        assert (desk.rows[-1].structured, desk.rows[-1].misfit) == (True, "")
        await desk.say("And?")
        assert desk.rows[-1].misfit == "$.city is missing"
        await desk.say("What?")
        assert desk.rows[-1].structured
        desk.presenter.set_structure(replace(structure, use_schema=False))
        await desk.say("Plain?")
        assert not desk.rows[-1].structured
        assert "response_format" not in desk.fake.requests[-1]


async def test_a_model_that_takes_no_schema_and_no_functions_is_sent_none(tmp_home: Path) -> None:
    async with open_any_desk(tmp_home) as desk:
        both = Structure(use_schema=True, schema=SCHEMA, use_functions=True, functions=FUNCTIONS)
        desk.presenter.set_structure(both)
        await desk.say("Where?")
        assert not {"response_format", "tools", "tool_choice"} & set(desk.fake.requests[0])


async def test_a_wrong_schema_keeps_the_message_in_the_box(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.presenter.set_structure(Structure(use_schema=True, schema="{"))
        await desk.say("Where?")
        assert desk.fake.requests == []
        assert desk.presenter.head().why_not == "The schema of the answer is not complete."


# -- editing, trash, search -------------------------------------------------------------------------------------------


async def test_an_answer_put_in_other_words_is_a_branch_and_asks_nobody(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.fake.answers = [whole("As given.")]
        await desk.say("Which?")
        desk.presenter.set_draft("half a thought")
        desk.presenter.act(desk.rows[-1].id, "edit-answer")
        assert desk.told["draft_replaced"][-1] == ("As given.",)
        desk.presenter.set_draft("As I want it.")
        await desk.say("As I want it.")
        assert (desk.rows[-1].text, desk.rows[-1].places) == ("As I want it.", 2)
        assert len(desk.fake.requests) == 1
        assert desk.told["draft_replaced"][-1] == ("half a thought",)


async def test_the_trash_is_listed_restored_from_and_emptied(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        told: list[tuple[TrashEntry, ...]] = []
        desk.presenter.trash.changed.connect(told.append)
        ids = []
        for text in ("One", "Two", "Three"):
            await desk.say(text)
            ids.append(_chat(desk))
            desk.presenter.move_to_trash((ids[-1],))
            await desk.tasks.idle()
        assert [entry.title for entry in told[-1]] == ["Three", "Two", "One"]
        assert told[-1][0].second_line.startswith("2 messages · ")
        desk.presenter.trash.restore((ids[0],))
        await desk.tasks.idle()
        assert _chat(desk) == ids[0]
        desk.presenter.trash.delete((ids[1],))
        await desk.tasks.idle()
        assert [entry.id for entry in told[-1]] == [ids[2]]
        desk.presenter.trash.empty()
        await desk.tasks.idle()
        assert told[-1] == ()
        assert not desk.undo_stack.can_undo("chat")
        assert [chat.id for chat in await desk.history.chats(include_trashed=True)] == [ids[0]]


async def test_a_found_message_is_opened_on_its_own_branch(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.fake.answers = [whole("The heron waits."), whole("The egret waits."), whole("Else")]
        await desk.say("Which bird?")
        first = desk.rows[-1].id
        desk.presenter.retry_last()
        await desk.tasks.idle()
        chat_id = _chat(desk)
        desk.presenter.new_chat()
        await desk.tasks.idle()
        await desk.say("Something else")
        found: list[tuple[str, tuple[Hit, ...]]] = []
        wanted: list[tuple[str, str]] = []
        desk.presenter.hits_found.connect(lambda text, hits: found.append((text, hits)))
        desk.presenter.row_wanted.connect(lambda row, text: wanted.append((row, text)))
        desk.presenter.search("HERON")
        await desk.tasks.idle()
        text, hits = found[-1]
        assert (text, [hit.message_id for hit in hits]) == ("HERON", [first])
        (start, end), *_ = hits[0].marks
        assert hits[0].text[start:end] == "heron"
        desk.presenter.open_hit(chat_id, first, "HERON")
        await desk.tasks.idle()
        assert desk.rows[-1].id == first
        assert wanted == [(first, "HERON")]


async def test_a_copy_has_every_branch_and_a_branch_only_its_own(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        desk.fake.answers = [whole("First"), whole("Second")]
        await desk.say("Q")
        first = desk.rows[-1].id
        desk.presenter.retry_last()
        await desk.tasks.idle()
        original = _chat(desk)
        desk.presenter.duplicate(original)
        await desk.tasks.idle()
        assert desk.presenter.opened.title == "Q (copy)"
        assert desk.rows[-1].places == 2
        desk.presenter.open_chat(original)
        await desk.tasks.idle()
        desk.presenter.branch_off(first)
        await desk.tasks.idle()
        assert desk.presenter.opened.title == "Q (branch)"
        assert [row.text for row in desk.rows] == ["Q", "First"]
        assert desk.rows[-1].places == 1


async def test_a_refused_comparison_is_explained_in_its_own_column(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as desk:
        refusal = httpx.Response(400, json={"error": "no"})
        desk.fake.answers = [whole("Fine"), refusal]
        told = compared_rows(desk)
        desk.presenter.compare("Which?", ("plain", "other"))
        await desk.tasks.idle()
        assert desk.presenter.conversation is not None
        desk.presenter.conversation.show_comparison(told[0][0].id)
        assert [row.state for row in told[-1]] == ["complete", "failed"]
        assert told[-1][1].problem is not None
        desk.fake.answers = [whole("Now it works")]
        desk.presenter.act(told[-1][1].id, "retry")
        await desk.tasks.idle()
        assert desk.fake.requests[-1]["model"] == "other"
        stored = await desk.history.message(told[-1][1].id)
        assert (stored.state, stored.content) == ("complete", "Now it works")

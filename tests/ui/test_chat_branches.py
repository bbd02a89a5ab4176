"""Ways through the tree: side by side, functions answered by hand, edited answers, the trash, found words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx

from app.core.trash import TrashEntry
from app.ui.chat.session.structured_output import Structure
from app.ui.chat.state import Hit
from app.ui.conversation.rows import MessageRow
from tests.kit.chat import DONE, USAGE, ChatPresenterHarness, FakeService, held, model_body, sse, text_chunk, whole
from tests.kit.chat import open_chat_presenter as open_any_desk
from tests.kit.waiting import until

FUNCTIONS = json.dumps([{"name": "get_weather", "parameters": {"type": "object"}}, {"name": "get_time"}])


CAPABLE = {"supportsFunctionCalling": True, "supportsResponseSchema": True}


def open_chat_presenter(home: Path) -> AbstractAsyncContextManager[ChatPresenterHarness]:
    """A chat whose models take schemas and functions."""
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


def compared_rows(harness: ChatPresenterHarness) -> list[tuple[MessageRow, ...]]:
    told: list[tuple[MessageRow, ...]] = []
    assert harness.presenter.conversation is not None
    harness.presenter.conversation.comparison_changed.connect(told.append)
    return told


# -- side by side -----------------------------------------------------------------------------------------------------


async def test_several_models_answer_at_once_each_on_disk_and_one_is_kept(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        gates = [asyncio.Event(), asyncio.Event()]
        harness.fake.answers = [held(gates[0], "One", " more"), held(gates[1], "Two", " more")]
        told = compared_rows(harness)
        harness.presenter.compare("Which?", ("plain", "other"))
        await until(lambda: bool(told) and len(harness.fake.requests) == 2)
        answers = harness.presenter.answers
        rows = [row.id for row in told[0]]
        await until(lambda: all((live := answers.live_of(row)) is not None and live.text for row in rows))
        assert [request["model"] for request in harness.fake.requests] == ["plain", "other"]
        gates[1].set()
        await until(lambda: answers.live_of(rows[1]) is None)
        assert answers.live_of(rows[0]) is not None  # each ends by itself
        gates[0].set()
        await harness.tasks.idle()
        stored = {each.id: each for each in await harness.history.messages(harness.presenter.opened.chat_id or "")}
        assert [stored[row].content for row in rows] == ["One more", "Two more"]
        assert all(stored[row].cost_usd is not None for row in rows)
        assert harness.rows[-1].text == "One more"
        harness.presenter.message_actions.act(rows[1], "keep")
        await harness.tasks.idle()
        assert not told[-1]
        assert (harness.rows[-1].text, harness.rows[-1].place, harness.rows[-1].places) == ("Two more", 2, 2)
        assert harness.presenter.opened.model_id == "other"
        harness.fake.answers = [whole("Next")]
        await harness.say("And then?")
        assert [each["content"] for each in harness.fake.requests[-1]["messages"]] == [
            "Which?",
            "Two more",
            "And then?",
        ]


async def test_one_of_several_is_stopped_alone_and_all_together(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        gate = asyncio.Event()
        harness.fake.answers = [held(gate, "A"), held(gate, "B"), held(gate, "C")]
        told = compared_rows(harness)
        harness.presenter.compare("Which?", ("plain", "other", "plain"))
        answers = harness.presenter.answers
        await until(lambda: bool(told))
        rows = [row.id for row in told[0]]
        await until(lambda: all((live := answers.live_of(row)) is not None and live.text for row in rows))
        harness.presenter.message_actions.act(rows[1], "stop-row")
        await until(lambda: answers.live_of(rows[1]) is None)
        assert answers.live_of(rows[0]) is not None and answers.live_of(rows[2]) is not None
        harness.presenter.stop()
        await harness.tasks.idle()
        states = {each.id: (each.state, each.content) for each in await harness.history.messages(_chat(harness))}
        assert [states[row] for row in rows] == [("stopped", "A"), ("stopped", "B"), ("stopped", "C")]


async def test_the_last_question_is_asked_again_beside_what_was_answered(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Which?")
        told = compared_rows(harness)
        harness.presenter.compare("", ("plain", "other"))
        await harness.tasks.idle()
        assert len(told[0]) == 2
        assert harness.rows[-1].places == 3
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.show_comparison(harness.rows[-1].id)
        assert len(told[-1]) == 3
        harness.presenter.new_chat()
        await harness.tasks.idle()
        assert not told[-1]


def _chat(harness: ChatPresenterHarness) -> str:
    return harness.presenter.opened.chat_id or ""


# -- functions --------------------------------------------------------------------------------------------------------


async def test_calls_are_shown_answered_by_hand_and_sent_back_as_they_came_r_chat_16(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        named = (("c1", "get_weather", '{"city": "Oslo"}'), ("c2", "get_time", "{}"))
        harness.fake.answers = [calls(*named), whole("It is cold.")]
        await harness.say("Weather and time?")
        assert [tool["function"]["name"] for tool in harness.fake.requests[0]["tools"]] == ["get_weather", "get_time"]
        assert harness.fake.requests[0]["tool_choice"] == "auto"
        row = harness.rows[-1]
        assert row.problem is None
        assert [(call.name, call.arguments, call.answered) for call in row.calls] == [
            ("get_weather", '{"city": "Oslo"}', False),
            ("get_time", "{}", False),
        ]
        harness.presenter.answer_calls(row.id, {"c1": "2 degrees", "c2": "noon"})
        await harness.tasks.idle()
        sent = harness.fake.requests[1]["messages"]
        assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool"]
        assert sent[1]["content"] is None
        assert [each["id"] for each in sent[1]["tool_calls"]] == ["c1", "c2"]
        assert [(each["tool_call_id"], each["content"]) for each in sent[2:]] == [("c1", "2 degrees"), ("c2", "noon")]
        assert [row.role for row in harness.rows] == ["user", "assistant", "tool", "tool", "assistant"]
        assert all(call.answered for call in harness.rows[1].calls)
        assert harness.rows[-1].text == "It is cold."


async def test_answering_again_makes_a_branch_and_what_was_answered_stays(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        harness.fake.answers = [calls(("c1", "get_time", "{}")), whole("Noon."), whole("Night.")]
        await harness.say("Time?")
        asked: list[str] = []
        harness.presenter.calls_requested.connect(asked.append)
        harness.presenter.answer_calls(harness.rows[1].id, {"c1": "12"})
        await harness.tasks.idle()
        harness.presenter.message_actions.act(harness.rows[2].id, "edit")
        assert asked == [harness.rows[1].id]
        assert harness.presenter.conversation is not None
        assert harness.presenter.conversation.calls_of(asked[0]) == (("c1", "get_time", "{}", "12"),)
        harness.presenter.answer_calls(asked[0], {"c1": "24"})
        await harness.tasks.idle()
        assert [row.text for row in harness.rows[2:]] == ["24", "Night."]
        assert harness.rows[2].places == 2
        harness.presenter.message_actions.act(harness.rows[2].id, "previous")
        await harness.tasks.idle()
        assert [row.text for row in harness.rows[2:]] == ["12", "Noon."]


async def test_calls_that_nobody_answered_do_not_go_back(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        harness.fake.answers = [calls(("c1", "get_time", "{}")), whole("Fine.")]
        await harness.say("Time?")
        await harness.say("Never mind.")
        assert [each["role"] for each in harness.fake.requests[1]["messages"]] == ["user", "user"]


async def test_calls_survive_a_restart_and_an_export(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        harness.fake.answers = [calls(("c1", "get_time", '{"zone": "x"}'))]
        await harness.say("Time?")
    async with open_chat_presenter(tmp_home) as harness:
        assert [call.arguments for call in harness.rows[-1].calls] == ['{"zone": "x"}']
        assert harness.presenter.opened.structure.use_functions


# -- answers in a schema ----------------------------------------------------------------------------------------------

SCHEMA = json.dumps({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


async def test_an_answer_in_a_schema_is_asked_for_checked_and_shown_as_one(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        structure = Structure(use_schema=True, schema=SCHEMA)
        harness.presenter.set_structure(structure)
        harness.fake.answers = [whole('{"city": ', '"Oslo"}'), whole("{}"), whole("No.")]
        await harness.say("Where?")
        assert harness.fake.requests[0]["response_format"]["type"] == "json_schema"
        assert (harness.rows[-1].structured, harness.rows[-1].schema_violation) == (True, "")
        await harness.say("And?")
        assert harness.rows[-1].schema_violation == "$.city is missing"
        await harness.say("What?")
        assert harness.rows[-1].structured
        harness.presenter.set_structure(structure._replace(use_schema=False))
        await harness.say("Plain?")
        assert not harness.rows[-1].structured
        assert "response_format" not in harness.fake.requests[-1]


async def test_a_model_that_takes_no_schema_and_no_functions_is_sent_none(tmp_home: Path) -> None:
    async with open_any_desk(tmp_home) as harness:
        both = Structure(use_schema=True, schema=SCHEMA, use_functions=True, functions=FUNCTIONS)
        harness.presenter.set_structure(both)
        await harness.say("Where?")
        assert not {"response_format", "tools", "tool_choice"} & set(harness.fake.requests[0])


async def test_a_wrong_schema_keeps_the_message_in_the_box(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_structure(Structure(use_schema=True, schema="{"))
        await harness.say("Where?")
        assert harness.fake.requests == []
        assert harness.presenter.head().why_not == "The answer schema is incomplete."


# -- editing, trash, search -------------------------------------------------------------------------------------------


async def test_an_answer_put_in_other_words_is_a_branch_and_asks_nobody(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.fake.answers = [whole("As given.")]
        await harness.say("Which?")
        harness.presenter.set_draft("half a thought")
        harness.presenter.message_actions.act(harness.rows[-1].id, "edit-answer")
        assert harness.told["draft_replaced"][-1] == ("As given.",)
        harness.presenter.set_draft("As I want it.")
        await harness.say("As I want it.")
        assert (harness.rows[-1].text, harness.rows[-1].places) == ("As I want it.", 2)
        assert len(harness.fake.requests) == 1
        assert harness.told["draft_replaced"][-1] == ("half a thought",)


async def test_the_trash_is_listed_restored_from_and_emptied(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        told: list[tuple[TrashEntry, ...]] = []
        harness.presenter.trash.changed.connect(told.append)
        ids = []
        for text in ("One", "Two", "Three"):
            await harness.say(text)
            ids.append(_chat(harness))
            harness.presenter.move_to_trash((ids[-1],))
            await harness.tasks.idle()
        assert [entry.title for entry in told[-1]] == ["Three", "Two", "One"]
        assert told[-1][0].second_line.startswith("2 messages · ")
        harness.presenter.trash.restore((ids[0],))
        await harness.tasks.idle()
        assert _chat(harness) == ids[0]
        harness.presenter.trash.delete((ids[1],))
        await harness.tasks.idle()
        assert [entry.id for entry in told[-1]] == [ids[2]]
        harness.presenter.trash.empty()
        await harness.tasks.idle()
        assert told[-1] == ()
        assert not harness.undo_stack.can_undo("chat")
        assert [chat.id for chat in await harness.history.chats()] == [ids[0]]


async def test_a_found_message_is_opened_on_its_own_branch(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.fake.answers = [whole("The heron waits."), whole("The egret waits."), whole("Else")]
        await harness.say("Which bird?")
        first = harness.rows[-1].id
        harness.presenter.message_actions.retry_last()
        await harness.tasks.idle()
        chat_id = _chat(harness)
        harness.presenter.new_chat()
        await harness.tasks.idle()
        await harness.say("Something else")
        found: list[tuple[str, tuple[Hit, ...]]] = []
        wanted: list[tuple[str, str]] = []
        harness.presenter.hits_found.connect(lambda text, hits: found.append((text, hits)))
        harness.presenter.row_requested.connect(lambda row, text: wanted.append((row, text)))
        harness.presenter.search("HERON")
        await harness.tasks.idle()
        text, hits = found[-1]
        assert (text, [hit.message_id for hit in hits]) == ("HERON", [first])
        (start, end), *_ = hits[0].marks
        assert hits[0].text[start:end] == "heron"
        harness.presenter.open_hit(chat_id, first, "HERON")
        await harness.tasks.idle()
        assert harness.rows[-1].id == first
        assert wanted == [(first, "HERON")]


async def test_a_copy_has_every_branch_and_a_branch_only_its_own(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.fake.answers = [whole("First"), whole("Second")]
        await harness.say("Q")
        first = harness.rows[-1].id
        harness.presenter.message_actions.retry_last()
        await harness.tasks.idle()
        original = _chat(harness)
        harness.presenter.duplicate(original)
        await harness.tasks.idle()
        assert harness.presenter.opened.title == "Q (copy)"
        assert harness.rows[-1].places == 2
        harness.presenter.open_chat(original)
        await harness.tasks.idle()
        harness.presenter.branch_off(first)
        await harness.tasks.idle()
        assert harness.presenter.opened.title == "Q (branch)"
        assert [row.text for row in harness.rows] == ["Q", "First"]
        assert harness.rows[-1].places == 1


async def test_a_refused_comparison_is_explained_in_its_own_column(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        refusal = httpx.Response(400, json={"error": "no"})
        harness.fake.answers = [whole("Fine"), refusal]
        told = compared_rows(harness)
        harness.presenter.compare("Which?", ("plain", "other"))
        await harness.tasks.idle()
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.show_comparison(told[0][0].id)
        assert [row.state for row in told[-1]] == ["complete", "failed"]
        assert told[-1][1].problem is not None
        harness.fake.answers = [whole("Now it works")]
        harness.presenter.message_actions.act(told[-1][1].id, "retry")
        await harness.tasks.idle()
        assert harness.fake.requests[-1]["model"] == "other"
        stored = await harness.history.message(told[-1][1].id)
        assert (stored.state, stored.content) == ("complete", "Now it works")

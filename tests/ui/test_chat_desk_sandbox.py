"""Columns, schemas, function calls, search and files against the real Sandbox over its real socket."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

from app.sandbox.server import RunningSandbox
from app.ui.characters.presenter import CharactersPresenter
from app.ui.chat.session.export import JSON, ExportForm
from app.ui.chat.session.structured_output import Structure
from app.ui.chat.state import Hit
from tests.kit.chat import SandboxChatPresenterHarness, open_sandbox_chat_presenter
from tests.ui.test_chat_sandbox import sandbox

__all__ = ["sandbox"]  # a fixture
WEATHER = json.dumps(
    {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city", "days"],
        },
    }
)
REPORT = json.dumps(
    {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "steps": {"type": "array", "items": {"type": "string"}}},
        "required": ["answer", "steps"],
        "additionalProperties": False,
    }
)


def model_that(tab: SandboxChatPresenterHarness, capability: str) -> str:
    models = tab.presenter.account_models.models()
    return next(model.id for model in models if getattr(model.capabilities, capability) and not model.offline)


async def test_three_models_answer_one_question_and_the_cheapest_is_kept(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        models = [model.id for model in tab.presenter.account_models.models() if not model.offline][:3]
        told: list[tuple[object, ...]] = []
        assert tab.presenter.conversation is not None
        tab.presenter.conversation.comparison_changed.connect(told.append)
        tab.presenter.compare("Where does Rialto keep my API key?", tuple(models))
        await tab.tasks.idle()
        thread = tab.presenter.opened.thread
        answers = [each for each in thread.all() if each.role == "assistant"]
        assert [each.model for each in answers] == models
        assert all(each.state == "complete" and each.cost_usd is not None and each.usage for each in answers)
        assert all(each.usage["duration_s"] > 0 and each.usage["completion"] > 0 for each in answers)
        cheapest = min(answers, key=lambda each: each.cost_usd or 0)
        tab.presenter.message_actions.act(cheapest.id, "keep")
        await tab.tasks.idle()
        assert not told[-1]
        row = await tab.say("And where is my history?")
        assert row.state == "complete"
        assert thread.get(thread.path(row.id)[-3].id) is cheapest


async def test_an_answer_in_a_schema_fits_it(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        tab.presenter.use_model(model_that(tab, "supports_response_schema"))
        tab.presenter.set_structure(Structure(use_schema=True, schema=REPORT))
        row = await tab.say("How do I run Rialto from source?")
        assert (row.state, row.structured, row.schema_violation) == ("complete", True, "")
        assert set(json.loads(row.text)) == {"answer", "steps"}


async def test_a_function_is_asked_for_answered_by_hand_and_told_back(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        tab.presenter.use_model(model_that(tab, "supports_function_calling"))
        tab.presenter.set_structure(Structure(use_functions=True, functions=WEATHER))
        row = await tab.say("What is the weather in Oslo for 3 days?")
        (call,) = row.calls
        assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Oslo", "days": 3})
        assert row.problem is None
        tab.presenter.answer_calls(row.id, {call.id: "4 degrees and rain"})
        await tab.tasks.idle()
        assert "4 degrees and rain" in tab.rows[-1].text
        assert [each.role for each in tab.rows] == ["user", "assistant", "tool", "assistant"]


async def test_what_was_answered_is_found_exported_and_taken_back(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        row = await tab.say("Where does Rialto keep my API key?")
        chat_id = tab.presenter.opened.chat_id or ""
        found: list[tuple[str, tuple[Hit, ...]]] = []
        tab.presenter.hits_found.connect(lambda text, hits: found.append((text, hits)))
        tab.presenter.search("keyring")
        await tab.tasks.idle()
        assert row.id in [hit.message_id for hit in found[-1][1]]
        path = tmp_home / "chat.json"
        tab.presenter.transfers.export(chat_id, path, ExportForm(JSON))
        await tab.tasks.idle()
        tab.presenter.transfers.import_files((path,))
        await tab.tasks.idle()
        assert tab.presenter.opened.chat_id != chat_id
        assert [each.text for each in tab.rows] == ["Where does Rialto keep my API key?", row.text]
        assert [each.sources for each in tab.rows] == [(), row.sources]


async def test_reviews_of_a_character_are_read_page_by_page(tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat_presenter(tmp_home, sandbox) as tab:
        presenter = CharactersPresenter(tab.presenter.current_account, tab.presenter._settings, tab.tasks, debounce_s=0)
        presenter.open()
        await tab.tasks.idle()
        assert presenter.state.rows
        presenter.load_reviews()
        await tab.tasks.idle()
        reviews = presenter.state.reviews
        assert reviews.slug == presenter.state.selected
        assert bool(reviews.rows) != bool(reviews.note)
        assert all(1 <= row.rating <= 5 for row in reviews.rows)


async def test_the_sandbox_checks_what_we_send(tmp_home: Path, sandbox: RunningSandbox) -> None:
    """A schema that names no schema is refused there too, so that the check here is not the only one."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {sandbox.api_key}"}, timeout=60) as http:
        body = {
            "model": "rialto-handbook",
            "messages": [{"role": "user", "content": "x"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "x"}},
        }
        answer = await http.post(f"{sandbox.base_url}/chat/completions", json=body)
    assert answer.status_code == 400

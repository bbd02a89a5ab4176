"""The chat presenter on the real storage and the real service layer, with a stub socket at the far end."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from app.storage.chat_rows import Message
from app.storage.chat_store import ChatStore
from app.ui.chat import presenter as presenter_of_chat
from app.ui.chat.inspector.totals_page import TotalsPage
from app.ui.chat.presenter import ChatPresenter
from app.ui.chat.session import conversation
from app.ui.chat.session.answer_queue import AnswerQueue, Job
from app.ui.chat.session.estimate import count_messages
from app.ui.chat.session.totals import totals_of
from app.ui.chat.state import CharacterHead, ChatHead
from app.ui.conversation.rows import MessageRow
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from tests.kit.chat import (
    ACCOUNT,
    DONE,
    SANDBOX,
    USAGE,
    ChatPresenterHarness,
    FakeService,
    cut,
    held,
    open_chat_presenter,
    sse,
    text_chunk,
    whole,
)
from tests.kit.waiting import entered, until


@pytest.fixture
def fake() -> FakeService:
    return FakeService()


async def test_a_message_and_an_empty_answer_are_on_disk_before_either_is_shown(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        on_disk_when_shown: list[int] = []
        assert harness.presenter.conversation is not None

        async def count() -> None:
            on_disk_when_shown.append(len(await harness.history.messages(harness.presenter.opened.chat_id or "")))

        harness.presenter.conversation.rows_appended.connect(
            lambda rows: harness.tasks.start_unless_running("count", count)
        )
        await harness.say("Hello there")
        assert on_disk_when_shown == [2]
        stored = await harness.history.messages(harness.presenter.opened.chat_id or "")
        assert [(message.role, message.content, message.state) for message in stored] == [
            ("user", "Hello there", "complete"),
            ("assistant", "Hello.", "complete"),
        ]


async def test_the_answer_carries_its_receipt_and_the_chat_its_title(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("## Backoff for upload 429s\nand more")
        runs = [run.text for run in harness.rows[-1].receipt]
        assert runs[:3] == ["$0.0007", "in 812 (512 cached)", "out 164"]
        assert any(run.startswith("first token") for run in runs)
        (entry,) = harness.told["entries_changed"][-1][0]
        assert (entry.title, entry.second_line, entry.cost) == ("Backoff for upload 429s", "Plain", "$0.0007")
        assert harness.told["draft_replaced"][-1] == ("",)


async def test_in_the_sandbox_a_receipt_says_play_money(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home, account=SANDBOX) as harness:
        await harness.say("Hi")
        assert harness.rows[-1].receipt[0].text == "$0.0007, play money"
        assert harness.told["totals_changed"]
        assert harness.presenter.totals().is_play


async def test_stop_keeps_what_came_and_closes_the_connection(tmp_home: Path, fake: FakeService) -> None:
    gate = asyncio.Event()
    fake.answers = [held(gate, "Half of it")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Tell me")
        await until(lambda: harness.rows[-1:] != () and harness.text_of(-1) != "")
        assert harness.told["head_changed"][-1][0].writing
        harness.presenter.stop()
        await harness.tasks.idle()
        assert (harness.rows[-1].state, harness.rows[-1].text) == ("stopped", "Half of it")
        assert fake.closed == 1
        assert not harness.told["head_changed"][-1][0].writing
    async with open_chat_presenter(tmp_home) as again:
        assert (again.rows[-1].state, again.rows[-1].text) == ("stopped", "Half of it")


async def test_sending_tells_of_the_open_chat_once_and_of_cost_and_list_in_other_turns(
    tmp_home: Path, fake: FakeService
) -> None:
    gate = asyncio.Event()
    fake.answers = [held(gate, "Half of it")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        turns: list[set[str]] = [set()]
        loop = asyncio.get_running_loop()
        loop.call_soon(turn := lambda: (turns.append(set()), loop.call_soon(turn)))
        presenter = harness.presenter
        signals = {"head": presenter.head_changed, "list": presenter.entries_changed, "cost": presenter.cost_changed}
        for name, told in signals.items():
            told.connect(lambda *_, name=name: turns[-1].add(name))
        harness.presenter.send("Tell me")
        await until(lambda: harness.rows[-1:] != () and harness.text_of(-1) != "")
        await until(lambda: any("list" in told for told in turns) and not harness.tasks.running("publish chat"))
        assert sum("head" in told for told in turns) == 1
        assert all(len(told) <= 1 for told in turns)
        gate.set()
        await harness.tasks.idle()


async def test_a_chat_that_is_opened_shows_its_head_once_and_the_list_only_when_it_changes(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        presenter = harness.presenter
        await harness.say("First")
        first = presenter.opened.chat_id
        presenter.new_chat()
        await harness.say("Second")
        second = presenter.opened.chat_id
        assert first is not None and second is not None
        heads, lists = harness.told["head_changed"], harness.told["entries_changed"]
        heads.clear()
        lists.clear()
        presenter.open_chat(first)
        await harness.tasks.idle()
        assert (len(heads), len(lists)) == (1, 0), "nothing was typed"
        presenter.set_draft("not sent")
        presenter.open_chat(second)
        await harness.tasks.idle()
        assert {entry.id: entry.has_draft for entry in lists[-1][0]} == {first: True, second: False}


async def test_a_chat_that_is_opened_on_another_day_has_the_headings_of_the_list_follow(
    tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + timedelta(days=1)

    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("First")
        lists = harness.told["entries_changed"]
        assert [entry.group for entry in lists[-1][0]] == ["Today"]
        monkeypatch.setattr(presenter_of_chat, "datetime", Tomorrow)
        harness.presenter.new_chat()
        await harness.tasks.idle()
        assert [entry.group for entry in lists[-1][0]] == ["Yesterday"]


async def test_a_copy_of_a_chat_is_in_the_list(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Hi")
        assert harness.presenter.opened.chat_id is not None
        harness.presenter.duplicate(harness.presenter.opened.chat_id)
        await harness.tasks.idle()
        shown = {entry.id for entry in harness.told["entries_changed"][-1][0]}
        assert len(shown) == 2 and harness.presenter.opened.chat_id in shown


async def test_a_cut_stream_is_interrupted_and_continues_in_the_same_row(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [cut("Each client picks a random point inside the"), whole("point inside the window.")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Why jitter?")
        row = harness.rows[-1]
        assert (row.state, row.problem) == ("interrupted", None)
        assert row.state_text.endswith("tokens saved, $0.0001.") or "saved" in row.state_text
        harness.presenter.message_actions.act(row.id, "continue")
        await harness.tasks.idle()
        assert harness.rows[-1].id == row.id
        assert harness.rows[-1].state == "complete"
        assert harness.rows[-1].text == "Each client picks a random point inside the window."
        sent = fake.requests[-1]["messages"]
        assert [message["role"] for message in sent] == ["user", "assistant", "user"]
        assert "Continue" in sent[-1]["content"]


async def test_start_over_after_a_cut_makes_a_branch_and_arrows_walk_between(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [cut("First half"), whole("Second answer")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Why?")
        first = harness.rows[-1]
        harness.presenter.message_actions.act(first.id, "start-over")
        await harness.tasks.idle()
        second = harness.rows[-1]
        assert (second.text, second.place, second.places) == ("Second answer", 2, 2)
        harness.presenter.message_actions.act(second.id, "previous")
        await harness.tasks.idle()
        assert (harness.rows[-1].id, harness.rows[-1].text, harness.rows[-1].place) == (first.id, "First half", 1)
    async with open_chat_presenter(tmp_home) as again:
        assert again.text_of(-1) == "First half", "the chosen branch is remembered"


async def test_editing_an_earlier_turn_branches_and_loses_nothing(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [whole("A1"), whole("A2"), whole("B1")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Q1")
        await harness.say("Q2")
        harness.presenter.set_draft("half a thought")
        harness.presenter.message_actions.act(harness.rows[0].id, "edit")
        assert harness.told["draft_replaced"][-1] == ("Q1",)
        assert harness.presenter.cancel_edit()
        assert harness.told["draft_replaced"][-1] == ("half a thought",)
        harness.presenter.message_actions.act(harness.rows[0].id, "edit")
        await harness.say("Q1, put better")
        assert [row.text for row in harness.rows] == ["Q1, put better", "B1"]
        assert (harness.rows[0].place, harness.rows[0].places) == (2, 2)
        harness.presenter.message_actions.act(harness.rows[0].id, "previous")
        await harness.tasks.idle()
        assert [row.text for row in harness.rows] == ["Q1", "A1", "Q2", "A2"]


async def test_a_half_edited_turn_and_the_draft_beside_it_survive_a_change_of_chats_and_a_kill(
    tmp_home: Path, fake: FakeService
) -> None:
    fake.answers = [whole("A1"), whole("A2")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Q1")
        chat_id = harness.presenter.opened.chat_id or ""
        harness.presenter.set_draft("half a thought")
        harness.presenter.message_actions.act(harness.rows[0].id, "edit")
        harness.presenter.set_draft("Q1, put much b")
        harness.presenter.new_chat()
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        opened = harness.presenter.opened
        assert (opened.editing, opened.draft, opened.set_aside) == (
            harness.rows[0].id,
            "Q1, put much b",
            "half a thought",
        )
        assert harness.told["draft_replaced"][-1] == ("Q1, put much b",)
        harness.presenter.set_draft("Q1, put much better")
        while (stored := await harness.history.chat(chat_id)).edit_text != "Q1, put much better":
            await asyncio.sleep(0)  # from now on a kill takes nothing away
        assert (stored.draft, stored.edited_id) == ("half a thought", harness.rows[0].id)
    async with open_chat_presenter(tmp_home, fake=fake) as again:
        opened = again.presenter.opened
        assert (opened.editing, opened.draft) == (again.rows[0].id, "Q1, put much better")
        await again.say(opened.draft)
        assert again.text_of(0) == "Q1, put much better"
        assert again.told["draft_replaced"][-1] == ("half a thought",), "the draft is back when the turn was sent"
    async with open_chat_presenter(tmp_home, fake=fake) as at_last:
        assert (at_last.presenter.opened.editing, at_last.presenter.opened.draft) == (None, "half a thought")


async def test_an_edit_given_up_before_the_disk_had_it_leaves_no_draft_behind(
    tmp_home: Path, fake: FakeService
) -> None:
    fake.answers = [whole("A1"), whole("A2")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Q1")
        presenter, chat_id = harness.presenter, harness.presenter.opened.chat_id or ""
        presenter.set_draft("an old thought")
        presenter.message_actions.act(harness.rows[0].id, "edit")
        presenter.set_draft("Q1, put")
        await presenter.drafts.keep()
        presenter.cancel_edit()
        presenter.set_draft("Q2")
        opened = presenter.opened
        left = opened.kept_draft()
        opened.open(await harness.history.chat(chat_id), await harness.history.messages(chat_id))  # with the edit in it
        opened.take_draft(left)
        await harness.say("Q2")
        assert harness.told["draft_replaced"][-1] == ("",)
        assert (await harness.history.chat(chat_id)).draft == ""


async def test_an_edit_that_was_given_up_does_not_come_back(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [whole("A1")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Q1")
        harness.presenter.message_actions.act(harness.rows[0].id, "edit")
        harness.presenter.set_draft("Q2")
        assert harness.presenter.cancel_edit()
    async with open_chat_presenter(tmp_home, fake=fake) as again:
        assert (again.presenter.opened.editing, again.presenter.opened.draft) == (None, "")


async def test_what_the_model_ignores_is_not_sent(tmp_home: Path, fake: FakeService) -> None:
    fake.models[0]["model_spec"]["capabilities"] = {"supportsWebSearch": False, "supportsReasoning": False}
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.set_option("web_search", "on")
        harness.presenter.set_option("thinking", False)
        harness.presenter.set_option("social_posts", True)
        await harness.say("Hi")
        assert "service_parameters" not in fake.requests[-1]
        controls = harness.told["head_changed"][-1][0].controls
        assert not controls.web_search.usable
        assert controls.web_search.why == "Plain cannot search the web."


async def test_options_reach_the_wire_and_survive_a_restart(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        for name, value in {
            "web_search": "auto",
            "thinking": False,
            "service_prompt": False,
            "system_prompt": "Be brief.",
            "temperature": 0.7,
            "top_p": 0.9,
            "reply_limit": 2048,
        }.items():
            harness.presenter.set_option(name, value)
        await harness.say("Hi")
        sent = fake.requests[-1]
        assert sent["service_parameters"] == {
            "disable_thinking": True,
            "enable_web_search": "auto",
            "enable_web_citations": True,
            "include_search_results_in_stream": True,
            "include_venice_system_prompt": False,
        }
        assert (sent["temperature"], sent["top_p"], sent["max_completion_tokens"]) == (0.7, 0.9, 2048)
        assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
        assert sent["prompt_cache_key"] == harness.presenter.opened.chat_id
    async with open_chat_presenter(tmp_home) as again:
        options = again.presenter.opened.options
        assert (options.web_search, options.thinking, options.reply_limit) == ("auto", False, 2048)


async def test_a_random_id_goes_with_chats_only_while_it_is_switched_on(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        harness.settings.remember(anon_user_id="a" * 32)
        await harness.say("Hi again")
        assert [sent.get("anon_user_id") for sent in fake.requests[-2:]] == [None, "a" * 32]


async def test_a_draft_is_kept_per_chat_after_a_pause_and_across_restarts(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("First chat")
        first = harness.presenter.opened.chat_id
        harness.presenter.set_draft("not sent yet")
        harness.presenter.new_chat()
        await harness.tasks.idle()
        assert harness.told["draft_replaced"][-1] == ("",)
        harness.presenter.set_draft("a second idea")
        harness.presenter.drafts.timer.timeout.emit()
        await harness.tasks.idle()
        assert (await harness.history.chat(harness.presenter.opened.chat_id or "")).draft == "a second idea"
        harness.presenter.open_chat(first or "")
        await harness.tasks.idle()
        assert harness.told["draft_replaced"][-1] == ("not sent yet",)
    async with open_chat_presenter(tmp_home) as again:
        assert again.presenter.opened.draft == "not sent yet"


async def test_a_chat_that_nothing_was_said_in_leaves_no_trace(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.set_draft("x")
        harness.presenter.drafts.timer.timeout.emit()
        await harness.tasks.idle()
        assert len(await harness.history.chats()) == 1
        harness.presenter.set_draft("")
        harness.presenter.new_chat()
        await harness.tasks.idle()
        assert await harness.history.chats() == ()


async def test_text_typed_before_the_history_is_open_stays_in_the_box(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("An old chat")
    async with open_chat_presenter(tmp_home, with_models=False) as again:
        assert again.presenter.opened.title == "An old chat"


async def test_trash_can_be_undone(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Keep me")
        chat_id = harness.presenter.opened.chat_id or ""
        harness.presenter.move_to_trash((chat_id,))
        await harness.tasks.idle()
        assert len(harness.told["entries_changed"][-1][0]) == 0
        assert harness.rows == ()
        harness.undo_stack.undo_last("chat")
        await harness.tasks.idle()
        assert [row.text for row in harness.rows] == ["Keep me", "Hello."]
        assert len(harness.told["entries_changed"][-1][0]) == 1


async def test_the_trash_is_there_as_soon_as_the_chats_are(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Throw me away")
        harness.presenter.move_to_trash((harness.presenter.opened.chat_id or "",))
        await harness.tasks.idle()
        later = ChatPresenter(harness.current_account, harness.settings, harness.tasks, harness.undo_stack)
        later.started.connect(later.trash.show)
        await later.start(harness.history)
        await harness.tasks.idle()
        assert [entry.title for entry in later.trash.entries] == ["Throw me away"]
        await later.aclose()


async def test_two_chats_are_written_at_once(tmp_home: Path, fake: FakeService) -> None:
    gates = asyncio.Event(), asyncio.Event()
    fake.answers = [held(gates[0], "one ", "done"), held(gates[1], "two ", "done")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("First")
        await until(lambda: len(fake.requests) == 1)
        harness.presenter.new_chat()
        await until(lambda: harness.presenter.opened.chat_id is None)
        harness.presenter.send("Second")
        await until(lambda: len(fake.requests) == 2)
        await until(lambda: [entry.writing for entry in harness.told["entries_changed"][-1][0]] == [True, True])
        for gate in gates:
            gate.set()
        await harness.tasks.idle()
        assert harness.text_of(-1) == "two done"
        other = next(entry for entry in harness.told["entries_changed"][-1][0] if entry.title == "First")
        harness.presenter.open_chat(other.id)
        await harness.tasks.idle()
        assert harness.text_of(-1) == "one done"


async def test_a_growing_answer_is_on_disk_before_it_ends(tmp_home: Path, fake: FakeService) -> None:
    gate = asyncio.Event()
    fake.answers = [held(gate, "So far", " and on")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Go")
        await until(lambda: harness.presenter.opened.chat_id is not None and len(harness.rows) == 2)
        async with asyncio.timeout(60):
            while not (stored := await harness.history.messages(harness.presenter.opened.chat_id or ""))[-1].content:
                pass
        assert (stored[-1].content, stored[-1].state) == ("So far", "streaming")
        gate.set()
        await harness.tasks.idle()


async def test_closing_the_program_mid_answer_leaves_it_interrupted(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [held(asyncio.Event(), "Half")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Go")
        await until(
            lambda: harness.presenter.opened.chat_id is not None and harness.rows[-1:] and harness.text_of(-1) != ""
        )
    async with open_chat_presenter(tmp_home) as again:
        assert (again.rows[-1].state, again.rows[-1].text) == ("interrupted", "Half")


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set while the end of an answer is on its way to the disk."""
    return entered(monkeypatch, ChatStore, "finish_message")


async def test_an_answer_that_ends_while_the_program_closes_is_complete(
    tmp_home: Path, fake: FakeService, ending: asyncio.Event
) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Go")
        await ending.wait()
    async with open_chat_presenter(tmp_home) as again:
        assert (again.rows[-1].state, again.rows[-1].text) == ("complete", "Hello.")


async def test_who_presses_stop_twice_stops_once_and_can_send_again(
    tmp_home: Path, fake: FakeService, ending: asyncio.Event
) -> None:
    fake.answers = [held(asyncio.Event(), "Half"), whole("Whole")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Go")
        await until(lambda: bool(harness.rows) and harness.text_of(-1) == "Half")
        harness.presenter.stop()
        await ending.wait()
        harness.presenter.stop()
        await harness.tasks.idle()
        assert (await harness.history.messages(harness.presenter.opened.chat_id or ""))[-1].state == "stopped"
        await harness.say("Again")
        assert harness.text_of(-1) == "Whole"


async def test_an_answer_that_is_stopped_before_its_first_step_leaves_the_chat_free(
    tmp_home: Path, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = AnswerQueue.begin

    def begin_and_stop(answers: AnswerQueue, job: Job, **more: Any) -> bool:
        begun = begin(answers, job, **more)
        answers.stop(job.chat_id)
        return begun

    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        with monkeypatch.context() as patch:
            patch.setattr(AnswerQueue, "begin", begin_and_stop)
            await harness.say("Go")
        assert harness.rows[-1].state == "stopped"
        await harness.say("Again")
        assert harness.text_of(-1) == "Hello."
    assert len(fake.requests) == 1


async def test_the_request_page_shows_the_call_also_after_a_restart(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        assert harness.presenter.conversation is not None
        views: list = []
        harness.presenter.conversation.request_changed.connect(views.append)
        harness.presenter.set_option("system_prompt", "Be brief.")
        await harness.say("Q1")
        await harness.say("Q2")
        assert views[-1].record.path == "/chat/completions"
        live_body = views[-1].record.body
        assert dict(views[-1].call.headers)["cf-ray"] == "ray-1"
    async with open_chat_presenter(tmp_home) as again:
        assert again.presenter.conversation is not None
        later: list = []
        again.presenter.conversation.request_changed.connect(later.append)
        again.presenter.show_request()
        await again.tasks.idle()
        assert later[-1].record.body == live_body
        assert list(later[-1].record.body) == list(live_body)
        assert dict(later[-1].call.headers)["cf-ray"] == "ray-1"


async def test_the_cap_before_sending_is_an_upper_bound_and_learns(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.set_draft("Hello")
        before = harness.told["cost_changed"][-1][0]
        assert before.text.startswith("up to $")
        assert before.text.startswith("up to $")
        await harness.say("Hello")
        assert harness.presenter.opened.counter.is_tried("plain")


async def test_duplicate_copies_the_branch_but_not_its_cost(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Original")
        original = harness.presenter.opened.chat_id or ""
        harness.presenter.duplicate(original)
        await harness.tasks.idle()
        assert harness.presenter.opened.chat_id != original
        assert [row.text for row in harness.rows] == ["Original", "Hello."]
        entries = {entry.title: entry.cost for entry in harness.told["entries_changed"][-1][0]}
        assert entries == {"Original": "$0.0007", "Original (copy)": ""}


async def test_a_character_goes_along_with_its_slug_and_its_model(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.new_chat(CharacterHead("marlow", "Marlow", "Reviews code", 4.7, 312, "other"))
        await harness.tasks.idle()
        await harness.say("Hi")
        assert fake.requests[-1]["service_parameters"]["character_slug"] == "marlow"
        assert fake.requests[-1]["model"] == "other"
    async with open_chat_presenter(tmp_home) as again:
        assert again.presenter.opened.character == CharacterHead("marlow", "Marlow", "Reviews code", 4.7, 312, "other")


async def test_reasoning_is_timed_and_kept_apart(tmp_home: Path, fake: FakeService) -> None:
    async def pieces():
        yield sse(text_chunk("", reasoning_content="Let me see. "))
        yield sse(text_chunk("The answer."))
        yield sse(USAGE) + DONE

    fake.answers = [pieces]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Think")
        row = harness.rows[-1]
        assert (row.text, row.reasoning) == ("The answer.", "Let me see. ")
        assert row.reasoning_s is not None


async def test_the_list_works_with_no_network_and_models_come_from_the_disk(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("Hi")
    async with open_chat_presenter(tmp_home, with_models=False) as offline:
        shown = offline.presenter.account_models.list_for("plain")
        assert [row.name for row in shown.rows] == ["Other", "Plain"]
        assert shown.saved_note.startswith("Saved")
        assert offline.presenter.head().model_name == "Plain"


async def add_long_chat(harness: ChatPresenterHarness) -> str:
    """Store a chat of 1,001 messages, m0 to m1000, and return its id."""
    chat = await harness.history.create_chat(title="Long", model="plain")
    rows, parent = [], None
    for number in range(1_001):
        role = "assistant" if number % 2 else "user"
        rows.append((f"m{number}", chat.id, parent, role, f"text {number}", number))
        parent = f"m{number}"
    async with harness.database.transaction() as transaction:
        columns = "id, chat_id, parent_id, role, content, created_at"
        await transaction.execute_many(f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)
        await transaction.execute(
            "UPDATE chats SET head_id = ?, message_count = ? WHERE id = ?", [parent, len(rows), chat.id]
        )
    return chat.id


async def test_a_long_chat_is_shown_from_its_end_and_then_whole(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        assert harness.presenter.conversation is not None
        shown: list[int] = []
        ready: list[bool] = []
        harness.presenter.conversation.rows_reset.connect(lambda rows: shown.append(len(rows)))
        harness.presenter.conversation.rows_reset.connect(lambda rows: ready.append(harness.presenter.head().can_send))
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert shown == [40, 1_001]
        assert ready == [False, True], "nothing is sent while only the end is known"
        assert harness.rows[0].text == "text 0"
        looked_through = sum(type(each) is Message for each in gc.get_objects())
        assert looked_through < 500, "a collection would hold the window"
        await harness.say("One more")
        assert len(harness.fake.requests[-1]["messages"]) == 1_002


async def test_a_report_on_a_long_chat_is_compared_with_all_of_it(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        texts = [f"text {number}" for number in range(999)]
        async with harness.database.transaction() as transaction:
            usage = json.dumps({"prompt": count_messages(texts), "estimated": False})
            await transaction.execute("UPDATE messages SET model = 'plain', usage = ? WHERE id = 'm999'", [usage])
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        counter = harness.presenter.opened.counter
        assert counter.is_tried("plain")
        assert counter.corrected("plain", 1_000) == 1_000
        assert harness.presenter.opened.branch_tokens() == count_messages([row.text for row in harness.rows])


async def test_a_long_chat_can_be_sent_to_before_all_of_it_is_shown(
    tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "ROWS_AT_ONCE", 1)  # so that the answer is there first
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        shown: list[str] = []
        sent: list[int] = []

        def send(head: ChatHead) -> None:
            if head.chat_id == chat_id and head.can_send and not sent:
                sent.append(len(shown))
                harness.presenter.send("Meanwhile")

        assert harness.presenter.conversation is not None
        harness.presenter.conversation.rows_reset.connect(lambda rows: shown.__setitem__(slice(None), ids(rows)))
        harness.presenter.conversation.rows_appended.connect(lambda rows: shown.extend(ids(rows)))
        harness.presenter.head_changed.connect(send)
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert sent == [40]
        assert shown == ids(harness.rows)
        assert len(shown) == 1_003


def ids(rows: Iterable[MessageRow]) -> list[str]:
    return [row.id for row in rows]


async def test_a_hit_in_a_long_chat_that_is_still_opening_is_gone_to_once_it_is_there(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        gone_to: list[str] = []
        harness.presenter.row_requested.connect(lambda message_id, _text: gone_to.append(message_id))
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.rows_reset.connect(
            lambda rows: harness.presenter.open_hit(chat_id, "m5", "text") if len(rows) == 40 else None
        )
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert gone_to == ["m5"]
        assert harness.presenter.head().can_send


async def test_a_chat_chosen_while_the_last_one_is_read_at_the_start_is_shown(
    tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        await harness.say("The first")
        chosen = harness.presenter.opened.chat_id
        assert chosen is not None
        harness.presenter.new_chat()
        await harness.say("The last")
    start = ChatPresenter.start

    async def start_and_choose(self: ChatPresenter, *args: Any) -> None:
        self.started.connect(lambda: self.open_chat(chosen))
        await start(self, *args)

    monkeypatch.setattr(ChatPresenter, "start", start_and_choose)
    async with open_chat_presenter(tmp_home) as again:
        assert again.presenter.opened.chat_id == chosen


async def test_a_long_chat_goes_on_opening_when_a_hit_in_one_that_is_gone_is_chosen(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.rows_reset.connect(
            lambda rows: harness.presenter.open_hit("gone", "m5", "text") if len(rows) == 40 else None
        )
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert len(harness.rows) == 1_001
        assert harness.presenter.head().can_send


async def test_a_hit_that_is_chosen_while_the_rows_are_made_leaves_none_of_them_out(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat_id = await add_long_chat(harness)
        gone_to: list[int] = []

        def choose(head: ChatHead) -> None:
            if head.chat_id == chat_id and head.can_send and not gone_to:
                gone_to.append(0)
                harness.presenter.open_hit(chat_id, "m5", "text")

        harness.presenter.row_requested.connect(lambda *_: gone_to.append(len(shown)))
        shown: list[str] = []
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.rows_reset.connect(lambda rows: shown.__setitem__(slice(None), ids(rows)))
        harness.presenter.head_changed.connect(choose)
        harness.presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert gone_to == [0, 1_001]


async def test_a_chat_begun_while_the_list_is_read_is_in_it(tmp_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        library = harness.presenter.library
        assert library is not None
        await harness.say("Hello there")
        first = harness.presenter.opened.chat_id
        harness.presenter.new_chat()
        read = harness.history.chats

        async def read_slowly() -> Any:
            found = await read()
            await harness.say("In the meantime")
            return found

        monkeypatch.setattr(harness.history, "chats", read_slowly)
        await library.load()
        second = harness.presenter.opened.chat_id
        assert second not in (None, first) and {first, second} <= {chat.id for chat in library.recent("", 9)}


async def test_a_chat_thrown_away_while_the_list_is_read_is_not_in_it(
    tmp_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        library = harness.presenter.library
        assert library is not None
        await harness.say("Hello there")
        read = harness.history.chats

        async def read_slowly(**kinds: Any) -> Any:
            found = await read(**kinds)
            if not kinds:
                harness.presenter.move_to_trash((harness.presenter.opened.chat_id or "",))
                await harness.tasks.idle()
            return found

        monkeypatch.setattr(harness.history, "chats", read_slowly)
        await library.load()
        assert not library.recent("", 9)


async def test_a_chat_is_continued_with_another_account_only_after_a_word(tmp_home: Path, fake: FakeService) -> None:
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hello")
        presenter, first = harness.presenter, harness.current_account.account
        sent = len(fake.requests)
        other = ACCOUNT._replace(id="other", name="Play wallet")
        harness.current_account.use(other, harness.current_account.service)
        head = presenter.head()
        assert head.problem is not None
        assert [action.text for action in head.problem.actions] == ["Continue with Play wallet"]
        assert not head.can_send
        presenter.send("More")
        presenter.message_actions.retry_last()
        await harness.tasks.idle()
        assert len(fake.requests) == sent
        presenter.continue_here()
        await harness.tasks.idle()
        assert presenter.head().problem is None and presenter.head().can_send
        await harness.say("More")
        assert len(fake.requests) == sent + 1
        chat_id = presenter.opened.chat_id
        presenter.new_chat()
        assert presenter.head().problem is None
        presenter.open_chat(chat_id)
        await harness.tasks.idle()
        assert presenter.head().problem is None  # it was asked once
        assert first is not None
        harness.current_account.use(first, harness.current_account.service)
        assert presenter.head().problem is not None


def test_play_money_and_real_money_are_never_added() -> None:
    def answer(cost: str, *, sandbox: bool) -> Message:
        usage = {"prompt": 10, "completion": 5, "sandbox": sandbox}
        return Message("m", "c", None, "assistant", model="plain", usage=usage, cost_usd=Decimal(cost))

    mixed = totals_of([answer("0.2", sandbox=True), answer("0.03", sandbox=False)], str, False)
    assert mixed.total is not None
    assert mixed.play is not None
    assert (mixed.total.cost_usd, mixed.play.cost_usd) == (Decimal("0.03"), Decimal("0.2"))
    assert mixed.total.prompt_tokens == 20
    assert [row.label for row in mixed.rows] == ["plain (play money)", "plain"]
    play = totals_of([answer("0.2", sandbox=True)], str, False)
    assert play.total is not None
    assert (play.total.cost_usd, play.play, play.is_play) == (Decimal("0.2"), None, True)


@pytest.mark.parametrize(
    ("uncertain", "words"),
    [
        ({"cost_source": "possible"}, "up to $0.50"),
        ({"cost_source": "estimated"}, "about $0.50"),
        ({"estimated": True}, "about $0.50"),
        ({"cost_source": "stated"}, "$0.50"),
    ],
)
@pytest.mark.parametrize("is_play", [True, False])
def test_each_kind_of_money_is_as_uncertain_as_its_own_parts(
    theme: Theme, uncertain: dict[str, object], words: str, is_play: bool
) -> None:
    """An uncertain cost in play money says so, and does not make real money uncertain; nor the other way round."""

    def answer(cost: str, sandbox: bool, **usage: object) -> Message:
        usage = {"prompt": 10, "completion": 5, "sandbox": sandbox, "cost_source": "stated"} | usage
        return Message("m", "c", None, "assistant", model="plain", usage=usage, cost_usd=Decimal(cost))

    answers = [answer("0.4", is_play), answer("0.1", is_play, **uncertain), answer("0.03", not is_play)]
    page = TotalsPage(theme)
    page.show_totals(totals_of(answers, str, False))
    shown = ("$0.03", f"Plus {words} in play money.") if is_play else (words, "Plus $0.03 in play money.")
    labels = [label.text() for label in page.findChildren(Label)]
    assert shown[0] in labels
    assert any(text.startswith(shown[1]) for text in labels)


async def test_a_chat_of_both_kinds_of_money_shows_each_for_itself_in_the_list(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as harness:
        chat = await harness.history.create_chat()
        for cost, sandbox in (("0.2", True), ("0.03", False)):
            message = await harness.history.add_message(chat.id, "assistant", "Hi")
            usage = {"sandbox": sandbox}
            await harness.history.finish_message(message.id, state="complete", usage=usage, cost_usd=Decimal(cost))
    async with open_chat_presenter(tmp_home) as again:
        again.presenter.publish_list()
        entries = again.told["entries_changed"][-1][0]
        assert [entry.cost for entry in entries] == ["$0.03 and $0.20 play money"]

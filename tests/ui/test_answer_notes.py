"""Answers that were declined, marked, cut at a limit, or never came: said plainly, with buttons that do something."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.problems import describe
from app.credentials.accounts import Account
from app.service import errors
from app.service.chat_chunks import ChatReader
from app.service.chat_types import Finished, ModelNamed, ModelRefused, TextDelta
from app.ui.chat.session.answer_notes import for_chat
from app.ui.chat.session.message_actions import MessageActions
from tests.kit.chat import DONE, USAGE, FakeService, open_chat_presenter, sse, text_chunk, whole

WALLET = Account(id="w", name="Wallet", base_url="http://service.test/v1", kind="wallet")


def every(kind: type[errors.ServiceError]) -> Iterator[type[errors.ServiceError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from every(below)


def ending(reason: str, *texts: str, **delta: Any) -> Any:
    """An answer that ends for a reason of its own."""

    async def pieces() -> Any:
        for text in texts:
            yield sse(text_chunk(text, **delta))
        last = text_chunk("")
        last["choices"][0]["finish_reason"] = reason
        yield sse(last) + sse(USAGE) + DONE

    return pieces


def test_a_refusal_is_read_as_words_and_told_apart() -> None:
    reader = ChatReader(())
    chunk = text_chunk("", refusal="I will not ")
    more = text_chunk("", refusal="say that.")
    events = reader.read([sse(each)[6:-2] for each in (chunk, more)])
    assert [type(event) for event in events] == [ModelNamed, ModelRefused, TextDelta]
    assert events[-1] == TextDelta("I will not say that.")
    whole_answer = {"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    events = ChatReader(()).read_whole(whole_answer)
    assert events == (ModelRefused(), TextDelta("No."), Finished("stop"))


async def test_a_refusal_is_spoken_plainly_also_after_a_restart(tmp_home: Path) -> None:
    fake = FakeService(answers=[ending("stop", "", refusal="I will not say that.")])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Say it")
        assert harness.rows[-1].text == "I will not say that."
        assert harness.rows[-1].problem.what == "The model declined to answer"
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        assert harness.rows[-1].problem.what == "The model declined to answer"


async def test_content_rules_are_named_from_the_headers(tmp_home: Path) -> None:
    headers = {"content-type": "application/json", "x-service-is-adult-model-content-violation": "true"}
    body = {"model": "plain", "choices": [{"message": {"content": "Half of it"}, "finish_reason": "stop"}]}
    fake = FakeService(answers=[httpx.Response(200, headers=headers, json=body)])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Write it")
        problem = harness.rows[-1].problem
        assert problem.what == "The service marked this answer"
        assert problem.meaning == "The service says this model does not allow adult content."
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        assert harness.rows[-1].problem.what == "The service marked this answer"


@pytest.mark.parametrize(("texts", "what"), [(("Half",), "ended this answer"), ((), "do not allow this")])
async def test_a_filtered_answer_says_whether_anything_came(tmp_home: Path, texts: tuple[str, ...], what: str) -> None:
    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[ending("content_filter", *texts)])) as harness:
        await harness.say("Write it")
        assert harness.rows[-1].problem.what == f"The service’s content rules {what}"


async def test_an_answer_at_its_length_limit_goes_on_with_continue(tmp_home: Path) -> None:
    fake = FakeService(answers=[ending("length", "One, two,"), whole(" three.")])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Count")
        problem = harness.rows[-1].problem
        assert (problem.what, problem.severity) == ("The answer reached its length limit", "quiet")
        harness.presenter.message_actions.act(harness.rows[-1].id, problem.primary.id)
        await harness.tasks.idle()
        assert harness.rows[-1].text == "One, two, three."
        assert harness.rows[-1].problem is None


async def test_proposed_words_are_put_into_the_box_and_not_sent(tmp_home: Path) -> None:
    body = {"error": "The prompt was refused", "suggested_prompt": "Say it kindly"}
    fake = FakeService(answers=[httpx.Response(422, json=body)])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Say it")
        problem = harness.rows[-1].problem
        assert problem.primary.id == "use-suggestion"
        harness.presenter.message_actions.act(harness.rows[-1].id, problem.primary.id)
        assert harness.told["draft_replaced"][-1] == ("Say it kindly",)
        assert harness.presenter.opened.editing == harness.rows[0].id
        assert len(fake.requests) == 1


@pytest.mark.parametrize(("account", "wanted"), [(None, "switch-account"), (WALLET, "top-up")])
async def test_an_empty_balance_offers_a_way_that_exists(tmp_home: Path, account: Account | None, wanted: str) -> None:
    fake = FakeService(answers=[httpx.Response(402, json={"error": "Insufficient balance"})])
    options: dict[str, Any] = {"account": account} if account is not None else {}
    async with open_chat_presenter(tmp_home, fake=fake, **options) as harness:
        await harness.say("Hello")
        asked: list[str] = []
        harness.presenter.help_requested.connect(asked.append)
        problem = harness.rows[-1].problem
        assert problem.primary.id == wanted
        harness.presenter.message_actions.act(harness.rows[-1].id, problem.primary.id)
        assert asked == [wanted]


# What the window carries out (`carry_out` of the remedies), and what the page does itself.
ELSEWHERE = {
    "replace-key",
    "switch-account",
    "sandbox",
    "sandbox-settings",
    "connection",
    "top-up",
    "check-balance",
    "about",
    "key-limit",
    "limits:",  # and what the limit is for: "day", "call", "tab speech"
}
IN_THE_PAGE = {"choose-model"}


@pytest.mark.parametrize("kind", [*every(errors.ServiceError)], ids=lambda kind: kind.__name__)
def test_every_button_of_every_error_has_somebody_who_carries_it_out(kind: type[errors.ServiceError]) -> None:
    variants = [kind("Words")]
    if kind is errors.ContentRefused:
        for name, value in (("suggested_prompt", "other"), ("recommended_model", "m")):
            variants.append(kind("Words"))
            setattr(variants[-1], name, value)
    if kind is errors.Conflict:
        variants.append(kind("Words"))
        variants[-1].consent = {"policy_text": "…"}  # type: ignore[attr-defined]  # it is a Conflict
    import inspect

    source = inspect.getsource(MessageActions.act)
    for error in variants:
        for action in for_chat(describe(error)).actions:
            here = f'"{action.id}"' in source or action.id.startswith("use-model:") or action.id == "use-suggestion"
            known = action.id in ELSEWHERE | IN_THE_PAGE or action.id.startswith("limits:")
            assert here or known, f"nobody does {action.id} of {kind.__name__}"


def test_the_window_knows_every_action_that_is_left_to_it() -> None:
    import inspect

    from app.bootstrap.error_actions import carry_out

    source = inspect.getsource(carry_out)
    assert [action for action in ELSEWHERE if f'"{action}"' not in source] == []


CAPACITY = {"message": "The model is at capacity", "type": "overloaded"}


@pytest.mark.parametrize("event", [{"error": CAPACITY}, {"error": "The model is at capacity"}, CAPACITY])
async def test_an_error_in_the_middle_of_an_answer_is_read_out_now_and_after_a_restart(
    tmp_home: Path, event: object
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield sse(text_chunk("It begins"))
        yield b"event: error\n" + sse(event)

    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[pieces])) as harness:
        await harness.say("Hi")
        row = harness.rows[-1]
        assert (row.state, row.text) == ("interrupted", "It begins")
        assert row.state_text.startswith("The model is at capacity. ")
        assert "saved" in row.state_text
    async with open_chat_presenter(tmp_home) as harness:
        harness.presenter.open_chat(harness.told["entries_changed"][-1][0][0].id)
        await harness.tasks.idle()
        assert harness.rows[-1].state_text.startswith("The model is at capacity. ")


async def test_an_error_before_the_first_word_is_a_card_with_its_words(tmp_home: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"event: error\n" + sse(CAPACITY)

    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[pieces])) as harness:
        await harness.say("Hi")
        problem = harness.rows[-1].problem
        assert (problem.what, problem.meaning) == ("The model is overloaded", "The model is at capacity.")


BLOCKED = {"type": "content_filter_error", "code": "content_blocked_by_provider", "message": "The provider stopped it"}


@pytest.mark.parametrize(
    ("begun", "what"),
    [
        ("It begins", "The service’s content rules ended this answer"),
        ("", "The service’s content rules do not allow this"),
    ],
)
async def test_an_answer_stopped_for_its_content_never_offers_to_try_again_also_after_a_restart(
    tmp_home: Path, begun: str, what: str
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        if begun:
            yield sse(text_chunk(begun))
        yield sse({"error": BLOCKED}) + DONE

    fake = FakeService(answers=[pieces])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        row = harness.rows[-1]
        assert row.text == begun and row.state != "interrupted"
        assert row.problem.what == what
        assert row.problem.meaning.startswith("The provider stopped it.")
        assert [action.id for action in row.problem.actions] == ["edit", "choose-model"]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.open_chat(harness.told["entries_changed"][-1][0][0].id)
        await harness.tasks.idle()
        row = harness.rows[-1]
        assert (row.problem.what, row.text) == (what, begun)
        assert row.problem.meaning.startswith("The provider stopped it.")
        assert [action.id for action in row.problem.actions] == ["edit", "choose-model"]


async def test_an_answer_that_ends_in_error_without_a_reason_says_so(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[ending("error", "Half of")])) as harness:
        await harness.say("Hi")
        assert harness.rows[-1].problem.what == "The service stopped with an error"


@pytest.mark.parametrize("reason", ["banana", 7])
async def test_an_answer_that_ended_for_an_unknown_reason_says_so(tmp_home: Path, reason: object) -> None:
    fake = FakeService(answers=[ending(reason, "Half of it")])  # type: ignore[arg-type]  # what a service may send
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Go on")
        problem = harness.rows[-1].problem
        assert problem.what == "The answer ended for a reason that Rialto does not know"
        assert f"“{reason}”" in problem.meaning
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        assert harness.rows[-1].problem.what == "The answer ended for a reason that Rialto does not know"

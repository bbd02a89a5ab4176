"""What the chat presenter says and does when a message is refused, unpaid, limited or waits."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from tests.kit.chat import ChatPresenterHarness, FakeService, open_chat_presenter, whole
from tests.kit.waiting import until


@pytest.fixture
def fake() -> FakeService:
    return FakeService()


async def test_a_refused_key_is_explained_at_the_answer_and_tried_again_in_place(
    tmp_home: Path, fake: FakeService
) -> None:
    fake.answers = [httpx.Response(401, json={"error": "Authentication failed"}), whole("Now it works")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        row = harness.rows[-1]
        assert row.state == "failed"
        assert row.problem is not None
        assert row.problem.what == "The service did not accept your API key"
        harness.presenter.message_actions.act(row.id, "retry")
        await harness.tasks.idle()
        assert (harness.rows[-1].id, harness.rows[-1].text, harness.rows[-1].problem) == (row.id, "Now it works", None)
    async with open_chat_presenter(tmp_home) as again:
        assert again.text_of(-1) == "Now it works"


async def test_a_failure_is_still_explained_after_a_restart(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [httpx.Response(401, json={"error": "Authentication failed"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
    async with open_chat_presenter(tmp_home) as again:
        assert again.rows[-1].problem is not None
        assert again.rows[-1].problem.what == "The service did not accept your API key"


async def test_an_unpaid_message_is_sent_when_there_is_balance(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [httpx.Response(402, json={"error": "Insufficient balance"}), whole("Paid")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.current_account.set_numbers(balance=Decimal("0.0011"))
        await harness.say("Hi")
        assert harness.rows[-1].state == "failed"
        harness.current_account.set_numbers(balance=Decimal("5.0011"))
        await harness.tasks.idle()
        assert harness.text_of(-1) == "Paid"


@pytest.fixture
async def unpaid(tmp_home: Path, fake: FakeService) -> AsyncIterator[ChatPresenterHarness]:
    """A chat whose message was refused for lack of balance."""
    fake.answers = [httpx.Response(402, json={"error": "Insufficient balance"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.current_account.set_numbers(balance=Decimal("0.001"))
        await harness.say("Hi")
        yield harness


async def said_after_a_top_up(harness: ChatPresenterHarness) -> list[str]:
    """What is asked from now on, when there is balance again."""
    before = len(harness.fake.requests)
    for balance in ("5", "4.99"):
        harness.current_account.set_numbers(balance=Decimal(balance))
        await harness.tasks.idle()
    return [request["messages"][-1]["content"] for request in harness.fake.requests[before:]]


async def test_of_an_unpaid_message_that_was_edited_the_new_wording_alone_is_sent(
    unpaid: ChatPresenterHarness,
) -> None:
    unpaid.fake.answers = [httpx.Response(402, json={"error": "Insufficient balance"})]
    unpaid.presenter.recall()
    await unpaid.say("In other words")
    assert await said_after_a_top_up(unpaid) == ["In other words"]


async def test_an_unpaid_message_that_was_edited_and_answered_is_not_sent(unpaid: ChatPresenterHarness) -> None:
    unpaid.presenter.recall()
    await unpaid.say("In other words")
    assert unpaid.rows[-1].state == "complete"
    assert await said_after_a_top_up(unpaid) == []


async def test_an_unpaid_message_that_is_deleted_is_not_sent(unpaid: ChatPresenterHarness) -> None:
    unpaid.presenter.message_actions.act(unpaid.rows[0].id, "delete")
    await unpaid.tasks.idle()
    assert await said_after_a_top_up(unpaid) == []


async def test_an_unpaid_message_of_a_chat_in_the_trash_is_not_sent(unpaid: ChatPresenterHarness) -> None:
    unpaid.presenter.move_to_trash((unpaid.presenter.opened.chat_id,))
    await unpaid.tasks.idle()
    assert await said_after_a_top_up(unpaid) == []


async def test_an_unpaid_message_waits_for_the_balance_of_its_own_account(unpaid: ChatPresenterHarness) -> None:
    current, own = unpaid.current_account, unpaid.current_account.account
    current.use(own._replace(id="another"), current.service)
    assert await said_after_a_top_up(unpaid) == []
    current.use(own, current.service)
    assert await said_after_a_top_up(unpaid) == ["Hi"]


async def test_a_balance_that_was_old_when_the_question_was_refused_holds_nothing_back(
    tmp_home: Path, fake: FakeService
) -> None:
    fake.answers = [httpx.Response(402, json={"error": "Insufficient balance"}), whole("Paid")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.current_account.set_numbers(balance=Decimal("10"))  # spent since, elsewhere
        await harness.say("Hi")
        for seen in ("10", "0", "0"):
            harness.current_account.set_numbers(balance=Decimal(seen))
            await harness.tasks.idle()
        assert len(fake.answers) == 1, "nothing is sent for nothing"
        harness.current_account.set_numbers(balance=Decimal("5"))
        await harness.tasks.idle()
        assert harness.text_of(-1) == "Paid"


async def test_without_balance_a_cheaper_model_is_named_and_used(tmp_home: Path, fake: FakeService) -> None:
    fake.models[1]["model_spec"]["pricing"] = {"input": {"usd": 0.01}, "output": {"usd": 0.02}}
    fake.answers = [httpx.Response(402, json={"error": "Insufficient balance"}), whole("For less")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        row = harness.rows[-1]
        assert row.problem is not None
        assert row.problem.primary is not None
        assert row.problem.primary.id == "switch-account"  # no page of the window buys credits yet
        assert row.problem.alternative is not None
        assert row.problem.alternative.text.startswith("Use Other for up to $0.0000")
        harness.presenter.message_actions.act(row.id, row.problem.alternative.id)
        await harness.tasks.idle()
        assert harness.text_of(-1) == "For less"
        assert fake.requests[-1]["model"] == "other"


async def test_while_a_try_waits_the_row_says_so_without_a_caret(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [httpx.Response(503, json={"error": "busy"}, headers={"retry-after": "0.2"}), whole("At last")]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        states: list[tuple[str, str]] = []
        assert harness.presenter.conversation is not None
        harness.presenter.conversation.row_changed.connect(
            lambda row: states.append((row.state, row.problem.what if row.problem else ""))
        )
        await harness.say("Hi")
        assert states[0] == ("failed", "The service is busy")
        assert ("streaming", "") in states
        assert (harness.rows[-1].state, harness.text_of(-1)) == ("complete", "At last")


async def test_a_long_limit_counts_down_and_can_be_called_off(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": "200"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        harness.presenter.send("Hi")
        await until(lambda: bool(harness.presenter.answers.waits))
        row = harness.rows[-1]
        assert row.problem is not None
        assert row.problem.countdown_until is not None
        assert harness.told["head_changed"][-1][0].writing, "Stop is offered while it waits"
        await until(lambda: harness.told["entries_changed"][-1][0][0].second_line.startswith("Waiting until "))
        entry = harness.told["entries_changed"][-1][0][0]
        assert entry.work.startswith("An answer in “") and ", waiting until " in entry.work
        assert re.fullmatch(r"Waiting 3:[12]\d", entry.counting_line(datetime.now(UTC)))
        assert entry.counting_line(entry.waits_until).endswith("writing…")
        harness.presenter.message_actions.act(row.id, "dismiss")
        await harness.tasks.idle()
        assert harness.rows[-1].problem.countdown_until is None
        assert not harness.presenter.answers.writing()


async def test_a_limited_message_is_not_sent_to_another_account(
    tmp_home: Path, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("retry", "client"):
        monkeypatch.setattr(f"app.service.{module}.MAX_RESET_WAIT_S", 0.01)
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": "0.1"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        current = harness.current_account
        another = current.account._replace(id="another")
        harness.presenter.answers.ended.connect(lambda _stored: current.use(another, current.service))
        await harness.say("Hi")
        assert len(fake.requests) == 1
        assert "Nothing is sent automatically" in harness.rows[-1].problem.meaning


@dataclass
class AwayService(FakeService):
    """Cannot be connected to while `is_away`."""

    is_away: bool = True

    def handle(self, request: httpx.Request) -> httpx.Response:
        if self.is_away and not request.url.path.endswith("/models"):
            raise httpx.ConnectError("Network is unreachable", request=request)
        return super().handle(request)


@pytest.fixture
async def offline(tmp_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ChatPresenterHarness]:
    """A chat whose message could not be delivered, and was asked to be sent when the service is back."""
    monkeypatch.setattr("app.service.retry.BASE_WAIT_S", 0.0)
    async with open_chat_presenter(tmp_home, fake=AwayService()) as harness:
        await harness.say("Hi")
        harness.current_account.set_reach("network")
        row = harness.rows[-1]
        assert row.problem is not None
        assert [action.text for action in row.problem.actions] == ["Send when available", "Try again"]
        harness.presenter.message_actions.act(row.id, "send-when-back")
        assert [action.text for action in harness.rows[-1].problem.actions] == ["Do not send"]
        assert "will be sent when the service can be reached" in harness.rows[-1].problem.meaning
        harness.fake.is_away = False
        yield harness


async def test_an_undelivered_message_is_sent_when_the_service_is_back(offline: ChatPresenterHarness) -> None:
    await offline.tasks.idle()
    assert offline.fake.requests == [], "not before"
    entry = offline.presenter.every_entry()[0]
    assert entry.second_line == "Waiting for the service"
    assert entry.work.endswith("”, waiting for the service")
    offline.current_account.set_reach("")
    await offline.tasks.idle()
    assert (offline.text_of(-1), len(offline.fake.requests)) == ("Hello.", 1)
    assert not offline.presenter.answers.writing()


async def test_an_undelivered_message_can_be_called_off(offline: ChatPresenterHarness) -> None:
    offline.presenter.message_actions.act(offline.rows[-1].id, "dismiss")
    assert [action.text for action in offline.rows[-1].problem.actions] == ["Try again"]
    offline.current_account.set_reach("")
    await offline.tasks.idle()
    assert offline.fake.requests == []


async def test_an_undelivered_message_is_not_sent_to_another_account(offline: ChatPresenterHarness) -> None:
    current = offline.current_account
    current.use(current.account._replace(id="another"), current.service)
    await offline.tasks.idle()
    assert offline.fake.requests == []
    assert "Nothing is sent automatically" in offline.rows[-1].problem.meaning


async def test_of_an_undelivered_message_that_was_edited_the_new_wording_alone_is_sent(
    offline: ChatPresenterHarness,
) -> None:
    offline.presenter.recall()
    await offline.say("In other words")
    offline.current_account.set_reach("")
    await offline.tasks.idle()
    assert [request["messages"][-1]["content"] for request in offline.fake.requests] == ["In other words"]


async def test_an_undelivered_message_that_is_deleted_is_not_sent(offline: ChatPresenterHarness) -> None:
    offline.presenter.message_actions.act(offline.rows[-1].id, "delete")
    await offline.tasks.idle()
    offline.current_account.set_reach("")
    await offline.tasks.idle()
    assert offline.fake.requests == []


async def test_a_limit_until_tomorrow_asks_and_is_not_waited_for(tmp_home: Path, fake: FakeService) -> None:
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": "26400"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        problem = harness.rows[-1].problem
        assert problem is not None
        assert (problem.what, problem.countdown_until) == ("Limit reached", None)
        assert [action.id for action in problem.actions] == ["retry", "choose-model"]
        assert not harness.presenter.answers.writing()
        assert "waiting" not in harness.told["entries_changed"][-1][0][0].second_line


async def test_what_nobody_looks_at_is_sent_once_more_by_itself_and_then_asks(
    tmp_home: Path, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("retry", "client"):  # such a wait is no longer kept by the call itself
        monkeypatch.setattr(f"app.service.{module}.MAX_RESET_WAIT_S", 0.01)
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": "0.1"}) for _ in range(9)]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        problem = harness.rows[-1].problem
        assert len(fake.requests) == 2
        assert problem is not None
        assert (problem.what, problem.countdown_until) == ("Limit reached", None)
        assert not harness.presenter.answers.writing()


@pytest.mark.parametrize("wait", ["0", "Wed, 21 Oct 2015 07:28:00 GMT"])
async def test_a_limit_whose_reset_is_over_is_a_card_with_try_again(
    tmp_home: Path, fake: FakeService, monkeypatch: pytest.MonkeyPatch, wait: str
) -> None:
    """A clock a few seconds ahead of the service meets this."""
    monkeypatch.setattr("app.service.retry.BASE_WAIT_S", 0.0)
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": wait}) for _ in range(4)]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        problem = harness.rows[-1].problem
        assert problem is not None
        assert "retry" in [action.id for action in problem.actions]
        assert not harness.presenter.answers.waits
        assert "automatically" not in problem.meaning


async def test_a_very_short_limit_is_sent_again_although_its_answer_is_still_being_stored(
    tmp_home: Path, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("retry", "client"):
        monkeypatch.setattr(f"app.service.{module}.MAX_RESET_WAIT_S", 0.0)
    fake.answers = [httpx.Response(429, json={"error": "Rate limit"}, headers={"retry-after": "0.001"})]
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Hi")
        await until(lambda: harness.rows[-1].state == "complete")


@dataclass
class ModelessService(FakeService):
    """Refuses the list of models with `refusal`, until that is None."""

    refusal: httpx.Response | None = None

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models") and self.refusal is not None:
            return httpx.Response(self.refusal.status_code, content=self.refusal.content)
        return super().handle(request)


@pytest.mark.parametrize(
    ("refusal", "what"),
    [
        (httpx.Response(401, json={"error": "Authentication failed"}), "The service did not accept your API key"),
        (httpx.Response(500, json={"error": "boom"}), "The service failed"),
        (httpx.Response(200, text="<html>Hotel Wi-Fi</html>"), "The response could not be read"),
    ],
)
async def test_a_refused_list_of_models_shows_its_reason_and_a_way_out(
    tmp_home: Path, monkeypatch: pytest.MonkeyPatch, refusal: httpx.Response, what: str
) -> None:
    monkeypatch.setattr("app.service.retry.BASE_WAIT_S", 0.0)
    fake = ModelessService(refusal=refusal)
    async with open_chat_presenter(tmp_home, fake=fake, with_models=False) as harness:
        harness.presenter.refresh_models()
        await until(lambda: harness.presenter.account_models.problem is not None)
        head = harness.presenter.head()
        assert head.problem is not None
        assert head.problem.what == what
        assert head.problem.actions
        assert head.why_not == f"{what}."
        fake.refusal = None
        harness.presenter.refresh_models()
        await until(lambda: harness.presenter.head().problem is None)


async def test_an_endless_answer_is_stopped_and_kept(tmp_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.service.chat.MAX_ANSWER_CHARS", 1_000)
    fake = FakeService(answers=[whole(*["word " * 40] * 50)])
    async with open_chat_presenter(tmp_home, fake=fake) as harness:
        await harness.say("Go on for ever")
        row = harness.rows[-1]
        assert 1_000 <= len(row.text) < 3_000
        assert row.state == "interrupted"

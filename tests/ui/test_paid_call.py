"""A paid call ends in its intent as it ended in truth, whatever the way out."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.core.paid_call import end_of_call, paid_call
from app.service import errors
from app.service.exchange import Exchange, Outcome, RequestRecord
from app.storage.database import Database
from app.storage.errors import StorageUnavailable
from app.storage.paid_call_intents import Intent, Intents


@pytest.fixture
async def intents(tmp_path: Path) -> AsyncIterator[Intents]:
    database = await Database.open(tmp_path / "rialto.db")
    yield Intents(database)
    await database.close()


def with_exchange(error: errors.ServiceError, outcome: Outcome = "error") -> errors.ServiceError:
    request = RequestRecord("POST", "/audio/speech", "http://127.0.0.1:1/v1/audio/speech")
    error.exchange = Exchange("exchange-1", datetime.now(UTC), request, outcome=outcome)
    return error


async def end_with(intents: Intents, error: BaseException, *, sent: bool = True) -> Intent:
    with pytest.raises(type(error)):
        async with paid_call(intents, "speech", "a1", {"input": "Hello"}) as paid:
            if sent:
                await paid.sent()
            raise error
    return (await intents.recent("speech", 1))[0]


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (errors.LimitExceeded("Too long.", field="input", limit="4096"), "failed"),
        (errors.CallsPaused("Held."), "failed"),
        (errors.ConnectionFailed("Refused.", surely_not_sent=True), "failed"),
        (errors.ConnectionFailed("Broke."), "unknown"),
        (errors.TimedOut("No answer."), "unknown"),
        (errors.TimedOut("No connection.", surely_not_sent=True), "failed"),
        (errors.StreamCut("Cut.", status=200), "unknown"),
        (errors.BadResponse("Not JSON.", status=200), "unknown"),
        (errors.InBandError("Broken."), "unknown"),
        (errors.OutcomeUnknown("Nobody knows."), "unknown"),
        (errors.PaymentRequired("Too little.", status=402), "failed"),
        (errors.ContentRefused("No.", status=422), "failed"),
        (errors.RateLimited("Later.", status=429), "failed"),
        (errors.ServerFailed("Broken.", status=500), "failed"),
        (errors.ServerFailed("Gave up.", status=504), "unknown"),
        (errors.ServerFailed("Gave up.", status=502), "unknown"),
        (with_exchange(errors.ServerFailed("Broken.", status=500), "unknown"), "unknown"),  # it moves money
    ],
)
async def test_only_what_was_surely_not_carried_out_has_failed(
    error: errors.ServiceError, end: str, intents: Intents
) -> None:
    assert end_of_call(error) == end
    intent = await end_with(intents, error)
    assert (intent.state, intent.note) == (end, str(error))
    assert intent.exchange_id == (error.exchange.id if error.exchange else "")


async def test_a_call_that_was_answered_stays_answered_whatever_happens_after(intents: Intents) -> None:
    with pytest.raises(OSError, match="full"):
        async with paid_call(intents, "speech", "a1", {}) as paid:
            await paid.sent()
            await paid.answered("take-1", "exchange-1")
            raise OSError("full")
    (intent,) = await intents.recent("speech")
    assert (intent.state, intent.reference, intent.exchange_id) == ("answered", "take-1", "exchange-1")


async def test_leaving_before_sending_cancels_and_leaving_after_it_is_an_answer(intents: Intents) -> None:
    async with paid_call(intents, "speech", "a1", {}):
        pass
    async with paid_call(intents, "speech", "a1", {}) as paid:
        await paid.sent()
    assert [one.state for one in await intents.recent("speech")] == ["answered", "cancelled"]


async def test_a_refusal_before_sending_is_kept_with_its_reason(intents: Intents) -> None:
    intent = await end_with(intents, errors.LimitExceeded("Too long.", field="input"), sent=False)
    assert (intent.state, intent.note) == ("failed", "Too long.")


@pytest.mark.parametrize(("sent", "end"), [(False, "cancelled"), (True, "unknown")])
async def test_stopping_is_free_only_before_it_was_sent(sent: bool, end: str, intents: Intents) -> None:
    there = asyncio.Event()

    async def pay() -> None:
        async with paid_call(intents, "speech", "a1", {}) as paid:
            if sent:
                await paid.sent()
            there.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(pay())
    await there.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (intent,) = await intents.recent("speech")
    assert (intent.state, bool(intent.note)) == (end, True)


async def test_a_mistake_of_our_own_after_sending_leaves_the_end_unknown(intents: Intents) -> None:
    assert (await end_with(intents, KeyError("ours"))).state == "unknown"
    assert (await end_with(intents, KeyError("ours"), sent=False)).state == "cancelled"


async def test_what_cannot_be_noted_hides_no_error_and_is_unknown_after_the_next_start(
    intents: Intents, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> Intent:
        raise StorageUnavailable("The disk is full.")

    monkeypatch.setattr(intents, "failed", full)
    error = with_exchange(errors.PaymentRequired("Too little.", status=402))
    assert (await end_with(intents, error)).state == "sent"
    assert [one.state for one in await intents.settle_after_start()] == ["unknown"]


@pytest.mark.parametrize(
    ("step", "end"),
    [("sent", "failed"), ("answered", "answered"), ("unknown", "unknown")],
    ids=["sent", "answered", "unknown"],
)
async def test_a_cancel_while_a_state_is_written_leaves_the_true_one(
    step: str, end: str, intents: Intents, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, writing = getattr(intents, step), asyncio.Event()

    async def slow(*values: object, **more: object) -> Intent:
        writing.set()
        await asyncio.sleep(0)
        intent: Intent = await write(*values, **more)
        await asyncio.sleep(0)
        return intent

    monkeypatch.setattr(intents, step, slow)

    async def pay() -> None:
        async with paid_call(intents, "speech", "a1", {}) as paid:
            await paid.sent()
            if step == "unknown":
                raise errors.TimedOut("No answer.")
            await paid.answered("clip-1")

    task = asyncio.create_task(pay())
    await writing.wait()
    while not task.done():
        task.cancel()  # whoever closes the program while it is stopped
        await asyncio.sleep(0)
    (intent,) = await intents.recent("speech")
    assert intent.state == end

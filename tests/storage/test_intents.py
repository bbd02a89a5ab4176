"""Intents of paid calls: what may follow what, and what a killed program leaves behind."""

import asyncio
import itertools
from pathlib import Path
from typing import Any, get_args

import pytest

from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.paid_call_intents import Intent, Intents, IntentState, InvalidTransition
from tests.storage.conftest import Clock
from tests.storage.test_killed import run_and_kill

STATES = get_args(IntentState)


@pytest.fixture
def intents(database: Database) -> Intents:
    return Intents(database)


async def bring(intents: Intents, state: str, **given: Any) -> Intent:
    """An intent that is in `state` now."""
    intent = await intents.open("speech", "a1", {"input": "Hello"}, **given)
    if state in ("sent", "answered", "unknown"):
        intent = await intents.sent(intent.id)
    match state:
        case "answered":
            return await intents.answered(intent.id, "take-1", "exchange-1")
        case "unknown":
            return await intents.unknown(intent.id, "No answer.")
        case "failed":
            return await intents.failed(intent.id, "Refused.")
        case "cancelled":
            return await intents.cancel(intent.id)
    return intent


async def test_an_intent_comes_back_as_it_was_given(intents: Intents, clock: Clock) -> None:
    opened = await intents.open("video", "a1", {"model": "film", "seconds": 5, "tags": ["a"]}, "key-1")
    assert opened == Intent(
        id=opened.id,
        kind="video",
        account_id="a1",
        created_at=clock.time,
        changed_at=clock.time,
        request={"model": "film", "seconds": 5, "tags": ["a"]},
        idempotency_key="key-1",
    )
    clock.turn(seconds=3)
    await intents.sent(opened.id)
    answered = await intents.answered(opened.id, "job-7", "exchange-7")
    assert (answered.state, answered.reference, answered.exchange_id) == ("answered", "job-7", "exchange-7")
    assert answered.changed_at == clock.time != answered.created_at
    assert await intents.one(opened.id) == answered


async def test_a_caller_may_name_its_own_id(intents: Intents) -> None:
    assert (await intents.open("video", "a1", {}, id="job-row-1")).id == "job-row-1"


FOLLOWS = {
    ("intended", "sent"),
    ("intended", "failed"),
    ("intended", "cancelled"),
    ("sent", "answered"),
    ("sent", "failed"),
    ("sent", "unknown"),
    ("unknown", "answered"),
    ("unknown", "failed"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(STATES, STATES[1:])))
async def test_only_steps_that_make_sense_are_taken(before: str, after: str, intents: Intents) -> None:
    intent = await bring(intents, before)
    step = {"cancelled": intents.cancel}.get(after) or getattr(intents, after)
    if (before, after) in FOLLOWS:
        assert (await step(intent.id)).state == after
    else:
        with pytest.raises(InvalidTransition):
            await step(intent.id)
        assert await intents.one(intent.id) == intent


async def test_what_ended_unknown_is_sent_again_with_the_key_it_had_only(intents: Intents) -> None:
    keyed = await bring(intents, "unknown", idempotency_key="key-1")
    assert (await intents.sent(keyed.id)).state == "sent"
    with pytest.raises(InvalidTransition, match="pay twice"):
        await intents.sent((await bring(intents, "unknown")).id)


async def test_a_later_word_keeps_what_was_known_and_drops_the_old_note(intents: Intents) -> None:
    intent = await bring(intents, "unknown")
    assert intent.note == "No answer."
    found = await intents.answered(intent.id, "take-9")
    assert (found.note, found.reference) == ("", "take-9")


async def test_an_id_that_is_not_there_is_said_to_be_gone(intents: Intents) -> None:
    for step in (intents.one, intents.sent, intents.answered, intents.failed, intents.acknowledge):
        with pytest.raises(NotStored):
            await step("nobody")


async def test_pending_names_what_is_open_until_the_person_was_told(intents: Intents) -> None:
    for state in STATES:
        await bring(intents, state)
    await intents.open("video", "a1", {})
    assert [one.state for one in await intents.pending("speech")] == ["intended", "sent", "unknown"]
    (*_, unknown) = await intents.pending("speech")
    told = await intents.acknowledge(unknown.id)
    assert (told.state, told.told) == ("unknown", True)
    assert [one.state for one in await intents.pending("speech")] == ["intended", "sent"]
    assert [one.state for one in await intents.recent("speech", 2)] == ["unknown", "cancelled"]
    assert len(await intents.recent("speech")) == len(STATES)


async def test_whatever_may_have_been_carried_out_is_found_however_old_and_told(
    intents: Intents, database: Database
) -> None:
    sent, unknown, strange = await bring(intents, "sent"), await bring(intents, "unknown"), await bring(intents, "sent")
    await intents.acknowledge(unknown.id)
    await database.execute("UPDATE intents SET state = 'eaten' WHERE id = ?", [strange.id])
    await intents.open("video", "a1", {})
    for _ in range(60):
        await bring(intents, "cancelled")
    found = await intents.unsettled("speech")
    assert [one.id for one in found] == [strange.id, unknown.id, sent.id]
    assert [await intents.state_of(one.id) for one in found] == ["unknown", "unknown", "sent"]
    assert await intents.state_of("nobody") == "unknown"


async def test_a_start_settles_what_the_last_run_left_open(intents: Intents) -> None:
    made = {state: await bring(intents, state) for state in STATES}
    settled = await intents.settle_after_start()
    assert [(one.id, one.state) for one in settled] == [
        (made["intended"].id, "cancelled"),
        (made["sent"].id, "unknown"),
    ]
    assert all(one.note for one in settled)
    assert await intents.settle_after_start() == ()
    for state in ("answered", "failed", "cancelled", "unknown"):
        assert await intents.one(made[state].id) == made[state]


async def test_a_strange_row_costs_itself_alone(intents: Intents, database: Database) -> None:
    good, bad = await bring(intents, "sent"), await bring(intents, "sent")
    await database.execute("UPDATE intents SET state = 'eaten', request = '[]' WHERE id = ?", [bad.id])
    assert await intents.one(good.id) == good
    strange = await intents.one(bad.id)
    assert (strange.state, strange.request) == ("unknown", {})


async def test_many_at_once_stay_apart(intents: Intents) -> None:
    async def one(number: int) -> Intent:
        intent = await intents.open("speech", "a1", {"number": number})
        await intents.sent(intent.id)
        return await intents.answered(intent.id, f"take-{number}")

    done = await asyncio.gather(*map(one, range(20)))
    assert [one.reference for one in done] == [f"take-{one.request['number']}" for one in done]


@pytest.mark.parametrize("lines", [1, 2, 9])
async def test_a_killed_program_has_on_disk_what_it_began(lines: int, tmp_path: Path) -> None:
    path = tmp_path / "data" / "rialto.db"
    reported = run_and_kill("pay", path, lines)  # 3n: intended, 3n + 1: sent, 3n + 2: answered
    database = await Database.open(path)
    intents = Intents(database)
    before = {one.id: one for one in await intents.recent("speech", 1_000)}
    steps = sum(("intended", "sent", "answered").index(one.state) + 1 for one in before.values())
    assert steps >= reported + 1  # nothing that was said to be on disk is missing
    for settled in await intents.settle_after_start():
        was = before[settled.id].state
        assert (was, settled.state) in {("intended", "cancelled"), ("sent", "unknown")}
        assert settled.request == {"number": before[settled.id].request["number"]}
    assert {one.state for one in await intents.recent("speech", 1_000)} <= {"answered", "unknown", "cancelled"}
    await database.close()

"""Requests to nodes: on disk before they are sent, found again with their answers, counted against the caps."""

from datetime import timedelta
from decimal import Decimal

import pytest

from app.storage.database import Database
from app.storage.errors import NotStored
from app.storage.rpc_calls import ENDED_UNDER_WAY, MAX_KEPT_ANSWER_BYTES, Rounds, RpcCall, RpcCalls
from tests.storage.conftest import Clock

ITEMS = '[{"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": ["0xAbC", "latest"]}]'


@pytest.fixture
def calls(database: Database) -> RpcCalls:
    return RpcCalls(database)


async def begun(calls: RpcCalls, clock: Clock, **other: object) -> RpcCall:
    fields = {"at": clock(), "digest": "d1", "estimate_credits": 20, **other}
    return await calls.begin("account", "base-mainnet", ITEMS, **fields)  # type: ignore[arg-type]  # a test's shorthand


async def answer(calls: RpcCalls, call: RpcCall, **other: object) -> None:
    fields = {"status": 200, "credits": 25, "cost_usd": Decimal("0.0000175"), **other}
    await calls.answered(call.id, b'[{"id":1,"result":"0x1"}]', **fields)  # type: ignore[arg-type]  # the same


async def test_a_request_is_on_disk_before_it_is_sent(calls: RpcCalls, clock: Clock) -> None:
    call = await begun(calls, clock, idempotency_key="k", transactions={"1": "0xhash"}, batch=True)
    assert await calls.one(call.id) == call
    assert (call.state, call.key_ends_at) == ("open", clock() + timedelta(hours=24))
    assert await calls.body(call.id) is None


async def test_an_answer_comes_back_whole_with_its_exact_cost(calls: RpcCalls, clock: Clock) -> None:
    call = await begun(calls, clock)
    await answer(calls, call, errors=1, request_id="r", headers={"X-Request-ID": "r"}, duration_s=0.04)
    kept = await calls.one(call.id)
    assert (kept.state, kept.credits, kept.cost_usd, kept.errors) == ("answered", 25, Decimal("0.0000175"), 1)
    assert (kept.headers, kept.duration_s, kept.status) == ({"X-Request-ID": "r"}, 0.04, 200)
    assert await calls.body(call.id) == b'[{"id":1,"result":"0x1"}]'


async def test_an_answer_too_large_to_keep_leaves_the_rest(calls: RpcCalls, clock: Clock) -> None:
    call = await begun(calls, clock)
    await calls.answered(call.id, b"x" * (MAX_KEPT_ANSWER_BYTES + 1), status=200, credits=20, cost_usd=None)
    assert (await calls.one(call.id)).state == "answered"
    assert await calls.body(call.id) is None


async def test_what_was_under_way_when_the_program_ended_is_unknown(calls: RpcCalls, clock: Clock) -> None:
    open_call = await begun(calls, clock)
    done = await begun(calls, clock)
    await answer(calls, done)
    assert await calls.settle_after_start() == 1
    assert ((await calls.one(open_call.id)).state, (await calls.one(open_call.id)).note) == ("unknown", ENDED_UNDER_WAY)
    assert (await calls.one(done.id)).state == "answered"


async def test_searching_finds_methods_networks_and_parameters_in_any_case(calls: RpcCalls, clock: Clock) -> None:
    call = await begun(calls, clock)
    for words in ("getbalance", "BASE 0xabc", "eth_ latest", ""):
        assert [found.id for found in await calls.recent(search=words)] == [call.id]
    assert await calls.recent(search="polygon") == ()
    assert await calls.recent(search="100%_") == ()


async def test_the_runs_of_one_request_belong_together(calls: RpcCalls, clock: Clock) -> None:
    first, second = await begun(calls, clock), await begun(calls, clock)
    await begun(calls, clock, digest="d2")
    assert [run.id for run in await calls.runs("account", "d1")] == [first.id, second.id]


async def test_r_rpc_33_a_key_is_remembered_for_24_hours_from_its_first_use(calls: RpcCalls, clock: Clock) -> None:
    refused = await begun(calls, clock, idempotency_key="k")
    await calls.failed(refused.id, "It did not arrive.")
    assert await calls.first_under("account", "k", clock()) is None
    first = await begun(calls, clock, idempotency_key="k")
    clock.turn(hours=23)
    await begun(calls, clock, idempotency_key="k")
    found = await calls.first_under("account", "k", clock())
    assert found is not None
    assert found.id == first.id
    assert await calls.first_under("another", "k", clock()) is None
    clock.turn(hours=25)
    assert await calls.first_under("account", "k", clock()) is None


async def test_r_rpc_37_r_rpc_45_r_lim_16_the_caps_count_requests_and_credits_but_no_replays(
    calls: RpcCalls, clock: Clock
) -> None:
    await answer(calls, await begun(calls, clock))
    await answer(calls, await begun(calls, clock), replayed=True)
    await answer(calls, await begun(calls, clock), credits=None)
    failed = await begun(calls, clock)
    await calls.failed(failed.id, "Refused.", status=400)
    assert await calls.used_since("account", clock() - timedelta(minutes=1)) == (4, 45)
    clock.turn(hours=1)
    assert await calls.used_since("account", clock() - timedelta(minutes=1)) == (0, 0)


async def test_the_equal_requests_of_a_job_are_one_row_in_list_and_trash(calls: RpcCalls, clock: Clock) -> None:
    first, second = await begun(calls, clock, job_id="watch"), await begun(calls, clock, job_id="watch")
    await answer(calls, first)
    await calls.failed(second.id, "Refused.", status=400)
    other = await begun(calls, clock, job_id="watch", digest="d2")
    alone = await begun(calls, clock)
    assert [each.id for each in await calls.recent()] == [alone.id, other.id, first.id]
    rounds = await calls.rounds(await calls.recent())
    assert rounds.keys() == {other.id, first.id}
    assert rounds[first.id] == Rounds(2, 25, 1, clock())
    await calls.trash((first.id,), clock())
    assert [each.id for each in await calls.recent(trashed=True)] == [first.id]
    await calls.delete((first.id,), clock())
    assert await calls.recent(trashed=True) == ()
    assert [each.id for each in await calls.recent()] == [alone.id, other.id]
    assert await calls.used_since("account", clock() - timedelta(hours=1)) == (4, 65), "all count against the caps"


async def test_trash_can_be_undone_until_it_is_emptied(calls: RpcCalls, clock: Clock) -> None:
    call = await begun(calls, clock)
    await answer(calls, call)
    await calls.trash((call.id,), clock())
    assert await calls.recent() == ()
    assert [each.id for each in await calls.recent(trashed=True)] == [call.id]
    await calls.trash((call.id,), None)
    assert len(await calls.recent()) == 1
    await calls.trash((call.id,), clock())
    spent = await calls.used_since("account", clock() - timedelta(hours=1))
    await calls.delete((call.id,), clock())
    assert await calls.recent() == await calls.recent(trashed=True) == ()
    assert await calls.body(call.id) is None and (await calls.one(call.id)).items == "[]"
    assert await calls.used_since("account", clock() - timedelta(hours=1)) == spent, "it still counts against the caps"
    clock.turn(hours=25)
    await calls.delete((), clock())
    with pytest.raises(NotStored):
        await calls.one(call.id)


async def test_the_end_of_a_request_that_is_not_there_is_refused(calls: RpcCalls) -> None:
    for end in (
        calls.failed("x", ""),
        calls.unknown("x", ""),
        calls.answered("x", b"", status=200, credits=0, cost_usd=None),
    ):
        with pytest.raises(NotStored):
            await end

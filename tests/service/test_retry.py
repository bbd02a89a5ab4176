"""What is tried again, how long it waits, and the budget that keeps the service from blocking us."""

import asyncio

import pytest

from app.service.errors import (
    AbuseBlocked,
    BadRequest,
    BadResponse,
    CallsPaused,
    ConnectionFailed,
    RateLimited,
    ServerFailed,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.service.retry import MAX_ATTEMPTS, BudgetState, CallKind, FailureBudget, jitter, wait_before_retry

EVERY_KIND = list(CallKind)
SPENDING = [CallKind.PAID, CallKind.UPLOAD, CallKind.QUEUE]
HARMLESS = [CallKind.READ, CallKind.IDEMPOTENT]


def wait(kind: CallKind, error: ServiceError, attempt: int = 1, drawn: float = 1.0) -> float | None:
    return wait_before_retry(kind, error, attempt, lambda: drawn)


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind is not CallKind.ONCE])
@pytest.mark.parametrize("status", [500, 503])
def test_r_err_10_500_and_503_back_off_exponentially(kind: CallKind, status: int) -> None:
    error = ServerFailed("x", status=status)
    assert [wait(kind, error, attempt) for attempt in (1, 2, 3)] == [0.5, 1.0, 2.0]
    assert [wait(kind, error, attempt, drawn=0.0) for attempt in (1, 2, 3)] == [0.25, 0.5, 1.0]


def test_the_number_of_tries_and_the_backoff_are_bounded() -> None:
    assert wait(CallKind.READ, ServerFailed("x", status=500), MAX_ATTEMPTS) is None
    assert wait(CallKind.READ, ServerFailed("x", status=503, retry_after_s=600.0)) == 30.0
    assert wait(CallKind.READ, ServerFailed("x", status=503, retry_after_s=7.0)) == 7.0


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind is not CallKind.ONCE])
def test_r_err_11_a_429_waits_for_the_window_up_to_two_minutes(kind: CallKind) -> None:
    assert wait(kind, RateLimited("x", retry_after_s=12.0)) == 12.5
    assert wait(kind, RateLimited("x", retry_after_s=121.0)) is None
    assert wait(kind, RateLimited("x")) == 0.5
    assert wait(kind, AbuseBlocked("x", retry_after_s=30.0)) == 0.0


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_gateway_s_failure_is_tried_again_only_where_nothing_can_be_charged_twice(kind: CallKind) -> None:
    for status in (502, 504):
        assert (wait(kind, ServerFailed("x", status=status)) is not None) is (kind in HARMLESS)
    assert wait(kind, ServerFailed("x", status=501)) is None


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("error_type", [ConnectionFailed, TimedOut])
def test_a_lost_connection_is_tried_again_only_if_nothing_was_sent(
    kind: CallKind, error_type: type[ServiceError]
) -> None:
    assert (wait(kind, error_type("x")) is not None) is (kind in HARMLESS)
    surely = wait(kind, error_type("x", surely_not_sent=True)) is not None
    assert surely is (kind in (*HARMLESS, CallKind.PAID, CallKind.UPLOAD))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_an_answer_cut_short_is_asked_again_only_if_it_was_free(kind: CallKind) -> None:
    assert (wait(kind, StreamCut("x")) is not None) is (kind in HARMLESS)


@pytest.mark.parametrize("error", [BadRequest("x", status=400), BadResponse("x"), CallsPaused("x")])
def test_other_errors_are_the_caller_s(error: ServiceError) -> None:
    assert all(wait(kind, error) is None for kind in EVERY_KIND)


def test_a_payment_is_never_repeated() -> None:
    assert wait(CallKind.ONCE, ServerFailed("x", status=503)) is None
    assert wait(CallKind.ONCE, RateLimited("x", retry_after_s=1.0)) is None


def test_half_of_a_backoff_is_fixed_and_half_spreads() -> None:
    error = ServerFailed("x", status=503)
    drawn = [wait_before_retry(CallKind.READ, error, 2, jitter) or 0.0 for _ in range(200)]
    assert 0.5 <= min(drawn) < 0.6 < 0.9 < max(drawn) <= 1.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Case:
    def __init__(self) -> None:
        self.clock = Clock()
        self.shown: list[BudgetState] = []
        self.budget = FailureBudget(self.shown.append, self.clock)

    async def fail(self, times: int = 1, status: int = 429) -> None:
        for _ in range(times):
            (await self.budget.admit()).answered(status)

    async def waiting(self) -> "asyncio.Task[object]":
        task: asyncio.Task[object] = asyncio.ensure_future(self.budget.admit())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return task


@pytest.fixture
async def case() -> Case:
    return Case()


async def test_r_err_12_everything_waits_at_18_refusals_within_30_s(case: Case) -> None:
    await case.fail(17)
    assert not case.budget.state.holding
    await case.fail(1)
    task = await case.waiting()
    assert not task.done()
    assert case.shown[-1] == BudgetState(18, holding=True, resumes_in_s=30.0, pausing=True)
    case.clock.now += 29.9
    case.budget.refresh()
    await asyncio.sleep(0)
    assert not task.done()
    case.clock.now += 0.2
    case.budget.refresh()
    await task
    assert case.shown[-1].holding is False
    case.budget.close()


async def test_r_lim_28_calls_under_way_count_so_that_twenty_refusals_are_never_passed(case: Case) -> None:
    await case.fail(10)
    admissions = [await case.budget.admit() for _ in range(8)]
    task = await case.waiting()
    assert not task.done()
    for admission in admissions:
        admission.answered(500)
    await asyncio.sleep(0)
    assert not task.done()
    assert case.budget.state.failures == 18
    task.cancel()
    case.budget.close()


async def test_an_answered_call_makes_room(case: Case) -> None:
    admissions = [await case.budget.admit() for _ in range(18)]
    task = await case.waiting()
    assert not task.done()
    assert not case.budget.state.holding
    admissions[0].answered(200)
    await task
    task = await case.waiting()
    admissions[1].close()  # one that lost its connection
    await task
    admissions[1].answered(500)  # too late to count
    assert case.budget.state.failures == 0


async def test_background_work_pauses_at_12_refusals_and_open_calls_together(case: Case) -> None:
    await case.fail(4)
    open_calls = [await case.budget.admit(background=True) for _ in range(8)]
    with pytest.raises(CallsPaused) as held:
        await case.budget.admit(background=True)
    assert held.value.resumes_in_s == pytest.approx(30.0)
    assert held.value.surely_not_sent
    (await case.budget.admit()).close()  # a person's own call still goes
    for each in open_calls:
        each.answered(503)
    assert case.shown[-1] == BudgetState(12, holding=False, resumes_in_s=0.0, pausing=True)
    case.budget.close()


async def test_many_background_calls_at_once_are_no_reason_to_pause_while_none_failed(case: Case) -> None:
    open_calls = [await case.budget.admit(background=True) for _ in range(16)]
    for each in open_calls:
        each.answered(200)


async def test_a_call_that_left_and_brought_no_status_counts_as_refused(case: Case) -> None:
    (await case.budget.admit()).lost()
    (await case.budget.admit()).close()
    assert case.budget.state.failures == 1
    case.budget.close()


async def test_r_err_13_the_block_holds_everything_for_30_s(case: Case) -> None:
    told: list[float] = []
    case.budget.block()
    task = asyncio.ensure_future(case.budget.admit(on_hold=told.append))
    await asyncio.sleep(0.01)
    assert told == [30.0]
    assert not task.done()
    case.clock.now += 30
    case.budget.refresh()
    (await task).close()
    with_background = case.budget.state
    assert (with_background.holding, with_background.pausing) == (False, False)
    case.budget.close()


async def test_a_held_call_can_be_cancelled(case: Case) -> None:
    case.budget.block()
    task = await case.waiting()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    case.clock.now += 31
    (await case.budget.admit()).close()
    case.budget.close()


async def test_the_window_slides(case: Case) -> None:
    for _ in range(18):
        await case.fail()
        case.clock.now += 1
    assert case.budget.state.resumes_in_s == pytest.approx(12.0)
    case.clock.now += 12
    assert not case.budget.state.holding
    assert case.budget.state.failures == 17
    case.budget.close()


async def test_good_answers_are_not_reported_and_need_no_timer(case: Case) -> None:
    for _ in range(50):
        (await case.budget.admit()).answered(200)
    assert case.shown == []


async def test_a_hold_ends_by_itself_on_the_real_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FailureBudget, "BLOCK_S", 0.05)
    shown: list[BudgetState] = []
    budget = FailureBudget(shown.append)
    budget.block()
    async with asyncio.timeout(60):
        (await budget.admit()).close()
        while shown[-1].holding:
            await asyncio.sleep(0.01)
    budget.close()

"""A service that was lost is found again without a press, and is not asked more often than once a minute for long."""

import pytest

from app.core.account_switch import WAITS_S, ReachWatch
from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.credentials.accounts import SANDBOX_ADDRESS, new_account

LIVE = new_account("Main", "https://api.example.com/v1")
SANDBOX = new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox")


class Scene:
    def __init__(self, tasks: TaskScope, comes_back_at: int = 3) -> None:
        self.current_account = CurrentAccount()
        self.current_account.use(LIVE, None)
        self.waits: list[float] = []
        self.knocks = 0
        self._comes_back_at = comes_back_at
        self.watch = ReachWatch(self.current_account, tasks, self._knock, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def _knock(self) -> None:
        self.knocks += 1
        if self.knocks == self._comes_back_at:
            self.current_account.set_reach("")


async def test_it_asks_less_and_less_often_until_the_service_answers(tasks: TaskScope) -> None:
    scene = Scene(tasks, comes_back_at=8)
    scene.current_account.set_reach("dns")
    await tasks.idle()
    assert scene.waits == [*WAITS_S, 60.0, 60.0, 60.0]
    assert scene.knocks == 8


async def test_it_watches_anew_when_the_service_is_lost_again(tasks: TaskScope) -> None:
    scene = Scene(tasks, comes_back_at=1)
    for _ in range(2):
        scene.knocks = 0
        scene.current_account.set_reach("refused")
        await tasks.idle()
    assert scene.waits == [WAITS_S[0]] * 2


async def test_a_call_of_the_person_that_worked_ends_it_without_another(tasks: TaskScope) -> None:
    scene = Scene(tasks)

    async def answered_meanwhile(_seconds: float) -> None:
        scene.current_account.set_reach("")

    scene.current_account.reach_changed.disconnect()
    scene.watch = ReachWatch(scene.current_account, tasks, scene._knock, answered_meanwhile)
    scene.current_account.set_reach("network")
    await tasks.idle()
    assert scene.knocks == 0


@pytest.mark.parametrize("code", ["refused", "dns"])
async def test_the_sandbox_is_not_watched(tasks: TaskScope, code: str) -> None:
    scene = Scene(tasks)
    scene.current_account.use(SANDBOX, None)
    scene.current_account.set_reach(code)
    await tasks.idle()
    assert scene.knocks == 0

"""Work of several requests: how far it is, what it has cost, how it is stopped.

Every request of it is on disk like any other, and none leaves that would go over the budget that was agreed before.
Stop waits for the request that is on its way: it is paid for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.problems import ActionSpec
from app.core.spending_limits import call_group
from app.formats import format_number
from app.service.rpc_methods import USD_PER_CREDIT, estimate
from app.storage.chat_rows import new_id
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.outcomes import CallOutcome
from app.ui.crypto_rpc.session.sending import SEND_ANYWAY, NotSent, check_caps, prepared, send
from app.ui.crypto_rpc.state import RunView

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.storage.rpc_calls import RpcCall
    from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
    from app.ui.crypto_rpc.session.job_plans import Plan


@dataclass(frozen=True, slots=True)
class JobView:
    """How far a job is. `sentence` says how it ended, "" while it runs."""

    title: str
    requests: int = 0
    requests_most: int = 0
    credits: int = 0
    credits_most: int = 0
    note: str = ""
    sentence: str = ""
    action: ActionSpec | None = None  # what can be done about why it ended

    @property
    def running(self) -> bool:
        return not self.sentence

    @property
    def share(self) -> float:
        return min(1.0, self.requests / self.requests_most) if self.requests_most else 0.0

    @property
    def words(self) -> str:
        return tr(
            "{requests} of {requests_most} requests, {credits} of {credits_most} credits",
            requests=format_number(self.requests),
            requests_most=format_number(self.requests_most),
            credits=format_number(self.credits),
            credits_most=format_number(self.credits_most),
        )


class OverBudget(Exception):
    """The next request would go over what was agreed."""


class StoppedJob(Exception):
    """The person stopped it."""


class Job:
    """What a piece of work holds: `ask` sends, within the budget, and counts."""

    def __init__(self, runner: JobRunner, plan: Plan) -> None:
        self._runner = runner
        self.plan = plan
        self.id = new_id()
        self.view = JobView(plan.title, requests_most=plan.requests, credits_most=plan.credits)
        self.stopping = asyncio.Event()

    def show(self, **changes: object) -> None:
        self.view = replace(self.view, **changes)  # type: ignore[arg-type]  # the names are the view's own
        self._runner.changed.emit(self.view)

    async def ask(
        self, network: str, rows: Sequence[CallRow], *, key: str = "", batch: bool = False
    ) -> tuple[tuple[CallOutcome, ...], str]:
        """Send one request; its outcomes, and its id on disk. Raises `NotSent`, `OverBudget`, `StoppedJob`."""
        price = estimate(network, tuple(row.method for row in rows)).credits
        if self.view.credits + price > self.plan.credits or self.view.requests >= self.plan.requests:
            raise OverBudget
        await self._room()
        call, outcomes = await self._runner.send(network, rows, key=key, batch=batch, job_id=self.id)
        charged = 0 if call.replayed or call.state == "failed" else call.credits
        self.show(
            requests=self.view.requests + 1,
            credits=self.view.credits + (price if charged is None else charged),
            note="",
        )
        return outcomes, call.id

    async def _room(self) -> None:
        """Wait while the requests of a minute are used up."""
        caps = self._runner.caps
        while True:
            if self.stopping.is_set():
                raise StoppedJob
            await caps.count()
            view = caps.view
            if view.requests < view.requests_limit or view.resets_at is None:
                return
            self.show(
                note=tr(
                    "Waiting: {requests_limit} requests were sent within a minute.", requests_limit=view.requests_limit
                )
            )
            await self.pause(max(1.0, (view.resets_at - self._runner.now()).total_seconds()))

    async def pause(self, seconds: float) -> None:
        """Wait. Raises `StoppedJob` as soon as the person stops."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            return
        raise StoppedJob


Work = Callable[[Job], Awaitable[str]]


class JobRunner(QObject):
    """One job at a time. `ended` in its view is the sentence that the work gave back, or why it broke off."""

    changed = Signal(object)  # JobView | None

    def __init__(self, presenter: CryptoRpcPresenter, tasks: TaskScope, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._presenter = presenter
        self._tasks = tasks
        self.now = now
        self.caps = presenter.caps
        self.job: Job | None = None

    @property
    def is_running(self) -> bool:
        return self.job is not None and self.job.view.running

    def start(self, plan: Plan, work: Work) -> bool:
        """Begin what was agreed on; False while another job runs or there is nobody to ask."""
        if self.is_running or not self._presenter.can_ask:
            return False
        self.job = Job(self, plan)
        self.job.show()
        return self._tasks.start_unless_running("rpc job", self._run, self.job, work)

    def stop(self) -> bool:
        """End it after the request that is on its way."""
        if self.job is None or not self.is_running:
            return False
        self.job.stopping.set()
        self.job.show(note=tr("Stopping after the current request."))
        return True

    def hidden(self) -> None:
        """The tab is no longer looked at."""
        if self.job is not None and self.job.plan.stops_when_hidden:
            self.stop()

    def close(self) -> None:
        """Forget a job that has ended."""
        if not self.is_running:
            self.job = None
            self.changed.emit(None)

    async def _run(self, job: Job, work: Work) -> None:
        """Do the work. Its first request is held against the limits with the most that all of it can cost."""
        action: ActionSpec | None = None
        most = job.plan.credits * USD_PER_CREDIT[1] / max(1, job.plan.requests)
        try:
            with call_group((most,) * job.plan.requests, "requests"):
                sentence = await work(job)
        except StoppedJob:
            sentence = tr("Stopped.")
        except OverBudget:
            sentence = tr("The budget is used up.")
        except NotSent as error:
            sentence, action = str(error.problem), error.problem.primary
            if action is not None and action.id == SEND_ANYWAY:  # which sends what is in the editor
                action = None
        except StorageError as error:
            sentence = error.sentence
        job.show(sentence=sentence, note="", action=action)
        await self._presenter.sent.read()

    async def send(
        self, network: str, rows: Sequence[CallRow], *, key: str, batch: bool, job_id: str = ""
    ) -> tuple[RpcCall, tuple[CallOutcome, ...]]:
        """One request of a job. Raises `NotSent` when it did not leave or was refused."""
        presenter = self._presenter
        service, account, calls = presenter.service_account_calls()
        operation = prepared(service, network, rows, batch=batch, key=key)
        now = self.now()
        await check_caps(calls, service, account, operation.estimate.credits, now)
        sent = await send(service, account, calls, operation, rows, {}, now, job_id=job_id)
        presenter.sent.soon()
        if sent.problem is not None:
            raise NotSent(sent.problem)
        run = await presenter.runs.read(sent.call.id)
        return sent.call, run.outcomes

    def show_result(self, run: RunView) -> None:
        """Show what was joined together."""
        self._presenter.runs.put(run)

    async def show_run(self, call_id: str) -> None:
        await self._presenter.runs.show(call_id)
        await self._presenter.sent.read()

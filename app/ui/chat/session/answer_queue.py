"""All answers that are being written or queued, in any number of chats at once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.problems import ActionSpec, Problem, describe, for_account
from app.core.spending_limits import spending_in
from app.core.tasks import to_the_end
from app.core.time_format import LONGEST_COUNTDOWN_S
from app.service.errors import (
    CallsPaused,
    ConnectionFailed,
    ContentRefused,
    InBandError,
    PaymentRequired,
    RateLimited,
    SealBroken,
)
from app.storage.chat_rows import IMPORTED_SEAL
from app.storage.errors import NoHistory, NotStored, StorageError, UnsavedResult
from app.translation import tr
from app.ui.chat.session.answer_notes import OTHER_MODEL, empty_answer, for_chat, not_sent, note_of_ending, policy_of
from app.ui.chat.session.answer_writer import AnswerWriter, Ending, store_ending
from app.ui.chat.session.chat_seals import RECEIPT_ASKED, ChatSeals, Sessions, with_seal
from app.ui.chat.session.live_answer import AnswerDelta, LiveAnswer
from app.ui.chat.session.message_rows import problem_text
from app.ui.chat.session.requests import note_of, without_bytes

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.service.chat_types import ChatMessage, ChatRequest, RetryWait
    from app.service.errors import ServiceError
    from app.service.exchange import Exchange
    from app.service.models import Model
    from app.service.sealed.resource import SealedStream
    from app.service.service import Service
    from app.storage.chat_rows import Message
    from app.storage.chat_store import ChatStore
    from app.storage.service_cache import ServiceCache

KEPT_EXCHANGES = 50  # requests of this session that the Request page shows without asking the disk
DO_NOT_SEND = ActionSpec("dismiss", tr("Do not send"))
MAX_RESENDS = 1  # how often an answer is asked for again with nobody looking, on top of the tries of each call


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to write: into which stored row, with which request, at what price."""

    chat_id: str
    message: Message  # the row as it is on disk; with content when it is continued
    request: ChatRequest
    model: Model | None
    turns: int  # messages of the branch that went into the request
    prompt_tokens: int  # estimated
    searched: bool
    links: int = 0  # pages that may be read, each at a price
    comparing: bool = False  # one of several answers to the same question
    resends: int = 0  # how often it was sent again by itself
    project_id: str | None = None  # whose limit it counts against
    sealed: bool = False  # it goes sealed to the model's enclave, or not at all
    account_id: str = ""  # who asks, known once it is begun; nobody else sends it again

    def live(self, clock: Callable[[], float]) -> LiveAnswer:
        return LiveAnswer(
            self.chat_id,
            self.message.id,
            self.request.model,
            clock,
            kept_text=self.message.content,
            kept_reasoning=self.message.reasoning,
            prompt_tokens=self.prompt_tokens,
            model=self.model,
            searched=self.searched,
            links=self.links,
            schema=self.schema,
        )

    @property
    def schema(self) -> Mapping[str, object] | None:
        """The schema that the answer was asked in."""
        asked = self.request.extra.get("response_format", self.request.response_format)  # extra JSON wins
        wrapped = asked.get("json_schema") if isinstance(asked, Mapping) else None
        schema = wrapped.get("schema") if isinstance(wrapped, Mapping) else None
        return schema if isinstance(schema, Mapping) else None


SEND_WHEN_BACK = ActionSpec("send-when-back", tr("Send when available"))


class Unpaid(NamedTuple):
    """A question that was refused for lack of balance. What the window knew as the balance then may have been old:
    the first other balance that comes is a reason to send again, later ones when there is more.
    """

    job: Job
    balance: Decimal | None
    is_known: bool = False


class AnswerQueue(QObject):
    """Begins, stops and finishes answers. Row ids are message ids."""

    began = Signal(str)  # row id; the request is known, and later once more, when the answer's headers are
    arrived = Signal(str, object)  # row id, Arrived
    changed = Signal(str)  # a row's problem, wait or receipt is another one
    ended = Signal(object)  # the finished Message
    receipt_came = Signal(object)  # the Message whose seal's receipt is known now
    seal_failed = Signal(object)  # the Message behind whose seal something was wrong; after `ended`

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        cheaper: Callable[[Job], ActionSpec | None],
        sealed: Sessions | None,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        """`cheaper` gives the button of a model that could answer a job for less, or None; `sealed` seals."""
        super().__init__(parent)
        self._current_account = current_account
        self._tasks = tasks
        self._cheaper = cheaper
        self.seals = ChatSeals(sealed, lambda chat_id: chat_id in self.writing(), self)
        self._clock = clock
        self._history: ChatStore | None = None
        self._service_cache: ServiceCache | None = None
        self._live: dict[str, LiveAnswer] = {}  # by row id
        self._unstored: dict[str, LiveAnswer] = {}  # by row id: ended, and refused by the disk
        self._stopped: set[str] = set()  # row ids
        self._problems: dict[str, Problem] = {}
        self._suggestions: dict[str, str] = {}
        self._unpaid: dict[str, Unpaid] = {}
        self._asked_with: dict[str, Decimal | None] = {}  # what was known as the balance when a row was asked for
        self._undelivered: dict[str, Job] = {}  # by row id: never reached the service
        self._exchanges: OrderedDict[str, Exchange] = OrderedDict()
        self._written: dict[str, tuple[ChatMessage, ...]] = {}  # by row id: messages before they were sealed
        self.waits: dict[str, str] = {}  # row id of an answer that waits for its time or for the connection → its chat
        current_account.numbers_changed.connect(self._try_unpaid)
        current_account.reach_changed.connect(self._try_undelivered)

    def start(self, history: ChatStore, service_cache: ServiceCache | None) -> None:
        self._history = history
        self._service_cache = service_cache

    # What others ask

    def writing(self) -> frozenset[str]:
        """Chats with an answer under way, waiting ones included."""
        return frozenset(live.chat_id for live in self._live.values()) | frozenset(self.waits.values())

    def live_in(self, chat_id: str | None) -> LiveAnswer | None:
        """The answer that is being written in a chat, the first of several."""
        return next((live for live in self._live.values() if live.chat_id == chat_id), None)

    def live_of(self, message_id: str) -> LiveAnswer | None:
        return self._live.get(message_id)

    def problem_of(self, message_id: str) -> Problem | None:
        return self._problems.get(message_id)

    def exchange_of(self, message_id: str) -> Exchange | None:
        """The call behind a row, if it was made since the program started."""
        return self._exchanges.get(message_id)

    def written_in(self, message_id: str) -> tuple[ChatMessage, ...]:
        """The messages of a sealed request that `exchange_of` knows, as they were before; () for an open one."""
        return self._written.get(message_id, ())

    def waiting(self) -> dict[str, datetime | None]:
        """Chats of which nothing is being written because every answer waits, and until when: None for the service."""
        until: dict[str, datetime | None] = dict.fromkeys(self.waits.values())
        writing: set[str] = set()
        rows = [(row, live.chat_id, live.first_token_at is None) for row, live in self._live.items()]
        rows += [(row, chat_id, True) for row, chat_id in self.waits.items()]
        for row, chat_id, may_wait in rows:
            problem = self._problems.get(row) if may_wait else None
            at = problem.countdown_until if problem is not None else None
            if at is not None:
                until[chat_id] = min(at, until.get(chat_id) or at)
            elif row not in self.waits:
                writing.add(chat_id)
        return {chat_id: at for chat_id, at in until.items() if chat_id not in writing}

    # What others tell

    def begin(self, job: Job, *, comparing: bool = False) -> bool:
        """Start writing. False, and nothing happens, when nobody can answer or the same chat is being written.

        `comparing` allows several answers of one chat at once: the same question to several models.
        """
        row = job.message.id
        taken = row in self._live or (not comparing and self.live_in(job.chat_id) is not None)
        if taken or self._current_account.service is None or self._history is None:
            return False
        self._forget_wait(job)
        job = replace(job, account_id=self._account_id())
        self._live[row] = job.live(self._clock)
        if not self._tasks.start_unless_running(_task(row), self._write, job):
            del self._live[row]
            return False
        return True

    def stop(self, chat_id: str) -> bool:
        """Stop every answer of a chat, or its waiting. What came stays. False when there was nothing to stop."""
        rows = [row for row, live in self._live.items() if live.chat_id == chat_id]
        rows += [row for row, chat in self.waits.items() if chat == chat_id]
        rows += [row for row, unpaid in self._unpaid.items() if unpaid.job.chat_id == chat_id]
        rows += [row for row, job in self._undelivered.items() if job.chat_id == chat_id]
        stopped = [self.stop_row(row) for row in rows]
        return any(stopped)

    def stop_row(self, message_id: str) -> bool:
        """Stop one answer, or its waiting for time, connection or balance."""
        self._unpaid.pop(message_id, None)
        undelivered = self._undelivered.pop(message_id, None)
        if self.waits.pop(message_id, None) is not None or undelivered is not None:
            self._tasks.cancel(_wait_task(message_id))
            self._say_not_sent(message_id)
            return True
        if message_id not in self._live:
            return False
        self._stopped.add(message_id)
        # A turn later, after its first step: a task that is canceled before that would not write how it ended.
        asyncio.get_running_loop().call_soon(self._tasks.cancel, _task(message_id))
        return True

    def dismiss(self, message_id: str) -> None:
        """Do not send after all: the row keeps saying what happened, without a countdown."""
        self.stop_row(message_id)
        problem = self._problems.get(message_id)
        if problem is not None and problem.countdown_until is not None:
            self._say_not_sent(message_id)

    def _say_not_sent(self, message_id: str) -> None:
        problem = self._problems.get(message_id)
        if problem is not None:
            self._problems[message_id] = problem._replace(
                countdown_until=None,
                meaning=tr("Your message is saved. Nothing is sent automatically."),
                primary=ActionSpec("retry", tr("Try again")),
                alternative=None,
            )
            self.changed.emit(message_id)

    # Writing

    async def _write(self, job: Job) -> None:
        service, history, account = self._current_account.service, self._history, self._current_account.account
        self._asked_with[job.message.id] = self._current_account.balance
        live = self._live[job.message.id]
        assert service is not None and history is not None and account is not None
        row = job.message.id
        if job.sealed:
            self._written[row] = job.request.messages
        seal = partial(self.seals.stream, job.chat_id, account, service) if job.sealed else None
        writer = AnswerWriter(
            live,
            service,
            history,
            on_begun=lambda: self._begun(row, writer),
            on_arrived=lambda arrived: self._arrived(row, arrived, writer),
            on_wait=lambda wait: self._waiting(row, wait),
            on_trouble=lambda error: self._trouble(row, error),
            seal=seal,
        )
        sandbox = self._current_account.is_sandbox
        ending = Ending("failed")
        try:
            await asyncio.sleep(0)  # in a turn of its own, behind the one that shows the question
            if job.message.state != "streaming":
                await history.finish_message(row, state="streaming", error="", exchange_id="")
            with spending_in(job.project_id):
                ending = await writer.run(job.request)
        except asyncio.CancelledError:
            # Stopped by the person, or the program is closing: then the answer can be continued next time.
            ending = Ending("stopped" if row in self._stopped else "interrupted", None, writer.exchange)
            raise
        finally:
            self._stopped.discard(row)
            await to_the_end(self._finish(job, live, ending, sandbox))
            self.seals.answer_ended(job.chat_id)
            if ending.sealed is not None:
                self._tasks.start_unless_running(_receipt_task(row), self._ask_receipt, job, service, ending.sealed)

    async def _finish(self, job: Job, live: LiveAnswer, ending: Ending, sandbox: bool) -> None:
        if self._history is None:
            raise NoHistory
        row = job.message.id
        if ending.exchange is not None:
            self._remember(row, ending.exchange)
        problem = self._words(job, ending, live)
        if problem is None:
            self._problems.pop(row, None)
        else:
            self._problems[row] = problem
        self._unstored.pop(row, None)
        try:
            stored = await self._store(job, live, ending, problem, sandbox)
        except NotStored:  # the chat was deleted for good while its answer was being written
            stored = replace(job.message, content=live.text, reasoning=live.reasoning, state=ending.state)
        except StorageError as error:
            self._problems[row] = disk_problem(error)
            stored = replace(job.message, content=live.text, reasoning=live.reasoning, state=ending.state)
            if live.text:
                self._unstored[row] = live
                again = partial(self._store_again, job, live, ending, sandbox)
                error.unsaved = (UnsavedResult("answer.md", live.text.encode(), again),)
                self._tasks.report(error)
        self._live.pop(row, None)
        if ending.error is not None and stored.state == "failed":
            self._come_back(replace(job, message=stored), ending.error)
        if job.sealed and ending.error is not None:
            self.seals.broke(job.chat_id, ending.error)
        self.ended.emit(stored)
        if ending.seal_error is not None:
            self.seal_failed.emit(stored)

    async def _ask_receipt(self, job: Job, service: Service, stream: SealedStream) -> None:
        """Have the enclave sign for a sealed answer, and keep what came of it with the answer."""
        if self._history is None:
            raise NoHistory
        row = job.message.id
        outcome = await self.seals.receipt(job.chat_id, service, stream)
        with contextlib.suppress(NotStored):  # deleted meanwhile
            before = await self._history.message(row)
            if before.state == "complete" and before.usage.get("seal") == RECEIPT_ASKED:
                self.receipt_came.emit(await self._history.finish_message(row, usage={**before.usage, "seal": outcome}))

    async def _store(
        self, job: Job, live: LiveAnswer, ending: Ending, problem: Problem | None, sandbox: bool
    ) -> Message:
        if self._history is None:
            raise NoHistory
        stored = await store_ending(
            self._history,
            live,
            ending,
            error_text=_stored_error(problem, ending),
            sandbox=sandbox,
            earlier=job.message,
            seal=_seal_note(job, ending),
        )
        is_private = self._history.is_private(job.chat_id)  # its requests are known while the program runs
        if ending.exchange is not None and self._service_cache is not None and not is_private:
            note = note_of(ending.exchange, job.turns, job.request.messages if job.sealed else ())
            await self._service_cache.save("", note_kind(job.chat_id), job.message.id, note)
        return stored

    async def _store_again(self, job: Job, live: LiveAnswer, ending: Ending, sandbox: bool) -> None:
        """Keep an answer that the disk refused, unless its row was written since. Raises `StorageError`."""
        row = job.message.id
        if row in self._live or self._unstored.get(row) is not live:
            return
        problem = self._words(job, ending, live)
        stored = await self._store(job, live, ending, problem, sandbox)
        del self._unstored[row]
        self._problems.pop(row, None)
        if problem is not None:
            self._problems[row] = problem
        self.ended.emit(stored)

    def _words(self, job: Job, ending: Ending, live: LiveAnswer) -> Problem | None:
        if ending.error is not None and ending.state == "failed":
            sends_again = _is_sent_again(job, ending.error)
            described = describe(ending.error, sends_again=sends_again)
            problem = for_chat(for_account(described, self._current_account.account))
            if isinstance(ending.error, ContentRefused) and ending.error.suggested_prompt:
                self._suggestions[job.message.id] = ending.error.suggested_prompt
            if _can_wait_for_connection(ending.error) and not self._current_account.is_sandbox:
                return problem._replace(primary=SEND_WHEN_BACK, alternative=ActionSpec("retry", tr("Try again")))
            if ending.seal_error is not None:
                return with_seal(problem, ending.seal_error)
            if not isinstance(ending.error, PaymentRequired):
                return problem
            return problem._replace(alternative=self._cheaper(job) or OTHER_MODEL)
        if ending.trouble is not None:
            return not_sent(ending.trouble.sentence)
        if ending.state == "failed":
            return Problem(tr("No answer"), tr("Something in Rialto failed. Your message is saved."))
        if ending.state != "complete":
            return None
        info = ending.exchange.info if ending.exchange is not None else None
        usage = {"finish_reason": live.finish_reason, "refused": live.refused, "policy": policy_of(info)}
        has_words = bool(live.text or live.reasoning)
        stated = describe(ending.error).meaning if ending.error is not None else ""
        note = note_of_ending(usage, has_words=has_words, stated=stated)
        if note is None and not (has_words or live.sources or live.tool_calls):
            return empty_answer()
        return note

    def suggestion_for(self, message_id: str) -> str:
        """The words that the service proposed instead of a refused question, "" for none."""
        return self._suggestions.get(message_id, "")

    def _begun(self, row: str, writer: AnswerWriter) -> None:
        if writer.exchange is not None:
            self._remember(row, writer.exchange)
        self.began.emit(row)

    def _arrived(self, row: str, arrived: AnswerDelta, writer: AnswerWriter) -> None:
        known = self._exchanges.get(row)
        if known is not None and known.status is None:  # the first words: the answer's headers are there as well
            self._begun(row, writer)
        if self._problems.pop(row, None) is not None:
            self.changed.emit(row)
        self.arrived.emit(row, arrived)

    def _waiting(self, row: str, wait: RetryWait) -> None:
        """A try failed and the next one waits: say so where the answer will stand."""
        self._problems[row] = wait_problem(wait, datetime.now(UTC))
        self.changed.emit(row)

    def _trouble(self, row: str, error: StorageError) -> None:
        self._problems[row] = disk_problem(error)
        self.changed.emit(row)

    def _remember(self, row: str, exchange: Exchange) -> None:
        self._exchanges[row] = without_bytes(exchange)
        self._exchanges.move_to_end(row)
        while len(self._exchanges) > KEPT_EXCHANGES:
            self._written.pop(self._exchanges.popitem(last=False)[0], None)

    # Coming back by itself

    def _come_back(self, job: Job, error: ServiceError) -> None:
        """After a limit: send again when its time is up. After an empty balance: when there is more of it."""
        if isinstance(error, PaymentRequired):
            self._unpaid[job.message.id] = Unpaid(job, self._asked_with.get(job.message.id))
            # It may have changed while the refusal was stored.
            self._tasks.replace(_wait_task(job.message.id), self._try_unpaid_soon)
            return
        if _can_wait_for_connection(error):
            self._undelivered[job.message.id] = job
            return
        wait_s = error.retry_after_s
        if wait_s is None or not _is_sent_again(job, error):
            return
        self.waits[job.message.id] = job.chat_id
        # Started from the ending answer's own task, so under another name.
        self._tasks.replace(_wait_task(job.message.id), self._send_later, job, wait_s)

    async def _send_later(self, job: Job, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        await self._tasks.ended(_task(job.message.id))  # the failed try may still be storing its end
        if self.waits.pop(job.message.id, None) is not None:
            self.resume(replace(job, resends=job.resends + 1))

    def resume(self, job: Job) -> None:
        """Write a failed answer again, into the same row: nothing of it is lost, because nothing had come.

        Another account than the one that was asked pays nothing and hears nothing of it.
        """
        if job.account_id != self._account_id():
            self._say_not_sent(job.message.id)
        elif self.begin(job, comparing=job.comparing):
            self._problems.pop(job.message.id, None)
            self.changed.emit(job.message.id)

    def send_when_back(self, message_id: str) -> None:
        """Send a message that never left as soon as the service can be reached, to the same account only."""
        job = self._undelivered.get(message_id)
        problem = self._problems.get(message_id)
        if job is None or problem is None:
            return
        self.waits[message_id] = job.chat_id
        self._problems[message_id] = problem._replace(
            meaning=tr("Your message will be sent when the service can be reached again."),
            primary=DO_NOT_SEND,
            alternative=None,
        )
        self.changed.emit(message_id)
        self._try_undelivered()

    def _try_undelivered(self) -> None:
        if self._current_account.reach:
            return
        for row, job in tuple(self._undelivered.items()):
            if row not in self.waits:
                continue
            if job.account_id == self._account_id():
                self.resume(job)
            else:
                self.stop_row(row)

    def _account_id(self) -> str:
        account = self._current_account.account
        return account.id if account is not None else ""

    def _forget_wait(self, job: Job) -> None:
        self._unpaid.pop(job.message.id, None)
        self._undelivered.pop(job.message.id, None)
        self.waits.pop(job.message.id, None)

    async def _try_unpaid_soon(self) -> None:
        await asyncio.sleep(0)  # the task that was refused ends first
        self._try_unpaid()

    def _try_unpaid(self) -> None:
        balance = self._current_account.balance
        if balance is None:
            return
        for message_id, (job, before, is_known) in tuple(self._unpaid.items()):
            if balance == before or job.account_id != self._account_id():
                continue
            if balance > 0 and not (is_known and before is not None and balance < before):
                self.resume(job)
            elif not is_known:
                self._unpaid[message_id] = Unpaid(job, balance, is_known=True)


def _stored_error(problem: Problem | None, ending: Ending) -> str:
    """What is kept of why an answer failed, or of what the service said when it stopped in the middle."""
    if ending.state != "failed" and isinstance(ending.error, InBandError | SealBroken):
        return problem_text(describe(ending.error))
    return problem_text(problem) if problem is not None and ending.state == "failed" else ""


def _is_sent_again(job: Job, error: ServiceError) -> bool:
    """Whether an answer is asked for once more with nobody looking: after a short limit, and not again and again."""
    wait_s = error.retry_after_s
    short = wait_s is not None and 0 < wait_s <= LONGEST_COUNTDOWN_S
    return isinstance(error, RateLimited | CallsPaused) and short and job.resends < MAX_RESENDS


def _can_wait_for_connection(error: ServiceError) -> bool:
    """Whether waiting may help: the message surely never left, and nothing on this computer has to be set right."""
    code = error.code or ""
    mends_itself = not code.startswith("proxy") and code not in ("certificate", "ca_file", "tls")
    return isinstance(error, ConnectionFailed) and error.surely_not_sent and mends_itself


def wait_problem(wait: RetryWait, now: datetime) -> Problem:
    """What stands in the row while a call waits before its next try."""
    until = now + timedelta(seconds=wait.wait_s)
    if wait.reason in ("rate_limit", "held"):
        kind = CallsPaused if wait.reason == "held" else RateLimited
        error = kind(wait.message)
        error.retry_after_s = wait.wait_s
        return describe(error, now=now, sends_again=True)
    offline, in_turn = wait.reason == "connection", wait.reason == "pace"
    what = tr("The service could not be reached") if offline else tr("The service is busy")
    return Problem(
        tr("You have reached the limit for this minute") if in_turn else what,
        tr("Your message is next in line.")
        if in_turn
        else tr("Trying again, attempt {attempt}.", attempt=wait.attempt + 1),
        primary=ActionSpec("stop", tr("Stop")),
        severity="quiet",
        icon="offline" if offline else "clock",
        countdown_until=until,
    )


def disk_problem(error: StorageError) -> Problem:
    """What a refusing disk means for a person: nothing is lost on screen, but nothing new is kept."""
    return Problem(
        tr("This could not be saved"),
        tr("{sentence} It stays on screen until you quit Rialto.", sentence=error.sentence),
        severity="bad",
        icon="drive",
        details=((tr("Reason"), error.sentence),),
    )


def note_kind(chat_id: str) -> str:
    """The cache's kind for the requests of one chat, so that one chat never pushes out another's."""
    return f"request:{chat_id}"


def _task(row: str) -> str:
    return f"answer:{row}"


def _seal_note(job: Job, ending: Ending) -> str:
    """What an answer's row keeps of its seal: its receipt's outcome once there is one, "" for an open answer.

    A receipt is of one call, so it says nothing of an answer that was continued. A broken seal stays broken, and one
    that only a file tells of is not proved by what follows.
    """
    earlier = job.message.usage.get("seal") if job.message.content else None  # else nothing of it is left
    if ending.seal_error is not None or earlier == "broken":
        return "broken"
    if earlier == IMPORTED_SEAL:
        return IMPORTED_SEAL
    if not job.sealed:
        return ""
    return RECEIPT_ASKED if ending.sealed is not None and not job.message.content else "sealed"


def _receipt_task(row: str) -> str:
    return f"seal-receipt:{row}"


def _wait_task(row: str) -> str:
    return f"answer-later:{row}"

"""What the Console shows and what its controls mean. QtCore only, no widgets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.core.problems import Problem, for_account
from app.core.trash import Trash
from app.core.typed_text import UndoableForm
from app.core.undo import UndoCommand
from app.service.crypto_rpc import RpcOperation
from app.service.idempotency_keys import new_idempotency_key
from app.storage.errors import Again, NoHistory, StorageError
from app.storage.rpc_calls import RpcCall, RpcCalls
from app.storage.rpc_collections import RpcCollections
from app.storage.rpc_interfaces import RpcInterfaces
from app.storage.service_cache import ServiceCache
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow, read_text
from app.ui.crypto_rpc.session.call_library import CallLibrary
from app.ui.crypto_rpc.session.call_words import KEPT_A_DAY, key_note
from app.ui.crypto_rpc.session.caps import CapsCounter
from app.ui.crypto_rpc.session.collection_library import CollectionLibrary
from app.ui.crypto_rpc.session.contract_interfaces import ContractInterfaces
from app.ui.crypto_rpc.session.contracts import ContractPresenter
from app.ui.crypto_rpc.session.draft import FIRST_NETWORK, Draft
from app.ui.crypto_rpc.session.draft_keeper import DraftKeeper
from app.ui.crypto_rpc.session.draft_view import draft_view, method_info
from app.ui.crypto_rpc.session.jobs import JobRunner
from app.ui.crypto_rpc.session.methods import MethodCatalog, MethodInfo, sandbox_example
from app.ui.crypto_rpc.session.network_list import NetworkList
from app.ui.crypto_rpc.session.networks import NetworkRow
from app.ui.crypto_rpc.session.parameter_fields import fields_of, params_of, problem_in
from app.ui.crypto_rpc.session.runs import RunPresenter, look_ups
from app.ui.crypto_rpc.session.sending import (
    NotSent,
    check_caps,
    prepared,
    question_of,
    read_transactions,
    send,
    waiting_problem,
)
from app.ui.crypto_rpc.session.tokens import TokenBook
from app.ui.crypto_rpc.session.tools import Tools
from app.ui.crypto_rpc.session.tracking import TransactionTracker
from app.ui.crypto_rpc.session.transacting import TransactionPresenter
from app.ui.crypto_rpc.state import (
    DraftView,
    EditorMode,
    RunView,
    SendQuestion,
)

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.credentials.accounts import Account
    from app.service.chat_types import RetryWait
    from app.service.service import Service
    from app.storage.database import Database
    from app.wallet.transactions import SignedTransaction

THE_BATCH = "the batch draft"  # id of the commands that undo changes of it
KEY_FIELD = "Idempotency-Key"

Ask = Callable[[SendQuestion], Awaitable[bool]]


async def _refuse(_question: SendQuestion) -> bool:
    return False


class CryptoRpcPresenter(QObject):
    """`ask` is set by the page: it shows a question and waits for the answer. Until then nothing is confirmed."""

    draft_changed = Signal(object)  # DraftView
    calls_changed = Signal(object)  # tuple[CallEntry, ...]
    run_changed = Signal(object)  # RunView | None
    caps_changed = Signal(object)  # CapsView
    busy_changed = Signal()
    split_read = Signal(int)  # thousandths of the canvas that the request had
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        data_folder: Path,
        folder: Path,
        undo_stack: UndoStack,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`data_folder` is the program's, `folder` the person's own."""
        super().__init__()
        self._current_account = current_account
        self._tasks = tasks
        self._data_folder = data_folder
        self._now = now
        self._undo_stack = undo_stack
        self.trash = Trash("crypto_rpc", tasks, undo_stack)
        self.trash.failed.connect(self.notice.emit)
        self.collections = CollectionLibrary(RpcCollections(folder / "collections"), tasks, self.trash)
        self.collections.notice.connect(self.notice)
        self.tokens = TokenBook(current_account)
        self.interfaces = ContractInterfaces(RpcInterfaces(folder / "interfaces"), self.tokens)
        self.contracts = ContractPresenter(self, self.interfaces)
        self.transacting = TransactionPresenter(self, self.interfaces, tasks)
        self.ask: Ask = _refuse
        self.network_list = NetworkList(current_account)
        self.network_list.changed.connect(self._changed)
        self.draft = Draft(FIRST_NETWORK, new_idempotency_key(now()))
        self._undoable = UndoableForm(
            "crypto_rpc",
            undo_stack,
            read=lambda: self.draft.written(),
            write=self._write_draft,
            is_empty=lambda written: written == Draft(str(written["network"]), "").written(),
        )
        self.keeper = DraftKeeper(tasks, lambda: self.draft, self.network_list)
        self.methods: MethodCatalog | None = None
        self.sent = CallLibrary(tasks, now, self.trash, self.interfaces)
        self.sent.mark_of = current_account.mark_of
        self.sent.changed.connect(self.calls_changed)
        self.sent.changed.connect(self._count_again)
        self.caps = CapsCounter(current_account, tasks, now)
        self.caps.changed.connect(self.caps_changed)
        self.calls: RpcCalls | None = None
        self._problem: Problem | None = None
        self._key_words = (KEPT_A_DAY, "")
        self._minute = QTimer(self)
        self._minute.setInterval(60_000)
        self._minute.setSingleShot(True)
        self._minute.timeout.connect(lambda: tasks.replace("rpc key", self._look_at_key))
        self._sending = False
        self.runs = RunPresenter(tasks, self.interfaces)
        self.runs.changed.connect(self.run_changed)
        self.tracking = TransactionTracker(self, self.interfaces, tasks)
        self.runs.sent_of = self.tracking.of
        self.jobs = JobRunner(self, tasks, now)
        self.tools = Tools(self.jobs, folder / "answers")
        current_account.account_changed.connect(self._account_changed)

    async def start(self, database: Database) -> None:
        """Read what is on disk, then ask the service which networks there are."""
        self.calls = RpcCalls(database)
        self.network_list.catalog = self.tokens.catalog = catalog = ServiceCache(database)
        self.sent.calls = self.caps.calls = self.network_list.calls = self.calls
        self.runs.calls = self.calls
        self.methods = await asyncio.to_thread(MethodCatalog.read, self._data_folder)
        await asyncio.to_thread(self.network_list.load_bundled, self._data_folder)
        await self.calls.settle_after_start()
        await self.interfaces.read()
        await self.tokens.read()
        await self.keeper.read(catalog)
        if self.keeper.split is not None:
            self.split_read.emit(self.keeper.split)
        self._changed()
        await self.collections.read()
        await self.sent.read()
        await self.network_list.load_used()
        self._changed()
        self._ask_service()

    async def aclose(self) -> None:
        """Put the draft on disk."""
        self._minute.stop()
        await self.keeper.keep()

    # The draft

    def view(self) -> DraftView:
        """The draft as it stands."""
        able = not self._sending and self._current_account.service is not None and self.calls is not None
        return draft_view(
            self.draft,
            self.methods,
            self.network_list.row(self.draft.network),
            key_words=self._key_words,
            able=able,
            sending=self._sending,
            problem=self._problem,
        )

    def method(self, name: str) -> MethodInfo:
        """What is known of a method on the draft's network."""
        return method_info(self.methods, self.draft.network, name)

    def edit(self, change: Callable[[Draft], object], *, done: str = "", typed: bool = False) -> None:
        """Change the draft and show it.

        Undo is offered for what it replaces: with `done`, which says what happened to the whole draft, or where text
        that is half written goes, unless the change is what a person has `typed`.
        """
        if self._sending:
            return
        if done:
            self._undoable.change(partial(self._edit, change), done)
        elif self.draft.half_written and not typed:
            left = self.draft.half_written
            before = self.draft.written()
            self._edit(change)
            if self.draft.half_written != left:
                self._undoable.offer(before, tr("Unfinished parameters dropped"))
        else:
            self._edit(change)

    def _write_draft(self, written: Mapping[str, object]) -> None:
        self.edit(lambda draft: draft.write(written), typed=True)

    def _edit(self, change: Callable[[Draft], object]) -> None:
        before = self.draft.network
        change(self.draft)
        self._problem = None
        self._changed()
        if self.draft.network != before:
            self._changed()
        self._tasks.replace("rpc key", self._look_at_key)
        self.keeper.soon()

    def remove_calls(self, places: Sequence[int]) -> None:
        """Take calls out of the batch, with an undo that puts them back in their places."""
        rows = self.draft.rows
        gone = [(place, rows[place]) for place in sorted(set(places)) if 0 <= place < len(rows)]
        if self._sending or not gone:
            return

        def undo(_ids: object) -> None:
            self.edit(lambda draft: draft.insert(gone))

        self.edit(lambda draft: draft.remove([place for place, _ in gone]))
        what = gone[0][1].method if len(gone) == 1 else tr("{count} calls", count=len(gone))
        command = UndoCommand("crypto_rpc", tr("{what} removed", what=what), undo, (THE_BATCH,), has_toast=False)
        self._undo_stack.push(command)

    def use_network(self, slug: str) -> None:
        def change(draft: Draft) -> None:
            draft.network = slug

        self.edit(change)

    @property
    def in_sandbox(self) -> bool:
        return self._current_account.is_sandbox

    def add_method(self, name: str) -> None:
        """Put a call with the method's example at the end of the batch."""
        example = self.method(name).example
        if self.in_sandbox:
            example = sandbox_example(name, example)
        self.keeper.record_used(name)
        self.edit(lambda draft: draft.add(name, example))

    def set_fields(self, texts: list[str]) -> None:
        """Take the texts of the selected call's form. A fault leaves the call as it was, and nothing can be sent."""
        row = self.draft.current
        fields = fields_of(self.method(row.method).parameters, row.params) if row is not None else ()
        if row is None or len(fields) != len(texts):
            return
        problem = problem_in(fields, texts)
        params = params_of(fields, texts, row.params)
        self.edit(lambda draft: draft.set_fields(texts, params, problem), typed=True)

    def set_params_text(self, text: str) -> None:
        self.edit(lambda draft: draft.set_params_text(text), typed=True)

    def set_text(self, text: str) -> None:
        self.edit(lambda draft: draft.set_text(text), typed=True)

    def show_form(self, on: bool) -> None:
        """Show the selected call's parameters as fields, or as JSON alone."""
        self.edit(lambda draft: setattr(draft, "form", on))

    def set_mode(self, mode: EditorMode) -> None:
        self.edit(lambda draft: draft.set_mode(mode))

    def paste(self, text: str, *, replacing: bool = False) -> bool:
        """Add what was copied elsewhere, or put it in place of all; False, with a notice, when it is no call."""
        problems: list[str] = []

        def change(draft: Draft) -> None:
            problems.extend(each.sentence for each in draft.paste(text, replacing=replacing))

        self.edit(change, done=tr("Calls replaced") if replacing else "")
        if problems:
            self.notice.emit(tr("Nothing was pasted. {problems}", problems=problems[0]))
        return not problems

    def new_batch(self) -> None:
        """Begin again, on the same network."""
        self.replace_calls(lambda _draft: None, tr("New batch"))

    def replace_calls(self, change: Callable[[Draft], object], done: str) -> None:
        """Begin again with what `change` makes of an empty draft. `done` is offered with Undo."""
        if self._sending:
            return
        self._undo_stack.forget("crypto_rpc", (THE_BATCH,))

        def begin(_draft: Draft) -> None:
            self.draft = Draft(self.draft.network, new_idempotency_key(self._now()))
            change(self.draft)

        self.edit(begin, done=done)
        self.runs.put(None)

    def new_key(self) -> None:
        self.edit(lambda draft: draft.set_idempotency_key(new_idempotency_key(self._now())))

    def set_key(self, key: str) -> None:
        self.edit(lambda draft: draft.set_idempotency_key(key.strip(), typed=True))

    def use_key(self, on: bool) -> None:
        self.edit(lambda draft: setattr(draft, "key_used", on))

    async def _look_at_key(self) -> None:
        """Say whether the key went with this request before, or with another one."""
        service, account, calls = self._current_account.service, self._current_account.account, self.calls
        words = (KEPT_A_DAY, "")
        if calls is not None and account is not None and service is not None and self.draft.is_whole:
            try:
                operation = self._operation()
            except NotSent as error:
                words = ("", str(error.problem.what) if error.field == KEY_FIELD else "")
            else:
                now = self._now()
                first = await calls.first_under(account.id, self.draft.key, now)
                if await self._takes_another_key(account.id, first, operation):
                    first = None
                words = key_note(first, operation.digest, now)
        if words != self._key_words:
            self._key_words = words
            self._changed()
        if words[0] != KEPT_A_DAY:
            self._minute.start()  # the time that is left runs down while nobody types

    async def _takes_another_key(self, account_id: str, first: RpcCall | None, operation: RpcOperation) -> bool:
        """Replace a generated key that was used for another request, which the service would refuse, or that was
        answered: sending again asks again. It stays while the answer is lost, and so does a key that a person typed.
        """
        if first is None or self.draft.key_typed or self.calls is None:
            return False
        if first.digest == operation.digest and not await self.calls.is_answered(account_id, first.idempotency_key):
            return False
        self.draft.set_idempotency_key(new_idempotency_key(self._now()))
        self._changed()
        return True

    def _operation(self) -> RpcOperation:
        assert self._current_account.service is not None
        draft = self.draft
        key = draft.key if draft.key_used or draft.changes_state else ""
        return prepared(self._current_account.service, draft.network, draft.filled(), batch=draft.batch, key=key)

    def _changed(self) -> None:
        self.draft_changed.emit(self.view())

    # Networks

    def networks(self) -> tuple[NetworkRow, ...]:
        return self.network_list.rows(self.draft.network)

    def star_network(self, slug: str) -> None:
        """Make a network a favorite, or an ordinary one again."""
        self.network_list.star(slug)
        self.keeper.soon()

    def refresh(self) -> None:
        """Ask again which networks there are, and count again."""
        self._tasks.replace("rpc networks", self.network_list.refresh)
        self.caps.refresh()

    def _count_again(self) -> None:
        """What was sent last is on the disk now."""
        self.caps.refresh()

    def _account_changed(self) -> None:
        self._changed()
        if self.calls is not None:
            self._tasks.replace("rpc tokens", self.tokens.read)
            self._ask_service()
            self.sent.soon()

    def _ask_service(self) -> None:
        self.refresh()
        self._tasks.replace("rpc key", self._look_at_key)

    # Sending

    @property
    def is_sending(self) -> bool:
        return self._sending

    def send(self, *, over_credits: bool = False) -> None:
        """Send the whole request, after the questions that it needs; `over_credits`: past the credits of a day."""
        view = self.view()
        if view.can_send:
            self._tasks.start_unless_running(
                "rpc send", self._send, self.draft.filled(), self.draft.batch, "", over_credits
            )

    def send_alone(self, call_id: int) -> None:
        """Send one call of the batch by itself, under a key of its own."""
        rows = [row for row in self.draft.filled() if row.id == call_id]
        if rows and not self._sending and self.calls is not None and self._current_account.service is not None:
            self._tasks.start_unless_running(
                "rpc send", self._send, (replace(rows[0], id=1),), False, new_idempotency_key(self._now())
            )

    def send_others(self, call_id: int) -> None:
        """Take a call out of the batch and send what is left; Ctrl+Z brings it back."""
        if not self._sending and 0 < call_id <= len(self.draft.rows):
            self.remove_calls((call_id - 1,))
            self.send()

    def split(self) -> None:
        """Split a batch of more calls than one request takes, or show the other part of one that was split."""
        self.edit(lambda draft: draft.set_remaining() if draft.rest else draft.split())

    def stop(self) -> bool:
        return self._tasks.cancel("rpc send")

    async def _kept_again(self, call_id: str, again: Again) -> None:
        """Keep an answer that the disk refused, and show the call as it is now. Raises `StorageError`."""
        await again()
        if self.runs.run is not None and self.runs.run.id == call_id:
            await self.runs.show(call_id)
        await self.sent.read()

    async def _send(self, rows: tuple[CallRow, ...], batch: bool, own_key: str, over_credits: bool = False) -> None:
        service, account, calls = self._current_account.service, self._current_account.account, self.calls
        if service is None or account is None or calls is None:
            return
        draft = self.draft
        key = own_key or (draft.key if draft.key_used or draft.changes_state else "")
        async with self.sending():
            operation = prepared(service, draft.network, rows, batch=batch, key=key)
            transactions = await read_transactions(rows)
            now = self._now()
            first = await calls.first_under(account.id, key, now) if key else None
            if not own_key and await self._takes_another_key(account.id, first, operation):
                operation = prepared(service, draft.network, rows, batch=batch, key=draft.key)
                first = None
            if first is not None and first.digest != operation.digest:
                raise NotSent(Problem(key_note(first, operation.digest, now)[1].rstrip("."), severity="warn"))
            await check_caps(calls, service, account, operation.estimate.credits, now, over_credits=over_credits)
            if transactions:
                question = question_of(
                    draft.network,
                    self.network_list.chain_id(draft.network),
                    tuple(transactions.values()),
                    interfaces=self.interfaces.interfaces(draft.network),
                    play=self.in_sandbox,
                    network_of=self.network_list.network_of,
                )
                if not await self.ask(question):
                    return
            await self.deliver(operation, rows, transactions)

    async def deliver(
        self, operation: RpcOperation, rows: Sequence[CallRow], transactions: dict[int, SignedTransaction]
    ) -> RpcCall:
        """Send what was agreed to, once, and show how it went. Raises `NotSent` or `StorageError` before it left."""
        service, account, calls = self.service_account_calls()
        sent = await send(service, account, calls, operation, rows, transactions, self._now(), self._waits)
        self._problem = None
        if sent.call.transactions and sent.call.state == "answered" and not sent.call.errors and sent.refused is None:
            self.tracking.watch(sent.call)
        problem = for_account(sent.problem, account) if sent.problem is not None else None
        if sent.refused is None:
            await self.runs.show(sent.call.id, problem)
        else:  # on the screen alone
            (unsaved,) = sent.refused.unsaved
            self.runs.put(await self.runs.made(sent.call, unsaved.data, (sent.call,), problem))
            sent.refused.keep_again_with(partial(self._kept_again, sent.call.id))
            self._tasks.report(sent.refused)
        return sent.call

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Let nothing else be sent meanwhile; what stops the sending is shown above the request."""
        self._set_sending(True)
        self._problem = None
        try:
            yield
        except asyncio.CancelledError:
            self._problem = None
            self._tasks.replace("rpc list", self.sent.read)
            raise
        except NotSent as error:
            self._problem = for_account(error.problem, self._current_account.account)
        except StorageError as error:
            self._problem = Problem(tr("The request was not sent"), error.sentence)
        finally:
            self._set_sending(False)
        await self.sent.read()
        await self.caps.count()
        await self.network_list.load_used()
        await self._look_at_key()

    def _waits(self, wait: RetryWait) -> None:
        self._problem = waiting_problem(wait, self._now())
        self._changed()

    def _set_sending(self, on: bool) -> None:
        self._sending = on
        self._changed()
        self.busy_changed.emit()

    # What was sent

    @property
    def sign_in_header(self) -> str:
        """The header that a wallet signs in with, "" for an account with a key."""
        service = self._current_account.service
        return service.client.sign_in_header if service is not None else ""

    def open_call(self, call_id: str) -> None:
        """Show a request again: its calls in the editor, its answer beside them."""
        self._tasks.replace("rpc open", self._open, call_id)

    async def _open(self, call_id: str) -> None:
        if self.calls is None:
            raise NoHistory
        call = await self.calls.one(call_id)
        if call.job_id:  # its row stands for all rounds: the last one is shown, the others are in the menu of runs
            runs = await self.calls.runs(call.account_id, call.digest)
            call = next((run for run in reversed(runs) if run.job_id == call.job_id), call)
        self._set_call(call)
        await self.runs.show(call.id)

    def _set_call(self, call: RpcCall) -> None:
        read = read_text(call.items)
        if read.problems:
            return

        def change(draft: Draft) -> None:
            draft.network = call.network
            draft.set_rows(read.rows, selected=0, batch=call.batch)
            answer_is_lost = call.state in ("open", "unknown")
            key = call.idempotency_key if answer_is_lost else ""
            draft.set_idempotency_key(key or new_idempotency_key(self._now()))
            draft.key_used = bool(call.idempotency_key)

        self.edit(change)

    @property
    def run(self) -> RunView | None:
        """The run on screen."""
        return self.runs.run

    @property
    def can_ask(self) -> bool:
        """True when there is an account to ask for and the disk to note it on."""
        return (
            self._current_account.service is not None
            and self._current_account.account is not None
            and self.calls is not None
        )

    def service_account_calls(self) -> tuple[Service, Account, RpcCalls]:
        """Who is asked, for whom, and where it is noted. Raises `NotSent` while one is missing."""
        service, account, calls = self._current_account.service, self._current_account.account, self.calls
        if service is None or account is None or calls is None:
            raise NotSent(Problem(tr("No account to send with"), tr("Nothing was sent."), severity="warn"))
        return service, account, calls

    def look_up(self) -> None:
        """Ask for the transactions of the run on screen by their hashes: put the calls into the editor."""
        rows = look_ups(self.run) if self.run is not None else []
        if rows:
            self.replace_calls(lambda draft: draft.set_rows(rows, selected=0), tr("Calls replaced"))

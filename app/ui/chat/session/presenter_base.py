"""What the chat presenter stands on: its signals, its parts, how work is run and how changes are told."""

from __future__ import annotations

import itertools
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.core import money
from app.core.trash import Trash
from app.storage.errors import NotStored, StorageError
from app.ui.chat.session.estimate import turn_cap_usd
from app.ui.chat.session.options import ChatOptions
from app.ui.chat.session.presenter_attachments import Attaching
from app.ui.chat.session.presenter_models import AccountModels
from app.ui.chat.session.presenter_open import OpenChat, UnsavedDraft

if TYPE_CHECKING:
    import asyncio

    from app.core.current_account import CurrentAccount
    from app.core.problems import ActionSpec
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.history import History
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.presenter_answers import Answers, Job
    from app.ui.chat.session.presenter_conversation import Conversation
    from app.ui.chat.session.presenter_library import Library
    from app.ui.chat.session.presenter_presets import ChatPresets
    from app.ui.chat.session.state_pages import Totals
    from app.ui.chat.state import ChatEntry, ChatHead

DRAFT_PAUSE_MS = 250
USE_MODEL = "use-model:"  # an action with a model's id behind it
Work = Callable[..., Awaitable[object]]


class ChatPresenterBase(QObject):
    """Signals carry frozen values of `state.py`, or rows of `message_rows.py` on `conversation`."""

    entries_changed = Signal(object)  # tuple[ChatEntry, ...]
    head_changed = Signal(object)  # ChatHead
    cost_changed = Signal(object)  # CostNote
    draft_replaced = Signal(str)  # what the box is to hold now
    attachments_changed = Signal(object)  # tuple[AttachmentView, ...]
    totals_changed = Signal(object)  # Totals
    models_changed = Signal(object)  # ModelList
    started = Signal()  # `conversation` is there
    notice = Signal(str)  # a sentence
    deprecation_found = Signal(str, str)  # a sentence, and a chat that uses the model or ""
    help_wanted = Signal(str)  # an action that another part of the window carries out: "replace-key", "top-up", …
    busy_changed = Signal()  # how many chats are being written
    calls_wanted = Signal(str)  # the message whose function calls are to be answered
    row_wanted = Signal(str, str)  # a message to bring on screen, and the words that it was found by
    hits_found = Signal(str, object)  # what was searched for, tuple[Hit, ...]
    reported = Signal(str, object)  # a title and the lines of a report that needs more room than a toast

    def __init__(
        self,
        current_account: CurrentAccount,
        settings: SettingsStore,
        tasks: TaskScope,
        undo_stack: UndoStack,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.current_account = current_account
        self._settings = settings
        self._tasks = tasks
        self._now = now
        self._numbers = itertools.count()
        self._undo_stack = undo_stack
        self.trash = Trash("chat", tasks, undo_stack)
        self.trash.failed.connect(self.notice)
        self.account_models = AccountModels(current_account, settings)
        self.opened = OpenChat(current_account, self.account_models)
        self._clock = clock
        self.attaching = Attaching(self.opened, self._do, self._keep_draft, self)
        self.attaching.changed.connect(self._attachments_changed)
        self.attaching.told.connect(self.notice)
        self._answers: Answers | None = None
        self.library: Library | None = None
        self.presets: ChatPresets | None = None
        self.conversation: Conversation | None = None
        self._history: History | None = None
        self._refused: Work | None = None  # what the disk refused last
        self._left: list[UnsavedDraft] = []  # oldest first
        self._rows: dict[int, str] = {}  # the chats that got a row while they were open, by `OpenChat.opening`
        self._draft_timer = QTimer(self)
        self._draft_timer.setSingleShot(True)
        self._draft_timer.setInterval(DRAFT_PAUSE_MS)
        current_account.account_changed.connect(self._account_changed)
        current_account.numbers_changed.connect(self._numbers_changed)

    @cached_property
    def _creating(self) -> asyncio.Lock:
        """Held while the open chat gets its row, so that it gets one."""
        import asyncio  # not before the window is painted

        return asyncio.Lock()

    @cached_property
    def _storing(self) -> asyncio.Lock:
        """Held while a draft is written: who comes second finds it on the disk, not under way to it."""
        import asyncio  # not before the window is painted

        return asyncio.Lock()

    # What changed

    def _account_changed(self) -> None:
        self.account_models.forget()
        self.opened.account_changed()
        if self._history is not None:
            self._do(self._load_models)
        self._all_changed()

    async def _load_models(self) -> None:
        await self.account_models.load_saved()
        self._models_changed()
        self._all_changed()

    def _numbers_changed(self) -> None:
        self._models_changed()
        self._head_changed()
        if self._history is not None:
            self._do(self.account_models.save)

    def _conversation_changed(self, chat_id: str) -> None:
        """An answer began or ended in a chat: its row in the list has another cost and another time."""
        if self.library is not None and self.library.get(chat_id) is not None:
            self._do(self._reread, chat_id)
        self._all_changed()

    async def _reread(self, chat_id: str) -> None:
        assert self.library is not None
        if self.library.get(chat_id) is not None:
            await self.library.reread(chat_id)
            self.publish_list()

    def _all_changed(self) -> None:
        self.publish_list()
        self._head_changed()
        if self._history is not None:
            self.totals_changed.emit(self.totals())

    def totals(self) -> Totals:
        """What the open chat has used, all branches together."""
        from app.ui.chat.session.presenter_totals import totals_of

        return totals_of(self.opened.thread.all(), self.account_models.name_of, self.current_account.is_sandbox)

    def publish_list(self) -> None:
        """Tell the page every chat, once they are read."""
        if self.library is not None:
            self.entries_changed.emit(self._entries(self.library))
        self.busy_changed.emit()

    def _entries(self, library: Library) -> tuple[ChatEntry, ...]:
        waiting = self._answers.waiting() if self._answers is not None else {}
        return library.entries(self._writing(), waiting, self._now(), self.account_models.name_of)

    @property
    def answers(self) -> Answers:
        """All answers under way. There are none before `start`, which makes this."""
        assert self._answers is not None
        return self._answers

    def _writing(self) -> frozenset[str]:
        return self._answers.writing() if self._answers is not None else frozenset()

    def head(self) -> ChatHead:
        """The open chat as it is now."""
        return self.opened.head(writing=self.opened.chat_id in self._writing())

    def _head_changed(self) -> None:
        self.attaching.follow()
        self.head_changed.emit(self.head())
        self.cost_changed.emit(self.opened.cost())

    def _attachments_changed(self, views: object) -> None:
        self.attachments_changed.emit(views)
        self._head_changed()

    @abstractmethod
    async def _keep_draft(self) -> None:
        """Put what is in the box on the disk."""

    def _cheaper_model(self, job: Job) -> ActionSpec | None:
        """The cheapest model that is listed, when it is not the one that was asked."""
        from app.core.problems import ActionSpec

        cheapest = self.account_models.cheapest()
        if cheapest is None or cheapest.id == job.request.model:
            return None
        options = ChatOptions(reply_limit=job.request.max_completion_tokens)
        cap = turn_cap_usd(cheapest, options, job.prompt_tokens, 0)
        price = f", {money.at_most(cap)}" if cap is not None else ""
        return ActionSpec(f"{USE_MODEL}{cheapest.id}", f"Use {cheapest.name}{price}")

    def _models_changed(self) -> None:
        self.account_models.remember_glimpse()
        self.models_changed.emit(self.account_models.list_for(self.opened.model_id))

    # Work

    def _do(self, work: Work, *args: object) -> None:
        """Run a piece of work of its own; a refusing disk becomes the page's problem."""
        self._tasks.start(f"chat-{next(self._numbers)}", self._guarded, work, args)

    async def _guarded(self, work: Work, args: tuple[object, ...]) -> None:
        try:
            await work(*args)
        except NotStored as error:
            self.notice.emit(error.sentence)
        except StorageError as error:
            from app.ui.chat.session.presenter_answers import disk_problem

            self.opened.problem, self._refused = disk_problem(error), work
            self._head_changed()
        else:
            # What went well beside it, a read perhaps, does not mean that the disk takes things again.
            if self.opened.problem is not None and self._refused in (None, work):
                self.opened.problem = None
                self._head_changed()

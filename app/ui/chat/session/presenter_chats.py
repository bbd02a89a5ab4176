"""The half of the chat presenter that is about the list; signals, parts and work, on which both halves stand."""

from __future__ import annotations

import itertools
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.core import money
from app.core.trash import Trash, TrashEntry, moved_text
from app.storage.errors import NotStored, StorageError
from app.ui.chat.session.account_models import AccountModels
from app.ui.chat.session.chat_options import ChatOptions
from app.ui.chat.session.composer_attachments import Attaching
from app.ui.chat.session.estimate import turn_cap_usd
from app.ui.chat.session.open_chat import OpenChat, UnsavedDraft, typed_since
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.state import MOST_HITS, Hit

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable
    from pathlib import Path

    from app.core.current_account import CurrentAccount
    from app.core.problems import ActionSpec
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.conversations import SearchHit
    from app.storage.history import History
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.answer_queue import AnswerQueue, Job
    from app.ui.chat.session.chat_library import ChatLibrary
    from app.ui.chat.session.chat_presets import ChatPresets
    from app.ui.chat.session.export import ExportForm
    from app.ui.chat.session.import_export import Transfer
    from app.ui.chat.session.open_conversation import Conversation
    from app.ui.chat.session.state_pages import Totals
    from app.ui.chat.state import ChatEntry, ChatHead, DeprecatedModel


DRAFT_PAUSE_MS = 250
USE_MODEL = "use-model:"  # an action with a model's id behind it
Work = Callable[..., Awaitable[object]]


class ChatPresenterChats(QObject):
    """The half of the presenter that is about the list. The other half opens chats and talks in them.

    Signals carry frozen values of `state.py`, or rows of `message_rows.py` on `conversation`.
    """

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
        self._answers: AnswerQueue | None = None
        self.library: ChatLibrary | None = None
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
        from app.ui.chat.session.totals import totals_of

        return totals_of(self.opened.thread.all(), self.account_models.name_of, self.current_account.is_sandbox)

    def publish_list(self) -> None:
        """Tell the page every chat, once they are read."""
        if self.library is not None:
            self.entries_changed.emit(self._entries(self.library))
        self.busy_changed.emit()

    def _entries(self, library: ChatLibrary) -> tuple[ChatEntry, ...]:
        waiting = self._answers.waiting() if self._answers is not None else {}
        return library.entries(self._writing(), waiting, self._now(), self.account_models.name_of)

    @property
    def answers(self) -> AnswerQueue:
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
            from app.ui.chat.session.answer_queue import disk_problem

            self.opened.problem, self._refused = disk_problem(error), work
            self._head_changed()
        else:
            # What went well beside it, a read perhaps, does not mean that the disk takes things again.
            if self.opened.problem is not None and self._refused in (None, work):
                self.opened.problem = None
                self._head_changed()

    # What the other half does

    @abstractmethod
    async def _open_chat(self, chat_id: str, before: str | None = None, unless_typed: bool = False) -> bool:
        """Show another chat, with its draft in the box."""

    @abstractmethod
    def set_draft(self, text: str) -> None:
        """The box holds another text now."""

    @abstractmethod
    def _shown(self) -> None:
        """Tell everyone that another chat is open now."""

    @abstractmethod
    def _remember_chat(self, chat_id: str) -> None:
        """Open this chat at the next start; "" for a new one."""

    @abstractmethod
    async def _keep_draft_now(self, draft: str) -> None:
        """Put what was in the box on the disk before anything else happens to the chat."""

    @abstractmethod
    async def _stored_chat_id(self) -> str:
        """Return the open chat's id, after storing it if it had none."""

    def rename(self, chat_id: str | None, title: str) -> None:
        """Give a chat a title of one's own; an empty one changes nothing."""
        words = " ".join(title.split())
        if words:
            self._do(self._change, chat_id, {"title": words})

    def pin(self, chat_id: str, on: bool) -> None:
        self._do(self._change, chat_id, {"pinned": on})

    async def _change(self, chat_id: str | None, changes: dict[str, Any]) -> None:
        assert self.library is not None
        if chat_id is None:
            chat_id = await self._stored_chat_id()
        chat = await self.library.change(chat_id, **changes)
        if chat_id == self.opened.chat_id:
            self.opened.title = chat.title
        self._all_changed()

    def duplicate(self, chat_id: str) -> None:
        """Copy a chat with all its branches and open the copy."""
        self._do(self._duplicate, chat_id, None)

    def branch_off(self, message_id: str) -> None:
        """Copy the branch down to one message: go another way from there, with the original untouched."""
        self._do(self._duplicate, self.opened.chat_id, message_id)

    async def _duplicate(self, chat_id: str, leaf_id: str | None) -> None:
        assert self.library is not None
        copy = await self.library.duplicate(chat_id, leaf_id)
        await self._open_chat(copy.id)

    # The newest turns, by key

    def continue_last(self) -> None:
        """Go on with the newest answer, when it was cut or stopped."""
        message = self.opened.thread.last_of("assistant")
        if message is not None and message.state in ("stopped", "interrupted"):
            self.act(message.id, "continue")

    def edit_last_answer(self) -> None:
        message = self.opened.thread.last_of("assistant")
        if message is not None:
            self.act(message.id, "edit-answer")

    def show_sibling(self, message_id: str, step: int) -> None:
        """Another version of a turn; without an id of the last one that has several."""
        thread = self.opened.thread
        if thread.get(message_id) is None:
            several = (each.id for each in reversed(thread.shown()) if len(thread.siblings(each.id)) > 1)
            message_id = next(several, "")
        if message_id:
            self.act(message_id, "next" if step > 0 else "previous")

    @abstractmethod
    def act(self, message_id: str, action: str) -> None:
        """Do what a control of a message says."""

    # The trash

    def move_to_trash(self, chat_ids: Iterable[str]) -> None:
        """Take chats off the list. An answer under way is stopped first, its words are kept."""
        self._do(self._move_to_trash, tuple(chat_ids), self.opened.draft)

    async def _move_to_trash(self, chat_ids: tuple[str, ...], before: str) -> None:
        """`before` is what was in the box when it was asked for: what came since then is the next chat's."""
        assert self.library is not None
        titles = []
        for chat_id in chat_ids:
            chat = self.library.get(chat_id)
            titles.append((chat.title if chat is not None else "") or NEW_CHAT)
            self.answers.stop(chat_id)
            if chat_id == self.opened.chat_id:
                await self._keep_draft_now(before)
            await self.library.trash(chat_id)
            if chat_id == self.opened.chat_id:
                now = self.opened.draft
                typed = typed_since(before, now)
                self.opened.open_new()
                self.set_draft(now if typed is None else typed)
                self._remember_chat("")
                self._shown()
        self._all_changed()
        await self.trash.moved(chat_ids, moved_text(titles, "chats"))

    async def _trashed(self) -> tuple[TrashEntry, ...]:
        return await self.library.trashed(self._now()) if self.library is not None else ()

    async def _restore(self, chat_ids: tuple[str, ...]) -> None:
        """Put chats back into the list and open the last of them."""
        assert self.library is not None
        for chat_id in chat_ids:
            await self.library.restore(chat_id)
        await self._open_chat(chat_ids[-1])
        self._all_changed()

    async def _delete(self, chat_ids: tuple[str, ...]) -> None:
        assert self.library is not None
        for chat_id in chat_ids:
            await self.library.purge(chat_id)

    # Models that go

    def deprecations(self) -> DeprecatedModel | None:
        """The open chat's model, when the service will remove it."""
        from app.ui.chat.session.account_models import retires_text
        from app.ui.chat.state import DeprecatedModel

        model = self.opened.model
        if model is None or model.deprecation is None or self.library is None:
            return None
        replacement_id = model.deprecation.replacement_model_id
        return DeprecatedModel(
            model.id,
            model.name,
            retires_text(model),
            replacement_id,
            self.account_models.name_of(replacement_id) if replacement_id else "",
            self.library.models_in_use().get(model.id, 0),
            can_replace=self.account_models.get(replacement_id) is not None,
        )

    def publish_deprecations(self) -> None:
        """Say, once for good, which models in use the service will remove."""
        if self.library is None or not any(model.deprecation is not None for model in self.account_models.models()):
            return
        from app.ui.chat.session.deprecation import deprecation_news

        news = deprecation_news(self.account_models, self.library, self.account_models.settings, self.opened.model_id)
        if news is not None:
            self.deprecation_found.emit(news.sentence, news.chat_id)

    def changes_to(self, model_id: str) -> tuple[str, ...]:
        """What becomes different when `model_id` takes the place of the open chat's model."""
        from app.ui.chat.session.model_changes import changes

        old, new = self.opened.model, self.account_models.get(model_id)
        return changes(old, new) if old is not None and new is not None else ()

    def replace_model(self, old_id: str, new_id: str) -> None:
        """Let every chat that uses a model use another one from now on."""
        self._do(self._replace_model, old_id, new_id)

    async def _replace_model(self, old_id: str, new_id: str) -> None:
        assert self.library is not None
        number = 0
        for chat_id in self.library.using(old_id):
            await self.library.change(chat_id, model=new_id)
            number += 1
        name = self.account_models.name_of(new_id)
        self.notice.emit(f"{name} answers in {number:,} chats now" if number != 1 else f"{name} answers now")
        self._all_changed()

    # Search

    @cached_property
    def _search(self) -> Search:

        assert self._history is not None
        return Search(self._history, self.account_models.name_of, self._now)

    def search(self, text: str) -> None:
        """Search all chats outside the trash; the newest text wins. `hits_found` tells."""
        if self._history is not None:
            self._tasks.replace("search-chats", self._guarded, self._find, (text,))

    async def _find(self, text: str) -> None:
        self.hits_found.emit(text, await self._search.hits(text))

    def open_hit(self, chat_id: str, message_id: str, text: str) -> None:
        """Open a chat at a message, on the branch that it stands on."""
        args = (chat_id, message_id, text, self.opened.draft)
        self._tasks.replace("open-chat", self._guarded, self._open_hit, args)

    async def _open_hit(self, chat_id: str, message_id: str, text: str, before: str) -> None:
        if chat_id != self.opened.chat_id:
            await self._open_chat(chat_id, before)
        if message_id and self.conversation is not None and self.opened.thread.get(message_id) is not None:
            await self.conversation.show_branch_of(message_id)
            self.row_wanted.emit(message_id, text)

    # Export and import

    @cached_property
    def transfer(self) -> Transfer:
        from app.ui.chat.session.import_export import Transfer

        assert self._history is not None
        return Transfer(self._history, self.account_models.name_of)

    def export(self, chat_id: str, path: Path, form: ExportForm) -> None:
        """Write a chat into a file that the person named."""
        self._do(self._export, chat_id, path, form)

    async def _export(self, chat_id: str, path: Path, form: ExportForm) -> None:
        self.notice.emit(await self.transfer.export(chat_id, path, form))

    def import_files(self, paths: tuple[Path, ...]) -> None:
        """Take the chats in files; what was taken and what not is reported at the end."""
        if self._history is not None:
            self._tasks.start("import-chats", self._guarded, self._import, (paths,))

    async def _import(self, paths: tuple[Path, ...]) -> None:
        assert self.library is not None
        account = self.current_account.account.id if self.current_account.account is not None else ""
        report = await self.transfer.take(paths, account)
        await self.library.load()
        self.publish_list()
        if report.newest:
            await self._open_chat(report.newest)
        self.reported.emit(report.title, report.lines)


_SPEAKERS = {"user": "You", "assistant": "Answer", "tool": "Your answer for a function"}


class Search:
    """Over all chats outside the trash. Raises `StorageError`."""

    def __init__(self, history: History, name_of: Callable[[str], str], now: Callable[[], datetime]) -> None:
        self._history = history
        self._name_of = name_of
        self._now = now

    async def hits(self, text: str) -> tuple[Hit, ...]:
        """Titles, then messages, that hold every word of `text`, newest first; at most fifty."""
        found = await self._history.search(text, MOST_HITS)
        now = self._now()
        return tuple(_hit(each, now) for each in found)


def _hit(found: SearchHit, now: datetime) -> Hit:
    when = money.when(found.created_at, now)
    said = "Title" if found.message_id is None else _SPEAKERS.get(found.role, found.role.capitalize())
    return Hit(
        chat_id=found.chat_id,
        chat_title=found.chat_title or NEW_CHAT,
        message_id=found.message_id or "",
        note=f"{said} · {when}",
        text=found.snippet.text,
        marks=found.snippet.marks,
    )

"""What the chat tab shows and what its controls mean. QtCore only, no widgets.

The open chat may be one that is not on disk yet (`chat_id` None): it is stored with the first text typed into it.
Everything a person types is on disk before it is shown as sent; an answer's row is there before its first word.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import money
from app.core.problems import ActionSpec
from app.core.trash import Trash, TrashEntry, TrashKind, move_rows, moved_text
from app.core.undo import UndoCommand
from app.storage.errors import NoHistory, NotStored, StorageError
from app.translation import tr
from app.ui.chat.composer.attachment import attachments_of
from app.ui.chat.session.account_models import AccountModels
from app.ui.chat.session.chat_drafts import ChatDrafts
from app.ui.chat.session.chat_options import ChatOptions, next_web_search, options_with
from app.ui.chat.session.composer_attachments import ComposerAttachments
from app.ui.chat.session.estimate import turn_cap_usd
from app.ui.chat.session.message_actions import USE_MODEL, MessageActions
from app.ui.chat.session.open_chat import OpenChat, WholeBranch, typed_since
from app.ui.chat.session.seal import NO_COMPARING
from app.ui.chat.session.seal_actions import SealActions
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.state import CharacterHead, ProjectSection
from app.ui.kit.markdown.citations import has_markers, in_numbers
from app.ui.kit.qt_workarounds.garbage_collector import set_aside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from app.core.current_account import CurrentAccount
    from app.core.leaving_models import LeavingNotice
    from app.core.other_model import OtherModel
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.storage.chat_rows import Chat, Message
    from app.storage.chat_store import ChatStore
    from app.storage.receipts import Receipt
    from app.storage.service_cache import ServiceCache
    from app.storage.settings import SettingsStore
    from app.ui.chat.session.answer_queue import AnswerQueue, Job
    from app.ui.chat.session.chat_documents import ChatDocuments
    from app.ui.chat.session.chat_library import ChatLibrary, Search
    from app.ui.chat.session.chat_presets import ChatPresets
    from app.ui.chat.session.chat_projects import ChatProjects
    from app.ui.chat.session.chat_seals import ChatSeals, Sessions
    from app.ui.chat.session.conversation import Conversation
    from app.ui.chat.session.deprecation import DeprecationNews
    from app.ui.chat.session.import_export import TransferActions
    from app.ui.chat.session.inspector_state import Totals
    from app.ui.chat.session.message_moves import MessageMoves
    from app.ui.chat.session.question_passages import QuestionPassages
    from app.ui.chat.session.structured_output import Structure
    from app.ui.chat.state import ChatEntry, ChatHead
    from app.ui.kit.lists.rows import LazyRows

LONG_CHAT = 400  # messages; more are shown from their end first
SHOWN_FIRST = 40  # more than any screen holds
Work = Callable[..., Awaitable[object]]


def text_to_edit(message: Message) -> str:
    """Return a turn as it is edited: the marks of its sources as numbers."""
    is_marked = message.role == "assistant" and (message.sources or has_markers(message.content))
    return in_numbers(message.content) if is_marked else message.content


class ChatPresenter(QObject):
    """One for the whole tab. `start` gives it the disk; until then it takes text, but nothing is sent.

    Signals carry frozen values of `state.py`, or rows of `message_rows.py` on `conversation`.
    """

    entries_changed = Signal(object, object)  # Sequence[ChatEntry] in no project, tuple[ProjectSection, ...]
    head_changed = Signal(object)  # ChatHead
    cost_changed = Signal(object)  # CostNote
    draft_replaced = Signal(str)  # what the box is to hold now
    attachments_changed = Signal(object)  # tuple[AttachmentView, ...]
    totals_changed = Signal()  # what `totals` returns
    models_changed = Signal(object)  # ModelList
    presets_changed = Signal(object)  # tuple[PresetRow, ...], by name
    started = Signal()  # `conversation` is there
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    deprecation_found = Signal(str, str)  # a sentence, and a chat that uses the model or ""
    help_requested = Signal(str)  # an action that another part of the window carries out: "replace-key", "top-up", …
    busy_changed = Signal()  # how many chats are being written
    calls_requested = Signal(str)  # the message whose function calls are to be answered
    row_requested = Signal(str, str)  # a message to bring on screen, and the words that it was found by
    hits_found = Signal(str, object)  # what was searched for, tuple[Hit, ...]
    private_leaving = Signal(object)  # tuple[str, ...]: private chats that are to be discarded, or kept
    follow_asked = Signal(str, str, object)  # id and name of an imported project, and the paths that it followed
    reported = Signal(str, object)  # a title and the lines of a report that needs more room than a toast

    def __init__(
        self,
        current_account: CurrentAccount,
        settings: SettingsStore,
        tasks: TaskScope,
        undo_stack: UndoStack,
        *,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.current_account = current_account
        self._settings = settings
        self._tasks = tasks
        self._numbers = itertools.count()
        self._undo_stack = undo_stack
        self.trash = Trash("chat", tasks, undo_stack)
        self.trash.failed.connect(self.notice.emit)
        self.account_models = AccountModels(current_account, settings)
        self.opened = OpenChat(current_account, self.account_models)
        self.opened.follow_defaults()
        self.opened.is_coming = bool(settings.value.last_chat)
        self.drafts = ChatDrafts(self.opened, settings, self.do, self._remember_chat, self.publish_list, self)
        self.attaching = ComposerAttachments(self.opened, self.do, self.drafts.keep, self)
        self.attaching.changed.connect(self._attachments_changed)
        self.attaching.notice.connect(self.notice)
        self.message_actions = MessageActions(self, undo_stack)
        self.seal_actions = SealActions(self, settings, tasks)
        self._answers: AnswerQueue | None = None
        self.library: ChatLibrary | None = None
        self._search: Search | None = None
        self.presets: ChatPresets | None = None
        self.conversation: Conversation | None = None
        self.passages: QuestionPassages | None = None
        self._history: ChatStore | None = None
        self._refused: Work | None = None  # what the disk refused last
        self._due: list[Callable[[], None]] = []  # what is to be published, one in each turn
        self._listed_on: date | None = None  # the day that the headings of the list were made for
        current_account.account_changed.connect(self._account_changed)
        current_account.numbers_changed.connect(self._numbers_changed)
        settings.subscribe(lambda _settings: self._defaults_changed())

    # Beginning and end

    async def start(
        self, history: ChatStore, service_cache: ServiceCache | None = None, sealed: Sessions | None = None
    ) -> None:
        """Take the opened history: mark what was cut off, list the chats, open the last one. Raises `StorageError`.

        Text typed before this stays in the box, and then no old chat is opened over it. `sealed` gives what seals
        chats; without it none can be.
        """
        # Imported here: the window is painted before the history is opened.
        from app.ui.chat.session import answer_queue, chat_library, question_passages
        from app.ui.chat.session.conversation import Conversation

        await history.mark_interrupted()
        self.opened.has_history = True
        self._history = history
        self.attaching.start(history)
        self.library = chat_library.ChatLibrary(history)
        self.drafts.start(self.library)
        projects = self.library.projects
        await projects.start(
            self.do, self._undo_stack, self.trash, lambda chat_ids: self._move_to_trash(chat_ids, self.opened.draft)
        )
        await self.library.documents.start(self.do, self.current_account, service_cache)
        self.opened.documents_of = self.library.documents.paths
        self.opened.question_cost = self.library.documents.embeddings.question_cost
        self.library.documents.embeddings.changed.connect(lambda _: self.cost_changed.emit(self.opened.cost()))
        self.library.documents.paths_changed.connect(self.publish_head)
        self.passages = question_passages.QuestionPassages(
            self.opened, self.attaching, self.library.documents, self.notice.emit
        )
        await self.library.load()  # behind the projects, so that the chats are sorted once
        self.opened.project_of = projects.one
        projects.changed.connect(self.opened.changed)
        projects.changed.connect(self.publish_all)
        projects.moved_chats.connect(self._chats_moved)
        self._search = chat_library.Search(history, self.account_models.name_of, lambda: datetime.now(UTC))
        self.trash.add_kind(TrashKind(self._trashed, self._restore, self._delete))
        self.account_models.service_cache = service_cache
        self._answers = answer_queue.AnswerQueue(
            self.current_account, self._tasks, self._cheaper_model, sealed, time.monotonic, self
        )
        self.answers.start(history, service_cache)
        self.conversation = Conversation(
            self.opened, self.library, self.answers, history, service_cache, self.drafts.ensure_chat, self
        )
        self.conversation.head_changed.connect(self._conversation_changed)
        self.answers.changed.connect(lambda _row: self._publish_soon(self.publish_list))
        self.answers.ended.connect(self._answer_ended)
        self.answers.seal_failed.connect(self.seal_actions.take_back)
        self.seals.changed.connect(self._seal_changed)
        self.opened.seal_status = self.seals.status
        self.started.emit()
        last = self.library.get(self._settings.value.last_chat)
        if last is not None and await self._show_end(last.id, unless_typed=True):
            self._publish_soon(self.publish_list)
            self._tasks.start_unless_running("open-chat", self.guarded, self._open_rest, ())
        else:
            self.opened.is_coming = False
            self.conversation.show()
            self.publish_all()
            if self.opened.draft.strip():
                self.drafts.timer.start()
        self.do(self.drafts.keep_left)  # of chats that were begun and left before this
        await self.account_models.load_saved()
        self._models_changed()
        await self.account_models.save()
        self.do(self._sweep, history)
        from app.ui.chat.session.chat_presets import ChatPresets

        self.presets = ChatPresets(
            self.opened, self.do, self._undo_stack, self._use_preset_options, self.use_model, self.use_character, self
        )
        self.trash.add_kind(self.presets.trash_kind)
        from app.ui.chat.session.deprecation import ChatModelUses

        self.current_account.leaving.add_user(ChatModelUses(self))
        self.current_account.leaving.changed.connect(self._announce_leaving)
        self.presets.changed.connect(self.presets_changed)
        await self.presets.start(history.presets)

    async def _sweep(self, history: ChatStore) -> None:
        """Remove the files of attachments that no message and no draft names any more."""
        import asyncio  # not before the window is painted

        used = await history.used_attachments()
        await asyncio.to_thread(history.files.sweep, used)

    async def aclose(self) -> None:
        """Keep the draft. Call before the tasks are closed; answers under way are then kept as interrupted."""
        if self._answers is not None:
            self.seals.wipe_all()
        if self.library is not None:
            self.library.documents.close()
        await self.drafts.aclose()

    # What changed

    def _account_changed(self) -> None:
        if self._answers is not None:
            self.seals.wipe_all()
        self.account_models.forget()
        self.opened.follow_defaults()
        if self._history is not None:
            self.do(self._load_models)
        self.publish_all()

    async def _load_models(self) -> None:
        await self.account_models.load_saved()
        self._models_changed()
        self.publish_all()

    def _defaults_changed(self) -> None:
        if self.opened.follow_defaults():
            self.publish_head()

    def _numbers_changed(self) -> None:
        self._models_changed()
        self.publish_head()
        if self._history is not None:
            self.do(self.account_models.save)

    def _conversation_changed(self, chat_id: str) -> None:
        """An answer began or ended in a chat: its row in the list has another cost and another time."""
        if self.library is not None and self.library.get(chat_id) is not None:
            self.do(self._reread, chat_id)
        self._publish_soon()

    async def _reread(self, chat_id: str) -> None:
        if self.library is None:
            raise NoHistory
        if self.library.get(chat_id) is not None:
            await self.library.reread(chat_id)
            self._publish_soon(self.publish_list)

    def publish_all(self) -> None:
        self.publish_list()
        self.publish_head()
        self._publish_totals()

    def _publish_soon(self, *parts: Callable[[], None]) -> None:
        """Publish these, or all, beside a message that is sent or an answer that ends, and each once.

        Each has a turn of its own: on a slow machine the window paints and takes keys between them.
        """
        parts = parts or (self._publish_open, self._publish_cost, self._publish_totals, self.publish_list)
        self._due += (part for part in parts if part not in self._due)
        self._tasks.start_unless_running("publish chat", self._publish_due)

    async def _publish_due(self) -> None:
        import asyncio  # not before the window is painted

        while self._due:
            await asyncio.sleep(0)
            if self._due:  # `publish_head` may have been faster
                self._due.pop(0)()

    def _publish_totals(self) -> None:
        if self._history is not None:
            self.totals_changed.emit()

    def totals(self) -> Totals:
        """What the open chat has used, all branches together."""
        from app.ui.chat.session.totals import totals_of

        return totals_of(self.opened.thread.all(), self.account_models.name_of, self.current_account.is_sandbox)

    def publish_list(self) -> None:
        """Tell the page every chat, once they are read."""
        if self.library is not None:
            self._listed_on = datetime.now(UTC).astimezone().date()
            projects = self.library.projects.entries()
            sections = tuple(ProjectSection(each, self._entries(self.library, project=each.id)) for each in projects)
            self.entries_changed.emit(self._entries(self.library), sections)
        self.busy_changed.emit()

    def under_way(self) -> tuple[ChatEntry, ...]:
        """The rows of the chats in which an answer is written, or waits to be."""
        return tuple(self._entries(self.library, only=self.writing())) if self.library is not None else ()

    def every_entry(self) -> Sequence[ChatEntry]:
        """The rows of all chats, whatever project they are in."""
        return self._entries(self.library, project=None) if self.library is not None else ()

    def _entries(
        self, library: ChatLibrary, only: Iterable[str] | None = None, project: str | None = ""
    ) -> LazyRows[Chat, ChatEntry]:
        waiting = self._answers.waiting() if self._answers is not None else {}
        name_of = self.account_models.name_of
        return library.entries(self.writing(), waiting, datetime.now(UTC), name_of, only=only, project=project)

    @property
    def answers(self) -> AnswerQueue:
        """All answers under way. There are none before `start`, which makes this."""
        if self._answers is None:
            raise NoHistory
        return self._answers

    @property
    def seals(self) -> ChatSeals:
        """The locks of all chats. There are none before `start`, which makes this."""
        return self.answers.seals

    def writing(self) -> frozenset[str]:
        return self._answers.writing() if self._answers is not None else frozenset()

    def head(self) -> ChatHead:
        """The open chat as it is now."""
        return self.opened.head(writing=self.opened.chat_id in self.writing())

    def publish_head(self) -> None:
        now = (self._publish_open, self._publish_cost)
        self._due = [part for part in self._due if part not in now]
        for part in now:
            part()

    def _publish_open(self) -> None:
        self.attaching.follow()
        self.head_changed.emit(self.head())

    def _publish_cost(self) -> None:
        self.cost_changed.emit(self.opened.cost())

    def _seal_changed(self, chat_id: str) -> None:
        if chat_id == self.opened.chat_id:
            self.publish_head()

    def _attachments_changed(self, views: object) -> None:
        self.attachments_changed.emit(views)
        self._publish_soon(self._publish_open, self._publish_cost)

    def _cheaper_model(self, job: Job) -> ActionSpec | None:
        """The cheapest model that is listed, when it is not the one that was asked."""

        cheapest = self.account_models.cheapest()
        if cheapest is None or cheapest.id == job.request.model:
            return None
        options = ChatOptions(reply_limit=job.request.max_completion_tokens)
        cap = turn_cap_usd(cheapest, options, job.prompt_tokens, 0)
        balance = self.current_account.balance
        if cap is not None and balance is not None and cap > balance:
            return None  # it would be refused as well
        words = tr("Use {name}", name=cheapest.name)
        if cap is not None:
            words = tr("Use {name} for {price}", name=cheapest.name, price=money.at_most(cap))
        return ActionSpec(f"{USE_MODEL}{cheapest.id}", words)

    def _models_changed(self) -> None:
        self.account_models.remember_glimpse()
        if self.conversation is not None:
            self.conversation.names_changed()
        self.models_changed.emit(self.account_models.list_for(self.opened.model_id))

    # Work

    def do(self, work: Work, *args: object) -> None:
        """Run a piece of work of its own; a refusing disk becomes the page's problem."""
        self._tasks.start_unless_running(f"chat-{next(self._numbers)}", self.guarded, work, args)

    def take_correction(self, before: Receipt, after: Receipt) -> None:
        """Show what an answer cost, which was not known when it ended."""
        if after.tab == "chat" and self._history is not None:
            change = (after.cost_usd or Decimal(0)) - (before.cost_usd or Decimal(0))
            self.do(self._correct, after.id, change, after.cost_source)

    async def _correct(self, exchange_id: str, change_usd: Decimal, source: str) -> None:
        if self._history is None or self._answers is None or self.library is None:
            raise NoHistory
        message = await self._history.correct_cost(exchange_id, change_usd, source)
        if message is not None:
            await self.library.reread(message.chat_id)
            self._answers.receipt_came.emit(message)

    async def guarded(self, work: Work, args: tuple[object, ...]) -> None:
        try:
            await work(*args)
        except NotStored as error:
            self.notice.emit(error.sentence)
        except StorageError as error:
            from app.ui.chat.session.answer_queue import disk_problem

            self.opened.problem, self._refused = disk_problem(error), work
            self.publish_head()
        else:
            # What went well beside it, a read perhaps, does not mean that the disk takes things again.
            if self.opened.problem is not None and self._refused in (None, work):
                self.opened.problem = None
                self.publish_head()

    # The list

    @property
    def documents(self) -> ChatDocuments:
        """The documents of projects; there from `start` on."""
        if self.library is None:
            raise NoHistory
        return self.library.documents

    @property
    def projects(self) -> ChatProjects:
        """There are none before `start`."""
        if self.library is None:
            raise NoHistory
        return self.library.projects

    def _chats_moved(self, places: Mapping[str, str | None]) -> None:
        chat_id = self.opened.chat_id
        if chat_id is not None and chat_id in places:
            self.opened.project_id = places[chat_id]
            self.opened.changed()

    def new_chat(
        self, character: CharacterHead | None = None, project_id: str | None = None, *, private: bool = False
    ) -> None:
        """An empty chat, with a character or without, in a project or in none; the box is its own at once.

        A `private` one is in memory alone.
        """
        self._tasks.cancel("open-chat")
        self.drafts.leave()
        self.opened.open_new(character=character, project_id=project_id, private=private)
        self._remember_chat("")
        self._shown()

    def open_chat(self, chat_id: str) -> None:
        """Show a chat; the newest call wins."""
        if chat_id != self.opened.chat_id:
            self._tasks.replace("open-chat", self.guarded, self.show_chat, (chat_id, self.opened.draft))

    async def show_chat(self, chat_id: str, before: str | None = None) -> None:
        """Show a chat; what was added since to the draft `before` goes into its box."""
        try:
            await self._show_end(chat_id, before)
        except NotStored:
            await self._open_rest()  # of the one that stays on screen: it may have been opening until now
            raise
        await self._open_rest()

    async def _show_end(self, chat_id: str, before: str | None = None, unless_typed: bool = False) -> bool:
        """The same, of a long chat the newest messages alone.

        `unless_typed`: False, and nothing happens, when there is something in the box.
        """
        if self._history is None or self.library is None:
            raise NoHistory
        before = self.opened.draft if before is None else before
        left = self.drafts.left_in(chat_id)
        chat = await self._history.chat(chat_id)
        is_edited = bool(chat.edited_id or (left is not None and left.draft.edited_id))  # and the turn may be far up
        is_long = chat.message_count > LONG_CHAT and not is_edited and self.answers.live_in(chat_id) is None
        if is_long:
            messages = await self._history.newest_messages(chat_id, SHOWN_FIRST)
        else:
            messages = await self._history.messages(chat_id)
        if unless_typed and (self.opened.draft.strip() or self.opened.attachments):
            return False
        typed = typed_since(before, self.opened.draft)
        if typed:
            self.opened.draft = before
        self.drafts.leave()
        if chat != self.library.get(chat_id):
            self.library.put(chat)
            self._publish_soon(self.publish_list)
        self.opened.open(chat, messages, whole=not is_long)
        self.opened.private = self._history.is_private(chat_id)
        left = self.drafts.left_in(chat_id) or left
        if left is not None:
            self.opened.take_draft(left.draft)
        self.opened.draft += typed or ""
        self._remember_chat(chat_id)
        self._shown()
        if typed:
            self.drafts.timer.start()
        return True

    async def _open_rest(self) -> None:
        """Bring in what stands above the screen of a long chat, in pieces that nobody notices."""
        import asyncio  # not before the window is painted

        if self._history is None or self.conversation is None:
            raise NoHistory
        chat_id = self.opened.chat_id
        if not self.opened.is_whole and chat_id is not None:
            messages = await self._history.messages(chat_id)
            head_id, options = self.opened.thread.head_id, self.opened.sent_options
            whole = await asyncio.to_thread(WholeBranch.of, messages, head_id, options)
            if self.opened.chat_id != chat_id:
                return
            self.opened.complete(whole)
            set_aside()  # to look for garbage among thousands of messages holds the window for 40 ms
            self.conversation.lacks_rows = True
            self._publish_soon(self._publish_open, self._publish_cost, self._publish_totals)  # sending waits for no row
        if self.conversation.lacks_rows:  # also where it was another hit that stopped them
            await self.conversation.show_in_pieces()
            set_aside()  # among thousands of rows as well

    def _remember_chat(self, chat_id: str) -> None:
        """Which chat to open at the next start; on disk soon, because the program may be killed."""
        import asyncio  # not before the window is painted

        self._settings.remember(last_chat="" if self.is_private(chat_id) else chat_id)
        self._tasks.replace("save-last-chat", self.guarded, asyncio.to_thread, (self._settings.save,))

    def _shown(self) -> None:
        self.draft_replaced.emit(self.opened.draft)
        self._show_attachments()
        if self.conversation is not None:
            self.conversation.show()
        self.publish_head()
        self._publish_totals()  # the list follows where a draft that was left changes it, or another day its headings
        if self._listed_on not in (None, datetime.now(UTC).astimezone().date()):
            self._publish_soon(self.publish_list)

    def _show_attachments(self) -> None:
        """Another message is in the box."""
        self.attaching.show_chat()
        if self.passages is not None:
            self.passages.forget()
        if self.library is not None and self.opened.has_documents:
            self.do(self.library.documents.embeddings.prepare, self.opened.project_id)

    def rename(self, chat_id: str | None, title: str) -> None:
        """Give a chat a title of one's own; an empty one changes nothing."""
        words = " ".join(title.split())
        if words:
            self.do(self._change, chat_id, {"title": words})

    def title_of(self, chat_id: str) -> str:
        """The title of a chat as lists and headers show it."""
        chat = self.library.get(chat_id) if self.library is not None else None
        return (chat.title if chat is not None else "") or NEW_CHAT

    def pin(self, chat_id: str, on: bool) -> None:
        self.do(self._change, chat_id, {"pinned": on})

    def pin_all(self, chat_ids: Iterable[str], on: bool) -> None:
        for chat_id in chat_ids:
            self.pin(chat_id, on)

    async def _change(self, chat_id: str | None, changes: dict[str, Any]) -> None:
        if self.library is None:
            raise NoHistory
        if chat_id is None:
            chat_id = (await self.drafts.ensure_chat()).id
        chat = await self.library.change(chat_id, **changes)
        if chat_id == self.opened.chat_id:
            self.opened.title = chat.title
        self.publish_all()

    def duplicate(self, chat_id: str) -> None:
        """Copy a chat with all its branches and open the copy."""
        self.do(self._duplicate, chat_id, None)

    def branch_off(self, message_id: str) -> None:
        """Copy the branch down to one message: go another way from there, with the original untouched."""
        self.do(self._duplicate, self.opened.chat_id, message_id)

    async def _duplicate(self, chat_id: str, leaf_id: str | None) -> None:
        if self.library is None or self._history is None:
            raise NoHistory
        if self._history.is_private(chat_id):
            self.notice.emit(tr("A copy would be saved. Keep this chat first."))
            return
        copy = await self.library.duplicate(chat_id, leaf_id)
        self.publish_list()
        await self.show_chat(copy.id)

    # The box

    def set_draft(self, text: str) -> None:
        """The box holds another text now: kept on disk after each pause."""
        self.opened.draft = text
        self.drafts.timer.start()
        self.cost_changed.emit(self.opened.cost())

    def continue_here(self) -> None:
        """Continue the open chat with the account in use, as the person agreed to."""
        account = self.current_account.account
        if account is not None:
            self.opened.account_id = account.id
            if self.opened.chat_id is not None:
                args = (self.opened.chat_id, account.id)
                self._tasks.start_unless_running("chat account", self.guarded, self._keep_account, args)
            self.publish_head()

    async def _keep_account(self, chat_id: str, account_id: str) -> None:
        if self.library is not None:
            await self.library.change(chat_id, account_id=account_id)

    def find_or_send(self, text: str, model_ids: tuple[str, ...] = ()) -> None:
        """Send what the box holds, to several models where `model_ids` names them.

        Passages that are found for it are shown first, and sent the next time.
        """
        if self.passages is not None and self.passages.are_wanted(text) and self.head().can_send:
            self._tasks.start_unless_running("passages", self.guarded, self._find_or_send, (text, model_ids))
        elif model_ids:
            self.compare(text, model_ids)
        else:
            self.send(text)

    async def _find_or_send(self, text: str, model_ids: tuple[str, ...]) -> None:
        if self.passages is None:
            raise NoHistory
        if not await self.passages.find(text, for_several=bool(model_ids)) and self.opened.draft == text:
            self.find_or_send(text, model_ids)

    def send(self, text: str) -> None:
        """Send what the box holds. The text leaves the box only when it is on disk."""
        if not (text.strip() or self.opened.attachments) or self.conversation is None or not self.head().can_send:
            return
        if self.answers.live_in(self.opened.chat_id) is None:
            self._tasks.start_unless_running("send", self.guarded, self._send, (text, self.opened.opening))
        elif self.opened.editing is None:
            self.opened.queued = True
            self.publish_head()

    def cancel_queued(self) -> bool:
        """Keep the box as it is when the answer ends. False when nothing was to be sent then."""
        was_queued, self.opened.queued = self.opened.queued, False
        if was_queued:
            self.publish_head()
        return was_queued

    def _answer_ended(self, answer: Message) -> None:
        """Send what was queued behind an answer; one that was stopped or failed leaves it in the box."""
        if answer.chat_id != self.opened.chat_id or self.answers.live_in(answer.chat_id) is not None:
            return
        if self.cancel_queued() and answer.state == "complete":
            self.send(self.opened.draft)

    async def _send(self, text: str, opening: int, model_ids: tuple[str, ...] = ()) -> None:
        if self.conversation is None:
            raise NoHistory
        if self.opened.opening != opening:
            return  # another chat took the box before this began, and may not be sealed: the text is where it was
        self.drafts.timer.stop()
        if await self.conversation.send(text.strip("\n"), model_ids, box=text):
            self.draft_replaced.emit(self.opened.draft)
            self._show_attachments()
            if self.opened.draft:
                self.drafts.timer.start()
        self._publish_soon()

    def stop(self) -> None:
        """Stop the open chat's answer; what came stays."""
        if self.opened.chat_id is not None and self._answers is not None:
            self._answers.stop(self.opened.chat_id)

    def recall(self) -> None:
        """Take the last own turn into the box to edit it."""
        message = self.opened.thread.last_of("user")
        if message is not None:
            self.begin_edit(message.id)

    def begin_edit(self, message_id: str) -> None:
        """Put an earlier turn into the box; sending it makes a branch."""
        message = self.opened.thread.get(message_id)
        if message is None or message.role not in ("user", "assistant"):
            return
        self._offer_edited_text()
        text = text_to_edit(message)
        self.opened.begin_edit(message_id, text, attachments_of(message.attachments))
        self.draft_replaced.emit(text)
        self.attaching.show_chat()
        self.publish_head()

    def cancel_edit(self) -> bool:
        """Give the box back its draft. False when no turn was being edited."""
        opened = self.opened
        if opened.editing is None:
            return False
        self._offer_edited_text()
        opened.end_edit()
        self.drafts.timer.start()
        self.draft_replaced.emit(opened.draft)
        self.attaching.show_chat()
        self.publish_head()
        return True

    def _offer_edited_text(self) -> None:
        """Offer Undo for the changes to an earlier turn that leave the box unsent."""
        opened, message_id, text = self.opened, self.opened.editing, self.opened.draft
        message = opened.thread.get(message_id) if message_id is not None else None
        if message is None or text == text_to_edit(message) or not text.strip():
            return

        def put_back() -> None:
            if self.opened.thread.get(message.id) is not None:
                self.begin_edit(message.id)
                self.set_draft(text)
                self.draft_replaced.emit(text)

        self.offer_in_chat(tr("Changes to the message dropped"), put_back)

    def offer_in_chat(self, text: str, put_back: Callable[[], None]) -> None:
        """Offer Undo for typed text of the open chat, which is shown again for it."""
        chat_id, opening = self.opened.chat_id, self.opened.opening

        async def undo() -> None:
            if chat_id is not None and chat_id != self.opened.chat_id:
                await self.show_chat(chat_id)
            if chat_id is not None or opening == self.opened.opening:
                put_back()

        self._undo_stack.push(UndoCommand("chat", text, lambda _ids: undo(), ()))

    def set_history(self, on: bool) -> None:
        """Say whether there is a history to write to. Without one nothing is sent: it could not be kept."""
        self.opened.has_history = on
        self.publish_head()

    # Several models, functions

    def compare(self, text: str, model_ids: tuple[str, ...]) -> None:
        """Ask several models the same at once: what the box holds, or the last question again when it is empty."""
        if self.opened.sealed:
            self.notice.emit(NO_COMPARING)
            return
        ready = self.head().can_send and self.answers.live_in(self.opened.chat_id) is None
        if self.conversation is None or not ready:
            return
        if text.strip():
            self._tasks.start_unless_running("send", self.guarded, self._send, (text, self.opened.opening, model_ids))
        else:
            self._tasks.start_unless_running("send", self.guarded, self.conversation.ask_for_comparison, (model_ids,))

    def answer_calls(self, message_id: str, answers: Mapping[str, str]) -> None:
        """Send what the person answered for the functions that a message asks for: call id → text."""
        if self.conversation is not None and self.answers.live_in(self.opened.chat_id) is None:
            self._tasks.start_unless_running(
                "send", self.guarded, self.conversation.answer_calls, (message_id, answers)
            )

    def show_request(self, message_id: str | None = None) -> None:
        """Show on the Request page what was sent for an answer."""
        if self.conversation is not None:
            self._tasks.replace("request", self.guarded, self.conversation.show_request, (message_id,))

    # Options, model, character

    def set_option(self, name: str, value: object) -> None:
        """Change one of `ChatOptions` for the open chat. Raises `TypeError` for a name that is none."""
        self.opened.options = self.opened.options._replace(**{name: value})  # type: ignore[arg-type]  # by name
        self.keep_options({"options": self.opened.stored_options()})

    def set_structure(self, structure: Structure) -> None:
        """Ask for answers in a schema, or offer functions, in the open chat from now on."""
        self.opened.structure = structure
        self.keep_options({"options": self.opened.stored_options()})

    def set_options(self, options: ChatOptions) -> None:
        """Ask for all of this in the open chat."""
        self.opened.options = options
        self.keep_options({"options": self.opened.stored_options()})

    def _use_preset_options(self, options: ChatOptions) -> None:
        """Ask for what a preset says, with Undo where it replaces a system prompt."""
        before = self.opened.options
        self.set_options(options)
        if before.system_prompt.strip() and before.system_prompt != options.system_prompt:
            self.offer_in_chat(tr("System prompt replaced"), lambda: self.set_options(before))

    def cycle_web_search(self) -> None:
        self.set_option("web_search", next_web_search(self.opened.options.web_search))

    def toggle(self, name: str) -> None:
        self.set_option(name, not getattr(self.opened.options, name))

    def use_model(self, model_id: str, *, for_new_chats: bool = False) -> None:
        """Ask this model from now on in the open chat; with `for_new_chats` in every later one too."""
        if for_new_chats:
            self.account_models.set_default(model_id)
        self.opened.chosen_model = model_id
        self.keep_options({"model": model_id})
        self.seal_actions.check()

    async def use_other_model(self, other: OtherModel) -> None:
        """Ask a model that the list need not have, from now on in the open chat."""
        await self.add_other_model(other)
        self.use_model(other.model.id)

    async def add_other_model(self, other: OtherModel) -> None:
        """Offer a model that the list need not have; what its suffix sets becomes options of the chat (R-EXT-27)."""
        await self.account_models.add(other.model)
        if other.parameters:
            self.set_options(options_with(self.opened.options, other.parameters))
        if other.character is not None:
            self.use_character(CharacterHead.of(other.character))

    def use_character(self, character: CharacterHead | None) -> None:
        """Speak with a character in the open chat, or with the model alone. Sealed chats have none: another begins."""
        if character is not None and self.opened.sealed:
            self.new_chat(character, private=self.opened.private)
            return
        self.opened.character = character
        if character is not None and self.account_models.get(character.model_id) is not None:
            self.opened.chosen_model = character.model_id
        values = self.opened.stored_values()
        self.keep_options({name: values[name] for name in ("model", "character_slug", "character_name", "options")})

    def keep_options(self, changes: dict[str, object]) -> None:
        self.opened.changed()
        self.publish_head()
        self._models_changed()
        if self.opened.chat_id is not None:
            self.do(self._change, self.opened.chat_id, changes)

    def toggle_favorite(self, model_id: str) -> None:
        self.account_models.toggle_favorite(model_id)
        self._models_changed()

    def refresh_models(self) -> None:
        """Ask for the list again when it is old; the picker calls this when it opens."""
        if self.account_models.is_stale and self.current_account.service is not None:
            # the newest call wins: one that began for the account before this one brings nothing
            self._tasks.replace("models", self.guarded, self._fetch_models, ())

    async def _fetch_models(self) -> None:
        self.account_models.loading = True
        self._models_changed()
        await self.account_models.fetch()
        self._models_changed()
        self.publish_all()

    # The trash

    def move_to_trash(self, chat_ids: Iterable[str]) -> None:
        """Take chats off the list. An answer under way is stopped first, its words are kept."""
        asked = tuple(chat_ids)
        private = tuple(each for each in asked if self.is_private(each))
        if private:
            self.private_leaving.emit(private)
        if len(private) < len(asked):
            self.do(self._move_to_trash, tuple(each for each in asked if each not in private), self.opened.draft)

    async def _move_to_trash(self, chat_ids: tuple[str, ...], before: str) -> None:
        """`before` is what was in the box when it was asked for: what came since then is the next chat's."""
        if self.library is None:
            raise NoHistory
        library, titles = self.library, [self.title_of(chat_id) for chat_id in chat_ids]

        async def move(chat_id: str) -> None:
            self.answers.stop(chat_id)
            self.seals.wipe(chat_id)
            if chat_id == self.opened.chat_id:
                await self.drafts.store(before if self.opened.editing is None else None)
            await library.trash(chat_id)
            if chat_id == self.opened.chat_id:
                now = self.opened.draft
                typed = typed_since(before, now)
                self.opened.open_new()
                self.set_draft(now if typed is None else typed)
                self._remember_chat("")
                self._shown()

        moved, refusal = await move_rows(chat_ids, move)
        self._publish_soon()
        if moved:
            await self.trash.moved(moved, moved_text(titles[: len(moved)], "chats"))
        if refusal is not None:
            raise refusal

    # Private chats

    def unsaved_private(self) -> tuple[str, ...]:
        """The private chats in which something was said or typed."""
        chats = (
            [self.library.get(each) for each in self._history.private_ids()] if self._history and self.library else []
        )
        return tuple(chat.id for chat in chats if chat is not None and (chat.message_count or chat.draft.strip()))

    def is_private(self, chat_id: str | None) -> bool:
        """Whether a chat is in memory alone."""
        return self._history is not None and self._history.is_private(chat_id)

    def keep(self, chat_ids: tuple[str, ...]) -> None:
        """Make private chats ordinary ones."""
        self.do(self.keep_private, chat_ids)

    def keep_open_chat(self) -> None:
        """Make the open private chat an ordinary one."""
        if self.opened.chat_id is not None:
            self.keep((self.opened.chat_id,))
        elif self.opened.private:
            self.opened.private = False
            self.publish_head()

    async def keep_private(self, chat_ids: Iterable[str]) -> bool:
        """Make private chats ordinary ones. False when one is still being written. Raises `StorageError`."""
        if self._history is None or self.library is None:
            raise NoHistory
        if self.writing() & set(chat_ids):
            self.notice.emit(tr("An answer is still being written. Keep the chat once it is complete."))
            return False
        for chat_id in tuple(chat_ids):
            is_open = chat_id == self.opened.chat_id
            if is_open:
                await self.drafts.store()
            kept = await self._history.keep(chat_id)
            self.library.replace(chat_id, kept)
            if is_open:
                await self.show_chat(kept.id)
        self.publish_all()
        return True

    async def discard_private(self, chat_ids: Iterable[str]) -> None:
        """Forget private chats. What is being written in them stops."""
        if self.library is None:
            raise NoHistory
        for chat_id in tuple(chat_ids):
            self.answers.stop(chat_id)
            self.seals.wipe(chat_id)
            await self.library.purge(chat_id)
            if chat_id == self.opened.chat_id:
                self.opened.open_new()
                self._shown()
        self.publish_all()

    async def _trashed(self) -> tuple[TrashEntry, ...]:
        return await self.library.trashed(datetime.now(UTC)) if self.library is not None else ()

    async def _restore(self, chat_ids: tuple[str, ...]) -> None:
        """Put chats back into the list and open the last of them."""
        if self.library is None:
            raise NoHistory
        for chat_id in chat_ids:
            await self.library.restore(chat_id)
        await self.show_chat(chat_ids[-1])
        self.publish_all()

    async def _delete(self, chat_ids: tuple[str, ...]) -> None:
        if self.library is None:
            raise NoHistory
        for chat_id in chat_ids:
            await self.library.purge(chat_id)

    # Models that go

    def deprecations(self) -> LeavingNotice | None:
        """The open chat's model, when the service will remove it."""
        models = self.account_models
        return self.current_account.leaving_notice(self.opened.model_id, lambda each: models.get(each) is not None)

    def publish_deprecations(self) -> None:
        """Say, once for good, which models of chats the service will remove."""
        news = self._deprecation_news(of_chats=True)
        if news is not None:
            self.deprecation_found.emit(news.sentence, news.chat_id)

    def _announce_leaving(self) -> None:
        """The same of the models that only other tabs use."""
        news = self._deprecation_news(of_chats=False)
        if news is not None:
            self.current_account.leaving.announced.emit(news.sentence)

    def _deprecation_news(self, *, of_chats: bool) -> DeprecationNews | None:
        account = self.current_account
        if self.library is None or account.account is None or not account.leaving.all(account.account.id):
            return None
        from app.ui.chat.session.deprecation import deprecation_news

        return deprecation_news(account, self.account_models, self.library, self.opened.model_id, of_chats=of_chats)

    def changes_to(self, model_id: str) -> tuple[str, ...]:
        """What becomes different when `model_id` takes the place of the open chat's model."""
        from app.ui.chat.session.model_changes import changes

        old, new = self.opened.model, self.account_models.get(model_id)
        return changes(old, new) if old is not None and new is not None else ()

    def replace_model(self, old_id: str, new_id: str) -> None:
        """Let everything that uses a model use another one from now on, in all tabs."""
        account = self.current_account
        account_id = account.account.id if account.account is not None else ""
        self.do(account.leaving.move, self._undo_stack, "chat", old_id, new_id, account_id)

    # Search

    def search(self, text: str, project_id: str = "") -> None:
        """Search all chats outside the trash, or one project's; the newest text wins. `hits_found` tells."""
        if self._search is not None:
            self._tasks.replace("search-chats", self.guarded, self._find, (self._search, text, project_id or None))

    async def _find(self, search: Search, text: str, project_id: str | None) -> None:
        self.hits_found.emit(text, await search.hits(text, project_id))

    def open_hit(self, chat_id: str, message_id: str, text: str) -> None:
        """Open a chat at a message, on the branch that it stands on."""
        args = (chat_id, message_id, text, self.opened.draft)
        self._tasks.replace("open-chat", self.guarded, self._open_hit, args)

    async def _open_hit(self, chat_id: str, message_id: str, text: str, before: str) -> None:
        if chat_id != self.opened.chat_id:
            await self.show_chat(chat_id, before)
        else:
            await self._open_rest()
        if message_id and self.conversation is not None and self.opened.thread.get(message_id) is not None:
            await self.conversation.show_branch_of(message_id)
            self.row_requested.emit(message_id, text)

    # Messages in other chats

    @cached_property
    def message_moves(self) -> MessageMoves:
        from app.ui.chat.session.message_moves import MessageMoves

        if self._history is None:
            raise NoHistory
        return MessageMoves(self, self._history, self._undo_stack)

    # Export and import

    @cached_property
    def transfers(self) -> TransferActions:
        from app.ui.chat.session.import_export import TransferActions

        if self._history is None:
            raise NoHistory
        return TransferActions(self, self._history, self._tasks)

"""A chat tab without its window: real storage, real service layer, and a service at the other end of a stub socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import httpx
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLineEdit, QWidget

from app.core.current_account import CurrentAccount
from app.core.receipt_recorder import ReceiptRecorder
from app.core.sealed_sessions import SealedSessions, sandbox_trust
from app.core.spending_limits import SpendingLimits
from app.core.tabs import tab_of
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.service import Service, open_service
from app.storage.chat_store import ChatStore
from app.storage.database import Database
from app.storage.receipts import Receipts
from app.storage.service_cache import Enclaves, ServiceCache
from app.storage.settings import SettingsStore
from app.ui.chat.page import ChatPage
from app.ui.chat.presenter import ChatPresenter
from app.ui.chat.seal_dialog import SealDialog
from app.ui.conversation.rows import MessageRow
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.sandbox import OnSandbox
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until
from tests.kit.windows import deleted_last, styled_at_the_end

ACCOUNT = Account(id="acc", name="Main account", base_url="http://service.test/v1")
SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


def model_body(model_id: str = "plain", name: str = "Plain", **changes: Any) -> dict[str, Any]:
    """A record of `GET /models` as the service writes it."""
    capabilities = {"supportsWebSearch": True, "supportsReasoning": True, **changes.pop("capabilities", {})}
    spec = {
        "name": name,
        "privacy": "private",
        "availableContextTokens": 32_000,
        "maxCompletionTokens": 1_000,
        "pricing": {"input": {"usd": 1.0, "diem": 1.0}, "output": {"usd": 4.0, "diem": 4.0}},
        "capabilities": capabilities,
        "traits": ["default"] if model_id == "plain" else [],
        **changes,
    }
    return {"id": model_id, "object": "model", "type": "text", "owned_by": "x", "model_spec": spec}


def text_chunk(text: str, **delta: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "plain",
        "choices": [{"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}],
    }


USAGE = {
    "id": "c",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "plain",
    "choices": [],
    "usage": {
        "prompt_tokens": 812,
        "completion_tokens": 164,
        "total_tokens": 976,
        "prompt_tokens_details": {"cached_tokens": 512},
    },
    "cost": {"usd": 0.0007, "diem": 0},
}
Kind = TypeVar("Kind", bound="ChatPresenterHarness")
SandboxKind = TypeVar("SandboxKind", bound="SandboxChatPresenterHarness")
DONE = b"data: [DONE]\n\n"


def sse(body: object) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


@dataclass
class FakeService:
    """Answers chat with what `pieces` say; `gates` hold a stream back until a test opens them.

    `answers` are taken one per call: an async generator function of bytes, or a whole `httpx.Response`.
    """

    requests: list[dict[str, Any]] = field(default_factory=list)
    answers: list[Callable[[], AsyncIterator[bytes]] | httpx.Response] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=lambda: [model_body(), model_body("other", "Other")])
    closed: int = 0

    def handle(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"object": "list", "data": self.models, "type": "text"})
        self.requests.append(json.loads(request.content))
        answer = self.answers.pop(0) if self.answers else whole("Hello.")
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(
            200,
            headers={"content-type": "text/event-stream", "cf-ray": "ray-1", "x-ratelimit-remaining-requests": "68"},
            stream=_Stream(answer(), self),
        )


class _Stream(httpx.AsyncByteStream):
    def __init__(self, pieces: AsyncIterator[bytes], service: FakeService) -> None:
        self._pieces = pieces
        self._service = service

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        self._service.closed += 1


def whole(*texts: str, usage: bool = True) -> Callable[[], AsyncIterator[bytes]]:
    """An answer that arrives in pieces and ends as it should."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in texts:
            yield sse(text_chunk(text))
            await asyncio.sleep(0)
        if usage:
            yield sse(USAGE)
        yield DONE

    return pieces


def cut(*texts: str) -> Callable[[], AsyncIterator[bytes]]:
    """An answer that ends without saying that it is complete."""

    async def pieces() -> AsyncIterator[bytes]:
        for text in texts:
            yield sse(text_chunk(text))
            await asyncio.sleep(0)

    return pieces


def held(gate: asyncio.Event, first: str, rest: str = "") -> Callable[[], AsyncIterator[bytes]]:
    """An answer whose second half waits for the test."""

    async def pieces() -> AsyncIterator[bytes]:
        yield sse(text_chunk(first))
        await gate.wait()
        yield sse(text_chunk(rest)) + sse(USAGE) + DONE

    return pieces


class ChatWidgets:
    """The page of a chat tab, by what a person sees there."""

    page: ChatPage

    @property
    def canvas(self) -> QWidget:
        return self.page.main

    @property
    def composer(self) -> Any:
        return self.page.main.composer

    @property
    def message_box(self) -> Any:
        return self.composer.box

    @property
    def completion(self) -> Any:
        """The list that opens while a command is typed."""
        return self.page.box.completion

    @property
    def view(self) -> Any:
        """The conversation."""
        return self.page.main.view

    @property
    def header(self) -> Any:
        return self.page.main.header

    @property
    def welcome(self) -> Any:
        return self.page.main.welcome

    @property
    def place(self) -> QWidget:
        """What the canvas shows."""
        return self.page.main.places.currentWidget()

    @property
    def newest_button(self) -> QWidget:
        """Goes to the end of the conversation."""
        return self.page.main.newest

    @property
    def editing_bar(self) -> QWidget:
        return self.page.main.editing

    @property
    def chat_list(self) -> Any:
        return self.page.list

    @property
    def chat_rows(self) -> Any:
        return self.chat_list.model

    @property
    def trash_pane(self) -> Any:
        return self.chat_list.trash_pane

    @property
    def side(self) -> Any:
        return self.page.side

    @property
    def request_pane(self) -> Any:
        return self.side.request

    @property
    def parameters(self) -> Any:
        return self.side.parameters

    @property
    def find_bar(self) -> Any:
        return self.page.controller.find

    @property
    def search_dialog(self) -> Any:
        return self.page.controller.search

    @property
    def deprecation_strip(self) -> Any:
        """What is said over the chat of a model that will be gone."""
        return self.page.controller._strip

    @property
    def presets_popover(self) -> Any:
        return self.page.box.presets

    def focused_control(self) -> str | None:
        """What has the keyboard inside a message."""
        spot = self.view.picture.focused
        return spot.control if spot is not None else None

    def composer_text(self) -> str:
        return self.composer.text()

    def title_text(self) -> str:
        return self.header.title.text()

    def row(self, row_id: str) -> Any:
        """A message as the conversation shows it."""
        return self.view.row(row_id)

    def act_on_row(self, *what: object) -> None:
        """Press a control of a message."""
        self.view.action.emit(*what)

    def find(self, text: str) -> None:
        self.find_bar.search_for(text)


@dataclass
class ChatPresenterHarness:
    """Everything under one chat tab, and what it told the page."""

    presenter: ChatPresenter
    history: ChatStore
    tasks: TaskScope
    current_account: CurrentAccount
    settings: SettingsStore
    fake: FakeService
    database: Database
    undo_stack: UndoStack
    told: dict[str, list[Any]] = field(default_factory=dict)

    def text_of(self, place: int) -> str:
        """The text of a shown row, the last one for -1."""
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()[place].text

    @property
    def rows(self) -> Any:
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()

    async def say(self, text: str) -> None:
        """Send and wait for the end of the answer."""
        self.presenter.send(text)
        await self.tasks.idle()


def watch(harness: ChatPresenterHarness) -> None:
    """Write down every signal's newest values."""
    presenter = harness.presenter
    for name in ("entries_changed", "head_changed", "cost_changed", "draft_replaced", "totals_changed", "notice"):
        harness.told[name] = []
        getattr(presenter, name).connect(lambda *values, name=name: harness.told[name].append(values))


@asynccontextmanager
async def open_chat_presenter(
    home: Path,
    *,
    account: Account = ACCOUNT,
    fake: FakeService | None = None,
    with_models: bool = True,
    kind: type[Kind] = ChatPresenterHarness,  # type: ignore[assignment]  # until told otherwise
) -> AsyncIterator[Kind]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed."""
    fake = fake or FakeService()
    tasks = CheckedTasks()
    settings = SettingsStore(home / "settings.json")
    current_account = CurrentAccount()

    async def read_key() -> str:
        return "sk-test-0123456789abcdef"

    service: Service = open_service(
        "http://service.test/v1",
        "service",
        ApiKeyAuth(read_key),
        lambda exchange: current_account.leaving.hear(account.id, exchange),
        transport=httpx.MockTransport(fake.handle),
    )
    database = await Database.open(home / "rialto.sqlite3")
    history = ChatStore(database)
    presenter = ChatPresenter(current_account, settings, tasks, undo_stack := UndoStack(tasks))
    harness = kind(presenter, history, tasks, current_account, settings, fake, database, undo_stack)
    watch(harness)
    try:
        current_account.use(account, service)
        if with_models:
            current_account.set_numbers(models=await service.models.list("text"))
        await presenter.start(history, ServiceCache(database))
        await tasks.idle()
        yield harness
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        settings.save()
        await database.close()
    tasks.check()


@dataclass
class ChatHarness(ChatWidgets, ChatPresenterHarness):
    """A chat tab in a window of its own, three panes side by side."""

    toasts: list[tuple[str]] = field(default_factory=list)
    deprecations: list[tuple[str, str]] = field(default_factory=list)  # sentence and chat
    helped: list[str] = field(default_factory=list)

    def show(self, theme: Theme) -> QWidget:
        """Put the page into a window and return that."""
        with styled_at_the_end():
            self.page = ChatPage(theme, self.presenter, self.tasks)
            self.page.toast_requested.connect(lambda sentence: self.toasts.append((sentence,)))
            self.presenter.deprecation_found.connect(lambda *found: self.deprecations.append(found))
            self.page.help_requested.connect(self.helped.append)
            self.window = QWidget()
            for widget, x, width in (
                (self.page.list_pane(), 0, 264),
                (self.page.canvas(), 264, 760),
                (self.page.inspector(), 1024, 312),
            ):
                widget.setParent(self.window)
                widget.setGeometry(x, 0, width, 800)
            self.window.resize(1336, 800)
        self.window.show()
        QApplication.processEvents()
        self.page._show_head(self.presenter.head())
        self.presenter.publish_all()
        return self.window

    async def settle(self) -> None:
        await self.tasks.idle()
        QApplication.processEvents()

    async def say(self, text: str) -> None:
        """Type a message and press Enter, as a person would."""
        QTest.keyClicks(self.message_box, text)
        QTest.keyClick(self.message_box, Qt.Key.Key_Return)
        await self.settle()


@asynccontextmanager
async def open_chat(theme: Theme, home: Path, **options: object) -> AsyncIterator[ChatHarness]:
    with deleted_last() as windows:
        async with open_chat_presenter(home, kind=ChatHarness, **options) as chat:  # type: ignore[arg-type]  # passed on
            windows.append(chat.show(theme))
            yield chat


@dataclass
class SandboxChatPresenterHarness(OnSandbox):
    """A started presenter whose service is a real Sandbox."""

    presenter: ChatPresenter
    history: ChatStore
    tasks: TaskScope
    sandbox: RunningSandbox
    database: Database
    undo_stack: UndoStack
    receipt_recorder: ReceiptRecorder = field(init=False)

    async def sealed_sessions(self) -> SealedSessions:
        """As the program makes them, with the root of this Sandbox."""
        trust = partial(sandbox_trust, self.sandbox.base_url, self.sandbox.api_key)
        return SealedSessions(Enclaves(self.database), trust, lambda: False, lambda: False)

    @property
    def rows(self) -> tuple[MessageRow, ...]:
        assert self.presenter.conversation is not None
        return self.presenter.conversation.rows()

    async def say(self, text: str) -> MessageRow:
        self.presenter.send(text)
        await self.tasks.idle()
        return self.rows[-1]


@asynccontextmanager
async def open_sandbox_chat_presenter(
    home: Path,
    sandbox: RunningSandbox,
    kind: type[SandboxKind] = SandboxChatPresenterHarness,  # type: ignore[assignment]  # until told otherwise
    dialect: str = "service",
) -> AsyncIterator[SandboxKind]:
    tasks = CheckedTasks()
    current_account = CurrentAccount()

    async def read_key() -> str:
        return sandbox.api_key

    async def ask(_question: object) -> bool:
        return True

    account = Account(id="box", name="Sandbox", base_url=sandbox.base_url, kind="sandbox")
    limits = SpendingLimits(lambda: {}, lambda: presenter.account_models.models(), ask, tab_of)
    recorder = ReceiptRecorder(current_account, tasks, spending_limits=limits)
    service = open_service(
        sandbox.base_url,
        dialect,
        ApiKeyAuth(read_key),
        recorder.recorder(account),
        gate=limits.gate(account),
        on_unsent=recorder.unsent,
    )
    database = await Database.open(home / "rialto.sqlite3")
    receipts = Receipts(database)
    await receipts.settle_after_start()  # as the program does, before the chats
    await recorder.start(receipts)
    settings, undo_stack = SettingsStore(home / "settings.json"), UndoStack(tasks)
    presenter = ChatPresenter(current_account, settings, tasks, undo_stack)
    tab = kind(presenter, ChatStore(database), tasks, sandbox, database, undo_stack)
    tab.receipt_recorder = recorder
    recorder.corrected.connect(presenter.take_correction)
    try:
        current_account.use(account, service)
        await presenter.start(tab.history, ServiceCache(database), tab.sealed_sessions)
        presenter.refresh_models()
        await tasks.idle()
        yield tab
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        presenter._settings.save()
        await database.close()
    tasks.check()


@dataclass
class SandboxChatHarness(ChatWidgets, SandboxChatPresenterHarness):
    """A chat page in a window, over the real Sandbox."""

    def show(self, theme: Theme) -> QWidget:
        """Put the page into a window and return that."""
        with styled_at_the_end():
            self.page = ChatPage(theme, self.presenter, self.tasks)
            self.window = QWidget()
            self.window.resize(1300, 800)
            layout = QHBoxLayout(self.window)
            for pane in (self.page.list_pane(), self.page.canvas(), self.page.inspector()):
                layout.addWidget(pane)
        self.window.show()
        QApplication.processEvents()
        self.message_box.setFocus()
        return self.window

    async def type(self, text: str, *, send: bool = True) -> None:
        QTest.keyClicks(self.message_box, text)
        if send:
            QTest.keyClick(self.message_box, Qt.Key.Key_Return)
        await self.settle()

    async def settle(self) -> None:
        await self.tasks.idle()
        QApplication.processEvents()
        await self.tasks.idle()


@asynccontextmanager
async def open_sandbox_chat(
    theme: Theme, home: Path, sandbox: RunningSandbox, model: str = "", dialect: str = "service"
) -> AsyncIterator[SandboxChatHarness]:
    with deleted_last() as windows:
        async with open_sandbox_chat_presenter(home, sandbox, SandboxChatHarness, dialect) as chat:
            windows.append(chat.show(theme))
            if model:
                chat.presenter.use_model(model)
            yield chat


def dropped(target: QWidget, mime: QMimeData) -> bool:
    """Drag something over a widget and let it go; True when the widget took it."""
    at, action = target.rect().center(), Qt.DropAction.CopyAction
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, action, mime, button, none)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    QApplication.sendEvent(target, QDropEvent(QPointF(at), action, mime, button, none))
    return True


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


async def answer_dialog(box: SandboxChatHarness, text: str) -> None:
    """Type into the dialog that is open and press Enter."""
    await until(lambda: bool(box.canvas.findChildren(Dialog)))
    (dialog,) = box.canvas.findChildren(Dialog)
    field = dialog.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    press(field, Qt.Key.Key_Return)
    await box.settle()


async def seal_sheet(chat: SandboxChatHarness) -> SealDialog:
    """Press the lock in the header; the sheet with what was checked, once it is filled."""
    chat.header.lock.click()
    await until(lambda: any(each.isVisible() for each in chat.canvas.findChildren(SealDialog)))
    return next(each for each in chat.canvas.findChildren(SealDialog) if each.isVisible())

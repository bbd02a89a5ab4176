"""The Console with or without its window: real storage and service layer, and a real Sandbox with its chains."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from app.core.current_account import CurrentAccount
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.service.auth import ApiKeyAuth
from app.service.service import Service, open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.ui.crypto_rpc.page import CryptoRpcPage
from app.ui.crypto_rpc.presenter import CryptoRpcPresenter
from app.ui.crypto_rpc.state import CallEntry, RunView, SendQuestion
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.waiting import until
from tests.kit.windows import styled_at_the_end

LIST_WIDTH = 264


@dataclass
class ConsolePresenterHarness:
    """What a test holds: the presenter, what it said last, and how it is answered."""

    presenter: CryptoRpcPresenter
    tasks: TaskScope
    current_account: CurrentAccount
    service: Service
    running: RunningSandbox
    database: Database
    undo_stack: UndoStack
    agree: bool = True
    questions: list[SendQuestion] = field(default_factory=list)
    notices: list[tuple[str]] = field(default_factory=list)
    entries: tuple[CallEntry, ...] = ()

    def __post_init__(self) -> None:
        self.presenter.ask = self.answer
        self.presenter.notice.connect(lambda *words: self.notices.append(words))
        self.presenter.calls_changed.connect(self._list)

    async def answer(self, question: SendQuestion) -> bool:
        self.questions.append(question)
        return self.agree

    def _list(self, entries: tuple[CallEntry, ...]) -> None:
        self.entries = entries

    async def send(self) -> RunView | None:
        """Send the draft and wait for the end of it."""
        self.presenter.send()
        await self.tasks.idle()
        return self.presenter.run

    def write(self, text: str) -> None:
        """Type a request as JSON."""
        self.presenter.edit(lambda draft: draft.set_text(text))

    async def restart(self) -> CryptoRpcPresenter:
        """Another presenter over the same files, as after a new start."""
        await self.presenter.aclose()
        presenter = CryptoRpcPresenter(
            self.current_account, self.tasks, resources() / "data", self.database.path.parents[1], UndoStack(self.tasks)
        )
        await presenter.start(self.database)
        await self.tasks.idle()
        return presenter


@asynccontextmanager
async def open_console_presenter(folder: Path, tasks: TaskScope) -> AsyncIterator[ConsolePresenterHarness]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(folder / "sandbox", resources(), options=options) as running:
        account = Account(id="box", name="Sandbox", base_url=running.base_url, kind="sandbox")

        async def key() -> str:
            return running.api_key

        database = await Database.open(folder / "data" / "rialto.db")
        current_account = CurrentAccount()
        service = open_service(running.base_url, "service", ApiKeyAuth(key), lambda _exchange: None)
        try:
            current_account.use(account, service)
            undo_stack = UndoStack(tasks)
            presenter = CryptoRpcPresenter(current_account, tasks, resources() / "data", folder, undo_stack)
            harness = ConsolePresenterHarness(presenter, tasks, current_account, service, running, database, undo_stack)
            await presenter.start(database)
            await tasks.idle()
            yield harness
        finally:
            await tasks.aclose()
            await service.aclose()
            await database.close()


class ConsoleHarness:
    """List and canvas side by side. `key` presses a shortcut of the tab, as the window would hand it over."""

    def __init__(self, core: ConsolePresenterHarness, theme: Theme) -> None:
        self._core = core
        self.presenter = core.presenter
        self.tasks, self.current_account, self.service = core.tasks, core.current_account, core.service
        self.sandbox, self.database, self.undo_stack = core.running, core.database, core.undo_stack
        with styled_at_the_end():
            self.page = CryptoRpcPage(theme, core.presenter, core.tasks, lambda: core.running.base_url)
            self.toasts: list[tuple[str]] = []
            self.page.toast_requested.connect(lambda *words: self.toasts.append(words))
            self.main, self.list = self.page.main, self.page.list
            self.request, self.response = self.main.request, self.main.response
            self.window = QWidget()
            for pane in (self.list, self.main):
                pane.setParent(self.window)
        self.resize(1368, 848)
        self.window.show()
        self.window.activateWindow()
        QApplication.processEvents()

    def resize(self, width: int, height: int) -> None:
        self.window.resize(width, height)
        self.list.setGeometry(0, 0, LIST_WIDTH, height)
        self.main.setGeometry(LIST_WIDTH, 0, width - LIST_WIDTH, height)
        QApplication.processEvents()

    def key(self, keys: str) -> None:
        """Press a shortcut of the tab."""
        wanted = QKeySequence(keys)
        for action in self.page.actions():
            if wanted in [QKeySequence(each) for each in (action.shortcut, *action.also) if each]:
                if action.enabled():
                    action.run()
                return
        raise LookupError(f"no action of the Console has the key {keys}")

    def run(self, title: str) -> None:
        """Run an action by its name, as the palette does."""
        next(action for action in self.page.actions() if action.text == title).run()

    def undo(self) -> None:
        """Undo what was done last, as Ctrl+Z in the window does."""
        assert self._core.undo_stack.undo_last("crypto_rpc")

    async def settle(self) -> None:
        await self._core.tasks.idle()
        QApplication.processEvents()

    async def send(self) -> None:
        self.key("Ctrl+Return")
        await self.settle()

    def type_json(self, value: object) -> None:
        """Write a request in the JSON view, as a person would paste it there."""
        if self.presenter.draft.mode != "json":
            self.key("Ctrl+Shift+J")
        editor = self.request.text
        editor.setFocus()
        editor.selectAll()
        QGuiApplication.clipboard().setText(value if isinstance(value, str) else json.dumps(value))
        QTest.keyClick(editor, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)

    # -- what is shown --------------------------------------------------------------------------------------------

    @property
    def draft(self) -> Any:
        return self.presenter.draft

    @property
    def calls(self) -> Any:
        """The calls of the request that is written."""
        return self.draft.rows

    @property
    def shown_run(self) -> Any:
        """The answer that is shown, whole."""
        return self.presenter.run

    @property
    def job(self) -> Any:
        """The tool that works in the background."""
        return self.presenter.jobs.job

    @property
    def networks(self) -> Any:
        """The picker of networks."""
        return self.page.networks

    @property
    def methods(self) -> Any:
        """The picker of methods."""
        return self.page.methods

    @property
    def list_view(self) -> Any:
        return self.list.view

    @property
    def list_rows(self) -> Any:
        return self.list_view.rows

    @property
    def list_foot(self) -> Any:
        return self.list.foot

    @property
    def error_card(self) -> Any:
        return self.main.problem

    @property
    def response_tabs(self) -> Any:
        return self.response.tabs.bar

    @property
    def tree_rows(self) -> Any:
        return self.response.tree.rows

    @property
    def header_rows(self) -> Any:
        return self.response.headers.rows

    @property
    def change_rows(self) -> Any:
        return self.response.changes.rows

    @property
    def table_view(self) -> Any:
        return self.response.table.view

    def can_send(self) -> bool:
        return self.main.send.isEnabled()

    def credits_text(self) -> str:
        return self.list_foot.credits.text()

    def job_text(self) -> str:
        return self.main.job.note.text()

    def act_on_card(self, action: str) -> None:
        """Press a button of the card that says what is wrong with the answer."""
        self.response.card.action.emit(action)

    def answer_questions(self) -> None:
        """Say yes or no as `agree` of the presenter's harness tells, without a dialog."""
        self.presenter.ask = self._core.answer

    async def restart(self) -> CryptoRpcPresenter:
        """Another presenter over the same files, as after a new start."""
        return await self._core.restart()

    def ask_in_dialogs(self) -> None:
        self.presenter.ask = self.page._ask

    @property
    def entries(self) -> list[CallEntry]:
        rows = self.list_rows
        return [row for at in range(rows.rowCount()) if isinstance(row := rows.row(rows.index(at, 0)), CallEntry)]

    async def dialog(self) -> Dialog:
        """The dialog that is open, as soon as it is."""
        await until(lambda: bool(self.dialogs()))
        return self.dialogs()[0]

    def dialogs(self) -> list[Dialog]:
        return [each for each in self.window.findChildren(Dialog) if each.isVisible()]


def press(dialog: QWidget, words: str) -> None:
    """Press the button with these words by keyboard."""
    button = next(each for each in dialog.findChildren(QPushButton) if each.text() == words)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)


def call(method: str, *params: object, **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": list(params), **more}


@asynccontextmanager
async def open_console(folder: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console_presenter(folder, tasks) as core:
        window = ConsoleHarness(core, theme)
        core.presenter.caps.refresh()
        await window.settle()
        try:
            yield window
        finally:
            await tasks.aclose()
            window.window.hide()
            window.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

"""What can be done with an answer: found in, copied, saved."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.core.file_saving import save_file
from app.translation import tr
from app.ui.crypto_rpc.session.differences import compared
from app.ui.crypto_rpc.session.outcomes import Table, csv_of, roots_of, tables_in
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.json.node import Path as TreePath
from app.ui.kit.json.tree_model import find

if TYPE_CHECKING:
    from pathlib import Path

    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.page import CryptoRpcPage
    from app.ui.crypto_rpc.state import RunView

MAX_FOUND = 5_000


class ResponseController(QObject):
    """The answer on screen is the presenter's `run`; large ones are searched and written in threads."""

    def __init__(self, page: CryptoRpcPage, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._tasks = tasks
        response = page.main.response
        response.copy_requested.connect(self.copy)
        response.save_requested.connect(self.save)
        response.find_requested.connect(lambda text: tasks.replace("rpc find", self._find, text))
        response.decode_requested.connect(lambda on: tasks.replace("rpc decode", self._decode, on))
        response.tables_requested.connect(lambda: tasks.replace("rpc tables", self._tables))
        response.compare_requested.connect(lambda run_id: tasks.replace("rpc compare", self._compare, run_id))
        response.sent.check_requested.connect(self._check)
        response.table.save_requested.connect(self.save_table)
        for view in (response.table.view, response.tree, response.headers, response.facts, response.sent):
            view.copied.connect(lambda what: page.toast_requested.emit(tr("The {what} was copied.", what=what)))

    def _check(self) -> None:
        run = self._page.presenter.run
        if run is not None:
            self._page.presenter.tracking.check(run.id)

    async def _decode(self, on: bool) -> None:
        run = self._page.presenter.run
        if run is None:
            return
        response = self._page.main.response
        outcomes = await self._page.presenter.contracts.decoded() if on else run.outcomes
        if response.shows(run):
            response.show_outcomes(outcomes)
            await self._tables()

    async def _tables(self) -> None:
        run, response = self._page.presenter.run, self._page.main.response
        if run is not None:
            outcomes = await self._page.presenter.contracts.decoded() if response.decode.isChecked() else run.outcomes
            tables = await asyncio.to_thread(tables_in, outcomes)
            if response.shows(run):
                response.table.show_tables(tables)

    def save_table(self) -> None:
        table, tasks = self._page.main.response.table.shown, self._tasks
        if table is not None:
            save = partial(tasks.start_unless_running, "rpc save", self._save_table, table)
            ask_to_save(self._page.main, tr("Save table"), "table.csv", save, kinds="CSV (*.csv)")

    async def _save_table(self, table: Table, chosen: Path) -> None:
        text = await asyncio.to_thread(csv_of, table)
        self._page.toast_requested.emit(
            await save_file(chosen, lambda path: path.write_text(text, "utf-8", newline=""))
        )

    @property
    def run_before(self) -> str:
        """The id of the run before the one on screen, of the same request; "" when it is the first."""
        run = self._page.presenter.run
        ids = [run_id for run_id, _ in run.runs] if run is not None else []
        place = ids.index(run.id) if run is not None and run.id in ids else 0
        return ids[place - 1] if place else ""

    def compare(self) -> None:
        """Show what differs from the run before."""
        if self.run_before:
            self._tasks.replace("rpc compare", self._compare, self.run_before)

    async def _compare(self, run_id: str) -> None:
        run = self._page.presenter.run
        if run is None:
            return
        other = await self._page.presenter.runs.read(run_id)
        rows = await asyncio.to_thread(compared, other.outcomes, run.outcomes)
        if run is self._page.presenter.run:
            title = dict(run.runs).get(run_id, "")
            self._page.main.response.show_changes(tr("Compared with {run}", run=title), rows)

    def copy(self) -> None:
        if self._page.presenter.run is not None:
            self._tasks.replace("rpc copy", self._copy, self._page.presenter.run)

    async def _copy(self, run: RunView) -> None:
        text = await asyncio.to_thread(run.body.decode, "utf-8", "replace")
        QGuiApplication.clipboard().setText(text)
        self._page.toast_requested.emit(tr("Response copied"))

    def save(self) -> None:
        run, tasks = self._page.presenter.run, self._tasks
        if run is not None:
            save = partial(tasks.start_unless_running, "rpc save", self._save, run)
            ask_to_save(self._page.main, tr("Save response"), "answer.json", save, kinds="JSON (*.json)")

    async def _save(self, run: RunView, chosen: Path) -> None:
        self._page.toast_requested.emit(await save_file(chosen, lambda path: path.write_bytes(run.body)))

    async def _find(self, text: str) -> None:
        run = self._page.presenter.run
        if run is not None:
            places: list[TreePath] = await asyncio.to_thread(find, roots_of(run.outcomes), text, MAX_FOUND)
            self._page.main.response.show_found(places)

"""The Console's collections and variables: their menu, saving into one, opening from one. Files, nothing else."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from app.ui.shared.dialogs import Dialog, ask_text
from app.ui.shared.json_editor import JsonEditor
from app.ui.shared.label import Label
from app.ui.shared.menu import Menu

if TYPE_CHECKING:
    from app.ui.crypto_rpc.draft import Draft
    from app.ui.crypto_rpc.page import CryptoRpcPage
    from app.ui.shared.tasks import TaskScope
    from app.ui.shared.theme import Theme

EDITOR_HEIGHT = 220


class CollectionDesk(QObject):
    """The presenter holds the files; this shows them and asks the person."""

    def __init__(self, page: CryptoRpcPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks

    def open_menu(self, button: QWidget) -> None:
        self._tasks.replace("rpc collections", self._open_menu, button)

    async def _open_menu(self, button: QWidget) -> None:
        shelf = self._page.presenter.collections
        if shelf is None:
            return
        found, broken = await asyncio.to_thread(shelf.read_all)
        menu = Menu(self._theme, self._page.list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for collection in found:
            inside = Menu(self._theme, menu)
            inside.setTitle(f"{collection.name}  ({len(collection.requests)})")
            for request in collection.requests:
                inside.addAction(request.name, partial(self.take, request, collection))
            menu.addMenu(inside)
        if not found:
            menu.add("No collections yet", enabled=False)
        for name in broken:
            menu.add(f"{name} cannot be read", "warning", enabled=False)
        menu.addSeparator()
        menu.add("Save these calls into a collection…", "folder").triggered.connect(self.save_draft)
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def take(self, request: object, collection: object) -> None:
        """Put a saved request into the editor, with the values that its collection gives to variables."""
        from app.ui.crypto_rpc.presenter_collections import rows_of, values_of

        rows, values = rows_of(request), values_of(collection)

        def change(draft: Draft) -> None:
            draft.network = getattr(request, "network", draft.network)
            draft.variables = {**values, **draft.variables}
            draft.set_rows(rows, selected=0, batch=getattr(request, "batch", False))

        self._page.presenter.new_batch()
        self._page.presenter.edit(change)

    def save_draft(self) -> None:
        self._tasks.start("rpc collect", self._save_draft)

    async def _save_draft(self) -> None:
        presenter = self._page.presenter
        if presenter.collections is None:
            return
        found, _ = await asyncio.to_thread(presenter.collections.read_all)
        last = found[0].name if found else ""
        name = await ask_text(
            self._theme,
            self._page.main,
            "Save into a collection",
            "Name of the collection, a new one or one that is there",
            value=last,
        )
        if not name:
            return
        title = await ask_text(
            self._theme, self._page.main, "Name these calls", "Name of the request", value=self._suggested_name()
        )
        if title:
            file = await presenter.save_into(name, title, self._page.kept_items())
            self._page.toast_wanted.emit(f"Saved into {name} ({file}).", "", "")

    def _suggested_name(self) -> str:
        rows = self._page.presenter.draft.rows
        return rows[0].method if len(rows) == 1 else f"{len(rows)} calls"

    def edit_variables(self) -> None:
        self._tasks.start("rpc variables", self._edit_variables)

    async def _edit_variables(self) -> None:
        draft = self._page.presenter.draft
        values = {name: draft.variables.get(name, "") for name in draft.missing()} | draft.variables
        dialog = Dialog(self._theme, self._page.main, "Variables", width=520)
        dialog.body.addWidget(
            Label(self._theme, "Each {{name}} in a call becomes the value that stands here.", role="text2", wrap=True)
        )
        editor = JsonEditor(self._theme, "Variables as JSON")
        editor.setMinimumHeight(self._theme.type_px(EDITOR_HEIGHT))
        editor.set_text(json.dumps(values, ensure_ascii=False, indent=2))
        fault = Label(self._theme, "", "small", "bad", wrap=True)
        dialog.body.addWidget(editor)
        dialog.body.addWidget(fault)
        dialog.add_button("Cancel", accepts=False)
        save = dialog.add_button("Use", kind="primary", accepts=True)

        def check(text: str) -> None:
            words = fault_of(text)
            fault.set_text(words)
            save.setEnabled(not words)

        editor.edited.connect(check)
        editor.setFocus()
        if await dialog.answer():
            chosen = json.loads(editor.toPlainText())

            def change(draft: Draft) -> None:
                draft.variables = chosen

            self._page.presenter.edit(change)


def fault_of(text: str) -> str:
    """Why a text gives no variables; "" when it does."""
    from app.ui.crypto_rpc.variables import NAME

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "This is not JSON."
    if not isinstance(value, dict):
        return 'Variables are an object: {"address": "0x…"}.'
    wrong = next((name for name in value if not NAME.fullmatch(name)), "")
    return f"“{wrong[:40]}” is no name: letters, digits and _ only." if wrong else ""

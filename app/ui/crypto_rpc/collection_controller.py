"""The Console's collections and variables: opening from a collection, saving into one, their menu and dialogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt

from app.core.blanks import NAME
from app.translation import tr
from app.ui.kit.json.editor import JsonEditor
from app.ui.kit.widgets.dialogs import Dialog, ask_text
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.problem_label import ProblemLabel

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.call_rows import CollectionKey
    from app.ui.crypto_rpc.page import CryptoRpcPage
    from app.ui.crypto_rpc.session.draft import Draft
    from app.ui.kit.theme import Theme

EDITOR_HEIGHT = 220


class CollectionController(QObject):
    """The presenter holds the files; this shows them and asks the person."""

    def __init__(self, page: CryptoRpcPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks

    def take(self, file: str, place: int) -> None:
        """Put a saved request into the editor."""
        presenter = self._page.presenter
        change = presenter.collections.changer(file, place)
        if change is not None:
            presenter.replace_calls(change, tr("Calls replaced"))
            self._page.close_list()

    def open_menu(self, key: CollectionKey, where: QPoint) -> None:
        """What can be done with a collection, or with one request in it."""
        menu = Menu(self._theme, self._page.list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        collections, place = self._page.presenter.collections, key.place
        if place is not None:
            menu.add(tr("Open"), "console", shortcut="Return").triggered.connect(lambda: self.take(key.file, place))
        else:
            menu.add(tr("Save calls here…"), "folder").triggered.connect(lambda: self.save_draft(key.file))
            menu.add(tr("Rename…"), "pencil", shortcut="F2").triggered.connect(lambda: self.rename(key.file))
        menu.add_trash(tr("Move to trash")).triggered.connect(lambda: collections.move_to_trash(key.file, place))
        menu.popup(where)

    def rename(self, file: str) -> None:
        self._tasks.start_unless_running("rpc collect", self._rename, file)

    async def _rename(self, file: str) -> None:
        collections = self._page.presenter.collections
        name = next((each.name for each in collections.entries if each.file == file and not each.trouble), None)
        if name is None:
            return
        chosen = await ask_text(
            self._theme,
            self._page.main,
            tr("Rename collection"),
            tr("New name (the file name does not change)"),
            value=name,
        )
        if chosen:
            collections.rename(file, chosen)

    def save_draft(self, file: str = "") -> None:
        """Save the calls into a collection that is named then; `file`: the one that is proposed."""
        self._tasks.start_unless_running("rpc collect", self._save_draft, file)

    async def _save_draft(self, file: str) -> None:
        collections = self._page.presenter.collections
        await collections.read()
        there = [each for each in collections.entries if not each.trouble]
        proposed = next((each.name for each in there if each.file == file), there[0].name if there else "")
        name = await ask_text(
            self._theme,
            self._page.main,
            tr("Save to a collection"),
            tr("New or existing collection"),
            value=proposed,
        )
        if not name:
            return
        title = await ask_text(
            self._theme, self._page.main, tr("Name"), tr("Request name"), value=self._suggested_name()
        )
        if not title:
            return
        saved = await collections.save(name, title, self._page.presenter.draft)
        if saved:
            self._page.list.unfold(saved, True)
            self._page.toast_requested.emit(tr("Saved to {name} ({saved}).", name=name, saved=saved))

    def _suggested_name(self) -> str:
        rows = self._page.presenter.draft.rows
        return rows[0].method if len(rows) == 1 else tr("{count} calls", count=len(rows))

    def edit_variables(self) -> None:
        self._tasks.start_unless_running("rpc variables", self._edit_variables)

    async def _edit_variables(self) -> None:
        draft = self._page.presenter.draft
        values = {name: draft.variables.get(name, "") for name in draft.missing()} | draft.variables
        dialog = Dialog(self._theme, self._page.main, tr("Variables"), width=520)
        dialog.body.addWidget(
            Label(self._theme, tr("Each {{name}} in a call is replaced with its value here."), role="text2", wrap=True)
        )
        editor = JsonEditor(self._theme, tr("Variables as JSON"))
        editor.setMinimumHeight(self._theme.type_px(EDITOR_HEIGHT))
        editor.set_text(json.dumps(values, ensure_ascii=False, indent=2))
        fault = ProblemLabel(self._theme)
        dialog.body.addWidget(editor)
        dialog.body.addWidget(fault)
        dialog.add_button(tr("Cancel"), accepts=False)
        save = dialog.add_button(tr("Use"), kind="primary", accepts=True)

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
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return tr("This is not JSON.")
    if not isinstance(value, dict):
        return tr('Enter variables as an object: {"address": "0x…"}.')
    wrong = next((name for name in value if not NAME.fullmatch(name)), "")
    return tr("“{wrong}” is not a valid name. Use letters, digits and _ only.", wrong=wrong[:40]) if wrong else ""

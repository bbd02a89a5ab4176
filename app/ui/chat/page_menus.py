"""The menus of the chat tab: one for a chat, one for a message. Right click, ⋯ and the menu key open the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt

from app.core.number_format import count
from app.translation import tr
from app.ui.chat.session.chat_projects import COLOR_WORDS
from app.ui.chat.sidebar.chat_delegate import PROJECT_ROLES
from app.ui.chat.state import ProjectKey
from app.ui.kit.icons import icon
from app.ui.kit.widgets.menu import Menu, menu_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.ui.chat.page import ChatPage
    from app.ui.chat.state import ProjectEntry


def open_menu(page: ChatPage, row: str | ProjectKey | None, where: QPoint) -> Menu | None:
    """Show what can be done with a row of the list, at a place on the screen; None stands for a chat not yet stored."""
    if not isinstance(row, ProjectKey):
        return open_chat_menu(page, row, where)
    project = page.presenter.projects.entry(row.project_id)
    return _open_project_menu(page, project, where) if project is not None else None


def _open_project_menu(page: ChatPage, project: ProjectEntry, where: QPoint) -> Menu:
    projects, project_id = page.presenter.projects, project.id
    menu = Menu(page.main.theme, page.main)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.add(tr("New chat here"), "plus").triggered.connect(lambda: page.new_chat(project_id))
    search = menu.add(tr("Search in this project"), "search")
    search.triggered.connect(lambda: page.controller.open_search(project_id))
    menu.addSeparator()
    fold = menu.add(
        tr("Show chats") if project.folded else tr("Hide chats"),
        "chevron-down" if project.folded else "chevron-up",
    )
    fold.triggered.connect(lambda: projects.fold(project_id, not project.folded))
    settings = menu.add(tr("Project settings…"), "settings", shortcut="Ctrl+Shift+Y")
    settings.triggered.connect(lambda: page.controller.edit_project(project_id))
    documents = menu.add(tr("Documents…"), "document")
    documents.triggered.connect(lambda: page.controller.open_documents(project_id))
    rename = menu.add(tr("Rename"), "pencil", shortcut="F2")
    rename.triggered.connect(lambda: page.controller.rename_project(project_id))
    menu.addMenu(_color_menu(page, menu, project))
    up = menu.add(tr("Move up"), "arrow-up", shortcut="Alt+Shift+Up")
    up.triggered.connect(lambda: projects.step(project_id, -1))
    down = menu.add(tr("Move down"), "arrow-down", shortcut="Alt+Shift+Down")
    down.triggered.connect(lambda: projects.step(project_id, 1))
    archive = menu.add(tr("Unarchive") if project.archived else tr("Archive"), "database")
    archive.triggered.connect(lambda: projects.archive(project_id, not project.archived))
    export = menu.add(tr("Export…"), "download")
    export.triggered.connect(lambda: page.controller.export_project(project_id))
    remove = menu.add_trash(tr("Remove project"))
    remove.triggered.connect(lambda: projects.remove((project_id,)))
    menu.popup(where)
    return menu


def _color_menu(page: ChatPage, over: Menu, project: ProjectEntry) -> Menu:
    menu = _submenu(page, over, tr("Color"), "appearance")
    for color, words in COLOR_WORDS.items():
        entry = menu.add(words, "folder", role=PROJECT_ROLES.get(color, "text2"))
        entry.setCheckable(True)
        entry.setChecked(project.color == color)
        entry.triggered.connect(partial(_set_color, page, project.id, color))
    return menu


def _set_color(page: ChatPage, project_id: str, color: str, _checked: bool = False) -> None:
    page.presenter.projects.change(project_id, color=color)


def _submenu(page: ChatPage, over: QWidget, title: str, icon_name: str) -> Menu:
    menu = Menu(page.main.theme, over)
    menu.setTitle(title)
    menu.setIcon(icon(page.main.theme, icon_name, "text2"))
    return menu


def open_move_menu(page: ChatPage, chat_ids: tuple[str, ...], where: QPoint) -> Menu:
    """Ask which project chats go to."""
    menu = move_menu(page, page.main, chat_ids)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(where)
    return menu


def move_menu(page: ChatPage, over: QWidget, chat_ids: tuple[str, ...]) -> Menu:
    """The projects that chats can go to, and the way out of them."""
    presenter = page.presenter
    menu = _submenu(page, over, tr("Move to project"), "folder")
    library = presenter.library
    chats = [library.get(each) for each in chat_ids] if library is not None else []
    now = {chat.project_id for chat in chats if chat is not None}
    shown = [each for each in presenter.projects.entries() if not each.archived] if library is not None else []
    for project in shown:
        entry = menu.add(menu_text(project.title), "folder", role=PROJECT_ROLES.get(project.color, "text2"))
        entry.setCheckable(True)
        entry.setChecked(now == {project.id})
        entry.triggered.connect(partial(_move, page, chat_ids, project.id))
    if shown:
        menu.addSeparator()
    menu.add(tr("New project…"), "plus").triggered.connect(lambda: page.controller.new_project(chat_ids))
    leave = menu.add(tr("No project"), "close", enabled=any(presenter.projects.one(each) for each in now))
    leave.triggered.connect(partial(_move, page, chat_ids, None))
    return menu


def _move(page: ChatPage, chat_ids: tuple[str, ...], project_id: str | None, _checked: bool = False) -> None:
    page.presenter.projects.move(chat_ids, project_id)


def open_chat_menu(page: ChatPage, chat_id: str | None, where: QPoint) -> Menu:
    """Show what can be done with a chat, at a place on the screen; None stands for one that is not stored yet.

    What belongs to the conversation on screen is offered for the open chat only.
    """
    several = page.list.selected_with(chat_id)
    if len(several) > 1:
        return _open_menu_of_several(page, several, where)
    stored, is_open = chat_id is not None, chat_id == page.presenter.opened.chat_id
    menu = Menu(page.main.theme, page.main)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if not is_open:
        menu.add(tr("Open"), "chat", shortcut="Return").triggered.connect(lambda: page.open_chat(chat_id or ""))
    rename = menu.add(tr("Rename"), "pencil", shortcut="F2", enabled=stored)
    rename.triggered.connect(lambda: page.rename(chat_id))
    pinned = page.is_pinned(chat_id)
    pin = menu.add(tr("Unpin") if pinned else tr("Pin"), "pin", shortcut="Ctrl+D", enabled=stored)
    pin.triggered.connect(lambda: page.presenter.pin(chat_id or "", not pinned))
    copy = menu.add(tr("Duplicate"), "copy", shortcut="Ctrl+Shift+D", enabled=stored)
    copy.triggered.connect(lambda: page.presenter.duplicate(chat_id or ""))
    to_project = menu.addMenu(move_menu(page, menu, (chat_id,) if chat_id is not None else ()))
    private = page.presenter.is_private(chat_id)
    to_project.setEnabled(stored and not private)
    if private:
        keep = menu.add(tr("Keep this chat"), "save")
        keep.triggered.connect(lambda: page.presenter.keep((chat_id or "",)))
    export = menu.add(tr("Export…"), "download", shortcut="Ctrl+E", enabled=stored)
    export.triggered.connect(lambda: page.controller.export(chat_id))
    if is_open:
        menu.addSeparator()
        request = menu.add(tr("Show request"), "code", shortcut="Ctrl+Shift+E")
        request.triggered.connect(lambda: page.open_request())
        find = menu.add(tr("Find in this chat"), "search", shortcut="Ctrl+F", enabled=stored)
        find.triggered.connect(lambda: page.controller.open_find())
        sealed = page.presenter.opened.sealed
        compare = menu.add(tr("Compare models…"), "layers", shortcut="Ctrl+J", enabled=not sealed)
        compare.triggered.connect(lambda: page.controller.open_comparing())
        structure = menu.add(tr("JSON output and functions…"), "wrench", enabled=not sealed)
        structure.triggered.connect(lambda: page.controller.open_structure())
    trash = menu.add_trash(tr("Move to trash"), enabled=stored)
    trash.triggered.connect(lambda: page.trash(chat_id))
    menu.popup(where)
    return menu


def _open_menu_of_several(page: ChatPage, chat_ids: tuple[str, ...], where: QPoint) -> Menu:
    """What can be done with all chats that are selected in the list."""
    menu = Menu(page.main.theme, page.main)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    pinned = all(page.is_pinned(each) for each in chat_ids)
    pin = menu.add(tr("Unpin") if pinned else tr("Pin"), "pin")
    pin.triggered.connect(lambda: page.presenter.pin_all(chat_ids, not pinned))
    menu.addMenu(move_menu(page, menu, chat_ids))
    export = menu.add(tr("Export {number} chats…", number=count(len(chat_ids))), "download")
    export.triggered.connect(lambda: page.controller.export_all(chat_ids))
    trash = menu.add_trash(tr("Move {number} chats to trash", number=count(len(chat_ids))))
    trash.triggered.connect(lambda: page.presenter.move_to_trash(chat_ids))
    menu.popup(where)
    return menu


def fill_message_menu(page: ChatPage, menu: Menu, row_id: str) -> None:
    """Add what can be done with a message to its menu. Keys are shown at the message that they mean."""
    presenter = page.presenter
    row = page.main.view.row(row_id)
    idle = not presenter.head().writing
    newest = presenter.opened.thread.last_of("assistant")
    is_newest = newest is not None and newest.id == row_id

    def add(text: str, icon: str, action: str, key: str = "", *, role: str = "text2", enabled: bool = True) -> None:
        entry = menu.add(text, icon, shortcut=key if is_newest else "", role=role, enabled=enabled)
        entry.triggered.connect(lambda: page.main.view.action.emit(row_id, action))

    menu.addSeparator()
    if row.role == "assistant":
        add(tr("Edit"), "pencil", "edit-answer", enabled=idle)
        add(tr("Try again"), "retry", "retry", "Ctrl+R", enabled=idle)
        add(tr("Branch from here"), "branch", "branch")
        if row.places > 1:
            add(tr("Show answers side by side"), "layers", "beside")
        add(tr("Read aloud"), "speech", "speak", "Ctrl+Shift+S", enabled=bool(row.text.strip()) and not row.no_speech)
        add(tr("Show request"), "code", "receipt", "Ctrl+Shift+E")
    elif row.role in ("user", "tool"):
        add(tr("Edit"), "pencil", "edit", enabled=idle)
        add(tr("Branch from here"), "branch", "branch")
    if row.role != "note":
        add(tr("Copy to chat…"), "copy", "copy-to", enabled=idle)
        add(tr("Move to chat…"), "chat", "move-to", enabled=idle)
        menu.addSeparator()
        add(tr("Delete"), "trash", "delete", role="bad", enabled=idle)

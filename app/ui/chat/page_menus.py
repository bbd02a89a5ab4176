"""The menus of the chat tab: one for a chat, one for a message. Right click, ⋯ and the menu key open the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt

from app.core.money import count
from app.translation import tr
from app.ui.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.ui.chat.page import ChatPage


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
        menu.addSeparator()
        add(tr("Delete"), "trash", "delete", role="bad", enabled=idle)

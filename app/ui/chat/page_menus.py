"""The two menus of the chat tab: for the open chat, and for one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor

from app.ui.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.ui.chat.page import ChatPage
    from app.ui.kit.theme import Theme


def open_chat_menu(page: ChatPage) -> Menu:
    """Show what can be done with the open chat, under the button in its header."""
    button = page.main.header.more_button
    stored = page.presenter.opened.chat_id is not None
    menu = _menu(page, page.main.theme)
    menu.add(page.tr("Rename"), "pencil", shortcut="F2", enabled=stored).triggered.connect(page.rename)
    pin = menu.add(page.tr("Unpin") if page.is_pinned() else page.tr("Pin"), "pin", shortcut="Ctrl+D", enabled=stored)
    pin.triggered.connect(page.toggle_pin)
    copy = menu.add(page.tr("Duplicate"), "copy", shortcut="Ctrl+Shift+D", enabled=stored)
    copy.triggered.connect(page.duplicate)
    request = menu.add(page.tr("Show the request"), "code", shortcut="Ctrl+Shift+E")
    request.triggered.connect(lambda: page.open_request())
    menu.addSeparator()
    find = menu.add(page.tr("Find in this chat"), "search", shortcut="Ctrl+F", enabled=stored)
    find.triggered.connect(lambda: page.controller.open_find())
    compare = menu.add(page.tr("Compare models…"), "layers", shortcut="Ctrl+J")
    compare.triggered.connect(lambda: page.controller.open_comparing())
    structure = menu.add(page.tr("Answers as JSON, and functions…"), "wrench")
    structure.triggered.connect(lambda: page.controller.open_structure())
    menu.addSeparator()
    export = menu.add(page.tr("Export this chat…"), "download", shortcut="Ctrl+E", enabled=stored)
    export.triggered.connect(lambda: page.controller.export())
    menu.add(page.tr("Import chats…"), "upload").triggered.connect(lambda: page.controller.import_chats())
    menu.add(page.tr("Open trash"), "trash").triggered.connect(lambda: page.controller.open_trash())
    menu.addSeparator()
    trash = menu.add(page.tr("Move to trash"), "trash", shortcut="Del", role="bad", enabled=stored)
    trash.triggered.connect(page.trash)
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
    return menu


def open_message_menu(page: ChatPage, row_id: str) -> Menu:
    """Show what is done seldom with one answer, where the pointer is."""
    menu = _menu(page, page.main.theme)
    menu.add(page.tr("Show the request"), "code").triggered.connect(lambda: page.open_request(row_id))
    edit = menu.add(page.tr("Edit the question"), "pencil")
    edit.triggered.connect(lambda: page.presenter.act(row_id, "edit"))
    own = menu.add(page.tr("Edit the answer"), "pencil")
    own.triggered.connect(lambda: page.presenter.act(row_id, "edit-answer"))
    row = page.main.view.row(row_id)
    if row.places > 1:
        beside = menu.add(page.tr("Show the answers side by side"), "layers")
        beside.triggered.connect(lambda: page.controller.show_comparison_pane(row_id))
    branch = menu.add(page.tr("Branch into a new chat"), "branch")
    branch.triggered.connect(lambda: page.presenter.act(row_id, "branch"))
    menu.popup(QCursor.pos())
    return menu


def _menu(page: ChatPage, theme: Theme) -> Menu:
    menu = Menu(theme, page.main)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu

"""Filter fields behave alike everywhere: Down and Enter take a row, Esc clears, then leaves, and hiding forgets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.bootstrap.rialto import Rialto
from app.core.tabs import TABS
from app.storage.chat_store import ChatStore
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.widgets.popover import Popover
from app.ui.kit.widgets.search_field import SearchField
from app.ui.settings.sections import SECTIONS
from tests.journeys.conftest import settled
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]
WITHOUT_ROWS = {"Search shortcuts"}  # a page of text, which the same keys scroll


def filters_of(window: QWidget) -> list[SearchField]:
    return [each for each in window.findChildren(SearchField) if each.is_filter]


async def every_page(rialto: Rialto) -> None:
    """Build every tab, every page of Settings, and the pickers."""
    window = rialto.window
    for name in TABS:
        window.show_tab(name)
        page: Any = window.tab(name)
        if name == "settings":
            for section in SECTIONS:
                page.show_section(section.key)
        if name == "chat":
            page.open_model_picker()
            page.controller.open_search()
        if name == "crypto_rpc":
            page.open_methods()
            page.open_networks()
        if name == "images":
            page.open_prompts()
        await settled(rialto)
        for popover in window.findChildren(Popover):
            popover.close()
    window.open_shortcuts()
    window.overlays.close_layer()


async def test_every_filter_field_walks_its_rows_and_forgets(start: Start) -> None:
    async with start() as rialto:
        rialto.window.resize(1440, 900)
        await in_the_sandbox(rialto)
        await every_page(rialto)
        walked = {keys.field for keys in rialto.window.findChildren(FilterKeys)}
        found = {each.accessibleName(): each for each in filters_of(rialto.window)}
        assert len(found) >= 12
        dead = {name for name, field in found.items() if field not in walked and field.isEnabled()}
        assert dead <= WITHOUT_ROWS
        for tab in TABS:
            rialto.window.show_tab(tab)
            shown = [each for each in filters_of(rialto.window) if each.isVisible()]
            for field in shown:
                field.setText("zzz")
            rialto.window.show_tab("settings" if tab != "settings" else "chat")
            assert [field.text() for field in shown] == ["" for _ in shown], tab


async def test_the_chat_list_is_walked_from_its_filter(start: Start) -> None:
    async with start() as rialto:
        window, chat = rialto.window, rialto.chat
        window.resize(1440, 900)
        await in_the_sandbox(rialto)
        history = ChatStore(rialto.database)
        for title in ("Apple pie", "Pear tart", "Apple crumble"):
            made = await history.create_chat(title=title, model="")
            assert chat.library is not None
            chat.library.put(made)
        chat.publish_list()
        window.show_tab("chat")
        field, view = rialto.chat_page.list.filter, rialto.chat_page.list.view
        await until(lambda: view.rows.rowCount() > 3)
        field.setFocus()
        QTest.keyClicks(field, "apple")
        await until(lambda: len(view.rows.shown_keys()) == 2)
        second = view.rows.shown_keys()[1]
        QTest.keyClick(field, Qt.Key.Key_Down)
        assert field.hasFocus()
        QTest.keyClick(field, Qt.Key.Key_Down)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: chat.opened.chat_id == second)
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert (field.text(), field.hasFocus()) == ("", True)
        QTest.keyClick(field, Qt.Key.Key_Escape)
        assert view.hasFocus()
        QTest.keyClicks(field, "no such chat")
        await until(lambda: not view.isVisible())
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda: rialto.chat_page.list.filter.isHidden() or not field.isVisible())

"""The chats at the left, thrown away, brought back, half written and searched, by somebody without a mouse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget

from tests.journeys.talk import QUESTION, Talk, in_the_sandbox
from tests.kit.waiting import until


async def zone_by_key(talk: Talk, zone: QWidget) -> None:
    """F6 until the keyboard is in that part of the window: at most once round its six parts and the notices."""
    for _ in range(12):
        if zone.isAncestorOf(talk.hands.focus):
            return
        await talk.hands.press("F6")
    raise AssertionError(f"F6 does not lead to {zone}")


async def stops_from(talk: Talk, first: QWidget, part: QWidget) -> list[QWidget]:
    """What Tab reaches from a widget until it is in a part of the window."""
    first.setFocus()
    found = [talk.hands.focus]
    while not (found[-1] is part or part.isAncestorOf(found[-1])):
        assert len(found) < 60, "Tab does not lead there"
        await talk.hands.press("Tab")
        if talk.hands.focus is not found[-1]:
            found.append(talk.hands.focus)
    return found


async def test_a_person_without_a_mouse_throws_chats_away_brings_them_back_and_keeps_drafts(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        hands, page = talk.hands, talk.page
        chats = talk.chat_rows
        await talk.begin()
        await talk.ask(QUESTION)
        first = talk.presenter.opened.chat_id
        await hands.press("Ctrl+Shift+D")
        await until(lambda: talk.presenter.opened.chat_id not in (first, None) and len(chats.shown_keys()) == 2)

        # from the list: gone by Delete, back by Ctrl+Z
        await zone_by_key(talk, page.list)
        await hands.tab_to(talk.chat_list.view)
        assert talk.chat_list.view.current_key == talk.presenter.opened.chat_id
        await hands.press("Down" if chats.shown_keys()[1] == first else "Up")
        gone = talk.chat_list.view.current_key
        assert gone == first, "not the one that is open"
        await hands.press("Delete")
        await until(lambda: gone not in chats.shown_keys())
        assert len(chats.shown_keys()) == 1
        await hands.undo("chat")
        await until(lambda: gone in chats.shown_keys())

        # gone again, and back from the trash itself
        await hands.press("Delete")
        await until(lambda: gone not in chats.shown_keys())
        await hands.command("Open trash")
        trash = talk.trash_pane
        assert trash is not None
        await until(lambda: trash.view.hasFocus() and trash.view.current_key == gone)
        await hands.tab_to(trash.restore)
        await hands.press("Space")
        await until(lambda: gone in chats.shown_keys() and not trash.model.shown_keys())
        await hands.press("Escape")
        await until(talk.chat_list.view.hasFocus)

        # found in all chats; Escape clears the field, then goes back to the list
        await hands.press("Ctrl+Shift+F")
        await until(talk.search_dialog.field.hasFocus)
        await hands.type("key")
        await until(lambda: talk.search_dialog.model.rowCount() >= 2)
        await hands.press("Tab")
        assert talk.search_dialog.view.hasFocus()
        await hands.press("Escape", "Escape", "Escape")
        await until(talk.chat_list.view.hasFocus)

        # opened from the list by Enter, half written, and there after a restart
        talk.chat_list.view.show_current(first)
        await hands.press("Return")
        await until(lambda: talk.presenter.opened.chat_id == first)
        await hands.press("Ctrl+L")
        await hands.type("not sent yet")
        keys = chats.shown_keys()
        second = next(key for key in keys if key != first)
        step, back = ("Alt+Down", "Alt+Up") if keys[0] == first else ("Alt+Up", "Alt+Down")
        await until(lambda: talk.chat_list.neighbor(1 if keys[0] == first else -1) == second)
        await hands.press(step)
        await until(lambda: talk.presenter.opened.chat_id == second and talk.composer_text() == "")
        await hands.press(back)
        await until(lambda: talk.composer_text() == "not sent yet")
    async with start() as again:
        await until(lambda: again.chat.opened.chat_id == first)
        await until(lambda: again.chat_page.main.composer.text() == "not sent yet")


async def test_tab_walks_list_header_conversation_box_and_inspector_in_this_order(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        talk = Talk(rialto)
        page = talk.page
        await talk.begin()
        await talk.ask(QUESTION)
        walked = await stops_from(talk, talk.chat_list.new, page.side)
        wanted = [
            talk.chat_list.new,
            talk.chat_list.filter,
            talk.chat_list.view,
            talk.header.model,
            talk.header.inspector_button,
            talk.view,
            talk.message_box,
        ]
        assert [widget for widget in walked if widget in wanted] == wanted

        await talk.hands.command("Search all chats")
        search = talk.search_dialog
        await until(search.field.hasFocus)
        walked = await stops_from(talk, search.back, talk.view)
        wanted = [search.back, search.field, talk.header.model, talk.view]
        assert [widget for widget in walked if widget in wanted] == wanted


async def test_the_characters_of_a_small_window_are_walked_filtered_and_spoken_with_by_keys(
    start: Callable[..., Any],
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1024, 640)
        talk = Talk(rialto)
        hands = talk.hands
        await talk.begin()
        await hands.press("Ctrl+Shift+P")
        people = rialto.characters_page
        await until(lambda: people.presenter.state.rows and not people.presenter.state.loading)
        await zone_by_key(talk, people.filters)
        await hands.tab_to(people.filters.web)
        await hands.press("Space")
        await until(lambda: people.presenter.state.filters.web_only and not people.presenter.state.loading)
        await hands.tab_to(people.filters.sort)
        await hands.tab_to(people.grid.view)
        await hands.press("Right", "Left", "Return")
        await until(lambda: talk.presenter.head().character is not None)

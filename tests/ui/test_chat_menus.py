"""One menu for a chat and one for a message, whichever way they are opened; a turn is deleted and brought back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.ui.kit.theme import Theme
from tests.kit.chat import ChatHarness, FakeService, open_chat, open_chat_presenter, whole
from tests.kit.message_view import click, controls, point_of
from tests.kit.waiting import until

TABLE = "| a | b |\n|--|--|\n| 1 | 2 |"


def entries(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}


def open_menu() -> QMenu:
    """The menu that is on screen."""
    found = [each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible()]
    assert len(found) == 1
    return found[0]


def taken(menu: QMenu) -> dict[str, tuple[str, bool]]:
    """Entries with their keys and whether they have an icon; the menu is closed."""
    found = {text: (each.shortcut().toString(), each.icon().isNull()) for text, each in entries(menu).items()}
    menu.close()
    return found


def by_context(shown: ChatHarness, at: QPoint, reason: QContextMenuEvent.Reason) -> QMenu:
    event = QContextMenuEvent(reason, at, shown.view.viewport().mapToGlobal(at))
    QApplication.sendEvent(shown.view.viewport(), event)
    return open_menu()


async def test_right_click_button_and_menu_key_open_the_same_menu_of_a_message(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("An answer")])) as shown:
        await shown.say("A question")
        at = point_of(shown.view, "More").toPoint()
        right = taken(by_context(shown, at, QContextMenuEvent.Reason.Mouse))
        click(shown.view, "More")
        assert taken(open_menu()) == right
        shown.view.setFocus(Qt.FocusReason.BacktabFocusReason)
        await until(lambda: shown.view.walk.text().startswith("An answer\n"))
        assert taken(by_context(shown, QPoint(0, 0), QContextMenuEvent.Reason.Keyboard)) == right
        assert list(right) == [
            *("Copy message", "Copy as Markdown", "Edit", "Try again", "Branch from here", "Read aloud"),
            *("Show request", "Copy to chat…", "Move to chat…", "Delete", "Select all"),
        ]
        assert right["Try again"][0] == "Ctrl+R"
        assert [text for text, (_, bare) in right.items() if bare] == ["Select all"]


async def test_a_chat_has_one_menu_in_the_list_and_in_the_header(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("A question")
        header = taken(shown.page.open_chat_menu())
        shown.chat_list.view.menu_requested.emit(shown.presenter.opened.chat_id, QPoint(5, 5))
        assert taken(open_menu()) == header
        assert "Export…" in header
        first = shown.presenter.opened.chat_id
        shown.page.new_chat()
        await shown.settle()
        shown.chat_list.view.menu_requested.emit(first, QPoint(5, 5))
        other = taken(open_menu())
        assert set(other) == {
            *("Open", "Rename", "Pin", "Duplicate", "Move to project", "Export…", "Move to trash"),
        }
        assert not any(bare for _, bare in other.values())


async def test_a_chat_of_the_list_is_renamed_under_its_own_title(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("The first chat")
        first = shown.presenter.opened.chat_id
        shown.page.new_chat()
        await shown.say("The second chat")
        shown.chat_list.view.rename_requested.emit(first)
        await shown.settle()
        assert shown.header.edit.is_open
        assert shown.header.edit.text() == "The first chat"


async def test_an_answer_and_a_question_are_deleted_and_brought_back(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[whole("One"), whole("Two"), whole("Three")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        for text in ("First", "Second"):
            await shown.say(text)
        rows = shown.rows
        assert [row.text for row in rows] == ["First", "One", "Second", "Two"]
        spent = shown.presenter.totals().total
        click(shown.view, "More")
        entries(open_menu())["Delete"].trigger()
        open_menu().close()
        await shown.settle()
        shown.act_on_row(rows[0].id, "delete")
        await shown.settle()
        left = [row.text for row in shown.rows]
        assert left in (["Second"], ["Second", "Two"])
        assert shown.presenter.totals().total == spent, "what was paid is paid"
        assert shown.undo_stack.undo_last("chat") and shown.undo_stack.can_undo("chat")
        await shown.settle()
        assert shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert shown.rows == rows


async def test_what_was_deleted_is_neither_sent_nor_kept(tmp_home: Path) -> None:
    fake = FakeService(answers=[whole("A secret answer"), whole("Two")])
    async with open_chat_presenter(tmp_home, fake=fake) as chat:
        await chat.say("A secret question")
        chat.presenter.message_actions.act(chat.rows[0].id, "delete")
        await chat.tasks.idle()
        assert chat.rows == ()
        await chat.say("Another")
        assert "secret" not in str(fake.requests[-1]["messages"])
        assert [row.text for row in chat.rows] == ["Another", "Two"]
        kept = await chat.database.fetch("SELECT content, reasoning, extra FROM messages ORDER BY seq")
        assert "secret" not in str(kept)
        assert "secret" not in str(await chat.database.fetch("SELECT preview FROM chats"))
        assert all(hit.message_id is None for hit in await chat.history.search("secret question")), "but the title"
        chat_id = chat.presenter.opened.chat_id
    async with open_chat_presenter(tmp_home) as again:
        again.presenter.open_chat(chat_id or "")
        await again.tasks.idle()
        assert [row.text for row in again.rows] == ["Another", "Two"]


async def test_deleting_one_of_two_answers_shows_the_other(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[whole("One"), whole("Two")])) as chat:
        await chat.say("Why?")
        chat.presenter.message_actions.retry_last()
        await chat.tasks.idle()
        assert (chat.rows[-1].text, chat.rows[-1].places) == ("Two", 2)
        chat.presenter.message_actions.act(chat.rows[-1].id, "delete")
        await chat.tasks.idle()
        assert (chat.rows[-1].text, chat.rows[-1].places) == ("One", 1)
        chat.presenter.message_actions.act(chat.rows[-1].id, "delete")
        await chat.tasks.idle()
        assert [row.text for row in chat.rows] == ["Why?"]
        assert "retry" in chat.rows[0].shown_actions


@pytest.mark.parametrize("all_of_it", [False, True])
async def test_text_is_copied_as_html_and_as_plain_text(theme: Theme, tmp_home: Path, all_of_it: bool) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole(f"Some *words*.\n\n{TABLE}")])) as shown:
        await shown.say("A table?")
        if all_of_it:
            shown.view.select_all()
            QTest.keyClick(shown.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        else:
            copy = [each for each in controls(shown.view) if each[0].control == "copy"][-1]
            shown.view.activate(copy[0], copy[1])
        copied = QGuiApplication.clipboard().mimeData()
        assert "<td>1</td>" in copied.html()
        assert "<em>words</em>" in copied.html()
        assert (TABLE if all_of_it else "a\tb\n1\t2") in copied.text()


async def test_chats_that_are_selected_together_are_pinned_and_trashed_together(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as chat:
        for text in ("One", "Two", "Three"):
            chat.page.new_chat()
            await chat.say(text)
        view = chat.chat_list.view
        keys = list(chat.chat_rows.shown_keys())[:2]
        for key in keys:
            view.selectionModel().select(chat.chat_rows.index_of(key), QItemSelectionModel.SelectionFlag.Select)
        assert set(chat.chat_list.selected_with(keys[0])) == set(keys)
        menu = chat.page.open_menu_of(keys[0], QPoint(0, 0))
        entries = {action.text(): action for action in menu.actions() if action.text()}
        assert list(entries) == ["Pin", "Move to project", "Export 2 chats…", "Move 2 chats to trash"]
        entries["Pin"].trigger()
        await chat.settle()
        assert all(chat.page.is_pinned(key) for key in keys)
        entries["Move 2 chats to trash"].trigger()
        await chat.settle()
        assert not set(keys) & set(chat.chat_rows.shown_keys())
        assert len(chat.page.open_menu_of(chat.chat_rows.shown_keys()[0], QPoint(0, 0)).actions()) > 4

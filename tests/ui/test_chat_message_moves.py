"""A question with its answers goes to another chat: copied or moved, undone, there after a restart; who refuses it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.ui.chat.chat_picker import ChatPickerDialog
from app.ui.chat.session.message_moves import STILL_WRITING, TO_SEALED
from app.ui.chat.session.stored_chat import SEALED_KEY
from app.ui.kit.theme import Theme
from tests.kit.chat import ChatHarness, FakeService, held, open_chat, whole
from tests.kit.waiting import until

SHOT = b"bytes of an attachment"


async def ask(shown: ChatHarness, row: int, move: bool = False) -> ChatPickerDialog:
    """Choose the entry in the menu of a message and wait for the question."""
    shown.act_on_row(shown.rows[row].id, "move-to" if move else "copy-to")
    dialogs = shown.page.main.findChildren
    await until(lambda: any(each.isVisible() for each in dialogs(ChatPickerDialog)))
    return next(each for each in dialogs(ChatPickerDialog) if each.isVisible())


async def answer(shown: ChatHarness, dialog: ChatPickerDialog, typed: str = "") -> None:
    QTest.keyClicks(dialog.search, typed)
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    await shown.settle()


def titles(dialog: ChatPickerDialog) -> list[str]:
    model = dialog.list.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


async def two_chats(shown: ChatHarness) -> tuple[str, str]:
    """A chat with a turn, and an open one with two."""
    await shown.say("The target")
    target = shown.presenter.opened.chat_id
    shown.page.new_chat()
    await shown.say("First")
    await shown.say("Second")
    source = shown.presenter.opened.chat_id
    assert target and source
    return target, source


def fake() -> FakeService:
    return FakeService(answers=[whole("Zero"), whole("One"), whole("Two")])


async def texts(shown: ChatHarness, chat_id: str) -> list[str]:
    chat = await shown.history.chat(chat_id)
    return [each.content for each in await shown.history.path_to(chat.head_id) if not each.is_deleted]


async def test_a_copied_turn_is_at_the_end_of_the_other_chat_and_costs_nothing_there(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as shown:
        target, source = await two_chats(shown)
        before = await shown.history.chat(target)
        rows = shown.rows
        question = await shown.history.message(rows[0].id)
        note = {"kind": "text", "name": "note.txt", "sha256": shown.history.files.keep(SHOT)}
        written = [json.dumps([note]), question.id]
        await shown.database.execute("UPDATE messages SET attachments = ? WHERE id = ?", written)
        receipts = await shown.database.fetch("SELECT * FROM receipts")
        dialog = await ask(shown, 1)
        assert titles(dialog) == ["New chat", "The target"]
        await answer(shown, dialog, "targ")
        assert shown.rows == rows
        assert await texts(shown, target) == ["The target", "Zero", "First", "One"]
        copies = (await shown.history.messages(target))[-2:]
        assert copies[0].attachments == (note,)
        assert note["sha256"] in await shown.history.used_attachments()
        assert [each.cost_usd for each in copies] == [None, None]
        after = await shown.history.chat(target)
        assert (after.cost_usd, after.message_count) == (before.cost_usd, before.message_count + 2)
        assert await shown.database.fetch("SELECT * FROM receipts") == receipts
        shown.presenter.open_chat(target)
        await shown.settle()
        assert [row.text for row in shown.rows] == ["The target", "Zero", "First", "One"]
        assert shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert [row.text for row in shown.rows] == ["The target", "Zero"]
        assert await texts(shown, source) == ["First", "One", "Second", "Two"]


async def test_a_moved_turn_comes_back_with_one_undo_and_stays_moved_after_a_restart(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as shown:
        target, _source = await two_chats(shown)
        rows, spent = shown.rows, shown.presenter.totals().total
        for again in (True, False):
            await answer(shown, await ask(shown, 2, move=True), "target")
            assert [row.text for row in shown.rows] == ["First", "One"]
            assert await texts(shown, target) == ["The target", "Zero", "Second", "Two"]
            assert shown.presenter.totals().total == spent, "it was paid here"
            if again:
                assert shown.undo_stack.undo_last("chat") and not shown.undo_stack.can_undo("chat")
                await shown.settle()
                assert shown.rows == rows
                assert await texts(shown, target) == ["The target", "Zero"]
    async with open_chat(theme, tmp_home) as shown:
        assert [row.text for row in shown.rows] == ["First", "One"]
        assert await texts(shown, target) == ["The target", "Zero", "Second", "Two"]
        shown.presenter.open_chat(target)
        await shown.settle()
        assert [row.text for row in shown.rows] == ["The target", "Zero", "Second", "Two"]


async def test_all_answers_go_along_and_the_shown_one_is_shown(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as shown:
        await shown.say("Why?")
        shown.presenter.message_actions.retry_last()
        await shown.settle()
        shown.presenter.message_actions.show_sibling("", -1)
        await shown.settle()
        source = shown.presenter.opened.chat_id
        assert [row.text for row in shown.rows] == ["Why?", "Zero"]
        await answer(shown, await ask(shown, 1, move=True))  # Enter in the empty field: a new chat
        assert shown.rows == ()
        assert shown.presenter.library is not None
        made = next(chat for chat in shown.presenter.library.recent("", 5) if chat.id != source)
        assert (made.title, made.model) == ("Why?", "plain")
        shown.presenter.open_chat(made.id)
        await shown.settle()
        assert [(row.text, row.place, row.places) for row in shown.rows] == [("Why?", 1, 1), ("Zero", 1, 2)]
        shown.presenter.open_chat(source or "")
        await shown.settle()
        assert shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert [row.text for row in shown.rows] == ["Why?", "Zero"]
        assert [chat.id for chat in await shown.history.chats()] == [source], "nothing else was in the new chat"


async def test_what_was_said_after_the_copy_stays_when_it_is_undone(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as shown:
        target, _source = await two_chats(shown)
        await answer(shown, await ask(shown, 0), "target")
        shown.fake.answers = [whole("Three")]
        shown.presenter.open_chat(target)
        await shown.settle()
        await shown.say("Third")
        assert shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert [row.text for row in shown.rows] == ["The target", "Zero", "Third", "Three"]


async def test_a_chat_of_another_kind_and_a_chat_that_is_written_refuse(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as shown:
        target, source = await two_chats(shown)
        assert shown.presenter.library is not None
        await shown.presenter.library.change(target, options={SEALED_KEY: True})
        dialog = await ask(shown, 0)
        QTest.keyClicks(dialog.search, "target")
        QTest.keyClick(dialog.search, Qt.Key.Key_Return)
        assert dialog.isVisible() and dialog.problem.text() == TO_SEALED
        dialog.reject()
        await shown.settle()
        await shown.presenter.library.change(target, options={})
        gate = asyncio.Event()
        shown.fake.answers = [held(gate, "Three")]
        shown.presenter.open_chat(target)
        await until(lambda: shown.presenter.opened.chat_id == target)
        shown.presenter.send("Third")
        await until(lambda: target in shown.presenter.writing())
        row_id = shown.rows[0].id
        shown.presenter.message_moves.put(row_id, source, move=True)
        await until(lambda: shown.told["notice"][-1:] == [(STILL_WRITING,)])
        shown.presenter.open_chat(source)
        await until(lambda: shown.presenter.opened.chat_id == source)
        dialog = await ask(shown, 0)
        QTest.keyClicks(dialog.search, "target")
        QTest.keyClick(dialog.search, Qt.Key.Key_Return)
        assert dialog.isVisible() and dialog.problem.text() == STILL_WRITING
        dialog.reject()
        gate.set()
        await shown.settle()
        assert await texts(shown, source) == ["First", "One", "Second", "Two"]
        assert await texts(shown, target) == ["The target", "Zero", "Third", "Three"]
        QApplication.processEvents()

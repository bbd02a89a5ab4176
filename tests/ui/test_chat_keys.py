"""A whole chat worked by the keyboard alone: edit, try again, continue, pin, rename, copy, throw away, bring back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.kit.theme import Theme
from tests.kit.chat import FakeService, cut, open_chat, open_chat_presenter, whole
from tests.ui.test_chat_desk import press, run


async def test_an_own_turn_is_edited_from_the_empty_box_and_becomes_a_branch(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[whole("One"), whole("Two")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Frist question")
        box = shown.message_box
        QTest.keyClick(box, Qt.Key.Key_Up)
        assert box.toPlainText() == "Frist question"
        box.selectAll()
        QTest.keyClicks(box, "First question")
        QTest.keyClick(box, Qt.Key.Key_Return)
        await shown.settle()
        assert [row.text for row in shown.rows] == ["First question", "Two"]
        assert shown.rows[0].places == 2
        press(shown, "Alt+PgUp")
        await shown.settle()
        assert [row.text for row in shown.rows] == ["Frist question", "One"]


async def test_an_answer_is_edited_by_key_and_nobody_is_asked(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("As given")])) as shown:
        await shown.say("Which?")
        run(shown, "chat.edit_answer")
        box = shown.message_box
        assert box.toPlainText() == "As given"
        box.selectAll()
        QTest.keyClicks(box, "As I want it")
        QTest.keyClick(box, Qt.Key.Key_Return)
        await shown.settle()
        assert [row.text for row in shown.rows] == ["Which?", "As I want it"]
        assert len(shown.fake.requests) == 1


async def test_a_cut_answer_is_continued_from_its_button_with_tab_and_enter(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[cut("The first half and"), whole(" the rest.")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Why?")
        view = shown.view
        shown.window.activateWindow()
        view.setFocus()
        for _ in range(12):
            QTest.keyClick(view, Qt.Key.Key_Tab)
            if shown.focused_control() == "continue":
                break
        QTest.keyClick(view, Qt.Key.Key_Return)
        await shown.settle()
        assert shown.rows[-1].text == "The first half and the rest."


async def test_a_cut_answer_is_continued_by_its_command_as_well(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[cut("Half"), whole(" and half.")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Why?")
        run(shown, "chat.continue")
        await shown.settle()
        assert shown.rows[-1].text == "Half and half."


async def test_a_chat_is_pinned_renamed_copied_thrown_away_and_brought_back(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("A question")
        press(shown, "Ctrl+D")
        await shown.settle()
        assert shown.page.is_pinned()
        press(shown, "F2")
        edit = shown.header.edit
        edit.selectAll()
        QTest.keyClicks(edit, "My own title")
        QTest.keyClick(edit, Qt.Key.Key_Return)
        await shown.settle()
        press(shown, "Ctrl+Shift+D")
        await shown.settle()
        assert shown.title_text() == "My own title (copy)"
        press(shown, "Del")
        await shown.settle()
        assert len(shown.chat_rows.shown_keys()) == 1
        shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert shown.title_text() == "My own title (copy)"
        assert len(shown.fake.requests) == 1, "titles, copies and pins never ask the service"


async def test_what_is_typed_is_there_after_a_restart_for_each_chat(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("One")
        first = shown.presenter.opened.chat_id
        QTest.keyClicks(shown.message_box, "half a thought")
        press(shown, "Ctrl+N")
        await shown.settle()
        await shown.say("Two")
        QTest.keyClicks(shown.message_box, "another one")
    async with open_chat_presenter(tmp_home) as harness:
        assert harness.presenter.opened.draft == "another one"
        harness.presenter.open_chat(first or "")
        await harness.tasks.idle()
        assert harness.presenter.opened.draft == "half a thought"

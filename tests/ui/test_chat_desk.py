"""What the chat tab opens beside the conversation, worked through its page by the keyboard alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QPlainTextEdit, QPushButton, QScrollArea, QWidget

from app.ui.chat.export_dialog import ExportDialog
from app.ui.chat.session.structured_output import Structure
from app.ui.chat.structure_dialog import CallsDialog, JsonEdit, StructureDialog
from app.ui.conversation.view import MessageView
from app.ui.kit.theme import Theme
from tests.kit.chat import ChatHarness, FakeService, dropped, held, model_body, open_chat, whole
from tests.kit.waiting import until
from tests.ui.test_chat_branches import CAPABLE, FUNCTIONS, SCHEMA, calls

NONE, CONTROL, SHIFT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


def capable(*answers: object) -> FakeService:
    models = [model_body(capabilities=CAPABLE), model_body("other", "Other", capabilities=CAPABLE)]
    return FakeService(models=models, answers=list(answers))  # type: ignore[arg-type]  # what `whole` and `held` give


def press(shown: ChatHarness, shortcut: str) -> None:
    """Do what the window does for a key that is bound to one of the tab's actions."""
    action = next(each for each in shown.page.actions() if each.shortcut == shortcut)
    assert action.enabled(), f"{action.text} cannot be done now"
    action.run()


def run(shown: ChatHarness, name: str) -> None:
    """Do what the palette does for an action without a key."""
    action = next(each for each in shown.page.actions() if each.id == name)
    assert action.enabled(), f"{action.text} cannot be done now"
    action.run()


def keys(widget: QWidget, text: str, then: Qt.Key | None = None, held_down: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClicks(widget, text)
    if then is not None:
        QTest.keyClick(widget, then, held_down)


async def dialog_of(shown: ChatHarness, kind: type[QDialog]) -> QDialog:
    """The dialog that is open, once it is."""
    found: list[QDialog] = []

    def there() -> bool:
        found[:] = [each for each in shown.window.findChildren(QDialog) if isinstance(each, kind) and each.isVisible()]
        return bool(found)

    await until(there)
    return found[0]


def walk_to(dialog: QWidget, wanted: Callable[[QWidget], bool]) -> QWidget:
    """Press Tab until the focus is where it is wanted."""
    for _ in range(40):
        widget = dialog.focusWidget()
        if widget is not None and wanted(widget):
            return widget
        QTest.keyClick(widget or dialog, Qt.Key.Key_Tab)
    raise AssertionError("the Tab key does not lead there")


# -- search -----------------------------------------------------------------------------------------------------------


async def test_all_chats_are_searched_as_one_types_and_a_hit_is_opened_with_its_words_marked(
    theme: Theme, tmp_home: Path
) -> None:
    fake = FakeService(answers=[whole("The heron waits.\n\nStill the heron waits."), whole("Nothing else")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Which bird?")
        first = shown.rows[-1].id
        press(shown, "Ctrl+N")
        await shown.settle()
        await shown.say("Something else")
        press(shown, "Ctrl+Shift+F")
        pane = shown.search_dialog
        assert shown.page.list_pane().currentWidget() is pane  # type: ignore[attr-defined]  # a stack
        keys(pane.field, "her")
        await shown.settle()
        assert pane.model.rowCount() == 1
        assert pane.note.text() == "1 match"
        keys(pane.field, "on", Qt.Key.Key_Return)
        await shown.settle()
        find = shown.find_bar
        assert find.isVisible()
        assert (find.field.text(), find.count.text()) == ("heron", "1 of 2")
        assert shown.rows[-1].id == first
        press(shown, "Ctrl+G")
        assert find.count.text() == "2 of 2"
        press(shown, "Ctrl+Shift+G")
        assert find.count.text() == "1 of 2"
        assert shown.page.handle_escape()
        assert not find.isVisible()
        assert shown.page.handle_escape()
        assert shown.page.list_pane().currentWidget() is shown.chat_list  # type: ignore[attr-defined]  # a stack


async def test_what_nobody_wrote_is_named(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Which bird?")
        press(shown, "Ctrl+Shift+F")
        pane = shown.search_dialog
        keys(pane.field, "zebra")
        await shown.settle()
        assert pane.nothing.text() == "No results for “zebra”."
        pane.clear.click()
        await shown.settle()
        assert (pane.field.text(), pane.nothing.isVisible()) == ("", False)
        keys(pane.field, "zebra")
        await shown.settle()
        assert pane.nothing.isVisible()
        keys(pane.field, "", Qt.Key.Key_Escape)
        keys(pane.field, "", Qt.Key.Key_Escape)
        assert shown.page.list_pane().currentWidget() is shown.chat_list  # type: ignore[attr-defined]  # a stack


async def test_ctrl_f_looks_in_the_chat_when_the_focus_is_there_and_filters_the_list_otherwise(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("One two one.")])) as shown:
        await shown.say("Count one")
        shown.window.activateWindow()
        shown.message_box.setFocus()
        field = shown.page.filter_field()
        assert field is shown.find_bar.field
        keys(field, "ONE", Qt.Key.Key_Return)
        assert shown.find_bar.count.text() == "1 of 3"
        keys(field, "", Qt.Key.Key_Return, SHIFT)
        assert shown.find_bar.count.text() == "3 of 3"
        keys(field, "", Qt.Key.Key_Escape)
        assert not shown.find_bar.isVisible()
        shown.chat_list.view.setFocus()
        assert shown.page.filter_field() is shown.chat_list.filter


async def test_found_words_are_painted_where_they_stand(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("**Her**on and egret")])) as shown:
        await shown.say("Which bird?")
        view: MessageView = shown.view
        shown.page.controller.open_find()
        QApplication.processEvents()
        before = view.grab().toImage()
        shown.find("egret")
        assert shown.find_bar.finder.count == 1
        assert view.grab().toImage() != before
        shown.find("")
        assert view.grab().toImage() == before


# -- trash ------------------------------------------------------------------------------------------------------------


async def test_the_trash_is_looked_into_and_a_chat_brought_back_by_key(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Keep me")
        press(shown, "Del")
        await shown.settle()
        run(shown, "chat.open_trash")
        await shown.settle()
        pane = shown.trash_pane
        assert pane is not None
        assert pane.model.rowCount() == 1
        keys(pane.view, "", Qt.Key.Key_Return)
        await shown.settle()
        assert pane.model.rowCount() == 0
        assert shown.title_text() == "Keep me"
        assert not pane.restore.isEnabled()
        assert pane.nothing.isVisibleTo(pane)
        assert not pane.view.isVisibleTo(pane)


async def test_deleting_for_good_asks_and_the_default_is_to_keep(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Away with it")
        press(shown, "Del")
        await shown.settle()
        run(shown, "chat.open_trash")
        await shown.settle()
        pane = shown.trash_pane
        assert pane is not None
        keys(pane.view, "", Qt.Key.Key_Delete)
        dialog = await dialog_of(shown, QDialog)
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        await shown.settle()
        assert pane.model.rowCount() == 1
        pane.empty.click()
        dialog = await dialog_of(shown, QDialog)
        button = walk_to(
            dialog, lambda widget: isinstance(widget, QPushButton) and widget.text() == "Delete permanently"
        )
        QTest.keyClick(button, Qt.Key.Key_Space)
        await shown.settle()
        assert pane.model.rowCount() == 0
        assert await shown.history.chats(trashed=True) == ()


# -- versions, comparing ----------------------------------------------------------------------------------------------


async def test_versions_of_an_answer_are_walked_by_key(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[whole("First"), whole("Second")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Which?")
        press(shown, "Ctrl+R")
        await shown.settle()
        assert shown.rows[-1].text == "Second"
        press(shown, "Alt+PgUp")
        await shown.settle()
        assert (shown.rows[-1].text, shown.rows[-1].place) == ("First", 1)
        press(shown, "Alt+PgDown")
        await shown.settle()
        assert shown.rows[-1].text == "Second"


async def test_two_models_are_asked_at_once_and_one_is_kept_by_the_keyboard_alone(theme: Theme, tmp_home: Path) -> None:
    gate = asyncio.Event()
    fake = FakeService(answers=[held(gate, "One", " more"), held(gate, "Two", " more")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        page = shown.page
        keys(shown.message_box, "Which?")
        press(shown, "Ctrl+J")
        picker = page.controller.comparing
        assert list(picker.marks) == ["plain"]
        assert not picker.go.isEnabled()
        keys(picker.search, "other", Qt.Key.Key_Return)
        assert list(picker.marks) == ["plain", "other"]
        assert picker.go.text().startswith("Ask 2 models up to $")
        keys(picker.search, "", Qt.Key.Key_Return, CONTROL)
        await until(lambda: len(fake.requests) == 2 and shown.place is page.controller.comparison)
        pane = page.controller.comparison
        assert [column.name for column in pane.columns] == ["Plain", "Other"]
        await until(lambda: all(column.view.row(column.row_id).text for column in pane.columns))
        assert pane.stop_all.isVisible()
        gate.set()
        await shown.settle()
        assert [column.view.row(column.row_id).text for column in pane.columns] == ["One more", "Two more"]
        assert all(column.view.row(column.row_id).receipt for column in pane.columns)
        assert pane.columns[0].kept.isVisible() and pane.columns[1].keep.isVisible()
        pane.columns[1].keep.setFocus()
        QTest.keyClick(pane.columns[1].keep, Qt.Key.Key_Space)
        await shown.settle()
        assert shown.place is shown.view
        assert shown.row(shown.rows[-1].id).text == "Two more"
        run(shown, "chat.beside")
        assert shown.place is pane
        assert page.handle_escape()
        assert shown.place is shown.view


# -- functions and schemas --------------------------------------------------------------------------------------------


async def test_a_function_call_is_answered_by_the_keyboard_alone(theme: Theme, tmp_home: Path) -> None:
    fake = capable(calls(("c1", "get_weather", '{"city": "Oslo"}')), whole("Cold."))
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        shown.presenter.set_structure(Structure(use_functions=True, functions=FUNCTIONS))
        await shown.say("Weather?")
        view = shown.view
        assert view.row(shown.rows[-1].id).calls[0].name == "get_weather"
        run(shown, "chat.calls")
        dialog = await dialog_of(shown, CallsDialog)
        assert isinstance(dialog, CallsDialog)
        assert not dialog.send.isEnabled()
        field = dialog.focusWidget()
        assert isinstance(field, QPlainTextEdit)
        keys(field, "2 degrees")
        button = walk_to(dialog, lambda widget: widget is dialog.send)
        QTest.keyClick(button, Qt.Key.Key_Space)
        await shown.settle()
        assert [row.text for row in shown.rows] == ["Weather?", "", "2 degrees", "Cold."]
        assert fake.requests[-1]["messages"][-1]["content"] == "2 degrees"
        offered = next(each for each in shown.page.actions() if each.id == "chat.calls")
        assert not offered.enabled(), "the last answer asked for none"


async def test_a_schema_is_entered_checked_and_used_by_the_keyboard_alone(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=capable(whole('{"city": "Oslo"}'))) as shown:
        run(shown, "chat.structure")
        dialog = await dialog_of(shown, StructureDialog)
        assert isinstance(dialog, StructureDialog)
        switch = walk_to(dialog, lambda widget: widget is dialog.use_schema)
        QTest.keyClick(switch, Qt.Key.Key_Space)
        edit = walk_to(dialog, lambda widget: widget is dialog.schema)
        assert isinstance(edit, JsonEdit)
        edit.selectAll()
        keys(edit, '{"type": "text"}')
        assert "“text”" in dialog.schema_note.text()
        assert not dialog.save.isEnabled()
        edit.selectAll()
        keys(edit, SCHEMA)
        button = walk_to(dialog, lambda widget: widget is dialog.save)
        QTest.keyClick(button, Qt.Key.Key_Space)
        await shown.settle()
        await shown.say("Where?")
        assert shown.row(shown.rows[-1].id).structured


# -- files ------------------------------------------------------------------------------------------------------------


async def test_a_chat_is_exported_from_its_dialog(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Hello")
        press(shown, "Ctrl+E")
        dialog = await dialog_of(shown, ExportDialog)
        assert isinstance(dialog, ExportDialog)
        scroll = dialog.findChild(QScrollArea)
        assert scroll is not None
        for kind in ("html", "json"):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Right)
            assert dialog.kind.current == kind
            room = scroll.viewport().size()
            assert dialog.body.heightForWidth(room.width()) <= room.height(), "the longer text has its room"
        dialog.kind.set_current("html")
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        chooser = await dialog_of(shown, QFileDialog)
        assert isinstance(chooser, QFileDialog)
        chooser.fileSelected.emit(str(tmp_home / "out.html"))
        chooser.close()
        await shown.settle()
        assert "Hello" in (tmp_home / "out.html").read_text(encoding="utf-8")
        assert shown.toasts[-1][0] == "Saved as out.html"


async def test_an_export_dropped_on_the_list_is_taken_and_reported(theme: Theme, tmp_home: Path) -> None:
    path = tmp_home / "conversations.json"
    path.write_text(json.dumps([{"messages": [{"role": "user", "content": "Dropped words"}]}]), encoding="utf-8")
    async with open_chat(theme, tmp_home) as shown:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)), QUrl("https://example.org/x.json")])
        assert dropped(shown.chat_list, data)
        await shown.settle()
        assert shown.toasts[-1] == ("1 chat imported",)
        assert len(shown.chat_rows.shown_keys()) == 1
        assert shown.rows[0].text == "Dropped words"


async def test_the_path_of_a_line_is_copied_by_the_key_that_copies_answers(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=capable(whole('{"city": "Oslo"}'))) as shown:
        shown.presenter.set_structure(Structure(use_schema=True, schema=SCHEMA))
        await shown.say("Where?")
        view = shown.view
        shown.window.activateWindow()
        view.setFocus()
        for _ in range(12):
            QTest.keyClick(view, Qt.Key.Key_Tab)
            spot = view.picture.focused
            if spot is not None and spot.control.startswith("line:"):
                break
        press(shown, "Ctrl+Shift+C")
        assert QGuiApplication.clipboard().text() == "$.city"


async def test_everything_that_opens_has_a_name(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Which?")
        harness = shown.page.controller
        harness.open_search()
        harness.open_trash()
        harness.open_find()
        harness.show_comparison_pane(shown.rows[-1].id)
        picker = harness.open_comparing()
        unnamed = [
            type(widget).__name__
            for top in (harness.search, shown.chat_list, harness.find, harness.comparison, picker)
            for widget in top.findChildren(QWidget)
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
            and not (widget.accessibleName() or (isinstance(widget, QPushButton) and widget.text()))
            and not widget.objectName().startswith("qt_")
        ]
        assert unnamed == []
        picker.close()

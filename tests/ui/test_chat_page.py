"""The chat tab's widgets over the real presenter: does the page show it, does a click or a key reach it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPlainTextEdit, QWidget

from app.ui.chat.inspector.inspector import PARAMETERS, TOTALS
from app.ui.chat.state import CharacterHead, ChatEntry
from app.ui.kit.tab import TabPage, Zones
from app.ui.kit.theme import Theme
from tests.kit.chat import SANDBOX, FakeService, cut, held, model_body, open_chat, whole
from tests.kit.waiting import until

MARLOW = CharacterHead("marlow", "Marlow", "Patient reviewer of network code.", 4.7, 312, "plain")


async def test_it_is_a_tab(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        wanted = [name for name in vars(TabPage) if not name.startswith("_")]
        assert [name for name in (*wanted, *TabPage.__annotations__) if not hasattr(shown.page, name)] == []
        ids = [action.id for action in shown.page.actions()]
        assert len(ids) == len(set(ids))
        keys = [action.shortcut for action in shown.page.actions() if action.shortcut]
        assert len(keys) == len(set(keys))


async def test_a_typed_message_is_answered_and_listed(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        main = shown.page.main
        assert main.places.currentWidget() is main.welcome
        await shown.say("Hello there")
        assert main.places.currentWidget() is main.view
        assert [row.text for row in shown.rows] == ["Hello there", "Hello."]
        assert main.view.row(shown.rows[-1].id).text == "Hello."
        assert main.composer.text() == ""
        assert main.header.title.text() == "Hello there"
        entry = shown.chat_rows.row(shown.chat_rows.index_of(shown.presenter.opened.chat_id))
        assert isinstance(entry, ChatEntry)
        assert entry.title == "Hello there"


async def test_an_example_of_the_sandbox_is_asked_with_one_click(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, account=SANDBOX) as shown:
        welcome = shown.welcome
        assert all(button.isVisible() for button in welcome.examples)
        welcome.examples[0].click()
        await shown.settle()
        assert shown.rows[0].text == welcome.examples[0].question


async def test_examples_belong_to_the_sandbox(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        assert not any(button.isVisible() for button in shown.welcome.examples)


async def test_escape_stops_and_the_row_says_so(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[held(asyncio.Event(), "Half")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        QTest.keyClicks(shown.message_box, "Go")
        QTest.keyClick(shown.message_box, Qt.Key.Key_Return)
        await until(lambda: shown.rows[-1:] != () and shown.text_of(-1) != "")
        assert shown.composer.stop.isVisible()
        assert shown.page.running_work() == ["An answer in “Go”"]
        assert shown.page.handle_escape()
        await shown.settle()
        assert shown.rows[-1].state == "stopped"
        assert shown.row(shown.rows[-1].id).state == "stopped"
        assert shown.composer.send.isVisible()
        assert not shown.page.handle_escape()


async def test_continue_is_pressed_in_the_conversation(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[cut("The first half and"), whole(" the rest.")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Why?")
        row = shown.rows[-1]
        shown.act_on_row(row.id, "continue")
        await shown.settle()
        assert shown.row(row.id).text == "The first half and the rest."


async def test_a_refused_key_leads_to_the_key(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(answers=[httpx.Response(401, json={"error": "Authentication failed"})])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Hi")
        row = shown.row(shown.rows[-1].id)
        assert row.problem is not None
        shown.act_on_row(row.id, row.problem.actions[0].id)
        assert shown.helped == ["replace-key"]


async def test_the_title_is_renamed_in_place(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Hello")
        header = shown.header
        header.rename_button.click()
        assert header.edit.isVisible()
        header.edit.selectAll()
        QTest.keyClicks(header.edit, "A better name")
        QTest.keyClick(header.edit, Qt.Key.Key_Return)
        await shown.settle()
        assert header.title.text() == "A better name"
        header.rename_button.click()
        QTest.keyClicks(header.edit, "not this")
        QTest.keyClick(header.edit, Qt.Key.Key_Escape)
        await shown.settle()
        assert header.title.text() == "A better name"


async def test_filtering_hides_and_names_what_was_searched(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Bread hydration table")
        shown.page.new_chat()
        await shown.settle()
        await shown.say("Kyoto in four days")
        pane = shown.chat_list
        QTest.keyClicks(pane.filter, "kyoto")
        QTest.keyClick(pane.filter, Qt.Key.Key_Return)
        assert len(pane.model.shown_keys()) == 1
        pane.filter.setText("zebra")
        pane.filter.publish()
        assert len(pane.model.shown_keys()) == 0
        assert "zebra" in pane.nothing.text()
        QTest.keyClick(pane.filter, Qt.Key.Key_Escape)
        assert len(pane.model.shown_keys()) == 2


async def test_delete_trashes_the_row_and_the_toast_undoes_it(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Keep me")
        QTest.keyClick(shown.chat_list.view, Qt.Key.Key_Delete)
        await shown.settle()
        assert shown.chat_rows.rowCount() == 0
        assert shown.undo_stack.newest()[0].text == "“Keep me” moved to trash"
        shown.undo_stack.undo_last("chat")
        await shown.settle()
        assert len(shown.chat_rows.shown_keys()) == 1
        assert shown.title_text() == "Keep me"


async def test_inspector_and_pills_agree(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        shown.composer.web.click()
        assert shown.parameters.web.current == "auto"
        shown.parameters.thinking.click()
        assert not shown.composer.thinking.isChecked()
        shown.parameters.temperature.number.setValue(0.7)
        assert shown.presenter.opened.options.temperature == 0.7


async def test_a_prompt_typed_just_before_sending_goes_along(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService()
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        QTest.keyClicks(shown.parameters.prompt, "Be brief.")
        await shown.say("Hi")
        assert fake.requests[-1]["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_the_request_page_copies_curl_without_the_key(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Hi")
        request = shown.request_pane
        shown.page.open_request()
        await shown.settle()
        request.curl.click()
        copied = QGuiApplication.clipboard().text()
        assert copied.startswith("curl --request POST")
        assert "$RIALTO_API_KEY" in copied
        assert "68" in [
            label.text()
            for label in request.findChildren(QWidget, options=Qt.FindChildOption.FindChildrenRecursively)
            if hasattr(label, "text") and callable(label.text)
        ]  # type: ignore[attr-defined]  # labels only


async def test_totals_copy_as_a_table(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Hi")
        shown.side.show_page(TOTALS)
        table = shown.side.totals.table
        QTest.keySequence(table, "Ctrl+C")
        assert QGuiApplication.clipboard().text() == "Model\tIn\tOut\tCost\nPlain\t812\t164\t$0.0007"
        shown.side.resize(312, 800)
        shown.side.show()
        widths = [table.columnWidth(column) for column in range(4)]
        assert sum(widths) <= table.viewport().width(), "the cost is seen too"


async def test_totals_follow_while_they_are_looked_at_and_when_they_are_again(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Hi")
        shown.side.show_page(TOTALS)
        table = shown.side.totals.table
        assert "812" in copied(table)
        await shown.say("More")
        assert "1,624" in copied(table)
        shown.side.show_page(PARAMETERS)
        await shown.say("And more")
        assert "1,624" in copied(table), "nobody sees them: nothing is added up"
        shown.side.show_page(TOTALS)
        assert "2,436" in copied(table)


def copied(table: QWidget) -> str:
    QTest.keySequence(table, "Ctrl+C")
    return QGuiApplication.clipboard().text()


async def test_the_picker_filters_chooses_and_marks_favourites(theme: Theme, tmp_home: Path) -> None:
    fake = FakeService(
        models=[
            model_body(),
            model_body("seer", "Seer", capabilities={"supportsVision": True}),
            model_body("leaver", "Leaver", deprecation={"removesAt": "2027-02-01T00:00:00Z"}),
        ]
    )
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        picker = shown.page.open_model_picker()
        assert picker.model.matches() == 3
        assert any(
            "retires Feb 1, 2027" in str(picker.model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole))
            for row in range(3)
        )
        picker.pills["Vision"].click()
        assert picker.model.matches() == 1
        picker.pills["Vision"].click()
        QTest.keyClicks(picker.search, "seer")
        QTest.keyClick(picker.search, Qt.Key.Key_Return)
        await shown.settle()
        assert shown.presenter.head().model_name == "Seer"
        assert shown.header.model.accessibleName() == "Model: Seer"
        picker = shown.page.open_model_picker()
        QTest.keyClick(picker.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        assert shown.settings.value.favourite_models == ("seer",)
        picker.close()


async def test_a_character_stands_over_the_chat_until_it_is_removed(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        shown.page.use_character(MARLOW, new_chat=True)
        await shown.settle()
        main = shown.page.main
        assert main.character.isVisible()
        assert main.composer.box.placeholderText() == "Message Marlow, / for commands"
        shown.page.set_zones(Zones(list_overlay=True, list_open=False))
        assert not main.character.isVisible()
        assert main.header.partner.text() == "with Marlow"
        shown.page.set_zones(Zones())
        main.character.remove.click()
        await shown.settle()
        assert not main.character.isVisible()


async def test_a_draft_survives_a_change_of_chats(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("First")
        first = shown.presenter.opened.chat_id or ""
        QTest.keyClicks(shown.message_box, "half a thought")
        shown.page.new_chat()
        await shown.settle()
        assert shown.composer_text() == ""
        shown.page.open_chat(first)
        await shown.settle()
        assert shown.composer_text() == "half a thought"


async def test_a_reader_who_scrolled_up_is_offered_the_way_back(theme: Theme, tmp_home: Path) -> None:
    gate = asyncio.Event()
    fake = FakeService(answers=[whole("A paragraph of text.\n\n" * 200), held(gate, "It begins", " and goes on.")])
    async with open_chat(theme, tmp_home, fake=fake) as shown:
        await shown.say("Something long")
        shown.presenter.send("And more")
        await until(lambda: shown.text_of(-1) == "It begins")
        main = shown.page.main
        await until(lambda: shown.view.verticalScrollBar().maximum() > 0 and shown.view.at_end)  # it is laid out
        main.view.scroll_to_start()
        gate.set()
        await shown.settle()
        await until(lambda: main.newest.isVisible())
        assert not main.view.at_end
        main.newest.click()
        await until(lambda: main.view.at_end and not main.newest.isVisible())  # laid out in a few turns


async def test_editing_is_announced_and_can_be_left(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("First")
        QTest.keyClick(shown.message_box, Qt.Key.Key_Up)
        await shown.settle()
        assert shown.editing_bar.isVisible()
        assert shown.composer_text() == "First"
        assert shown.page.handle_escape()
        assert not shown.editing_bar.isVisible()
        assert shown.composer_text() == ""


async def test_the_palette_finds_chats_and_models(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("Bread hydration table")
        items = shown.page.palette_items("bread", 5)
        assert [(item.kind, item.title) for item in items] == [("open", "Bread hydration table")]
        (model,) = shown.page.palette_items("other", 5)
        model.run()
        await shown.settle()
        assert shown.presenter.head().model_name == "Other"


async def test_every_control_says_what_it_is(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, account=SANDBOX) as shown:
        await shown.say("Hello")
        for widget in shown.window.findChildren(QWidget):
            if isinstance(widget, (QAbstractButton, QLineEdit, QPlainTextEdit)) and widget.isVisible():
                interface = QAccessible.queryAccessibleInterface(widget)
                assert interface is not None
                assert interface.text(QAccessible.Text.Name).strip(), f"{widget} has no name"


@pytest.mark.parametrize("percent", [100, 200])
async def test_the_header_fits_whatever_the_title(theme: Theme, tmp_home: Path, percent: int) -> None:
    async with open_chat(theme, tmp_home) as shown:
        await shown.say("A very long title " * 6)
        theme.set_text_percent(percent)
        shown.page.set_zones(Zones(list_overlay=percent == 200, list_open=percent != 200))
        QApplication.processEvents()
        header = shown.header
        for button in (header.model, header.more_button, header.inspector_button):
            right = button.mapTo(header, button.rect().bottomRight()).x()
            assert button.isVisible()
            assert right < header.width()
        theme.set_text_percent(100)


class Guest:
    """Panes of another feature, as little as the tab asks of them."""

    def __init__(self) -> None:
        self.panes = QWidget(), QWidget(), QWidget()
        self.fronts = 0

    def list_pane(self) -> QWidget:
        return self.panes[0]

    def canvas(self) -> QWidget:
        return self.panes[1]

    def inspector(self) -> QWidget:
        return self.panes[2]

    def set_zones(self, zones: object) -> None:
        """It has no buttons for them."""

    def connect_zones(self, toggle_list: object, toggle_inspector: object) -> None:
        """It has no buttons for them."""

    def activated(self) -> None:
        self.fronts += 1


async def test_a_guest_looks_after_itself_when_the_tab_comes_to_the_front(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as shown:
        guest = Guest()
        shown.page.show_guest(guest)
        assert guest.fronts == 1
        shown.page.activated()
        assert guest.fronts == 2
        assert shown.page.leave_guest()
        shown.page.activated()
        assert guest.fronts == 2

"""Small manners of the chat: Enter while an answer comes, ways through a long chat, signs, first moments."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QDialog

from app.ui.chat.inspector.inspector import PARAMETERS
from app.ui.chat.session.structured_output import Structure
from app.ui.chat.sidebar.chat_list import ChatListPane
from app.ui.conversation.controls import button_width
from app.ui.kit.resources import resources_folder
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.links import handbook_place
from app.ui.shell.help_sheet import HelpSheet
from tests.kit.chat import ChatHarness, FakeService, held, open_chat, open_chat_presenter, sse, text_chunk, whole
from tests.kit.message_view import long_chat
from tests.kit.waiting import until
from tests.ui.test_chat_desk import run

ENTER, ESCAPE = Qt.Key.Key_Return, Qt.Key.Key_Escape


async def queue(chat: ChatHarness, text: str) -> None:
    """Type a message while an answer comes, and press Enter."""
    QTest.keyClicks(chat.message_box, text)
    QTest.keyClick(chat.message_box, ENTER)
    QApplication.processEvents()


async def writing(chat: ChatHarness) -> None:
    chat.presenter.send("First")
    while not chat.presenter.head().writing or not chat.fake.requests:
        await asyncio.sleep(0.005)


async def test_enter_while_an_answer_comes_sends_the_message_after_it(theme: Theme, tmp_home: Path) -> None:
    gate = asyncio.Event()
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[held(gate, "One"), whole("Two")])) as chat:
        await writing(chat)
        await queue(chat, "Second")
        assert chat.canvas.queued.isVisible()
        assert len(chat.fake.requests) == 1
        QTest.keyClicks(chat.message_box, "!")
        gate.set()
        await chat.settle()
        assert [row.text for row in chat.rows] == ["First", "One", "Second!", "Two"]
        assert not chat.canvas.queued.isVisible()
        assert chat.composer_text() == ""


@pytest.mark.parametrize("how", ["escape", "stop", "cut"])
async def test_a_queued_message_stays_in_the_box_when_the_answer_is_not_complete(
    theme: Theme, tmp_home: Path, how: str
) -> None:
    gate = asyncio.Event()

    async def broken():  # type: ignore[no-untyped-def]  # an answer as the service streams it
        yield sse(text_chunk("One"))
        await gate.wait()

    first = broken if how == "cut" else held(gate, "One")
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[first, whole("Two")])) as chat:
        await writing(chat)
        await queue(chat, "Second")
        if how == "escape":
            assert chat.page.handle_escape()
            assert chat.presenter.head().writing, "the first Esc takes back what was queued"
        elif how == "stop":
            chat.presenter.stop()
        gate.set()
        await chat.settle()
        assert chat.composer_text() == "Second"
        assert len(chat.fake.requests) == 1
        assert not chat.presenter.head().queued


async def test_the_way_to_the_end_is_offered_as_soon_as_the_reader_is_further_up(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("Long\n\n" * 80)])) as chat:
        await chat.say("A question")
        assert not chat.newest_button.isVisible()
        chat.view.scroll_to_start()
        QApplication.processEvents()
        assert chat.newest_button.isVisible()
        assert chat.newest_button.text() == "Jump to end"
        QTest.mouseClick(chat.newest_button, Qt.MouseButton.LeftButton)
        QApplication.processEvents()
        assert chat.view.at_end
        assert not chat.newest_button.isVisible()
        chat.view.scroll_to_start()
        chat.page.new_chat()
        await chat.settle()
        assert not chat.newest_button.isVisible()


def test_keys_step_from_question_to_question(theme: Theme) -> None:
    view = long_chat(theme)

    def top() -> str:
        QApplication.processEvents()
        return next(view.stack.rows[each.row].id for each in view.stack.placed if each.y + each.unit.height > 0)

    view.scroll_to_row("a100")
    QApplication.processEvents()
    seen = []
    for by in (-1, -1, 1, 1):
        view.step_question(by)
        seen.append(top())
    assert seen == ["q100", "q99", "q100", "q101"]
    view.scroll_to_end()
    QApplication.processEvents()
    view.step_question(1)
    assert view.at_end


async def test_the_keys_for_questions_are_in_the_menu(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("Long\n\n" * 80)])) as chat:
        await chat.say("A question")
        run(chat, "chat.question_up")
        QApplication.processEvents()
        assert not chat.view.at_end


def test_copied_fits_where_copy_was(theme: Theme) -> None:
    assert button_width(theme, "quiet", "Copy", "copy") == button_width(theme, "quiet", "Copied", "copy")


def test_the_list_is_not_called_empty_before_the_chats_are_read(theme: Theme) -> None:
    pane = ChatListPane(theme)
    pane.resize(264, 600)
    pane.show()
    pane.complete()
    assert not pane.nothing.isVisible()
    pane.show_entries(())
    assert pane.nothing.isVisible()


async def test_drafts_are_listed_by_their_first_words(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home) as chat:
        for draft in ("Where do swifts sleep?", "Plan a garden"):
            chat.presenter.new_chat()
            chat.presenter.set_draft(draft)
        chat.presenter.new_chat()
        await chat.tasks.idle()
        titles = {entry.title for entry in chat.told["entries_changed"][-1][0]}
        assert titles == {"Where do swifts sleep?", "Plan a garden"}


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://127.0.0.1:36057/handbook/chat#stop-and-continue", ("chat", "stop-and-continue")),
        ("http://127.0.0.1:1/handbook/wallet", ("wallet", "")),
        ("https://example.org/handbook/chat", None),
        ("http://127.0.0.1.example.org/handbook/chat", None),
        ("http://127.0.0.1:36057/other/chat", None),
        ("http://[broken", None),
    ],
)
def test_links_to_the_handbook_are_told_from_all_others(address: str, place: tuple[str, str] | None) -> None:
    assert handbook_place(address) == place


async def test_a_handbook_link_of_an_old_chat_opens_the_handbook_at_once(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as chat:
        spy = QSignalSpy(chat.page.handbook_requested)
        chat.page._open_link("http://127.0.0.1:36057/handbook/chat#stop-and-continue")
        await chat.settle()
        assert [spy.at(0)[each] for each in range(2)] == ["chat", "stop-and-continue"]
        assert not [each for each in chat.window.findChildren(QDialog) if each.isVisible()]


def test_the_handbook_opens_at_a_heading(qtbot, theme: Theme) -> None:
    from PySide6.QtWidgets import QWidget

    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1000, 500)
    window.show()
    sheet = HelpSheet(theme, window, resources_folder() / "handbook")
    sheet.open("chat")
    document = sheet.browser.document()
    blocks = [document.findBlockByNumber(number) for number in range(document.blockCount())]
    last = [block.text() for block in blocks if block.blockFormat().headingLevel() == 2][-1]
    anchor = "-".join(last.lower().replace(",", "").replace("’", " ").split())
    sheet.show_heading("chat", anchor)
    assert sheet.browser.verticalScrollBar().value() > 0


async def test_a_model_that_the_service_does_not_have_is_marked_before_anything_is_sent(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home) as chat:
        assert not chat.presenter.head().model_missing
        chat.presenter.use_model("gpt-4")
        await chat.settle()
        assert chat.presenter.head().model_missing
        button = chat.header.model
        assert button.accessibleName() == "gpt-4 is not on this service. Choose another model."
        assert chat.composer.cost.text() == "Price unknown"
        chat.presenter.use_model("other")
        await chat.settle()
        assert button.accessibleName() == "Model: Other"
        chat.presenter.account_models.forget()
        chat.current_account.set_numbers(models=())
        assert not chat.presenter.head().model_missing, "nothing is known while there is no list"


async def test_functions_and_a_schema_leave_a_pill_and_a_line_in_the_parameters(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as chat:
        pill = chat.composer.structure
        chat.side.show_page(PARAMETERS)
        assert not pill.isVisible()
        assert chat.parameters.structure_row.label.text() == "Off"
        chat.presenter.set_structure(Structure(use_functions=True, functions='{"name": "weather"}'))
        await chat.settle()
        assert pill.isVisible()
        assert pill.text() == "1 function"
        assert chat.parameters.structure_row.label.text() == "1 function"
        schema = '{"type": "object", "properties": {}}'
        both = Structure(use_schema=True, schema=schema, use_functions=True, functions='[{"name": "a"}, {"name": "b"}]')
        chat.presenter.set_structure(both)
        assert pill.text() == "JSON, 2 functions"
        wanted = QSignalSpy(chat.composer.structure_requested)
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton)
        assert wanted.count() == 1
        assert pill.isChecked(), "a press opens the dialog and switches nothing"
        await until(lambda: bool(chat.window.findChildren(QDialog)))
        chat.window.findChildren(QDialog)[0].reject()
        await chat.settle()


async def test_a_new_chat_offers_the_persons_own_prompts(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home) as chat:
        assert not list(chat.welcome.presets)
        chat.presenter.set_option("system_prompt", "Be brief.")
        assert chat.presenter.presets is not None
        chat.presenter.presets.save("prompt", "Brief")
        await chat.settle()
        chat.page.new_chat()
        await chat.settle()
        (button,) = chat.welcome.presets
        assert button.isVisible() and button.accessibleName() == "Brief"
        button.click()
        await chat.settle()
        assert chat.presenter.opened.options.system_prompt == "Be brief."
        assert not chat.fake.requests, "nothing is sent by taking a prompt"
        assert chat.window.focusWidget() is chat.message_box
    async with open_chat(theme, tmp_home) as chat:
        assert [button.accessibleName() for button in chat.welcome.presets] == ["Brief"], "also after a restart"

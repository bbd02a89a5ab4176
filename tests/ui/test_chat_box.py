"""The message box in the page, by keyboard and by drop, on the real Sandbox: from the disk to the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QWidget

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paths import resources
from app.ui.chat.page import ChatPage
from app.ui.shared.dialogs import Dialog
from app.ui.shared.theme import Theme
from tests.ui.test_chat_attachments import picture
from tests.ui.test_chat_sandbox import Tab, open_tab


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


class Box:
    """A chat page in a window, over a tab of the real Sandbox."""

    def __init__(self, tab: Tab, theme: Theme) -> None:
        self.tab = tab
        self.page = ChatPage(theme, tab.presenter, tab.tasks)
        self.window = QWidget()
        self.window.resize(1300, 800)
        layout = QHBoxLayout(self.window)
        for pane in (self.page.list_pane(), self.page.canvas(), self.page.inspector()):
            layout.addWidget(pane)
        self.window.show()
        QApplication.processEvents()
        self.composer = self.page.main.composer
        self.edit = self.composer.box
        self.edit.setFocus()

    async def type(self, text: str, *, send: bool = True) -> None:
        QTest.keyClicks(self.edit, text)
        if send:
            QTest.keyClick(self.edit, Qt.Key.Key_Return)
        await self.settle()

    async def settle(self) -> None:
        await self.tab.tasks.idle()
        QApplication.processEvents()
        await self.tab.tasks.idle()


@asynccontextmanager
async def open_box(theme: Theme, home: Path, sandbox: RunningSandbox, model: str = "") -> AsyncIterator[Box]:
    async with open_tab(home, sandbox) as tab:
        box = Box(tab, theme)
        if model:
            tab.presenter.use_model(model)
        try:
            yield box
        finally:
            box.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def dropped(target: QWidget, mime: QMimeData) -> bool:
    """Drag something over a widget and let it go; True when the widget took it."""
    at, action = target.rect().center(), Qt.DropAction.CopyAction
    button, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(at, action, mime, button, none)
    enter.ignore()
    QApplication.sendEvent(target, enter)
    if not enter.isAccepted():
        return False
    QApplication.sendEvent(target, QDropEvent(QPointF(at), action, mime, button, none))
    return True


async def test_a_dropped_picture_is_measured_by_the_sandbox_and_shown_in_the_bubble(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    file = tmp_home / "boiler panel.png"
    file.write_bytes(picture(640, 480))
    async with open_box(theme, tmp_home, sandbox, "rialto-vision") as box:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(file))])
        assert dropped(box.page.main, mime)
        await box.settle()
        (chip,) = box.composer.strip.chips.values()
        assert chip.isVisible()
        assert chip.name.text() == "boiler panel.png"
        await box.type("What is this?")
        assert "Picture, PNG, 640 × 480 pixels" in box.tab.rows[-1].text
        (attached,) = box.tab.rows[0].attachments
        assert (attached.name, attached.kind, attached.width) == ("boiler panel.png", "image", 640)
        assert Path(attached.path).read_bytes() == file.read_bytes()
        assert not box.composer.strip.isVisible()
        box.page.main.view.grab()


async def test_files_that_the_picker_gives_go_along_by_keyboard_alone(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    file = tmp_home / "notes.txt"
    file.write_text("what I know")
    async with open_box(theme, tmp_home, sandbox, "rialto-vision") as box:
        attach = next(action for action in box.page.actions() if action.id == "chat.attach")
        assert attach.shortcut == "Ctrl+O"
        attach.run()
        (dialog,) = box.page.main.findChildren(QFileDialog)
        dialog.filesSelected.emit([str(file)])
        dialog.reject()
        await box.settle()
        await box.type("Read this")
        assert "File “notes.txt”, text/plain, 11 bytes" in box.tab.rows[-1].text


async def test_what_a_model_cannot_see_is_refused_at_the_chip_and_del_frees_the_message(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox, "rialto-handbook") as box:
        mime = QMimeData()
        mime.setImageData(QImage.fromData(picture()))
        box.edit.insertFromMimeData(mime)
        await box.settle()
        (chip,) = box.composer.strip.chips.values()
        assert chip.detail.text() == "Handbook reader cannot see pictures."
        await box.type("Where is my key kept?")
        assert box.tab.rows == ()
        assert box.composer.text() == "Where is my key kept?", "nothing that was typed is lost"
        assert "cannot see pictures" in box.composer.send.toolTip()
        assert box.composer.why_note.text() == (
            "Handbook reader cannot see pictures. Remove it, or choose another model."
        )
        box.tab.presenter.use_model("rialto-vision")
        assert chip.detail.text().endswith(" bytes, 100 × 80"), "the chip follows the model"
        assert not box.composer.why_note.isVisible()
        box.tab.presenter.use_model("rialto-handbook")
        chip.setFocus()
        QTest.keyClick(chip, Qt.Key.Key_Delete)
        await box.settle()
        QTest.keyClick(box.edit, Qt.Key.Key_Return)
        await box.settle()
        assert box.tab.rows[-1].state == "complete"


async def test_sound_goes_as_bare_base64_and_is_measured(theme: Theme, tmp_home: Path, sandbox: RunningSandbox) -> None:
    import wave

    file = tmp_home / "note.wav"
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(16_000))
    async with open_box(theme, tmp_home, sandbox, "rialto-vision") as box:
        box.tab.presenter.attaching.add_files([file])
        await box.settle()
        await box.type("")
        QTest.keyClick(box.edit, Qt.Key.Key_Return)
        await box.settle()
        assert "Sound, WAV, 1.0 s, 1 channel(s), 8000 Hz" in box.tab.rows[-1].text


async def test_other_things_are_not_taken_by_a_drop(theme: Theme, tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        remote = QMimeData()
        remote.setUrls([QUrl("https://example.org/picture.png")])
        assert not dropped(box.page.main, remote)
        assert "strip" not in box.composer.__dict__


# Parameters, prompts and presets


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


async def test_every_parameter_reaches_the_request_and_the_sandbox_takes_it(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox, "rialto-reasoning") as box:
        page = box.page.side.parameters
        more = page.more
        box.tab.presenter.set_option("web_search", "on")
        for switch in (page.service_prompt, more.in_stream, more.cache):
            switch.setFocus()
            press(switch, Qt.Key.Key_Space)
        more.documents.setFocus()
        press(more.documents, Qt.Key.Key_Space)
        more.effort.setFocus()
        QTest.keyClicks(more.effort, "h")
        more.effort.activated.emit(more.effort.currentIndex())
        more.seed.setFocus()
        more.seed.lineEdit().selectAll()
        QTest.keyClicks(more.seed, "7")
        press(more.seed, Qt.Key.Key_Return)
        more.stop.setFocus()
        QTest.keyClicks(more.stop, "ENDE")
        more.expert.setFocus()
        QTest.keyClicks(more.expert, '{"top_k": 40}')
        page.prompt.setFocus()
        QTest.keyClicks(page.prompt, "Answer tersely.")
        box.edit.setFocus()
        await box.type("Where is my key kept?")
        row = box.tab.rows[-1]
        assert row.problem is None, row.problem
        assert row.state == "complete"
        assert row.sources, "results that come as a function call are shown as sources"
        assert row.calls == ()
        body = box.tab.presenter.answers.exchange_of(row.id).request.body
        assert {name: body[name] for name in ("reasoning_effort", "seed", "stop", "top_k")} == {
            "reasoning_effort": "high",
            "seed": 7,
            "stop": ["ENDE"],
            "top_k": 40,
        }
        extension = body["service_parameters"]
        assert extension["include_venice_system_prompt"] is False
        assert extension["return_search_results_as_documents"] is True
        assert "include_search_results_in_stream" not in extension
        assert body["messages"][0] == {"role": "system", "content": "Answer tersely."}


async def test_what_the_model_ignores_says_so_in_its_row(theme: Theme, tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_box(theme, tmp_home, sandbox, "rialto-vision") as box:
        page = box.page.side.parameters
        rows = (page._web_row, page._social_row, page._thinking_row, page.more.effort_row, page.more.in_stream_row)
        for row in rows:
            assert not row.control.isEnabled()
            assert row.control.accessibleDescription()
        box.tab.presenter.use_model("rialto-search")
        await box.settle()
        assert page.social.isEnabled()
        page.social.click()
        await box.settle()
        assert not page.web.isEnabled()
        assert "own search replaces" in page.web.accessibleDescription()


async def test_extra_json_that_is_not_complete_holds_the_message_and_says_where(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        more = box.page.side.parameters.more
        QTest.keyClicks(more.expert, '{"top_k": ')
        box.edit.setFocus()
        await box.type("Hello")
        assert box.tab.rows == ()
        assert more.expert_note.text().startswith("Line 1, column")
        assert box.composer.text() == "Hello"
        assert box.composer.send.toolTip() == "The extra JSON among the parameters is not complete."


async def answer_dialog(box: Box, text: str) -> None:
    """Type into the dialog that is open and press Enter."""
    await box.tab.until(lambda: bool(box.page.main.findChildren(Dialog)))
    (dialog,) = box.page.main.findChildren(Dialog)
    field = dialog.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, text)
    press(field, Qt.Key.Key_Return)
    await box.settle()


async def test_a_prompt_is_saved_found_used_renamed_and_removed_by_keyboard(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        presenter = box.tab.presenter
        presenter.set_option("system_prompt", "Review network code.")
        library = box.page.box.prompts
        box.page.box.open_prompts()
        assert library.isVisible()
        library.save.click()
        await answer_dialog(box, "Reviewer")
        presenter.set_option("system_prompt", "")
        box.page.box.open_prompts()
        QTest.keyClicks(library.search, "netw")
        press(library.search, Qt.Key.Key_Return)
        assert presenter.opened.options.system_prompt == "Review network code."
        assert not library.isVisible()
        box.page.box.open_prompts()
        press(library.search, Qt.Key.Key_F2)
        await answer_dialog(box, "Strict reviewer")
        assert [row.name for row in presenter.presets.rows("prompt")] == ["Strict reviewer"]
        toasts: list[tuple[str, str, str]] = []
        box.page.toast_wanted.connect(lambda *told: toasts.append(told))
        box.page.box.open_prompts()
        library.list.setFocus()
        press(library.list, Qt.Key.Key_Delete)
        await box.settle()
        assert presenter.presets.rows() == ()
        assert toasts[-1] == ("Removed “Strict reviewer”", "undo-preset", "Undo")
        box.page.box.undo_preset()
        await box.settle()
        assert len(presenter.presets.rows()) == 1
        library.close()
    async with open_box(theme, tmp_home, sandbox) as box:
        assert [row.name for row in box.tab.presenter.presets.rows()] == ["Strict reviewer"], "kept on the disk"


async def test_a_preset_brings_model_and_parameters_back_and_travels_in_a_file(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    file = tmp_home / "presets.json"
    async with open_box(theme, tmp_home, sandbox, "rialto-reasoning") as box:
        presenter = box.tab.presenter
        presenter.set_option("temperature", 0.2)
        presenter.set_option("effort", "high")
        box.page.box.open_presets()
        box.page.box.presets.save.click()
        await answer_dialog(box, "Careful")
        presenter.presets.export(file)
        await box.settle()
        presenter.new_chat()
        await box.settle()
        presenter.use_model("rialto-handbook")
        (row,) = presenter.presets.rows("preset")
        assert row.detail == "rialto-reasoning, web auto, temperature 0.2"
        presenter.presets.use(row.id)
        await box.settle()
        head = presenter.head()
        assert (head.model_id, head.options.temperature, head.options.effort) == ("rialto-reasoning", 0.2, "high")
    other = tmp_home / "other"
    async with open_box(theme, other, sandbox) as box:
        box.tab.presenter.presets.take_file(file)
        await box.settle()
        assert [row.name for row in box.tab.presenter.presets.rows()] == ["Careful"]
        told: list[str] = []
        box.tab.presenter.presets.told.connect(lambda sentence, _undo: told.append(sentence))
        file.write_text("{}")
        box.tab.presenter.presets.take_file(file)
        await box.settle()
        assert told == ["This file holds no prompts or presets of Rialto."]


# Commands and characters


async def test_a_slash_lists_commands_and_enter_carries_one_out(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox, "rialto-reasoning") as box:
        await box.type("/thinki", send=False)
        completion = box.page.box.completion
        assert completion.isVisible()
        assert completion.entries[0].word == "thinking"
        await box.type("")
        assert box.tab.presenter.opened.options.thinking is False
        assert box.composer.text() == ""
        assert not completion.isVisible()
        assert box.tab.rows == (), "nothing was sent"


async def test_arrow_keys_walk_the_list_escape_closes_it_and_a_path_is_a_message(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        await box.type("/", send=False)
        completion = box.page.box.completion
        first = completion.list.currentIndex().row()
        press(box.edit, Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Up)
        assert completion.list.currentIndex().row() == first + 1
        assert box.page.handle_escape()
        assert not completion.isVisible()
        assert box.composer.text() == "/"
        box.composer.set_text("")
        await box.type("/etc/hosts is what?")
        assert box.tab.rows[0].text == "/etc/hosts is what?"


async def test_a_slash_and_a_name_find_a_character_to_speak_with(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {sandbox.api_key}"}) as http:
            body = (await http.get(f"{sandbox.base_url}/characters", params={"limit": 1})).json()
        name = body["data"][0]["name"]
        await box.type(f"/{name}", send=False)
        completion = box.page.box.completion
        assert f"character {name}" in [entry.word for entry in completion.entries]
        while completion.entries[completion.list.currentIndex().row()].word != f"character {name}":
            press(box.edit, Qt.Key.Key_Down)
        press(box.edit, Qt.Key.Key_Tab)
        await box.settle()
        assert box.tab.presenter.head().character.name == name


async def test_a_preset_is_a_command_too(theme: Theme, tmp_home: Path, sandbox: RunningSandbox) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        box.tab.presenter.set_option("system_prompt", "Review network code.")
        box.tab.presenter.presets.save("prompt", "Reviewer")
        await box.settle()
        box.tab.presenter.set_option("system_prompt", "")
        await box.type("/prompt rev", send=False)
        await box.type("")
        assert box.tab.presenter.opened.options.system_prompt == "Review network code."


async def test_a_list_of_commands_never_takes_a_key_from_an_input_method(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox
) -> None:
    async with open_box(theme, tmp_home, sandbox) as box:
        await box.type("/ne", send=False)
        QApplication.sendEvent(box.edit, QInputMethodEvent("ん", []))
        press(box.edit, Qt.Key.Key_Return)
        assert box.composer.text().startswith("/ne")
        assert box.tab.rows == ()


async def test_a_source_tells_title_and_excerpt_before_anything_opens(
    theme: Theme, tmp_home: Path, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    async with open_box(theme, tmp_home, sandbox, "rialto-handbook") as box:
        box.tab.presenter.set_option("web_search", "on")
        await box.type("Where does Rialto keep my API key?")
        row, view = box.tab.rows[-1], box.page.main.view
        view.setFocus()
        for _ in range(200):  # by keyboard to the first source
            press(view, Qt.Key.Key_Tab)
            spot = view.picture.focused
            if spot is not None and spot.control == "source0":
                break
        press(view, Qt.Key.Key_Return)
        await box.tab.until(lambda: bool(box.page.main.findChildren(Dialog)))
        (dialog,) = box.page.main.findChildren(Dialog)
        words = " ".join(label.text() for label in dialog.findChildren(QLabel))
        assert row.sources[0].title in words
        assert row.sources[0].snippet[:60] in words
        assert row.sources[0].url in words
        dialog.reject()
        await box.settle()
        assert opened == []

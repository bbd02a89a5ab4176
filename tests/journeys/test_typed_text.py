"""What was typed is never lost: whatever replaces it or leaves it keeps it as a draft or offers Undo."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

import app.ui
from app.bootstrap.rialto import Rialto
from app.ui.chat.project_dialog import ProjectChoices, ProjectDialog
from app.ui.chat.state import ProjectForm
from app.ui.kit.discard import discard
from app.ui.kit.widgets.dialogs import Dialog, ask_text
from app.ui.kit.widgets.fields import SecretField
from app.ui.transcription.segment_editor import SegmentEditor
from tests.journeys.conftest import settled
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]
TYPED = "A letter to my readers"


def page_of(rialto: Rialto, tab: str) -> Any:
    rialto.window.show_tab(tab)
    return rialto.window.tab(tab)


def type_into(field: QWidget, text: str = TYPED) -> None:
    field.setFocus()
    QTest.keyClicks(field, text)


def undo(rialto: Rialto, tab: str) -> None:
    assert rialto.window.undo_stack.undo_last(tab), "Undo is offered"


# Each writes something, has it replaced, brings it back, and returns what is there then.


async def images_cleared(rialto: Rialto) -> str:
    form = page_of(rialto, "images").form
    type_into(form.prompt)
    form.clear.click()
    assert form.prompt.toPlainText() == ""
    undo(rialto, "images")
    return str(form.prompt.toPlainText())


async def images_settings_reused(rialto: Rialto) -> str:
    page = page_of(rialto, "images")
    presenter, form = page.presenter, page.form
    presenter.clear()
    type_into(form.prompt, "An owl")
    form.flush()
    await until(form.make.isEnabled)
    form.make.click()
    await until(lambda: any(image.has_file for image in presenter.library.rows.values()))
    form.prompt.selectAll()
    type_into(form.prompt)
    assert presenter.rerun(next(iter(presenter.library.rows))) and form.prompt.toPlainText() == "An owl"
    undo(rialto, "images")
    return str(form.prompt.toPlainText())


async def images_prompt_chosen(rialto: Rialto) -> str:
    page = page_of(rialto, "images")
    page.presenter.clear()
    return saved_prompt_used(rialto, "images", page)


async def video_cleared(rialto: Rialto) -> str:
    form = page_of(rialto, "video").form
    await until(form.prompt.isEnabled)
    type_into(form.prompt)
    form.clear.click()
    assert form.prompt.toPlainText() == ""
    undo(rialto, "video")
    return str(form.prompt.toPlainText())


async def video_prompt_chosen(rialto: Rialto) -> str:
    page = page_of(rialto, "video")
    presenter = page.presenter
    presenter.form.clear()
    return saved_prompt_used(rialto, "video", page)


def saved_prompt_used(rialto: Rialto, tab: str, page: Any) -> str:
    prompt, prompts = page.form.prompt, page.prompts
    type_into(prompt)
    prompts.used.emit("A saved prompt")
    assert prompt.toPlainText() == "A saved prompt"
    undo(rialto, tab)
    return str(prompt.toPlainText())


async def console_new_batch(rialto: Rialto) -> str:
    page = page_of(rialto, "crypto_rpc")
    presenter, request = page.presenter, page.main.request
    await settled(rialto)
    presenter.add_method("eth_getBalance")
    presenter.edit(lambda draft: draft.set_params([TYPED]))
    presenter.new_batch()
    assert TYPED not in request.params.toPlainText()
    undo(rialto, "crypto_rpc")
    return str(presenter.draft.current.params[0])


async def console_half_written_parameters(rialto: Rialto) -> str:
    page = page_of(rialto, "crypto_rpc")
    presenter, request = page.presenter, page.main.request
    presenter.new_batch()
    presenter.add_method("eth_getBalance")
    presenter.add_method("eth_call")
    request.params.selectAll()
    type_into(request.params, TYPED)
    request.list.selected.emit(0)
    assert TYPED not in request.params.toPlainText()
    undo(rialto, "crypto_rpc")
    return str(request.params.toPlainText())


async def speech_new_clip(rialto: Rialto) -> str:
    page = page_of(rialto, "speech")
    editor, clips = page.main.editor, page.list.view
    await settled(rialto)
    type_into(editor)
    page.new_clip()
    assert editor.text() == ""
    page.open_clip(clips.rows.shown_keys()[0])
    return str(editor.text())


async def chat_edit_left(rialto: Rialto) -> str:
    page, chat = rialto.chat_page, rialto.chat
    composer = page.main.composer
    rialto.window.show_tab("chat")
    chat.send("Hello?")
    await until(lambda: chat.opened.thread.last_of("assistant") is not None and not chat.writing())
    await settled(rialto)
    chat.recall()
    composer.box.selectAll()
    type_into(composer.box)
    assert chat.cancel_edit() and composer.text() == ""
    page.new_chat()
    undo(rialto, "chat")
    await until(lambda: chat.opened.editing is not None)
    text = str(composer.text())
    chat.set_draft("")
    chat.cancel_edit()
    return text


async def chat_system_prompt(rialto: Rialto) -> str:
    chat = rialto.chat
    rialto.window.show_tab("chat")
    assert chat.presets is not None
    chat.set_option("system_prompt", "Be brief.")
    chat.presets.save("prompt", "Brief")
    await until(lambda: chat.presets is not None and chat.presets.rows())
    chat.set_option("system_prompt", TYPED)
    chat.presets.use(chat.presets.rows()[0].id)
    assert chat.opened.options.system_prompt == "Be brief."
    undo(rialto, "chat")
    await settled(rialto)
    return chat.opened.options.system_prompt


@asynccontextmanager
async def dialog_of(asked: Awaitable[object]) -> AsyncIterator[Dialog]:
    """Open a dialog, and leave it with Esc."""
    asking = asyncio.ensure_future(asked)
    await until(lambda: isinstance(QApplication.activeModalWidget(), Dialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, Dialog)
    yield dialog
    dialog.reject()
    await asking


async def dialog_of_one_line(rialto: Rialto) -> str:
    def ask() -> Awaitable[object]:
        return ask_text(rialto.theme, rialto.window, "New project", "Name")

    async with dialog_of(ask()) as first:
        type_into(first.findChildren(QLineEdit)[0])
    async with dialog_of(ask()) as second:
        return second.findChildren(QLineEdit)[0].text()


async def project_settings(rialto: Rialto) -> str:
    def ask(project_id: str) -> Awaitable[object]:
        form = ProjectForm("Garden")
        return ProjectDialog(rialto.theme, rialto.window, form, ProjectChoices(), [], project_id=project_id).answer()

    async with dialog_of(ask("garden")) as first:
        type_into(first.findChildren(QPlainTextEdit)[0])
    async with dialog_of(ask("another")) as other:
        assert other.findChildren(QPlainTextEdit)[0].toPlainText() == ""
    async with dialog_of(ask("garden")) as second:
        return second.findChildren(QPlainTextEdit)[0].toPlainText()


async def chat_title(rialto: Rialto) -> str:
    """In place: Esc leaves the title as it was."""
    header = rialto.chat_page.main.header
    edit = header.edit
    edit.begin("Hello?")
    type_into(edit)
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    edit.begin("Another chat")
    assert edit.text() == "Another chat"
    edit.leave(keep=False)
    edit.begin("Hello?")
    text = edit.text()
    edit.leave(keep=False)
    return str(text)


async def segment_of_a_transcript(rialto: Rialto) -> str:
    over = QWidget(rialto.window)
    over.resize(400, 300)
    over.show()
    editor = SegmentEditor(rialto.theme, over)
    for number, text in ((1, "Hello."), (2, "Hello."), (1, "Hello.")):
        editor.open(number, text, QRect(0, 0, 300, 20))
        found = editor.toPlainText()
        if number == 1:
            editor.selectAll()
            type_into(editor)
        else:
            assert found == "Hello."
        QTest.keyClick(editor, Qt.Key.Key_Escape)
    discard(over)
    return str(found)


PLACES = (
    images_cleared,
    images_settings_reused,
    images_prompt_chosen,
    video_cleared,
    video_prompt_chosen,
    console_new_batch,
    console_half_written_parameters,
    speech_new_clip,
    chat_edit_left,
    chat_system_prompt,
    dialog_of_one_line,
    project_settings,
    chat_title,
    segment_of_a_transcript,
)


async def test_typed_text_comes_back_in_every_place(start: Start) -> None:
    found = {}
    async with start() as rialto:
        rialto.window.resize(1440, 900)
        await in_the_sandbox(rialto)
        for place in PLACES:
            found[place.__name__] = await place(rialto)
            await settled(rialto)
    assert found == {place.__name__: TYPED for place in PLACES}


async def test_what_is_typed_after_a_replacement_is_not_lost_to_its_undo(start: Start) -> None:
    async with start() as rialto:
        page = page_of(rialto, "images")
        prompt = page.form.prompt
        await settled(rialto)
        type_into(prompt)
        page.presenter.clear()
        type_into(prompt, "Another one")
        undo(rialto, "images")
        assert prompt.toPlainText() == TYPED
        undo(rialto, "images")
        assert prompt.toPlainText() == "Another one"


async def test_a_dialog_starts_over_and_keeps_no_secret(start: Start) -> None:
    async with start() as rialto:

        def ask() -> tuple[Dialog, QLineEdit, SecretField]:
            dialog = Dialog(rialto.theme, rialto.window, "Sign in")
            name, secret = QLineEdit("you"), SecretField(rialto.theme, "Key")
            dialog.body.addWidget(name)
            dialog.body.addWidget(secret)
            dialog.add_button("Use", accepts=True)
            return dialog, name, secret

        first, name, secret = ask()
        async with dialog_of(first.answer()):
            name.selectAll()
            type_into(name)
            type_into(secret, "swordfish")
            secret.eye.click()
        second, name, secret = ask()
        async with dialog_of(second.answer()):
            assert (name.text(), secret.text()) == (TYPED, "")
            again = next(each for each in second.findChildren(QWidget) if getattr(each, "text", str)() == "Start over")
            QTest.mouseClick(again, Qt.MouseButton.LeftButton)
            assert name.text() == "you"
        third, name, _secret = ask()
        async with dialog_of(third.answer()):
            assert name.text() == "you", "what was started over is forgotten"
            name.selectAll()
            type_into(name)
            third.accept()
        fourth, name, _secret = ask()
        async with dialog_of(fourth.answer()):
            assert name.text() == "you", "what was accepted is no draft"


OWN_WAY = {"AddWalletDialog", "TopUpDialog", "EditDialog"}  # a recovery phrase, one payment, a draft on the disk


def test_all_dialogs_but_these_keep_what_is_typed() -> None:
    for found in pkgutil.walk_packages(app.ui.__path__, "app.ui."):
        importlib.import_module(found.name)
    kinds = [Dialog]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert {kind.__name__ for kind in kinds if not kind.keeps_typed} == OWN_WAY

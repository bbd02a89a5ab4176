"""Attachments in the page, by keyboard and by drop, on the real Sandbox: from the disk to the answer."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.kit.chat import dropped, open_sandbox_chat
from tests.ui.test_chat_attachments import picture


async def test_a_dropped_image_is_measured_by_the_sandbox_and_shown_in_the_bubble(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    file = tmp_home / "boiler panel.png"
    file.write_bytes(picture(640, 480))
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-vision") as box:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(file))])
        assert dropped(box.page.main, mime)
        await box.settle()
        (chip,) = box.composer.strip.chips.values()
        assert chip.isVisible()
        assert chip.name.text() == "boiler panel.png"
        await box.type("What is this?")
        assert "Image, PNG, 640 × 480 pixels" in box.rows[-1].text
        (attached,) = box.rows[0].attachments
        assert (attached.name, attached.kind, attached.width) == ("boiler panel.png", "image", 640)
        assert Path(attached.path).read_bytes() == file.read_bytes()
        assert not box.composer.strip.isVisible()
        box.view.grab()


async def test_files_that_the_picker_gives_go_along_by_keyboard_alone(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    file = tmp_home / "notes.txt"
    file.write_text("what I know")
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-vision") as box:
        attach = next(action for action in box.page.actions() if action.id == "chat.attach")
        assert attach.shortcut == "Ctrl+O"
        attach.run()
        (dialog,) = box.canvas.findChildren(QFileDialog)
        dialog.filesSelected.emit([str(file)])
        dialog.reject()
        await box.settle()
        await box.type("Read this")
        assert "File “notes.txt”, text/plain, 11 bytes" in box.rows[-1].text


async def test_what_a_model_cannot_see_is_refused_at_the_chip_and_del_frees_the_message(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-handbook") as box:
        mime = QMimeData()
        mime.setImageData(QImage.fromData(picture()))
        box.message_box.insertFromMimeData(mime)
        await box.settle()
        (chip,) = box.composer.strip.chips.values()
        assert chip.detail.text() == "Handbook reader cannot see images."
        await box.type("Where is my key kept?")
        assert box.rows == ()
        assert box.composer.text() == "Where is my key kept?", "nothing that was typed is lost"
        assert "cannot see images" in box.composer.send.toolTip()
        assert "why_note" not in vars(box.composer), "the chip says it, once"
        assert "cannot see images" in box.composer.send.toolTip()
        box.presenter.use_model("rialto-vision")
        assert chip.detail.text().endswith(" bytes, 100 × 80"), "the chip follows the model"
        assert box.composer.send.isEnabled()
        box.presenter.use_model("rialto-handbook")
        chip.setFocus()
        QTest.keyClick(chip, Qt.Key.Key_Delete)
        await box.settle()
        QTest.keyClick(box.message_box, Qt.Key.Key_Return)
        await box.settle()
        assert box.rows[-1].state == "complete"


async def test_sound_goes_as_bare_base64_and_is_measured(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    import wave

    file = tmp_home / "note.wav"
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(16_000))
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-vision") as box:
        box.presenter.attaching.add_files([file])
        await box.settle()
        await box.type("")
        QTest.keyClick(box.message_box, Qt.Key.Key_Return)
        await box.settle()
        assert "Audio, WAV, 1.0 s, 1 channel(s), 8000 Hz" in box.rows[-1].text


async def test_other_things_are_not_taken_by_a_drop(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        remote = QMimeData()
        remote.setUrls([QUrl("https://example.org/picture.png")])
        assert not dropped(box.page.main, remote)
        assert "strip" not in box.composer.__dict__

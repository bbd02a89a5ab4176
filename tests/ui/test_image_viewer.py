"""Images of messages open large in the window: walking, zooming, copying, saving, and back to where one typed."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.image_viewer import ImageViewer
from tests.kit.chat import ChatHarness, FakeService, open_chat, whole
from tests.kit.message_view import click, controls, point_of
from tests.kit.waiting import until
from tests.ui.test_chat_attachments import SEES, picture

KEY = Qt.Key


async def with_images(chat: ChatHarness, home: Path) -> None:
    """Two turns, the first with a wide image, the second with a tall one and a text."""
    for number, (size, text) in enumerate((((400, 100), False), ((100, 400), True))):
        files = [home / f"image {number}.png"]
        files[0].write_bytes(picture(*size))
        if text:
            files.append(home / "notes.txt")
            files[1].write_text("Some notes")
        chat.presenter.attaching.add_files(files)
        await chat.settle()
        await chat.say(f"Look at {number}")
    chat.window.activateWindow()
    chat.page.focus_box()


def fake() -> FakeService:
    return FakeService(models=[SEES], answers=[whole("One"), whole("Two")])


def named(chat: ChatHarness, file: str) -> str:
    """What the attachment `file` is called in the conversation."""
    return next(each.name for _, each, _ in controls(chat.view) if f" {file}," in each.name)


def viewer_of(chat: ChatHarness) -> ImageViewer:
    return next(each for each in chat.window.findChildren(ImageViewer) if each.isVisible())


async def test_an_image_opens_large_and_the_keys_walk_zoom_copy_and_close(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as chat:
        await with_images(chat, tmp_home)
        click(chat.view, named(chat, "image 0.png"))
        viewer = viewer_of(chat)
        assert viewer.size() == chat.window.size()
        assert viewer.title.text() == "image 0.png · 1 of 2"
        await until(lambda: viewer.image() is not None)
        assert viewer.image().width() == 400
        QTest.keyClick(viewer, KEY.Key_Right)
        assert viewer.title.text() == "image 1.png · 2 of 2"
        assert not viewer.next.isEnabled()
        await until(lambda: viewer.image() is not None)
        QTest.keyClick(viewer, KEY.Key_Plus)
        assert viewer.zoom() > 1
        QTest.keyClick(viewer, KEY.Key_0)
        assert viewer.zoom() == 1.0
        QTest.keyClick(viewer, KEY.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert QGuiApplication.clipboard().image().height() == 400
        QTest.keyClick(viewer, KEY.Key_Escape)
        assert not viewer.isVisible()
        assert chat.window.focusWidget() in (chat.view, chat.message_box)
        assert chat.toasts[-1] == ("Image copied",)


async def test_the_menu_over_an_image_opens_and_copies_it_and_over_a_file_only_saves(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_chat(theme, tmp_home, fake=fake()) as chat:
        await with_images(chat, tmp_home)
        over_image = menu_at(chat, point_of(chat.view, named(chat, "image 1.png")).toPoint())
        assert list(over_image)[:3] == ["Open image", "Copy image", "Save as…"]
        QGuiApplication.clipboard().clear()
        over_image["Copy image"].trigger()
        await until(lambda: not QGuiApplication.clipboard().image().isNull())
        menu_at(chat, point_of(chat.view, named(chat, "image 1.png")).toPoint())["Open image"].trigger()
        assert viewer_of(chat).at == 1
        viewer_of(chat).leave()
        over_text = menu_at(chat, point_of(chat.view, named(chat, "notes.txt")).toPoint())
        assert next(iter(over_text)) == "Save as…"


def menu_at(chat: ChatHarness, at: QPoint) -> dict[str, QAction]:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, chat.view.viewport().mapToGlobal(at))
    QApplication.sendEvent(chat.view.viewport(), event)
    menu = next(each for each in QApplication.topLevelWidgets() if isinstance(each, QMenu) and each.isVisible())
    found = {action.text(): action for action in menu.actions() if action.text()}
    menu.hide()
    return found

"""The library of prompts at the form: saved, searched, used, renamed, removed and brought back, by keys alone."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit

from app.storage.presets import Presets
from app.ui.kit.theme import Theme
from tests.ui.video.desk import Controls
from tests.ui.video.room import NO_DEVICES, Room, open_room

pytestmark = NO_DEVICES
TEXT = "A small sailboat crossing at dusk, low swell, warm light on the sail"


async def name_it(room: Room, name: str) -> None:
    """Type into the question for a name and press Enter."""
    await room.desk.until(lambda: any(each.isVisible() for each in room.window.findChildren(QDialog)))
    dialog = next(each for each in room.window.findChildren(QDialog) if each.isVisible())
    field = dialog.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, name)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def test_a_prompt_is_kept_found_used_renamed_removed_and_brought_back(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        form, prompts = room.page.form, room.page.prompts

        def names() -> list[str]:
            return [row.name for row in room.desk.presenter.prompts.rows("scene")]

        room.run("video.prompts")
        assert not prompts.popover.save.isEnabled(), "there is nothing to save yet"
        prompts.popover.close()
        QTest.keyClicks(form.prompt, TEXT)
        room.run("video.prompts")
        await room.desk.until(prompts.popover.isVisible)
        prompts.popover.save.setFocus()
        QTest.keyClick(prompts.popover.save, Qt.Key.Key_Space)
        await name_it(room, "Boat")
        await room.desk.until(lambda: names() == ["Boat"])
        room.run("video.new")
        assert form.prompt.toPlainText() == ""
        room.run("video.prompts")
        popover = prompts.popover
        QTest.keyClicks(popover.search, "boat")
        QTest.keyClick(popover.search, Qt.Key.Key_Return)
        assert form.prompt.toPlainText() == TEXT == room.desk.presenter.form.form.prompt
        room.run("video.prompts")
        QTest.keyClick(popover.list, Qt.Key.Key_F2)
        await name_it(room, "Boat at dusk")
        await room.desk.until(lambda: names() == ["Boat at dusk"])
        room.run("video.prompts")
        QTest.keyClick(popover.list, Qt.Key.Key_Delete)
        await room.desk.until(lambda: any("Boat at dusk" in done.text for done in room.desk.undo_stack.newest("video")))
        assert names() == []
        room.desk.undo_stack.undo_last("video")
        await room.desk.until(lambda: names() == ["Boat at dusk"])
        popover.close()


async def test_what_another_tab_saved_is_there_when_the_library_is_opened(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_room(tmp_home, theme, controls) as room:
        await Presets(room.desk.database).save("scene", "Poster", {"text": "a poster of the sea"})
        await Presets(room.desk.database).save("prompt", "Strict", {"text": "You answer briefly."})
        room.run("video.prompts")
        library = room.desk.presenter.prompts
        await room.desk.until(lambda: [row.name for row in library.rows("scene")] == ["Poster"])
        room.page.prompts.popover.close()

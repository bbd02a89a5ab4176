"""The library of prompts at the form: saved, searched, used, renamed, removed and brought back, by keys alone."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLineEdit

from app.storage.presets import Presets
from app.ui.kit.theme import Theme
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES, VideoHarness, open_video
from tests.kit.waiting import until

pytestmark = NO_DEVICES
TEXT = "A small sailboat crossing at dusk, low swell, warm light on the sail"


async def name_it(video: VideoHarness, name: str) -> None:
    """Type into the question for a name and press Enter."""
    await until(lambda: any(each.isVisible() for each in video.window.findChildren(QDialog)))
    dialog = next(each for each in video.window.findChildren(QDialog) if each.isVisible())
    field = dialog.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, name)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def test_a_prompt_is_kept_found_used_renamed_removed_and_brought_back(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        form, prompts = video.page.form, video.page.prompts

        def names() -> list[str]:
            return [row.name for row in video.presenter.prompts.rows("scene")]

        video.run("video.prompts")
        assert not prompts.popover.save.isEnabled(), "there is nothing to save yet"
        prompts.popover.close()
        QTest.keyClicks(form.prompt, TEXT)
        video.run("video.prompts")
        await until(prompts.popover.isVisible)
        prompts.popover.save.setFocus()
        QTest.keyClick(prompts.popover.save, Qt.Key.Key_Space)
        await name_it(video, "Boat")
        await until(lambda: names() == ["Boat"])
        video.run("video.new")
        assert form.prompt.toPlainText() == ""
        video.run("video.prompts")
        popover = prompts.popover
        QTest.keyClicks(popover.search, "boat")
        QTest.keyClick(popover.search, Qt.Key.Key_Return)
        assert form.prompt.toPlainText() == TEXT == video.presenter.form.form.prompt
        video.run("video.prompts")
        QTest.keyClick(popover.list, Qt.Key.Key_F2)
        await name_it(video, "Boat at dusk")
        await until(lambda: names() == ["Boat at dusk"])
        video.run("video.prompts")
        QTest.keyClick(popover.list, Qt.Key.Key_Delete)
        await until(lambda: any("Boat at dusk" in done.text for done in video.undo_stack.newest("video")))
        assert names() == []
        video.undo_stack.undo_last("video")
        await until(lambda: names() == ["Boat at dusk"])
        popover.close()


async def test_what_another_tab_saved_is_there_when_the_library_is_opened(
    tmp_home: Path, theme: Theme, controls: Controls
) -> None:
    async with open_video(tmp_home, theme, controls) as video:
        await Presets(video.database).save("scene", "Poster", {"text": "a poster of the sea"})
        await Presets(video.database).save("prompt", "Strict", {"text": "You answer briefly."})
        video.run("video.prompts")
        library = video.presenter.prompts
        await until(lambda: [row.name for row in library.rows("scene")] == ["Poster"])
        video.prompts_popover.close()

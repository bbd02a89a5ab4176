"""The Images tab of the whole program, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.ui.images.edit_dialog import EditDialog
from app.ui.kit.image_metadata import metadata_of
from app.ui.kit.widgets.dialogs import Dialog
from tests.journeys.keyboard import Keyboard
from tests.journeys.talk import in_the_sandbox
from tests.journeys.test_images import images_of
from tests.kit.waiting import until

PROMPT = "A quiet harbour in the fog"


async def test_a_person_without_a_mouse_makes_finds_edits_saves_and_throws_away(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.press("Ctrl+4")
        page = images_of(rialto)
        library, gallery = page.presenter.library, page.gallery
        await until(lambda: page.presenter.styles and page.presenter.maker is not None)

        def whole() -> int:
            return sum(tile.is_whole for tile in page.gallery_state.tiles)

        # two at once, each with a seed of its own, at the price on the button
        await hands.tab_to(page.form.prompt)
        await hands.type(PROMPT)
        await hands.tab_to(page.form.count._segments["1"])
        await hands.press("Right")
        await until(lambda: page.form.make.text().startswith("Generate 2 images for $"))
        await hands.press("Ctrl+Return")
        await until(lambda: whole() == 2)
        assert len({image.seed for image in library.rows.values()}) == 2

        # found, starred, its settings taken back into the form
        await hands.press("Ctrl+F")
        await hands.type("fog")
        await until(lambda: page.gallery_state.search == "fog" and len(page.gallery_state.tiles) == 2)
        await hands.press("Escape")
        await until(lambda: not page.gallery_state.search)
        await hands.tab_to(gallery.view)
        await hands.press("Home", "Right")
        chosen = gallery.current()
        assert chosen == page.gallery_state.tiles[1].id
        await hands.press("Ctrl+D")
        await until(lambda: library.rows[chosen].starred)
        await hands.press("Ctrl+R")
        assert page.presenter.form.seed == library.rows[chosen].seed

        # edited behind a mask that is painted with the keys
        await hands.command("Edit image")
        edit = await hands.dialog(EditDialog)
        assert isinstance(edit, EditDialog)
        await hands.tab_to(edit.prompt)
        await hands.type("Make it night")
        await hands.tab_to(edit.editor)
        await hands.press("Space", "Right", "Right", "Space")
        await hands.push(edit, "Edit for $")
        await until(lambda: whole() == 3)
        assert any(image.kind == "edit" and image.options.get("masked") for image in library.rows.values())

        # saved with what made it written into the file, thrown away, brought back
        await hands.begin()
        await hands.tab_to(gallery.view)
        gallery.select(chosen)
        target = tmp_path / "harbour.webp"
        await hands.press("Ctrl+S")
        await hands.choose_file(str(target))
        await until(target.exists)
        await until(lambda: target.stat().st_size > 0)
        assert metadata_of(target.read_bytes(), "webp")["prompt"] == PROMPT
        await hands.begin()
        await hands.tab_to(gallery.view)
        await hands.press("Delete")
        await until(lambda: library.trashed)
        await hands.undo("images", by="Undo: ")
        await until(lambda: not library.trashed and whole() == 3)

        # the trash for good, after a question
        await hands.begin()
        await hands.tab_to(gallery.view)
        await hands.press("Home", "Delete")
        await until(lambda: library.trashed)
        await hands.tab_to(gallery.scope)
        await hands.type("Trash")
        await until(lambda: page.gallery_state.scope == "trash")
        await hands.tab_to(gallery.empty_trash)
        await hands.press("Space")
        asked = await hands.dialog(Dialog)
        await hands.push(asked, "Delete permanently")
        await until(lambda: not library.trashed)

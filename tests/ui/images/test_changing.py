"""What is made of an image that is there: enlarged, edited behind a mask, freed from its background, combined."""

from __future__ import annotations

import asyncio
import io
from decimal import Decimal
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.sandbox.server import RunningSandbox
from app.storage.images import StoredImage
from app.ui.images.edit_dialog import EditDialog
from app.ui.images.session.image_edits import EditChoice
from app.ui.images.state import EditDraft
from app.ui.kit.image_metadata import metadata_of
from app.ui.kit.theme import Theme
from tests.kit.images import ImagesHarness, open_images
from tests.kit.waiting import until
from tests.ui.test_image_metadata import picture


async def first(images: ImagesHarness) -> StoredImage:
    images.write("A harbour")
    images.presenter.set_field("width", 512)
    images.presenter.set_field("height", 256)
    (image,) = await images.made()
    images.select(image.id)
    return image


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


async def done(images: ImagesHarness, before: StoredImage) -> StoredImage:
    await until(lambda: len(images.rows) > 1)
    await images.still()
    return next(image for image in images.rows.values() if image.source_id == before.id)


async def test_the_menu_names_every_price_and_enlarging_keeps_where_it_came_from(images: ImagesHarness) -> None:
    before = await first(images)
    menu = images.open_menu()
    words = [action.text() for action in menu.actions()]
    menu.close()
    assert words[:5] == [
        *("Edit…", "Upscale 2× for $0.02", "Upscale 4× for $0.08", "Custom upscale…"),
        "Remove background for $0.02",
    ]
    next(action for action in menu.actions() if action.text().startswith("Upscale 2")).trigger()
    after = await done(images, before)
    assert (after.state, after.kind, after.width, after.height) == ("saved", "upscale", 1024, 512)
    assert after.cost_usd == Decimal("0.02")
    assert metadata_of(images.file_of(after), after.form)["kind"] == "upscale"


async def test_the_background_becomes_clear(images: ImagesHarness) -> None:
    before = await first(images)
    assert images.changes.do(before.id, "background")
    after = await done(images, before)
    assert (after.kind, after.form, opened(images.file_of(after)).mode) == ("background", "png", "RGBA")


async def test_an_edit_behind_a_mask_leaves_what_is_not_painted(images: ImagesHarness) -> None:
    before = await first(images)
    images.do(before.id, "edit")
    dialog = await images.dialog(EditDialog)
    assert not dialog.send.isEnabled()
    QTest.keyClicks(dialog.prompt, "Make it night")
    assert dialog.send.text() == "Edit for $0.04"
    editor = dialog.editor
    editor.setFocus()
    for _ in range(3):
        QTest.keyClick(editor, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(editor, Qt.Key.Key_Space)
    assert 0 < editor.share < 0.2
    dialog.send.click()
    after = await done(images, before)
    assert (after.state, after.kind, after.form) == ("saved", "edit", "png")
    old, new = opened(images.file_of(before)).convert("RGB"), opened(images.file_of(after)).convert("RGB")
    assert new.size == old.size
    corner, spot = (10, 10), (round(256 - 3 * 5 * 12 / 2), 128)
    assert new.getpixel(corner) == old.getpixel(corner)
    assert new.getpixel(spot) != old.getpixel(spot)
    assert images.presenter.files.original(after.id).exists()
    assert after.options["masked"] is True


async def edit_dialog(images: ImagesHarness, image_id: str) -> EditDialog:
    images.do(image_id, "edit")
    dialog = await images.dialog(EditDialog)
    return dialog


async def test_words_and_mask_of_an_edit_wait_for_their_image_after_esc_and_after_a_restart(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    async with open_images(tmp_path, sandbox, theme) as images:
        image = await first(images)
        dialog = await edit_dialog(images, image.id)
        QTest.keyClicks(dialog.prompt, "Make it night")
        QTest.keyClick(dialog.editor, Qt.Key.Key_Space)
        share = dialog.editor.share
        assert share > 0
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: not images.dialogs(EditDialog))
        dialog = await edit_dialog(images, image.id)
        assert (dialog.prompt.toPlainText(), dialog.editor.share) == ("Make it night", share)
        QTest.keyClicks(dialog.prompt, ", at sea")
        await until(lambda: images.presenter.edit_draft(image.id).prompt.endswith("sea"))  # while it is still open
        dialog.reject()
        await until(lambda: not images.dialogs(EditDialog))
    async with open_images(tmp_path, sandbox, theme) as images:
        dialog = await edit_dialog(images, image.id)
        assert dialog.editor.share == share
        assert dialog.prompt.toPlainText() == "Make it night, at sea"
        dialog.send.click()
        await done(images, image)
        await until(lambda: images.presenter.edit_draft(image.id) == EditDraft())
        assert not [key for key in await images.saved_draft() if key.startswith("edit:")]


async def test_the_mask_is_painted_taken_back_and_inverted_with_the_keyboard_alone(images: ImagesHarness) -> None:
    before = await first(images)
    images.do(before.id, "edit")
    dialog = await images.dialog(EditDialog)
    editor = dialog.editor
    QTest.keyClick(editor, Qt.Key.Key_Return)
    QTest.keyClick(editor, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    painted = editor.share
    assert painted > 0
    QTest.keyClicks(editor, "i")
    assert editor.share == pytest.approx(1 - painted, abs=0.02)
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.share == painted
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.share == 0
    QTest.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert editor.share == painted
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    brush = editor.brush
    QTest.keyClicks(editor, "]")
    assert editor.brush == brush + 8
    dialog.reject()
    await asyncio.sleep(0)
    assert len(images.paid) == 1


async def test_two_images_are_combined_by_the_call_for_several(images: ImagesHarness) -> None:
    before = await first(images)
    images.write("A boat")
    (other,) = await images.made()
    assert images.changes.edit(before.id, EditChoice("firered-image-edit", "Both in one", others=(other.id,)))
    await until(lambda: len(images.rows) == 3)
    after = await done(images, before)
    assert after.state == "saved", after.note
    assert images.paid[-1].request.path.endswith("/image/multi-edit")
    assert after.estimate_usd == Decimal("0.05")


async def test_a_refused_edit_is_said_and_costs_nothing(images: ImagesHarness) -> None:
    before = await first(images)
    images.changes.edit(before.id, EditChoice("firered-image-edit", "sandbox-refused"))
    after = await done(images, before)
    assert (after.state, after.cost_usd) == ("failed", None)
    assert images.presenter.problem is not None


async def test_one_press_makes_a_variation_with_a_seed_of_its_own(images: ImagesHarness) -> None:
    before = await first(images)
    assert images.changes.do(before.id, "vary-1")
    await until(lambda: len(images.rows) == 2)
    await images.still()
    after = next(image for image in images.rows.values() if image.id != before.id)
    assert after.seed != before.seed
    assert after.prompt == before.prompt


async def test_an_image_too_small_to_edit_is_refused_with_the_limit(images: ImagesHarness, tmp_path: object) -> None:
    small = images.home / "small.png"
    small.write_bytes(picture("png"))
    images.presenter.library.bring_in(small)
    await until(lambda: images.rows)
    (image,) = images.rows.values()
    action = next(action for action in images.changes.paid_actions(image) if action.id == "edit")
    assert action.why_not == "An edit needs at least 65,536 pixels. This image has 6,144."
    assert not images.changes.do(image.id, "edit")
    assert images.paid == []


async def test_the_style_of_an_image_is_taken_where_the_model_can(images: ImagesHarness) -> None:
    before = await first(images)
    images.presenter.set_field("model", "rialto-poster")
    images.references.add.click()
    assert images.presenter.form.references == (before.id,)
    images.write("A boat in that style")
    (image,) = await images.made()
    assert image.state == "saved", image.note
    body = images.paid[-1].request.body
    assert isinstance(body, dict)
    (reference,) = body["style_references"]
    assert (reference["strength"], len(reference["image"]) > 1000) == (0.5, True)


async def test_it_is_handed_to_chat_and_to_video(images: ImagesHarness) -> None:
    image = await first(images)
    sent: list[tuple[str, object]] = []
    images.page.chat_requested.connect(lambda path: sent.append(("chat", path)))
    images.page.video_requested.connect(lambda path: sent.append(("video", path)))
    images.press_to_chat()
    images.details.video.click()
    assert sent == [("chat", images.path_of(image)), ("video", images.path_of(image))]

"""The library: searched, starred, thrown away and brought back, saved, brought in, and reached by keyboard alone."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QWidget,
)

from app.sandbox.server import RunningSandbox
from app.storage.images import StoredImage
from app.ui.images.presenter_library import name_of
from app.ui.kit.theme import Theme
from tests.storage.test_picture_metadata import FACTS, picture
from tests.ui.images.desk import Desk, open_desk


async def two(desk: Desk) -> tuple[StoredImage, StoredImage]:
    desk.write("A harbour at dawn")
    (harbour,) = await desk.made()
    desk.write("Desk lamp")
    (lamp,) = await desk.made()
    return harbour, lamp


def shown(desk: Desk) -> list[str]:
    return [tile.title for tile in desk.page.shelf.tiles]


async def test_newest_first_searched_and_starred(images: Desk) -> None:
    harbour, _ = await two(images)
    assert shown(images) == ["Desk lamp", "A harbour at dawn"]
    assert images.page.gallery.header.title.text() == "Today"
    assert images.page.gallery.count.text() == "2 images"
    images.page.gallery.search.setText("dawn")
    await images.until(lambda: len(images.page.shelf.tiles) == 1)
    assert shown(images) == ["A harbour at dawn"]
    images.page.gallery.search.setText("no such words")
    await images.until(lambda: not images.page.shelf.tiles)
    assert "No image matches" in images.page.gallery.nothing.title.text()
    images.page.gallery._clear()
    images.page.gallery.select(harbour.id)
    images.page.star()
    await images.until(lambda: images.presenter.library.rows[harbour.id].starred)
    images.page.gallery.scope_chosen.emit("starred")
    assert shown(images) == ["A harbour at dawn"]


async def test_thrown_away_with_delete_and_brought_back_with_undo(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    async with open_desk(tmp_path, sandbox, theme) as desk:
        _, lamp = await two(desk)
        desk.page.gallery.select(lamp.id)
        QTest.keyClick(desk.page.gallery.view, Qt.Key.Key_Delete)
        await desk.until(lambda: desk.undo_stack.can_undo("images"))
        assert desk.undo_stack.newest()[0].text == "“Desk lamp” moved to trash"
        assert shown(desk) == ["A harbour at dawn"]
        assert desk.undo_stack.undo_last("images")
        await desk.until(lambda: len(desk.page.shelf.tiles) == 2)
        desk.presenter.library.move_to_trash([lamp.id])
        await desk.until(lambda: len(desk.page.shelf.tiles) == 1)
    async with open_desk(tmp_path, sandbox, theme) as desk:
        assert shown(desk) == ["A harbour at dawn"]
        desk.page.gallery.scope_chosen.emit("trash")
        assert shown(desk) == ["Desk lamp"]
        desk.page.gallery.select(lamp.id)
        assert not desk.page.side.image.back.isHidden()
        path = desk.presenter.files.path(lamp)
        assert path.exists()
        desk.presenter.library.empty_trash()
        await desk.until(lambda: not path.exists())
        await desk.until(lambda: desk.page.shelf.total == 0)


async def test_in_the_trash_the_first_image_there_is_looked_at(images: Desk) -> None:
    kept, thrown = (image.id for image in await two(images))
    images.page.gallery.select(thrown)
    images.presenter.library.move_to_trash((thrown,))
    await images.until(lambda: thrown in images.presenter.library.trashed)
    images.page.gallery.select(kept)
    images.presenter.library.show_scope("trash")
    assert images.page.gallery.current() == thrown
    assert not images.page.side.image.back.isHidden()
    images.presenter.library.show_scope("")
    assert images.page.gallery.current() == kept


async def test_saved_under_names_by_a_pattern_and_nothing_is_overwritten(images: Desk, tmp_path: Path) -> None:
    harbour, _ = await two(images)
    folder = tmp_path / "out"
    folder.mkdir()
    assert name_of("{title} {model} {seed}", harbour) == f"A harbour at dawn Canvas {harbour.seed}.webp"
    assert name_of("../{title}?", harbour) == "A harbour at dawn.webp"
    for number in (1, 2):
        images.presenter.library.save_as([harbour.id], folder, "{title}")
        await images.until(lambda number=number: len(list(folder.iterdir())) == number)  # type: ignore[misc]  # bound here
        await images.until(lambda: not images.tasks.running("images save"))
    assert {path.name for path in folder.iterdir()} == {"A harbour at dawn.webp", "A harbour at dawn (2).webp"}
    assert (folder / "A harbour at dawn.webp").read_bytes() == images.file_of(harbour)


async def test_an_image_of_ones_own_is_brought_in_with_what_is_written_in_it(images: Desk) -> None:
    from app.storage.picture_metadata import with_metadata

    path = images.home / "mine.png"
    path.write_bytes(with_metadata(picture("png"), "png", FACTS))
    images.presenter.library.bring_in(path)
    await images.until(lambda: images.page.shelf.tiles)
    (image,) = images.presenter.library.rows.values()
    assert (image.title, image.prompt, image.kind) == ("mine", FACTS["prompt"], "import")
    page = images.home / "page.png"
    page.write_bytes(b"<html>")
    images.presenter.library.bring_in(page)
    await images.until(lambda: images.toasts)
    assert "is no PNG, JPEG or WebP" in images.toasts[-1][0]
    assert images.paid == []


async def test_files_that_are_dropped_on_the_gallery_are_brought_in(images: Desk) -> None:
    gallery, paths = images.page.gallery, [images.home / name for name in ("one.png", "two.png")]
    for path in paths:
        path.write_bytes(picture("png"))
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place, copy = QPointF(gallery.rect().center()), Qt.DropAction.CopyAction
    at = (data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entered = QDragEnterEvent(place.toPoint(), copy, *at)
    QApplication.sendEvent(gallery, entered)
    assert entered.isAccepted()
    QApplication.sendEvent(gallery, QDropEvent(place, copy, *at))
    await images.until(lambda: {tile.title.split(",")[0] for tile in images.page.shelf.tiles} == {"one", "two"})
    assert images.paid == []


async def test_the_request_is_shown_as_it_was_sent_without_the_key(images: Desk) -> None:
    await two(images)
    assert images.page.side.request.path.text() == "POST /image/generate"
    assert '"prompt": "Desk lamp"' in images.page.side.request.body.text()
    assert images.sandbox.api_key not in images.page.side.request.body.text()


async def test_a_look_at_the_tab_asks_for_nothing_that_costs(images: Desk) -> None:
    assert images.page.gallery.places.currentWidget() is images.page.gallery.empty
    images.page.gallery.example_wanted.emit("A boat")
    assert images.page.form.prompt.toPlainText() == "A boat"
    images.page.activated()
    assert images.paid == []


async def test_everything_has_a_name_and_can_be_reached_by_keyboard(images: Desk) -> None:
    await two(images)
    images.page.form.more.unfold(True)
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox, QSlider, QAbstractItemView)
    for pane in (images.page.form, images.page.gallery, images.page.side):
        for widget in pane.findChildren(QWidget):
            if isinstance(widget, kinds) and widget.objectName() != "qt_spinbox_lineedit":
                words = widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")
                assert words, f"{widget} in {pane} has no name"
    for button in (images.page.form.make, images.page.side.image.save, images.page.side.image.more):
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus


async def test_arrows_walk_the_gallery_and_every_action_has_a_command(images: Desk) -> None:
    harbour, lamp = await two(images)
    images.page.gallery.select(lamp.id)
    QTest.keyClick(images.page.gallery.view, Qt.Key.Key_Right)
    assert images.page.gallery.current() == harbour.id
    images.page.step(-1)
    assert images.page.gallery.current() == lamp.id
    named = {action.id for action in images.page.actions()}
    assert {"images.make", "images.edit", "images.menu", "images.open_trash", "images.save", "images.chat"} <= named
    assert [item.title for item in images.page.palette_items("dawn", 5)] == ["A harbour at dawn"]

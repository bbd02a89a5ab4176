"""The library: searched, starred, thrown away and brought back, saved, brought in, and reached by keyboard alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
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

from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.storage.images import Images, StoredImage
from app.ui.images.form import ImageForm
from app.ui.images.session import image_library
from app.ui.images.session.image_library import name_of
from app.ui.kit.theme import Theme
from tests.kit.images import ImagesHarness, open_images
from tests.kit.waiting import until
from tests.ui.test_image_metadata import FACTS, picture


async def two(images: ImagesHarness) -> tuple[StoredImage, StoredImage]:
    images.write("A harbor at dawn")
    (harbour,) = await images.made()
    images.write("Desk lamp")
    (lamp,) = await images.made()
    return harbour, lamp


def shown(images: ImagesHarness) -> list[str]:
    return [tile.title for tile in images.tiles]


async def test_newest_first_searched_and_starred(images: ImagesHarness) -> None:
    harbour, _ = await two(images)
    assert shown(images) == ["Desk lamp", "A harbor at dawn"]
    assert images.title_text() == "Today"
    assert images.count_text() == "2 images"
    images.search("dawn")
    await until(lambda: len(images.tiles) == 1)
    assert shown(images) == ["A harbor at dawn"]
    images.search("edited")
    await until(lambda: not images.tiles)
    images.search("no such words")
    await until(lambda: not images.tiles)
    assert "No image matches" in images.nothing_found_text()
    images.clear_search()
    images.select(harbour.id)
    images.page.star()
    await until(lambda: images.rows[harbour.id].starred)
    images.show_scope("starred")
    assert shown(images) == ["A harbor at dawn"]


async def test_thrown_away_with_delete_and_brought_back_with_undo(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    async with open_images(tmp_path, sandbox, theme) as images:
        _, lamp = await two(images)
        images.select(lamp.id)
        QTest.keyClick(images.gallery_view, Qt.Key.Key_Delete)
        await until(lambda: images.undo_stack.can_undo("images"))
        assert images.undo_stack.newest()[0].text == "“Desk lamp” moved to trash"
        assert shown(images) == ["A harbor at dawn"]
        assert images.undo_stack.undo_last("images")
        await until(lambda: len(images.tiles) == 2)
        images.presenter.library.move_to_trash([lamp.id])
        await until(lambda: len(images.tiles) == 1)
    async with open_images(tmp_path, sandbox, theme) as images:
        assert shown(images) == ["A harbor at dawn"]
        images.show_scope("trash")
        assert shown(images) == ["Desk lamp"]
        images.select(lamp.id)
        assert not images.details.back.isHidden()
        path = images.path_of(lamp)
        assert path.exists()
        images.presenter.library.empty_trash()
        await until(lambda: not path.exists())
        await until(lambda: images.tiles_in_all == 0)


async def test_in_the_trash_the_first_image_there_is_looked_at(images: ImagesHarness) -> None:
    kept, thrown = (image.id for image in await two(images))
    images.select(thrown)
    images.presenter.library.move_to_trash((thrown,))
    await until(lambda: thrown in images.presenter.library.trashed)
    images.select(kept)
    images.presenter.library.show_scope("trash")
    assert images.selected_id() == thrown
    assert not images.details.back.isHidden()
    images.presenter.library.show_scope("")
    assert images.selected_id() == kept


async def test_saved_under_names_by_a_pattern_and_nothing_is_overwritten(images: ImagesHarness, tmp_path: Path) -> None:
    harbour, _ = await two(images)
    folder = tmp_path / "out"
    folder.mkdir()
    assert name_of("{title} {model} {seed}", harbour) == f"A harbor at dawn Canvas {harbour.seed}.webp"
    assert name_of("../{title}?", harbour) == "A harbor at dawn.webp"
    for number in (1, 2):
        images.presenter.library.save_as([harbour.id], folder, "{title}")
        await until(lambda number=number: len(list(folder.iterdir())) == number)  # type: ignore[misc]  # bound here
        await until(lambda: not images.tasks.running("images save"))
    assert {path.name for path in folder.iterdir()} == {"A harbor at dawn.webp", "A harbor at dawn (2).webp"}
    assert (folder / "A harbor at dawn.webp").read_bytes() == images.file_of(harbour)


async def test_an_image_of_ones_own_is_brought_in_with_what_is_written_in_it(images: ImagesHarness) -> None:
    from app.ui.kit.image_metadata import with_metadata

    path = images.home / "mine.png"
    path.write_bytes(with_metadata(picture("png"), "png", FACTS))
    images.presenter.library.bring_in(path)
    await until(lambda: images.tiles)
    (image,) = images.rows.values()
    assert (image.title, image.prompt, image.kind) == ("mine", FACTS["prompt"], "import")
    page = images.home / "page.png"
    page.write_bytes(b"<html>")
    images.presenter.library.bring_in(page)
    await until(lambda: images.toasts)
    assert "is not a PNG, JPEG or WebP" in images.toasts[-1][0]
    assert images.paid == []


async def test_files_that_are_dropped_on_the_gallery_are_brought_in(images: ImagesHarness) -> None:
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
    await until(lambda: {tile.title.split(",")[0] for tile in images.tiles} == {"one", "two"})
    assert images.paid == []


async def test_the_request_is_shown_as_it_was_sent_without_the_key(images: ImagesHarness) -> None:
    await two(images)
    assert images.request_text() == "POST /image/generate"
    assert '"prompt": "Desk lamp"' in images.request_body_text()
    assert images.sandbox.api_key not in images.request_body_text()
    headers = images.request_headers()
    assert {"x-service-version", "cf-ray", "x-ratelimit-remaining-requests", "x-service-model-id"} <= set(headers)


async def test_a_look_at_the_tab_asks_for_nothing_that_costs(images: ImagesHarness) -> None:
    assert images.is_empty()
    images.use_example("A boat")
    assert images.prompt_text() == "A boat"
    images.page.activated()
    assert images.paid == []


async def test_everything_has_a_name_and_can_be_reached_by_keyboard(images: ImagesHarness) -> None:
    await two(images)
    images.more_options.unfold(True)
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit, QComboBox, QSlider, QAbstractItemView)
    for pane in (images.page.form, images.page.gallery, images.page.side):
        for widget in pane.findChildren(QWidget):
            if isinstance(widget, kinds) and widget.objectName() != "qt_spinbox_lineedit":
                words = widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")
                assert words, f"{widget} in {pane} has no name"
    for button in (images.make_button, images.details.save, images.details.more):
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus


async def test_arrows_walk_the_gallery_and_every_action_has_a_command(images: ImagesHarness) -> None:
    harbour, lamp = await two(images)
    images.select(lamp.id)
    QTest.keyClick(images.gallery_view, Qt.Key.Key_Right)
    assert images.selected_id() == harbour.id
    images.page.step(-1)
    assert images.selected_id() == lamp.id
    named = {action.id for action in images.page.actions()}
    assert {"images.make", "images.edit", "images.menu", "images.open_trash", "images.save", "images.chat"} <= named
    assert [item.title for item in images.page.palette_items("dawn", 5)] == ["A harbor at dawn"]


async def test_images_of_another_account_say_whose_they_are(images: ImagesHarness) -> None:
    await two(images)
    assert not any("Sandbox" in tile.second_line for tile in images.tiles)
    images.current_account.names = {"box": "Sandbox"}.__getitem__
    images.current_account.use(Account("other", "Main account", "https://api.example.com/v1"), None)
    assert all(tile.second_line.endswith(" · Sandbox") for tile in images.tiles)


READ, YEARS = 121, 300  # images


@pytest.fixture
async def years(images: ImagesHarness, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Images, two for each day, the newest first and every thirtieth starred; some of them are read."""
    monkeypatch.setattr(image_library, "READ_AT_ONCE", READ)
    store = Images(images.database)
    now, values = store.now(), {"state": "saved", "file": "one.png", "form": "png", "size_bytes": 10}
    made = [
        store.planned(
            "generate",
            "",
            now - timedelta(days=number // 2),
            title=f"Harbor {number}",
            starred=number % 30 == 29,
            **values,
        )
        for number in range(YEARS)
    ]
    await store.add(made)
    await images.presenter.library.load()
    assert len(images.rows) == READ
    return [image.id for image in made]


async def test_of_years_the_newest_are_read_and_the_others_once_somebody_comes_to_them(
    images: ImagesHarness, years: list[str]
) -> None:
    assert images.count_text() == "300 images"
    await until(lambda: images.usage_label.text().startswith("300 images"))
    bar, model = images.gallery_view.verticalScrollBar(), images.page.gallery.model

    def is_shown_at_the_end(image_id: str) -> bool:
        bar.setValue(bar.maximum())
        return model.index_of(image_id).isValid()

    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    await until(lambda: is_shown_at_the_end(years[READ]))
    assert READ < len(images.rows) < YEARS
    await until(lambda: is_shown_at_the_end(years[-1]))
    assert list(images.rows) == [tile.id for tile in images.tiles] == years
    assert images.count_text() == "300 images"
    assert not resets, "the place in sight stays"


async def test_a_search_and_the_stars_find_what_was_not_read_yet(images: ImagesHarness, years: list[str]) -> None:
    images.show_scope("starred")
    await until(lambda: len(images.tiles) == 10)
    assert [tile.id for tile in images.tiles] == years[29::30]
    images.show_scope("")
    await images.presenter.library.load()
    assert list(images.rows) == years, "what was read stays"
    images.search("harbor 299")
    await until(lambda: shown(images) == ["Harbor 299"])
    assert images.count_text() == "1 image"


async def test_a_new_image_comes_first_while_older_ones_are_not_read(images: ImagesHarness, years: list[str]) -> None:
    images.write("A boat")
    (boat,) = await images.made()
    assert list(images.rows) == [boat.id, *years[:READ]]
    assert images.count_text() == "301 images"
    images.presenter.library.move_to_trash(years[:30])
    await until(lambda: len(images.presenter.library.trashed) == 30)
    assert list(images.rows) == [boat.id, *years[30 : READ + 30]], "as many as before are read"
    assert images.count_text() == "271 images"


async def test_a_form_knows_the_style_image_that_was_not_read_yet(images: ImagesHarness, years: list[str]) -> None:
    form = ImageForm(references=(years[200],), strengths=(0.5,))
    images.presenter.use_form(form, "Settings reused")
    await until(lambda: images.presenter.library.one(years[200]) is not None)
    (known,) = images.presenter._references_of(form)
    assert (known.title, known.size_bytes) == ("Harbor 200", 10)
    assert len(images.rows) == READ
    images.presenter.library.show_scope("")
    assert years[200] not in [tile.id for tile in images.tiles]


async def test_a_variation_takes_the_style_of_an_image_that_was_not_read_yet(
    images: ImagesHarness, years: list[str]
) -> None:
    images.write("A boat")
    (boat,) = await images.made()
    (images.folder / "one.png").write_bytes(images.file_of(boat))
    form = ImageForm(model="rialto-poster", prompt="A boat", references=(years[200],), strengths=(0.5,))
    library = images.presenter.library
    library.put(replace(boat, model=form.model, options=form.to_json()))
    await library.read_these([years[250]])
    assert images.changes.do(boat.id, "vary-1")
    await until(lambda: len(images.paid) == 2 or images.presenter.problem)
    assert images.presenter.problem is None
    await images.still()
    body = images.paid[-1].request.body
    assert isinstance(body, dict) and len(body["style_references"]) == 1
    assert library.one(years[250]) is not None, "an order under way may need it"


async def test_the_oldest_of_all_that_were_read_comes_back_from_the_trash(
    images: ImagesHarness, years: list[str]
) -> None:
    library = images.presenter.library
    library.read_more(everything=True)
    await until(lambda: len(images.rows) == YEARS)
    library.move_to_trash(years[-1:])
    await until(lambda: library.trashed)
    library.restore(years[-1:])
    await until(lambda: not library.trashed)
    assert list(images.rows) == years


async def test_nothing_is_left_out_when_the_list_is_read_anew_while_older_images_are_read(
    images: ImagesHarness, years: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = images.presenter.library
    store = library.images
    assert store is not None
    recent, anew, older, asked = store.recent, asyncio.Event(), asyncio.Event(), list[dict[str, Any]]()

    async def slow(**how: Any) -> tuple[StoredImage, ...]:
        found = await recent(**how)
        asked.append(how)
        if how.get("trashed"):
            await anew.wait()
        elif how["limit"] == image_library.LONGEST_LIST:
            await older.wait()
        return found

    monkeypatch.setattr(store, "recent", slow)
    loading = asyncio.ensure_future(library.load())
    await until(lambda: any(how.get("trashed") for how in asked))
    library.read_more()
    await until(lambda: len(images.rows) > READ)
    library.read_more(everything=True)
    await until(lambda: asked[-1].get("limit") == image_library.LONGEST_LIST)
    anew.set()
    await loading
    older.set()
    await until(lambda: library.unread == 0)
    assert list(images.rows) == years


async def test_a_count_that_is_older_than_the_images_counts_none_that_are_gone(
    images: ImagesHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two(images)

    async def stale() -> tuple[int, int]:
        return 3, 3

    library = images.presenter.library
    monkeypatch.setattr(library.images, "count", stale)
    await library.load()
    assert (library.unread, images.count_text()) == (0, "2 images")

"""The gallery by itself: what a leap through thousands of images leaves on the screen."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.ui.images.gallery import Gallery
from app.ui.images.page import ImagesPage
from app.ui.images.page_actions import images_palette_items
from app.ui.images.state import GalleryState, Tile
from app.ui.images.tile_delegate import NEW_CAPTIONS
from app.ui.kit.theme import Mode, Theme
from app.ui.kit.thumbnails import KEPT_BYTES, SIZES, ImageCache, Thumbnails
from app.ui.kit.widgets.image_viewer import ImageViewer
from tests.kit.images import ImagesHarness
from tests.kit.waiting import until

IMAGES = 1000
MODES: tuple[Mode, ...] = ("light", "dark")


def captions(gallery: Gallery) -> tuple[int, int]:
    """How many of the captions in sight are on the screen, and how many there are to be."""
    view = gallery.view
    screen = gallery.screen().grabWindow(gallery.winId()).toImage()
    if screen.isNull():
        return 0, 0
    there = whole = 0
    for row in range(gallery.model.rowCount()):
        cell = view.visualRect(gallery.model.index(row, 0))
        words = QRect(cell.left() + 8, cell.bottom() - 26, 80, 16)
        if not view.viewport().rect().contains(words):
            continue
        place = view.viewport().mapTo(gallery, words.topLeft())
        whole += 1
        there += is_written(screen.copy(QRect(place, words.size())))
    return there, whole


def is_written(strip: QImage) -> bool:
    """Whether there is more than the ground."""
    ground = strip.pixel(QPoint(0, 0))
    return any(strip.pixel(x, y) != ground for x in range(strip.width()) for y in range(strip.height()))


async def test_a_leap_shows_every_caption_in_sight_after_a_few_frames(theme: Theme, tmp_path: Path) -> None:
    gallery = Gallery(theme, lambda _image_id: None, lambda _image_id: None, tmp_path)
    gallery.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    gallery.resize(1440, 900)
    gallery.show()
    now = datetime.now(UTC)
    tiles = tuple(Tile(str(number), f"Travel poster {number}", "$0.018", "saved", at=now) for number in range(IMAGES))
    gallery.show_state(GalleryState(tiles, IMAGES, loaded=True))
    bar = gallery.view.verticalScrollBar()
    for place in (bar.maximum() // 2, bar.maximum(), 0):
        bar.setValue(place)
        async with asyncio.timeout(60):
            while (seen := captions(gallery))[0] < seen[1] or not seen[1]:
                await asyncio.sleep(0.02)
        assert seen[1] > NEW_CAPTIONS, "more than one frame paints"
    gallery.close()


async def test_images_of_former_widths_and_themes_are_let_go(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Thumbnails, "shared", ImageCache(KEPT_BYTES))
    source = tmp_path / "harbor.png"
    image = QImage(900, 600, QImage.Format.Format_RGB32)
    image.fill(0xFF336699)
    assert image.save(str(source))
    gallery = Gallery(theme, lambda _image_id: source, lambda _image_id: "", tmp_path / "cache")
    gallery.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    gallery.show()
    gallery.show_state(GalleryState((Tile("1", "Harbor", "$0.018", "saved", at=datetime.now(UTC)),), 1, loaded=True))
    faces: set[tuple[int, str]] = set()
    for width in (500, 560, 620):
        gallery.resize(width, 900)
        for mode in MODES:
            theme.configure(mode=mode, text_percent=100)
            gallery.grab()
            await until(lambda: gallery.thumbnails.is_idle)
            faces.add((gallery.delegate.cell.width(), mode))
    assert len(Thumbnails.shared) == SIZES
    assert len(faces) > 2 * SIZES
    gallery.close()


@pytest.mark.parametrize(("count", "scrolls"), [(1, False), (IMAGES, True)])
async def test_a_scroll_bar_with_nothing_to_scroll_keeps_its_room_and_is_empty(
    theme: Theme, tmp_path: Path, count: int, scrolls: bool
) -> None:
    gallery = Gallery(theme, lambda _image_id: None, lambda _image_id: None, tmp_path)
    gallery.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    gallery.resize(1440, 900)
    gallery.show()
    tiles = tuple(
        Tile(str(number), "Travel poster", "$0.018", "saved", at=datetime.now(UTC)) for number in range(count)
    )
    gallery.show_state(GalleryState(tiles, count, loaded=True))
    bar = gallery.view.verticalScrollBar()
    await until(lambda: bar.isVisible() and bar.isEnabled() is scrolls)
    assert is_written(bar.grab().toImage()) is scrolls
    gallery.close()


def test_an_image_that_the_palette_offers_is_looked_at_however_far_down(theme: Theme, tmp_path: Path) -> None:
    gallery = Gallery(theme, lambda _image_id: None, lambda _image_id: None, tmp_path)
    gallery.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    now = datetime.now(UTC)
    tiles = tuple(Tile(str(number), f"Travel poster {number}", "$0.018", "saved", at=now) for number in range(IMAGES))
    state = GalleryState(tiles, IMAGES, loaded=True)
    gallery.show_state(state)
    page = cast("ImagesPage", SimpleNamespace(gallery=gallery, gallery_state=state))
    (item,) = images_palette_items(page, "poster 900", 5)
    item.run()
    assert (gallery.current(), gallery.chosen()) == ("900", ("900",))
    gallery.close()


async def test_enter_space_and_a_double_click_show_an_image_large(images: ImagesHarness, qtbot: QtBot) -> None:
    """In Rialto's own viewer, with the others of the gallery beside it; nothing leaves the program."""
    for prompt in ("An owl", "A heron"):
        images.write(prompt)
        await images.made()
    view = images.gallery_view
    images.select(images.tiles[0].id)
    await images.still()
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        qtbot.keyClick(view, key)
        viewer = view.window().findChild(ImageViewer)
        assert viewer is not None and viewer.title.text().startswith(images.tiles[0].title)
        qtbot.keyClick(viewer, Qt.Key.Key_Right)
        assert viewer.title.text().startswith(images.tiles[1].title)
        qtbot.keyClick(viewer, Qt.Key.Key_Escape)
        await until(lambda: view.window().findChild(ImageViewer) is None)

"""The small image of a file is shown, whoever asks for it at the same moment and whatever the cache takes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

from app.ui.images import image_processing
from app.ui.images.image_processing import encoded, read_thumbnail, tile

THREADS = 8


@pytest.fixture
def source(tmp_path: Path) -> Path:
    image = QImage(900, 600, QImage.Format.Format_RGB32)
    image.fill(0xFF336699)
    path = tmp_path / "harbour.png"
    path.write_bytes(encoded(image, "PNG"))
    return path


def test_all_who_ask_at_once_get_it(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together, make = threading.Barrier(THREADS, timeout=60), image_processing.thumbnail

    def at_once(data: bytes) -> bytes:
        made = make(data)
        together.wait()
        return made

    monkeypatch.setattr(image_processing, "thumbnail", at_once)
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(THREADS) as pool:
        found = set(pool.map(lambda _: read_thumbnail(source, cache), range(THREADS)))
    assert len(found) == 1 and found != {b""}
    assert [path.read_bytes() for path in cache.iterdir()] == [*found]


def test_a_cache_that_takes_nothing_hides_no_image(source: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.touch()  # a file where the folder should be
    assert QImage.fromData(read_thumbnail(source, cache)).width() == image_processing.THUMBNAIL_PX


def test_a_tile_shows_the_whole_image_whatever_its_shape() -> None:
    ink, face = QColor("#204060"), QColor("#e0e0d0")
    image = QImage(100, 100, QImage.Format.Format_RGB32)
    image.fill(ink)
    shown = tile(image, QSize(160, 90), 0.0, face=face)
    assert [shown.pixelColor(x, 45) for x in (10, 80, 150)] == [face, ink, face]
    assert shown.pixelColor(80, 1) == shown.pixelColor(80, 88) == ink
    image = image.scaled(160, 90)
    assert tile(image, QSize(160, 90), 0.0, face=face).pixelColor(1, 45) == ink, "one of the tile's shape fills it"

"""Small images: what is kept is bounded by its size, not by how many there are."""

from __future__ import annotations

from itertools import product

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QObject
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.ui.kit.thumbnails import ImageCache, Thumbnails

SIDES = range(200, 240)  # a window of many sizes asks for the same image in as many


def png() -> bytes:
    image = QImage(300, 300, QImage.Format.Format_RGB32)
    image.fill(0xFF336699)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know no devices
    return bytes(buffer.data().data())


def test_images_take_no_more_memory_than_stated(qtbot: QtBot) -> None:
    sent = png()
    thumbnails = Thumbnails(max_bytes=1_000_000)
    for side in SIDES:
        thumbnails.get(f"{side}", side, side, lambda: sent)
        qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)
    newest = [thumbnails.get(f"{side}", side, side, lambda: sent) for side in SIDES[-4:]]
    assert all(image is not None and image.width() == side for image, side in zip(newest, SIDES[-4:], strict=True))
    assert thumbnails.get(f"{SIDES[0]}", SIDES[0], SIDES[0], lambda: sent) is None, "pushed out, and made anew"
    qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)


def test_sizes_that_the_window_had_before_are_not_kept(qtbot: QtBot) -> None:
    sent = png()
    thumbnails = Thumbnails()
    thumbnails.get("b", 50, 50, lambda: sent)
    for side in SIDES:
        thumbnails.get("a", side, side, lambda: sent)
        qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)
    for key, side in (("b", 50), ("a", SIDES[-1]), ("a", SIDES[-2])):
        assert thumbnails.get(key, side, side, lambda: sent) is not None
    assert thumbnails.get("a", SIDES[-3], SIDES[-3], lambda: sent) is None
    qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)


def test_looks_that_the_theme_had_before_are_not_kept(qtbot: QtBot) -> None:
    sent = png()
    thumbnails = Thumbnails()
    looks = ("light", "dark", "contrast")
    for look in looks:
        thumbnails.get("a", 50, 50, lambda: sent, None, look)
        qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)
    assert [thumbnails.get("a", 50, 50, lambda: sent, None, look) is None for look in looks] == [True, False, False]
    qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)


def test_one_image_larger_than_the_bound_is_still_shown(qtbot: QtBot) -> None:
    sent = png()
    thumbnails = Thumbnails(max_bytes=1_000)
    thumbnails.get("a", 200, 200, lambda: sent)
    qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)
    shown = thumbnails.get("a", 200, 200, lambda: sent)
    assert shown is not None and not shown.isNull()


def test_tabs_share_one_bound_and_what_was_shown_longest_ago_goes_first(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Thumbnails, "shared", ImageCache(1_000_000))  # five or six of these
    sent = png()
    tabs = [Thumbnails() for _ in range(3)]
    for thumbnails, side in product(tabs, SIDES[:4]):
        thumbnails.get(f"{side}", side, side, lambda: sent)
        qtbot.waitUntil(lambda: all(each.is_idle for each in tabs), timeout=60_000)
    first, second, third = tabs
    assert all(third.get(f"{side}", side, side, lambda: sent) is not None for side in SIDES[:4])
    assert second.get(f"{SIDES[3]}", SIDES[3], SIDES[3], lambda: sent) is not None
    assert first.get(f"{SIDES[3]}", SIDES[3], SIDES[3], lambda: sent) is None, "pushed out, and made anew"
    qtbot.waitUntil(lambda: first.is_idle, timeout=60_000)


def test_images_of_one_that_is_gone_are_let_go(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Thumbnails, "shared", ImageCache(1_000_000))
    sent = png()
    parent = QObject()
    thumbnails = Thumbnails(parent)
    thumbnails.get("a", 200, 200, lambda: sent)
    qtbot.waitUntil(lambda: thumbnails.is_idle, timeout=60_000)
    assert len(Thumbnails.shared) == 1
    delete(parent)
    assert not len(Thumbnails.shared)

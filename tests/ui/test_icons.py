"""Icons: one drawing per meaning, on one grid, in the color of whoever asks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QImage
from PySide6.QtWidgets import QApplication

from app.ui.kit.icons import icon, icons_folder, pixmap
from app.ui.kit.theme import Theme

# fmt: off
NAMES = [
    "chat", "speech", "transcribe", "video", "images", "console", "wallet", "settings", "logo", "plus", "search",
    "filter", "close", "chevron-down", "chevron-up", "chevron-left", "chevron-right", "copy", "save", "download",
    "wrap", "stop", "send", "attach", "globe", "quote", "bulb", "link", "pin", "pencil", "trash", "undo", "retry",
    "branch", "more", "info", "warning", "error", "check", "lock", "unlock", "key", "cube", "eye", "eye-off",
    "star", "mask", "panel-left", "panel-right", "sidebar", "user", "plug", "shield", "sun", "keyboard",
    "sparkle", "database", "folder", "bell", "drive", "telemetry-off", "sort", "grid", "list", "receipt",
    "external-link", "refresh", "play", "pause",
]
# fmt: on
FILES = sorted(icons_folder().glob("*.svg"))


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.set_mode("light")
    yield theme


def strongest(image: QImage) -> QColor:
    """The most opaque pixel: the color of the strokes."""
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return max((image.pixelColor(x, y) for x, y in points), key=lambda color: color.alpha())


@pytest.mark.parametrize("name", NAMES)
def test_every_meaning_has_a_drawing(name: str) -> None:
    assert (icons_folder() / f"{name}.svg").is_file()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_drawing_is_on_the_grid_in_thin_lines_of_no_colour_of_its_own(path) -> None:
    root = ElementTree.parse(path).getroot()
    assert root.get("viewBox") == "0 0 20 20"
    assert root.get("stroke-width") == "1.5"
    assert root.get("stroke") == "currentColor"
    text = path.read_text(encoding="utf-8")
    assert "#" not in text
    assert all(fill in ("none", "currentColor") for fill in (node.get("fill", "none") for node in root.iter()))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_drawing_can_be_seen_and_stays_inside_its_square(path, theme: Theme) -> None:
    image = pixmap(theme, path.stem, 40).toImage()
    edge = [image.pixelColor(x, y).alpha() for x in range(40) for y in (0, 39)]
    edge += [image.pixelColor(x, y).alpha() for x in (0, 39) for y in range(40)]
    assert max(edge) < 128  # a round end may touch the edge, a line may not be cut
    assert strongest(image).alpha() > 200


def test_an_icon_takes_the_colour_of_its_role_and_of_the_theme(theme: Theme) -> None:
    chat = icon(theme, "stop", "accent")
    for mode in ("light", "dark"):
        theme.set_mode(mode)  # type: ignore[arg-type]  # the two words are modes
        assert strongest(chat.pixmap(QSize(20, 20)).toImage()) == theme.color("accent")


def test_an_icon_is_quiet_when_off_limits_and_accented_when_on(theme: Theme) -> None:
    stop = icon(theme, "stop", "text2", "accent")
    size = QSize(20, 20)
    off_limits = stop.pixmap(size, QIcon.Mode.Disabled, QIcon.State.Off)
    on = stop.pixmap(size, QIcon.Mode.Normal, QIcon.State.On)
    assert strongest(off_limits.toImage()) == theme.color("text3")
    assert strongest(on.toImage()) == theme.color("accent")


def test_an_icon_is_sharp_on_a_dense_screen(theme: Theme) -> None:
    image = pixmap(theme, "chat", 16, "text", 2.0)
    assert (image.width(), image.devicePixelRatio()) == (32, 2.0)


def test_an_icon_is_drawn_once(theme: Theme) -> None:
    assert pixmap(theme, "bell", 16).cacheKey() == pixmap(theme, "bell", 16).cacheKey()


def test_a_name_without_a_drawing_is_an_error_at_once(theme: Theme) -> None:
    with pytest.raises(FileNotFoundError):
        icon(theme, "nobody-drew-this")


def test_copies_of_an_icon_live_on_their_own(theme: Theme) -> None:
    copies = [QIcon(icon(theme, "stop", "bad")) for _ in range(50)]
    assert all(strongest(copy.pixmap(QSize(16, 16)).toImage()) == theme.color("bad") for copy in copies)

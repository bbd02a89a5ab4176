"""The eight text styles and the bundled fonts that carry them.

Inter and JetBrains Mono travel with the program so that a window measures the same on every system; scripts that they
lack (CJK, Arabic, emoji) fall back to what the system has.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

SANS = "Inter"
MONO = "JetBrains Mono"
FONT_FILES = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-Medium.ttf",
)


class TextStyle(NamedTuple):
    """One row of the type table: size and line in px at 100 %, weight, letter spacing in px."""

    size: float
    line: int
    weight: int
    spacing: float = 0.0
    mono: bool = False


STYLES: dict[str, TextStyle] = {
    "display": TextStyle(28, 36, 600, -0.3),
    "title": TextStyle(20, 28, 600),
    "heading": TextStyle(16, 22, 600, -0.1),
    "reading": TextStyle(14, 22, 400),
    "body": TextStyle(13, 19, 400),
    "small": TextStyle(12, 17, 400),
    "caption": TextStyle(11, 16, 500),
    "code": TextStyle(12.5, 19, 400, mono=True),
}


@cache
def _load_once(folder: Path) -> None:
    """Once in a process: with each font file Qt forgets all that it has looked up."""
    for name in FONT_FILES:
        QFontDatabase.addApplicationFont(str(folder / name))


class FontCache:
    """Builds and keeps the fonts of one text scale."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._system_font = False
        self._scale = 1.0
        self._made: dict[tuple[str, int | None, bool, bool], QFont] = {}

    def configure(self, *, scale: float, system_font: bool) -> None:
        """Use another text scale (1.0 is 100 %) or the system's own sans font."""
        self._scale = scale
        self._system_font = system_font
        self._made.clear()

    def load(self) -> None:
        """Hand the bundled files to Qt; needs a `QGuiApplication`."""
        _load_once(self._folder)

    def font(self, style: str, weight: int | None, mono: bool, tabular: bool) -> QFont:
        """Return a font of its own, free to be changed by the caller."""
        key = (style, weight, mono, tabular)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(STYLES[style], weight, mono, tabular)
        return QFont(made)

    def _make(self, style: TextStyle, weight: int | None, mono: bool, tabular: bool) -> QFont:
        self.load()
        mono = mono or style.mono
        font = QFont(MONO if mono else self.sans_family())
        font.setStyleHint(QFont.StyleHint.Monospace if mono else QFont.StyleHint.SansSerif)
        _set_size(font, style.size * self._scale)
        font.setWeight(QFont.Weight(weight or style.weight))
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if style.spacing:
            font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, style.spacing * self._scale)
        if mono:
            for tag in ("liga", "calt"):  # an id must show the characters that it holds
                font.setFeature(QFont.Tag(tag), 0)
        elif tabular:
            font.setFeature(QFont.Tag("tnum"), 1)
        return font

    def sans_family(self) -> str:
        """Return the family used for everything that is not code."""
        if not self._system_font:
            return SANS
        return QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont).family()


def _set_size(font: QFont, size: float) -> None:
    """Set `size` px. Qt takes whole pixels only, so a half goes through points at the screen's resolution."""
    if abs(size - round(size)) < 0.3:
        font.setPixelSize(max(1, round(size)))
        return
    screen = QGuiApplication.primaryScreen()
    dpi = screen.logicalDotsPerInchY() if screen is not None else 96.0
    font.setPointSizeF(round(size * 2) / 2 * 72.0 / dpi)

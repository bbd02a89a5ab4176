"""The measures, fonts and colors that Markdown is drawn with, taken from the theme once per change of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QFontMetricsF, QTextBlockFormat, QTextCharFormat, QTextFormat

if TYPE_CHECKING:
    from app.ui.kit.markdown.figures import Figures
    from app.ui.kit.theme import Theme

NO_BREAK_SPACE = "\u00a0"
PAD = int(QTextFormat.Property.UserProperty) + 1  # marks the air inside a chip, which is never copied

# Air between two blocks at 100 %, by the kinds above and below; what is not named has the last line's.
_GAPS = {
    ("text", "item"): 4,
    ("item", "item"): 4,
    ("item", "text"): 10,
    ("item", "more"): 6,
    ("more", "item"): 6,
    ("more", "more"): 6,
    ("heading", "text"): 6,
    ("heading", "item"): 6,
    ("heading", "heading"): 8,
    ("footnote", "footnote"): 4,
}
_BELOW = {"heading": 18, "code": 12, "table": 12, "rule": 16, "footnote": 16}
_ABOVE = {"heading": 8, "code": 12, "table": 12, "rule": 16}
_USUAL_GAP = 10
_SHIFTS = {
    "sub": QTextCharFormat.VerticalAlignment.AlignSubScript,
    "sup": QTextCharFormat.VerticalAlignment.AlignSuperScript,
}


class MarkdownStyle:
    """One way of drawing Markdown: `reading` for answers, `body` in a quiet color for thoughts."""

    def __init__(self, theme: Theme, base: str = "reading", role: str = "text") -> None:
        self.theme = theme
        self.base = base
        self.role = role
        self.font = theme.font(base)
        self.line = theme.line_px(base)
        self.small_line = theme.line_px("small")
        self.indent = theme.type_px(22)
        metrics = QFontMetricsF(self.font)
        # Qt puts the baseline of a fixed line at four fifths of it; type is set in the middle of its line instead.
        self.baseline_shift = (self.line - metrics.height()) / 2 + metrics.ascent() - self.line * 0.8
        # Of lines that may grow: there Qt puts all the spare room above the type.
        self.growing_shift = -(self.line - metrics.height()) / 2
        self.figures: Figures | None = None
        self._formats: dict[tuple[str, bool, bool, bool, str, str, str], QTextCharFormat] = {}
        self._pads: dict[tuple[str, float], QTextCharFormat] = {}
        self.headings = (theme.font("title"), theme.font("heading"), theme.font(base, 600))
        self._heading_lines = (theme.line_px("title"), theme.type_px(24), self.line)

    def gap(self, above: str, below: str) -> int:
        """Return the air between two blocks in px; none above the first."""
        if not above:
            return 0
        found = _GAPS.get((above, below))
        if found is None:
            found = max(_ABOVE.get(above, 0), _BELOW.get(below, 0)) or _USUAL_GAP
        return self.theme.px(found)

    def heading_level(self, level: int) -> tuple[QFont, int]:
        """Return font and line height of heading `level` 1 to 6."""
        index = min(level, len(self.headings)) - 1
        return self.headings[index], self._heading_lines[index]

    def block(self, line: int, top: int, indent: int) -> QTextBlockFormat:
        """Return the format of a block with lines of `line` px."""
        made = QTextBlockFormat()
        made.setLineHeight(line, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        made.setTopMargin(top)
        made.setIndent(indent)
        return made

    def text(
        self,
        font: str = "",
        *,
        strong: bool = False,
        emphasis: bool = False,
        struck: bool = False,
        role: str = "",
        href: str = "",
        shift: str = "",
    ) -> QTextCharFormat:
        """Return the format of running text.

        `font` is "" for the base, "code", "chip", "small", "h1" to "h3"; `shift` is "", "sub" or "sup".
        """
        key = (font, strong, emphasis, struck, role, href, shift)
        made = self._formats.get(key)
        if made is None:
            made = QTextCharFormat()
            made.setFont(self._font(font, strong, emphasis, struck))
            if shift:
                made.setVerticalAlignment(_SHIFTS[shift])
            made.setForeground(self.theme.color(role or ("accent" if href else self.role)))
            if href:
                made.setAnchor(True)
                made.setAnchorHref(href)
            if len(self._formats) > 400:  # every link makes one
                self._formats.clear()
            self._formats[key] = made
        return made

    def pad(self, font: str, width: float) -> QTextCharFormat:
        """Return the format that makes a no-break space `width` px wide (100 %), the air inside a chip."""
        made = self._pads.get((font, width))
        if made is None:
            made = QTextCharFormat()
            air = self._font(font, False, False, False)
            own = QFontMetricsF(air).horizontalAdvance(NO_BREAK_SPACE)
            air.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, width * self.theme.scale - own)
            made.setFont(air)
            made.setProperty(PAD, True)
            self._pads[(font, width)] = made
        return made

    def _font(self, name: str, strong: bool, emphasis: bool, struck: bool) -> QFont:
        if name == "code":
            font = self.theme.font("code")
        elif name == "chip":
            font = self.theme.font("caption", 600)
        elif name == "small":
            font = self.theme.font("small")
        elif name.startswith("h"):
            font = QFont(self.headings[int(name[1]) - 1])
        else:
            font = QFont(self.font)
        if strong:
            font.setWeight(QFont.Weight.DemiBold)
        font.setItalic(emphasis)
        font.setStrikeOut(struck)
        return font

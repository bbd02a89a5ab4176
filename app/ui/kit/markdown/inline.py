"""Writes the running text of one block: emphasis, links, code, chips."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.ui.kit.markdown.figures import JOINER, OBJECT, FigureDocument
from app.ui.kit.markdown.style import NO_BREAK_SPACE, MarkdownStyle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from PySide6.QtGui import QTextCharFormat, QTextCursor

    from app.ui.kit.markdown.figures import Figure

LINE_BREAK = "\u2028"
FOOTNOTE_LINK = "#footnote-"
# Characters that mean structure to QTextDocument; from a message they are text, shown as a plain space.
_STRUCTURE = re.compile("[\u0000\u2028\u2029\ufdd0\ufdd1\ufffc\r\n\u000b\u000c]")

CHIP_PAD = 4.5  # px of air inside a citation chip, and the 2 px before it
CHIP_MARGIN = 2.0
CODE_PAD = 5.0


@dataclass(slots=True)
class Span:
    """A stretch of text that is more than text. Positions are in the document and include the air of a chip.

    `kind`: "code", "cite", "unbound" (a citation without its source), "image" (its address), "drawn" (a formula, an
    image that the text carries) or "link". `target` is the address of a
    link or image; `source` the 0-based index of a citation; `raw` what stood in the message.
    """

    start: int
    end: int
    kind: str
    target: str = ""
    source: int = -1
    raw: str = ""


class InlineWriter:
    """Appends inline tokens at a cursor. `bound` is the number of sources, None while it is not known."""

    def __init__(
        self, cursor: QTextCursor, style: MarkdownStyle, spans: list[Span], pads: list[int], bound: int | None
    ) -> None:
        self._cursor = cursor
        self._style = style
        self._spans = spans
        self._pads = pads
        self._bound = bound
        self.tail: QTextCharFormat | None = None  # see `Prose`
        self.tail_closed = False

    def write(self, tokens: Sequence[Token], font: str = "", role: str = "", strong: bool = False) -> None:
        """Append `tokens` in the given font of the style; `role` replaces the color of plain text."""
        state: dict[str, Any] = {
            "font": font,
            "role": role,
            "strong": strong,
            "emphasis": False,
            "struck": False,
            "shift": "",
        }
        href = ""
        link_start = 0
        depth = {"strong": int(strong), "em": 0, "s": 0}
        shifts: list[str] = []
        self.tail = self._style.text(**state)
        for token in tokens:
            if token.nesting >= 0:
                self.tail = None
            match token.type:
                case "text" | "text_special":
                    self._plain(token.content, href, state)
                case "strong_open" | "em_open" | "s_open":
                    depth[token.type.removesuffix("_open")] += 1
                case "strong_close" | "em_close" | "s_close":
                    depth[token.type.removesuffix("_close")] -= 1
                    self.tail_closed = True
                case "sub_open" | "sup_open":
                    shifts.append(token.tag)
                case "sub_close" | "sup_close":
                    shifts.pop()
                    self.tail_closed = True
                case "code_inline" | "kbd":
                    self._code(token.content, href)
                case "softbreak" | "hardbreak":
                    self._cursor.insertText(LINE_BREAK, self._style.text(**state))
                case "link_open":
                    href = str(token.attrGet("href") or "")
                    link_start = self._cursor.position()
                case "link_close":
                    if href and self._cursor.position() > link_start:
                        self._spans.append(Span(link_start, self._cursor.position(), "link", href))
                    href = ""
                case "citation":
                    self._citation(token)
                case "footnote_mark":
                    self._footnote_mark(token.content)
                case "image":
                    self._picture(token)
                case "math":
                    self._formula(token, role)
                case "picture":
                    self._carried_image(token)
                case _:
                    self._plain(token.content, href, state)
            state["strong"] = depth["strong"] > 0
            state["emphasis"] = depth["em"] > 0
            state["struck"] = depth["s"] > 0
            state["shift"] = shifts[-1] if shifts else ""

    def _plain(self, text: str, href: str, state: dict[str, Any]) -> None:
        if text:
            changes = {**state, "href": href, "role": ""} if href else state
            format_ = self._style.text(**changes)
            self._cursor.insertText(clean(text), format_)
            self.tail = None if href else format_
            self.tail_closed = False

    def _pad(self, font: str, width: float) -> None:
        self._pads.append(self._cursor.position())
        self._cursor.insertText(NO_BREAK_SPACE, self._style.pad(font, width))

    def _code(self, text: str, href: str) -> None:
        start = self._cursor.position()
        self._pad("", CODE_PAD)
        self._cursor.insertText(clean(text), self._style.text("code", href=href))
        self._pad("", CODE_PAD)
        self._spans.append(Span(start, self._cursor.position(), "code", raw=text))

    def _citation(self, token: Token) -> None:
        for index in token.meta["indexes"]:
            bound = self._bound is None or 0 <= index < self._bound
            start = self._cursor.position()
            self._pad("chip", CHIP_PAD + CHIP_MARGIN)
            format_ = self._style.text("chip", role="accent" if bound else "warn")
            self._cursor.insertText(str(index + 1), format_)
            self._pad("chip", CHIP_PAD)
            kind = "cite" if bound else "unbound"
            self._spans.append(Span(start, self._cursor.position(), kind, source=index, raw=token.content))

    def _footnote_mark(self, label: str) -> None:
        start = self._cursor.position()
        target = f"{FOOTNOTE_LINK}{label}"
        self._pad("chip", 1.0)
        self._cursor.insertText(f"[{clean(label)}]", self._style.text("chip", role="accent"))
        self._spans.append(Span(start, self._cursor.position(), "link", target))

    def _formula(self, token: Token, role: str) -> None:
        """Put a formula into the line, or its source where it cannot be set."""
        style, meta = self._style, token.meta
        figure = None
        if style.figures is not None:
            color = role or style.role
            figure = style.figures.formula(meta["formula"], meta["display"], style.font, style.theme, color)
        if figure is None:
            self._cursor.insertText(clean(token.content), style.text("code", role=role))
        else:
            self._draw(figure, token.content, alone=meta.get("alone", False))

    def _carried_image(self, token: Token) -> None:
        style = self._style
        figure = style.figures.picture(token.meta["address"], style.theme) if style.figures is not None else None
        if figure is not None:
            words = clean(token.content).strip()
            self._draw(figure, f"[{words}]" if words else "[picture]")
            return
        start = self._cursor.position()
        words = clean(token.content).strip() or "picture"
        self._pad("", CODE_PAD)
        self._cursor.insertText(f"Image: {words}", style.text("small", role="text2"))
        self._pad("", CODE_PAD)
        self._spans.append(Span(start, self._cursor.position(), "image", raw=words))

    def _draw(self, figure: Figure, words: str, *, alone: bool = False) -> None:
        """Insert the character that stands for a figure; `words` are what is copied instead of it."""
        document = self._cursor.document()
        assert isinstance(document, FigureDocument)
        start = self._cursor.position()
        plain = self._style.text()
        for text, format_ in (
            (JOINER, plain),
            (OBJECT, document.format_of(figure, self._style.font, alone=alone)),
            (JOINER, plain),
        ):
            self._pads.append(self._cursor.position())
            self._cursor.insertText(text, format_)
        self._spans.append(Span(start, self._cursor.position(), "drawn", raw=words))

    def _picture(self, token: Token) -> None:
        """Write the alt text where an image would be; nothing is fetched, its address is a link."""
        start = self._cursor.position()
        target = str(token.attrGet("src") or "")
        self._pad("", CODE_PAD)
        words = clean(token.content).strip() or "picture"
        self._cursor.insertText(f"Image: {words}", self._style.text("small", role="text2"))
        self._pad("", CODE_PAD)
        self._spans.append(Span(start, self._cursor.position(), "image", target, raw=words))


def clean(text: str) -> str:
    """Return `text` without the characters that a text document would take for structure."""
    return _STRUCTURE.sub(" ", text) if _STRUCTURE.search(text) else text


def visible_text(tokens: Sequence[Token]) -> str:
    """Return about what a reader will see of inline tokens, for measuring."""
    return "".join("\n" if token.type == "hardbreak" else token.content for token in tokens if token.type != "citation")


def chip_count(tokens: Sequence[Token]) -> int:
    """Return how many chips inline tokens have."""
    return sum(
        token.type in ("citation", "code_inline", "kbd", "image", "footnote_mark", "picture") for token in tokens
    )

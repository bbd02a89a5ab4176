"""From Markdown tokens to drawable pieces: small text documents, code, tables and rules.

Text reaches a `QTextDocument` through a cursor, character by character as it is; no HTML is made or read anywhere, so
there is nothing that a message could inject into. Bullets, numbers, quote bars and chips are notes beside the document,
painted by whoever shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextBlockFormat, QTextCursor, QTextOption

from app.ui.kit.markdown.figures import FigureDocument
from app.ui.kit.markdown.inline import InlineWriter, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from PySide6.QtGui import QTextCharFormat

    from app.ui.kit.markdown.segments import Segment
    from app.ui.kit.markdown.style import MarkdownStyle

MAX_INDENT = 10  # deeper nesting is drawn at this depth
_TASK = re.compile(r"^\[([ xX])\](?:[ \t]+|$)")


@dataclass(slots=True)
class Mark:
    """What stands before the first line of a block: a number, "•", or a task's box ("task", "done")."""

    block: int
    text: str


@dataclass(slots=True)
class Bar:
    """A quote's line at the left of blocks `first` to `last`, standing in for indent step `level`."""

    first: int
    last: int
    level: int


@dataclass(slots=True)
class Prose:
    """Running text. `spans` and `pads` are positions in `document`.

    `above` and `below` name the kinds of its first and last block, as every piece does. `tail` is the format in which
    more plain text may be appended, None where only a new parse knows; `tail_closed` says that emphasis ended after it.
    """

    document: FigureDocument
    above: str
    below: str = ""
    marks: list[Mark] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    pads: list[int] = field(default_factory=list)
    indent: int = 0
    tail: QTextCharFormat | None = None
    tail_closed: bool = False
    grows: bool = False  # its lines are as high as what stands in them, and one line at least


@dataclass(slots=True)
class Code:
    """The lines of a code block as they are. `indent` counts the lists around it."""

    text: str
    language: str = ""
    indent: int = 0
    above: str = "code"
    below: str = "code"


@dataclass(slots=True)
class Table:
    """Rows of cells, each a list of inline tokens; the first row is the head unless the part carries on a table."""

    rows: list[list[list[Token]]]
    aligns: list[str]
    headless: bool = False
    indent: int = 0
    above: str = "table"
    below: str = "table"


@dataclass(slots=True)
class Rule:
    """A line across."""

    indent: int = 0
    above: str = "rule"
    below: str = "rule"


Piece = Prose | Code | Table | Rule


def new_document(style: MarkdownStyle) -> FigureDocument:
    """Return an empty document without margins, undo or width, whose direction follows each paragraph's text."""
    document = FigureDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(style.font)
    document.setIndentWidth(style.indent)
    option = QTextOption()
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    return document


def let_lines_grow(document: FigureDocument) -> bool:
    """Make room for figures where there are any: a line is then as high as what stands in it. True when there were."""
    if document.handler is None:
        return False
    block = document.begin()
    while block.isValid():
        grown = block.blockFormat()
        height = grown.lineHeight()
        if grown.lineHeightType() == QTextBlockFormat.LineHeightTypes.FixedHeight.value:
            grown.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
            QTextCursor(block).setBlockFormat(grown)
        block = block.next()
    return True


def write(tokens: Sequence[Token], segment: Segment, style: MarkdownStyle, bound: int | None) -> list[Piece]:
    """Return the pieces of a parsed segment.

    `bound` is how many sources citations can point at, None while that is not known yet.
    """
    writer = _BlockWriter(segment, style, bound)
    for token in tokens:
        writer.take(token)
    writer.end_prose()
    return writer.pieces


@dataclass(slots=True)
class _Level:
    """One open list: its next number (None for bullets) and whether an item's mark still waits for its text."""

    number: int | None
    mark: str = ""
    fresh: bool = False


class _BlockWriter:
    def __init__(self, segment: Segment, style: MarkdownStyle, bound: int | None) -> None:
        self.pieces: list[Piece] = []
        self._segment = segment
        self._style = style
        self._bound = bound
        self._prose: Prose | None = None
        self._cursor: QTextCursor | None = None
        self._blocks = 0
        self._lists: list[_Level] = []
        self._quotes: list[tuple[int, int]] = []  # (first block, level) of each open quote
        self._heading = 0
        self._table: Table | None = None
        self._row: list[list[Token]] = []
        self._top_lists = 0

    def take(self, token: Token) -> None:
        if self._table is not None:
            self._take_table(self._table, token)
            return
        match token.type:
            case "inline":
                self._inline(token)
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "bullet_list_open" | "ordered_list_open":
                self._open_list(token)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._open_item()
            case "list_item_close":
                self._show_waiting_mark()
            case "blockquote_open":
                self._show_waiting_mark()
                self._quotes.append((self._blocks, self._depth))
            case "blockquote_close":
                self._close_quote()
            case "fence" | "code_block":
                self._show_waiting_mark()
                self.end_prose()
                words = token.info.split()
                text = token.content.removesuffix("\n")
                self.pieces.append(Code(text, words[0] if words else "", self._depth))
            case "hr":
                self._show_waiting_mark()
                self.end_prose()
                self.pieces.append(Rule(self._depth))
            case "table_open":
                self._show_waiting_mark()
                self.end_prose()
                self._table = Table([], [], bool(self._segment.context.table_head), self._depth)

    @property
    def _depth(self) -> int:
        steps = self._segment.context.indent + len(self._lists) + len(self._quotes)
        return min(MAX_INDENT, steps + (self._segment.kind == "footnote"))

    # -- prose --------------------------------------------------------------------------------------------------------

    def _inline(self, token: Token) -> None:
        children = token.children or []
        level = self._lists[-1] if self._lists else None
        mark = level.mark if level else ""
        if mark == "•" and children and children[0].type == "text":
            task = _TASK.match(children[0].content)
            if task:
                children[0].content = children[0].content[task.end() :]
                mark = "task" if task[1] == " " else "done"
        kind = self._kind(level)
        writer = self._block(kind, mark)
        alone = len(children) == 1 and children[0].type == "math" and children[0].meta["display"]
        if alone and self._style.figures is not None and self._cursor is not None:
            children[0].meta["alone"] = True
            centered = self._cursor.blockFormat()
            centered.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            self._cursor.setBlockFormat(centered)
        if level:
            level.mark = ""
            level.fresh = False
        if self._heading:
            writer.write(children, f"h{min(3, self._heading)}", "text2" if self._heading > 3 else "")
        elif kind == "footnote":
            writer.write(children, "small", "text2")
        else:
            writer.write(children, "", "text2" if self._quotes else "")
        if self._prose is not None:
            self._prose.tail = writer.tail
            self._prose.tail_closed = writer.tail_closed

    def _kind(self, level: _Level | None) -> str:
        if self._heading:
            return "heading"
        if level is not None:
            return "item" if level.fresh else "more"
        if self._segment.kind == "footnote":
            return "footnote"
        return "more" if self._segment.context.indent else "text"

    def _block(self, kind: str, mark: str) -> InlineWriter:
        """Begin a block and return the writer of its text."""
        style = self._style
        prose = self._prose
        if kind == "heading":
            line = style.heading_level(self._heading)[1]
        else:
            line = style.small_line if kind == "footnote" else style.line
        if prose is None:
            prose = self._prose = Prose(new_document(style), above=kind, indent=self._depth)
            self._cursor = QTextCursor(prose.document)
            self._cursor.beginEditBlock()
            self._blocks = 0
            self._quotes = [(0, level) for _, level in self._quotes]
            self._cursor.setBlockFormat(style.block(line, 0, self._depth))
        else:
            assert self._cursor is not None
            self._cursor.insertBlock(style.block(line, style.gap(prose.below, kind), self._depth))
        prose.below = kind
        if mark:
            prose.marks.append(Mark(self._blocks, mark))
        self._blocks += 1
        assert self._cursor is not None
        return InlineWriter(self._cursor, style, prose.spans, prose.pads, self._bound)

    def end_prose(self) -> None:
        """Finish the open document, if any."""
        if self._prose is None or self._cursor is None:
            return
        for first, level in self._quotes:
            if self._blocks > first:
                self._prose.bars.append(Bar(first, self._blocks - 1, level))
        self._prose.grows = let_lines_grow(self._prose.document)
        self._cursor.endEditBlock()
        self.pieces.append(self._prose)
        self._prose = None
        self._cursor = None
        self._blocks = 0
        self._quotes = [(0, level) for _, level in self._quotes]

    def _close_quote(self) -> None:
        first, level = self._quotes.pop()
        if self._prose is not None and self._blocks > first:
            self._prose.bars.append(Bar(first, self._blocks - 1, level))

    # -- lists --------------------------------------------------------------------------------------------------------

    def _open_list(self, token: Token) -> None:
        self._show_waiting_mark()
        if token.type == "bullet_list_open":
            self._lists.append(_Level(None))
            return
        number = int(token.attrGet("start") or (0 if token.attrGet("start") == 0 else 1))
        forced = self._segment.context.number
        if not self._lists and not self._top_lists and forced is not None:
            number = forced
        self._top_lists += not self._lists
        self._lists.append(_Level(number))

    def _open_item(self) -> None:
        level = self._lists[-1]
        level.fresh = True
        if level.number is None:
            level.mark = "•"
        else:
            level.mark = f"{level.number}."
            level.number += 1

    def _show_waiting_mark(self) -> None:
        """Give an item's mark a line of its own when something other than text follows it, or nothing."""
        level = self._lists[-1] if self._lists else None
        if level is not None and level.mark:
            self._block("item", level.mark)
            level.mark = ""
            level.fresh = False

    # -- tables -------------------------------------------------------------------------------------------------------

    def _take_table(self, table: Table, token: Token) -> None:
        if token.type == "tr_open":
            self._row = []
        elif token.type == "tr_close":
            table.rows.append(self._row)
        elif token.type in ("th_open", "td_open"):
            if len(table.rows) == 0:
                table.aligns.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
        elif token.type == "inline":
            self._row.append(token.children or [])
        elif token.type == "table_close":
            if table.headless:
                del table.rows[0]
            self.pieces.append(table)
            self._table = None

"""A message as it is read aloud: its blocks in plain text, without any markup."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from app.translation import tr, tr_n
from app.ui.kit.markdown.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markdown_it.token import Token

_CELL_EDGE = re.compile(r"(?<!\\)\|")
Kind = Literal["heading", "paragraph", "item", "formula", "table", "row", "cell", "code", "line", "group"]


@dataclass(frozen=True, slots=True)
class SpokenBlock:
    """One block. `level` is that of a heading, 1 to 6, `language` that of code, `source_line` its first, -1 for none.

    A table has rows and these cells, each cell behind the name of its column; code has its lines; a group has blocks.
    """

    kind: Kind
    text: str
    level: int = 0
    language: str = ""
    source_line: int = field(default=-1, compare=False)
    children: tuple[SpokenBlock, ...] = field(default=(), compare=False)


class Place(NamedTuple):
    """Where the keyboard is: a row, such as a message, or with a path a block of it, "the second row of the third"."""

    row_id: str
    path: tuple[int, ...] = ()


def plain_text(blocks: tuple[SpokenBlock, ...]) -> str:
    """Return the whole text of some blocks, a line for each."""
    return "\n".join(block_text(block) for block in blocks)


def block_text(block: SpokenBlock) -> str:
    """Return the whole text of a block: that of a table is its rows, that of a group what is in it."""
    if block.kind == "table":
        return plain_text(block.children)
    return plain_text((SpokenBlock("paragraph", block.text), *block.children)) if block.kind == "group" else block.text


def block_name(block: SpokenBlock) -> str:
    """Return what is said when a block is reached."""
    match block.kind:
        case "table":
            rows = len(block.children) - 1
            return tr_n("Table, {n} row: {columns}", "Table, {n} rows: {columns}", rows, columns=block.text)
        case "code":
            language, lines = block.language, len(block.children)
            if language:
                return tr_n("{language} code, {n} line", "{language} code, {n} lines", lines, language=language)
            return tr_n("Code, {n} line", "Code, {n} lines", lines)
        case "line":
            return block.text if block.text.strip() else tr("Empty line")
        case "formula":
            return tr("Formula: {formula}", formula=block.text)
    return block.text


def spoken_blocks(source: str, *, citations: bool = False) -> tuple[SpokenBlock, ...]:
    """Return the blocks of a message in Markdown, from top to bottom; those without text are left out."""
    return tuple(block for block in _blocks(parse(source, citations=citations)) if block.text)


def flat(blocks: Iterable[SpokenBlock]) -> tuple[SpokenBlock, ...]:
    """Put the rows of tables in the place of the tables."""
    return tuple(each for block in blocks for each in (block.children if block.kind == "table" else (block,)))


def code_block(code: str, language: str = "", source_line: int = 0) -> SpokenBlock:
    """Return code with its lines."""
    code = code.rstrip("\n")
    lines = tuple(SpokenBlock("line", line, source_line=source_line) for line in code.split("\n"))
    return SpokenBlock("code", code, language=language, source_line=source_line, children=lines)


def _blocks(tokens: Sequence[Token]) -> Iterator[SpokenBlock]:
    items = level = line = 0
    number = ""
    columns: list[str] = []
    cells: list[str] = []
    rows: list[SpokenBlock] = []
    in_row = in_head = False
    for token in tokens:
        line = token.map[0] if token.map else line
        match token.type:
            case "list_item_open":
                items += 1
                number = f"{token.info}{token.markup} " if token.info else ""
            case "list_item_close":
                items -= 1
            case "heading_open":
                level = int(token.tag[1:])
            case "heading_close":
                level = 0
            case "table_open":
                rows, columns = [], []
            case "table_close":
                yield SpokenBlock("table", ", ".join(columns), source_line=line, children=tuple(rows))
            case "thead_open":
                in_head = True
            case "thead_close":
                in_head, columns = False, cells
            case "tr_open":
                in_row, cells = True, []
            case "tr_close":
                in_row = False
                named = tuple(
                    SpokenBlock("cell", table_row(columns[at : at + 1], [cell]) or "".join(columns[at : at + 1]))
                    for at, cell in enumerate(cells)
                )
                text = ", ".join(cells) if in_head else table_row(columns, cells)
                rows.append(SpokenBlock("row", text, source_line=line, children=named))
            case "inline":
                children = token.children or ()
                text = spoken_inline(children)
                if in_row:
                    cells.append(text)
                elif level:
                    yield SpokenBlock("heading", text, level=level, source_line=line)
                elif len(children) == 1 and children[0].type == "math":
                    yield SpokenBlock("formula", text, source_line=line)
                else:
                    yield SpokenBlock("item" if items else "paragraph", number + text if text else "", source_line=line)
                    number = ""
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.split() else ""
                yield code_block(token.content, language, line)


def table_cells(line: str) -> list[str]:
    """Return the cells of one line of a table, each as it is read aloud."""
    return [" ".join(block.text for block in spoken_blocks(cell)) for cell in _CELL_EDGE.split(line.strip().strip("|"))]


def table_row(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as it is read aloud: each cell behind the name of its column."""
    names = [*columns, *[""] * len(cells)]
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell)


def spoken_inline(tokens: Sequence[Token]) -> str:
    """Return running text without markup; what citations point to is said by their number."""
    parts = []
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case "citation":
                numbers = ", ".join(str(index + 1) for index in token.meta["indexes"])
                parts.append(f" ({tr('source {numbers}', numbers=numbers)})" if numbers else "")
            case "link_open" | "link_close":
                pass
            case _:
                parts.append(token.content)
    return " ".join("".join(parts).split())

"""A message as it is read aloud: its blocks in plain text, without any markup."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.translation import tr
from app.ui.kit.markdown.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

_CELL_EDGE = re.compile(r"(?<!\\)\|")
Kind = Literal["heading", "paragraph", "item", "row", "code"]


@dataclass(frozen=True, slots=True)
class SpokenBlock:
    """One block. `level` is that of a heading, 1 to 6; `language` that of code. A table is its rows: each cell of a
    row stands behind the name of its column."""

    kind: Kind
    text: str
    level: int = 0
    language: str = ""


def spoken_blocks(source: str, *, citations: bool = False) -> tuple[SpokenBlock, ...]:
    """Return the blocks of a message in Markdown, from top to bottom; those without text are left out."""
    return tuple(block for block in _blocks(parse(source, citations=citations)) if block.text)


def _blocks(tokens: Sequence[Token]) -> Iterator[SpokenBlock]:
    items = level = 0
    columns: list[str] = []
    cells: list[str] = []
    in_row = in_head = False
    for token in tokens:
        match token.type:
            case "list_item_open":
                items += 1
            case "list_item_close":
                items -= 1
            case "heading_open":
                level = int(token.tag[1:])
            case "heading_close":
                level = 0
            case "thead_open":
                in_head = True
            case "thead_close":
                in_head, columns = False, cells
            case "tr_open":
                in_row, cells = True, []
            case "tr_close":
                in_row = False
                yield SpokenBlock("row", ", ".join(cells) if in_head else table_row(columns, cells))
            case "inline":
                text = spoken_inline(token.children or ())
                if in_row:
                    cells.append(text)
                elif level:
                    yield SpokenBlock("heading", text, level=level)
                else:
                    yield SpokenBlock("item" if items else "paragraph", text)
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.split() else ""
                yield SpokenBlock("code", token.content.rstrip("\n"), language=language)


def table_cells(line: str) -> list[str]:
    """Return the cells of one line of a table, each as it is read aloud."""
    return [" ".join(block.text for block in spoken_blocks(cell)) for cell in _CELL_EDGE.split(line.strip().strip("|"))]


def table_row(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as it is read aloud: each cell behind the name of its column."""
    names = [*columns, *[""] * len(cells)]
    return ", ".join(f"{name}: {cell}" if name and cell else cell for name, cell in zip(names, cells, strict=False))


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

"""A message as a document without markup: its blocks, from the thoughts to the receipt.

A module of its own, because the walk through messages is about keys and not about what a message holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr, tr_n
from app.ui.conversation.rows import receipt_text
from app.ui.kit.markdown.spoken import SpokenBlock, code_block, spoken_blocks

if TYPE_CHECKING:
    from app.ui.conversation.rows import MessageRow, RowSource

MOST_CHARS = 100_000  # read as Markdown, in 0.3 s; what comes after is given line by line as it was written


def message_blocks(row: MessageRow, *, reasoning_open: bool) -> tuple[SpokenBlock, ...]:
    """Return the blocks of a message from top to bottom; only those of Markdown have a `source_line` of their own."""
    blocks = []
    if reasoning_open and row.reasoning.strip():
        blocks.append(SpokenBlock("group", tr("Reasoning"), children=_of_markdown(row.reasoning, citations=False)))
    if row.structured and row.state != "streaming":
        blocks.append(code_block(row.text, "JSON"))
    elif row.role == "assistant":
        blocks += _of_markdown(row.text, citations=row.citations)
    else:
        blocks += _of_lines(row.text)
    if row.sources:
        found = tuple(_source(number, source) for number, source in enumerate(row.sources, 1))
        words = tr_n("{n} source", "{n} sources", len(found))
        blocks.append(SpokenBlock("group", words, children=found))
    if row.problem is not None:
        blocks.append(SpokenBlock("paragraph", row.problem.sentence))
    if row.state in ("stopped", "interrupted") and row.state_text:
        blocks.append(SpokenBlock("paragraph", row.state_text))
    receipt = receipt_text(row.receipt + row.byline)
    if receipt:
        blocks.append(SpokenBlock("paragraph", receipt))
    return tuple(blocks)


def _of_markdown(text: str, *, citations: bool) -> tuple[SpokenBlock, ...]:
    end = text.rfind("\n", 0, MOST_CHARS) + 1 if len(text) > MOST_CHARS else len(text)
    rest = _of_lines(text[end:], text.count("\n", 0, end)) if end < len(text) else ()
    return (*spoken_blocks(text[:end], citations=citations), *rest)


def _of_lines(text: str, first: int = 0) -> tuple[SpokenBlock, ...]:
    lines = enumerate(text.splitlines(), first)
    return tuple(SpokenBlock("paragraph", line, source_line=number) for number, line in lines if line.strip())


def _source(number: int, source: RowSource) -> SpokenBlock:
    words = ". ".join(each for each in (source.title or source.url, source.host, source.snippet) if each)
    return SpokenBlock("item", f"{number}. {words}")

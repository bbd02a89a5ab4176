"""What is copied: the text selection, two positions in the rows, and whole messages with their sources."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.conversation.units import BODY, THOUGHT
from app.ui.kit.markdown.citations import in_numbers
from app.ui.kit.markdown.html import html_of
from app.ui.kit.markdown.parser import is_safe_link
from app.ui.kit.markdown.plain import plain_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from app.ui.conversation.boxes import Box
    from app.ui.conversation.rows import MessageRow, RowSource
    from app.ui.conversation.units import Key, Unit
    from app.ui.conversation.virtual_list import VirtualList

Place = tuple[int, int, int, int, int]  # row, section, unit in the section, box, position in the box
MOST_FORMATTED = 40_000  # characters; more would hold the window, and are copied as Markdown alone
_SPEAKERS = {"user": tr("You"), "assistant": tr("Answer"), "note": tr("Note"), "tool": tr("Function")}


class Selection:
    """From `anchor`, where it began, to `head`, where it is being drawn to. Either may come first."""

    def __init__(self) -> None:
        self.anchor: tuple[Place, Place] | None = None  # a word or paragraph that stays selected as a whole
        self.head: tuple[Place, Place] | None = None

    def clear(self) -> None:
        self.anchor = self.head = None

    def start(self, first: Place, last: Place | None = None) -> None:
        """Begin at a place, or with everything between two."""
        self.anchor = self.head = (first, last or first)

    def extend(self, first: Place, last: Place | None = None) -> None:
        """Draw the selection to a place, or so that it takes in everything between two."""
        self.head = (first, last or first)
        if self.anchor is None:
            self.anchor = self.head

    @property
    def range(self) -> tuple[Place, Place] | None:
        """Return the ends in reading order, None when nothing is selected."""
        if self.anchor is None or self.head is None:
            return None
        first = min(self.anchor[0], self.head[0])
        last = max(self.anchor[1], self.head[1])
        return (first, last) if first < last else None

    def in_box(self, row: int, key: Key, number: int, box: Box) -> tuple[int, int] | None:
        """Return the selected stretch of a box."""
        ends = self.range
        if ends is None or not box.length:
            return None
        here = (row, *key, number)
        first, last = ends
        if first[:4] > here or last[:4] < here:
            return None
        start = first[4] if first[:4] == here else 0
        end = last[4] if last[:4] == here else box.length
        return (start, end) if start < end else None


def select_all(stack: VirtualList, selection: Selection) -> None:
    """Select every row, wherever it is."""
    if stack.rows:
        selection.start((0, 0, 0, 0, 0), (len(stack.rows), 0, 0, 0, 0))


def selected_text(stack: VirtualList, selection: Selection, *, as_source: bool = False) -> str:
    """Return the selected text.

    Rows that are selected as a whole give their source. Of a row selected in part comes what is to be read, or with
    `as_source` the Markdown of every paragraph that the selection touches. Thoughts come only when nothing else is
    selected with them.
    """
    ends = selection.range
    if ends is None:
        return ""
    first, last = ends
    parts: list[tuple[str, str]] = []
    is_source = True
    for number in range(first[0], min(last[0], len(stack.rows) - 1) + 1):
        row = stack.rows[number]
        whole = number not in (first[0], last[0]) or _covers(stack, number, first, last)
        text = source_text(row) if whole else _part_of_row(stack, number, first, last, as_source)
        is_source &= whole or as_source
        if text:
            parts.append((row.role, text))
    if len(parts) == 1:
        return parts[0][1]
    mark = "**" if is_source else ""
    return "\n\n".join(f"{mark}{_SPEAKERS[role]}{mark}\n\n{text}" for role, text in parts)


def selected_html(stack: VirtualList, selection: Selection) -> str:
    """Return the selected text as HTML: whole paragraphs, lists, tables and code as such, parts of them as text."""
    ends = selection.range
    if ends is None:
        return ""
    first, last = ends
    numbers = range(first[0], min(last[0], len(stack.rows) - 1) + 1)
    pieces: list[str] = []
    for number in numbers:
        row = stack.rows[number]
        if len(numbers) > 1:
            pieces.append(f"<p><b>{escape(_SPEAKERS[row.role])}</b></p>")
        whole = number not in (first[0], last[0]) or _covers(stack, number, first, last)
        if whole and row.role == "assistant":
            pieces.append(html_of(row.text, citations=row.citations))
        elif whole:
            pieces.append(_as_html(row.text))
        else:
            pieces += _html_of_part(stack, number, first, last)
    return "\n".join(pieces)


def _html_of_part(stack: VirtualList, number: int, first: Place, last: Place) -> Iterator[str]:
    """Give the selected part of a row; what stands together in the source, such as a list, is read together."""
    wanted = THOUGHT if first[0] == last[0] == number and first[1] == last[1] == THOUGHT else BODY
    source = ""
    for key, unit in stack.model(number).units():
        texts = list(_texts(stack.rows[number], number, key, unit, first, last, False)) if key[0] == wanted else []
        if not texts:
            continue
        start, end = (number, *key, 0, 0), (number, *key, len(unit.boxes) - 1, unit.boxes[-1].length)
        if unit.segment is not None and first <= start and end <= last:
            source += ("\n" if unit.segment.context.joined else "\n\n") + unit.segment.source.strip("\n")
            continue
        if source:
            yield html_of(source.strip("\n"), citations=stack.rows[number].citations)
        source = ""
        yield _as_html("\n".join(text for text, _ in texts))
    if source:
        yield html_of(source.strip("\n"), citations=stack.rows[number].citations)


def _as_html(text: str) -> str:
    return f"<p>{escape(text.strip()).replace(chr(10), '<br>')}</p>"


def _covers(stack: VirtualList, number: int, first: Place, last: Place) -> bool:
    """Tell whether all of a row's own text lies between two places."""
    units = [(key, unit) for key, unit in stack.model(number).units() if key[0] == BODY]
    if not units:
        return False
    start: Place = (number, *units[0][0], 0, 0)
    end_key, end_unit = units[-1]
    if last > (number, *end_key, 1 << 30, 0):
        return first <= start
    if not end_unit.is_built or not end_unit.boxes:
        return False
    return first <= start and last >= (number, *end_key, len(end_unit.boxes) - 1, end_unit.boxes[-1].length)


def _part_of_row(stack: VirtualList, number: int, first: Place, last: Place, as_source: bool) -> str:
    wanted = THOUGHT if first[0] == last[0] == number and first[1] == last[1] == THOUGHT else BODY
    pieces: list[str] = []
    for key, unit in stack.model(number).units():
        if key[0] != wanted:
            continue
        for text, joins in _texts(stack.rows[number], number, key, unit, first, last, as_source):
            if pieces:
                pieces.append("\n" if joins else "\n\n")
            pieces.append(text)
    return "".join(pieces).strip("\n")


def _texts(
    row: MessageRow, number: int, key: Key, unit: Unit, first: Place, last: Place, as_source: bool
) -> Iterator[tuple[str, bool]]:
    """Give the selected texts of a unit, and whether each carries on the one before."""
    low, high = (number, *key), (number, *key)
    if first[:3] > high or last[:3] < low:
        return
    joins = unit.segment is not None and unit.segment.context.joined
    if as_source and unit.segment is not None:
        source = unit.segment.source.strip("\n")
        yield in_numbers(source) if row.citations else source, joins
        return
    for index, box in enumerate(unit.boxes):
        here = (number, *key, index)
        if not box.length or first[:4] > here or last[:4] < here:
            continue
        start = first[4] if first[:4] == here else 0
        end = last[4] if last[:4] == here else box.length
        text = box.text(start, end)
        if text:
            yield text, joins
            joins = False


# Whole messages


def plain_text(row: MessageRow) -> str:
    """Return a message as it is read: no markup, `[1]` for the first source, and the list of them."""
    text = row.text.strip()
    if row.role != "assistant" or len(text) > MOST_FORMATTED:
        return markdown_text(row)
    lines = [f"[{number}] {_plain_source(source)}" for number, source in _numbered(row)]
    return "\n\n".join([plain_of(text, citations=row.citations), *_headed(lines)])


def markdown_text(row: MessageRow) -> str:
    """Return the Markdown of a message with `[1]` for its first source, and the list of them."""
    return "\n\n".join([source_text(row), *_headed(markdown_sources(_listed(row)))])


def html_text(row: MessageRow) -> str:
    """Return a message as HTML with the list of its sources; "" for one that is copied as text alone."""
    text = row.text.strip()
    if row.role != "assistant" or len(text) > MOST_FORMATTED:
        return ""
    sources = _listed(row)
    return html_of(text, citations=row.citations) + (html_sources(sources, "") if sources else "")


def source_text(row: MessageRow) -> str:
    """Return the Markdown of a message alone, with `[1]` for its first source."""
    text = row.text.strip()
    return in_numbers(text) if row.citations else text


def markdown_sources(sources: Iterable[RowSource]) -> list[str]:
    """Return the lines of a numbered list of sources, in Markdown."""
    return [f"{number}. {_link(source)}" for number, source in enumerate(sources, start=1)]


def html_sources(sources: Iterable[RowSource], anchor: str) -> str:
    """Return a numbered list of sources; the id of each is `anchor` and its number."""
    items = []
    for number, source in enumerate(sources, start=1):
        words = escape(source.title or source.host or source.url)
        if is_safe_link(source.url):
            words = f'<a href="{escape(source.url, quote=True)}" rel="noreferrer nofollow">{words}</a>'
        items.append(f'<li id="{anchor}{number}">{words} <span class="note">{escape(source.host)}</span></li>')
    return f'<div class="note">{escape(tr("Sources"))}<ol>{"".join(items)}</ol></div>'


def _listed(row: MessageRow) -> Sequence[RowSource]:
    return [source for source in row.sources if source.passage is None] if row.citations else ()


def _numbered(row: MessageRow) -> Iterable[tuple[int, RowSource]]:
    return enumerate(_listed(row), start=1)


def _headed(lines: list[str]) -> list[str]:
    return [tr("Sources:"), "\n".join(lines)] if lines else []


def _plain_source(source: RowSource) -> str:
    title = _one_line(source.title)
    return f"{title} {source.url}".strip() if is_safe_link(source.url) else title or source.url


def _link(source: RowSource) -> str:
    """A source as a link, if it leads to where a browser or a mail program goes; other addresses stay text."""
    if is_safe_link(source.url):
        return f"[{_link_text(source)}](<{_link_target(source.url)}>)"
    return _link_text(source)


def _link_text(source: RowSource) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", _one_line(source.title or source.host or source.url))


def _link_target(url: str) -> str:
    return re.sub(r"[<>\s]", lambda found: f"%{ord(found[0]):02X}", url)


def _one_line(text: str) -> str:
    return " ".join(text.split())

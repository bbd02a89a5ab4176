"""A Markdown text that grows, as a list of units: finished ones never change, only the open end is drawn again."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from app.service.http.sanitize import sanitize_text
from app.ui.conversation.boxes import Box, RuleBox
from app.ui.conversation.code_box import CodeBox, CodeGroup
from app.ui.conversation.table_box import TableBox, TableGroup
from app.ui.conversation.text_boxes import ProseBox
from app.ui.conversation.units import THOUGHT, Styles, Unit
from app.ui.kit.markdown.parser import parse, split_footnote
from app.ui.kit.markdown.renderer import Code, Mark, Piece, Prose, Table, write
from app.ui.kit.markdown.scanner import CODE_PART_LINES, Scanner
from app.ui.kit.markdown.segments import Segment
from app.ui.kit.markdown.tail import presentable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.ui.conversation.rows import RowSource

# Text without these continues a paragraph as it is; anything else may change how what is there is read. White space
# of other kinds than the usual two, and control characters, are left to the parser, which knows what it drops.
_PLAIN = re.compile(
    r"[^\n*_`\[\]<>!~^|$\\&:\0-\x08\x0b-\x1f\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"
)
_UNREAD = re.compile(r"[:&\\]|\]$")  # in the last word: it may go on as a link, an entity, an escape
_DECIDED = 12  # a line that is this long cannot turn into a list, a heading or a table any more
_BELOW = {"list": "item", "quote": "text", "indented": "code"}


class StreamingMarkdown:
    """One text of a message: its answer or its thoughts."""

    def __init__(self, section: int, styles: Styles, *, citations: bool) -> None:
        self.units: list[Unit] = []
        self.citations = citations
        self.sources: tuple[RowSource, ...] = ()
        self.bound: int | None = None
        self.text = ""
        self._taken = 0  # characters of `text` that the scanner has seen
        self.section = section
        self._styles = styles
        self._scanner = Scanner()
        self._closed = 0  # units that never change again
        self._code: dict[int, CodeGroup] = {}
        self._tables: dict[int, TableGroup] = {}
        self._shown_line = ""
        self._references = 0
        self._finished = False

    @property
    def backlog(self) -> int:
        """How many characters still wait to be shown."""
        return len(self.text) - self._taken

    @property
    def is_finished(self) -> bool:
        return self._finished

    # -- taking text --------------------------------------------------------------------------------------------------

    def extend(self, text: str) -> None:
        """Add text to what there is to show; `advance` shows it."""
        self.text += text

    def advance(self, limit: int | None = None) -> None:
        """Show up to `limit` more characters."""
        end = len(self.text) if limit is None else min(len(self.text), self._taken + limit)
        if end <= self._taken:
            return
        chunk = sanitize_text(self.text[self._taken : end])  # `text` stays as it was sent: it is what is copied
        self._taken = end
        if not self._append_plain(chunk):
            self._take(self._scanner.feed(chunk))

    def finish(self) -> None:
        """Show everything and end the text: nothing is held back any more."""
        self.advance()
        if not self._finished:
            self._finished = True
            self._take(self._scanner.finish(), ended=True)

    def _take(self, closed: list[Segment], ended: bool = False) -> None:
        first = max(0, self._closed - 1)
        for segment in closed:
            self._put(self._closed, segment)
            self._closed += 1
        if len(self._scanner.references) != self._references:
            self._references = len(self._scanner.references)
            for unit in self.units:
                if unit.segment is not None and "[" in unit.segment.source:
                    unit.drop()
        line = self._scanner.unfinished_line
        self._shown_line = line if ended else presentable(line, self._scanner.open_kind, self.citations)
        tail = [] if ended else self._scanner.tail(self._shown_line)
        for number, segment in enumerate(tail):
            self._put(self._closed + number, segment)
        del self.units[self._closed + len(tail) :]
        self._join_parts(first)

    def _put(self, index: int, segment: Segment) -> None:
        """Make unit `index` show `segment`, keeping what it shows already when that is the same."""
        if index == len(self.units):
            self.units.append(Unit(self.section, self._build, segment))
            return
        unit = self.units[index]
        old = unit.segment
        unit.segment = segment
        if not unit.is_built or old is None:
            return
        if (
            old.kind == segment.kind == "code"
            and replace(old.context, closed=segment.context.closed) == segment.context
        ):
            box = unit.boxes[0]
            code = segment.code
            if isinstance(box, CodeBox) and code.startswith(box.source):
                if len(code) > len(box.source):
                    end = box.end_rect()
                    box.append(code[len(box.source) :])
                    unit.stale(box.y + end.top() if end is not None else 0.0)
                if segment.context.closed != old.context.closed:
                    unit.stale()
                return
        if (
            old.kind != segment.kind
            or old.context != segment.context
            or old.source.rstrip("\n") != segment.source.rstrip("\n")
        ):
            unit.drop()

    def _append_plain(self, chunk: str) -> bool:
        """Add `chunk` to the open paragraph by cursor when it cannot change how anything is read."""
        line = self._scanner.unfinished_line
        read = line.rstrip()
        if len(line.lstrip()) < _DECIDED or not _PLAIN.fullmatch(line[len(read) :] + chunk):
            return False
        unit = self.units[-1] if len(self.units) == self._closed + 1 else None
        segment = unit.segment if unit is not None else None
        if unit is None or segment is None or segment.kind not in ("text", "list", "quote") or not unit.is_built:
            return False
        box = unit.boxes[-1] if unit.boxes else None
        if not self._shown_line.startswith(read) or _UNREAD.search(line, line.rfind(" ") + 1):
            return False
        patched = self._shown_line != line
        if not isinstance(box, ProseBox) or box.prose.tail is None or box.prose.tail_closed != patched:
            return False
        closed = self._scanner.feed(chunk)
        if closed:  # the line has become so long that it was cut
            self._take(closed)
            return True
        line += chunk
        added = line.rstrip()[len(read) :]
        if patched:  # the marks that close open emphasis stay behind what is added
            closing = self._shown_line[len(read) :]
            source = segment.source[: -len(closing)] + added + closing
            self._shown_line = line.rstrip() + closing
        else:
            source = segment.source + chunk
            self._shown_line = line
        unit.segment = replace(segment, source=source)
        if added:
            end = box.end_rect()
            box.append(added)
            unit.stale(box.y + end.top() - 1 if end is not None else 0.0)
        return True

    def _join_parts(self, first: int) -> None:
        """Tell the parts of long code and tables whether they are the last, and give every unit its air."""
        for index in range(max(0, first), len(self.units)):
            unit = self.units[index]
            gap = self._gap(index)
            if gap is not None and gap != unit.gap:
                unit.gap = gap
                unit.stale()
            if unit.is_built:
                last = not self._goes_on(index)
                for box in unit.boxes:
                    if isinstance(box, (CodeBox, TableBox)) and box.is_last != last and len(unit.boxes) == 1:
                        box.is_last = last
                        unit.stale()

    def _goes_on(self, index: int) -> bool:
        following = self.units[index + 1].segment if index + 1 < len(self.units) else None
        own = self.units[index].segment
        if following is None or own is None or not following.context.joined or following.kind != own.kind:
            return False
        return own.kind == "table" or (own.kind == "code" and following.context.part == own.context.part + 1)

    def _gap(self, index: int) -> int | None:
        segment = self.units[index].segment
        assert segment is not None
        if not segment.context.after:
            return None  # the row puts its own air above the first
        style = self._styles.reading
        after, kind = segment.context.after, segment.kind
        above, below = _BELOW.get(after, after), _BELOW.get(kind, kind)
        if segment.context.joined:
            if kind != "list":
                return 0
            if above == "item" and segment.context.indent and segment.prose.lstrip()[:1] not in "-*+":
                below = "more"
        elif after == kind == "list":
            below = "text"  # another list, not the next item
        return style.gap(above, below)

    # -- building -----------------------------------------------------------------------------------------------------

    def _build(self, unit: Unit) -> list[Box]:
        segment = unit.segment
        assert segment is not None
        if segment.kind == "code":
            return [self._code_box(unit, segment)]
        boxes: list[Box] = []
        for piece in self._pieces(segment):
            box = self._box(unit, segment, piece)
            if box is not None:
                boxes.append(box)
        return boxes

    def _pieces(self, segment: Segment) -> list[Piece]:
        style = self._styles.thought if self.section == THOUGHT else self._styles.reading
        label, source = split_footnote(segment.prose) if segment.kind == "footnote" else ("", segment.prose)
        tokens = parse(source, citations=self.citations, references=self._scanner.references)
        pieces = write(tokens, segment, style, self.bound)
        if label and pieces and isinstance(pieces[0], Prose):
            pieces[0].marks.append(Mark(0, f"{label}."))
        return pieces

    def _box(self, unit: Unit, segment: Segment, piece: Piece) -> Box | None:
        styles = self._styles
        style = styles.thought if self.section == THOUGHT else styles.reading
        if isinstance(piece, Prose):
            return ProseBox(style, piece, self.sources)
        indent = style.indent * piece.indent
        if isinstance(piece, Code):
            group = CodeGroup(piece.language)
            return CodeBox(style, group, piece.text, part=0, first_line=0, last=True, indent=indent)
        if isinstance(piece, Table):
            table_group = self._table_group(unit, segment)
            last = segment.kind != "table" or not self._goes_on(self.units.index(unit))
            return TableBox(styles.table, piece, table_group, self.sources, self.bound, last=last, indent=indent)
        return RuleBox(styles.theme, indent)

    def _code_box(self, unit: Unit, segment: Segment) -> CodeBox:
        index = self.units.index(unit)
        part = segment.context.part
        return CodeBox(
            self._styles.reading,
            self.code_group(index),
            segment.code,
            part=part,
            first_line=part * CODE_PART_LINES,
            last=not self._goes_on(index),
            indent=self._styles.reading.indent * segment.context.indent,
        )

    def code_group(self, index: int) -> CodeGroup:
        """Return what the code block that unit `index` is part of shares."""
        first = self.units[index - self._part(index)].segment
        assert first is not None
        group = self._code.get(first.start)
        if group is None or group.language != first.context.language:  # the word after the fence was still coming
            group = self._code[first.start] = CodeGroup(first.context.language)
        return group

    def _part(self, index: int) -> int:
        segment = self.units[index].segment
        return segment.context.part if segment is not None else 0

    def code_units(self, index: int) -> list[Unit]:
        """Return all parts of the code block that unit `index` is part of."""
        first = index - self._part(index)
        found = [self.units[first]]
        while self._goes_on(first + len(found) - 1):
            found.append(self.units[first + len(found)])
        return found

    def code_text(self, index: int) -> str:
        """Return the whole code of the block that unit `index` is part of, without its fences."""
        parts = self.code_units(index)
        first, last = parts[0].segment, parts[-1].segment
        assert first is not None and last is not None
        source = "".join(part.segment.source for part in parts if part.segment is not None)
        return replace(first, source=source, context=replace(first.context, closed=last.context.closed)).code

    def _table_group(self, unit: Unit, segment: Segment) -> TableGroup:
        """Return what the parts of a table share; the first part is measured even when it is not on screen."""
        if segment.kind != "table":
            return TableGroup()
        index = self.units.index(unit)
        first = index
        while first > 0 and self._goes_on(first - 1):
            first -= 1
        first_segment = self.units[first].segment
        assert first_segment is not None
        group = self._tables.setdefault(first_segment.start, TableGroup())
        if first != index and not group.naturals:
            self._build(self.units[first])
        return group

    def formulas_set(self, formulas: Iterable[str]) -> bool:
        """Some formulas can be drawn now: forget what keeps their places. True when something here does."""
        beginnings = {formula.strip().split("\n", 1)[0][:24] for formula in formulas}
        found = False
        for unit in self.units:
            source = unit.segment.source if unit.segment is not None and unit.is_built else ""
            if any(each in source for each in beginnings):
                unit.drop()
                found = True
        if found:
            self._tables.clear()
        return found

    def restyle(self, styles: Styles) -> None:
        """Take other fonts and colors; the next paint builds what it shows."""
        self._styles = styles
        for unit in self.units:
            unit.drop()
        for group in self._code.values():
            group.sideways.content = 0.0
        self._tables.clear()
        self._join_parts(0)

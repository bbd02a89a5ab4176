"""Cuts a growing Markdown text into segments that can each be parsed alone and never change again.

A whole answer is too much to parse at each repaint, so the scanner reads it line by line and closes a segment at the
first place where Markdown lets it: after a blank line outside a list, at a closing fence, where another kind of block
begins. Long lists, tables and code are cut further, and what the next part needs to know travels in `Context`. The
segments' sources, joined, are the text; the same text gives the same segments however it was split on its way.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from app.ui.kit.markdown.segments import PLAIN, Context, Kind, Segment, cell_count, fence_of, indent_of

CODE_PART_LINES = 60
TABLE_PART_ROWS = 12
LIST_PART_CHARS = 700
TEXT_PART_CHARS = 2400
MAX_LINE_CHARS = 4000  # a longer line is cut at a space; no paragraph that a person reads is this long
DENSE_LINE_CHARS = 420  # a line is cut here when it is little but markup, which takes long to make sense of
_DENSE = 140  # characters of markup in that
WORDLESS_LINE_CHARS = 2000  # and here when it has no spaces: shaping thousands of brackets in a row takes long
MOST_LINKS = 32  # addresses in one line; it is cut where it has more, for each takes as long as a hundred letters
MOST_DOLLARS = 64  # of 32 formulas, each of which takes as long as a line of text
MAX_DATA_CHARS = 352_000  # an image of 256 KB, written as base64
_DATA = re.compile(r"\]\(data:image/\w{3,4};base64,")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*=*")
_ADDRESS = re.compile("://")
_DOLLARS = re.compile(r"\$+")
_MARKUP = re.compile(r"[\[\]*_`^$<>&!|~\\]")

_ITEM = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])(?:([ \t]+)(?=\S)|[ \t]*\r?\n?$)")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})\r?\n?$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t]|\r?\n?$)")
_SETEXT = re.compile(r"^ {0,3}(?:=+|-+)[ \t]*\r?\n?$")
_DELIMITER = re.compile(r"^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?\n?$")
_FOOTNOTE = re.compile(r"^ {0,3}\[\^[^\]\s]{1,40}\]:")
_REFERENCE = re.compile(r"^ {0,3}\[(?!\^)((?:[^\[\]\\]|\\.){1,200})\]:[ \t]*<?([^\s<>]+)>?[ \t]*(?:[\"'(].*)?\r?\n?$")


class Scanner:
    """Reads text in any chunks and hands out segments. `references` collects link definitions by folded label."""

    def __init__(self) -> None:
        self.references: dict[str, str] = {}
        self._line = ""  # the line that has no end yet
        self._lines: list[str] = []  # the open segment; before it has a kind, the blank lines above it
        self._chars = 0
        self._start = 0
        self._kind: Kind | None = None
        self._context = Context()
        self._resume: tuple[Kind, Context] | None = None  # how to go on after a cut in the middle of a block
        self._after = ""
        self._rows = 0
        self._blank = False
        self._fence = ("", 0)
        self._stack: tuple[int, ...] = ()  # columns where the text of the open list items begins
        self._bullet = ""
        self._items = 0
        self._first_number = 1
        self._done: list[Segment] = []

    @property
    def unfinished_line(self) -> str:
        """The text after the last line end."""
        return self._line

    @property
    def open_kind(self) -> Kind | None:
        """The kind of block that the next line may carry on."""
        return self._kind or (self._resume[0] if self._resume else None)

    # -- the three calls ----------------------------------------------------------------------------------------------

    def feed(self, text: str) -> list[Segment]:
        """Take more text; return the segments that it finished, often none."""
        lines = (self._line + text).split("\n")
        self._line = lines.pop()
        for line in lines:
            self._take(self._shortened(line + "\n"))
        self._line = self._shortened(self._line)
        return self._hand_out()

    def tail(self, line: str | None = None) -> list[Segment]:
        """Return what is still open as segments, as if the text ended here. Changes nothing.

        `line` stands in for the line that has no end yet, as `presentable` would have it shown.
        """
        lines = list(self._lines)
        ahead = Scanner.__new__(Scanner)  # `copy` takes ten times as long, and an answer asks at every image
        ahead.__dict__.update(self.__dict__, _lines=lines, _done=[], references=dict(self.references))
        if line is not None:
            ahead.__dict__["_line"] = line
            if self._kind == "text" and not line.strip("|:- \t") and self._lines[-1].lstrip().startswith("|"):
                lines.pop()  # most likely the head of a table whose second line is on its way
        return ahead.finish()

    def finish(self) -> list[Segment]:
        """End the text; return the last segments."""
        if self._line:
            line, self._line = self._line, ""
            self._take(line)
        self._close()
        return self._hand_out()

    def _hand_out(self) -> list[Segment]:
        done, self._done = self._done, []
        return done

    def _shortened(self, line: str) -> str:
        """Take the front of a line without end, part by part, and return the rest that is short enough."""
        while len(line) > (limit := line_limit(line)):
            at = line.rfind(" ", limit // 2, limit) + 1 or limit
            self._take(line[:at])
            if self._kind is not None and self._kind != "code":
                self._close(resume=("text", Context(joined=True)))
            line = line[at:]
        return line

    # -- lines --------------------------------------------------------------------------------------------------------

    def _take(self, line: str) -> None:
        kind = self._kind
        if kind == "code":
            self._scan_code(line)
        elif not line.strip():
            self._scan_blank(line)
        elif kind == "list":
            self._scan_list(line)
        elif kind == "indented":
            self._scan_indented(line)
        elif kind is not None:
            self._scan_text(line)
        elif self._resume is not None:
            self._scan_resumed(line, *self._resume)
        else:
            self._open(line)

    def _scan_blank(self, line: str) -> None:
        self._add(line)
        if self._kind in ("list", "indented"):
            self._blank = True
        elif self._kind is not None:
            self._close()
        elif self._resume is not None and self._resume[0] not in ("list", "indented"):
            self._resume = None  # the block that was cut ends here

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._chars += len(line)

    def _begin(self, kind: Kind, context: Context = PLAIN) -> None:
        self._kind = kind
        self._context = context
        self._resume = None
        self._blank = False
        self._rows = 0

    def _close(self, resume: tuple[Kind, Context] | None = None) -> None:
        """Hand the open lines over as a segment; without `resume` the list around them has ended too."""
        if self._lines:
            source = "".join(self._lines)
            context = replace(self._context, after=self._after)
            self._done.append(Segment(self._kind or "text", self._start, source, context))
            self._after = self._kind or self._after
            self._start += len(source)
            self._lines = []
            self._chars = 0
        self._kind = None
        self._context = PLAIN
        self._resume = resume
        if resume is None:
            self._stack = ()

    def _reopen(self, line: str) -> None:
        """End the open block above `line`, which begins another."""
        self._close()
        self._open(line)

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _open(self, line: str) -> None:
        self._resume = None
        self._stack = ()
        indent = indent_of(line)
        if indent >= 4:
            self._begin("indented")
        elif fence := fence_of(line):
            self._open_code(fence, line, Context(dedent=indent))
            return
        elif _RULE.match(line) or _HEADING.match(line):
            self._begin("rule" if _RULE.match(line) else "heading")
            self._add(line)
            self._close()
            return
        elif item := _ITEM.match(line):
            self._bullet = item[2][-1]
            self._items = 0
            self._first_number = int(item[2][:-1]) if item[2][0].isdigit() else 1
            self._begin("list")
            self._scan_item(line, item)
            return
        elif line.lstrip().startswith(">"):
            self._begin("quote")
        elif _FOOTNOTE.match(line):
            self._begin("footnote")
        else:
            self._begin("text")
            self._record_reference(line)
        self._add(line)

    def _starts_block(self, line: str) -> bool:
        """Tell whether `line` begins another block right under the one that is open."""
        first = line.lstrip()[0]
        if first not in "`~*-_+#>0123456789[" or indent_of(line) >= 4:
            return False
        if first in "`~":
            return fence_of(line) is not None
        if first == ">":
            return self._kind != "quote"
        if first == "[":
            return self._kind == "footnote" and bool(_FOOTNOTE.match(line))
        if _HEADING.match(line) or _RULE.match(line):
            return True
        item = _ITEM.match(line)
        if item is None:
            return False
        # inside a paragraph only a filled bullet or a list that starts at 1 is a list
        return item[3] is not None and (not item[2][0].isdigit() or item[2][:-1] == "1")

    def _scan_text(self, line: str) -> None:
        kind = self._kind
        if kind == "text" and self._in_maths():
            self._add(line)
            return
        if kind == "text" and any(each.strip() for each in self._lines):
            if _SETEXT.match(line) and not self._context.joined:
                self._add(line)
                self._kind = "heading"
                self._close()
                return
            if "|" in self._lines[-1] and _DELIMITER.match(line) and self._begin_table(line):
                return
        if self._starts_block(line):
            self._reopen(line)
            return
        self._add(line)
        if kind == "table":
            self._rows += 1
            if self._rows >= TABLE_PART_ROWS:
                head = self._context.table_head or "".join([each for each in self._lines if each.strip()][:2])
                self._close(resume=("table", Context(joined=True, table_head=head)))
        elif self._chars > TEXT_PART_CHARS:
            self._close(resume=("quote" if kind == "quote" else "text", Context(joined=True)))
        elif kind == "text":
            self._record_reference(line)

    def _in_maths(self) -> bool:
        """Tell whether the open paragraph is a formula on lines of its own that has not ended yet."""
        first = next((line.lstrip() for line in self._lines if line.strip()), "")
        if not first.startswith(("$$", "\\[")) or self._chars > TEXT_PART_CHARS:
            return False
        return ("$$" if first[0] == "$" else "\\]") not in "".join(self._lines).lstrip()[2:]

    def _begin_table(self, delimiter: str) -> bool:
        """Make a table of the last line and `delimiter`, when they have as many cells; what stands above stays."""
        head = self._lines[-1]
        if cell_count(head) != cell_count(delimiter):
            return False
        above = self._lines[:-1]
        if any(line.strip() for line in above):
            self._lines = above
            self._close()
            self._add(head)
        self._begin("table", self._context)
        self._add(delimiter)
        return True

    def _scan_indented(self, line: str) -> None:
        if indent_of(line) < 4:
            self._reopen(line)
            return
        self._add(line)
        self._blank = False
        if len(self._lines) >= CODE_PART_LINES:
            self._close(resume=("indented", Context(joined=True)))

    def _scan_resumed(self, line: str, kind: Kind, context: Context) -> None:
        if kind == "list":
            self._resume_list(line)
            return
        if kind == "indented":
            goes_on = indent_of(line) >= 4
        elif kind == "quote":
            goes_on = line.lstrip().startswith(">")
        else:
            goes_on = not self._starts_block(line)
        if goes_on:
            self._begin(kind, context)
            self._rows = 1
            self._add(line)
        else:
            self._open(line)

    def _record_reference(self, line: str) -> None:
        if line.lstrip().startswith("["):
            found = _REFERENCE.match(line)
            if found:
                self.references.setdefault(" ".join(found[1].split()).casefold(), found[2])

    # -- code ---------------------------------------------------------------------------------------------------------

    def _open_code(self, fence: re.Match[str], line: str, context: Context) -> None:
        words = fence[3].split()
        self._begin("code", replace(context, language=words[0] if words else ""))
        self._fence = (fence[2][0], len(fence[2]))
        self._add(line)

    def _scan_code(self, line: str) -> None:
        self._add(line)
        context = self._context
        mark, length = self._fence
        stripped = line.strip()
        if stripped.startswith(mark * length) and not stripped.strip(mark) and indent_of(line) < context.dedent + 4:
            self._context = replace(context, closed=True)
            self._close(resume=("list", PLAIN) if self._stack else None)
            return
        self._rows += 1
        if self._rows >= CODE_PART_LINES:
            self._close(resume=("list", PLAIN))  # keeps the columns of the list around the code
            self._begin("code", replace(context, joined=True, part=context.part + 1))

    # -- lists --------------------------------------------------------------------------------------------------------

    def _scan_item(self, line: str, item: re.Match[str]) -> None:
        """Add a line that begins an item, and remember where its text begins."""
        indent = indent_of(line)
        self._stack = tuple(column for column in self._stack if column <= indent)
        if not self._stack:
            self._items += 1
        space = len(item[3]) if item[3] is not None else 1
        self._stack += (indent + len(item[2]) + (space if space <= 4 else 1),)
        self._blank = False
        fence = fence_of(line[item.end() :])
        if fence is None:
            self._add(line)
            return
        # "- ```" is an item that holds nothing but code
        if self._lines:
            self._close(resume=("list", PLAIN))
        self._open_code(fence, line, Context(dedent=self._stack[-1], indent=len(self._stack)))

    def _scan_list(self, line: str) -> None:
        indent = indent_of(line)
        item = _ITEM.match(line)
        outside = indent < self._stack[0]
        if outside and (_RULE.match(line) or (item is None and (self._blank or self._starts_block(line)))):
            self._reopen(line)
            return
        is_item = item is not None and indent < self._stack[-1] + 4
        if item is not None and is_item and outside and item[2][-1] != self._bullet:
            self._reopen(line)
            return
        full = self._chars > LIST_PART_CHARS * (1 if is_item else 4)
        if full or fence_of(line) or (is_item and indent < self._context.dedent):
            self._close(resume=("list", PLAIN))
            self._resume_list(line)
        elif item is not None and is_item:
            self._scan_item(line, item)
        else:
            self._blank = False
            self._add(line)

    def _resume_list(self, line: str) -> None:
        """Carry on a list that was cut before `line`, or find that it has ended."""
        indent = indent_of(line)
        item = _ITEM.match(line)
        inside = tuple(column for column in self._stack if column <= indent)
        if item is not None and not inside and item[2][-1] == self._bullet and not _RULE.match(line):
            number = self._first_number + self._items if item[2][0].isdigit() else None
            self._begin("list", Context(joined=True, number=number))
            self._stack = ()
            self._scan_item(line, item)
            return
        fence = fence_of(line)
        if not inside:
            self._open(line)
        elif fence:
            self._stack = inside
            self._open_code(fence, line, Context(dedent=indent, indent=len(inside)))
        else:
            self._begin("list", Context(joined=True, dedent=inside[-1], indent=len(inside)))
            self._stack = inside
            if item is not None:
                self._scan_item(line, item)
            else:
                self._add(line)


def line_limit(line: str) -> int:
    """Return where `line` is cut if it is longer than that; the same for a line however much more of it comes.

    An image that the line carries as a `data:` address stays in one piece.
    """
    data = _DATA.search(line, 0, MAX_LINE_CHARS) if len(line) > MAX_LINE_CHARS else None
    if data is not None:
        end = _BASE64.match(line, data.end())
        reach = end.end() if end is not None else data.end()
        if reach < MAX_DATA_CHARS:
            return max(MAX_LINE_CHARS, reach + 200)
    links, formulas = _count_limit(line, _ADDRESS, MOST_LINKS), _count_limit(line, _DOLLARS, MOST_DOLLARS)
    return min(_dense_limit(line), _wordless_limit(line), links, formulas)


def _dense_limit(line: str) -> int:
    if len(line) > DENSE_LINE_CHARS and len(_MARKUP.findall(line, 0, DENSE_LINE_CHARS)) >= _DENSE:
        return DENSE_LINE_CHARS
    return MAX_LINE_CHARS


def _wordless_limit(line: str) -> int:
    if len(line) > WORDLESS_LINE_CHARS and " " not in line[WORDLESS_LINE_CHARS // 2 : WORDLESS_LINE_CHARS]:
        return WORDLESS_LINE_CHARS
    return MAX_LINE_CHARS


def _count_limit(line: str, mark: re.Pattern[str], most: int) -> int:
    """Return where the first `mark` is that is one too many."""
    found = next(islice(mark.finditer(line, 0, MAX_LINE_CHARS), most, None), None)
    return MAX_LINE_CHARS if found is None else found.start()

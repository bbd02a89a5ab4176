"""HTML as text: what is shown, one paragraph a line, under its headings; the cells of a table row between tabs.

nh3 parses as browsers do, in a language that holds memory safe, and leaves only the tags that matter here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from app.documents.reading import MAX_TEXT_CHARS, Notes, Reason, Section, Unreadable, heading_path, one_line
from app.text_encoding import NotText, decode_text

_SILENT = frozenset(("script", "style", "template", "noscript", "svg", "math", "iframe", "noframes", "noembed"))
_BLOCKS = frozenset(
    """
    address article aside blockquote br caption dd details div dl dt fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody td tfoot th thead title tr ul
    """.split()  # noqa: SIM905 - a line for each name would be a page
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# nh3 takes elements that are named like one of SVG or MathML for an attack, and drops what they hold.
_OF_HTML = frozenset(
    """
    a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
    button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
    fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe
    image img input ins kbd keygen label legend li link listing main map mark marquee math menu menuitem meta meter nav
    nobr noembed noframes noscript object ol optgroup option output p param picture plaintext pre progress q rb rp rt
    rtc ruby s samp script search section select slot small source span strike strong style sub summary sup svg table
    tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp
    """.split()  # noqa: SIM905 - a line for each name would be a page
)
_UNKNOWN_TAG = re.compile(rf"<(/?)(?!(?:{'|'.join(sorted(_OF_HTML))})[\s/>])([a-z])", re.IGNORECASE)
_COLSPAN = {"td": {"colspan"}, "th": {"colspan"}}
_TAG = re.compile(r'<(/?)([a-z0-9]+)(?: colspan="(\d{1,4})")?[^>]*>')
_MAX_COLSPAN = 100
_MAX_CELL_LINES = 5  # a row with more in a cell lays out a page
_MAX_TITLE_CHARS = 1000
_IS_XML = re.compile(r"\s*(?:<\?xml|<html[^>]{0,500}xmlns)", re.IGNORECASE)
_CLOSED_AT_ONCE = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|template|svg|math|div|p|span|a|td|th|li)\b([^<>]{0,2000})/>",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"<math(?:\s[^<>]*)?>", re.IGNORECASE)
_FORMULA_END = re.compile(r"</math\s*>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"""\salttext\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_TEX = re.compile(r"<annotation\s[^<>]*application/x-tex[^<>]*>([^<]*)", re.IGNORECASE)
_ANNOTATION = re.compile("<annotation", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")


class _Row:
    """An open row of a table. `cells` holds the lines of each cell."""

    def __init__(self) -> None:
        self.cells: list[list[str]] = []
        self.is_layout = False
        self._covered = 0  # columns that the last cell covers beside its own

    def begin_cell(self, columns: int) -> None:
        self.cells += [[] for _ in range(self._covered + 1)]
        self._covered = min(max(1, columns), _MAX_COLSPAN) - 1

    def lines(self) -> list[str]:
        """Return the row as one line of cells; what lays out a page as its lines."""
        if self.is_layout or len(self.cells) < 2 or max(map(len, self.cells)) > _MAX_CELL_LINES:
            return [line for cell in self.cells for line in cell]
        line = "\t".join(" ".join(cell) for cell in self.cells).rstrip("\t")
        return [line] if line else []


class _Text:
    def __init__(self) -> None:
        self.done: list[Section] = []
        self.title = ""
        self._levels: dict[int, str] = {}
        self._heading = ""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._rows: list[_Row] = []  # the innermost last
        self._first = self._place = 1
        self._chars = 0
        self._is_title = False

    def start(self, tag: str, columns: int) -> None:
        self._end_line()
        if tag == "title":
            self._is_title = True
        elif tag == "tr":
            if self._rows:
                self._rows[-1].is_layout = True
            self._rows.append(_Row())
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].begin_cell(columns)
        elif tag in _HEADINGS:
            self._end_rows()
            self.end_section()

    def end(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._heading = heading_path(self._levels, _HEADINGS[tag], "".join(self._line))
        self._end_line()
        if tag == "title":
            self._is_title = False
        elif tag == "tr" and self._rows:
            self._take(self._rows.pop().lines())

    def text(self, data: str) -> None:
        if self._is_title:
            self.title += data[: _MAX_TITLE_CHARS - len(self.title)]
            return
        self._line.append(data)
        self._chars += len(data)
        if self._chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)

    def _end_line(self) -> None:
        if self._line:
            text = one_line("".join(self._line))
            self._line.clear()
            if text:
                self._take([text])

    def _take(self, lines: list[str]) -> None:
        if self._rows and self._rows[-1].cells:
            self._rows[-1].cells[-1] += lines
            return
        self._lines += lines
        self._place += len(lines)

    def _end_rows(self) -> None:
        rows, self._rows = self._rows, []
        for row in rows:
            row.is_layout = True
            self._take(row.lines())

    def take(self) -> list[Section]:
        """Return what is complete, once; the page's title is the heading of what stands under none."""
        taken, self.done = self.done, []
        title = one_line(self.title)
        return [each if each.heading or not title else Section(each.text, each.place, title) for each in taken]

    def finish(self) -> None:
        """Close everything that is still open."""
        self._end_line()
        self._end_rows()
        self.end_section()

    def end_section(self) -> None:
        """Close what was collected under the last heading."""
        self._end_line()
        if self._lines:
            self.done.append(Section("\n".join(self._lines), self._first, self._heading))
        self._lines = []
        self._first = self._place


def read_html(text: str) -> Iterator[Section]:
    """Give what a page shows; each paragraph is a place. Raises `Unreadable`."""
    import nh3

    if _IS_XML.match(text[:1000]):
        text = _CLOSED_AT_ONCE.sub(r"<\1\2></\1>", text)  # HTML knows no element that is closed at once
    shown = nh3.clean(
        _UNKNOWN_TAG.sub(r"<\1x-\2", "".join(_with_formulas(text))),
        tags=set(_BLOCKS),
        clean_content_tags=set(_SILENT),
        attributes=_COLSPAN,
        link_rel=None,
        url_schemes=set(),
    )
    parser, at = _Text(), 0
    for found in _TAG.finditer(shown):
        if found.start() > at:
            parser.text(html.unescape(shown[at : found.start()]))
        at = found.end()
        if found[1]:
            parser.end(found[2])
        else:
            parser.start(found[2], int(found[3] or 1))
        if parser.done:
            yield from parser.take()
    parser.text(html.unescape(shown[at:]))
    parser.finish()
    yield from parser.take()


def _with_formulas(text: str) -> Iterator[str]:
    """Give a page with each formula as its TeX, where the page has it, else as its signs: nh3 drops MathML."""
    at = 0
    while (begin := _FORMULA.search(text, at)) and (end := _FORMULA_END.search(text, begin.end())):
        yield text[at : begin.start()]
        inner = text[begin.end() : end.start()]
        note = _ANNOTATION.search(inner)
        if tex := _TEX.search(inner):
            shown = tex[1]
        elif alternative := _ALTERNATIVE.search(begin[0]):
            shown = (alternative[1] or alternative[2] or "").replace("<", "&lt;")
        else:
            shown = _ANY_TAG.sub("", inner[: note.start()] if note else inner)
        yield shown
        at = end.end()
    yield text[at:]


def html_text(data: bytes, notes: Notes) -> str:
    """Decode a page. Raises `Unreadable`."""
    try:
        text, found = decode_text(data)
    except NotText:
        raise Unreadable(Reason.KIND) from None
    notes.take(found)
    return text

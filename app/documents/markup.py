"""HTML as text: what is shown, one paragraph a line, under its headings."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from app.documents.plain_text import encoding_of
from app.documents.reading import MAX_TEXT_CHARS, Reason, Section, Unreadable, heading_path, one_line

_SILENT = frozenset(("script", "style", "template", "noscript", "svg", "math", "head"))
_BLOCKS = frozenset(
    """
    address article aside blockquote body br caption dd details div dl dt fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hr li main nav ol option p pre section summary table tbody td tfoot th thead title tr ul
    """.split()  # noqa: SIM905 - a line for each name would be a page
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PIECE_CHARS = 65_536


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.done: list[Section] = []
        self.title = ""
        self._levels: dict[int, str] = {}
        self._heading = ""
        self._lines: list[str] = []
        self._line: list[str] = []
        self._first = self._place = 1
        self._silent = 0
        self._tag_of_heading = ""
        self._in_title = False
        self._chars = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = True
        if tag in _SILENT:
            self._silent += 1
        elif tag == "body":
            self._silent = 0  # a head that was never closed
        if tag in ("td", "th") and self._line:
            self._line.append("\t")
        elif tag in _BLOCKS:
            self._end_line()
        if tag in _HEADINGS:
            self.end_section()
            self._tag_of_heading = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag == self._tag_of_heading:
            self._heading = heading_path(self._levels, _HEADINGS[tag], "".join(self._line))
            self._tag_of_heading = ""
        if tag in _BLOCKS and tag not in ("td", "th"):
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data[:1000]
        elif not self._silent:
            self._line.append(data)
            self._chars += len(data)
            if self._chars > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)

    def _end_line(self) -> None:
        text = "\t".join(filter(None, map(one_line, "".join(self._line).split("\t"))))
        self._line.clear()
        if text:
            self._lines.append(text)
            self._place += 1

    def take(self) -> list[Section]:
        """Return what is complete, once; the page's title is the heading of what stands under none."""
        taken, self.done = self.done, []
        title = one_line(self.title)
        return [each if each.heading or not title else Section(each.text, each.place, title) for each in taken]

    def end_section(self) -> None:
        """Close what was collected under the last heading."""
        self._end_line()
        if self._lines:
            self.done.append(Section("\n".join(self._lines), self._first, self._heading))
        self._lines = []
        self._first = self._place


def read_html(text: str) -> Iterator[Section]:
    """Give what a page shows; each paragraph is a place. Raises `Unreadable`."""
    parser = _Text()
    for start in range(0, len(text), _PIECE_CHARS):
        parser.feed(text[start : start + _PIECE_CHARS])
        yield from parser.take()
    parser.close()
    parser.end_section()
    yield from parser.take()


def html_text(data: bytes) -> str:
    """Decode a page by its mark, by what it says of itself, or as UTF-8. Raises `Unreadable`."""
    encoding, mark = encoding_of(data[:8192])
    head = data[:2048].lower()
    at = head.find(b"charset=")
    if not mark and at >= 0:
        said = head[at + 8 : at + 48].strip(b"\"' ").split(b'"')[0].split(b"'")[0].split(b";")[0].split(b">")[0]
        try:
            return data.decode(said.decode("ascii").strip(" /"), "replace")
        except (LookupError, UnicodeDecodeError, ValueError):
            pass
    return data[mark:].decode(encoding, "replace")

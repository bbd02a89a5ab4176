"""Markdown as text to be read: without its signs, with bullets, numbers, and cells of tables apart."""

from __future__ import annotations

from html.parser import HTMLParser

from app.ui.kit.markdown.html import html_of

_BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "ul", "ol", "table", "hr", "section"}


def plain_of(source: str, *, citations: bool = False) -> str:
    """Return a message's Markdown as plain text. A mark of a source is its number: `[1]`."""
    reader = _Reader()
    reader.feed(html_of(source, citations=citations))
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Reads our own HTML, which is well formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._numbers: list[int | None] = []  # of each open list: its next number, None for bullets
        self._in_code = False
        self._cells = 0
        self._link = ("", 0)  # its address, and where in the parts its text begins

    def text(self) -> str:
        lines = "".join(self._parts).split("\n")
        return "\n".join(line.rstrip() for line in lines).strip("\n")

    def _break(self, lines: int) -> None:
        """End the line, and leave `lines - 1` of them empty."""
        text = "".join(self._parts[-3:])
        there = len(text) - len(text.rstrip("\n"))
        if self._parts and lines > there:
            self._parts.append("\n" * (lines - there))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        in_list = bool(self._numbers)
        if tag in ("ul", "ol"):
            start = dict(attrs).get("start")
            self._break(1 if in_list else 2)
            self._numbers.append(None if tag == "ul" else int(start) if start else 1)
        elif tag == "li" and in_list:
            number = self._numbers[-1]
            self._break(1)
            self._parts.append("  " * (len(self._numbers) - 1) + ("• " if number is None else f"{number}. "))
            self._numbers[-1] = None if number is None else number + 1
        elif tag in ("th", "td"):
            if self._cells:
                self._parts.append("\t")
            self._cells += 1
        elif tag == "tr":
            self._break(1)
            self._cells = 0
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _BLOCKS and not (in_list and self._begins_item()):
            self._break(1 if in_list else 2)
        if tag == "pre":
            self._in_code = True
        if tag == "a":
            self._link = dict(attrs).get("href") or "", len(self._parts)

    def _begins_item(self) -> bool:
        return bool(self._parts) and self._parts[-1].endswith(("• ", ". "))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("ul", "ol") and self._numbers:
            self._numbers.pop()
        if tag == "pre":
            self._in_code = False
        if tag == "a":
            address, begin = self._link
            words = "".join(self._parts[begin:]).strip()
            if not address.startswith("#") and words not in (address, address.removeprefix("mailto:")):
                self._parts.append(f" ({address})")
        if tag in _BLOCKS:
            self._break(1 if self._numbers else 2)

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self._parts.append(data)
        else:
            text = data.replace("\n", " ")
            text = text.lstrip() if not self._parts or self._parts[-1][-1] in "\n\t " else text
            if text and not (data.isspace() and "\n" in data):
                self._parts.append(text)

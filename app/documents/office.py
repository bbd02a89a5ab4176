"""Word, PowerPoint, Excel, OpenDocument and EPUB: their text out of the XML inside, in the order of reading."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from app.documents.archives import Archive, joined
from app.documents.markup import html_text, read_html
from app.documents.reading import (
    MAX_PLACES,
    MAX_TEXT_CHARS,
    Reason,
    Section,
    Unreadable,
    heading_path,
    one_line,
    tidy,
)

_HEADING_STYLE = re.compile(r"(?:heading|title|überschrift|titre|título|titolo)\s*(\d?)", re.IGNORECASE)
MAX_COLUMNS = 16_384
_DATES = frozenset((14, 15, 16, 17, 22, 27, 30, 36, 50, 57))
_TIMES = frozenset((18, 19, 20, 21, 45, 46, 47))
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')


class _Paragraphs:
    """Collects paragraphs under their headings; cells of one row stand in one line."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self._levels: dict[int, str] = {}
        self._heading = ""
        self._lines: list[str] = []
        self._first = self._place = 1
        self._text: list[str] = []
        self._row: list[str] | None = None
        self._chars = 0

    def add(self, text: str) -> None:
        self._text.append(text)
        self._chars += len(text)
        if self._chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)

    def end_paragraph(self, level: int = 0) -> None:
        text = one_line("".join(self._text))
        self._text.clear()
        if self._row is not None:
            self._row[-1:] = [f"{self._row[-1]} {text}".strip()] if self._row else [text]
            return
        if level and text:
            self._close()
            self._heading = heading_path(self._levels, level, text)
        if text:
            self._lines.append(text)
            self._place += 1

    def begin_row(self) -> None:
        self._row = []

    def begin_cell(self) -> None:
        if self._row is not None:
            self._row.append("")

    def end_row(self) -> None:
        row, self._row = self._row, None
        text = "\t".join(row or ()).strip()
        if text:
            self._lines.append(text)
            self._place += 1

    def finish(self) -> list[Section]:
        self._close()
        return self.sections

    def _close(self) -> None:
        if self._lines:
            self.sections.append(Section("\n".join(self._lines), self._first, self._heading))
        self._lines = []
        self._first = self._place


def read_docx(archive: Archive) -> Iterator[Section]:
    """Give a Word document; each paragraph is a place. Footnotes come last."""
    named = (name for kind, name in archive.relations("").values() if kind == "officeDocument")
    main = next(named, "word/document.xml")
    if main not in archive.names:
        raise Unreadable(Reason.KIND)
    parts = archive.relations(main).values()
    levels: dict[str, int] = {}
    for kind, name in parts:
        if kind == "styles" and name in archive.names:
            levels = _heading_styles(archive, name)
    paragraphs = _Paragraphs()
    state = {"level": 0, "fallback": 0, "text": 0}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "p":
            state["level"] = 0
        elif tag == "pStyle":
            state["level"] = levels.get(attributes.get("val", ""), 0)
        elif tag == "t":
            state["text"] = 1
        elif tag in ("tab", "br", "cr"):
            paragraphs.add(" ")
        elif tag == "Fallback":  # the same once more, for older programs
            state["fallback"] += 1
        elif tag == "tr":
            paragraphs.begin_row()
        elif tag == "tc":
            paragraphs.begin_cell()

    def end(tag: str) -> None:
        if tag == "t":
            state["text"] = 0
        elif tag == "p":
            paragraphs.end_paragraph(state["level"])
        elif tag == "Fallback":
            state["fallback"] -= 1
        elif tag == "tr":
            paragraphs.end_row()

    def text(data: str) -> None:
        if state["text"] and not state["fallback"]:
            paragraphs.add(data)

    for name in (main, *(name for kind, name in parts if kind in ("footnotes", "endnotes"))):
        if name in archive.names:
            archive.parse(name, start, end, text)
    yield from paragraphs.finish()


def _heading_styles(archive: Archive, name: str) -> dict[str, int]:
    found: dict[str, int] = {}
    current = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal current
        if tag == "style":
            current = attributes.get("styleId", "")
        elif tag == "name" and (match := _HEADING_STYLE.match(attributes.get("val", ""))):
            found[current] = int(match[1] or 1) or 1
        elif tag == "outlineLvl" and attributes.get("val", "9") in "012345678":
            found[current] = int(attributes["val"]) + 1

    archive.parse(name, start, _nothing, _nothing)
    return found


def read_odt(archive: Archive) -> Iterator[Section]:
    """Give an OpenDocument text; each paragraph is a place."""
    if "content.xml" not in archive.names:
        raise Unreadable(Reason.KIND)
    if "META-INF/manifest.xml" in archive.names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable(Reason.PASSWORD)
    paragraphs = _Paragraphs()
    state = {"level": 0, "open": 0, "silent": 0}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag in ("p", "h"):
            state["open"] += 1
            level = attributes.get("outline-level", "1")
            state["level"] = int(level) if tag == "h" and level in "123456789" else 0
        elif tag in ("s", "tab", "line-break"):
            paragraphs.add(" ")
        elif tag in ("tracked-changes", "annotation"):
            state["silent"] += 1
        elif tag == "table-row":
            paragraphs.begin_row()
        elif tag == "table-cell":
            paragraphs.begin_cell()

    def end(tag: str) -> None:
        if tag in ("p", "h"):
            state["open"] -= 1
            paragraphs.end_paragraph(state["level"] if tag == "h" else 0)
        elif tag in ("tracked-changes", "annotation"):
            state["silent"] -= 1
        elif tag == "table-row":
            paragraphs.end_row()

    def text(data: str) -> None:
        if state["open"] > 0 and not state["silent"]:
            paragraphs.add(data)

    archive.parse("content.xml", start, end, text)
    yield from paragraphs.finish()


def read_pptx(archive: Archive) -> Iterator[Section]:
    """Give a presentation slide by slide, each with its notes."""
    main = "ppt/presentation.xml"
    if main not in archive.names:
        raise Unreadable(Reason.KIND)
    order: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "sldId":
            order.append(attributes.get("relation", ""))

    archive.parse(main, start, _nothing, _nothing)
    relations = archive.relations(main)
    for number, relation in enumerate(order[:MAX_PLACES], start=1):
        name = relations.get(relation, ("", ""))[1]
        if name not in archive.names:
            continue
        title, lines = _slide(archive, name)
        for kind, notes in archive.relations(name).values():
            if kind == "notesSlide" and notes in archive.names:
                lines += [line for line in _slide(archive, notes)[1] if not line.isdigit()]
        if lines:
            yield Section("\n".join(lines), number, title, counts=False)


def _slide(archive: Archive, name: str) -> tuple[str, list[str]]:
    lines: list[str] = []
    line: list[str] = []
    state = {"title": "", "is_title": "", "text": ""}

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "sp":
            state["is_title"] = ""
        elif tag == "ph" and attributes.get("type") in ("title", "ctrTitle"):
            state["is_title"] = "1"
        elif tag == "t":
            state["text"] = "1"
        elif tag == "br":
            line.append(" ")

    def end(tag: str) -> None:
        if tag == "t":
            state["text"] = ""
        elif tag == "p":
            text = one_line("".join(line))
            line.clear()
            if text:
                lines.append(text)
                if state["is_title"]:
                    state["title"] = f"{state['title']} {text}".strip()

    archive.parse(name, start, end, lambda data: line.append(data) if state["text"] else None)
    return state["title"], lines


def read_xlsx(archive: Archive) -> Iterator[Section]:
    """Give a workbook sheet by sheet: cells between tabs, each row a place, the sheet's name as heading."""
    main = "xl/workbook.xml"
    if main not in archive.names:
        raise Unreadable(Reason.KIND)
    sheets: list[tuple[str, str]] = []
    since_1904 = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal since_1904
        if tag == "sheet":
            sheets.append((attributes.get("name", ""), attributes.get("relation", "")))
        elif tag == "workbookPr":
            since_1904 = attributes.get("date1904") in ("1", "true")

    archive.parse(main, start, _nothing, _nothing)
    relations = archive.relations(main)
    strings: list[str] = []
    formats: list[str] = []
    for kind, name in relations.values():
        if kind == "sharedStrings" and name in archive.names:
            strings = _shared_strings(archive, name)
        elif kind == "styles" and name in archive.names:
            formats = _cell_formats(archive, name)
    for title, relation in sheets[:MAX_PLACES]:
        name = relations.get(relation, ("", ""))[1]
        if name in archive.names:
            yield from _sheet(archive, name, one_line(title), strings, formats, since_1904)


def _shared_strings(archive: Archive, name: str) -> list[str]:
    found: list[str] = []
    text: list[str] = []
    state = {"open": 0, "chars": 0}

    def start(tag: str, _: dict[str, str]) -> None:
        state["open"] += tag == "t"

    def end(tag: str) -> None:
        state["open"] -= tag == "t"
        if tag == "si":
            found.append(one_line("".join(text)))
            text.clear()

    def more(data: str) -> None:
        if state["open"]:
            text.append(data)
            state["chars"] += len(data)
            if state["chars"] > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)

    archive.parse(name, start, end, more)
    return found


def _cell_formats(archive: Archive, name: str) -> list[str]:
    """Return for each cell style whether its numbers are a "date", a "time" or ""."""
    own: dict[int, str] = {}
    found: list[str] = []
    inside = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        number = int(text) if (text := attributes.get("numFmtId", "")).isdigit() else 0
        if tag == "numFmt":
            code = _QUOTED.sub("", attributes.get("formatCode", "")).lower()
            own[number] = "date" if "y" in code or "d" in code else "time" if "h" in code or "ss" in code else ""
        elif tag == "cellXfs":
            inside = True
        elif tag == "xf" and inside:
            known = "date" if number in _DATES else "time" if number in _TIMES else ""
            found.append(own.get(number, known))

    def end(tag: str) -> None:
        nonlocal inside
        inside = inside and tag != "cellXfs"

    archive.parse(name, start, end, _nothing)
    return found


def _sheet(
    archive: Archive, name: str, title: str, strings: list[str], formats: list[str], since_1904: bool
) -> list[Section]:
    sections: list[Section] = []
    lines: list[str] = []
    cells: list[str] = []
    value: list[str] = []
    state = {"first": 1, "row": 0, "chars": 0}
    cell = {"type": "", "style": "", "open": ""}

    def close() -> None:
        if lines:
            sections.append(Section("\n".join(lines), state["first"], title))
        lines.clear()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "row":
            said = attributes.get("r", "")
            row = int(said) if said.isdecimal() and len(said) < 8 else state["row"] + 1
            if row != state["row"] + 1 or not lines:
                close()
                state["first"] = row
            state["row"] = row
        elif tag == "c":
            cell.update(type=attributes.get("t", "n"), style=attributes.get("s", "0"))
            value.clear()
        elif tag in ("v", "t"):
            cell["open"] = "1"

    def end(tag: str) -> None:
        if tag in ("v", "t"):
            cell["open"] = ""
        elif tag == "c" and len(cells) < MAX_COLUMNS:
            style = int(cell["style"]) if cell["style"].isdecimal() else 0
            form = formats[style] if style < len(formats) else ""
            cells.append(_cell("".join(value), cell["type"], form, strings, since_1904))
            state["chars"] += len(cells[-1])
            if state["chars"] > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)
        elif tag == "row":
            text = "\t".join(cells).strip()
            cells.clear()
            if text:
                lines.append(text)
            else:
                close()

    archive.parse(name, start, end, lambda data: value.append(data) if cell["open"] else None)
    close()
    return sections


def _cell(value: str, kind: str, form: str, strings: list[str], since_1904: bool) -> str:
    if kind == "s":
        return strings[int(value)] if value.isdecimal() and int(value) < len(strings) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if form and value:
        try:
            began = datetime.datetime(1904, 1, 1) if since_1904 else datetime.datetime(1899, 12, 30)  # noqa: DTZ001
            moment = began + datetime.timedelta(days=float(value))
        except (ValueError, OverflowError):
            return one_line(value)
        moment = (moment + datetime.timedelta(milliseconds=500)).replace(microsecond=0)
        if form == "time":
            return f"{moment:%H:%M:%S}"
        return f"{moment:%Y-%m-%d}" if not (moment.hour or moment.minute) else f"{moment:%Y-%m-%d %H:%M}"
    return tidy(value).strip()


def read_epub(archive: Archive) -> Iterator[Section]:
    """Give a book chapter by chapter, in its order of reading."""
    container = "META-INF/container.xml"
    if container not in archive.names:
        raise Unreadable(Reason.KIND)
    if "META-INF/encryption.xml" in archive.names and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
        locked = b"adobe.com/adept" in archive.read("META-INF/encryption.xml") or "META-INF/rights.xml" in archive.names
        if locked:  # fonts alone are often made unreadable, and nobody reads those
            raise Unreadable(Reason.PASSWORD)
    packages: list[str] = []

    def find_package(tag: str, attributes: dict[str, str]) -> None:
        if tag == "rootfile":
            packages.append(attributes.get("full-path", ""))

    archive.parse(container, find_package, _nothing, _nothing)
    if not packages or packages[0] not in archive.names:
        raise Unreadable(Reason.DAMAGED)
    folder = packages[0].rpartition("/")[0]
    items: dict[str, str] = {}
    spine: list[str] = []

    def read_package(tag: str, attributes: dict[str, str]) -> None:
        if tag == "item" and "html" in attributes.get("media-type", ""):
            items[attributes.get("id", "")] = joined(folder, attributes.get("href", ""))
        elif tag == "itemref":
            spine.append(attributes.get("idref", ""))

    archive.parse(packages[0], read_package, _nothing, _nothing)
    chars = 0
    for number, item in enumerate(spine[:MAX_PLACES], start=1):
        name = items.get(item, "")
        if name not in archive.names:
            continue
        for section in read_html(html_text(archive.read(name))):
            chars += len(section.text)
            if chars > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)
            yield Section(section.text, number, section.heading, counts=False)


def _nothing(*_: str) -> None:
    pass

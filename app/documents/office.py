"""Word, PowerPoint, Excel, OpenDocument and EPUB: their text out of the XML inside, in the order of reading."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterator

from app.documents.archives import Archive, joined
from app.documents.markup import html_text, read_html
from app.documents.reading import (
    MAX_PLACES,
    MAX_TEXT_CHARS,
    Notes,
    Reason,
    Section,
    Unreadable,
    heading_path,
    one_line,
)

_HEADING_STYLE = re.compile(r"(?:heading|title|überschrift|titre|título|titolo)\s*(\d?)", re.IGNORECASE)
WORKBOOK = "xl/workbook.xml"
MAX_COLUMNS = 16_384
MAX_REPEATED_ROWS = 100  # that say the same
MAX_ROWS = 1_048_576
_FAR_COLUMNS = 64
_MAX_DIGITS = 16
_LEAST_FIXED = 1e-7
_LEAP_DAY = 60
_DURATION = 46
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_DATES = frozenset((14, 15, 16, 17, 22, 27, 30, 36, 50, 57))
_TIMES = frozenset((18, 19, 20, 21, 45, 47))
_QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|[\\_*].')


class _Row:
    """An open row of a table: its cells by their places, and which cell is written to."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self._next = 0

    def begin_cell(self) -> None:
        self.cells += [""] * (min(self._next, MAX_COLUMNS) + 1 - len(self.cells))
        self._next += 1

    def widen_cell(self, columns: int) -> None:
        """Let the last cell cover a number of columns."""
        self._next += columns - 1

    def repeat(self, times: int) -> None:
        """Write the last cell's text into all columns that it covers."""
        if self.cells and self.cells[-1]:
            self.cells += [self.cells[-1]] * min(times - 1, MAX_COLUMNS - len(self.cells))

    def add(self, text: str) -> None:
        if not self.cells:
            self.begin_cell()
        self.cells[-1] = f"{self.cells[-1]} {text}".strip()


class _Paragraphs:
    """Collects paragraphs under their headings; cells of one row stand in one line.

    Paragraphs within a paragraph (notes, text boxes) follow it. Rows of a table in a cell become text of that cell.
    """

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self._levels: dict[int, str] = {}
        self._heading = ""
        self._lines: list[str] = []
        self._first = self._place = 1
        self._open: list[list[str]] = []  # the texts of open paragraphs, the innermost last
        self._inner: list[str] = []  # finished paragraphs within an open one
        self._rows: list[_Row] = []  # the innermost last
        self._chars = 0

    def add(self, text: str) -> None:
        if not self._open:
            self._open.append([])
        self._open[-1].append(text)
        self._chars += len(text)
        if self._chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)

    def begin_paragraph(self) -> None:
        self._open.append([])

    def end_paragraph(self, level: int = 0) -> None:
        text = one_line("".join(self._open.pop())) if self._open else ""
        if self._open:
            self._inner += [text] if text else []
            return
        if self._rows:
            for each in (text, *self._inner):
                self._rows[-1].add(each)
        else:
            if level and text:
                self._close()
                self._heading = heading_path(self._levels, level, text)
            for each in (text, *self._inner):
                self._line(each)
        self._inner = []

    def begin_row(self) -> None:
        self._rows.append(_Row())

    def begin_cell(self) -> None:
        if self._rows:
            self._rows[-1].begin_cell()

    def widen_cell(self, columns: int, *, repeats: bool = False) -> None:
        """Let the last cell cover a number of columns, or stand in each of them."""
        if self._rows:
            self._rows[-1].widen_cell(columns)
            if repeats:
                self._rows[-1].repeat(columns)

    def end_row(self, times: int = 1) -> None:
        cells = self._rows.pop().cells if self._rows else []
        if self._rows:
            self._rows[-1].add(" ".join(filter(None, cells)))
            return
        text = "\t".join(cells).rstrip("\t")
        for _ in range(min(times, MAX_REPEATED_ROWS)):
            self._line(text)

    def finish(self) -> list[Section]:
        while self._open:
            self.end_paragraph()
        self._close()
        return self.sections

    def _line(self, text: str) -> None:
        if text.strip():
            self._lines.append(text)
            self._place += 1

    def _close(self) -> None:
        if self._lines:
            self.sections.append(Section("\n".join(self._lines), self._first, self._heading))
        self._lines = []
        self._first = self._place


# What Word draws in another way, or no more, or shows as the reading of other letters.
_NOT_READ_IN_WORD = frozenset(("Fallback", "moveFrom", "del", "rt", "instrText", "delText"))
_SIGNS_IN_WORD = {"tab": " ", "br": " ", "cr": " ", "ptab": " ", "noBreakHyphen": "-"}
_PARTS_AFTER_TEXT = ("footnotes", "endnotes", "comments", "header", "footer")


def read_docx(archive: Archive, notes: Notes) -> Iterator[Section]:
    """Give a Word document; each paragraph is a place. Notes, comments, headers and footers come last."""
    named = (name for kind, name in archive.relations("").values() if kind == "officeDocument")
    main = next(named, "word/document.xml")
    if main not in archive:
        raise Unreadable(Reason.KIND)
    parts = archive.relations(main).values()
    levels: dict[str, int] = {}
    for kind, name in parts:
        if kind == "styles" and name in archive:
            levels = _heading_styles(archive, name)
    paragraphs = _Paragraphs()
    paragraph_levels: list[int] = []
    silent = is_text = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal silent, is_text
        if tag in _NOT_READ_IN_WORD:
            silent += 1
        elif silent:
            return
        elif tag == "p":
            paragraph_levels.append(0)
            paragraphs.begin_paragraph()
        elif tag == "pStyle" and paragraph_levels:
            paragraph_levels[-1] = levels.get(attributes.get("val", ""), 0)
        elif tag == "t":
            is_text += 1
        elif tag in _SIGNS_IN_WORD:
            paragraphs.add(_SIGNS_IN_WORD[tag])
        elif tag == "sym":
            paragraphs.add(_symbol(attributes.get("char", "")))
        elif tag == "tr":
            paragraphs.begin_row()
        elif tag == "gridBefore":
            for _ in range(_number(attributes.get("val"), 1)):
                paragraphs.begin_cell()
        elif tag == "tc":
            paragraphs.begin_cell()
        elif tag == "gridSpan":
            paragraphs.widen_cell(_number(attributes.get("val"), 1))

    def end(tag: str) -> None:
        nonlocal silent, is_text
        if tag in _NOT_READ_IN_WORD:
            silent -= 1
        elif silent:
            return
        elif tag == "t":
            is_text -= 1
        elif tag == "p":
            paragraphs.end_paragraph(paragraph_levels.pop() if paragraph_levels else 0)
        elif tag == "tr":
            paragraphs.end_row()

    def text(data: str) -> None:
        if is_text and not silent:
            paragraphs.add(data)

    after = sorted(
        {(_PARTS_AFTER_TEXT.index(kind), name) for kind, name in parts if kind in _PARTS_AFTER_TEXT and name in archive}
    )
    for name in (main, *(name for _, name in after)):
        archive.parse(name, start, end, text)
    yield from paragraphs.finish()


def _symbol(code: str) -> str:
    """Return the sign that Word names by its place in a font of symbols; "" where only that font knows it."""
    try:
        sign = chr(int(code, 16))
    except ValueError:
        return ""
    return _SYMBOLS.get(sign, "" if "\ue000" <= sign <= "\uf8ff" else sign)


# The usual signs of Wingdings and Symbol.
_SYMBOLS = {
    "\uf0fc": "✓",
    "\uf0fb": "✗",
    "\uf0fe": "☑",
    "\uf0a8": "☐",
    "\uf06f": "☐",
    "\uf0b7": "•",
    "\uf0a7": "▪",
    "\uf0e0": "→",
}


def _number(text: str | None, default: int, most: int = MAX_COLUMNS) -> int:
    return min(int(text), most) if text and text.isdecimal() and len(text) < 8 else default


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


_NOT_READ_IN_ODT = frozenset(("tracked-changes", "ruby-text", "creator", "date"))


def read_odt(archive: Archive, notes: Notes) -> Iterator[Section]:
    """Give an OpenDocument text; each paragraph is a place."""
    if "content.xml" not in archive:
        raise Unreadable(Reason.KIND)
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable(Reason.PASSWORD)
    paragraphs = _Paragraphs()
    levels: list[int] = []
    repeats: list[int] = []  # of the open rows and cells
    silent = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal silent
        if tag in _NOT_READ_IN_ODT:
            silent += 1
        elif silent:
            return
        elif tag in ("p", "h"):
            levels.append(_number(attributes.get("outline-level"), 1, 9) if tag == "h" else 0)
            paragraphs.begin_paragraph()
        elif tag in ("s", "tab", "line-break"):
            paragraphs.add(" ")
        elif tag == "table-row":
            repeats.append(_number(attributes.get("number-rows-repeated"), 1, MAX_REPEATED_ROWS))
            paragraphs.begin_row()
        elif tag in ("table-cell", "covered-table-cell"):
            repeats.append(_number(attributes.get("number-columns-repeated"), 1))
            paragraphs.begin_cell()
        elif attributes.get("current-value"):  # of a form field
            paragraphs.begin_paragraph()
            paragraphs.add(attributes["current-value"])
            paragraphs.end_paragraph()

    def end(tag: str) -> None:
        nonlocal silent
        if tag in _NOT_READ_IN_ODT:
            silent -= 1
        elif silent:
            return
        elif tag in ("p", "h"):
            paragraphs.end_paragraph(levels.pop() if levels else 0)
        elif tag in ("table-cell", "covered-table-cell"):
            paragraphs.widen_cell(repeats.pop(), repeats=True)
        elif tag == "table-row":
            paragraphs.end_row(repeats.pop())

    def text(data: str) -> None:
        if levels and not silent:
            paragraphs.add(data)

    archive.parse("content.xml", start, end, text)
    yield from paragraphs.finish()


def read_pptx(archive: Archive, notes: Notes) -> Iterator[Section]:
    """Give a presentation slide by slide, each with its notes."""
    main = "ppt/presentation.xml"
    if main not in archive:
        raise Unreadable(Reason.KIND)
    order: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "sldId":
            order.append(attributes.get("relation", ""))

    archive.parse(main, start, _nothing, _nothing)
    relations = archive.relations(main)
    given = 0
    for number, relation in enumerate(order[:MAX_PLACES], start=1):
        name = relations.get(relation, ("", ""))[1]
        try:
            title, lines = _slide(archive, name)
            for kind, more in archive.relations(name).values():
                if kind in ("notesSlide", "diagramData") and more in archive:
                    lines += [line for line in _slide(archive, more)[1] if not line.isdigit()]
        except Unreadable as error:
            if error.reason is not Reason.DAMAGED:
                raise
            notes.skip(number, Reason.DAMAGED)
            continue
        if lines:
            given += 1
            yield Section("\n".join(lines), number, title, counts=False)
    if notes.skipped and not given:
        raise Unreadable(Reason.DAMAGED)


def _slide(archive: Archive, name: str) -> tuple[str, list[str]]:
    lines: list[str] = []
    line: list[str] = []
    rows: list[_Row] = []
    title: list[str] = []
    is_title = is_text = False
    fallback = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_title, is_text, fallback
        if tag == "Fallback":  # the same once more, for older programs
            fallback += 1
        elif tag == "sp":
            is_title = False
        elif tag == "ph" and attributes.get("type") in ("title", "ctrTitle"):
            is_title = True
        elif tag == "t":
            is_text = True
        elif tag == "br":
            line.append(" ")
        elif tag == "tr":
            rows.append(_Row())
        elif tag == "tc" and rows:
            rows[-1].begin_cell()

    def end(tag: str) -> None:
        nonlocal is_text, fallback
        if tag == "Fallback":
            fallback -= 1
        elif tag == "t":
            is_text = False
        elif tag == "p":
            text = one_line("".join(line))
            line.clear()
            if text and rows:
                rows[-1].add(text)
            elif text:
                lines.append(text)
                if is_title:
                    title.append(text)
        elif tag == "tr" and rows:
            text = "\t".join(rows.pop().cells).rstrip("\t")
            if text:
                lines.append(text)

    archive.parse(name, start, end, lambda data: line.append(data) if is_text and not fallback else None)
    return " ".join(title), lines


def read_xlsx(archive: Archive, notes: Notes) -> Iterator[Section]:
    """Give a workbook sheet by sheet: cells between tabs, each row a place, the sheet's name as heading."""
    main = WORKBOOK
    if main not in archive:
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
        if kind == "sharedStrings" and name in archive:
            strings = _shared_strings(archive, name)
        elif kind == "styles" and name in archive:
            formats = _cell_formats(archive, name)
    given = 0
    for number, (title, relation) in enumerate(sheets[:MAX_PLACES], start=1):
        kind, name = relations.get(relation, ("worksheet", ""))
        if kind != "worksheet":  # of charts, macros or dialogs
            continue
        try:
            found = _sheet(archive, name, one_line(title), strings, formats, since_1904)
            found += _comments(archive, name, one_line(title))
        except Unreadable as error:
            if error.reason is not Reason.DAMAGED:
                raise
            notes.skip(number, Reason.DAMAGED)
            continue
        given += 1
        yield from found
    if notes.skipped and not given:
        raise Unreadable(Reason.DAMAGED)


def _shared_strings(archive: Archive, name: str) -> list[str]:
    found: list[str] = []
    text: list[str] = []
    state = {"open": 0, "chars": 0, "phonetic": 0}

    def start(tag: str, _: dict[str, str]) -> None:
        state["open"] += tag == "t"
        state["phonetic"] += tag == "rPh"

    def end(tag: str) -> None:
        state["open"] -= tag == "t"
        state["phonetic"] -= tag == "rPh"
        if tag == "si":
            found.append(one_line("".join(text)))
            text.clear()

    def more(data: str) -> None:
        if state["open"] and not state["phonetic"]:
            text.append(data)
            state["chars"] += len(data)
            if state["chars"] > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)

    archive.parse(name, start, end, more)
    return found


def _cell_formats(archive: Archive, name: str) -> list[str]:
    """Return for each cell style whether its numbers are a "date", a "time", a "duration" or ""."""
    own: dict[int, str] = {}
    found: list[str] = []
    inside = False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        number = _number(attributes.get("numFmtId"), 0)
        if tag == "numFmt":
            own[number] = _form(attributes.get("formatCode", ""))
        elif tag == "cellXfs":
            inside = True
        elif tag == "xf" and inside:
            known = "date" if number in _DATES else "time" if number in _TIMES else ""
            found.append(own.get(number, "duration" if number == _DURATION else known))

    def end(tag: str) -> None:
        nonlocal inside
        inside = inside and tag != "cellXfs"

    archive.parse(name, start, end, _nothing)
    return found


def _form(code: str) -> str:
    if _ELAPSED.search(code):
        return "duration"
    code = _QUOTED.sub("", code).lower().partition(";")[0]
    if "general" in code:
        return ""
    if "y" in code or "d" in code or ("m" in code and "h" not in code and "s" not in code):
        return "date"
    return "time" if "h" in code or "s" in code else ""


def _sheet(
    archive: Archive, name: str, title: str, strings: list[str], formats: list[str], since_1904: bool
) -> list[Section]:
    sections: list[Section] = []
    lines: list[str] = []
    cells: dict[int, str] = {}
    value: list[str] = []
    first, row, column, chars = 1, 0, 0, 0
    kind, style, is_open, phonetic = "n", 0, False, 0

    def close() -> None:
        if lines:
            sections.append(Section("\n".join(lines), first, title))
        lines.clear()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal first, row, column, kind, style, is_open, phonetic
        if tag == "c":
            column = _column(attributes.get("r", "")) or column + 1
            kind, style = attributes.get("t", "n"), _number(attributes.get("s"), 0)
            value.clear()
        elif tag in ("v", "t"):
            is_open = True
        elif tag == "rPh":
            phonetic += 1
        elif tag == "row":
            number = _number(attributes.get("r"), row + 1, MAX_ROWS)
            if number != row + 1 or not lines:
                close()
                first = number
            row, column = number, 0

    def end(tag: str) -> None:
        nonlocal is_open, phonetic, chars
        if tag in ("v", "t"):
            is_open = False
        elif tag == "rPh":
            phonetic -= 1
        elif tag == "c":
            form = formats[style] if style < len(formats) else ""
            text = _cell("".join(value), kind, form, strings, since_1904)
            if text and column <= MAX_COLUMNS:
                cells[column] = text
                chars += len(text)
                if chars > MAX_TEXT_CHARS:
                    raise Unreadable(Reason.LARGE)
        elif tag == "row":
            text = cell_line(cells)
            cells.clear()
            if text:
                lines.append(text)
            else:
                close()

    archive.parse(name, start, end, lambda data: value.append(data) if is_open and not phonetic else None)
    close()
    return sections


def cell_line(cells: dict[int, str]) -> str:
    """Return a row with a tab for each column; a cell far from the one before it is named by its column instead."""
    parts: list[str] = []
    last = 1
    for column in sorted(cells):
        far = column - last > _FAR_COLUMNS
        parts.append(f"\t{_letters(column)}: " if far else "\t" * (column - last))
        parts.append(cells[column])
        last = column
    return "".join(parts)


def _column(reference: str) -> int:
    """Return the column, from 1, of a cell such as "AB12"; 0 where nothing names it."""
    column = 0
    for sign in reference.upper():
        if not "A" <= sign <= "Z":
            break
        column = column * 26 + ord(sign) - 64
    return column


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _comments(archive: Archive, sheet: str, title: str) -> list[Section]:
    """Give the notes of a sheet's cells, each behind the cell that it belongs to."""
    lines: list[str] = []
    text: list[str] = []
    place, is_open = "", False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal place, is_open
        if tag == "comment":
            place = attributes.get("ref", "")
            text.clear()
        is_open = is_open or tag == "t"

    def end(tag: str) -> None:
        nonlocal is_open
        is_open = is_open and tag != "t"
        if tag == "comment" and (words := one_line("".join(text))):
            lines.append(f"{place}: {words}")

    for kind, name in archive.relations(sheet).values():
        if kind == "comments" and name in archive:
            archive.parse(name, start, end, lambda data: text.append(data) if is_open else None)
    return [Section("\n".join(lines), 1, title, counts=False)] if lines else []


def _cell(value: str, kind: str, form: str, strings: list[str], since_1904: bool) -> str:
    if kind == "s":
        return strings[int(value)] if value.isdecimal() and int(value) < len(strings) else ""
    if kind == "b":
        return "TRUE" if value == "1" else "FALSE"
    if kind != "n":
        return one_line(value)
    try:
        number = float(value)
    except ValueError:
        return one_line(value)
    return moment(number, form, since_1904) if form else plain_number(number, value)


def plain_number(number: float, written: str = "") -> str:
    """Return a number with the 15 digits that spreadsheets count with."""
    written = written.strip()
    if written and "e" not in written.lower() and len(written) <= _MAX_DIGITS:
        return written
    text = f"{number:.15g}"
    return text if "e" not in text else format(decimal.Decimal(text), "f") if abs(number) > _LEAST_FIXED else text


def moment(number: float, form: str, since_1904: bool = False) -> str:
    """Return a spreadsheet's count of days as a date, with a time if it has one, as a time or as a duration."""
    try:
        if form == "duration":
            seconds = round(number * 86_400)
            minutes, seconds = divmod(abs(seconds), 60)
            return f"{'-' if number < 0 else ''}{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        if not since_1904 and number < _LEAP_DAY:
            number += 1  # 1900 has a 29 February in spreadsheets
        began = datetime.datetime(1904, 1, 1) if since_1904 else datetime.datetime(1899, 12, 30)  # noqa: DTZ001
        found = began + datetime.timedelta(days=number)
    except (ValueError, OverflowError):
        return plain_number(number)
    found = (found + datetime.timedelta(milliseconds=500)).replace(microsecond=0)
    if form == "time" and abs(number) < 2:
        return f"{found:%H:%M:%S}"
    if not (found.hour or found.minute or found.second):
        return f"{found:%Y-%m-%d}"
    return f"{found:%Y-%m-%d %H:%M:%S}" if found.second else f"{found:%Y-%m-%d %H:%M}"


def read_epub(archive: Archive, notes: Notes) -> Iterator[Section]:
    """Give a book chapter by chapter, in its order of reading."""
    container = "META-INF/container.xml"
    if container not in archive:
        raise Unreadable(Reason.KIND)
    if "META-INF/encryption.xml" in archive and b"EncryptedData" in archive.read("META-INF/encryption.xml"):
        locked = b"adobe.com/adept" in archive.read("META-INF/encryption.xml") or "META-INF/rights.xml" in archive
        if locked:  # fonts alone are often made unreadable, and nobody reads those
            raise Unreadable(Reason.PASSWORD)
    packages: list[str] = []

    def find_package(tag: str, attributes: dict[str, str]) -> None:
        if tag == "rootfile":
            packages.append(attributes.get("full-path", ""))

    archive.parse(container, find_package, _nothing, _nothing)
    if not packages or packages[0] not in archive:
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
    chars = given = 0
    for number, item in enumerate(spine[:MAX_PLACES], start=1):
        if item not in items:  # an image, for one
            continue
        try:
            sections = list(read_html(html_text(archive.read(items[item]), notes)))
        except Unreadable as error:
            if error.reason not in (Reason.DAMAGED, Reason.KIND):
                raise
            notes.skip(number, Reason.DAMAGED)
            continue
        given += 1
        for section in sections:
            chars += len(section.text)
            if chars > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)
            yield Section(section.text, number, section.heading, counts=False)
    if notes.skipped and not given:
        raise Unreadable(Reason.DAMAGED)


def _nothing(*_: str) -> None:
    pass

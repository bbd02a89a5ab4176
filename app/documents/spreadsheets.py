"""XLS, XLSB and ODS by calamine, which is written in Rust. Imported only for those.

It builds a grid of every sheet, so XLSX, whose sheets may reach from the first cell to the last, is read by `office`.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from typing import BinaryIO

import python_calamine as calamine

from app.documents.archives import Archive
from app.documents.office import cell_line, moment, plain_number
from app.documents.reading import MAX_PLACES, MAX_TEXT_CHARS, Notes, Reason, Section, Unreadable, one_line

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta
_ELAPSED = re.compile(r"PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,]\d+)?S)?")  # of an ODS
_CONTENT = "content.xml"
_INDENTED = re.compile(rb"(</?table:[^<>]*>)\s+|(?<=>)\s+(?=</?table:)")
_EPOCH = datetime.datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets know no time zones


def read_spreadsheet(file: BinaryIO, notes: Notes) -> Iterator[Section]:
    """Give a workbook sheet by sheet: cells between tabs, each row a place, the sheet's name as heading."""
    if file.read(2) == b"PK":
        file.seek(0)
        archive = Archive(file)
        _check_size(archive)
        if _CONTENT in archive and _INDENTED.search(archive.read(_CONTENT)):
            file = _unindented(archive)
    file.seek(0)
    try:
        book = calamine.load_workbook(file)
    except calamine.PasswordError:
        raise Unreadable(Reason.PASSWORD) from None
    except (calamine.CalamineError, OSError, ValueError):
        raise Unreadable(Reason.DAMAGED) from None
    chars = given = 0
    for number, about in enumerate(book.sheets_metadata[:MAX_PLACES], start=1):
        if about.typ is not calamine.SheetTypeEnum.WorkSheet:
            continue
        try:
            sheet = book.get_sheet_by_index(number - 1)
        except (calamine.CalamineError, OSError, ValueError):
            notes.skip(number, Reason.DAMAGED)
            continue
        given += 1
        for section in _sheet(sheet):
            chars += len(section.text)
            if chars > MAX_TEXT_CHARS:
                raise Unreadable(Reason.LARGE)
            yield section
    if notes.skipped and not given:
        raise Unreadable(Reason.DAMAGED)


def _check_size(archive: Archive) -> None:
    """Unpack the parts once, counted: calamine itself has no bound. Raises `Unreadable`."""
    for name in archive.parts():
        if name.endswith((".xml", ".bin")):
            archive.read(name)
    if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable(Reason.PASSWORD)


def _unindented(archive: Archive) -> BinaryIO:
    """Return an ODS without blanks around the tags of its tables, which calamine takes for damage."""
    rewritten = io.BytesIO()
    with zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as made:
        for name in archive.parts():
            data = archive.read(name)
            made.writestr(name, _INDENTED.sub(rb"\1", data) if name == _CONTENT else data)
    return rewritten


def _sheet(sheet: calamine.CalamineSheet) -> Iterator[Section]:
    title = one_line(sheet.name)
    left = sheet.start[1] if sheet.start else 0  # rows come from the first row on, cells from the first column used
    lines: list[str] = []
    first = 1
    for row, values in enumerate(sheet.iter_rows(), start=1):
        cells = {column: text for column, value in enumerate(values, start=left + 1) if (text := _text(value))}
        text = cell_line(cells)
        if text and not lines:
            first = row
        if text:
            lines.append(text)
        elif lines:
            yield Section("\n".join(lines), first, title)
            lines = []
    if lines:
        yield Section("\n".join(lines), first, title)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return plain_number(float(value))
    if isinstance(value, datetime.timedelta):
        return moment(value / datetime.timedelta(days=1), "duration")
    if isinstance(value, datetime.datetime):
        return moment((value - _EPOCH) / datetime.timedelta(days=1), "date")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.isoformat("seconds")
    if elapsed := _ELAPSED.fullmatch(value):
        hours, minutes, seconds = (int(part or 0) for part in elapsed.groups())
        return f"{hours}:{minutes:02}:{seconds:02}"
    return one_line(value)

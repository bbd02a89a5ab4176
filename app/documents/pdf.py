"""PDF by PDFium, page by page: its text, the values of its form fields, and its notes. Imported only for a PDF."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pypdfium2
import pypdfium2.raw as pdfium

from app.documents.reading import (
    HEADING_CHARS,
    MAX_PLACES,
    MAX_TEXT_CHARS,
    Notes,
    Reason,
    Section,
    Unreadable,
    one_line,
    tidy,
)

_HYPHEN = "\ufffe"  # PDFium's sign for a hyphen at the end of a line
_BROKEN_WORD = re.compile(f"(?<=[^\\W\\d_])(?:{_HYPHEN}\n?|-\n)(?=[^\\W\\d_])(?![A-Z])")
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f]")
_WITHOUT_TEXT = frozenset((pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP))
_BOXES = frozenset((pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON))
_CHOICES = frozenset((pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX))
_PASSWORD_FIELD = 1 << 13
_MAX_ANNOTATIONS = 10_000  # of one page
_MAX_OPTIONS = 1_000
_MAX_VALUE_BYTES = 1_000_000


def read_pdf(file: BinaryIO, notes: Notes) -> Iterator[Section]:
    """Give a PDF's text page by page; pages that give none are noted. Raises `Unreadable`."""
    if b"%PDF-" not in file.read(1024):
        raise Unreadable(Reason.KIND)
    file.seek(0)
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError:
        locked = pdfium.FPDF_GetLastError() in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)
        raise Unreadable(Reason.PASSWORD if locked else Reason.DAMAGED) from None
    document.init_forms()
    headings = _headings(document)
    heading, chars = "", 0
    for number in range(min(len(document), MAX_PLACES)):
        heading = headings.get(number, heading)
        try:
            page = document[number]
            text, is_image = _text(document, page)
            page.close()
        except pypdfium2.PdfiumError:
            notes.skip(number + 1, Reason.DAMAGED)
            continue
        chars += len(text)
        if chars > MAX_TEXT_CHARS:
            raise Unreadable(Reason.LARGE)
        if text.strip():
            yield Section(text, number + 1, heading, counts=False)
        elif is_image:
            notes.skip(number + 1, Reason.NO_TEXT)
    if not chars:
        raise Unreadable(Reason.DAMAGED if Reason.DAMAGED in notes.skipped else Reason.NO_TEXT)


def _text(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> tuple[str, bool]:
    """Return a page's text, then its form fields and notes; and whether the page holds an image."""
    shown = page.get_textpage()
    objects = [pdfium.FPDFPage_GetObject(page, index) for index in range(pdfium.FPDFPage_CountObjects(page))]
    kinds = {pdfium.FPDFPageObj_GetType(each) for each in objects}
    text = shown.get_text_range()
    for place, words in reversed(_replacements(shown, objects)):
        text = text[:place] + words + text[place:]
    text = _BROKEN_WORD.sub("", text.replace("\r\n", "\n")).replace(_HYPHEN, "-")
    lines = [tidy(_CONTROLS.sub("", text)).strip(), *_annotations(document, page)]
    found = "\n".join(filter(None, lines)).encode("utf-8", "replace").decode()
    return found, bool(kinds & {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM})


def _replacements(shown: pypdfium2.PdfTextPage, objects: list[Any]) -> list[tuple[int, str]]:
    """Return the ActualText of signs that the font has no letters for, each with its place in the page's text.

    PDFium itself takes the ActualText of all other signs.
    """
    found: list[tuple[int, str]] = []
    for each in objects:
        if pdfium.FPDFPageObj_GetType(each) != pdfium.FPDF_PAGEOBJ_TEXT or not pdfium.FPDFPageObj_CountMarks(each):
            continue
        if pdfium.FPDFTextObj_GetText(each, shown, None, 0) > 2:
            continue
        words = _actual_text(each)
        left, bottom, right, top, size = (ctypes.c_float() for _ in range(5))
        pdfium.FPDFTextObj_GetFontSize(each, size)
        if words and pdfium.FPDFPageObj_GetBounds(each, left, bottom, right, top):
            near = max(1.0, size.value)
            at = pdfium.FPDFText_GetCharIndexAtPos(shown, right.value, bottom.value, near, near)
            if at >= 0:
                at += shown.get_charbox(at)[0] < left.value
            found.append((at if at >= 0 else shown.count_chars(), words))
    return sorted(found)


def _actual_text(each: Any) -> str:
    for number in range(pdfium.FPDFPageObj_CountMarks(each)):
        mark = pdfium.FPDFPageObj_GetMark(each, number)
        room, needed = (ctypes.c_ushort * 512)(), ctypes.c_ulong()
        if pdfium.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", room, ctypes.sizeof(room), needed):
            return bytes(room)[: min(needed.value, ctypes.sizeof(room))].decode("utf-16-le", "replace").rstrip("\0")
    return ""


def _annotations(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[str]:
    """Give what is written into form fields, as "name: value", and onto the page as notes."""
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        is_hidden = pdfium.FPDFAnnot_GetFlags(annotation) & pdfium.FPDF_ANNOT_FLAG_HIDDEN
        if kind == pdfium.FPDF_ANNOT_WIDGET and document.formenv and not is_hidden:
            yield _field(document.formenv, annotation)
        elif kind not in _WITHOUT_TEXT and not is_hidden:
            yield _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
        pdfium.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind in _BOXES:
        value = "✓" if pdfium.FPDFAnnot_IsChecked(form, annotation) else ""
    elif kind in _CHOICES:
        options = range(min(pdfium.FPDFAnnot_GetOptionCount(form, annotation), _MAX_OPTIONS))
        chosen = [index for index in options if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, index)]
        value = ", ".join(_string(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, index) for index in chosen)
    else:
        value = ""
    if not value and kind not in _BOXES:
        if pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD_FIELD:
            return ""
        value = _string(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    if not value:
        return ""
    label = _string(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    label = label or _string(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    return f"{label}: {value}" if label else value


def _string(call: Callable[..., int], *arguments: Any) -> str:
    """Return what a function of PDFium writes in UTF-16, which it first measures."""
    size = min(call(*arguments, None, 0), _MAX_VALUE_BYTES)
    if size <= 2:
        return ""
    room = (ctypes.c_ushort * (size // 2 + 1))()
    call(*arguments, room, size)
    text = bytes(room)[:size].decode("utf-16-le", "replace").rstrip("\0")
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _headings(document: pypdfium2.PdfDocument) -> dict[int, str]:
    """Return the outline's titles by page number from 0."""
    found: dict[int, str] = {}
    above: list[str] = []
    for bookmark in document.get_toc(max_depth=8):
        if len(found) >= MAX_PLACES:
            break
        del above[bookmark.level :]
        above.append(one_line(bookmark.get_title())[:HEADING_CHARS])
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if page is not None:
            found.setdefault(page, " › ".join(above))
    return found

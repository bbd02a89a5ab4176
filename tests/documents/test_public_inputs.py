"""Inputs made after public bug reports of other programs, each with the text that is right."""

import time
from pathlib import Path

import pytest

from app.documents.files import opened, read_file
from app.documents.passages import passages_of
from app.documents.reading import Notes
from app.text_encoding import decode_text

INPUTS = Path(__file__).parent / "inputs"
RIGHT = {
    "k07-sparse-cells.xlsx": "Item\tOrdered\tDelivered\tPaid\nPens\t\t5\nInk\t2\t\t9.5\n\t\t\t9.5",
    "k07-empty-first-cell.docx": "Name\t2024\t2025\n\t10\t20\nSum\t\t30",
    "k07-repeated-cells.odt": "A\t\t\tD",
    "k08-furigana.xlsx": "東京都\t吉田兼好",
    "k08-ruby.docx": "東京に行く。",
    "k09-nested-table.docx": "Before\nApplicant\tAddress block Street Main Road 4 Town Springfield after inner\tSigned"
    "\nAfter",
    "k09-nested-table.odt": "Applicant\tBlock Street\tSigned",
    "k10-tracked-move.docx": "Open items.\nAction: sign the contract.\nEnd.",
    "k12-bell.log": "Build ok \nDone",
    "k12-dos-eof.txt": "A DOS text file.\nSecond line.",
    "k12-vertical-tab.csv": "id,text\n1,line one line two",
    "k12-record-separator.jsonl": ' {"a":1}\n {"a":2}',
    "k12-unit-sep.txt": "a b c",
    "k12-shift-out.log": "text",
    "k13-marked-section.html": "Before\nAfter",
    "k13-mail-cid.html": "Before\nAfter",
    "k13-style-end-attr.html": "Before\nAfter",
    "k13-comment-ends.html": "Before\nMiddle\nAfter",
    "k13-many-open-tags.html": "Before",
    "k14-form-value.pdf": "Name:\nname: Ada Lovelace",
    "k14-freetext.pdf": "Body\nTyped on top",
    "k14-form-xobject-no-resources.pdf": "Invoice 4711 total 129.50",
    "k14-no-font-resource.pdf": "Invoice 4711 total 129.50",
    "k14-actualtext.pdf": "ffice",
}
# The letters that are not ASCII, on the first line that has any; whether it was a guess; how many bytes were bad.
ENCODED = {
    "k11-shift-jis.csv": ("商品,数量,備考", True, 0),
    "k11-gbk.txt": ("第一章 天气很好。", True, 0),
    "k11-euc-kr.txt": ("안녕하세요. 오늘은 날씨가 좋습니다.", True, 0),
    "k11-cp1251.txt": ("Глава первая. Был ясный день.", True, 0),
    "k11-koi8.txt": ("Глава первая. Был ясный день.", True, 0),
    "k11-big5.txt": ("天氣很好", True, 0),
    "k11-cp850.txt": ("Größe und Maß", True, 0),
    "k11-late-latin1.csv": ("9999;Müller, Größe 5 €", True, 0),
    "k11-late-shift-jis.csv": ("9999,鉛筆", True, 0),
    "k11-mostly-utf8-one-bad.log": ("Größe ok", False, 1),
    "k11-utf16le-nobom.csv": ("", False, 0),
    "k11-utf32.txt": ("Plain words ä", False, 0),
    "k11-cp1252.csv": ("Straße;Größe", True, 0),
}


def read(name: str) -> tuple[str, Notes]:
    notes = Notes()
    with opened(str(INPUTS / name)) as file:
        _, sections = read_file(file, name, notes)
        return "\n".join(each.text for each in passages_of(sections)), notes


@pytest.mark.parametrize("name", RIGHT)
def test_a_document_is_read_as_its_author_meant_it(name: str) -> None:
    begun = time.process_time()
    assert read(name) == (RIGHT[name], Notes())
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("name", ENCODED)
def test_text_has_the_right_letters_and_a_guess_is_said(name: str) -> None:
    line, is_guess, bad_bytes = ENCODED[name]
    text, notes = read(name)
    assert next((each for each in text.splitlines() if not each.isascii()), "") == line
    assert bool(notes.encoding) == is_guess
    assert notes.bad_bytes == bad_bytes
    assert text.count("\ufffd") == bad_bytes
    assert bool(notes.sentences()) == (is_guess or bad_bytes > 0)
    again, found = decode_text((INPUTS / name).read_bytes())
    assert again.strip() == text.strip()
    assert found.is_guess == is_guess


def test_every_input_has_its_right_value() -> None:
    assert {path.name for path in INPUTS.glob("k*")} == {*RIGHT, *ENCODED}

"""What each kind of file gives, with its place; and what strangers' files may not do."""

import io
import os
import re
import zipfile
from pathlib import Path

import pytest

from app.documents.files import found_files, opened, read_file
from app.documents.passages import MOST_CHARS, Passage, passages_of
from app.documents.reading import Kind, Notes, Reason, Unreadable, sentence
from tests.documents import samples
from tests.kit.portable import not_on_windows


def passages(folder: Path, name: str, content: bytes) -> list[Passage]:
    (folder / name).write_bytes(content)
    with opened(str(folder / name)) as file:
        _, sections = read_file(file, name)
        return list(passages_of(sections))


def places(found: list[Passage]) -> list[tuple[str, int, int, str]]:
    return [(each.heading, each.first, each.last, each.text) for each in found]


def refusal(folder: Path, name: str, content: bytes) -> Reason:
    with pytest.raises(Unreadable) as caught:
        passages(folder, name, content)
    return caught.value.reason


def test_a_text_says_its_lines(tmp_path: Path) -> None:
    assert places(passages(tmp_path, "a.txt", "\n\nOne\r\ntwo ✓\r\n".encode())) == [("", 3, 4, "One\ntwo ✓")]
    assert places(passages(tmp_path, "b.txt", "Ünï".encode("utf-16"))) == [("", 1, 1, "Ünï")]
    assert places(passages(tmp_path, "c.txt", "Grüße".encode("cp1252"))) == [("", 1, 1, "Grüße")]


def test_long_text_is_cut_between_paragraphs_and_nothing_is_lost(tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {number} " + "word " * 60 for number in range(100))
    found = passages(tmp_path, "long.txt", text.encode())
    assert "\n".join(each.text for each in found).split() == text.split()
    assert all(len(each.text) <= MOST_CHARS for each in found)
    lines = text.split("\n")
    for each in found:
        assert "\n".join(lines[each.first - 1 : each.last]).strip() == each.text
    assert max(len(each.text) for each in passages(tmp_path, "no.txt", b"x" * 10_000)) == MOST_CHARS


def test_markdown_is_cut_at_its_headings(tmp_path: Path) -> None:
    text = "intro\n# One\ntext\n## Two\nmore\n```\n# no heading\n```\n# Three\nend\n"
    assert places(passages(tmp_path, "a.md", text.encode())) == [
        ("", 1, 1, "intro"),
        ("One", 2, 3, "# One\ntext"),
        ("One › Two", 4, 8, "## Two\nmore\n```\n# no heading\n```"),
        ("Three", 9, 10, "# Three\nend"),
    ]


def test_the_last_line_needs_no_end_and_long_files_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert places(passages(tmp_path, "a.md", b"# One\ntext")) == [("One", 1, 2, "# One\ntext")]
    monkeypatch.setattr("app.documents.plain_text.PIECE_BYTES", 64)
    text = "\n".join(f"line {number} ✓" for number in range(1, 400))
    found = passages(tmp_path, "b.txt", text.encode())
    assert "\n".join(each.text for each in found) == text
    assert (found[0].first, found[-1].last) == (1, 399)


def test_html_gives_what_is_shown(tmp_path: Path) -> None:
    page = "<title>T</title><script>no()</script><p>a <b>b</b></p><h2>Head</h2><ul><li>x<li>y &amp; z</ul>"
    assert places(passages(tmp_path, "a.html", page.encode())) == [
        ("T", 1, 1, "a b"),
        ("Head", 2, 4, "Head\nx\ny & z"),
    ]
    assert "Grüße" in passages(tmp_path, "b.html", "<meta charset=latin1><p>Grüße".encode("latin-1"))[0].text


def test_elements_that_are_not_of_html_keep_their_text(tmp_path: Path) -> None:
    page = "<p>One<g></path>two</g><text><body><ms/>three <my-own>four</my-own></text><svg><text>drawn</text></svg>"
    assert "".join(passages(tmp_path, "a.html", page.encode())[0].text.split()) == "Onetwothreefour"


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("<math><mi>E</mi><mo>=</mo>\n<mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "E= mc2"),
        (
            "<MATH display='block'><semantics><mi>E</mi><annotation-xml><p>E</p></annotation-xml></semantics></MATH>",
            "E",
        ),
        ('<math alttext="a &lt; b"><mi>a</mi><mo>&lt;</mo><mi>b</mi></math>', "a < b"),
        (
            '<math alttext="x"><semantics><mfrac><mn>1</mn><mn>2</mn></mfrac>'
            '<annotation encoding="application/x-tex">\\frac{1}{2}</annotation></semantics></math>',
            "\\frac{1}{2}",
        ),
    ],
)
def test_a_formula_of_a_page_is_read(formula: str, shown: str, tmp_path: Path) -> None:
    page = f"<p>Before {formula} after</p><p>Next</p>"
    assert passages(tmp_path, "a.html", page.encode())[0].text == f"Before {shown} after\nNext"
    assert passages(tmp_path, "b.html", ("<math>" * 20_000 + page).encode())  # and costs no more than its length


def test_rows_of_a_page_keep_their_columns_and_a_layout_its_lines(tmp_path: Path) -> None:
    page = (
        "<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><p>x</p><p>y</p><td colspan=2>z</table>"
        "<table><tr><td>Out<table><tr><td>in1<td>in2</table>tail<td>second</table>"
    )
    assert passages(tmp_path, "a.html", page.encode())[0].text.split("\n") == [
        *("a\tb\tc", "1\t\t3", "x y\tz", "Out", "in1\tin2", "tail", "second")
    ]


def test_a_page_of_xml_may_close_its_elements_at_once(tmp_path: Path) -> None:
    page = (
        '<?xml version="1.0"?><html><head><title/><script src="a"/></head><body><p id="x"/><p>Text<br/>more</p></body>'
    )
    assert passages(tmp_path, "a.xhtml", page.encode())[0].text == "Text\nmore"


def test_office_files_and_books_say_their_places(tmp_path: Path) -> None:
    assert places(passages(tmp_path, "a.docx", samples.docx())) == [
        ("Rent", 1, 3, "Rent\nThe flat costs 900 euros.\nHeating\t80")
    ]
    assert places(passages(tmp_path, "a.pptx", samples.pptx())) == [
        ("First", 1, 1, "First\nIt is shown at once"),
        ("Second", 2, 2, "Second\nIt is shown last\nBreathe here"),
    ]
    assert places(passages(tmp_path, "a.xlsx", samples.xlsx())) == [
        ("Budget", 1, 2, "Item\tPaid\nBicycle\t2024-01-01\t12.5"),
        ("Budget", 9, 9, "Total\tTRUE"),
    ]
    assert places(passages(tmp_path, "a.odt", samples.odt())) == [
        ("Recipes", 1, 3, "Recipes\nFlour and water\nSalt\t2 g")
    ]
    assert places(passages(tmp_path, "a.epub", samples.epub())) == [
        ("The beginning", 1, 1, "The beginning\nOnce upon a time."),
        ("The end", 2, 2, "The end\nThey lived."),
    ]


@pytest.mark.parametrize("parent", [0, 1, 7, 10**8, "itself"])
def test_a_pdf_whose_update_names_a_wrong_parent_is_read(parent: int | str, tmp_path: Path) -> None:
    first = samples.pdf("One page", "Another")
    note = b"99 0 obj\n<< /Title (x) >>\nendobj\n"
    table = len(first) + len(note)
    update = f"xref\n99 1\n{len(first):010} 00000 n \ntrailer << /Size 100 /Root 1 0 R /Info 99 0 R /Prev "
    update += f"{table if parent == 'itself' else parent} >>\nstartxref\n{table}\n%%EOF\n"
    found = passages(tmp_path, "a.pdf", first + note + update.encode())
    assert [each.text for each in found] == ["One page", "Another"]


def test_workbooks_of_other_forms_are_read_by_their_content(tmp_path: Path) -> None:
    assert places(passages(tmp_path, "a.xls", samples.xls())) == [("Old", 1, 2, "Item\n\t\t12.5")]
    assert places(passages(tmp_path, "a.ods", samples.ods())) == [
        ("Open", 3, 3, "\tItem\t\t\t12.5\t2024-05-06\t26:03:00")
    ]
    assert places(passages(tmp_path, "b.xls", samples.xlsx()))[1] == ("Budget", 9, 9, "Total\tTRUE")
    assert places(passages(tmp_path, "b.xlsx", samples.xls()))[0][3] == "Item\n\t\t12.5"
    page = b"<html><table><tr><td>Item<td><td>12.5</table>"
    assert places(passages(tmp_path, "c.xls", page)) == [("", 1, 1, "Item\t\t12.5")]
    assert refusal(tmp_path, "d.xls", b"Item;12.5") is Reason.KIND


def test_a_workbook_whose_tables_are_indented_is_read(tmp_path: Path) -> None:
    archive = zipfile.ZipFile(io.BytesIO(samples.ods()))
    parts = {name: archive.read(name).decode() for name in archive.namelist()}
    tags = re.compile("(</?table:[^<>]*>)")
    parts["content.xml"] = tags.sub(r"\n  \1\n", parts["content.xml"]).replace(
        "Item", "One <text:span>Item</text:span>"
    )
    found = places(passages(tmp_path, "a.ods", samples.zipped(parts)))
    assert found == [("Open", 3, 3, "\tOne Item\t\t\t12.5\t2024-05-06\t26:03:00")]


def test_a_cell_at_the_end_of_a_sheet_costs_nothing(tmp_path: Path) -> None:
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    found = places(passages(tmp_path, "far.xlsx", samples.xlsx(far)))
    assert [(first, text) for _, first, _, text in found] == [(1, "1"), (1_048_576, "\tXFD: 2")]


def test_numbers_dates_and_durations_of_a_sheet_are_those_that_it_shows(tmp_path: Path) -> None:
    cells = "".join(
        f'<c r="{column}1" s="{style}"><v>{value}</v></c>'
        for column, style, value in (
            *(
                ("A", 0, "0.30000000000000004"),
                ("B", 0, "1E-3"),
                ("C", 1, "1"),
                ("D", 1, "45292.5208333"),
                ("E", 2, "1.0625"),
            ),
            *(("F", 3, "0.5"), ("G", 0, "123456789012")),
        )
    )
    styles = '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm:ss"/><numFmt numFmtId="165"'
    styles += ' formatCode="hh:mm:ss.000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/>'
    styles += '<xf numFmtId="165"/></cellXfs></styleSheet>'
    found = passages(tmp_path, "a.xlsx", samples.xlsx(f'<row r="1">{cells}</row>', styles))
    assert found[0].text.split("\t") == [
        *("0.3", "0.001", "1900-01-01", "2024-01-01 12:30", "25:30:00", "12:00:00", "123456789012")
    ]


def test_parts_that_cannot_be_read_are_counted_and_the_others_stay(tmp_path: Path) -> None:
    notes = Notes()
    with zipfile.ZipFile(io.BytesIO(samples.pptx())) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    members["ppt/slides/slide2.xml"] = b"<p:sld"
    _, sections = read_file(io.BytesIO(samples.zipped(members)), "a.pptx", notes)
    assert [each.place for each in sections] == [2]
    assert notes.skipped == {Reason.DAMAGED: [1]}
    assert Notes.from_text(notes.to_text()) == notes
    assert notes.sentences() == "1 part is damaged and was skipped: 1."
    members["ppt/slides/slide1.xml"] = b"<p:sld"
    assert refusal(tmp_path, "b.pptx", samples.zipped(members)) is Reason.DAMAGED


def test_names_of_parts_are_compared_without_case_and_with_slashes(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(samples.docx())) as archive:
        members: dict[str, str | bytes] = {
            name.replace("word/document.xml", "Word\\Document.xml"): archive.read(name) for name in archive.namelist()
        }
    assert "The flat costs 900 euros." in passages(tmp_path, "a.docx", samples.zipped(members))[0].text


def test_a_pdf_says_its_pages(tmp_path: Path) -> None:
    found = passages(tmp_path, "a.pdf", samples.pdf("Hello page one", "", "And page three"))
    assert places(found) == [("", 1, 1, "Hello page one"), ("", 3, 3, "And page three")]


def test_what_gives_no_text_says_why(tmp_path: Path) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
    for name, content, reason in (
        ("scan.pdf", samples.pdf("", ""), Reason.NO_TEXT),
        ("secret.pdf", samples.locked_pdf(), Reason.PASSWORD),
        ("cut.pdf", samples.pdf("Hello")[:200], Reason.DAMAGED),
        ("lie.pdf", b"I am a text", Reason.KIND),
        ("lie.txt", samples.pdf("Hello"), Reason.KIND),
        ("lie.docx", samples.odt(), Reason.KIND),
        ("lie.epub", b"not a book", Reason.KIND),
        ("cut.docx", samples.docx()[:-40], Reason.DAMAGED),
        ("broken.docx", samples.docx("<w:p>"), Reason.DAMAGED),
        ("secret.docx", ole + "EncryptedPackage".encode("utf-16-le"), Reason.PASSWORD),
        ("old.pptx", ole, Reason.OLD_OFFICE),
        ("cut.xls", ole, Reason.DAMAGED),
        ("old.doc", ole, Reason.OLD_OFFICE),
        ("film.mp4", b"\0\1\2\3" * 99, Reason.UNKNOWN),
        ("nothing.txt", b"", Reason.EMPTY),
        ("zero.txt", b"a" * 9000 + b"\0", Reason.KIND),
    ):
        assert refusal(tmp_path, name, content) is reason, name
    assert all(sentence(reason).endswith(".") for reason in Reason)


def test_what_would_unpack_without_end_is_refused(tmp_path: Path) -> None:
    zeros = samples.zipped({"word/document.xml": b" " * 70_000_000})
    assert refusal(tmp_path, "zeros.docx", zeros) is Reason.BOMB
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<!DOCTYPE d [<!ENTITY l0 "lol">{laughs}]><d>&l9;</d>'
    assert refusal(tmp_path, "laughs.docx", samples.zipped({"word/document.xml": xml})) is Reason.BOMB
    deep = samples.zipped({"content.xml": "<a>" * 100_000})
    assert refusal(tmp_path, "deep.odt", deep) is Reason.BOMB
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(20_001):
            archive.writestr(f"{number}", b"")
    assert refusal(tmp_path, "many.epub", many.getvalue()) is Reason.BOMB


def test_a_packed_size_that_lies_is_not_believed(tmp_path: Path) -> None:
    honest = samples.zipped({"word/document.xml": b" " * 70_000_000})
    lie = honest.replace((70_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert refusal(tmp_path, "lie.docx", lie) in (Reason.BOMB, Reason.DAMAGED)


def test_a_folder_is_looked_through_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("a")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "b\x1bad\n.txt").write_text("no")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.txt")
    found = {Path(each.path).name: each.reason for each in found_files((str(tmp_path), str(tmp_path / "gone")))}
    assert found == {
        "a.txt": None,
        "b\x1bad\n.txt": Reason.NAME,
        "up": Reason.LINK,
        "pipe.txt": Reason.SPECIAL,
        "gone": Reason.VANISHED,
    }


def test_an_endless_folder_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.documents.files.MAX_FILES", 5)
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("a")
    found = list(found_files((str(tmp_path),)))
    assert [each.reason for each in found] == [None] * 5 + [Reason.MANY]


def test_a_folder_of_countless_entries_ends_and_says_so_and_the_next_root_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries that are no files count as well: of a million hidden ones, none would ever be a file too many."""
    monkeypatch.setattr("app.documents.files.MAX_ENTRIES", 50)
    crowded, other = tmp_path / "crowded", tmp_path / "other"
    for number in range(40):
        (crowded / f".{number}").mkdir(parents=True)
        (crowded / f"in{number % 4}").mkdir(exist_ok=True)
        (crowded / f"in{number % 4}" / f"{number}.txt").write_text("a")
    other.mkdir()
    (other / "b.txt").write_text("b")
    found = list(found_files((str(crowded), str(other))))
    assert len(found) == 6 + 1 + 1, "four folders and forty hidden ones leave six of fifty"
    assert found[-2].path == str(crowded)
    assert found[-2].reason is Reason.MANY
    assert found[-1].path == str(other / "b.txt")


@not_on_windows
def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(Unreadable) as caught:
        opened(str(tmp_path / "pipe.txt"))
    assert caught.value.reason is Reason.SPECIAL


def test_kinds_are_told_by_name_or_by_content(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("hello")
    with opened(str(tmp_path / "README")) as file:
        assert read_file(file, "README")[0] is Kind.TEXT


def test_what_may_not_be_read_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions do not hold for root, who may run these tests: the refusal of the system is put in its place."""

    def refuse(*_: object) -> int:
        raise PermissionError

    (tmp_path / "a.txt").write_text("a")
    monkeypatch.setattr("app.documents.files.os.scandir", refuse)
    assert [each.reason for each in found_files((str(tmp_path),))] == [Reason.LOCKED]
    monkeypatch.setattr("app.documents.files.os.open", refuse)
    with pytest.raises(Unreadable) as caught:
        opened(str(tmp_path / "a.txt"))
    assert caught.value.reason is Reason.LOCKED

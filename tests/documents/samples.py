"""Files of every kind, made by hand: what is in them is known to the byte."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(members: dict[str, str | bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="{key}" Type="{KIND}/{kind}" Target="{target}"/>' for key, kind, target in targets
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def docx(body: str = "") -> bytes:
    body = body or (
        '<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Rent</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>The flat costs </w:t></w:r><w:r><w:t>900 euros.</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Heating</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>80</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    return zipped(
        {
            "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(("r1", "styles", "styles.xml")),
            "word/styles.xml": f'<w:styles {W}><w:style w:styleId="H1"><w:name w:val="heading 1"/>'
            "</w:style></w:styles>",
        }
    )


def pptx() -> bytes:
    def slide(title: str, text: str) -> str:
        return (
            f"<p:sld {P} {A}><p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>"
            f"<p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp></p:sld>"
        )

    return zipped(
        {
            "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id='b' id='256'/>"
            "<p:sldId id='257' r:id='a'/></p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(
                ("a", "slide", "slides/slide1.xml"), ("b", "slide", "/ppt/slides/slide2.xml")
            ),
            "ppt/slides/slide1.xml": slide("Second", "It is shown last"),
            "ppt/slides/slide2.xml": slide("First", "It is shown at once"),
            "ppt/slides/_rels/slide1.xml.rels": relations(("n", "notesSlide", "../notesSlides/notesSlide1.xml")),
            "ppt/notesSlides/notesSlide1.xml": slide("7", "Breathe here"),
        }
    )


def xlsx(rows: str = "", styles: str = "") -> bytes:
    rows = rows or (
        '<row r="1"><c t="s"><v>0</v></c><c t="inlineStr"><is><t>Paid</t></is></c></row>'
        '<row r="2"><c t="s"><v>1</v></c><c s="1"><v>45292</v></c><c><v>12.5</v></c></row>'
        '<row r="9"><c t="str"><v>Total</v></c><c t="b"><v>1</v></c></row>'
    )
    styles = styles or '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
    return zipped(
        {
            "xl/workbook.xml": f'<workbook {R}><sheets><sheet name="Budget" sheetId="4" r:id="x"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                ("x", "worksheet", "worksheets/sheet1.xml"),
                ("s", "sharedStrings", "sharedStrings.xml"),
                ("t", "styles", "styles.xml"),
            ),
            "xl/sharedStrings.xml": "<sst><si><t>Item</t></si><si><r><t>Bicy</t></r><r><t>cle</t></r></si></sst>",
            "xl/styles.xml": styles,
            "xl/worksheets/sheet1.xml": sheet,
        }
    )


def odt() -> bytes:
    content = (
        '<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b"><office:body><office:text>'
        '<text:h text:outline-level="1">Recipes</text:h><text:p>Flour<text:tab/>and<text:s/>water</text:p>'
        "<table:table><table:table-row><table:table-cell><text:p>Salt</text:p></table:table-cell><table:table-cell>"
        "<text:p>2 g</text:p></table:table-cell></table:table-row></table:table></office:text></office:body>"
        "</office:document-content>"
    )
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def epub() -> bytes:
    def page(title: str, text: str) -> str:
        return (
            f"<html><head><title>x</title><style>p{{}}</style></head><body><h1>{title}</h1><p>{text}</p></body></html>"
        )

    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles>'
            "</container>",
            "OPS/book.opf": '<package><manifest><item id="a" href="a%20b.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>',
            "OPS/a b.xhtml": page("The end", "They lived."),
            "OPS/b.xhtml": page("The beginning", "Once upon a time."),
        }
    )


def pdf(*pages: str) -> bytes:
    """Pages of Helvetica; a page of "" has a picture's worth of nothing."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for text in pages:
        drawn = zlib.compress(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode() if text else b"q Q")
        objects.append(f"<< /Length {len(drawn)} /Filter /FlateDecode >>\nstream\n{drawn.decode('latin-1')}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    made += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return made + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()


def locked_pdf() -> bytes:
    """A page of text that the password "open sesame" opens, by AES-256."""
    return (Path(__file__).parent / "inputs" / "password.pdf").read_bytes()


def xls() -> bytes:
    """A sheet of Excel 97 with "Item" in A1 and 12.5 in C2, in the container that it is kept in."""

    def record(kind: int, body: bytes) -> bytes:
        return struct.pack("<HH", kind, len(body)) + body

    end = record(0x0A, b"")
    name = b"Old"
    head = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0x7CC, 0, 6))
    place = len(head) + 4 + 8 + len(name) + len(end)
    book = head + record(0x85, struct.pack("<IBBBB", place, 0, 0, len(name), 0) + name) + end
    book += record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0x7CC, 0, 6))
    book += record(0x204, struct.pack("<HHHHB", 0, 0, 0, 4, 0) + b"Item")
    book += record(0x203, struct.pack("<HHHd", 1, 2, 0, 12.5)) + end
    sectors = 9  # a stream of 4096 bytes or more is kept in sectors of its own
    book = book.ljust(sectors * 512, b"\0")

    def entry(title: str, kind: int, child: int, start: int, size: int) -> bytes:
        written = (title + "\0").encode("utf-16-le")
        links = struct.pack("<BBIII", kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return (
            written.ljust(64, b"\0")
            + struct.pack("<H", len(written))
            + links
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )

    table = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, 2 + sectors), 0xFFFFFFFE]
    table += [0xFFFFFFFF] * (128 - len(table))
    folder = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, len(book))
    header = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    header += struct.pack("<I", 0) + struct.pack("<I", 0xFFFFFFFF) * 108
    return header + struct.pack("<128I", *table) + folder.ljust(512, b"\0") + book


def ods() -> bytes:
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    names += ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    names += ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return zipped(
        {
            "mimetype": kind,
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{manifest}"><m:file-entry m:full-path="/"'
            f' m:media-type="{kind}"/>'
            "</m:manifest>",
            "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>"
            '<table:table table:name="Open"><table:table-row table:number-rows-repeated="2"><table:table-cell/>'
            "</table:table-row><table:table-row><table:table-cell/>"
            '<table:table-cell office:value-type="string"><text:p>Item</text:p></table:table-cell>'
            '<table:table-cell table:number-columns-repeated="2"/>'
            '<table:table-cell office:value-type="float" office:value="12.5"/>'
            '<table:table-cell office:value-type="date" office:date-value="2024-05-06"/>'
            '<table:table-cell office:value-type="time" office:time-value="PT26H03M00S"/></table:table-row>'
            '<table:table-row table:number-rows-repeated="1048570"><table:table-cell'
            ' table:number-columns-repeated="1024"/></table:table-row></table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        }
    )

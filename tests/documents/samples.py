"""Files of every kind, made by hand: what is in them is known to the byte."""

import io
import zipfile
import zlib

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


def xlsx() -> bytes:
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c t="s"><v>0</v></c><c t="inlineStr"><is><t>Paid</t></is></c></row>'
        '<row r="2"><c t="s"><v>1</v></c><c s="1"><v>45292</v></c><c><v>12.5</v></c></row>'
        '<row r="9"><c t="str"><v>Total</v></c><c t="b"><v>1</v></c></row></sheetData></worksheet>'
    )
    return zipped(
        {
            "xl/workbook.xml": f'<workbook {R}><sheets><sheet name="Budget" sheetId="4" r:id="x"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations(
                ("x", "worksheet", "worksheets/sheet1.xml"),
                ("s", "sharedStrings", "sharedStrings.xml"),
                ("t", "styles", "styles.xml"),
            ),
            "xl/sharedStrings.xml": "<sst><si><t>Item</t></si><si><r><t>Bicy</t></r><r><t>cle</t></r></si></sst>",
            "xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
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


def pdf(*pages: str, encrypt: str = "") -> bytes:
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
    made += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    if not encrypt:
        return made
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(made)))
    writer.encrypt(encrypt, algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    return locked.getvalue()

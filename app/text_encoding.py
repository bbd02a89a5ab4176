"""Whether bytes are text, and in which encoding: one answer for documents, attachments and imports.

In this order: the byte order mark; UTF-16 and UTF-32 without a mark; UTF-8, of which a few bytes may be damaged; what
XML or HTML declares of itself; what the escapes of a 7-bit encoding say (ISO 2022, HZ, UTF-7); else a statistical guess
over the whole text.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from app.translation import tr

PIECE_BYTES = 4 * 1024 * 1024
_SAMPLE_BYTES = 65_536  # of the lines that are not ASCII; more makes no guess better
_MAX_OTHERS = 3
_LEAST_SHARE = 0.2  # of the best candidate's confidence that another reading needs to be offered
_GOOD_FOR_EACH_BAD = 2  # sequences of UTF-8 for each byte that is none: other encodings hardly ever form any
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Beginnings of other kinds of files that may contain no zero byte at first.
_OTHER_KINDS = (
    *(b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\xd0\xcf\x11\xe0", b"\x1f\x8b\x08"),
    *(b"OggS", b"fLaC", b"ID3", b"\x1aE\xdf\xa3", b"7z\xbc\xaf", b"Rar!\x1a", b"BZh9"),
)
# Of terminals, printers and old formats of text: bell, vertical tab, shift out and in, end of file, separators.
CONTROLS_IN_TEXT = "\a\b\v\f\x0e\x0f\x1a\x1b\x1c\x1d\x1e\x1f\x7f"
_BINARY_SIGNS = bytes(set(range(32)) - set(b"\t\n\r" + CONTROLS_IN_TEXT.encode()))
_MOST_BINARY = 0.01  # share of such signs in text
_ALL_CONTROLS = _BINARY_SIGNS + CONTROLS_IN_TEXT.encode()
_MOST_CONTROLS = 0.4
_DROPPED = {ord(sign): None for sign in "\a\b\x0e\x0f\x1a\x7f"} | dict.fromkeys(_BINARY_SIGNS[1:])
_DROPPED |= {ord(sign): " " for sign in "\v\x1c\x1d\x1e\x1f"}
_UNUSUAL_BYTES = bytes({*range(1, 32), 127} - set(b"\t\n\f\r\x1b"))
_UNUSUAL = re.compile("[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_NO_LETTERS = re.compile("[\x80-\x9f\ue000-\uf8ff]")  # what a wrong guess makes of them
# The encodings that files without a mark are in, by region; of several with the same letters the first is named.
_CANDIDATES = (
    *("cp1252", "iso8859-1", "iso8859-15", "cp850", "cp437", "mac-roman"),
    *("cp1250", "iso8859-2", "iso8859-16", "cp852", "cp1257", "iso8859-13", "cp1254", "iso8859-9", "cp1258"),
    *("cp1251", "koi8-r", "koi8-u", "iso8859-5", "cp866", "cp1253", "iso8859-7", "cp1255", "iso8859-8"),
    *("cp1256", "iso8859-6", "cp874", "tis-620"),
    *("cp932", "euc_jis_2004", "gb18030", "big5hkscs", "cp949", "euc_kr"),
)
_BAD = re.compile("[\udc80-\udcff]")  # the bytes that are not UTF-8
_BEYOND_ASCII = re.compile("[^\0-\x7f]+")
_DECLARED_WITHIN = 4096
_DECLARATION = re.compile(
    rb"""(?:<\?xml[^>]{0,200}?encoding|<meta[^>]{0,300}?charset)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE
)
# The 7-bit encodings: what they escape with, and the codecs that know these escapes.
_ESCAPES = (b"\x1b", b"~{", b"+")
_ISO_2022 = (
    (re.compile(rb"\x1b(?:\$[@B]|\$\([DOPQ]|\([IJ])"), ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_jp_2004")),
    (re.compile(rb"\x1b\$\)C"), ("iso2022_kr",)),
    (re.compile(rb"\x1b\$(?:\)[AEG]|\*H)"), ()),  # ISO-2022-CN: Python has no codec
)
_UTF7_RUN = re.compile(rb"\+([A-Za-z0-9+/]+)")
_UPPER = re.compile(rb"[A-Z]")  # hardly any letter is written without one
_ALONE = re.compile("[\xa0-\u024f\u2000-\u206f]")  # one such letter or mark may be all that is not ASCII in a text
_OF_EAST_ASIA = frozenset(
    ("CJK", "FULLWIDTH", "HALFWIDTH", "HANGUL", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA", "KATAKANA-HIRAGANA")
)
_NAMES = {
    **dict.fromkeys(("utf-16-le", "utf-16-be"), "UTF-16"),
    **dict.fromkeys(("utf-32-le", "utf-32-be"), "UTF-32"),
    "cp1250": tr("Windows-1250 (Central European)"),
    "cp1251": tr("Windows-1251 (Cyrillic)"),
    "cp1252": tr("Windows-1252 (Western)"),
    "cp1253": tr("Windows-1253 (Greek)"),
    "cp1254": tr("Windows-1254 (Turkish)"),
    "cp1255": tr("Windows-1255 (Hebrew)"),
    "cp1256": tr("Windows-1256 (Arabic)"),
    "cp1257": tr("Windows-1257 (Baltic)"),
    "cp1258": tr("Windows-1258 (Vietnamese)"),
    "cp437": tr("DOS 437 (Western)"),
    "cp850": tr("DOS 850 (Western)"),
    "cp852": tr("DOS 852 (Central European)"),
    "cp866": tr("DOS 866 (Cyrillic)"),
    "cp874": tr("Windows-874 (Thai)"),
    "tis-620": tr("TIS-620 (Thai)"),
    "mac-roman": tr("Mac OS Roman (Western)"),
    "koi8-r": tr("KOI8-R (Cyrillic)"),
    "koi8-u": tr("KOI8-U (Cyrillic)"),
    "cp932": tr("Shift JIS (Japanese)"),
    "euc_jis_2004": tr("EUC-JP (Japanese)"),
    "gb18030": tr("GB 18030 (Chinese)"),
    "big5hkscs": tr("Big5 (Chinese)"),
    "cp949": tr("Windows-949 (Korean)"),
    "euc_kr": tr("EUC-KR (Korean)"),
    "hz": tr("HZ (Chinese)"),
}


class Readable(Protocol):
    """An open file, or memory that can be read like one."""

    def read(self, size: int, /) -> bytes: ...

    def seek(self, place: int, /) -> object: ...


class NotText(ValueError):
    """The bytes are something else than text."""


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """How bytes are read as text. `codec` is Python's name; `mark` counts the bytes of the mark at the beginning."""

    codec: str
    mark: int = 0
    is_guess: bool = False
    others: tuple[str, ...] = ()  # codecs of other readings with other letters, the likeliest first
    bad_bytes: int = 0  # of UTF-8; each becomes U+FFFD

    @property
    def name(self) -> str:
        """The name that people know it by."""
        return name_of(self.codec)


def name_of(codec: str) -> str:
    """Return the name that people know a codec by."""
    return _NAMES.get(codec, codec.upper().replace("ISO8859", "ISO 8859"))


def encoding_of(file: Readable | bytes) -> TextEncoding:
    """Return the encoding of a whole file or of bytes.

    Reads the file from its beginning and leaves it anywhere. Raises `NotText`.
    """
    file = io.BytesIO(file) if isinstance(file, bytes) else file
    file.seek(0)
    start = file.read(_SAMPLE_BYTES)
    for mark, codec in _MARKS:
        if start.startswith(mark) and not (codec == "utf-16-le" and _is_sound(start)):
            return TextEncoding(codec, len(mark))
    if start.startswith(_OTHER_KINDS):
        raise NotText
    if b"\0" in start:
        return _wide(start)
    controls = len(start) - len(start.translate(None, _ALL_CONTROLS))
    binary = len(start) - len(start.translate(None, _BINARY_SIGNS)) if controls else 0
    if binary > _MOST_BINARY * len(start) or controls > _MOST_CONTROLS * len(start):
        raise NotText
    good, bad = _utf8(file)
    stated = _declared(start)
    if stated and not stated.startswith("utf") and (bad or not good) and _decodes(file, stated):
        return TextEncoding(stated)
    if not good and not bad and not stated:
        return _seven_bit(file)
    if not bad or good >= _GOOD_FOR_EACH_BAD * bad:
        return TextEncoding("utf-8", bad_bytes=bad)
    return _guess(file)


def is_text(data: bytes) -> bool:
    """Whether bytes are text."""
    try:
        encoding_of(data)
    except NotText:
        return False
    return True


def decode_text(data: bytes) -> tuple[str, TextEncoding]:
    """Return the text of bytes, without its mark and with "\n" at the end of lines. Raises `NotText`."""
    found = encoding_of(data)
    text = decoded_as(data[found.mark :], found.codec)
    if "\0" in text:
        raise NotText
    return text, found


def decoded_as(data: bytes, codec: str) -> str:
    """Return the text of bytes in an encoding, with "\n" at the end of lines."""
    return tidied(data.decode(codec, "replace")).replace("\r\n", "\n").replace("\r", "\n")


def tidied(text: str) -> str:
    """Drop signs that steer a terminal or a printer; separators become blanks."""
    if text.isascii():  # bytes are looked through in a quarter of the time
        data = text.encode()
        if len(data.translate(None, _UNUSUAL_BYTES)) == len(data):
            return text
    return text.translate(_DROPPED) if _UNUSUAL.search(text) else text


def _is_sound(start: bytes) -> bool:
    """An MP3 frame may begin like the mark of UTF-16."""
    try:
        return "\0" in start[: len(start) // 2 * 2].decode(
            "utf-16", "strict" if len(start) < _SAMPLE_BYTES else "ignore"
        )
    except UnicodeDecodeError:
        return True


def _declared(start: bytes) -> str:
    """Return the codec that XML or HTML declares of itself; "" for none."""
    found = _DECLARATION.search(start[:_DECLARED_WITHIN]) if start.lstrip()[:1] == b"<" else None
    if found is None:
        return ""
    name = found[1].decode("ascii").lower()
    try:
        return codecs.lookup(_AS_BROWSERS.get(name, name)).name
    except LookupError:
        return ""


# As browsers read them: pages that declare the smaller set use the larger one.
_AS_BROWSERS = {
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "iso8859-1", "ascii", "us-ascii", "windows-1252"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "latin5", "windows-1254"), "cp1254"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "windows-949"), "cp949"),
    **dict.fromkeys(("big5", "big5-hkscs"), "big5hkscs"),
    **dict.fromkeys(("windows-874", "tis-620", "iso-8859-11"), "cp874"),
    "iso-8859-8-i": "iso8859-8",
}


def _pieces(file: Readable) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(PIECE_BYTES):
        yield piece


def _utf8(file: Readable) -> tuple[int, int]:
    """Return how many letters beyond ASCII a file has as UTF-8, and how many bytes are not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    good = bad = 0
    for piece in _pieces(file):
        if piece.isascii() and not decoder.getstate()[0]:
            continue
        if b"\0" in piece:
            raise NotText
        found, wrong = _counted(decoder.decode(piece))
        good, bad = good + found, bad + wrong
    found, wrong = _counted(decoder.decode(b"", final=True))
    return good + found, bad + wrong


def _counted(text: str) -> tuple[int, int]:
    if text.isascii():
        return 0, 0
    bad = len(_BAD.findall(text)) if _BAD.search(text) else 0
    return sum(map(len, _BEYOND_ASCII.findall(text))) - bad, bad


def _seven_bit(file: Readable) -> TextEncoding:
    """ASCII, or an encoding that writes other letters with it. Escapes of printable signs are a guess."""
    marks = {mark for piece in _pieces(file) for mark in _ESCAPES if mark in piece}
    for escape, its_codecs in _ISO_2022 if b"\x1b" in marks else ():
        if any(escape.search(piece) for piece in _pieces(file)):
            if not its_codecs:
                raise NotText
            return TextEncoding(next((codec for codec in its_codecs if _decodes(file, codec)), "utf-8"))
    if b"~{" in marks and _signs(file, "hz"):
        return TextEncoding("hz", is_guess=True, others=("utf-8",))
    if b"+" in marks and _is_utf7(file):
        return TextEncoding("utf-7", is_guess=True, others=("utf-8",))
    return TextEncoding("utf-8")


def _is_utf7(file: Readable) -> bool:
    """Whether everything after a plus sign is UTF-7 that makes letters of one script."""
    signs = _signs(file, "utf-7")
    if not signs or any(unicodedata.category(sign) in ("Cn", "Co", "Cs") for sign in signs):
        return False
    scripts = {unicodedata.name(sign, "").partition(" ")[0] for sign in signs if sign.isalpha()}
    if len({"CJK" if script in _OF_EAST_ASIA else script for script in scripts} - {"LATIN"}) > 1:
        return False
    if len(signs) == 1 and not any(map(_ALONE.match, signs)):
        return False
    return all(_UPPER.search(run) for piece in _pieces(file) for run in _UTF7_RUN.findall(piece))


def _signs(file: Readable, codec: str) -> set[str]:
    """Return the different signs beyond ASCII; none where the file is not in this encoding."""
    if not _decodes(file, codec):
        return set()
    decoder = codecs.getincrementaldecoder(codec)()
    texts = (decoder.decode(piece) for piece in _pieces(file))
    return {sign for text in texts if not text.isascii() for sign in text if not sign.isascii()}


def _wide(start: bytes) -> TextEncoding:
    """UTF-16 or UTF-32 without a mark: the zero bytes of its ASCII letters are at the same places."""
    for width, codecs_of_width in ((4, ("utf-32-le", "utf-32-be")), (2, ("utf-16-le", "utf-16-be"))):
        whole = start[: len(start) // width * width]
        if len(whole) != len(start) and len(start) < _SAMPLE_BYTES:
            continue
        for codec in codecs_of_width:
            try:
                text = whole.decode(codec)
            except UnicodeDecodeError:
                continue
            letters = sum(map(str.isprintable, text)) + sum(map(text.count, "\t\r\n"))
            usual = sum(1 for sign in text if sign.isascii())
            if "\0" not in text and letters >= len(text) * (1 - _MOST_BINARY) and usual * 4 >= len(text):
                return TextEncoding(codec)
    raise NotText


def _decodes(file: Readable, codec: str) -> bool:
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        for piece in _pieces(file):
            if _NO_LETTERS.search(decoder.decode(piece)):
                return False
        return not _NO_LETTERS.search(decoder.decode(b"", final=True))
    except UnicodeDecodeError:
        return False


def _guess(file: Readable) -> TextEncoding:
    sample = _sample(file)
    import chardet  # 35 ms and 10 MB: for text that nothing else tells

    listed = chardet.detect_all(
        sample,
        ignore_threshold=True,
        max_bytes=_SAMPLE_BYTES,
        prefer_superset=False,
        compat_names=False,
        include_encodings=_CANDIDATES,
    )
    ranked = [(str(each["encoding"]), float(each["confidence"])) for each in listed if each["encoding"]]
    readings: dict[str, tuple[str, float]] = {}  # text → codec, confidence
    order = {codec: place for place, codec in enumerate(_CANDIDATES)}
    for codec, confidence in ranked:
        text = sample.decode(codec, "replace")
        if text in readings:
            known, sure = readings[text]
            if order.get(codec, 99) < order.get(known, 99):
                readings[text] = codec, sure
        elif _decodes(file, codec):
            readings[text] = codec, confidence
    if not readings:
        return TextEncoding("cp1252", is_guess=True)
    (best, sure), *others = readings.values()
    alike = [codec for codec, confidence in others if confidence >= sure * _LEAST_SHARE]
    return TextEncoding(best, is_guess=True, others=tuple(alike[:_MAX_OTHERS]))


def _sample(file: Readable) -> bytes:
    """The lines that are not ASCII, from anywhere in the file."""
    found, size, rest = [], 0, b""
    for piece in _pieces(file):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()[-_SAMPLE_BYTES:]
        for line in lines if not piece.isascii() or rest else ():
            if not line.isascii():
                found.append(line[:_SAMPLE_BYTES])
                size += len(line)
        if size >= _SAMPLE_BYTES:
            break
    if not rest.isascii():
        found.append(rest)
    return b"\n".join(found)[:_SAMPLE_BYTES]

"""What the service makes of `file` parts: their text, as the model reads it; an error inside the text, never outside.

Office files and books are ZIP files of XML: the text is what stands between the tags. Of a PDF the strings that are
drawn are taken, which is enough for letters of Latin writing; no more than `MAX_TEXT_BYTES` of anything is unpacked.
"""

from __future__ import annotations

import base64
import binascii
import html
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from app.sandbox.chat.chat_request import ChatRequest, content_parts
from app.sandbox.chat.word_stems import terms
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import Checker

MAX_FILES = 5  # of one message
MAX_FILE_BYTES = 25 * 1024 * 1024
MAX_TEXT_BYTES = 16_000_000
QUOTED_CHARS = 600
_MEMBERS = re.compile(
    r"(word/document\.xml|ppt/slides/slide\d+\.xml|xl/sharedStrings\.xml|xl/worksheets/\w+\.xml|.+\.x?html?)", re.I
)
_PASSAGE = re.compile(r"^## Passage \d+: (.+)$", re.MULTILINE)
_BREAK = re.compile(r"</(?:\w+:)?(?:p|h\d|row|si|tr|li|div)>")
_TAG = re.compile(r"<[^>]*>")
_STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.DOTALL)
_DRAWN = re.compile(rb"\(((?:[^()\\]|\\.)*)\)\s*(?:Tj|'|\")|\[((?:[^\]\\]|\\.)*)\]\s*TJ", re.DOTALL)
_STRING = re.compile(rb"\(((?:[^()\\]|\\.)*)\)")


class ReadFile(NamedTuple):
    """A file part as text; `error` says that there is none but the sentence about it."""

    name: str
    text: str
    error: bool = False


class _Unreadable(Exception):
    pass


def check_files(check: Checker, request: ChatRequest) -> None:
    """Complain about too many files, and refuse too large ones with 413."""
    for message in request.messages:
        files = [part for part in content_parts(message) if part.get("type") == "file"]
        if len(files) > MAX_FILES:
            check.complain(("messages",), f"At most {MAX_FILES} file parts are accepted in one message")
        for part in files:
            if len(str(part["file"]["file_data"])) * 3 // 4 > MAX_FILE_BYTES + 1024:
                raise HttpError(413)


def read_files(messages: Sequence[Json]) -> list[ReadFile]:
    """Return what each file of these messages says, in order."""
    parts = [part for message in messages for part in content_parts(message) if part.get("type") == "file"]
    return [_read(part["file"]) for part in parts]


def with_text(messages: Sequence[Json]) -> tuple[Json, ...]:
    """Return the messages with each file part as text, as a model gets them."""
    found: list[Json] = []
    for message in messages:
        parts = content_parts(message)
        if any(part.get("type") == "file" for part in parts):
            parts = [_as_text(part) if part.get("type") == "file" else part for part in parts]
            message = {**message, "content": parts}
        found.append(message)
    return tuple(found)


def passages_in(files: Sequence[ReadFile]) -> list[ReadFile]:
    """Return the files, and in place of one that is made of numbered passages each of these."""
    found = []
    for file in files:
        _, *pieces = _PASSAGE.split(file.text)
        passages = [ReadFile(name, text.strip()) for name, text in zip(pieces[::2], pieces[1::2], strict=True)]
        found += passages or [file]
    return found


def quotes(question: str, files: Sequence[ReadFile], cite: Callable[[int], str]) -> str:
    """Answer a question with the paragraph of each file that has most of its words, and what cites the n-th behind."""
    wanted = set(terms(question))
    said = []
    for number, file in enumerate(files, 1):
        if file.error:
            said.append(file.text)
            continue
        paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", file.text) if each.strip()]
        best = max(paragraphs, key=lambda each: len(wanted & set(terms(each))), default="")
        if not wanted & set(terms(best)):
            said.append(f"“{file.name}” says nothing about that.")
        else:
            said.append(f"“{file.name}” says:\n\n> {best[:QUOTED_CHARS]}{cite(number)}")
    return "\n\n".join(said)


def _as_text(part: Json) -> Json:
    file = _read(part["file"])
    mark = {"cache_control": part["cache_control"]} if "cache_control" in part else {}
    return {"type": "text", "text": file.text if file.error else f"{file.name}\n\n{file.text}", **mark}


def _read(file: Json) -> ReadFile:
    name, address = str(file.get("filename") or "file"), str(file["file_data"])
    head, comma, encoded = address.partition(",")
    try:
        if not comma or not head.startswith("data:") or not head.endswith(";base64"):
            raise _Unreadable("the Sandbox fetches nothing from other computers")
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise _Unreadable("file_data is not base64") from None
        text = _text(data).strip()
        if not text:
            raise _Unreadable("No text content could be extracted from the file.")
    except _Unreadable as error:
        return ReadFile(name, f"[Error processing file {name}: {error}]", error=True)
    return ReadFile(name, text)


def _text(data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        if b"/Encrypt" in data:
            raise _Unreadable("The PDF file is password-protected.")
        return "\n\n".join(_drawn(data))
    if data.startswith(b"PK\x03\x04"):
        return "\n\n".join(_unpacked(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _Unreadable("Unsupported file type.") from None


def _unpacked(data: bytes) -> Iterator[str]:
    left = MAX_TEXT_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in sorted(archive.namelist()):
                if not _MEMBERS.fullmatch(name):
                    continue
                with archive.open(name) as member:
                    content = member.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise _Unreadable("It unpacks to more than a document contains.")
                text = _TAG.sub("", _BREAK.sub("\n\n", content.decode("utf-8", "replace")))
                if text.strip():
                    yield html.unescape(text)
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError):
        raise _Unreadable("Unsupported file type.") from None


def _drawn(data: bytes) -> Iterator[str]:
    left = MAX_TEXT_BYTES
    for stream in _STREAM.findall(data):
        try:
            content = zlib.decompressobj().decompress(stream, left)
        except zlib.error:
            content = stream
        left = max(1, left - len(content))
        words = (plain or b"".join(_STRING.findall(parts)) for plain, parts in _DRAWN.findall(content))
        text = " ".join(re.sub(rb"\\(.)", rb"\1", each).decode("cp1252", "replace") for each in words)
        if text:
            yield text

"""Reads `multipart/form-data`: text fields and uploaded files."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.sandbox.http.call import Call
from app.sandbox.http.errors import HttpError, too_large
from app.sandbox.http.validation import REQUIRED, Checker

MAX_UPLOAD_BYTES = 26_214_400  # 25 MB


@dataclass(frozen=True, slots=True)
class Upload:
    """One file part. `name` is what the client called it, without any folder."""

    name: str
    content_type: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The ending in lower case without its dot, or ""."""
        stem, dot, ending = self.name.rpartition(".")
        return ending.lower() if dot and stem else ""


@dataclass(slots=True)
class Form:
    fields: dict[str, str] = field(default_factory=dict)  # the last value of each name
    files: dict[str, list[Upload]] = field(default_factory=dict)

    def file(self, check: Checker, name: str) -> Upload | None:
        """Return the first file of a field; complain when there is none, or when it came as text."""
        uploads = self.files.get(name)
        if uploads:
            return uploads[0]
        text = name in self.fields
        check.complain((name,), "Expected a binary file part, received a text field" if text else REQUIRED)
        return None

    def boolean(self, check: Checker, name: str) -> bool:
        """Return a form boolean, the words `true` and `false`; False when absent."""
        return check.choice((name,), self.fields.get(name) or None, ("true", "false")) == "true"


def is_form(call: Call) -> bool:
    return call.request.headers.get("content-type", "").lower().startswith("multipart/form-data")


def read_form(call: Call, *, otherwise: int = 415) -> Form:
    """Return the form of a request. Raises `HttpError`: 413, `otherwise` for another content type, 400 when broken."""
    if call.request.too_large:
        raise upload_too_large()
    if not is_form(call):
        if otherwise == 400:
            tree = {"_errors": ["Expected multipart/form-data"]}
            raise HttpError(400, {"error": "Invalid request parameters", "details": tree})
        raise HttpError(otherwise, "Unsupported content type: send multipart/form-data")
    from python_multipart.exceptions import MultipartParseError

    try:
        return _parsed(call.request.headers["content-type"], call.request.body)
    except (MultipartParseError, ValueError) as error:
        tree = {"_errors": [f"The form cannot be read: {error}"]}
        raise HttpError(400, {"error": "Invalid request parameters", "details": tree}) from None


def upload_too_large() -> HttpError:
    return too_large("The file exceeds the limit of 25 MB")


def check_size(upload: Upload) -> None:
    if len(upload.data) > MAX_UPLOAD_BYTES:
        raise upload_too_large()


def _parsed(content_type: str, body: bytes) -> Form:
    from python_multipart.multipart import MultipartParser, parse_options_header

    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not boundary:
        raise ValueError("no boundary")
    reader = _Reader()
    parser = MultipartParser(
        boundary,
        {
            "on_part_begin": reader.begin_part,
            "on_part_data": reader.add_data,
            "on_part_end": reader.end_part,
            "on_header_field": reader.add_name,
            "on_header_value": reader.add_value,
            "on_header_end": reader.end_header,
            "on_end": reader.end,
        },
    )
    parser.write(body)
    parser.finalize()
    if not reader.ended:
        raise ValueError("it ends in the middle of a part")
    return reader.form


class _Reader:
    """Gathers what the parser calls out, part by part."""

    def __init__(self) -> None:
        self.form = Form()
        self.ended = False
        self._headers: dict[str, bytes] = {}
        self._name = bytearray()
        self._value = bytearray()
        self._data = bytearray()

    def begin_part(self) -> None:
        self._headers, self._data = {}, bytearray()

    def add_data(self, data: bytes, start: int, end: int) -> None:
        self._data += data[start:end]

    def add_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def end_header(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = bytes(self._value)
        self._name, self._value = bytearray(), bytearray()

    def end_part(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get("content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace").removesuffix("[]")
        if b"filename" in options:
            file_name = options[b"filename"].decode("utf-8", "replace").replace("\\", "/").rpartition("/")[2]
            kind = self._headers.get("content-type", b"").decode("latin-1")
            self.form.files.setdefault(name, []).append(Upload(file_name, kind, bytes(self._data)))
        else:
            self.form.fields[name] = self._data.decode("utf-8", "replace")

    def end(self) -> None:
        self.ended = True

"""`multipart/form-data` bodies streamed from disk with progress; a file is never in memory as a whole."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.files import open_regular
from app.service.errors import LimitExceeded
from app.service.exchange import FormPart
from app.translation import tr

PIECE_BYTES = 512 * 1024
OnProgress = Callable[[int, int], None]  # bytes handed over, bytes in all


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form: on disk, or bytes that are in memory anyway."""

    name: str  # of the form field
    source: Path | bytes
    file_name: str
    media_type: str

    def size(self) -> int:
        """Size in bytes. Raises `LimitExceeded` when the file is not there."""
        if isinstance(self.source, bytes):
            return len(self.source)
        try:
            return self.source.stat().st_size
        except OSError as error:
            raise LimitExceeded(
                tr("{name} cannot be read: {strerror}.", name=self.source.name, strerror=error.strerror),
                field=self.name,
            ) from None


class FormContent:
    """A form that can be sent more than once. `on_progress` hears bytes of the whole body, from 0 in each try."""

    def __init__(
        self,
        fields: tuple[tuple[str, str], ...],
        files: tuple[FormFile, ...],
        on_progress: OnProgress | None = None,
    ) -> None:
        boundary = uuid.uuid4().hex
        self._on_progress = on_progress
        self._parts: list[bytes | Path] = []
        self._sizes: list[int] = []
        for name, value in fields:
            self._add(f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n')
        for file in files:
            self._add(
                f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(file.name)}"; '
                f'filename="{_quoted(file.file_name)}"\r\nContent-Type: {file.media_type}\r\n\r\n'
            )
            self._parts.append(file.source)
            self._sizes.append(file.size())
            self._add("\r\n")
        self._add(f"--{boundary}--\r\n")
        self.size = sum(self._sizes)
        self.headers = (
            ("Content-Type", f"multipart/form-data; boundary={boundary}"),
            ("Content-Length", str(self.size)),
        )
        self.record: object = (
            *(FormPart(name, value) for name, value in fields),
            *(FormPart(file.name, file_name=file.file_name) for file in files),
        )

    async def open(self) -> AsyncIterator[bytes]:
        sent = 0
        for part, size in zip(self._parts, self._sizes, strict=True):
            async for piece in _pieces(part, size):
                yield piece
                sent += len(piece)
                if self._on_progress is not None:
                    self._on_progress(sent, self.size)

    def _add(self, text: str) -> None:
        data = text.encode()
        self._parts.append(data)
        self._sizes.append(len(data))


async def _pieces(part: bytes | Path, size: int) -> AsyncIterator[bytes]:
    if isinstance(part, bytes):
        for begin in range(0, len(part), PIECE_BYTES):
            yield part[begin : begin + PIECE_BYTES]
        return
    file = await _open_file(part)
    try:
        left = size
        while left:
            piece = await asyncio.to_thread(_read, file, min(PIECE_BYTES, left))
            if not piece:
                raise LimitExceeded(tr("{name} changed while it was being sent.", name=part.name), field="file")
            left -= len(piece)
            yield piece
    finally:
        file.close()


async def _open_file(path: Path) -> BinaryIO:
    opening = asyncio.get_running_loop().run_in_executor(None, _opened, path)

    def close(opened: asyncio.Future[BinaryIO]) -> None:
        if not opened.cancelled() and opened.exception() is None:
            opened.result().close()

    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:  # the thread goes on, and nobody would close what it opens
        opening.add_done_callback(close)
        raise


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path)
    except OSError as error:
        raise LimitExceeded(
            tr("{name} cannot be read: {strerror}.", name=path.name, strerror=error.strerror), field="file"
        ) from None


def _read(file: BinaryIO, size: int) -> bytes:
    try:
        return file.read(size)
    except OSError as error:
        raise LimitExceeded(tr("The file cannot be read: {strerror}.", strerror=error.strerror), field="file") from None


def _quoted(text: str) -> str:
    """As HTML forms write names: quotes and line ends percent-encoded, everything else as UTF-8."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")

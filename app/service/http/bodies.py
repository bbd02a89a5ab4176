"""Bodies of bounded size, compressed or not. A few bytes on the wire may not become gigabytes in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from app.service.errors import BadResponse, OversizedResponse
from app.translation import tr

PIECE_BYTES = 64 * 1024
KIB = 1024
MIB = 1024 * 1024

# The largest body we take for each kind of answer, after decompression.
MAX_ERROR_BYTES = 64 * KIB
MAX_JSON_BYTES = 16 * MIB
MAX_CHAT_BYTES = 32 * MIB
MAX_STREAM_BYTES = 256 * MIB
MAX_MODEL_LIST_BYTES = 32 * MIB

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": 47}  # 47: a zlib or a gzip head, whichever comes


class BoundedBody:
    """Decompresses what arrives, in pieces of at most 64 KiB, and refuses to go over `max_bytes` in all."""

    def __init__(self, encoding: str | None, max_bytes: int) -> None:
        names = [name.strip() for name in (encoding or "").split(",") if name.strip() not in ("", "identity")]
        if len(names) > 1 or (names and names[0] not in _WINDOW_BITS):
            raise BadResponse(
                tr("The response is compressed as {names}, which was not requested.", names=", ".join(names)[:40])
            )
        self._inflate = zlib.decompressobj(_WINDOW_BITS[names[0]]) if names else None
        self._max_bytes = max_bytes
        self.size = 0

    def pieces(self, read: bytes) -> Iterator[bytes]:
        """Yield what `read` stands for. Raises `BadResponse` over the limit or on broken compression."""
        if self._inflate is None:
            yield self._counted(read)
            return
        while read:
            try:
                piece = self._inflate.decompress(read, PIECE_BYTES)
            except zlib.error:
                raise BadResponse(tr("The compressed response is damaged.")) from None
            if piece:
                yield self._counted(piece)
            if self._inflate.eof:
                return
            read = self._inflate.unconsumed_tail
            if not piece and not read:
                return

    def finish(self) -> None:
        """Say that nothing more comes. Raises `BadResponse` when compressed data ends too early."""
        if self._inflate is not None and self.size and not self._inflate.eof:
            raise BadResponse(tr("The compressed response is incomplete."))

    def _counted(self, piece: bytes) -> bytes:
        self.size += len(piece)
        if self.size > self._max_bytes:
            raise too_large(self._max_bytes)
        return piece


def too_large(max_bytes: int) -> OversizedResponse:
    return OversizedResponse(
        tr("The response is larger than the {size_text} allowed for it.", size_text=size_text(max_bytes))
    )


def size_text(size_bytes: int) -> str:
    return f"{size_bytes / MIB:g} MiB" if size_bytes >= MIB else f"{size_bytes / KIB:g} KiB"

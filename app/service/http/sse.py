"""Bytes to the data of server-sent events, with a bound on how large one event may grow.

Follows the event stream format of the HTML standard as far as chat needs it: lines end with LF, CRLF or CR, a pair
may be cut in two by the network; comments, `event`, `id` and `retry` are passed over; several `data` lines of one
event are joined. U+2028 is an ordinary character, so lines are cut on bytes, never with `splitlines`.
"""

from __future__ import annotations

from app.service.errors import BadResponse
from app.translation import tr

MAX_EVENT_BYTES = 8 * 1024 * 1024
LINE_FEED = 10
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class SseReader:
    """Feed it network reads of any size; it gives back the data of every event that they complete."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._rest = b""  # an event whose blank line has not come yet
        self._pieces: list[bytes] = []  # reads without a line end, not yet joined to the rest
        self._size = 0
        self._after_cr = False
        self._at_start = True
        self._between = False  # nothing of an event is waiting for its rest

    def feed(self, read: bytes) -> list[bytes]:
        """Return the data of the events that end in `read`, in order. Raises `BadResponse` when one grows too large."""
        if (
            self._between
            and read.startswith(b"data: ")
            and read.find(b"\n") == len(read) - 2
            and read[-1] == LINE_FEED
            and b"\r" not in read
        ):  # exactly one event of one line, as nearly every read of a chat is
            return [read[6:-2]]
        found = self._cut(read)
        self._between = not (self._rest or self._pieces or self._after_cr or self._at_start)
        return found

    def _cut(self, read: bytes) -> list[bytes]:
        if self._at_start:
            read = self._without_mark(read)
        if self._after_cr or b"\r" in read:
            read = self._with_plain_line_ends(read)
        if b"\n" not in read:
            self._pieces.append(read)
            self._check_size(len(read))
            return []
        if self._pieces:
            read = b"".join((self._rest, *self._pieces, read))
            self._pieces.clear()
        elif self._rest:
            read = self._rest + read
        blocks = read.split(b"\n\n")
        self._rest = blocks.pop()
        self._size = 0
        self._check_size(len(self._rest))
        found: list[bytes] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                found.append(block[6:])
            else:
                data = _data_of(block)
                if data is not None:
                    found.append(data)
        return found

    def finish(self) -> bytes | None:
        """The data of an event that the stream left unclosed, or None. Some servers drop the last blank line."""
        block = b"".join((self._rest, *self._pieces))
        self._rest = b""
        self._pieces.clear()
        return _data_of(block.strip(b"\n"))

    def _check_size(self, grown: int) -> None:
        self._size += grown
        if self._size > self._max_event_bytes:
            raise BadResponse(
                tr(
                    "One event of the stream is larger than {max_event_bytes} bytes.",
                    max_event_bytes=self._max_event_bytes,
                )
            )

    def _without_mark(self, read: bytes) -> bytes:
        """Drop a byte order mark at the very start, even if it arrives in three reads."""
        start = self._rest + read
        if len(start) < len(BYTE_ORDER_MARK) and BYTE_ORDER_MARK.startswith(start):
            self._rest = start
            return b""
        self._rest = b""
        self._at_start = False
        return start.removeprefix(BYTE_ORDER_MARK)

    def _with_plain_line_ends(self, read: bytes) -> bytes:
        if self._after_cr and read.startswith(b"\n"):  # the second half of a CRLF that the network cut in two
            read = read[1:]
            self._after_cr = False
        if read:
            self._after_cr = read.endswith(b"\r")
        return read.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _data_of(block: bytes) -> bytes | None:
    """Join the data lines of one event; None if it has none."""
    lines: list[bytes] = []
    for line in block.split(b"\n"):
        if line.startswith(b"data:"):
            lines.append(line[6:] if line.startswith(b"data: ") else line[5:])
        elif line == b"data":
            lines.append(b"")
    return b"\n".join(lines) if lines else None

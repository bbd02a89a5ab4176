"""Files encoded as base64 in pieces: one string of 35 MB would block every thread while it is copied.

Standard library only: the chat tab imports this before the first paint.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

ENCODED_AT_ONCE = 3 * 64 * 1024  # bytes, a multiple of three; in between, the window's thread has its turn
PLAIN_TEXT = "data:text/plain;base64,"  # the head of a text


@dataclass(frozen=True, slots=True)
class Base64Text:
    """Base64 in pieces, behind `head`: "" or that of a data URL. `str()` makes one string of it, for small ones."""

    head: str
    pieces: tuple[bytes, ...]

    @classmethod
    def of(cls, data: bytes, head: str = "") -> Base64Text:
        """Encode bytes. Takes a millisecond for each megabyte: call it in a thread."""
        view = memoryview(data)
        starts = range(0, len(data), ENCODED_AT_ONCE)
        return cls(head, tuple(base64.b64encode(view[start : start + ENCODED_AT_ONCE]) for start in starts))

    def behind(self, head: str) -> Base64Text:
        return Base64Text(head, self.pieces)

    @property
    def size(self) -> int:
        """The bytes that it carries, after decoding, or up to two more."""
        return sum(map(len, self.pieces)) * 3 // 4

    @property
    def beginning(self) -> str:
        """The head and about a line of what follows."""
        return self.head + (self.pieces[0][:60].decode("ascii") if self.pieces else "")

    def __len__(self) -> int:
        return len(self.head) + sum(map(len, self.pieces))

    def __str__(self) -> str:
        return self.head + b"".join(self.pieces).decode("ascii")


def text_in(url: str) -> str | None:
    """Return the text that a data URL carries whole; None for any other text."""
    if not url.startswith(PLAIN_TEXT):
        return None
    try:
        return base64.b64decode(url.removeprefix(PLAIN_TEXT), validate=True).decode()
    except ValueError:
        return None
